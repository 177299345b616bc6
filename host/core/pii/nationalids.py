"""National numbers of people by shape and check digit; a shape too common to stand alone needs a label beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from host.core.pii.checks import digits_of, luhn, mod11_10, verhoeff, weighted


def _last_is(digits: str, remainder: int, ten: str = "") -> bool:
    """Whether the check digit is `remainder`; `ten` is what stands for 10."""
    return digits[-1] == (ten if remainder == 10 else str(remainder))


def us_ssn(text: str) -> bool:
    """SSA: no area 000, 666 or 9xx, no group 00, no serial 0000. ITIN: 9xx with group 50-65, 70-88, 90-92, 94-99."""
    d = digits_of(text)
    if len(d) != 9 or d[3:5] == "00" or d[5:] == "0000" or d[:3] in ("000", "666"):
        return False
    return d[0] != "9" or int(d[3:5]) in {*range(50, 66), *range(70, 89), *range(90, 93), *range(94, 100)}


def es_dni(text: str) -> bool:
    """DNI and NIE: the letter is the number modulo 23 (Real Decreto 1553/2005)."""
    plain = re.sub(r"\W", "", text.upper())
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdigit() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == plain[-1]


def de_tax_id(text: str) -> bool:
    """Steuer-ID: no leading zero, one digit two or three times among the first ten, mod 11,10 (§ 139b AO)."""
    d = digits_of(text)
    return d[0] != "0" and len(set(d[:10])) in (8, 9) and mod11_10(d)


def fr_nir(text: str) -> bool:
    """NIR: key = 97 - number mod 97; Corsica's 2A and 2B count as 19 and 18 (INSEE)."""
    plain = re.sub(r"\W", "", text.upper()).replace("2A", "19").replace("2B", "18")
    return plain.isdigit() and int(plain[13:]) == 97 - int(plain[:13]) % 97


def uk_nhs(text: str) -> bool:
    """NHS number: weights 10 to 2, modulo 11 (NHS data dictionary)."""
    d = digits_of(text)
    check = 11 - weighted(d[:9], range(10, 1, -1)) % 11
    return check != 10 and d[-1] == str(check % 11)


_ODD_PLACES = "1 0 5 7 9 13 15 17 19 21 1 0 5 7 9 13 15 17 19 21 2 4 18 20 11 3 6 8 12 14 16 10 22 25 24 23"
_ODD = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", map(int, _ODD_PLACES.split()), strict=True))


def it_codice(text: str) -> bool:
    """Codice fiscale: control character over odd and even places (D.M. 23/12/1976)."""
    plain = text.upper()
    total = sum(
        _ODD[c] if place % 2 == 0 else (int(c) if c.isdigit() else ord(c) - 65) for place, c in enumerate(plain[:15])
    )
    return chr(65 + total % 26) == plain[15]


def nl_bsn(text: str) -> bool:
    """BSN: weights 9 to 2 and -1 give a multiple of 11 (elfproef)."""
    d = digits_of(text)
    return int(d) > 0 and weighted(d, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def se_personal(text: str) -> bool:
    """Personnummer or samordningsnummer: a day (plus 60) and Luhn over ten digits (Skatteverket)."""
    d = digits_of(text)[-10:]
    day = int(d[4:6])
    return _is_day(2000, int(d[2:4]), day - 60 if day > 60 else day) and luhn(d)


def no_personal(text: str) -> bool:
    """Fødselsnummer: two weighted check digits modulo 11 (Skatteetaten)."""
    d = digits_of(text)
    first = -weighted(d[:9], (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -weighted(d[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return d[9:] == f"{first}{second}"


def dk_cpr(text: str) -> bool:
    """CPR: a day; the modulo 11 check was given up in 2007, so it is not asked for."""
    d = digits_of(text)
    return _is_day(2000, int(d[2:4]), int(d[:2]))


def fi_hetu(text: str) -> bool:
    """Henkilötunnus: the control character is the number modulo 31 (DVV)."""
    plain = text.upper()
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(plain[:6] + plain[7:10]) % 31] == plain[10]


def pl_pesel(text: str) -> bool:
    """PESEL: a month with the century added, weights 1 3 7 9 (ustawa o ewidencji ludności)."""
    d = digits_of(text)
    month = int(d[2:4]) % 20
    check = -weighted(d[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10
    return 1 <= month <= 12 and 1 <= int(d[4:6]) <= 31 and _last_is(d, check)


def pt_nif(text: str) -> bool:
    """NIF: weights 9 to 2, modulo 11."""
    d = digits_of(text)
    check = 11 - weighted(d[:8], range(9, 1, -1)) % 11
    return d[-1] == str(0 if check > 9 else check)


def be_national(text: str) -> bool:
    """Rijksregisternummer: 97 - number mod 97; people born from 2000 on have a 2 in front."""
    d = digits_of(text)
    return int(d[9:]) in (97 - int(d[:9]) % 97, 97 - int("2" + d[:9]) % 97)


def ch_ahv(text: str) -> bool:
    """AHV/AVS: thirteen digits from 756 with the EAN-13 check digit (ZAS)."""
    d = digits_of(text)
    return sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(d)) % 10 == 0


def br_cpf(text: str) -> bool:
    """CPF: two check digits modulo 11 (Receita Federal)."""
    d = digits_of(text)
    first = weighted(d[:9], range(10, 1, -1)) * 10 % 11 % 10
    second = weighted(d[:10], range(11, 1, -1)) * 10 % 11 % 10
    return len(set(d)) > 1 and d[9:] == f"{first}{second}"


def in_aadhaar(text: str) -> bool:
    """Aadhaar: not starting with 0 or 1, Verhoeff (UIDAI)."""
    d = digits_of(text)
    return d[0] not in "01" and verhoeff(d)


def ca_sin(text: str) -> bool:
    """SIN: Luhn (ESDC); a first 0 stands in examples."""
    return luhn(digits_of(text))


def au_tfn(text: str) -> bool:
    """TFN: weights 1 4 3 7 5 8 6 9 10 give a multiple of 11 (ATO)."""
    d = digits_of(text)
    return int(d) > 0 and weighted(d, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def tr_kimlik(text: str) -> bool:
    """T.C. kimlik: the tenth and the eleventh digit are sums of the others (NVI)."""
    d = [int(c) for c in digits_of(text)]
    return d[0] > 0 and (sum(d[0:9:2]) * 7 - sum(d[1:8:2])) % 10 == d[9] and sum(d[:10]) % 10 == d[10]


def ar_cuit(text: str) -> bool:
    """CUIT and CUIL: weights 5 4 3 2 7 6 5 4 3 2, modulo 11 (AFIP)."""
    d = digits_of(text)
    return d[-1] == str(-weighted(d[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11)


def br_cnpj(text: str) -> bool:
    """CNPJ: two check digits modulo 11 (Receita Federal)."""
    d = digits_of(text)
    first = -weighted(d[:12], (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11 % 10
    second = -weighted(d[:13], (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11 % 10
    return d[12:] == f"{first}{second}"


def cl_rut(text: str) -> bool:
    """RUN and RUT: weights 2 to 7 from the right, modulo 11, K for ten (SII)."""
    number, check = re.sub(r"[^\dK]", "", text.upper())[:-1], text.upper()[-1]
    rest = -weighted(number[::-1], (2, 3, 4, 5, 6, 7, 2, 3)) % 11
    return check == ("K" if rest == 10 else str(rest))


def cn_identity(text: str) -> bool:
    """Resident identity card: a day of birth and ISO 7064 mod 11-2 (GB 11643)."""
    plain = text.upper()
    total = sum(int(c) * (2 ** (17 - place) % 11) for place, c in enumerate(plain[:17]))
    born = _is_day(int(plain[6:10]), int(plain[10:12]), int(plain[12:14]))
    return born and "10X98765432"[total % 11] == plain[17]


def cz_birth_number(text: str) -> bool:
    """Rodné číslo: the month plus 0, 20, 50 or 70, the whole divisible by 11 (zákon 133/2000)."""
    d = digits_of(text)
    return int(d[2:4]) % 50 % 20 in range(1, 13) and int(d) % 11 == 0


def hk_identity(text: str) -> bool:
    """HKID: letters as 10 to 35, weights 9 to 1, modulo 11, A for ten."""
    plain = re.sub(r"\W", "", text.upper()).rjust(9)
    values = [36 if c == " " else int(c, 36) for c in plain[:8]]
    rest = -sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True)) % 11
    return plain[8] == ("A" if rest == 10 else str(rest))


def ie_pps(text: str) -> bool:
    """PPS number: weights 8 to 2, a second letter counts nine times, modulo 23 (Department of Social Protection)."""
    plain = text.upper()
    second = (ord(plain[8]) - 64) % 23 * 9 if len(plain) > 8 else 0
    return "WABCDEFGHIJKLMNOPQRSTUV"[(weighted(plain[:7], range(8, 1, -1)) + second) % 23] == plain[7]


def ro_cnp(text: str) -> bool:
    """CNP: a day of birth and weights 2 7 9 1 4 6 3 5 8 2 7 9, modulo 11."""
    d = digits_of(text)
    rest = weighted(d[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return _is_day(2000, int(d[3:5]), int(d[5:7])) and d[-1] == str(1 if rest == 10 else rest)


def sg_nric(text: str) -> bool:
    """NRIC and FIN: weights 2 7 6 5 4 3 2 (ICA)."""
    plain = text.upper()
    total = weighted(plain[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(plain[0], 0)
    table = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(plain[0], "XWUTRQPNMLK")
    return table[10 - total % 11 if plain[0] == "M" else total % 11] == plain[8]


def za_identity(text: str) -> bool:
    """South African identity number: a day of birth and Luhn (Department of Home Affairs)."""
    d = digits_of(text)
    return _is_day(2000, int(d[2:4]), int(d[4:6])) and d[10] in "01" and luhn(d)


def always(_text: str) -> bool:
    """For numbers without a check digit whose shape says enough."""
    return True


class NationalId(NamedTuple):
    """One kind of number. `alone` says whether it may be believed without a label beside it."""

    country: str
    type: str
    shape: re.Pattern[str]
    holds: Callable[[str], bool]
    alone: bool


def _rule(country: str, kind: str, shape: str, holds: Callable[[str], bool], alone: bool) -> NationalId:
    # No letter, digit or number sign may touch it: order numbers carry such digits inside.
    return NationalId(country, kind, re.compile(rf"(?<![\w#.,-])(?:{shape})(?![\w-]|[.,]\d)"), holds, alone)


_NINO = r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"
_CODICE = r"(?i:[A-Z]{6}[\dLMNP-V]{2}[ABCDEHLMPRST][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z])"
RULES: tuple[NationalId, ...] = (
    _rule("AE", "NATIONAL_ID", r"784-\d{4}-\d{7}-\d", always, True),
    _rule("AR", "TAX_ID", r"(?:2[03-7]|3[034])-\d{8}-\d", ar_cuit, True),
    _rule("AU", "TAX_ID", r"\d{3} ?\d{3} ?\d{3}", au_tfn, False),
    _rule("BE", "NATIONAL_ID", r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d", be_national, True),
    _rule("BR", "NATIONAL_ID", r"\d{3}\.\d{3}\.\d{3}-\d\d", br_cpf, True),
    _rule("BR", "TAX_ID", r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d", br_cnpj, True),
    _rule("CA", "NATIONAL_ID", r"\d{3}[ -]\d{3}[ -]\d{3}", ca_sin, False),
    _rule("CH", "NATIONAL_ID", r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d", ch_ahv, True),
    _rule("CL", "NATIONAL_ID", r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]", cl_rut, True),
    _rule("CN", "NATIONAL_ID", r"[1-9]\d{16}[\dXx]", cn_identity, True),
    _rule("CZ", "NATIONAL_ID", r"\d{6}/\d{4}", cz_birth_number, True),
    _rule("DE", "TAX_ID", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", de_tax_id, False),
    _rule("DE", "NATIONAL_ID", r"\d{2} ?(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d ?[A-Z] ?\d{3}", always, True),
    _rule("DK", "NATIONAL_ID", r"\d{6}-\d{4}", dk_cpr, True),
    _rule("ES", "NATIONAL_ID", r"(?:\d{8}|[XYZ][ -]?\d{7})[ -]?[A-HJ-NP-TV-Z]", es_dni, True),
    _rule("ES", "NATIONAL_ID", r"\d{2}\.\d{3}\.\d{3}[ -]?[A-HJ-NP-TV-Z]", es_dni, True),
    _rule("FI", "NATIONAL_ID", r"\d{6}[-+A]\d{3}[0-9A-Y]", fi_hetu, True),
    _rule(
        "FR", "NATIONAL_ID", r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d", fr_nir, True
    ),
    _rule("GB", "NATIONAL_ID", _NINO, always, True),
    _rule("GB", "MEDICAL_ID", r"\d{3}[ -]\d{3}[ -]\d{4}", uk_nhs, True),
    _rule("HK", "NATIONAL_ID", r"[A-Z]{1,2}\d{6}\([\dA]\)", hk_identity, True),
    _rule("IE", "NATIONAL_ID", r"\d{7}[A-W][A-IW]?", ie_pps, True),
    _rule("IN", "NATIONAL_ID", r"\d{4}[ -]\d{4}[ -]\d{4}", in_aadhaar, True),
    _rule("IN", "TAX_ID", r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]", always, True),
    _rule("IT", "NATIONAL_ID", _CODICE, it_codice, True),
    _rule("KR", "NATIONAL_ID", r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}", always, True),
    _rule("MX", "NATIONAL_ID", r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d", always, True),
    _rule("MY", "NATIONAL_ID", r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-\d\d-\d{4}", always, True),
    _rule("NL", "NATIONAL_ID", r"\d{3}[. ]?\d{3}[. ]?\d{3}|\d{4}[. ]\d\d[. ]\d{3}", nl_bsn, False),
    _rule("NO", "NATIONAL_ID", r"\d{6} ?\d{5}", no_personal, True),
    _rule("PK", "NATIONAL_ID", r"[1-7]\d{4}-\d{7}-\d", always, True),
    _rule("PL", "NATIONAL_ID", r"\d{11}", pl_pesel, True),
    _rule("PT", "TAX_ID", r"[1235689]\d{2} ?\d{3} ?\d{3}", pt_nif, False),
    _rule("RO", "NATIONAL_ID", r"[1-8]\d{12}", ro_cnp, True),
    _rule("SE", "NATIONAL_ID", r"(?:19|20)?\d{6}[-+]\d{4}|(?:19|20)\d{10}", se_personal, True),
    _rule("SG", "NATIONAL_ID", r"[STFGM]\d{7}[A-Z]", sg_nric, True),
    _rule("TH", "NATIONAL_ID", r"[1-8][ -]\d{4}[ -]\d{5}[ -]\d\d[ -]\d", always, True),
    _rule("TR", "NATIONAL_ID", r"[1-9]\d{10}", tr_kimlik, True),
    _rule("US", "NATIONAL_ID", r"\d{3}-\d{2}-\d{4}", always, True),  # so written it is one, whether ever issued or not
    _rule("US", "NATIONAL_ID", r"\d{3} \d{2} \d{4}", us_ssn, True),
    _rule("US", "NATIONAL_ID", r"\d{9}", us_ssn, False),
    _rule("ZA", "NATIONAL_ID", r"\d{13}", za_identity, True),
)


_BEGINNING = re.compile(r"(?<![\w#.,-])(?=[A-Za-z]{0,6}[ -]?\d)[A-Za-z\d]")


Places = Callable[[re.Pattern[str], str], Sequence[int] | None]
"""Where a pattern can begin in a text, in order; None says that nobody knows."""


def national_ids(
    text: str, labelled: bool, places: Places = lambda _shape, _text: None
) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, type and country of each number in `text`; `labelled` lets those in that need a label."""
    beginnings = [match.start() for match in _BEGINNING.finditer(text)]
    known = frozenset(beginnings)
    for rule in RULES if beginnings else ():
        if rule.alone or labelled:
            can_begin = places(rule.shape, text)
            for place in beginnings if can_begin is None else known.intersection(can_begin):
                match = rule.shape.match(text, place)
                if match is not None and _holds(rule, match[0]):
                    yield match.start(), match.end(), rule.type, rule.country


def _holds(rule: NationalId, text: str) -> bool:
    try:
        return rule.holds(text)
    except (ValueError, IndexError, KeyError):  # a shape that the arithmetic cannot read is not that number
        return False
