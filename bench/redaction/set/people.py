"""Layouts that show people: profiles, directories, lists of staff, patients' records."""

from __future__ import annotations

from bench.redaction.pages import each, field, table, template
from bench.redaction.people import phrases
from bench.redaction.values import Values


@template("profile-list")
def profile_list(v: Values) -> str:
    kinds = ("PERSON", "EMAIL", "PHONE", "ADDRESS", "DATE_OF_BIRTH", "NATIONAL_ID", "PASSPORT")
    rows = "".join(f"<dt>{v.label(kind)}<dd>{v(kind)}" for kind in kinds)
    return (
        f"<style>dt{{color:var(--soft);font-size:12px}}dd{{margin:0 0 7px}}</style><h1>{v('HEADING')}</h1><dl>{rows}"
        f"<dt>{v.label('DATE')}<dd>{v('DATE')}<dt>App<dd>{v('VERSION')}</dl>"
    )


@template("profile-tiles")
def profile_tiles(v: Values) -> str:
    def tile(place: int) -> str:
        return (
            f"<div class=t><div class=n>{v('PERSON')}</div><div class=h>{v('HANDLE')}</div>"
            f"<p>{v('COUNT')} followers · {v('COUNT')} posts</p><a>{v('EMAIL')}</a></div>"
        )

    return (
        "<style>.g{display:grid;grid-template-columns:repeat(4,270px);gap:14px}.t{background:var(--card);padding:14px;"
        "border-radius:10px}.n{font-weight:600;font-size:17px}.h{color:var(--soft);font-size:13px}</style>"
        f"<h2>{v('HEADING')}</h2><div class=g>{each(8, tile)}</div>"
    )


@template("member-table")
def member_table(v: Values) -> str:
    kinds = ("PERSON", "EMAIL", "PHONE", "TOWN")
    heads = ["#", *(v.label(kind) for kind in kinds), v.label("ORDER"), v.label("PRICE"), v.label("DATE")]

    def row(place: int) -> list[str]:
        return [str(place + 1), *(v(kind) for kind in kinds), v("ORDER"), v("PRICE"), v("DATE")]

    return f"<h2>{v('HEADING')}</h2>" + table(
        heads, (row(place) for place in range(8)), "border=1 style=font-size:12px"
    )


@template("record-sheet")
def record_sheet(v: Values) -> str:
    kinds = ("PERSON", "DATE_OF_BIRTH", "STREET", "TOWN", "PHONE", "NATIONAL_ID", "DRIVER_LICENSE", "VEHICLE")
    rows = "".join(f"<tr><th scope=row>{v.label(kind)}<td>{v(kind)}" for kind in kinds)
    return (
        "<style>th{font-weight:normal;color:var(--soft);width:220px}tr{border-bottom:1px solid var(--line)}</style>"
        f"<h1>{v('ORDER')}</h1><table>{rows}<tr><th scope=row>{v.label('DATE')}<td>{v('DATE')}</table>"
    )


@template("team-strip")
def team_strip(v: Values) -> str:
    titles = phrases("Head of Design|Senior Buyer|Warehouse Lead|Facilities|Payroll Clerk|Night Shift Supervisor")

    def row(place: int) -> str:
        return (
            f"<div class=r><span class=a></span><b>{v('PERSON')}</b><i>{titles[place]}</i><span>{v('PHONE')}</span>"
            f"<span>Room {v('COUNT')}</span></div>"
        )

    return (
        "<style>.r{display:flex;gap:26px;align-items:center;padding:9px 0}.r b{width:250px}.r i{width:210px;"
        "color:var(--soft)}.a{width:30px;height:30px;border-radius:15px;background:var(--line)}</style>"
        f"<h2>{v('FIRM')}</h2>{each(6, row)}"
    )


@template("staff-grid-absolute")
def staff_grid_absolute(v: Values) -> str:
    """A table that is none: each cell stands where its style says, column by column."""
    kinds = ("PERSON", "DATE_OF_BIRTH", "EMAIL", "BANK_ACCOUNT")
    lefts = (20, 240, 430, 760)
    heads = "".join(f"<b style=left:{x}px;top:50px>{v.label(kind)}</b>" for x, kind in zip(lefts, kinds, strict=True))
    cells = "".join(
        f"<span style=left:{x}px;top:{84 + row * 27}px>{v(kind)}</span>"
        for x, kind in zip(lefts, kinds, strict=True)
        for row in range(7)
    )
    return (
        f"<style>b,span{{position:absolute;white-space:nowrap;font-size:13px}}</style><h3>{v('HEADING')}"
        f"</h3>{heads}{cells}"
    )


@template("business-card-narrow")
def business_card_narrow(v: Values) -> str:
    person = v.text("PERSON")
    return (
        "<style>.c{width:170px;padding:12px;border:1px solid var(--line);font-size:14px;overflow-wrap:anywhere}</style>"
        f"<div class=c><b>{v('PERSON', person)}</b><br>{v('FIRM')}<p>{v('STREET')}<br>{v('TOWN')}</p>"
        f"<p>{v('PHONE')}</p><p>{v('EMAIL', v.email_of(person))}</p></div>"
    )


@template("contact-grid")
def contact_grid(v: Values) -> str:
    kinds = ("PERSON", "PHONE", "EMAIL", "STREET", "TOWN", "MEDICAL_ID")
    cells = "".join(f"<span class=l>{v.label(kind)}</span><span>{v(kind)}</span>" for kind in kinds)
    return (
        "<style>.k{display:grid;grid-template-columns:190px 340px 190px 340px;gap:11px 8px;font-size:14px}"
        f".l{{color:var(--soft)}}</style><h2>{v('HEADING')}</h2><div class=k>{cells}"
        f"<span class=l>{v.label('DATE')}</span><span>{v('DATE')}</span>"
        f"<span class=l>{v.label('PRICE')}</span><span>{v('PRICE')}</span></div>"
    )


@template("label-above-value")
def label_above_value(v: Values) -> str:
    kinds = ("PERSON", "DATE_OF_BIRTH", "PHONE", "EMAIL", "PASSPORT", "TAX_ID", "ADDRESS", "USERNAME")
    boxes = "".join(f"<div><label>{v.label(kind)}</label><p>{v(kind)}</p></div>" for kind in kinds)
    return (
        "<style>.w{display:flex;flex-wrap:wrap;gap:18px 40px}.w div{width:350px}label{text-transform:uppercase;"
        "font-size:11px;letter-spacing:1px;color:var(--soft)}.w p{margin:2px 0 0}</style>"
        f"<h2>{v('HEADING')}</h2><div class=w>{boxes}</div><p><small>{v('VERSION')} · {v('TIME')}</small></p>"
    )


@template("patient-record")
def patient_record(v: Values) -> str:
    doctor = {"de": "Dr. med.", "es": "Dra.", "fr": "Dr", "it": "Dott.", "pl": "lek."}.get(v.language, "Dr.")
    return (
        f"<h2>{v('PERSON')}</h2><p>{v.label('DATE_OF_BIRTH')}: {v('DATE_OF_BIRTH')} · {v.label('MEDICAL_ID')}: "
        f"{v('MEDICAL_ID')} · {v.label('PHONE')}: {v('PHONE')}</p><table border=1 style=font-size:13px>"
        f"<tr><td>{v('DATE')}<td>{doctor} {v('PERSON')}<td>128/84<td>{v('MEASURE')}<td>{v('PERCENT')}"
        f"<tr><td>{v('DATE')}<td>{doctor} {v('PERSON')}<td>131/79<td>{v('MEASURE')}<td>{v('PERCENT')}</table>"
        f"<p>{v('TIME')} Ibuprofen 400 mg, 3 × 1. ICD J06.9. Ward 7B, bed 12.</p>"
    )


@template("account-form")
def account_form(v: Values) -> str:
    person = v.text("PERSON")
    first, _, last = person.partition(" ")
    rows = (
        ("First name", field(v, "PERSON", "name=given autocomplete=given-name", first)),
        ("Last name", field(v, "PERSON", "name=family autocomplete=family-name", last)),
        (v.label("EMAIL"), field(v, "EMAIL", "type=email name=mail")),
        (v.label("PHONE"), field(v, "PHONE", "type=tel name=tel")),
        (v.label("STREET"), field(v, "STREET", "autocomplete=address-line1")),
        (v.label("TOWN"), field(v, "TOWN", "name=city")),
        (v.label("PASSWORD"), field(v, "PASSWORD", "type=password")),
        (v.label("DATE_OF_BIRTH"), field(v, "DATE_OF_BIRTH", "autocomplete=bday")),
    )
    body = "".join(f"<p><label>{label}<br>{made}</label></p>" for label, made in rows)
    return f"<h2>{v('HEADING')}</h2><form style=columns:2;width:700px>{body}</form><button>{v('HEADING')}</button>"


@template("applicants-board")
def applicants_board(v: Values) -> str:
    def card(place: int) -> str:
        return (
            f"<div class=c><b>{v('PERSON')}</b><small>{v('TIME')}</small><p>{v('EMAIL')}</p>"
            f"<p>★ {v('PERCENT')} match · {v('PRICE')} expected</p></div>"
        )

    columns = each(3, lambda place: f"<div class=k><h3>Stage {place + 1}</h3>{each(3, card)}</div>")
    return (
        "<style>.b{display:flex;gap:16px}.k{width:330px;background:var(--card);padding:10px}.c{background:var(--bg);"
        "padding:8px;margin-bottom:9px;border:1px solid var(--line);font-size:13px}.c small{float:right}"
        f".c p{{margin:3px 0}}</style><div class=b>{columns}</div>"
    )


@template("long-directory", whole=True)
def long_directory(v: Values) -> str:
    def row(place: int) -> str:
        return (
            f"<section><h3>{v('PERSON')}</h3><p>{v.pick('Room', 'Floor', 'Desk')} {v('COUNT')} · {v('PHONE')} · "
            f"{v('EMAIL')}</p></section>"
        )

    return f"<h1>{v('FIRM')}</h1>{each(24, row)}<footer>{v('VERSION')} · {v('DATE')}</footer>"
