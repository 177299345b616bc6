"""Check digits: tell a card, an account or an article number from digits that only look like one."""

from __future__ import annotations

from collections.abc import Sequence


def digits_of(text: str) -> str:
    """The ASCII digits of `text`, in order."""
    return "".join(character for character in text if "0" <= character <= "9")


def luhn(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit (ISO/IEC 7812-1, annex B) of those before it."""
    total = 0
    for place, character in enumerate(reversed(digits)):
        value = int(character) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return len(digits) > 1 and total % 10 == 0


def mod97(text: str) -> bool:
    """Whether the letters and digits of `text` are an IBAN by its check digits (ISO 13616, ISO 7064 mod 97-10)."""
    plain = "".join(character for character in text.upper() if character.isascii() and character.isalnum())
    if len(plain) < 5:
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The sum of each digit times its weight; surplus digits count nothing."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def mod11_10(digits: str) -> bool:
    """ISO 7064 mod 11,10 over all digits, the last being the check digit (German and Croatian numbers)."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def ean(digits: str) -> bool:
    """Whether it is an EAN-8, UPC-A, EAN-13 or GTIN-14 by its check digit (GS1 general specifications 7.9)."""
    if len(digits) not in (8, 12, 13, 14):
        return False
    return sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(reversed(digits))) % 10 == 0


def isbn(text: str) -> bool:
    """Whether it is an ISBN-10 or ISBN-13 by its check digit (ISO 2108)."""
    plain = "".join(character for character in text.upper() if character.isdigit() or character == "X")
    if len(plain) == 13 and plain[:3] in ("978", "979"):
        return plain.isdigit() and ean(plain)
    if len(plain) != 10 or "X" in plain[:-1]:
        return False
    return sum((10 if digit == "X" else int(digit)) * (10 - place) for place, digit in enumerate(plain)) % 11 == 0


_VERHOEFF_D = (
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
_VERHOEFF_P = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)


def verhoeff(digits: str) -> bool:
    """Verhoeff's check over all digits (Indian Aadhaar numbers)."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_D[check][int(_VERHOEFF_P[place % 8][int(digit)])])
    return check == 0


def vin(text: str) -> bool:
    """Whether a 17-character vehicle number has the North American check digit (49 CFR 565.15)."""
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    upper = text.upper()
    if len(upper) != 17 or any(not (c.isdigit() or c in values) for c in upper):
        return False
    total = sum((int(c) if c.isdigit() else values[c]) * weight for c, weight in zip(upper, weights, strict=True))
    return "0123456789X"[total % 11] == upper[8]
