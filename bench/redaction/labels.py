"""What pages in eight languages call private details: heads of columns, labels of fields, words before a value."""

from __future__ import annotations

from collections.abc import Mapping

_KINDS = "PERSON EMAIL PHONE ADDRESS DATE_OF_BIRTH CARD PASSPORT PASSWORD USERNAME BANK_ACCOUNT TAX_ID DRIVER_LICENSE"


def _row(words: str) -> dict[str, str]:
    return dict(zip(_KINDS.split(), words.split("|"), strict=True))


LABELS: Mapping[str, Mapping[str, str]] = {
    "en": {
        **_row(
            "Name|E-mail|Phone|Address|Date of birth|Card number|Passport no.|Password|Username|Account number|Tax ID|"
            "Driver's licence"
        ),
        "COOKIE": "Cookie",
        "CRYPTO": "Wallet",
        "CVC": "CVC",
        "HANDLE": "Handle",
        "IBAN": "IBAN",
        "IP_ADDRESS": "IP address",
        "KEY": "API key",
        "LOCATION": "Coordinates",
        "MAC_ADDRESS": "MAC",
        "MEDICAL_ID": "Insurance no.",
        "SECRET": "PIN",
        "STREET": "Street",
        "TOKEN": "Token",
        "TOWN": "City",
        "VEHICLE": "Licence plate",
        "DATE": "Date",
        "FIRM": "Company",
        "ORDER": "Order no.",
        "PRICE": "Amount",
        "PRODUCT": "Item",
        "TIME": "Time",
    },
    "de": {
        **_row(
            "Name|E-Mail|Telefon|Anschrift|Geburtsdatum|Kartennummer|Reisepass-Nr.|Passwort|Benutzername|Kontonummer|"
            "Steuernummer|Führerschein-Nr."
        ),
        "MEDICAL_ID": "Versichertennummer",
        "STREET": "Straße",
        "TOWN": "Ort",
        "VEHICLE": "Kennzeichen",
        "DATE": "Datum",
        "FIRM": "Firma",
        "ORDER": "Bestellnummer",
        "PRICE": "Betrag",
        "PRODUCT": "Artikel",
        "TIME": "Uhrzeit",
    },
    "es": {
        **_row(
            "Nombre|Correo electrónico|Teléfono|Dirección|Fecha de nacimiento|Número de tarjeta|Pasaporte|Contraseña|"
            "Usuario|Número de cuenta|NIF|Permiso de conducir"
        ),
        "MEDICAL_ID": "N.º de afiliación",
        "STREET": "Calle",
        "TOWN": "Localidad",
        "VEHICLE": "Matrícula",
        "DATE": "Fecha",
        "FIRM": "Empresa",
        "ORDER": "Pedido",
        "PRICE": "Importe",
        "PRODUCT": "Artículo",
        "TIME": "Hora",
    },
    "fr": {
        **_row(
            "Nom|Courriel|Téléphone|Adresse|Date de naissance|Numéro de carte|Passeport|Mot de passe|Identifiant|"
            "Numéro de compte|Numéro fiscal|Permis de conduire"
        ),
        "MEDICAL_ID": "N° d'assuré",
        "STREET": "Rue",
        "TOWN": "Ville",
        "VEHICLE": "Immatriculation",
        "DATE": "Date",
        "FIRM": "Société",
        "ORDER": "Commande",
        "PRICE": "Montant",
        "PRODUCT": "Article",
        "TIME": "Heure",
    },
    "it": {
        **_row(
            "Nome e cognome|Posta elettronica|Cellulare|Indirizzo|Data di nascita|Numero carta|Passaporto|Password|"
            "Nome utente|Numero di conto|Partita IVA|Patente"
        ),
        "MEDICAL_ID": "Tessera sanitaria",
        "STREET": "Via",
        "TOWN": "Città",
        "VEHICLE": "Targa",
        "DATE": "Data",
        "FIRM": "Azienda",
        "ORDER": "Ordine",
        "PRICE": "Importo",
        "PRODUCT": "Articolo",
        "TIME": "Ora",
    },
    "nl": {
        **_row(
            "Naam|E-mailadres|Telefoon|Adres|Geboortedatum|Kaartnummer|Paspoort|Wachtwoord|Gebruikersnaam|"
            "Rekeningnummer|Btw-nummer|Rijbewijs"
        ),
        "MEDICAL_ID": "Polisnummer zorg",
        "STREET": "Straat",
        "TOWN": "Woonplaats",
        "VEHICLE": "Kenteken",
        "DATE": "Datum",
        "FIRM": "Bedrijf",
        "ORDER": "Bestelling",
        "PRICE": "Bedrag",
        "PRODUCT": "Artikel",
        "TIME": "Tijd",
    },
    "sv": {
        **_row(
            "Namn|E-post|Telefon|Adress|Födelsedatum|Kortnummer|Passnummer|Lösenord|Användarnamn|Kontonummer|"
            "Skattenummer|Körkort"
        ),
        "MEDICAL_ID": "Försäkringsnummer",
        "STREET": "Gata",
        "TOWN": "Ort",
        "VEHICLE": "Registreringsnummer",
        "DATE": "Datum",
        "FIRM": "Företag",
        "ORDER": "Beställning",
        "PRICE": "Belopp",
        "PRODUCT": "Vara",
        "TIME": "Tid",
    },
    "pl": {
        **_row(
            "Imię i nazwisko|E-mail|Telefon|Adres|Data urodzenia|Numer karty|Numer paszportu|Hasło|Nazwa użytkownika|"
            "Numer konta|NIP|Prawo jazdy"
        ),
        "MEDICAL_ID": "Numer ubezpieczenia",
        "STREET": "Ulica",
        "TOWN": "Miasto",
        "VEHICLE": "Numer rejestracyjny",
        "DATE": "Data",
        "FIRM": "Firma",
        "ORDER": "Zamówienie",
        "PRICE": "Kwota",
        "PRODUCT": "Towar",
        "TIME": "Godzina",
    },
}
