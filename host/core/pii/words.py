"""Building blocks of patterns for names and places: what a capitalised word is, and the particles between."""

from __future__ import annotations

UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪĮİĶŁĻŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŲŹŻŽȘȚΑ-ΩΆ-ΏА-ЯЁІЇЄ"
WORD = rf"[{UPPER}][\w'-]{{0,40}}"  # starts with a capital
CAPITALISED = rf"[{UPPER}][\w'-]{{1,40}}"
PARTICLE = (
    r"(?:von und zu|von und zum|van ['’]t|in ['’]t|op den|op de|uit den|aan den|auf der|dalla|dal|de la|de las"  # noqa: RUF001
    r"|de los|van der|van den|van de|von der|von dem|von den|de|del|della|dello|degli|dei|di|da|das|do"
    r"|dos|du|des|d'|la|le|los|las|von|vom|van|zu|zur|zum|der|den|ter|ten|te|af|av|y|e|i|bin|binti|bint|ibn|al|el|ul"
    r"|abu|ben|st\.?|san|mac|mc|O')"
)
MONTH = (
    r"(?:jan|feb|f[eé]v|mar|m[aä]r|apr|avr|abr|ma[iyjg]|maa|jun|jui|jul|aug|ao[uû]|ago|sep|set|okt|oct|ott|out|nov|dec"
    r"|dez|dic|déc|ene|gen|giu|lug|mag|mei|mrt|sty|lut|kwi|cze|lip|sie|wrz|paź|lis|gru)[a-zà-ÿ]{0,8}\.?"
)
