"""Numbers that states, insurers and offices give to people; dates of birth; plates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.checks import digits_of, vin
from host.core.pii.context import named_otherwise
from host.core.pii.nationalids import national_ids
from host.core.pii.words import MONTH
from host.redact.recognizers.base import Hit, Page, Rules

_ID_WORD = re.compile(
    r"(?i)\b(?:ssn|social|security|national|nino|insurance|tax|tin|itin|utr|tfn|steuer|idnr|identif\w*|dni|nie|nif"
    r"|sin|bsn|cpf|pesel|personn\w*|aadhaar|pan|contribuinte|burger\w*|rijksreg\w*|kimlik|nir|sécu\w*)\b"
)
DATE = (
    r"(?:\d{1,2}\s?[./-]\s?\d{1,2}\s?[./-]\s?\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.|º)?[\s-](?:of\s|de\s|d')?{MONTH},?[\s-](?:de[l]?\s)?\d{{2,4}}"
    rf"|{MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}|\d{{4}}\s{MONTH}\s\d{{1,2}})"
)
_BIRTH = re.compile(
    r"(?i)(?:\b(?:birth(?:day|date)?|born|d\.?\s?o\.?\s?b\.?|bday|geboren|geburts\w*|geb\.|nacimiento|nacid[oa]s?"
    r"|nació|f\.\s?nac\.?|naissance|née? le|née?|nascita|nat[oa] (?:il|a)|geboorte\w*|nascimento|nascid[oa]|urodz\w*"
    r"|ur\.|född\w*|fødsels\w*|født|syntynyt|doğum\w*)"
    rf"|[*])(?:(?:[^\d\n]{{0,30}}?)|[^\d\n]{{0,14}}\n[^\d\n]{{0,3}})({DATE})"
)
_PASSPORT = re.compile(
    r"(?i)\b(passport|reisepass\w*|pasaporte|passeport|passaporto|paspoort\w*|passaporte|paszport\w*|travel document"
    r"|driv(?:er|ing)\W{0,2}s? ?licen[cs]e|licen[cs]e (?:no|number)|führerschein\w*|permiso de conducir"
    r"|carnet de conducir|permis de conduire|patente(?: di guida)?|rijbewijs\w*|carta de condução|prawo jazdy"
    r"|körkort\w*"
    r"|personalausweis\w*|ausweis\w*|id[ -]card|identity (?:card|no|number|document)|national id(?:entity)?|dni|nie"
    r"|nif|cédula|documento de identidad|carte (?:nationale )?d'identité|carta d'identità|tax (?:id|number|no"
    r"|file number)|steuer-?(?:id\w*|nummer|nr)|steuernummer|tin|itin|utr|ssn|social security(?: number)?"
    r"|sozialversicherungs\w*|rentenversicherungs\w*"
    r"|numéro (?:fiscal|de sécurité sociale)|codice fiscale|bsn|cpf|pesel|aadhaar|personnummer|vat id"
    r"|national insurance(?: number)?|ni number|seguridad social)\b"
    r"(?:[^\n:#\d]{0,22}?[:#.\s])\s{0,3}"
    r"((?-i:(?=[A-Z0-9./ -]{0,12}\d)[A-Z0-9](?:[./ -]?[A-Z0-9<]){4,22}(?![a-z])"
    r"|(?=[a-z]{0,8}\d{3})[a-z0-9]{6,20}(?!\w)))"
)
_ID_TYPES = (
    (re.compile(r"(?i)passp|reisepass|pasap|passep|passap|paspo|paszp|travel"), "PASSPORT"),
    (re.compile(r"(?i)driv|licen|führer|conducir|conduire|patente|rijbew|condução|jazdy|körkort"), "DRIVER_LICENSE"),
    (re.compile(r"(?i)tax|steuer|tin|utr|fiscal|vat"), "TAX_ID"),
)
_MEDICAL = re.compile(
    r"(?i)\b((?:medical record|patient|insurance|member(?:ship)?|policy|policyholder|subscriber|medicare|medicaid"
    r"|health(?: card| insurance)?|nhs|hospital|chart|group)(?: (?:record|card|policy))?[ -]?(?:id|no|number|nr|#)"
    r"|mrn|nhs|npi|kvnr|versicherten-?(?:nummer|nr)|krankenversicherten\w*|krankenversicherungs\w*"
    r"|patienten-?(?:nummer|nr|id)|versicherungs-?(?:nummer|nr)"
    r"|tarjeta sanitaria|historia clínica|n[úu]mero de (?:afiliado|póliza|asegurado)|numéro d'assuré"
    r"|tessera sanitaria|polisnummer"
    r"|número de utente)\b\.?\s?[:#=\s]\s{0,3}"
    r"((?-i:(?=[A-Z0-9/ -]{0,12}\d)[A-Z0-9](?:[/ -]?[A-Z0-9]){4,20}(?![a-z])|(?=[a-z]{0,8}\d{3})[a-z0-9]{6,20}(?!\w)))"
)
_VEHICLE = re.compile(
    r"(?i)\b(?:licen[cs]e plate|number plate|plate(?: no\.?| number)?|registration(?: (?:no\.?|number|plate))?"
    r"|reg\.?(?: no\.?| plate)|vin|vehicle (?:id(?:entification)?(?: number)?|registration)|(?:kfz-?"
    r"|amtliches )?kennzeichen|nummernschild|fahrgestell(?:nummer|nr\.?)|fin|matrícula|bastidor|placa|immatriculation"
    r"|plaque|targa|telaio|kenteken|tablica rejestracyjna|registreringsnummer|plaka)"
    r"\b\.?(?:\s(?:is|ist|es"
    r"|est))?\s?[:#=\s]\s{0,3}"
    r"((?-i:(?=[A-Z0-9ÄÖÜ -]{0,9}\d)[A-Z0-9ÄÖÜ](?:[ ·-]?[A-Z0-9]){3,16}))(?![\w-])"
)
_VIN = re.compile(r"(?<![A-Z0-9-])(?=[A-Z0-9]{0,14}\d{3})[A-HJ-NPR-Z0-9]{17}(?![A-Z0-9-])")
_MRZ = re.compile(
    r"[PIAC][A-Z<][A-Z]{3}[A-Z0-9<]{25,39}|(?<![A-Z0-9])[A-Z0-9<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z0-9<]{2,16}"
)


class NationalIds(Rules):
    """National numbers by shape and check digit; passports, licences and ids behind their words."""

    types = ("NATIONAL_ID", "TAX_ID", "MEDICAL_ID", "PASSPORT", "DRIVER_LICENSE")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """A number named an order or an article is none."""
        if not any(character.isdigit() for character in text):
            return
        promised = {"NATIONAL_ID", "TAX_ID"} & set(page.promised)
        labelled = bool(promised) or _ID_WORD.search(text) is not None
        for start, end, kind, country in national_ids(text, labelled):
            sure = labelled or not (named_otherwise(text, start) or page.ruled_out)
            if sure:
                yield Hit(start, end, kind, 0.9, f"national id {country}")
        for match in _PASSPORT.finditer(text):
            kind = next((name for word, name in _ID_TYPES if word.search(match[1])), "NATIONAL_ID")
            if len(digits_of(match[2])) >= 2:
                yield Hit(*match.span(2), kind, 0.8, "id behind label")
        for match in _MEDICAL.finditer(text):
            if len(digits_of(match[2])) >= 3:
                yield Hit(*match.span(2), "MEDICAL_ID", 0.8, "medical id behind label")
        for match in _MRZ.finditer(text):
            if match[0].count("<") >= 2:
                yield Hit(*match.span(), "PASSPORT", 0.9, "machine readable zone")


class Births(Rules):
    """Dates of birth: dates that a word of birth stands before."""

    types = ("DATE_OF_BIRTH",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """The date alone, not its word."""
        for match in _BIRTH.finditer(text):
            yield Hit(*match.span(1), "DATE_OF_BIRTH", 0.9, "date of birth")


class Vehicles(Rules):
    """Plates and vehicle numbers."""

    types = ("VEHICLE",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Plates behind their words, vehicle numbers also by check digit."""
        for match in _VEHICLE.finditer(text):
            yield Hit(*match.span(1), "VEHICLE", 0.7, "vehicle behind label")
        for match in _VIN.finditer(text):
            if vin(match[0]) and not match[0].isdigit():
                yield Hit(*match.span(), "VEHICLE", 0.8, "vin")
