"""Layouts of banks and offices: statements, transfers, pay, cards, taxes."""

from __future__ import annotations

from bench.redaction.pages import each, table, template
from bench.redaction.values import Values


@template("bank-statement")
def bank_statement(v: Values) -> str:
    def row(place: int) -> list[str]:
        what = f"{v.pick('SEPA', 'POS', 'ATM')} {v('FIRM')}" if place % 2 else f"Transfer {v('PERSON')}"
        return [v("DATE"), what, v("ORDER"), v("PRICE")]

    rows = table((v.label("DATE"), "", "Ref", v.label("PRICE")), map(row, range(8)), "style=font-size:13px;width:900px")
    return (
        f"<p>{v('PERSON')}<br>{v('STREET')}<br>{v('TOWN')}</p><p>IBAN {v('IBAN')} · {v.label('BANK_ACCOUNT')} "
        f"{v('BANK_ACCOUNT')}</p>{rows}"
    )


@template("transfer-list")
def transfer_list(v: Values) -> str:
    def row(place: int) -> str:
        return (
            f"<div class=r><div><b>{v('PERSON')}</b><br><small>{v('IBAN')}</small></div><div class=a>{v('PRICE')}<br>"
            f"<small>{v('DATE')}</small></div></div>"
        )

    return (
        "<style>.r{display:flex;justify-content:space-between;width:520px;padding:8px 0;"
        f"border-top:1px solid var(--line)}}.a{{text-align:right}}</style><h2>{v('HEADING')}</h2>{each(7, row)}"
    )


@template("pay-slip")
def pay_slip(v: Values) -> str:
    kinds = ("PERSON", "NATIONAL_ID", "TAX_ID", "BANK_ACCOUNT", "ADDRESS")
    left = "".join(f"<tr><td class=l>{v.label(kind)}:<td>{v(kind)}" for kind in kinds)
    right = each(5, lambda place: f"<tr><td>{v.pick('Base', 'Bonus', 'Tax', 'Net', 'Overtime')}<td>{v('PRICE')}")
    return (
        "<style>.l{color:var(--soft)}.s{display:flex;gap:50px}</style>"
        f"<h2>{v('FIRM')}</h2><div class=s><table>{left}</table><table>{right}</table></div>"
        f"<p>{v('DATE')} · {v('ORDER')}</p>"
    )


@template("payroll-table")
def payroll_table(v: Values) -> str:
    kinds = ("PERSON", "NATIONAL_ID", "IBAN")
    heads = [*(v.label(kind) for kind in kinds), v.label("PRICE"), v.label("DATE")]
    rows = ([*(v(kind) for kind in kinds), v("PRICE"), v("DATE")] for _ in range(8))
    return f"<h3>{v('HEADING')}</h3>" + table(heads, rows, "border=1 style=font-size:12px")


@template("card-wallet")
def card_wallet(v: Values) -> str:
    def card(place: int) -> str:
        return (
            f"<div class=c><div>{v.pick('Visa', 'Mastercard', 'Amex')}</div><div class=n>{v('CARD')}</div><div class=b>"
            f"<span>{v('PERSON')}</span></div></div>"
        )

    return (
        "<style>.w{display:flex;gap:18px;flex-wrap:wrap}.c{width:330px;height:150px;border-radius:14px;padding:16px;"
        "background:#24406e;color:#f2f4f8}.n{font:19px 'DejaVu Sans Mono';margin:32px 0 14px}.b{font-size:13px;"
        f"text-transform:uppercase}}</style><h2>{v('HEADING')}</h2><div class=w>{each(3, card)}</div>"
        f"<p>{v('HEADING')} · {v('PRICE')} · {v('DATE')}</p>"
    )


@template("tax-letter")
def tax_letter(v: Values) -> str:
    hello = {
        "de": "Sehr geehrte Frau",
        "es": "Estimado Sr.",
        "fr": "Chère Madame",
        "it": "Gentile Sig.",
        "nl": "Geachte heer",
        "pl": "Szanowna Pani",
        "sv": "Hej",
    }.get(v.language, "Dear Ms")
    name = v.text("PERSON")
    family = name.split()[-1] if v.language != "sv" else name
    return (
        f"<div style=width:620px><p>{v('PERSON', name)}<br>{v('STREET')}<br>{v('TOWN')}</p>"
        f"<p style=text-align:right>{v('DATE')}</p><p>{hello} {v('PERSON', family)},</p>"
        f"<p>{v.label('TAX_ID')} {v('TAX_ID')}, {v.label('NATIONAL_ID')} {v('NATIONAL_ID')}: {v('PRICE')} "
        f"({v('PERCENT')}), {v('DATE')}.</p><p>Ref. {v('ORDER')}</p><p>{v('PERSON')}</p></div>"
    )


@template("market-board")
def market_board(v: Values) -> str:
    rows = ((v("FIRM"), v("PRICE"), v("PERCENT"), v("COUNT"), v("TIME")) for _ in range(12))
    return f"<h2>{v('HEADING')}</h2>" + table(("Share", "Last", "Change", "Volume", "At"), rows, "style=font-size:13px")
