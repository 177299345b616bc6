"""Check digits, national numbers, spellings and secrets: arithmetic without an engine."""

from __future__ import annotations

import pytest

from host.core.pii import accounts, checks, columns, context, fits, labels, secrets, spans
from host.core.pii.again import again
from host.core.pii.nationalids import national_ids
from host.core.pii.plain import plain
from host.core.redaction import Found, Text

NATIONAL = (  # a number that holds, the same with another last digit or letter, country
    pytest.param("12345678Z", "12345678A", "ES", id="dni"),
    pytest.param("X1234567L", "X1234567M", "ES", id="nie"),
    pytest.param("12.345.678-Z", "12.345.678-A", "ES", id="dni-dotted"),
    pytest.param("2 69 05 49 588 157 80", "2 69 05 49 588 157 81", "FR", id="nir"),
    pytest.param("RSSMRA85T10A562S", "RSSMRA85T10A562T", "IT", id="codice-fiscale"),
    pytest.param("811218-9876", "811218-9875", "SE", id="personnummer"),
    pytest.param("131052-308T", "131052-308U", "FI", id="hetu"),
    pytest.param("44051401359", "44051401358", "PL", id="pesel"),
    pytest.param("756.9217.0769.85", "756.9217.0769.84", "CH", id="ahv"),
    pytest.param("529.982.247-25", "529.982.247-26", "BR", id="cpf"),
    pytest.param("10000000146", "10000000147", "TR", id="kimlik"),
    pytest.param("85.07.30-033.28", "85.07.30-033.29", "BE", id="rijksregister"),
    pytest.param("11010519491231002X", "110105194912310021", "CN", id="cn-identity"),
    pytest.param("20-05536168-2", "20-05536168-3", "AR", id="cuit"),
    pytest.param("12.345.678-5", "12.345.678-6", "CL", id="rut"),
    pytest.param("710319/2745", "710319/2746", "CZ", id="rodne-cislo"),
    pytest.param("A123456(3)", "A123456(4)", "HK", id="hkid"),
    pytest.param("1234567FA", "1234567GA", "IE", id="pps"),
    pytest.param("S1234567D", "S1234567E", "SG", id="nric"),
    pytest.param("8001015009087", "8001015009088", "ZA", id="za-identity"),
    pytest.param("11.444.777/0001-61", "11.444.777/0001-62", "BR", id="cnpj"),
    pytest.param("1800101221144", "1800101221145", "RO", id="cnp"),
    pytest.param("943 476 5919", "943 476 5918", "GB", id="nhs"),
    pytest.param("2341 2341 2346", "2341 2341 2347", "IN", id="aadhaar"),
)
LABELLED = (
    pytest.param("86095742719", "86095742718", "DE", id="steuer-id"),
    pytest.param("111222333", "111222334", "NL", id="bsn"),
    pytest.param("046 454 286", "046 454 287", "CA", id="sin"),
    pytest.param("123 456 782", "123 456 783", "AU", id="tfn"),
    pytest.param("123456789", "123456788", "PT", id="nif"),
)


def countries(text: str, *, labelled: bool) -> set[str]:
    return {country for _start, _end, _type, country in national_ids(text, labelled)}


@pytest.mark.parametrize(("good", "bad", "country"), NATIONAL)
def test_a_national_number_stands_alone_by_its_check_digit(good: str, bad: str, country: str) -> None:
    assert country in countries(good, labelled=False)
    assert country not in countries(bad, labelled=False)
    assert country not in countries(f"ORDER-{good}", labelled=False)


@pytest.mark.parametrize(("good", "bad", "country"), LABELLED)
def test_a_bare_number_needs_a_label_and_its_check_digit(good: str, bad: str, country: str) -> None:
    assert country in countries(good, labelled=True)
    assert country not in countries(good, labelled=False)
    assert country not in countries(bad, labelled=True)


def test_us_numbers_are_known_by_their_dashes() -> None:
    assert countries("078-05-1120", labelled=False) == {"US"}
    assert countries("078 05 1120", labelled=False) == {"US"}
    assert countries("000 05 1120", labelled=False) == set()


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        pytest.param(checks.luhn, "4111111111111111", "4111111111111112", id="luhn"),
        pytest.param(checks.mod97, "DE89370400440532013000", "DE89370400440532013001", id="iban"),
        pytest.param(checks.isbn, "978-3-16-148410-0", "978-3-16-148410-1", id="isbn-13"),
        pytest.param(checks.isbn, "0-306-40615-2", "0-306-40615-3", id="isbn-10"),
        pytest.param(checks.isbn, "080442957X", "080442957Y", id="isbn-x"),
        pytest.param(checks.ean, "4006381333931", "4006381333932", id="ean"),
        pytest.param(checks.vin, "1M8GDM9AXKP042788", "1M8GDM9A1KP042788", id="vin"),
    ],
)
def test_check_digits_tell_slips(check: object, good: str, bad: str) -> None:
    assert callable(check)
    assert check(good)
    assert not check(bad)


PLAIN = (  # given, plain
    pytest.param("+49\u00a030\u2011901\u2009820", "+49 30-901 820", id="spaces-and-dashes"),
    pytest.param("o\u200bda\u00ad@example.test", "oda@example.test", id="invisible"),
    pytest.param("\uff14\uff11\uff11\uff11", "4111", id="full-width"),
    pytest.param("٠١٢", "012", id="arabic-digits"),
    pytest.param("Jose\u0301 Nun\u0303ez", "José Nuñez", id="composed"),
    pytest.param("o\ufb03ce", "office", id="ligature"),
    pytest.param("\U0001d400\U0001d427\U0001d427\U0001d41a", "Anna", id="mathematical"),
    pytest.param("a\ud800b\x00c", "a\ufffdb c", id="half-and-control"),
    pytest.param("plain", "plain", id="nothing-to-do"),
)


@pytest.mark.parametrize(("given", "expected"), PLAIN)
def test_characters_that_look_alike_get_one_spelling(given: str, expected: str) -> None:
    assert plain(given).text == expected


@pytest.mark.parametrize(("given", "_expected"), PLAIN)
def test_every_span_of_the_plain_text_leads_back_to_the_given_one(given: str, _expected: str) -> None:
    one = plain(given)
    assert one.given(0, len(one.text)) == (0, len(given))
    places = [one.given(at, at + 1) for at in range(len(one.text))]
    assert places == sorted(places)
    assert all(0 <= start <= end <= len(given) for start, end in places)


def test_a_span_behind_invisible_characters_is_where_it_was_given() -> None:
    given = "\u200b\u200bx\u200b oda\u00ad@example.test!"
    one = plain(given)
    start = one.text.index("oda")
    first, last = one.given(start, start + len("oda@example.test"))
    assert given[first:last] == "oda\u00ad@example.test"


PROMISES = (  # label, what it promises first
    pytest.param("E-Mail-Adresse", "EMAIL", id="mail-de"),
    pytest.param("firstName", "PERSON", id="camel"),
    pytest.param("Geburtsdatum", "DATE_OF_BIRTH", id="birth-de"),
    pytest.param("Fecha de nacimiento", "DATE_OF_BIRTH", id="birth-es"),
    pytest.param("N° de sécurité sociale", "NATIONAL_ID", id="nir-fr"),
    pytest.param("Teléfono móvil", "PHONE", id="phone-es"),
    pytest.param("Rua", "ADDRESS", id="street-pt"),
    pytest.param("cc-csc", "SECRET", id="autocomplete"),
    pytest.param("Customer", "PERSON?", id="weak"),
    pytest.param("Wachtwoord", "PASSWORD", id="password-nl"),
    pytest.param("Card on file", "CARD", id="what-it-is-comes-first"),
    pytest.param("D.N.I.", "NATIONAL_ID", id="letters-with-points"),
    pytest.param("Né(e) le", "DATE_OF_BIRTH", id="ending-in-brackets"),
    pytest.param("N° fiscal", "TAX_ID", id="number-short"),
    pytest.param("Fahrgestell-Nr.", "VEHICLE", id="number-short-de"),
    pytest.param("Nr rachunku", "BANK_ACCOUNT", id="number-short-pl"),
    pytest.param("Insured person's number", "MEDICAL_ID", id="insured"),
    pytest.param("N° de permis", "DRIVER_LICENSE", id="licence-fr"),
    pytest.param("Recruteuse", "PERSON", id="who-hires-fr"),
    pytest.param("Validé par", "PERSON?", id="done-by-fr"),
    pytest.param("Przypisane do", "PERSON?", id="given-to-pl"),
    pytest.param("Técnico", "PERSON?", id="at-work-es"),
)


@pytest.mark.parametrize(("label", "kind"), PROMISES)
def test_labels_promise_in_many_languages(label: str, kind: str) -> None:
    assert kind in labels.promised(label)


@pytest.mark.parametrize(
    "label",
    [
        "Order number",
        "Product name",
        "Rechnungsdatum",
        "File name",
        "Nº de pedido",
        "Version",
        "Amount",
        "Título",
        "Part no.",
        "Zona horaria",
        "Nombre de la red",
        "Nom du réseau",
        "Servicio técnico",
        "",
    ],
)
def test_labels_of_things_promise_nothing(label: str) -> None:
    assert labels.promised(label) == ()


FITTING = (  # type, what fits, what does not
    pytest.param("PHONE", "ext. 4711 / 030 12345", "10:00-17:30", id="hours-are-no-phone"),
    pytest.param("CARD", "4111 1111 1111 1111", "•••• 4242", id="masked-card-may-be-read"),
    pytest.param("BANK_ACCOUNT", "0532 0130 00", "Windsor Copper Kettle 1.7 l", id="goods-are-no-account"),
    pytest.param("IBAN", "DE89 3704 0044 0532 0130 00", "978-3-16-148410-0", id="isbn-is-no-iban"),
    pytest.param("EMAIL", "oda at example dot test", "not provided", id="nothing-given"),
    pytest.param("ADDRESS", "Hauptstr. 5", "€ 12.00", id="price-is-no-address"),
    pytest.param("DATE_OF_BIRTH", "3 May 1984", "unknown", id="no-date"),
    pytest.param("DATE_OF_BIRTH", "3.12.", "1.53", id="rate-is-no-birth"),
    pytest.param("PASSWORD", "Basalt-2026", "2026-01-14", id="day-is-no-password"),
    pytest.param("PASSPORT", "K8841207", "2031-04-17", id="day-is-no-passport"),
    pytest.param("BANK_ACCOUNT", "10-11-12", "10.11.2012", id="sort-code-is-no-day"),
    pytest.param("PHONE", "29 07 28 25", "29.07.2025", id="pairs-are-no-day"),
)


@pytest.mark.parametrize(("kind", "good", "bad"), FITTING)
def test_a_value_must_fit_its_label(kind: str, good: str, bad: str) -> None:
    assert fits.fits(kind, good)
    assert not fits.fits(kind, bad)


SECRETS = (  # text, what is secret
    pytest.param("AWS: AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", id="aws"),
    pytest.param("postgres://app:Gr4nit/x@db.example.test/x", "Gr4nit/x", id="url-login"),
    pytest.param("SMTP_PASS=Basalt-99", "Basalt-99", id="env-password"),
    pytest.param('"apiKey": "9f8e7d6c5b4a39281706"', "9f8e7d6c5b4a39281706", id="json-key"),
    pytest.param("Authorization: Bearer abc.def.123456", "Bearer abc.def.123456", id="header"),
    pytest.param("Set-Cookie: sid=31d4; Path=/", "sid=31d4; Path=/", id="cookie"),
    pytest.param("https://example.test/r?token=a1b2c3d4e5", "a1b2c3d4e5", id="query"),
    pytest.param("PIN: 4711", "4711", id="pin"),
    pytest.param("CVC 737", "737", id="cvc"),
    pytest.param("Kennwort: Sommer-2031!", "Sommer-2031!", id="password-de"),
    pytest.param("the password for the guest network is marl-pit7", "marl-pit7", id="password-of-something"),
    pytest.param("DB_PASS=three dull words", "three dull words", id="env-phrase"),
    pytest.param("IDENTIFIED BY 'Gneiss&Marl2'", "Gneiss&Marl2", id="sql"),
    pytest.param("https://example.test/ical/9f8e7d6c5b4a39281706/x.ics", "9f8e7d6c5b4a39281706", id="link"),
    pytest.param("tool login -u marl -p Gneiss_44", "Gneiss_44", id="options"),
    pytest.param("try marl / Gneiss44", "Gneiss44", id="pair"),
    pytest.param("the pin's 4711", "4711", id="short-is"),
    pytest.param("le code de la cave est 47B11", "47B11", id="code-of-a-place"),
    pytest.param("x q8Zr2LmVt9KpW4nB7cXyA1dF e", "q8Zr2LmVt9KpW4nB7cXyA1dF", id="entropy"),
)
HARMLESS = (
    pytest.param("commit 3f786850e387550fdab836ed7e6dc881de23001b", id="commit"),
    pytest.param("sha512-aBcDeF0123456789aBcDeF0123456789aBcDeF0123456789==", id="integrity"),
    pytest.param("id 123e4567-e89b-12d3-a456-426614174000", id="uuid"),
    pytest.param("Forgot password? Reset your password here", id="link"),
    pytest.param("password: required", id="validation"),
    pytest.param("Password: ••••••••", id="dots"),
    pytest.param("com.example.product.details.ProductDetailsViewController42", id="class-name"),
    pytest.param("token: string", id="type"),
    pytest.param("the password for the network is required", id="password-of-something"),
    pytest.param("le code du produit est A4711", id="code-of-goods"),
    pytest.param("https://example.test/share/how-to-plant-tomatoes", id="link-of-words"),
    pytest.param("docker run -u 1000 -p 8080:80", id="options-of-numbers"),
    pytest.param("use IPv4 / IPv6", id="pair-of-words"),
    pytest.param("COMMIT=0a95b74a77d848dbf4f23dbc819e3b6aa4cbac1c", id="assigned-commit"),
)


def secret_parts(text: str) -> list[str]:
    found = (*secrets.vendor_secrets(text), *secrets.labelled_secrets(text), *secrets.random_runs(text))
    return [text[start:end] for start, end, _type, _name in found]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_found_by_shape_or_label(text: str, secret: str) -> None:
    assert secret in secret_parts(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_and_sentences_about_passwords_are_no_secrets(text: str) -> None:
    assert secret_parts(text) == []


ACCOUNTS = (  # text, the account in it
    pytest.param('203.0.113.7 - marl [10/Oct/2025:13:55:36 -0700] "GET /"', "marl", id="access-log"),
    pytest.param("login failed for user 'marl'", "marl", id="login-failed"),
    pytest.param("user marl has been disabled", "marl", id="user-has"),
    pytest.param("the login is marl and the password is long", "marl", id="login-is"),
    pytest.param("last change by marl 2 days ago", "marl", id="by-and-when"),
    pytest.param("Photo by marlpit on the first page", "marlpit", id="made-by"),
    pytest.param("logged on: ACME\\marl", "marl", id="domain"),
    pytest.param("marl     pts/0    2026-02-11 08:01", "marl", id="terminal"),
    pytest.param("postgres://marl:secret@db/x", "marl", id="link-with-password"),
    pytest.param("GRANT ALL TO 'marl'@'%'", "marl", id="mysql"),
    pytest.param("/search?user=marl&page=2", "marl", id="query"),
    pytest.param("marl and gneiss approved these changes", "gneiss", id="two-of-them"),
    pytest.param("marl:$2y$10$abc", "marl", id="file-of-passwords"),
    pytest.param("Ihr Benutzername lautet marl.", "marl", id="yours-is"),
    pytest.param("El usuario marl inició sesión", "marl", id="usuario-acts"),
    pytest.param("l'utilisateur marl depuis 192.0.2.7", "marl", id="utilisateur-from"),
)


@pytest.mark.parametrize(("text", "account"), ACCOUNTS)
def test_accounts_are_found_where_they_stand(text: str, account: str) -> None:
    assert account in [text[start:end] for start, end in accounts.accounts(text)]


def test_adjectives_behind_the_word_for_a_user_are_no_accounts() -> None:
    texts = ("El usuario registrado ha escrito", "l'utilisateur connecté a répondu", "Le compte bancaire ne sert plus")
    assert [list(accounts.accounts(text)) for text in texts] == [[], [], []]


SHAPED = (  # text, accounts by their shape
    pytest.param("sold to marl_pit for 20", ["marl_pit"], id="sold-to"),
    pytest.param("marlpit88 asked again", ["marlpit88"], id="asked"),
    pytest.param("from marl_pit import pit", [], id="import"),
    pytest.param("add marl_pit argument", [], id="argument"),
    pytest.param("set marl_pit = 3", [], id="assigned"),
    pytest.param("by `marl_pit`", [], id="quoted-as-code"),
)


@pytest.mark.parametrize(("text", "found"), SHAPED)
def test_words_shaped_like_accounts_count_among_words_of_people(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in accounts.shaped_accounts(text)] == found


def test_a_value_found_by_its_label_is_found_again_where_it_stands_alone() -> None:
    texts = [Text("Passport K8841207"), Text("copy of K8841207, not of K88412071"), Text("12.34 paid")]
    results = [[Found(9, 17, "PASSPORT", 0.9, "label")], [], [Found(0, 5, "CARD", 0.9, "label")]]
    assert list(again(texts, results)) == [(1, Found(8, 16, "PASSPORT", 0.5, "value again"))]


TABLES = (  # text, its cells and their heads
    pytest.param("id,login\n7,marl", [("7", "id"), ("marl", "login")], id="csv"),
    pytest.param('login;note\n"marl";"a;b"', [("marl", "login"), ("a;b", "note")], id="quotes"),
    pytest.param("login\tday\nmarl\t3", [("marl", "login"), ("3", "day")], id="tabs"),
    pytest.param("| login | day |\n|---|---|\n| marl | 3 |", [("marl", "login"), ("3", "day")], id="markdown"),
    pytest.param("USER   TTY\nmarl   pts/0", [("marl", "USER"), ("pts/0", "TTY")], id="wide-gaps"),
    pytest.param("INSERT INTO t (login, n) VALUES ('marl', 3)", [("marl", "login"), ("3", "n")], id="sql"),
    pytest.param("id,login\nno table here", [], id="other-line"),
    pytest.param("one line, of prose", [], id="prose"),
)


@pytest.mark.parametrize(("text", "cells"), TABLES)
def test_cells_are_read_under_the_heads_of_their_columns(text: str, cells: list[tuple[str, str]]) -> None:
    assert [(text[cell.start : cell.end], cell.head) for cell in columns.cells(text)] == cells


@pytest.mark.parametrize(
    ("before", "named"),
    [
        pytest.param("Order no. ", True, id="order"),
        pytest.param("Bestellnr.: ", True, id="bestellung"),
        pytest.param("ISBN ", True, id="isbn"),
        pytest.param("call ", False, id="call"),
        pytest.param("€", True, id="money"),
    ],
)
def test_words_before_a_number_say_whose_it_is(before: str, named: bool) -> None:
    assert context.named_otherwise(before + "1234567890", len(before)) is named


def test_dates_and_amounts_are_told_from_numbers() -> None:
    assert context.is_date("2026-11-30")
    assert context.is_date("30.11.2026 12:00")
    assert not context.is_date("555-0143")
    assert context.is_amount("1.234,56")
    assert not context.is_amount("655 123 987")


def found(start: int, end: int, kind: str, score: float = 0.5) -> Found:
    return Found(start, end, kind, score, "test")


MERGES = (  # text, finds, expected spans
    pytest.param("a@b.test 123", [(0, 8, "EMAIL"), (2, 8, "HANDLE")], [(0, 8, "EMAIL")], id="contained"),
    pytest.param("Oak St 1, 10115 Berlin", [(0, 8, "ADDRESS"), (10, 22, "ADDRESS")], [(0, 22, "ADDRESS")], id="parts"),
    pytest.param(" Anna, ", [(0, 7, "PERSON")], [(1, 5, "PERSON")], id="trimmed"),
    pytest.param("GB82 WEST 12\nCalle 5", [(0, 12, "IBAN"), (5, 20, "ADDRESS")],
                 [(0, 12, "IBAN"), (13, 20, "ADDRESS")], id="cut"),
    pytest.param("Anna Eva", [(0, 4, "PERSON"), (5, 8, "PERSON")], [(0, 8, "PERSON")], id="name-parts"),
    pytest.param("   ", [(0, 3, "PERSON")], [], id="nothing-left"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "finds", "expected"), MERGES)
def test_finds_become_a_sorted_list_without_overlaps(
    text: str, finds: list[tuple[int, int, str]], expected: list[tuple[int, int, str]]
) -> None:
    merged = spans.merged(text, [found(*one) for one in finds])
    assert [(one.start, one.end, one.type) for one in merged] == expected
