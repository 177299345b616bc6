"""The words around the figures of references/redaction.md."""

from __future__ import annotations

from collections.abc import Mapping

from bench.redaction.targets import (
    ADDED_NOTHING,
    ADDED_PICTURES,
    BARRED,
    MASKING,
    MEMORY,
    PEER_TIME,
    PICTURES,
    STRUCTURED,
    TEXT,
)

INTRODUCTION = """\
Before an AI sees a picture of a page, the host draws bars over what is private in it. Where the page has its text in
the DOM, the host reads that text and bars exact rectangles; what is only pixels is read by OCR; what can be read
neither way is barred whole, or no picture is given. This page tells how well that works, on pages whose private and
harmless texts are known: names, addresses, cards, keys and the like on one side, prices, dates, order numbers,
products and firms on the other. Everybody on them is invented; cards, IBANs and wallets are published examples.

No redaction finds everything, and this one does not either. Whoever lends a tab to an AI should assume that a few
private details in a hundred are seen, more where a page is unlike those below, and should not lend tabs in which that
would be too much. What the host does promise is that it fails shut: what could not be checked is not shown.

The layouts are in two halves, by their names. What was missed on the half *worked on* was read while the rules were
written. Of the half *held back* its counts alone were told, its names, streets and goods occur on no page of the
other, and its figures decide. Both halves have the same author, who is not the author of the rules; pages that nobody
here has seen may do worse.
"""
COUNTED = """\
## How it is counted

Each page tells where its labelled texts are, and then forgets the labels: what the product sees is plain HTML. Then
an unbarred picture is taken past the product, and `browser.screenshot` is asked for its own. Glyphs are the pixels of
the unbarred picture that differ from the ground around them; a pixel is under a bar when the product's picture is
black over a square of 7 by 7 pixels there. A private text counts as covered when at least 95 % of its glyphs are, a
harmless one as barred when more than 25 % are. A text that a page shows twice counts once, and as covered only when
it is both times. Parentheses hold counts and Wilson's 95 % interval: texts of one page are alike, so the true one is
wider.

Structured types are all but names, addresses and coordinates. Pages come light and dark, at 1, 1.5 and 2 pixels to a
CSS pixel, in the window or whole, in English, German, Spanish, French, Italian, Dutch, Swedish and Polish. Added time
is the median call less the median of plain captures of the same pages, taken in turn.
"""
PEER = """\
It got the unbarred picture of the same page in the same job, in turn, with one OpenMP thread as the product's OCR.
Its large English model is in no package registry, so it ran with the small one; it knows English only here, and it
has no recognizer for street addresses, passwords, most keys and tokens, handles or plates: that is why its own types
are told apart, and English pages too. It is meant to be configured; this is what it does as it comes. It looks at
pixels alone, which is all it is given; the product has the DOM, and that is most of the difference.
"""
NOT_COVERED = """\
## What is not covered

- Faces, signatures, handwriting, logos of employers, and anything that a photo tells without printed words.
- Text in pictures that is tilted (other than by quarter turns), curved, very small, or fainter than OCR can read:
  where it looks like text and cannot be read it is barred whole, but a scrawl may not look like text.
- What is private only because of what it says: an illness, a debt, an opinion, a salary, the subject of a letter.
- Names that are also words, brands or places, alone and without a label or a greeting; initials; nicknames.
- Languages other than those above; scripts other than Latin were not measured at all.
- Video and animation beyond the one frame that is shown; what appears between two pictures.
- Dates other than births, prices, and numbers of orders, invoices and parcels stay, though they may lead to a person.
"""
WHY: Mapping[str, str] = {  # what lies behind a target when it is missed
    TEXT: "What is left are names with nothing beside them that says so, mostly in the languages that the name model "
    "knows least, and what is in structured types below.",
    STRUCTURED: "A name to sign in with or a password has no shape of its own: where no label, sign or key stands "
    "beside it, it is a word. The other types miss one here and there.",
    PICTURES: "OCR reads a letter wrong, or a name in a column apart from its head.",
    BARRED: "Titles of books and goods that are people's names are barred like people: nothing on the page tells them "
    "apart, and a name shown is worse than a title barred.",
    ADDED_PICTURES: "It is nearly all Tesseract's, which reads each new picture, and what was barred in it once more.",
    ADDED_NOTHING: "The page is captured without loss, where the plain capture beside it is a JPEG, and its text is "
    "read before it is known that nothing changed.",
    MASKING: "More than half of it is the name model's, which reads every line that could hold a name, on both cores "
    "at full speed.",
    PEER_TIME: "Pictures are whole PNG files at the screen's own density here, to be scored by their pixels; the JPEG "
    "of at most 1,000 pixels that callers get is the one timed below.",
    MEMORY: "Presidio's modules and the name model are most of it, and what was read lately is kept to be fast.",
}
