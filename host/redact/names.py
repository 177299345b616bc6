"""What we know about words: given names, family names, ordinary words, and firms and works that read like people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path

DATA = Path(__file__).parent / "data"
LONGEST_WORD = 40  # characters of a word that is remembered: it bounds what memory they take


def bare(word: str) -> str:
    """A word as the lists spell it: lower case without accents."""
    if word.isascii():
        return word.lower()
    lower = (
        word.lower()
        .replace("ß", "ss")
        .replace("ł", "l")
        .replace("ø", "o")
        .replace("æ", "ae")
        .replace("ı", "i")  # noqa: RUF001
        .replace("đ", "d")
        .replace("œ", "oe")
    )
    return "".join(c for c in unicodedata.normalize("NFD", lower) if not "\u0300" <= c <= "\u036f")


def words_of(file: str) -> frozenset[str]:
    """The words of a data file."""
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _lines(file: str) -> frozenset[str]:
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


# Ends of words that are family names in most of a language's texts, and hardly ever another noun.
_FAMILY_ENDS = re.compile(
    r"[a-z]{2,}(?:[bdfgklmnprst]mann|bauer|m[ae][iy]er|berger|hofer|huber|hausen|hardt|[bklnrstd]sson|[aeiln]nsen|[dlt]ersen"
    r"|[kq]vist|str[o]m|gren|lund|blad|dahl|gaard|wicz|cz[ye]k|czak|[lnw]sk[ia]|[aeo]ck[ia]|enko|chuk|shvili|adze|opoulos"
    r"|akis|[aei]dis|escu|eanu|oglu|guez|quez|ndez|nchez|rtinez|mirez|elli|ucci|acci|evic|ovic|[nlrkt]ova|[nlrkt]eva"
    r"|worth|thwaite|bottom|croft|shaw|combe)"
)


# Ends of German, Dutch and Swedish compounds that are goods, rooms or papers.
_GOODS_ENDS = re.compile(
    r"(?:maschine|machine|tasche|schrank|tisch|lampe|leuchte|stuhl|sessel|messer|kocher|schrauber|bohrer|sauger"
    r"|hammer|zange|papier|kissen|decke|teppich|vorhang|jacke|hose|schuhe?|stiefel|hemd|kleid|mantel|pullover|becher"
    r"|teller|tasse|flasche|glaser|pfanne|schussel|regal|spiegel|matratze|koffer|rucksack|kabel|gerat|drucker|horer"
    r"|sprecher|schule|universitat|museum|kirche|brucke|bahnhof|theater|stadion|ordnung|rechnung|bestellung|ubersicht"
    r"|einstellungen|verwaltung|erklarung|bedingungen|suppe|salat|torte|kuchen|braten|tafel|stoel|kast|jurk|schoenen"
    r"|lampa|vaska|skor|jacka|byxor|stol|bord|handlung|versicherung|werke|gesellschaft|abteilung)$"
)


def _remembered(ask: Callable[[Names, str], bool]) -> Callable[[Names, str], bool]:
    """The same question, answered once for each word as long as words are: the same few come again."""
    known = lru_cache(maxsize=8192)(ask)

    @wraps(ask)
    def asked(names: Names, word: str) -> bool:
        return known(names, word) if len(word) <= LONGEST_WORD else ask(names, word)

    return asked


class Names:
    """The lists, read once."""

    def __init__(self) -> None:
        self._ambiguous = words_of("ambiguous.txt")
        self._given = words_of("given.txt")
        self._family = words_of("surnames.txt")
        self._common = words_of("common.txt")
        self._products = words_of("products.txt")
        self._things = _lines("things.txt")
        self._countries = _lines("countries.txt")
        self._places = _lines("places.txt")
        self._makers = words_of("makers.txt")
        self._roles = words_of("roles.txt")
        self._streets = words_of("place_nouns.txt") | words_of("street_nouns.txt")

    @_remembered
    def is_given(self, word: str) -> bool:
        """Whether it is a given name; of a double name the first part counts."""
        plain = bare(word)
        if plain in self._given or "-" not in plain:
            return plain in self._given
        parts = plain.split("-")
        return parts[0] in self._given and not self._is_noun(parts[-1])

    @_remembered
    def is_surely_given(self, word: str) -> bool:
        """Whether it is a given name and hardly anything else."""
        plain = bare(word)
        return self.is_given(word) and plain not in self._ambiguous and plain not in self._common and len(plain) > 2

    @_remembered
    def is_family(self, word: str) -> bool:
        """Whether it is a family name we know; of a double name one part counts."""
        plain = bare(word).removeprefix("o'").removeprefix("d'")
        if plain in self._family:
            return True
        if "-" in plain:
            parts = plain.split("-")
            noun = self._is_noun(parts[-1]) or parts[-1] in self._streets
            return any(part in self._family for part in parts) and (not noun or parts[-1] in self._family)
        return len(plain) > 6 and _FAMILY_ENDS.fullmatch(plain) is not None and not self._is_noun(plain)

    def _is_noun(self, plain: str) -> bool:
        return any(plain in words for words in (self._common, self._products, self._makers, self._places))

    def is_name(self, word: str) -> bool:
        """Whether it is a given or a family name we know."""
        return self.is_given(word) or self.is_family(word)

    @_remembered
    def is_common(self, word: str) -> bool:
        """Whether it is an ordinary word of one of the languages."""
        plain = bare(word).strip(".,:;!?'\"()")
        return plain in self._common or (
            plain.endswith("s") and plain[:-1] in self._common and not self.is_given(plain)
        )

    @_remembered
    def is_thing(self, word: str) -> bool:
        """Whether it is a noun of goods or places, or a form of company."""
        plain = bare(word).strip(".,:;!?'\"()")
        if plain in self._products:
            return True
        if "-" in plain and self._is_noun(plain.rsplit("-", 1)[1]):
            return plain.rsplit("-", 1)[1] not in self._family
        return len(plain) > 7 and _GOODS_ENDS.search(plain) is not None and not self.is_name(plain)

    def is_country(self, words: str) -> bool:
        """Whether it names a country, as the last line of an address does."""
        return bare(words).strip(" .,") in self._countries

    def is_street(self, word: str) -> bool:
        """Whether it is a noun of places, as street names and addresses have them."""
        return bare(word).strip(".,:;!?'\"()") in self._streets

    def is_goods(self, word: str) -> bool:
        """Whether it is a noun of goods and of no place."""
        return self.is_thing(word) and not self.is_street(word)

    @_remembered
    def is_maker(self, word: str) -> bool:
        """Whether a product or a firm begins with it; never a word that is surely a given name."""
        return bare(word).strip(".,:;!?'\"()") in self._makers and not self.is_surely_given(word)

    def is_role(self, word: str) -> bool:
        """Whether it says what somebody is and stands right before their name: "Coach", "Bürgermeister"."""
        return bare(word).strip(".,:;") in self._roles

    def is_place(self, words: str) -> bool:
        """Whether it is a big town, a state or a region."""
        plain = bare(words).strip(" .,")
        return plain in self._places or plain in self._countries

    @lru_cache(maxsize=8192)  # noqa: B019  # there is one object for the life of the process
    def known_thing(self, words: str) -> int:
        """How many words at the beginning are a firm, a work or a place that reads like a person; 0 if none."""
        plain = re.sub(r"[^a-z ]+", " ", bare(words).replace("'s", "").replace("'", "")).split()
        return next((count for count in (4, 3, 2) if " ".join(plain[:count]) in self._things), 0)

    def is_known_thing(self, words: str) -> bool:
        """Whether they begin with a firm, a work or a place that reads like a person."""
        return self.known_thing(words) > 0


NAMES = Names()
