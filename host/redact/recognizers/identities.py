"""Numbers that states, insurers and offices give to people; dates of birth; plates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.checks import digits_of, vin
from host.core.pii.context import named_otherwise
from host.core.pii.nationalids import national_ids
from host.core.pii.words import MONTH
from host.redact.quick import finds, places
from host.redact.recognizers.base import Hit, Page, Rules

_ID_WORD = re.compile(
    r"(?i)\b(?:ssn|social|security|national|nino|insurance|tax|tin|itin|utr|tfn|steuer|idnr|identif\w*|dni|nie|nif"
    r"|sin|bsn|cpf|pesel|personn\w*|aadhaar|pan|contribuinte|burger\w*|rijksreg\w*|kimlik|nir|sécu\w*)\b"
)
DATE = (
    r"(?:\d{1,2}\s?[./-]\s?\d{1,2}\s?[./-]\s?\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.|º)?[\s-](?:of\s|de\s|d')?{MONTH},?[\s-](?:de[l]?\s)?\d{{2,4}}"
    rf"|{MONTH}[\s-]\d{{1,2}}(?:st|nd|rd|th)?,?[\s-]\d{{2,4}}(?!\d)|\d{{4}}[\s-]{MONTH}[\s-]\d{{1,2}}"
    r"|\d{1,2}(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:19|20)?\d\d(?!\d)"
    r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)|\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]?)"
)
_FEAST = r"(?:part(?:y|ies)|feier|fest|torte|kuchen|geschenk|gift|cake|card|sale|offer|fiesta|regalo|celebrat|angebot)"
_BIRTH = re.compile(
    r"(?i)(?:\b(?:birth(?:day|date)?|born|d\.?\s?o\.?\s?b\.?|bday|geboren|geburts\w*|geb\.|nacimiento|nacid[oa]s?"
    r"|nació|f\.\s?nac\.?|naissance|née? le|née?|nascita|nat[oa] (?:il|a)|geboorte\w*|nascimento|nascid[oa]|urodz\w*"
    r"|ur\.|född\w*|födelse\w*|fødsels\w*|født|synty\w*|doğum\w*|naroz\w*|szület\w*|născut\w*|rođen\w*|γενν\w*"
    r"|рожд\w*|родил\w*"
    r"|b\.(?=\s?[\dA-Z])|cumpleaños|anniversaire|verjaardag|fec\. ?nac\.?)"
    r"|生年月日|出生日期|誕生日|생년월일|生于"
    r"|[*🎂])"
    rf"(?:(?:(?![^\d\n]{{0,26}}{_FEAST})[^\d\n]{{0,30}}?)|[^\d\n]{{0,14}}\n[^\d\n]{{0,3}})({DATE})"
)
_THEN_BIRTH = re.compile(
    rf"(?i)(?<![\w.])({DATE})[ ,–-]{{1,3}}(?:(?:is|was|ist|war|es|est) )?(?:my|his|her|their|mein|ihr|sein|mi"
    rf"|su|mon|son)?[ ]?"
    r"(?:birthday|birth ?date|date of birth|d\.?o\.?b\b|geburtstag|geburtsdatum|cumpleaños|anniversaire)"
)
_BORN_IN = re.compile(
    r"(?i)\b(?:born|geboren|geb\.|jahrgang|nacid[oa]|né|née|nat[oa]|née? en|born in|year of birth|geburtsjahr"
    r"|año de nacimiento"
    r"|année de naissance)(?: (?:in|im jahr|en|nel|em))?:? ('\d\d|(?:19|20)\d\d)(?![\d/.-])"
)
_PASSPORT = re.compile(
    r"(?i)\b(passport|reisepass\w*|pasaporte|passeport|passaporto|paspoort\w*|passaporte|paszport\w*|travel document"
    r"|driv(?:er|ing)\W{0,2}s? ?licen[cs]e|licen[cs]e (?:no|number)|führerschein\w*|permiso de conducir"
    r"|carnet de conducir|permis de conduire|num[ée]ro de permis"
    r"|patente(?: di guida)?|rijbewijs\w*|carta de condução|prawo jazdy"
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
    r"|dossier (?:patiente?|m[ée]dical)|expediente (?:clínico|médico)|cartella clinica|processo clínico|prontuário"
    r"|karta pacjenta|número de utente)\b\.?\s?[:#=\s]\s{0,3}(?:n[°º.]\.?\s?|no\.\s?|nr\.?\s|núm\.\s?)?"
    r"((?-i:(?=[A-Z0-9/ -]{0,12}\d)[A-Z0-9](?:[/ -]?[A-Z0-9]){4,20}(?![a-z])|(?=[a-z]{0,8}\d{3})[a-z0-9]{6,20}(?!\w)))"
)
_VEHICLE = re.compile(
    r"(?i)\b(?:licen[cs]e plate|number plate|plate(?: no\.?| number)?|registration(?: (?:no\.?|number|plate))?"
    r"|reg\.?(?: no\.?| plate)|vin|vehicle (?:id(?:entification)?(?: number)?|registration)|(?:kfz-?"
    r"|amtliches )?kennzeichen|nummernschild|fahrgestell(?:nummer|nr\.?)|fin|matrícula|bastidor|placa|immatricul\w*"
    r"|plaque|targa(?:t[aoe])?|telaio|kenteken|tablica rejestracyjna|registreringsnummer|plaka)"
    r"\b\.?(?:\s(?:is|ist|es"
    r"|est))?\s?[:#=\s]\s{0,3}"
    r"((?-i:(?=[A-Z0-9ÄÖÜ -]{0,9}\d)[A-Z0-9ÄÖÜ](?:[ ·-]?[A-Z0-9]){3,16}))(?![\w-])"
)
_VIN = re.compile(r"(?<![A-Z0-9-])(?=[A-Z0-9]{0,14}\d{3})[A-HJ-NPR-Z0-9]{17}(?![A-Z0-9-])")
_MAKERS = re.compile(  # ISO 3780 codes of makers whose numbers carry no check digit (Europe, Asia)
    r"(?:W(?:0[LV]|1[KN]|AU|A1|BA|BS|BY|DB|DC|DD|F0|MA|ME|MW|P0|P1|UA|V1|V2|VG|VW)|VF\d|VR[137]|VS[5-9SKX]|VN\d"
    r"|Z(?:AR|CF|FA|FF|HW|AM|DM|AP|LA)|TM[ABPT]|TRU|TSM|S(?:A[JLRT]|B1|CA|CB|CC|CF|FD|HH|HS|U[PUF])|YV[1-4]|YS[23]"
    r"|XT[AT]|X7L|UU1|U5Y|KM[HJ8]|KN[ADM]|KL[A1]|JH[ML]|JT[DEHMN]|JN[18]|JM[0-9Z]|JS[23A]|JF[12]|L(?:SV|VS|FV|BV|GX)"
    r"|MA[136]|MB[HJ]|NM[0T])[A-HJ-NPR-Z\d]{8,10}\d{4}$"
)
_PLATE_DE = re.compile(r"(?<![\w-])[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?\d{1,4}[EH]?(?![\w-])(?<! \d)")
_BIRTH_BEHIND = re.compile(r"(?i)\d[ ,–-]{1,3}\w{0,4} ?\w{0,5} ?(?:birth|d\.?o\.?b|geburt|cumple|anniv)")
_MRZ = re.compile(
    r"[PIACV][A-Z<][A-Z]{3}[A-Z0-9<]{25,39}|(?<![A-Z0-9])P[A-Z<][A-Z]{3}[A-Z]{1,30}<<[A-Z<]{3,36}"
    r"|(?<![A-Z0-9])[A-Z0-9<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z0-9<]{2,16}"
)


_AS_ID = re.compile(r"(?<![\w-])ID[ :#]{1,3}$")


class NationalIds(Rules):
    """National numbers by shape and check digit; passports, licences and ids behind their words."""

    types = ("NATIONAL_ID", "TAX_ID", "MEDICAL_ID", "PASSPORT", "DRIVER_LICENSE")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """A number named an order or an article is none."""
        if "<<" in text:
            for match in finds(_MRZ, text):
                if match[0].count("<") >= 2:
                    yield Hit(*match.span(), "PASSPORT", 0.9, "machine readable zone")
        if not any(character.isdigit() for character in text):
            return
        promised = {"NATIONAL_ID", "TAX_ID"} & set(page.promised)
        labelled = bool(promised) or _ID_WORD.search(text) is not None
        for start, end, kind, country in national_ids(text, labelled, places):
            as_id = _AS_ID.search(text, max(0, start - 8), start) is not None  # "ID 12345678Z": else an id of anything
            sure = labelled or as_id or not (named_otherwise(text, start) or page.ruled_out)
            if sure:
                yield Hit(start, end, kind, 0.9, f"national id {country}")
        for match in finds(_PASSPORT, text):
            kind = next((name for word, name in _ID_TYPES if word.search(match[1])), "NATIONAL_ID")
            if len(digits_of(match[2])) >= 2:
                yield Hit(*match.span(2), kind, 0.8, "id behind label")
        for match in finds(_MEDICAL, text):
            if len(digits_of(match[2])) >= 3:
                yield Hit(*match.span(2), "MEDICAL_ID", 0.8, "medical id behind label")


class Births(Rules):
    """Dates of birth: dates that a word of birth stands before."""

    types = ("DATE_OF_BIRTH",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """The date alone, not its word."""
        for match in finds(_BIRTH, text):
            yield Hit(*match.span(1), "DATE_OF_BIRTH", 0.9, "date of birth")
        if _BIRTH_BEHIND.search(text):
            for match in finds(_THEN_BIRTH, text):
                yield Hit(*match.span(1), "DATE_OF_BIRTH", 0.6, "date before its word")
        for match in finds(_BORN_IN, text):
            yield Hit(*match.span(1), "DATE_OF_BIRTH", 0.6, "year of birth")


_A_CAR = re.compile(
    r"(?i)\b(?:cars?|vehicles?|van|truck|lorry|motorbike|parking|parked|taxi|autos?|wagen|fahrzeug\w*|pkw|lkw"
    r"|motorrad|coche"
    r"|vehículo|furgoneta|voiture|véhicule|camion\w*|veicolo|macchina|bil|samochód|carro|ford|vw|volkswagen|bmw|audi"
    r"|opel"
    r"|vauxhall|renault|peugeot|citro[eë]n|toyota|skoda|škoda|fiat|tesla|mercedes|kia|hyundai|nissan|honda|volvo"
    r"|mazda|dacia)\b"
)
_PLATES = re.compile(  # as Britain, France and Italy, Spain, Germany, the Netherlands, America write them
    r"(?<![\w-])(?!(?:BMW|VW|KIA|KTM|MG|DS|GM|RAM|AMG|SUV|TDI|TSI|CDI|HDI|GTI|DCI|GLA|GLB|GLC|GLE|GLS|CLA|CLS|CLK|SLK"
    r"|CRV"
    r"|HRV|EV|ID|PS|HP|KW|NM)[ -])(?:[A-HJ-PR-Y]{2}\d\d ?[A-HJ-PR-Z]{3}"
    r"|[A-HJ-NP-TV-Z]{2}[ -]?\d{3}[ -]?[A-HJ-NP-TV-Z]{2}"
    r"|\d{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}|[A-ZÄÖÜ]{1,3}[ -][A-Z]{1,2}[ -]?\d{1,4}[EH]?"
    r"|(?:[A-Z]{2}|\d\d|[A-Z]\d{2}|[A-Z]{3}|\d{3}|[A-Z]{1})-(?:[A-Z]{2,3}|\d{2,3})-(?:[A-Z]{1,2}|\d{1,2})"
    r"|[A-Z]{3}[ -]?\d{3,4}|\d[A-Z]{3}\d{3})(?![\w-]|[.,]\d)"
)


class Vehicles(Rules):
    """Plates and vehicle numbers."""

    types = ("VEHICLE",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Plates behind their words, vehicle numbers also by check digit."""
        for match in finds(_VEHICLE, text):
            yield Hit(*match.span(1), "VEHICLE", 0.7, "vehicle behind label")
        for match in finds(_PLATE_DE, text):
            if " " in match[0] and not named_otherwise(text, match.start()) and not page.ruled_out:
                yield Hit(*match.span(), "VEHICLE", 0.5, "plate")
        looked = 0
        for car in finds(_A_CAR, text):
            looked, before = car.end() + 48, looked
            for match in _PLATES.finditer(text, max(before - 8, car.start() - 40, 0), looked):
                if not named_otherwise(text, match.start()):
                    yield Hit(*match.span(), "VEHICLE", 0.5, "plate beside a car")
        for match in finds(_VIN, text):
            if (vin(match[0]) or _MAKERS.match(match[0])) and not match[0].isdigit():
                yield Hit(*match.span(), "VEHICLE", 0.8, "vin")
