"""Invented private details and harmless words of one page, drawn from a seed: the same page every time."""

from __future__ import annotations

import base64
import html
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from random import Random

from bench.redaction.checkdigits import NATIONAL, digits, ean, isbn
from bench.redaction.examples import CARDS, IBANS, WALLETS
from bench.redaction.labels import LABELS
from bench.redaction.people import FAMILY, FIRMS, GIVEN, HEADINGS, LANDMARKS, PLACES, PRODUCTS, WORKS, words

DOMAINS = ("example.test", "example.com", "example.org", "mail.example.net", "post.example.test")
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
WORDS = words("amber basalt copper dune ember fjord granite harbor indigo juniper kettle lagoon marble nectar onyx")
MONTHS: Mapping[str, str] = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
}
PHONES: Mapping[str, tuple[str, ...]] = {  # `#` is a digit; from the numbers kept for films where there are such
    "en": ("(###) 555-01##", "+1 ###-555-01##", "###.555.01##", "020 7946 0###", "07700 900###", "+44 1632 960###"),
    "de": ("030 23125 ###", "+49 171 39200##", "0152 28817###", "(0221) 4710-###", "+49 (0)40 66969-###"),
    "es": ("6## ### ###", "+34 9## ## ## ##", "91 ### ## ##", "+34 6########"),
    "fr": ("01 99 00 ## ##", "+33 6 39 98 ## ##", "02.61.91.##.##", "06 39 98 ## ##"),
    "it": ("3## ### ####", "+39 06 #### ####", "02 ### #### #", "+39 3## #######"),
    "nl": ("06-########", "+31 20 ### ## ##", "030 ### ####", "+31 6 ########"),
    "sv": ("070-174 06 ##", "08-465 004 ##", "+46 70 174 06 ##", "031-390 06 ##"),
    "pl": ("5## ### ###", "+48 6## ### ###", "22 ### ## ##", "+48 5########"),
}
PLATES: Mapping[str, str] = {
    "en": "AB## CDE",
    "de": "K-XY ###",
    "es": "#### BCD",
    "fr": "AB-###-CD",
    "it": "AB ###CD",
    "nl": "AB-##-CD",
    "sv": "ABC ##A",
    "pl": "KR #####",
}


class Values:
    """What a page in one language is filled with."""

    def __init__(self, seed: str, language: str, half: int = 0) -> None:
        self.language = language
        self._half = half
        self._draw = Random(seed)
        self.far = ""  # the document of a frame from another origin, once a layout has made one

    def pick(self, *among: str) -> str:
        """One of these."""
        return self._draw.choice(among)

    def of_half(self, among: Sequence[str]) -> str:
        """One of this half's: names that one half of the templates shows are in no page of the other."""
        return self._draw.choice(among[self._half :: 2])

    def number(self, least: int, most: int) -> int:
        """A number, both ends included."""
        return self._draw.randint(least, most)

    def label(self, type_: str) -> str:
        """What a page in this language calls it."""
        if type_ == "NATIONAL_ID":
            return NATIONAL[self.language][0]
        return LABELS[self.language].get(type_) or LABELS["en"][type_]

    def text(self, kind: str) -> str:
        """A private detail or a harmless word, as plain text. Raises KeyError for an unknown kind."""
        return (PRIVATE.get(kind) or HARMLESS[kind])(self)

    def __call__(self, kind: str, text: str | None = None) -> str:
        """The same marked for truth, escaped for HTML; `text` when it is not to be drawn."""
        return marked(kind, self.text(kind) if text is None else text)

    # --- private details

    def given(self) -> str:
        """A first name."""
        return self.of_half(GIVEN[self.language])

    def family(self) -> str:
        """A last name."""
        return self.of_half(FAMILY[self.language])

    def person(self) -> str:
        """First and last name."""
        middle = f" {self._draw.choice(LETTERS)}." if self.language == "en" and self.number(1, 6) == 1 else ""
        return f"{self.given()}{middle} {self.family()}"

    def email_of(self, person: str) -> str:
        """An address that is made of a name."""
        plain = unicodedata.normalize("NFKD", person.replace("ß", "ss").replace("ł", "l").replace("Ł", "L"))
        letters = "".join(char for char in plain.lower() if char.isascii() and (char.isalnum() or char == " "))
        first, *rest = letters.split() or ["nobody"]
        last = rest[-1] if rest else str(self.number(10, 99))
        spelt = self.pick(f"{first}.{last}", f"{first[0]}{last}", f"{first}_{last}{self.number(1, 99)}", f"{last}+web")
        return f"{spelt}@{self.pick(*DOMAINS)}"

    def phone(self) -> str:
        """A phone number in one of the spellings of its country."""
        return self._filled(self.pick(*PHONES[self.language]))

    def street(self) -> str:
        """Street and number."""
        return self._address(PLACES[self.language].street)

    def town(self) -> str:
        """Postcode and town."""
        return self.of_half(PLACES[self.language].towns)

    def address(self) -> str:
        """A whole address in one line."""
        return self._address(PLACES[self.language].whole)

    def _address(self, form: str) -> str:
        place = PLACES[self.language]
        number = f"{self.number(1, 240)}{self.pick('', '', '', 'a', 'B')}"
        return form.format(number=number, street=self.of_half(place.streets), town=self.of_half(place.towns))

    def card(self) -> str:
        """A test card, in groups or not."""
        number = self.pick(*CARDS)
        parts = [number[:4], number[4:10], number[10:]] if len(number) in (14, 15) else groups(number)
        return self.pick(" ", "-", "").join(parts)

    def iban(self) -> str:
        """An example of a registry, in groups or not."""
        number = self.pick(*IBANS)
        return self.pick(number, " ".join(groups(number)), " ".join(groups(number)))

    def birth(self) -> str:
        """A date of birth as the language writes dates."""
        return self.date(self.number(1941, 2006))

    def date(self, year: int = 2026) -> str:
        """A date in one of the spellings of the language."""
        day, month = self.number(1, 28), self.number(1, 12)
        name = MONTHS[self.language].split()[month - 1]
        forms = {
            "en": (f"{month:02}/{day:02}/{year}", f"{day} {name} {year}", f"{name} {day}, {year}"),
            "de": (f"{day:02}.{month:02}.{year}", f"{day}. {name} {year}"),
            "es": (f"{day:02}/{month:02}/{year}", f"{day} de {name} de {year}"),
            "nl": (f"{day:02}-{month:02}-{year}", f"{day} {name} {year}"),
            "sv": (f"{year}-{month:02}-{day:02}", f"{day} {name} {year}"),
            "pl": (f"{day:02}.{month:02}.{year}", f"{day} {name} {year}"),
        }
        return self.pick(*forms.get(self.language, (f"{day:02}/{month:02}/{year}", f"{day} {name} {year}")))

    def ip_address(self) -> str:
        """From the nets kept for documentation."""
        four = self.pick("192.0.2.", "198.51.100.", "203.0.113.") + str(self.number(1, 254))
        return self.pick(four, four, f"2001:db8:{self.number(1, 0xFFFF):x}::{self.number(1, 0xFFFF):x}")

    def mac_address(self) -> str:
        """Of a made-up card."""
        return self.pick(":", "-").join(f"{self.number(0, 255):02X}" for _ in range(6))

    def key(self) -> str:
        """A credential in a known vendor's shape, or 40 random characters."""
        forms = (f"sk_test_{self._random(24)}", f"ghp_{self._random(36)}", f"AKIA{self._random(16).upper()}")
        return self.pick(*forms, f"xoxb-{digits(self._draw, 12)}-{self._random(24)}", f"AIza{self._random(35)}")

    def token(self) -> str:
        """A signed token of three parts."""
        body = json.dumps({"sub": digits(self._draw, 6), "iat": 1_700_000_000 + self.number(0, 9_999_999)})
        parts = (b'{"alg":"HS256","typ":"JWT"}', body.encode(), self._random(32).encode())
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    def password(self) -> str:
        """One that people choose."""
        return self.pick("", "!", "#").join((self.pick(*WORDS).title(), self.pick(*WORDS), str(self.number(10, 9999))))

    def username(self) -> str:
        """A name to sign in with."""
        return f"{self.pick(*WORDS)}{self.pick('_', '.', '')}{self.pick(*WORDS)}{self.number(1, 99)}"

    def location(self) -> str:
        """Where somebody is, in degrees."""
        return f"{self.number(36, 59)}.{digits(self._draw, 5)}, {self.number(1, 17)}.{digits(self._draw, 5)}"

    def shape(self, shape: str) -> str:
        """`#` is a digit, `A` to `E`, `X` and `Y` are letters."""
        return "".join(self._draw.choice(LETTERS) if char in "ABCDEXY" else char for char in self._filled(shape))

    def _filled(self, shape: str) -> str:
        return "".join(
            str(self.number(1 if place == 0 else 0, 9)) if char == "#" else char for place, char in enumerate(shape)
        )

    def _random(self, count: int) -> str:
        return "".join(self._draw.choice(ALPHANUMERIC) for _ in range(count))

    def national_id(self) -> str:
        """With its check digit, where there is one."""
        return NATIONAL[self.language][1](self._draw)

    # --- harmless words

    def price(self) -> str:
        """As the language writes it."""
        whole, cents = self.number(3, 2400), self.number(0, 99)
        if self.language == "en":
            return f"{self.pick('$', '£')}{whole:,}.{cents:02}"
        unit = {"sv": "kr", "pl": "zł"}.get(self.language, "€")
        return f"{whole},{cents:02} {unit}"

    def commit(self) -> str:
        """A commit's hash, short or whole."""
        return f"{self._draw.getrandbits(160):040x}"[: int(self.pick("7", "8", "12", "40"))]

    def tracking(self) -> str:
        """A parcel's."""
        return self.pick(f"1Z{self._random(16).upper()}", f"JD{digits(self._draw, 18)}", f"RR{digits(self._draw, 9)}DE")

    def order(self) -> str:
        """An order's, a ticket's or an invoice's number."""
        number = digits(self._draw, 6)
        return self.pick(f"#{number}", f"INV-2026-{number[:4]}", f"SO{number}8", f"TCK-{number[:5]}", f"100-{number}1")

    def isbn(self) -> str:
        """A book's."""
        return isbn(self._draw)

    def ean(self) -> str:
        """Goods'."""
        return ean(self._draw)


def groups(number: str) -> list[str]:
    """In fours."""
    return [number[place : place + 4] for place in range(0, len(number), 4)]


def marked(kind: str, text: str) -> str:
    """HTML of a marked text; the marks are taken out before the product looks."""
    word = "x-p" if kind in PRIVATE else "x-d"
    return f'<{word} t="{type_of(kind)}">{html.escape(text)}</{word}>'


def mark_of(kind: str) -> str:
    """The same mark where no element can be: in an attribute, in a drawing."""
    return f"{'p' if kind in PRIVATE else 'd'}:{type_of(kind)}"


def type_of(kind: str) -> str:
    """A kind of value by the name of its type: a street alone is an address, too."""
    return {"STREET": "ADDRESS", "TOWN": "ADDRESS", "GIVEN": "PERSON", "CVC": "SECRET"}.get(kind, kind)


Make = Callable[[Values], str]
PRIVATE: Mapping[str, Make] = {
    "ADDRESS": Values.address,
    "BANK_ACCOUNT": lambda v: v.shape(v.pick("####-####-##", "##########", "## ### ####")),
    "CARD": Values.card,
    "COOKIE": lambda v: v._random(28),
    "CRYPTO": lambda v: v.pick(*WALLETS),
    "CVC": lambda v: v.shape("###"),
    "DATE_OF_BIRTH": Values.birth,
    "DRIVER_LICENSE": lambda v: v.shape(v.pick("A########", "AB######C", "##########")),
    "EMAIL": lambda v: v.email_of(v.person()),
    "GIVEN": Values.given,
    "HANDLE": lambda v: f"@{v.username()}",
    "IBAN": Values.iban,
    "IP_ADDRESS": Values.ip_address,
    "KEY": Values.key,
    "LOCATION": Values.location,
    "MAC_ADDRESS": Values.mac_address,
    "MEDICAL_ID": lambda v: v.shape(v.pick("A#########", "###-###-####", "AB-########")),
    "NATIONAL_ID": Values.national_id,
    "PASSPORT": lambda v: v.shape(v.pick("A########", "AB#######", "C01X00T##")),
    "PASSWORD": Values.password,
    "PERSON": Values.person,
    "PHONE": Values.phone,
    "SECRET": lambda v: v.shape("####"),
    "STREET": Values.street,
    "TAX_ID": lambda v: v.shape(v.pick("##-#######", "AB#########", "###/####/####")),
    "TOKEN": Values.token,
    "TOWN": Values.town,
    "USERNAME": Values.username,
    "VEHICLE": lambda v: v.shape(PLATES[v.language]),
}
HARMLESS: Mapping[str, Make] = {
    "COUNT": lambda v: f"{v.number(2, 9800):,}",
    "DATE": Values.date,
    "EAN": Values.ean,
    "FIRM": lambda v: v.of_half(FIRMS),
    "FLIGHT": lambda v: v.shape("AB ####"),
    "HASH": Values.commit,
    "HEADING": lambda v: v.of_half(HEADINGS),
    "ISBN": Values.isbn,
    "LANDMARK": lambda v: v.of_half(LANDMARKS),
    "MEASURE": lambda v: v.pick(
        f"{v.number(2, 900)} g",
        f"{v.number(1, 60)}.{v.number(1, 9)} kg",
        f"{v.number(20, 240)} × {v.number(20, 90)} cm",
    ),
    "ORDER": Values.order,
    "PERCENT": lambda v: f"{v.number(1, 99)}.{v.number(0, 9)} %",
    "PRICE": Values.price,
    "PRODUCT": lambda v: v.of_half(PRODUCTS),
    "TIME": lambda v: f"{v.number(0, 23):02}:{v.number(0, 59):02}",
    "TRACKING": Values.tracking,
    "URL": lambda v: f"https://{v.pick('docs', 'shop', 'www')}.example.com/{v.pick(*WORDS)}/{v.number(1, 400)}",
    "VERSION": lambda v: (
        f"{v.pick('', 'v')}{v.number(1, 19)}.{v.number(0, 30)}.{v.number(0, 12)}{v.pick('', '', '-rc.1')}"
    ),
    "WORK": lambda v: v.of_half(WORKS),
}
