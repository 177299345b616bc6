"""Layouts of the public web: searches, news, maps, travel, events; most of it is nobody's."""

from __future__ import annotations

from bench.redaction.pages import each, table, template
from bench.redaction.values import Values


@template("search-results")
def search_results(v: Values) -> str:
    def hit(place: int) -> str:
        return (
            f"<div style=margin-bottom:13px><a style=font-size:17px>{v('WORK')} – {v('FIRM')}</a><br>"
            f"<small>{v('URL')}</small><br>{v('DATE')} — {v('PRODUCT')} from {v('PRICE')}, {v('COUNT')} reviews near "
            f"{v('LANDMARK')}.</div>"
        )

    return f"<p>About {v('COUNT')} results</p>{each(6, hit)}"


@template("news-front")
def news_front(v: Values) -> str:
    def story(place: int) -> str:
        return (
            f"<article><h3>{v('FIRM')} shares fall {v('PERCENT')}</h3><p>Analysts at {v('FIRM')} expect {v('PRICE')} "
            f"by "
            f"{v('DATE')}; crowds filled {v('LANDMARK')} at {v('TIME')}.</p>"
            f"<small>{v('COUNT')} comments</small></article>"
        )

    return f"<style>main{{columns:2;width:1000px}}</style><h1>{v('HEADING')}</h1><main>{each(8, story)}</main>"


@template("address-map")
def address_map(v: Values) -> str:
    def pin(place: int) -> str:
        x, y = 40 + place % 3 * 300, 60 + place // 3 * 150
        return f"<div class=p style=left:{x}px;top:{y}px>📍 {v('PERSON')}<br><small>{v('ADDRESS')}</small></div>"

    return (
        "<style>.m{position:relative;height:480px;width:980px;background:var(--card)}.p{position:absolute;width:240px;"
        "font-size:13px}</style>"
        f"<h2>{v('LANDMARK')}</h2><div class=m>{each(6, pin)}</div>"
        f"<p>{v('LOCATION')} · {v('MEASURE')} · {v('LANDMARK')}</p>"
    )


@template("trip-booking")
def trip_booking(v: Values) -> str:
    name = {"de": "Reisender", "es": "Pasajero", "fr": "Passager", "it": "Passeggero"}.get(v.language, "Passenger")
    return (
        f"<h1>{v('FLIGHT')}</h1><p>{v('DATE')} {v('TIME')} → {v('TIME')}, gate B22, seat 14C</p>"
        + table(
            (name, v.label("PASSPORT"), v.label("DATE_OF_BIRTH"), "Bag"),
            ((v("PERSON"), v("PASSPORT"), v("DATE_OF_BIRTH"), v("MEASURE")) for _ in range(3)),
            "border=1",
        )
        + f"<p>{v('PRICE')} · {v('CARD')} · {v('EMAIL')} · {v('ORDER')}</p>"
    )


@template("event-list")
def event_list(v: Values) -> str:
    def event(place: int) -> str:
        return f"<li><b>{v('WORK')}</b>, {v('LANDMARK')} — {v('DATE')}, {v('TIME')}, {v('PRICE')}</li>"

    return f"<h2>{v('HEADING')}</h2><ul>{each(10, event)}</ul><p>{v('HEADING')} · {v('HEADING')}</p>"


@template("library-shelf")
def library_shelf(v: Values) -> str:
    rows = ((v("WORK"), v("ISBN"), v("FIRM"), v("DATE"), v("MEASURE")) for _ in range(10))
    return f"<h2>{v('HEADING')}</h2>" + table(("Title", "ISBN", "Publisher", "Out", "Size"), rows, "border=1")


@template("dashboard-numbers")
def dashboard_numbers(v: Values) -> str:
    def tile(place: int) -> str:
        return (
            f"<div class=t><small>{v('HEADING')}</small><div class=n>{v('COUNT')}</div><div>{v('PERCENT')}</div></div>"
        )

    return (
        "<style>.g{display:grid;grid-template-columns:repeat(4,260px);gap:14px}.t{background:var(--card);padding:14px}"
        f".n{{font-size:28px}}</style><div class=g>{each(8, tile)}</div>"
        f"<p>{v('VERSION')} · {v('TIME')} · {v('DATE')}</p>"
    )


@template("rental-listing")
def rental_listing(v: Values) -> str:
    return (
        f"<h1>{v('PRODUCT')}, {v('LANDMARK')}</h1><p>{v('PRICE')} · 64 m² · {v('COUNT')} views</p><p style=width:600px>"
        f"Keys are with {v('PERSON')}, {v('ADDRESS')}. Ring {v('PHONE')} before {v('TIME')}.</p>"
        f"<aside style=background:var(--card);padding:12px;width:300px><b>{v('PERSON')}</b><br>"
        f"Host since {v('DATE')}<br>"
        f"<a>{v('EMAIL')}</a></aside>"
    )


@template("parking-permits")
def parking_permits(v: Values) -> str:
    heads = (v.label("VEHICLE"), v.label("PERSON"), v.label("STREET"), v.label("DATE"), v.label("PRICE"))
    rows = ((v("VEHICLE"), v("PERSON"), v("STREET"), v("DATE"), v("PRICE")) for _ in range(7))
    return f"<h2>{v('HEADING')}</h2>" + table(heads, rows, "style=font-size:13px")
