"""Layouts whose text is pixels: canvases, scans, cards, charts; and pictures that hold nothing private."""

from __future__ import annotations

from bench.redaction.pages import block, drawing, each, line, template
from bench.redaction.values import Values

SERIF, MONO = "DejaVu Serif", "DejaVu Sans Mono"


@template("canvas-letter", media=True)
def canvas_letter(v: Values) -> str:
    rows = [
        line(v, 24, 34, ("PERSON", "")),
        line(v, 24, 56, ("STREET", "")),
        line(v, 24, 78, ("TOWN", "")),
        line(v, 24, 120, f"{v.label('PHONE')}: ", ("PHONE", ""), f"   {v.label('EMAIL')}: ", ("EMAIL", "")),
        line(v, 24, 146, f"{v.label('ORDER')} ", ("ORDER", ""), "   ", ("DATE", ""), "   ", ("PRICE", "")),
        line(v, 24, 178, ("PRODUCT", ""), "  ", ("MEASURE", "")),
    ]
    return f"<h2>{v('HEADING')}</h2>{drawing('c', 'canvas', 700, 200, '#ffffff', rows)}<p>{v('EMAIL')} {v('PRICE')}</p>"


@template("canvas-night-chat", media=True)
def canvas_night_chat(v: Values) -> str:
    rows = [
        line(v, 20, 32, ("PERSON", ""), "  ", ("TIME", ""), fill="#f0f0f0", font="bold 15px DejaVu Sans"),
        line(v, 20, 58, "my new mail is ", ("EMAIL", ""), fill="#d9dbe0"),
        line(v, 20, 82, "call ", ("PHONE", ""), " after ", ("TIME", ""), fill="#d9dbe0"),
        line(v, 20, 122, ("PERSON", ""), "  ", ("TIME", ""), fill="#f0f0f0", font="bold 15px DejaVu Sans"),
        line(v, 20, 148, "ordered ", ("PRODUCT", ""), " for ", ("PRICE", ""), fill="#d9dbe0"),
    ]
    return drawing("c", "canvas", 640, 180, "#22252b", rows)


@template("identity-card", media=True)
def identity_card(v: Values) -> str:
    rows = [
        block(18, 50, 110, 130, "noise"),
        line(v, 18, 32, "SPECIMEN", font=f"bold 18px {SERIF}", fill="#123"),
        line(v, 150, 66, f"{v.label('PERSON')}  ", ("PERSON", ""), font=f"15px {SERIF}", fill="#123"),
        line(v, 150, 94, f"{v.label('DATE_OF_BIRTH')}  ", ("DATE_OF_BIRTH", ""), font=f"15px {SERIF}", fill="#123"),
        line(v, 150, 122, f"{v.label('PASSPORT')}  ", ("PASSPORT", ""), font=f"15px {SERIF}", fill="#123"),
        line(v, 150, 150, f"{v.label('ADDRESS')}  ", ("ADDRESS", ""), font=f"13px {SERIF}", fill="#123"),
        line(v, 150, 178, "rev ", ("VERSION", ""), font="12px DejaVu Sans", fill="#456"),
    ]
    return f"<h3>{v('HEADING')}</h3>{drawing('c', 'img', 700, 200, '#dfe8f2', rows)}"


@template("scan-jpeg", media=True)
def scan_jpeg(v: Values) -> str:
    rows = [
        line(v, 30, 40, ("FIRM", ""), font=f"bold 17px {SERIF}", fill="#333"),
        line(v, 30, 76, f"{v.label('PERSON')}: ", ("PERSON", ""), font=f"15px {SERIF}", fill="#333"),
        line(v, 30, 102, "IBAN: ", ("IBAN", ""), font=f"15px {SERIF}", fill="#333"),
        line(v, 30, 128, f"{v.label('NATIONAL_ID')}: ", ("NATIONAL_ID", ""), font=f"15px {SERIF}", fill="#333"),
        line(v, 30, 160, ("DATE", ""), "    ", ("PRICE", ""), font=f"15px {SERIF}", fill="#333"),
        line(v, 30, 186, f"{v.label('PHONE')}: ", ("PHONE", ""), font=f"14px {SERIF}", fill="#333"),
    ]
    return drawing("c", "jpeg", 620, 210, "#f3f0e6", rows)


@template("vector-picture", media=True)
def vector_picture(v: Values) -> str:
    rows = [
        line(v, 20, 36, "Owner  ", ("PERSON", ""), font="16px DejaVu Sans"),
        line(v, 20, 66, "Mail  ", ("EMAIL", ""), font="16px DejaVu Sans"),
        line(v, 20, 96, "Card  ", ("CARD", ""), font="16px DejaVu Sans"),
        line(v, 20, 130, "Due  ", ("DATE", ""), font="16px DejaVu Sans"),
        line(v, 20, 160, "Total  ", ("PRICE", ""), font="16px DejaVu Sans"),
    ]
    return f"{drawing('c', 'svg', 560, 180, '#fbfbfd', rows)}<p>{v('PRODUCT')}</p>"


@template("backdrop-badge", media=True)
def backdrop_badge(v: Values) -> str:
    rows = [
        line(v, 24, 46, ("PERSON", ""), font="bold 22px DejaVu Sans", fill="#0b3b2e"),
        line(v, 24, 82, ("EMAIL", ""), font="15px DejaVu Sans", fill="#0b3b2e"),
        line(v, 24, 112, ("HANDLE", ""), font="15px DejaVu Sans", fill="#0b3b2e"),
        line(v, 24, 146, ("WORK", ""), " · ", ("TIME", ""), font="13px DejaVu Sans", fill="#335"),
    ]
    return f"<h2>{v('HEADING')}</h2>{drawing('c', 'background', 480, 170, '#cfe9dd', rows)}<p>{v('DATE')}</p>"


@template("bar-chart", media=True)
def bar_chart(v: Values) -> str:
    rows = []
    for place in range(5):
        y, length = 20 + place * 36, v.number(60, 300)
        rows += [
            block(230, y, length, 22, ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677")[place]),
            line(v, 12, y + 16, ("PERSON", ""), font="13px DejaVu Sans"),
            line(v, 238 + length, y + 16, ("PERCENT", ""), font="13px DejaVu Sans"),
        ]
    return f"<h3>{v('HEADING')}</h3>{drawing('c', 'canvas', 640, 210, '#ffffff', rows)}"


@template("sideways-label", media=True)
def sideways_label(v: Values) -> str:
    rows = [
        line(v, 40, 300, ("EMAIL", ""), font="16px DejaVu Sans", turn=-90),
        line(v, 80, 300, f"{v.label('PHONE')} ", ("PHONE", ""), font="16px DejaVu Sans", turn=-90),
        line(v, 120, 300, ("DATE", ""), font="16px DejaVu Sans", turn=-90),
        line(v, 160, 300, f"{v.label('PERSON')} ", ("PERSON", ""), font="16px DejaVu Sans", turn=-90),
    ]
    return drawing("c", "canvas", 190, 320, "#ffffff", rows)


@template("fine-print-picture", media=True)
def fine_print_picture(v: Values) -> str:
    rows = [
        line(v, 14, 24, "Holder ", ("PERSON", ""), ", born ", ("DATE_OF_BIRTH", ""), font="11px DejaVu Sans"),
        line(v, 14, 42, "Resident at ", ("ADDRESS", ""), font="11px DejaVu Sans"),
        line(v, 14, 60, "Reachable at ", ("EMAIL", ""), " or ", ("PHONE", ""), font="11px DejaVu Sans"),
        line(
            v,
            14,
            78,
            "Fee ",
            ("PRICE", ""),
            " from ",
            ("DATE", ""),
            ", form ",
            ("VERSION", ""),
            font="11px DejaVu Sans",
        ),
    ]
    return f"<p>{v('PRODUCT')}</p>{drawing('c', 'img', 560, 94, '#ffffff', rows)}"


@template("table-picture", media=True)
def table_picture(v: Values) -> str:
    rows = [
        line(v, 14, 24, v.label("PERSON"), font="bold 13px DejaVu Sans"),
        line(v, 230, 24, v.label("IBAN"), font="bold 13px DejaVu Sans"),
        line(v, 520, 24, v.label("PRICE"), font="bold 13px DejaVu Sans"),
    ]
    for place in range(5):
        y = 52 + place * 26
        rows += [
            line(v, 14, y, ("PERSON", ""), font="13px DejaVu Sans"),
            line(v, 230, y, ("IBAN", ""), font="13px DejaVu Sans"),
            line(v, 520, y, ("PRICE", ""), font="13px DejaVu Sans"),
        ]
    return drawing("c", "img", 640, 180, "#fafafa", rows)


@template("photographed-receipt", media=True)
def photographed_receipt(v: Values) -> str:
    mono = f"14px {MONO}"
    rows = [
        block(0, 0, 60, 260, "noise"),
        block(420, 0, 60, 260, "noise"),
        line(v, 80, 34, ("FIRM", ""), font=f"bold 15px {MONO}"),
        line(v, 80, 64, ("PRODUCT", ""), font=mono),
        line(v, 80, 88, "TOTAL ", ("PRICE", ""), font=mono),
        line(v, 80, 122, "VISA ", ("CARD", ""), font=mono),
        line(v, 80, 148, ("PERSON", ""), font=mono),
        line(v, 80, 172, ("STREET", ""), font=mono),
        line(v, 80, 196, ("TOWN", ""), font=mono),
        line(v, 80, 230, ("DATE", ""), " ", ("TIME", ""), font=mono),
    ]
    return drawing("c", "jpeg", 480, 260, "#efece2", rows)


@template("console-picture", media=True)
def console_picture(v: Values) -> str:
    mono = f"13px {MONO}"
    rows = [
        line(v, 14, 28, "$ export API_KEY=", ("KEY", ""), font=mono, fill="#9fe8a0"),
        line(v, 14, 52, "host ", ("IP_ADDRESS", ""), "  up", font=mono, fill="#d8d8d8"),
        line(v, 14, 76, "user ", ("EMAIL", ""), font=mono, fill="#d8d8d8"),
        line(v, 14, 100, "version ", ("VERSION", ""), "  commit ", ("HASH", ""), font=mono, fill="#d8d8d8"),
        line(v, 14, 124, "password: ", ("PASSWORD", ""), font=mono, fill="#d8d8d8"),
    ]
    return drawing("c", "canvas", 720, 144, "#1d2126", rows)


@template("photo-and-goods", media=True)
def photo_and_goods(v: Values) -> str:
    rows = [
        block(0, 0, 520, 240, "noise"),
        block(0, 240, 520, 60, "#f4f4f4"),
        line(v, 16, 266, ("PRODUCT", ""), font="15px DejaVu Sans"),
        line(v, 16, 290, ("PRICE", ""), "   ", ("MEASURE", ""), font="14px DejaVu Sans"),
    ]
    return f"<h2>{v('PRODUCT')}</h2>{drawing('c', 'img', 520, 300, '#cccccc', rows)}<p>{v('PRICE')} · {v('EAN')}</p>"


@template("scan-stack", media=True, whole=True)
def scan_stack(v: Values) -> str:
    def scan(place: int) -> str:
        rows = [
            line(v, 24, 36, f"{v.label('PERSON')}: ", ("PERSON", ""), font=f"16px {SERIF}"),
            line(v, 24, 66, f"{v.label('EMAIL')}: ", ("EMAIL", ""), font=f"16px {SERIF}"),
            line(v, 24, 96, ("PRICE", ""), "   ", ("DATE", ""), font=f"16px {SERIF}"),
        ]
        return drawing(f"c{place}", ("img", "canvas")[place % 2], 560, 120, "#fdfdf8", rows)

    gap = f"<p style=height:420px>{v('PRODUCT')} — {v('PRICE')}</p>"
    return f"<h2>{v('HEADING')}</h2>{each(4, scan, gap)}<p>{v('EMAIL')} · {v('ORDER')}</p>"
