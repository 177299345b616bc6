"""Layouts of shops: orders, receipts, invoices, parcels; and goods, where nothing is private."""

from __future__ import annotations

from bench.redaction.pages import each, field, table, template
from bench.redaction.values import Values


@template("order-page")
def order_page(v: Values) -> str:
    ship = {"de": "Lieferadresse", "es": "Dirección de envío", "fr": "Adresse de livraison"}.get(v.language, "Ship to")
    items = each(3, lambda place: f"<tr><td>{v('PRODUCT')}<td>{v('COUNT')}<td>{v('PRICE')}")
    return (
        f"<h1>{v.label('ORDER')} {v('ORDER')}</h1><p><small>{v('DATE')}, {v('TIME')}</small></p>"
        f"<div style=display:flex;gap:60px><div><h3>{ship}</h3><div>{v('PERSON')}</div><div>{v('STREET')}</div>"
        f"<div>{v('TOWN')}</div><div>{v('PHONE')}</div></div><div><h3>{v('HEADING')}</h3><div>Visa {v('CARD')}</div>"
        f"<div>{v('PRICE')}</div></div></div><table>{items}</table><p>Tracking {v('TRACKING')}</p>"
    )


@template("checkout-form")
def checkout_form(v: Values) -> str:
    rows = (
        ("Name on card", field(v, "PERSON", "autocomplete=cc-name")),
        (v.label("CARD"), field(v, "CARD", "inputmode=numeric name=cardnumber")),
        ("CVC", field(v, "CVC", "style=width:70px name=cvc")),
        (v.label("EMAIL"), field(v, "EMAIL", "placeholder=you@example.test")),
        (v.label("ADDRESS"), field(v, "ADDRESS", "style=width:480px")),
    )
    body = "".join(f"<div class=f><span>{label}</span>{made}</div>" for label, made in rows)
    return (
        "<style>.f{display:flex;gap:12px;margin:9px 0}.f span{width:170px;padding-top:4px}</style>"
        f"<h2>{v('HEADING')}</h2>{body}<p>{v('PRODUCT')} — {v('PRICE')}</p><p>{v('HEADING')} · {v('DATE')}</p>"
    )


@template("till-receipt")
def till_receipt(v: Values) -> str:
    rows = each(4, lambda place: f"{v('PRODUCT')}  {v('PRICE')}\n")
    return (
        f"<pre style=\"font:12px 'DejaVu Sans Mono'\">{v('FIRM')} #0042     {v('TIME')}\n{v('DATE')}\n"
        f"----------------------------------\n{rows}{v('PRODUCT')} {v('EAN')}\n"
        f"----------------------------------\nTOTAL      {v('PRICE')}\nMASTERCARD {v('CARD')}\nREF        "
        f"{v('ORDER')}\n"
        f"CUSTOMER   {v('PERSON')}\n           {v('STREET')}\n           {v('TOWN')}\nTEL        {v('PHONE')}\n</pre>"
    )


@template("invoice-letter")
def invoice_letter(v: Values) -> str:
    items = table(
        (v.label("PRODUCT"), "EAN", v.label("PRICE")),
        ((v("PRODUCT"), v("EAN"), v("PRICE")) for _ in range(4)),
        "style=width:720px;font-size:13px",
    )
    return (
        f"<div style=float:right;font-size:12px>{v('FIRM')}<br>IBAN {v('IBAN')}<br>{v.label('TAX_ID')} {v('TAX_ID')}"
        f"</div><div style=margin-top:30px>{v('PERSON')}<br>{v('STREET')}<br>{v('TOWN')}</div>"
        f"<h2 style=margin-top:34px>{v('ORDER')}</h2><p>{v('DATE')}</p>{items}<p><b>{v('PRICE')}</b></p>"
    )


@template("goods-grid")
def goods_grid(v: Values) -> str:
    def tile(place: int) -> str:
        return (
            f"<div class=t><div class=i></div><b>{v('PRODUCT')}</b><p>{v('PRICE')} <s>{v('PRICE')}</s></p>"
            f"<small>{v('COUNT')} reviews · {v('MEASURE')}</small></div>"
        )

    return (
        "<style>.g{display:grid;grid-template-columns:repeat(5,220px);gap:14px}.i{height:90px;background:var(--card)}"
        f".t p{{margin:2px 0}}</style><h2>{v('HEADING')}</h2><div class=g>{each(15, tile)}</div>"
    )


@template("goods-page")
def goods_page(v: Values) -> str:
    facts = each(4, lambda place: f"<li>{v('MEASURE')}, {v('PERCENT')}, {v('VERSION')}")
    also = each(6, lambda place: f"<span>{v('PRODUCT')} {v('PRICE')}</span>", " · ")
    return (
        f"<h1>{v('PRODUCT')}</h1><p>by {v('FIRM')}</p><p style=font-size:24px>{v('PRICE')}</p><ul>{facts}</ul>"
        f"<p>EAN {v('EAN')} · SKU {v('ORDER')} · {v('HEADING')}</p><h3>{v('HEADING')}</h3><p>{also}</p>"
        f"<p>{v('WORK')}, ISBN {v('ISBN')}</p>"
    )


@template("cart-rows")
def cart_rows(v: Values) -> str:
    rows = each(
        4,
        lambda place: (
            f"<div class=r><span class=w>{v('PRODUCT')}</span><span>×{v('COUNT')}</span><b>{v('PRICE')}</b></div>"
        ),
    )
    return (
        "<style>.r{display:flex;gap:30px;padding:8px;border-bottom:1px solid var(--line)}.w{width:420px}</style>"
        f"<h2>{v('HEADING')}</h2>{rows}<p style=color:var(--soft)>Delivering to <a>{v('PERSON')}, {v('ADDRESS')}"
        "</a></p>"
        f"<p>Contact: <a>{v('EMAIL')}</a></p><p>Total {v('PRICE')}</p>"
    )


@template("parcel-history")
def parcel_history(v: Values) -> str:
    steps = each(
        5, lambda place: f"<li><b>{v('DATE')} {v('TIME')}</b> <span>{v('LANDMARK')} depot, {v('MEASURE')}</span>"
    )
    return (
        f"<h2>{v('TRACKING')}</h2><ol>{steps}</ol><p>Recipient<br>{v('PERSON')}<br>{v('STREET')}<br>{v('TOWN')}</p>"
        f"<p>Left with neighbour {v('PERSON')}. Driver's note: ring {v('PHONE')}.</p>"
    )


@template("returns-desk")
def returns_desk(v: Values) -> str:
    rows = table(
        (v.label("ORDER"), v.label("PRODUCT"), v.label("PERSON"), v.label("IBAN"), v.label("PRICE")),
        ((v("ORDER"), v("PRODUCT"), v("PERSON"), v("IBAN"), v("PRICE")) for _ in range(6)),
        "border=1 cellpadding=3 style=font-size:12px",
    )
    return f"<h3>{v('HEADING')}</h3>{rows}"


@template("seller-reviews")
def seller_reviews(v: Values) -> str:
    def review(place: int) -> str:
        return (
            f"<article><div>★★★★☆ <b>{v('PRODUCT')}</b></div>"
            f"<p>{v.pick('Works well', 'Arrived late', 'Fits my desk')}, "
            f"paid {v('PRICE')}.</p><small>{v('PERSON')} · {v('DATE')} · {v('COUNT')} found this helpful</small>"
            "</article>"
        )

    return f"<style>article{{margin-bottom:15px}}article p{{margin:2px 0}}</style><h2>{v('FIRM')}</h2>{each(6, review)}"
