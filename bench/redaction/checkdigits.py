"""Numbers that pass their own check: made from digits that were drawn; nobody's on purpose."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
BSN_WEIGHTS = (9, 8, 7, 6, 5, 4, 3, 2)
PESEL_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
EVEN_AND_ODD = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CODICE_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
MONTHS_IT = "ABCDEHLMPRST"


def digits(draw: Random, count: int) -> str:
    """So many digits, the first not 0."""
    return str(draw.randint(1, 9)) + "".join(str(draw.randint(0, 9)) for _ in range(count - 1))


def luhn_digit(text: str) -> str:
    """What makes the digits before it pass Luhn's check."""
    total = 0
    for place, digit in enumerate(reversed(text)):
        number = int(digit) * (2 if place % 2 == 0 else 1)
        total += number - 9 if number > 9 else number
    return str(-total % 10)


def ean_digit(text: str) -> str:
    """The same for an EAN or ISBN-13."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(text))
    return str(-total % 10)


def us_ssn(draw: Random) -> str:
    """A number of a valid shape, from areas that are in use."""
    return f"{draw.randint(220, 580)}-{draw.randint(10, 99)}-{draw.randint(1000, 9999)}"


def dni(draw: Random) -> str:
    """Spain's."""
    number = draw.randint(10_000_000, 79_999_999)
    return f"{number}{DNI_LETTERS[number % 23]}"


def nir(draw: Random) -> str:
    """France's."""
    body = f"{draw.choice('12')}{draw.randint(40, 99)}{draw.randint(1, 12):02}{draw.randint(10, 95)}{digits(draw, 6)}"
    key = 97 - int(body) % 97
    parts = (body[:1], body[1:3], body[3:5], body[5:7], body[7:10], body[10:], f"{key:02}")
    return " ".join(parts)


def steuer_id(draw: Random) -> str:
    """Germany's: of ten digits one is there twice, and the eleventh checks."""
    while True:
        pool = draw.sample("0123456789", 9)
        body = [*pool, draw.choice(pool)]
        draw.shuffle(body)
        if body[0] != "0":
            break
    rest = 10
    for digit in body:
        total = (int(digit) + rest) % 10 or 10
        rest = total * 2 % 11
    text = "".join(body) + str((11 - rest) % 10)
    return f"{text[:2]} {text[2:5]} {text[5:8]} {text[8:]}"


def bsn(draw: Random) -> str:
    """The Netherlands'."""
    while True:
        body = digits(draw, 8)
        rest = sum(int(digit) * weight for digit, weight in zip(body, BSN_WEIGHTS, strict=True)) % 11
        if rest < 10:
            return body + str(rest)


def personnummer(draw: Random) -> str:
    """Sweden's."""
    body = f"{draw.randint(50, 99)}{draw.randint(1, 12):02}{draw.randint(1, 28):02}{draw.randint(100, 999)}"
    return f"{body[:6]}-{body[6:]}{luhn_digit(body)}"


def pesel(draw: Random) -> str:
    """Poland's."""
    body = f"{draw.randint(50, 99)}{draw.randint(1, 12):02}{draw.randint(1, 28):02}{draw.randint(1000, 9999)}"
    total = sum(int(digit) * weight for digit, weight in zip(body, PESEL_WEIGHTS, strict=True))
    return body + str(-total % 10)


def codice_fiscale(draw: Random) -> str:
    """Italy's."""
    letters = "".join(draw.choice("BCDFGLMNPRSTVZ") for _ in range(6))
    body = f"{letters}{draw.randint(50, 99)}{draw.choice(MONTHS_IT)}{draw.randint(1, 28):02}H{draw.randint(100, 900)}"
    total = 0
    for place, char in enumerate(body):
        number = int(char) if char.isdigit() else EVEN_AND_ODD.index(char)
        total += number if place % 2 else CODICE_ODD[number]
    return body + EVEN_AND_ODD[total % 26]


def nino(draw: Random) -> str:
    """Britain's, with the prefix of its own examples."""
    return f"QQ {draw.randint(10, 99)} {draw.randint(10, 99)} {draw.randint(10, 99)} {draw.choice('ABCD')}"


def isbn(draw: Random) -> str:
    """A book's."""
    body = "978" + digits(draw, 9)
    return f"{body[:3]}-{body[3]}-{body[4:8]}-{body[8:12]}-{ean_digit(body)}"


def ean(draw: Random) -> str:
    """Goods'."""
    body = "40" + digits(draw, 10)
    return body + ean_digit(body)


NATIONAL: dict[str, tuple[str, Callable[[Random], str]]] = {  # what a page calls it, and how it is made
    "en": ("SSN", us_ssn),
    "de": ("Steuer-ID", steuer_id),
    "es": ("DNI", dni),
    "fr": ("N° de sécurité sociale", nir),
    "it": ("Codice fiscale", codice_fiscale),
    "nl": ("BSN", bsn),
    "sv": ("Personnummer", personnummer),
    "pl": ("PESEL", pesel),
}
