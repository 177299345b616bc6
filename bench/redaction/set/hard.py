"""Layouts that are hard to read from a DOM: split, turned, tiny, in frames, shadows, styles and drawings."""

from __future__ import annotations

import html

from bench.redaction.pages import FAR, document, each, field, template
from bench.redaction.values import Values, mark_of, marked


def split(v: Values, kind: str) -> str:
    """A value in pieces of its own style."""
    text = v.text(kind)
    third = max(1, len(text) // 3)
    first, second, last = (html.escape(part) for part in (text[:third], text[third : 2 * third], text[2 * third :]))
    return marked(kind, "").replace("></", f">{first}<b>{second}</b><i>{last}</i></")


def hidden_word(v: Values, kind: str) -> str:
    """An element whose text is only in its style."""
    return f'<span class=ps data-c="{html.escape(v.text(kind))}" data-x="{mark_of(kind)}"></span>'


@template("split-spans")
def split_spans(v: Values) -> str:
    kinds = ("EMAIL", "PHONE", "CARD", "IBAN", "PERSON")
    rows = "".join(f"<p>{v.label(kind)}: {split(v, kind)}</p>" for kind in kinds)
    letters = "".join(f"<span>{html.escape(char)}</span>" for char in v.text("EMAIL"))
    return f"{rows}<p>{marked('EMAIL', '').replace('></', f'>{letters}</')}</p><p>{v('PRICE')} <b>{v('DATE')}</b></p>"


@template("style-words")
def style_words(v: Values) -> str:
    rows = "".join(f"<p>{v.label(kind)}: {hidden_word(v, kind)}</p>" for kind in ("EMAIL", "PHONE", "IBAN"))
    return (
        f"<style>.ps{{display:inline-block}}.ps::before{{content:attr(data-c)}}</style><h2>{v('HEADING')}</h2>{rows}"
        f"<p>{v('PRICE')} {v('VERSION')}</p>"
    )


@template("vector-badge")
def vector_badge(v: Values) -> str:
    def row(place: int) -> str:
        kind = ("PERSON", "EMAIL", "PHONE", "PRICE", "DATE")[place]
        text = html.escape(v.text(kind))
        return f'<text x=20 y={50 + place * 34}><tspan data-x="{mark_of(kind)}">{text}</tspan></text>'

    return (
        f"<svg width=520 height=240 style=background:var(--card) font-family='DejaVu Sans' font-size=16 "
        f"fill=currentColor>{each(5, row)}</svg><p>{v('PRODUCT')}</p>"
    )


@template("closed-shadow")
def closed_shadow(v: Values) -> str:
    inner = (
        f"<style>p{{margin:5px 0}}</style><p>{v.label('PERSON')}: {v('PERSON')}</p><p>{v.label('EMAIL')}: "
        f"{v('EMAIL')}</p>"
        f"<p>{v('PRICE')}</p><p>{v.label('PHONE')}: {v('PHONE')}</p>"
    )
    return (
        f"<h2>{v('HEADING')}</h2><div id=host></div><template id=t>{inner}</template><script>"
        "const r = document.getElementById('host').attachShadow({mode: 'closed'});"
        "r.append(document.getElementById('t').content.cloneNode(true)); document.getElementById('t').remove();"
        "window.__roots = [r];</script>"
    )


@template("near-frame")
def near_frame(v: Values) -> str:
    inner = (
        f"<body style='font:14px DejaVu Sans;background:#fff;color:#222;margin:12px'><p>{v.label('PERSON')}: "
        f"{v('PERSON')}</p><p>{v.label('CARD')}: {v('CARD')}</p><p>{v('PRICE')} · {v('DATE')}</p>"
    )
    frame = (
        f'<iframe srcdoc="{html.escape(inner)}" style="width:560px;height:130px;border:2px solid var(--line)"></iframe>'
    )
    return f"<h2>{v('HEADING')}</h2><p>{v('EMAIL')}</p>{frame}<p>{v('PRODUCT')}</p>"


@template("far-frame")
def far_frame(v: Values) -> str:
    v.far = document(
        f"<p>{v.label('PERSON')}: {v('PERSON')}</p><p>{v.label('IBAN')}: {v('IBAN')}</p><p>{v.label('ADDRESS')}: "
        f"{v('ADDRESS')}</p><p>{v('PRICE')} · {v('ORDER')}</p>"
    )
    return (
        f"<h2>{v('HEADING')}</h2><iframe data-far src='{FAR}' style='width:700px;height:190px;border:0'></iframe>"
        f"<p>{v('DATE')}</p>"
    )


@template("capitals-by-style")
def capitals_by_style(v: Values) -> str:
    kinds = ("PERSON", "EMAIL", "ADDRESS", "PASSPORT")
    rows = "".join(f"<p>{v.label(kind)} {v(kind)}</p>" for kind in kinds)
    return (
        f"<div style=text-transform:uppercase;letter-spacing:1px><h3>{v('HEADING')}</h3>{rows}<p>{v('PRODUCT')}</p>"
        "</div>"
    )


@template("turned-labels")
def turned_labels(v: Values) -> str:
    def strip(place: int) -> str:
        kind = ("EMAIL", "PHONE", "PERSON", "DATE")[place]
        return f"<div class=r style=left:{60 + place * 120}px><span>{v(kind)}</span></div>"

    return (
        "<style>.r{position:absolute;top:330px;transform:rotate(-90deg);transform-origin:0 0;width:280px;height:22px}"
        f"</style><h2>{v('HEADING')}</h2>{each(4, strip)}<p style='position:absolute;left:600px;top:200px;"
        f"writing-mode:vertical-rl'>{v('IBAN')}</p>"
    )


@template("small-print")
def small_print(v: Values) -> str:
    return (
        f"<p>{v('PRODUCT')} {v('PRICE')}</p><div style='font-size:9px;width:420px;line-height:1.3;color:var(--soft)'>"
        f"Contract between {v('FIRM')} and {v('PERSON')}, {v('ADDRESS')}, born {v('DATE_OF_BIRTH')}, reachable at "
        f"{v('EMAIL')} or {v('PHONE')}. Valid from {v('DATE')}, version {v('VERSION')}, fee {v('PRICE')}. Debits are "
        f"made from {v('IBAN')}. Ref {v('ORDER')}.</div>"
    )


@template("zoomed-page")
def zoomed_page(v: Values) -> str:
    rows = "".join(f"<p>{v.label(kind)}: {v(kind)}</p>" for kind in ("PERSON", "PHONE", "CARD", "STREET"))
    return f"<style>html{{zoom:1.35}}</style><h2>{v('HEADING')}</h2>{rows}<p>{v('PRICE')} · {v('TIME')}</p>"


@template("faint-text")
def faint_text(v: Values) -> str:
    rows = "".join(f"<p>{v(kind)}</p>" for kind in ("EMAIL", "PHONE", "IP_ADDRESS", "PRICE", "PERSON"))
    return f"<div style=color:#8a8f98>{rows}</div><p style=color:#8a8f98>{v('DATE')}</p>"


@template("scrolled-feed", scroll=520)
def scrolled_feed(v: Values) -> str:
    def post(place: int) -> str:
        return (
            f"<div class=p><b>{v('PERSON')}</b> <small>{v('TIME')}</small><p>{v('WORK')}, {v('PRICE')}. "
            f"{v('EMAIL')}</p></div>"
        )

    return (
        "<style>.b{position:fixed;top:0;left:0;right:0;background:var(--card);padding:10px 20px;z-index:2}"
        f".p{{padding:16px 0}}</style><div class=b>{v('HEADING')} — {v('EMAIL')}</div>{each(22, post)}"
    )


@template("fields-of-all-kinds")
def fields_of_all_kinds(v: Values) -> str:
    address = html.escape(f"{v.text('STREET')}\n{v.text('TOWN')}")
    options = f"<option>{html.escape(v.text('EMAIL'))}"
    return (
        f"<p>{v.label('ADDRESS')}<br><textarea rows=3 data-x=p:ADDRESS>{address}</textarea></p>"
        f"<p>{v.label('EMAIL')}<br><select data-x=p:EMAIL>{options}</select></p>"
        f"<p>{v.label('PERSON')}<br>{field(v, 'PERSON', 'name=fullname readonly')}</p>"
        f"<p>{v.label('CARD')}<br>{field(v, 'CARD', 'disabled name=card')}</p>"
        f"<p>Qty<br><input value=3 data-x=d:COUNT></p><p>Coupon<br><input value=SPRING26 data-x=d:ORDER></p>"
        f"<div contenteditable>{v('PERSON')}, {v('PHONE')}</div>"
    )


@template("wrapped-column")
def wrapped_column(v: Values) -> str:
    return (
        "<div style='width:165px;font-size:14px;overflow-wrap:anywhere;border-right:1px solid var(--line)'>"
        f"{v.label('CARD')} {v('CARD')} {v.label('IBAN')} {v('IBAN')} {v.label('ADDRESS')} {v('ADDRESS')} "
        f"{v.label('EMAIL')} {v('EMAIL')} {v.label('PRICE')} {v('PRICE')}</div>"
    )


@template("unlabelled-lines")
def unlabelled_lines(v: Values) -> str:
    """Nothing says what is what."""

    def person(place: int) -> str:
        return f"<div style=margin-bottom:14px>{v('PERSON')}<br>{v('STREET')}<br>{v('TOWN')}<br>{v('PHONE')}</div>"

    return f"<div style=columns:3>{each(6, person)}</div><p>{v('PRODUCT')}<br>{v('FIRM')}<br>{v('PRICE')}</p>"
