"""Layouts where people write to each other: chats, letters, threads, tickets, minutes."""

from __future__ import annotations

from bench.redaction.pages import each, template
from bench.redaction.values import Values

SAYS = {  # {n} a person, {e} an e-mail address, {t} a phone number, {a} an address
    "en": (
        "Could you ask {n} to send it to {e}?",
        "I moved, the new place is {a}.",
        "My other number: {t}, call late.",
    ),
    "de": ("Kannst du {n} bitten, es an {e} zu schicken?", "Ich bin umgezogen nach {a}.", "Ruf mich an: {t}."),
    "es": ("¿Puedes pedirle a {n} que lo mande a {e}?", "Me he mudado a {a}.", "Mi otro número es el {t}."),
    "fr": ("Peux-tu demander à {n} de l'envoyer à {e} ?", "J'ai déménagé au {a}.", "Mon autre numéro : {t}."),
    "it": ("Puoi chiedere a {n} di mandarlo a {e}?", "Mi sono trasferito in {a}.", "L'altro mio numero è {t}."),
    "nl": ("Kun je {n} vragen het naar {e} te sturen?", "Ik ben verhuisd naar {a}.", "Mijn andere nummer is {t}."),
    "sv": ("Kan du be {n} skicka det till {e}?", "Jag har flyttat till {a}.", "Mitt andra nummer är {t}."),
    "pl": ("Czy {n} może to wysłać na {e}?", "Mój nowy adres to {a}.", "Mój drugi numer to {t}."),
}
BYE = {
    "en": "Best wishes,",
    "de": "Mit freundlichen Grüßen",
    "es": "Un saludo,",
    "fr": "Cordialement,",
    "it": "Cordiali saluti,",
    "nl": "Met vriendelijke groet,",
    "sv": "Med vänliga hälsningar,",
    "pl": "Z poważaniem,",
}
HELLO = {
    "en": "Hi",
    "de": "Hallo",
    "es": "Hola",
    "fr": "Bonjour",
    "it": "Ciao",
    "nl": "Beste",
    "sv": "Hej",
    "pl": "Cześć",
}


def says(v: Values, which: int) -> str:
    """A sentence with marked details."""
    kinds = {"n": "PERSON", "e": "EMAIL", "t": "PHONE", "a": "ADDRESS"}
    sentence = SAYS[v.language][which % 3]
    for letter, kind in kinds.items():
        if f"{{{letter}}}" in sentence:
            sentence = sentence.replace(f"{{{letter}}}", v(kind))
    return sentence


@template("chat-bubbles")
def chat_bubbles(v: Values) -> str:
    def bubble(place: int) -> str:
        side = "right" if place % 2 else "left"
        return f"<div class='b {side}'>{says(v, place)}<small> {v('TIME')}</small></div>"

    return (
        "<style>.b{max-width:420px;padding:8px 12px;border-radius:14px;background:var(--card);margin:7px 0;"
        "width:fit-content}.right{margin-left:auto;background:var(--accent);color:var(--bg)}.x{width:760px}</style>"
        f"<div class=x><h3>{v('PERSON')}</h3>{each(6, bubble)}</div>"
    )


@template("mail-thread")
def mail_thread(v: Values) -> str:
    name, other = v.text("PERSON"), v.text("PERSON")
    return (
        f"<h2>Re: {v('PRODUCT')}</h2><p>From: {v('PERSON', name)} &lt;{v('EMAIL', v.email_of(name))}&gt;<br>"
        f"To: {v('PERSON', other)} &lt;{v('EMAIL', v.email_of(other))}&gt;<br>Date: {v('DATE')} {v('TIME')}</p>"
        f"<p>{HELLO[v.language]} {v('PERSON', other.split()[0])},</p><p style=width:640px>{says(v, 0)} {says(v, 1)} "
        f"{says(v, 2)}</p><p>{BYE[v.language]}<br>{v('PERSON', name)}</p>"
        f"<blockquote style='border-left:3px solid var(--line);padding-left:10px'>{v('DATE')}, {v('PERSON', other)}: "
        f"{v('PRICE')}?</blockquote>"
    )


@template("comment-tree")
def comment_tree(v: Values) -> str:
    def comment(place: int) -> str:
        return (
            f"<div style=margin-left:{place % 3 * 34}px><b>{v('USERNAME') if place % 3 == 2 else v('PERSON')}</b> "
            f"<small>{v('TIME')} · {v('COUNT')} points</small><p>{v.pick('Agreed.', 'No idea.', 'Try again.')} "
            f"{v('WORK')}, {v('PERCENT')}.</p></div>"
        )

    return f"<style>p{{margin:2px 0 11px}}</style><h2>{v('WORK')}</h2>{each(7, comment)}"


@template("support-ticket")
def support_ticket(v: Values) -> str:
    person = v.text("PERSON")
    return (
        f"<h1>{v('ORDER')} {v('PRODUCT')}</h1><div style=display:flex;gap:40px><div style=width:640px>"
        f"<p>{says(v, 2)}</p>"
        f"<p>{says(v, 1)}</p><p>{v('URL')} · {v('VERSION')} · {v('HASH')}</p></div><div style=font-size:13px>"
        f"<div>Requester</div><div>{v('PERSON', person)}</div><div>{v('EMAIL', v.email_of(person))}</div>"
        f"<div>Assignee</div><div>{v('PERSON')}</div><div>Priority</div><div>High</div><div>Opened</div>"
        f"<div>{v('DATE')}</div></div></div>"
    )


@template("crm-card")
def crm_card(v: Values) -> str:
    def touch(place: int) -> str:
        return f"<li><b>{v('DATE')}</b> {v.pick('Call', 'Visit', 'Mail')} · {v('PERSON')} · {v('PRICE')}</li>"

    return (
        f"<div style=background:var(--card);padding:16px;width:560px><h2>{v('PERSON')}</h2><p>{v('FIRM')} · "
        f"{v('LANDMARK')}</p><p>☎ {v('PHONE')} &nbsp; ✉ {v('EMAIL')}</p><ul>{each(4, touch)}</ul></div>"
    )


@template("bell-menu")
def bell_menu(v: Values) -> str:
    verbs = ("liked your photo", "sent you a message", "commented on", "wants to follow you", "shared a file with you")

    def one(place: int) -> str:
        what = v("WORK") if place == 2 else ""
        return f"<li><a><b>{v('PERSON')}</b> {verbs[place % 5]} {what}</a> <small>{v('TIME')}</small></li>"

    return (
        "<style>ul{list-style:none;width:420px;padding:10px;border:1px solid var(--line)}li{padding:6px 0}</style>"
        f"<nav>{v('HEADING')} | {v('HEADING')} | {v('HEADING')}</nav><ul>{each(8, one)}</ul>"
    )


@template("week-calendar")
def week_calendar(v: Values) -> str:
    def day(place: int) -> str:
        events = each(
            2,
            lambda turn: (
                f"<div class=e>{v('TIME')} {v.pick('1:1', 'Lunch', 'Review', 'Dentist')} "
                f"{v('PERSON') if (place + turn) % 2 else v('PRODUCT')}</div>"
            ),
        )
        return f"<div class=d><b>{v('DATE')}</b>{events}</div>"

    return (
        "<style>.k{display:grid;grid-template-columns:repeat(5,225px);gap:8px}.e{background:var(--card);margin-top:6px;"
        f"padding:5px;font-size:12px}}.d b{{font-size:12px}}</style><h2>{v('HEADING')}</h2>"
        f"<div class=k>{each(5, day)}</div>"
    )


@template("minutes")
def minutes(v: Values) -> str:
    names = [v.text("PERSON") for _ in range(4)]
    shown = ", ".join(v("PERSON", name) for name in names)
    firsts = [v("PERSON", name.split()[0]) for name in names]
    return (
        f"<div style=width:700px><h2>{v('FIRM')}, {v('DATE')}</h2><p>Present: {shown}</p><ol>"
        f"<li>{firsts[0]} reports {v('PERCENT')} more orders than in {v('DATE')}."
        f"<li>{firsts[1]} will call {v('FIRM')} about {v('PRODUCT')} ({v('PRICE')})."
        f"<li>{firsts[2]} and {firsts[3]} meet at {v('LANDMARK')} at {v('TIME')}.</ol><p>Minutes: {v('PERSON')}</p>"
        "</div>"
    )


@template("letter-close")
def letter_close(v: Values) -> str:
    return (
        f"<div style='width:560px;font-family:DejaVu Serif'><p>{HELLO[v.language]} {v('PERSON', v.given())},</p>"
        f"<p>{says(v, 1)}</p><p>{says(v, 0)}</p><p>{BYE[v.language]}</p><p><em>{v('PERSON')}</em><br>{v('FIRM')}<br>"
        f"{v('PHONE')}</p><p>P.S. {v('WORK')}: {v('PRICE')}.</p></div>"
    )
