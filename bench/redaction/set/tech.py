"""Layouts of machines: logs, documents in JSON, settings with keys, sessions, releases."""

from __future__ import annotations

from bench.redaction.pages import each, table, template
from bench.redaction.values import Values

MONO = "style=\"font:12px/1.5 'DejaVu Sans Mono';white-space:pre-wrap;overflow-wrap:anywhere\""


@template("server-log")
def server_log(v: Values) -> str:
    def row(place: int) -> str:
        stamp = f"2026-11-{v.number(10, 28)}T{v.text('TIME')}:07Z"
        said = (
            lambda: f"login ok user={v('EMAIL')} ip={v('IP_ADDRESS')}",
            lambda: f"GET /cart/{v('COUNT')} 200 in {v.number(2, 90)} ms build={v('HASH')}",
            lambda: f"authorization: Bearer {v('TOKEN')}",
            lambda: f"set-cookie: sid={v('COOKIE')}; Path=/; HttpOnly",
            lambda: f"node {v('VERSION')} restarted, request {v('HASH')}",
            lambda: f"lease {v('MAC_ADDRESS')} -> {v('IP_ADDRESS')}",
        )[place % 6]()
        return f"{v('DATE', stamp)} {v.pick('INFO', 'WARN', 'DEBUG')} {said}\n"

    return f"<pre {MONO}>{each(12, row)}</pre>"


@template("json-document")
def json_document(v: Values) -> str:
    return (
        f'<pre {MONO}>{{\n  "id": {v("COUNT").replace(",", "")},\n  "version": "{v("VERSION")}",\n'
        f'  "customer": {{\n    "name": "{v("PERSON")}",\n    "email": "{v("EMAIL")}",\n'
        f'    "phone": "{v("PHONE")}",\n    "birthDate": "{v("DATE_OF_BIRTH")}",\n    "address": {{\n'
        f'      "street": "{v("STREET")}",\n      "city": "{v("TOWN")}"\n    }}\n  }},\n  "items": [\n'
        f'    {{"title": "{v("PRODUCT")}", "ean": "{v("EAN")}", "price": "{v("PRICE")}"}},\n'
        f'    {{"title": "{v("WORK")}", "isbn": "{v("ISBN")}"}}\n  ],\n  "commit": "{v("HASH")}",\n'
        f'  "accessToken": "{v("TOKEN")}"\n}}</pre>'
    )


@template("settings-keys")
def settings_keys(v: Values) -> str:
    rows = (
        ("Publishable id", v("HASH")),
        ("Secret key", v("KEY")),
        ("Webhook secret", v("KEY")),
        ("Database password", v("PASSWORD")),
        ("Region", "eu-west-3"),
        ("Client version", v("VERSION")),
        ("Owner", v("EMAIL")),
    )
    body = "".join(f"<div class=r><div class=k>{name}</div><code>{value}</code></div>" for name, value in rows)
    return (
        "<style>.r{display:flex;padding:7px 0}.k{width:220px}code{background:var(--card);padding:2px 7px;"
        f"font:13px 'DejaVu Sans Mono'}}</style><h1>{v('HEADING')}</h1>{body}"
    )


@template("env-file")
def env_file(v: Values) -> str:
    return (
        f"<pre {MONO}># release {v('VERSION')}\nNODE_ENV=production\nPORT=8080\nDATABASE_URL=postgres://app:"
        f"{v('PASSWORD', v.username() + '77')}@db.example.test:5432/shop\nSTRIPE_KEY={v('KEY')}\n"
        f"SMTP_USER={v('EMAIL')}\n"
        f"SMTP_PASS={v('PASSWORD')}\nJWT={v('TOKEN')}\nCACHE_TTL=3600\nCOMMIT={v('HASH')}\nDOCS={v('URL')}\n</pre>"
    )


@template("session-table")
def session_table(v: Values) -> str:
    heads = (v.label("USERNAME"), v.label("IP_ADDRESS"), "MAC", "Client", "Since")
    rows = ((v("USERNAME"), v("IP_ADDRESS"), v("MAC_ADDRESS"), f"Chrome {v('VERSION')}", v("TIME")) for _ in range(8))
    return f"<h2>{v('HEADING')}</h2>" + table(heads, rows, "border=1 style=font-size:13px")


@template("curl-example")
def curl_example(v: Values) -> str:
    return (
        f"<h2>{v('HEADING')}</h2><pre {MONO}>curl {v('URL')} \\\n  -H 'X-Api-Key: {v('KEY')}' \\\n"
        f"  -H 'Cookie: sid={v('COOKIE')}' \\\n  -u '{v('USERNAME')}:{v('PASSWORD')}' \\\n"
        f"  -d 'email={v('EMAIL')}' -d 'version={v('VERSION')}'\n# 200 OK, {v('COUNT')} bytes, {v('TIME')}</pre>"
    )


@template("release-notes")
def release_notes(v: Values) -> str:
    def release(place: int) -> str:
        items = each(3, lambda turn: f"<li>{v('HASH')} fixes {v('ORDER')} on {v('PRODUCT')}, {v('PERCENT')} faster")
        return f"<h3>{v('VERSION')} <small>{v('DATE')}</small></h3><ul>{items}</ul>"

    return f"<h1>{v('HEADING')}</h1>{each(4, release)}"


@template("commit-list")
def commit_list(v: Values) -> str:
    def row(place: int) -> str:
        return (
            f"<div class=r><b>{v.pick('Fix the', 'Drop the', 'Tidy the')} {v.pick('cart', 'parser', 'footer')}</b>"
            f"<small>{v('PERSON')} committed {v('TIME')}</small><code>{v('HASH')}</code></div>"
        )

    return f"<style>.r{{display:flex;gap:20px;padding:6px 0}}code{{margin-left:auto}}</style>{each(9, row)}"


@template("wallet-page")
def wallet_page(v: Values) -> str:
    rows = ((v("DATE"), v("CRYPTO"), v("COUNT"), v("PRICE")) for _ in range(5))
    return (
        f"<h2>{v('HEADING')}</h2><p>Receive at <code>{v('CRYPTO')}</code></p>"
        + table(("Date", "To", "Blocks", "Value"), rows, "style=font-size:12px")
        + f"<p>Recovery contact: {v('EMAIL')}, PIN {v('SECRET')}</p>"
    )
