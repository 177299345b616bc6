"""What is found and what stays, as tables: values and layouts of our own, in the languages that are promised."""

from __future__ import annotations

import pytest

from host.core.redaction import EngineConfig, Text
from host.redact.engine import Engine


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(EngineConfig())


def covered(engine: Engine, text: str, hint: str = "", kind: str = "text") -> str:
    """The text with every found character as an underscore."""
    found = engine.find([Text(text, hint, "field" if kind == "field" else "ocr" if kind == "ocr" else "text")])[0]
    shown = list(text)
    for one in found:
        shown[one.start : one.end] = "_" * (one.end - one.start)
    return "".join(shown)


def left(engine: Engine, text: str, private: str, hint: str = "", kind: str = "text") -> list[str]:
    """The words of `private` that may still be read."""
    at = text.index(private)
    return covered(engine, text, hint, kind)[at : at + len(private)].replace("_", " ").split()


PRIVATE = (  # text, what must be covered, hint
    pytest.param("Write to m.okafor@example.test today", "m.okafor@example.test", "", id="email"),
    pytest.param("w e n d y @ e x a m p l e . t e s t", "w e n d y @ e x a m p l e . t e s t", "", id="email-spaced"),
    pytest.param("wendy (at) example (dot) com", "wendy (at) example (dot) com", "", id="email-spelt"),
    pytest.param("mail=oda@example.test", "oda@example.test", "", id="email-assigned"),
    pytest.param("617-555-0121 $48.20", "617-555-0121", "", id="phone-before-price"),
    pytest.param("Ruf an: 0171 / 234 56 78", "0171 / 234 56 78", "", id="phone-de"),
    pytest.param("Llámame al 655 123 987", "655 123 987", "", id="phone-es"),
    pytest.param("06 12 34 56 78", "06 12 34 56 78", "", id="phone-fr"),
    pytest.param("020 7946 0958", "020 7946 0958", "", id="phone-gb"),
    pytest.param("(212) 555-0143 x12", "(212) 555-0143 x12", "", id="phone-us"),
    pytest.param("5500 0000 0000 0004", "5500 0000 0000 0004", "", id="card"),
    pytest.param("3782 822463 10005", "3782 822463 10005", "", id="card-amex"),
    pytest.param("Card 1234 5678 9012 3456", "1234 5678 9012 3456", "", id="card-without-check"),
    pytest.param("exp 09/29", "09/29", "", id="card-expiry"),
    pytest.param("737", "737", "CVC", id="card-code-by-hint"),
    pytest.param("GB33 BUKB 2020 1555 5555 55", "GB33 BUKB 2020 1555 5555 55", "", id="iban"),
    pytest.param("Sort code: 20-00-00", "20-00-00", "", id="sort-code"),
    pytest.param("Kontonummer 0532013000", "0532013000", "", id="account-de"),
    pytest.param("14 bis, rue des Lilas, 69003 Lyon", "14 bis, rue des Lilas, 69003 Lyon", "", id="address-fr"),
    pytest.param("Am alten Graben 7b, 04109 Leipzig", "Am alten Graben 7b, 04109 Leipzig", "", id="address-de"),
    pytest.param("Calle del Olmo 23, 3º B, 28012 Madrid", "Calle del Olmo 23, 3º B, 28012 Madrid", "", id="address-es"),
    pytest.param("Flat 4, 12 Elm Road, Leeds LS6 2AB", "Flat 4, 12 Elm Road, Leeds LS6 2AB", "", id="address-gb"),
    pytest.param("90 Pine Ave Apt 4B\nReno, NV 89501", "90 Pine Ave Apt 4B\nReno, NV 89501", "", id="address-us"),
    pytest.param("Via Garibaldi 12, 40123 Bologna (BO)", "Via Garibaldi 12, 40123 Bologna (BO)", "", id="address-it"),
    pytest.param("Kerkstraat 12-B, 1017 GC Amsterdam", "Kerkstraat 12-B, 1017 GC Amsterdam", "", id="address-nl"),
    pytest.param("Rua das Flores, 45, 1200-123 Lisboa", "Rua das Flores, 45, 1200-123 Lisboa", "", id="address-pt"),
    pytest.param("Storgatan 12, 111 22 Stockholm", "Storgatan 12, 111 22 Stockholm", "", id="address-sv"),
    pytest.param("Karl Johans gate 5, 0154 Oslo", "Karl Johans gate 5, 0154 Oslo", "", id="address-no"),
    pytest.param("P.O. Box 1180", "P.O. Box 1180", "", id="address-box"),
    pytest.param("LindenstraBe 42, 10969 Berlin", "LindenstraBe 42, 10969 Berlin", "", id="address-misread"),
    pytest.param("born on 12 March 1984", "12 March 1984", "", id="birth"),
    pytest.param("geb. 07.09.1971", "07.09.1971", "", id="birth-de"),
    pytest.param("03/04/1999", "03/04/1999", "Fecha de nacimiento", id="birth-by-hint"),
    pytest.param("client 203.0.113.9", "203.0.113.9", "", id="ip"),
    pytest.param("-> 2001:db8:85a3::8a2e:370:7334", "2001:db8:85a3::8a2e:370:7334", "", id="ip-6"),
    pytest.param("eth0 00:1B:44:11:3A:B7", "00:1B:44:11:3A:B7", "", id="mac"),
    pytest.param("SSN 078-05-1120", "078-05-1120", "", id="ssn"),
    pytest.param("Passnummer K14178846", "K14178846", "", id="passport-sv"),
    pytest.param("Driving licence: MORGA657054SM9IJ", "MORGA657054SM9IJ", "", id="licence"),
    pytest.param("Versichertennummer: A123456780", "A123456780", "", id="medical-de"),
    pytest.param("Kennzeichen: B-MW 1234", "B-MW 1234", "", id="plate"),
    pytest.param("52.5200, 13.4050", "52.5200, 13.4050", "", id="coordinates"),
    pytest.param("by @mira_k", "@mira_k", "", id="handle"),
    pytest.param("Benutzername: mkrueger7", "mkrueger7", "", id="username-de"),
    pytest.param("/home/jdoe42/notes.txt", "jdoe42", "", id="username-in-path"),
    pytest.param("opened 3 days ago by kmensah4", "kmensah4", "", id="username-of-an-act"),
    pytest.param("dirk_bakhuis82 · 14 posts", "dirk_bakhuis82", "", id="username-like-a-name"),
    pytest.param("DB_USER=qxtern7", "qxtern7", "", id="username-in-settings"),
    pytest.param("postgres://qxtern:gr4nite@db.example.test/x", "qxtern", "", id="username-in-url"),
    pytest.param("Login: qx.tern / gr4nite-9", "gr4nite-9", "", id="login-pair"),
    pytest.param("curl -u deploy:gr4nite9 https://api.example.test", "gr4nite9", "", id="password-of-an-option"),
    pytest.param("OKONKWO/CHIDI MR", "OKONKWO/CHIDI", "Passenger", id="person-with-slash"),
    pytest.param("geboren 3 maart 1984", "3 maart 1984", "", id="birth-nl"),
    pytest.param("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "", id="wallet"),
    pytest.param("We met Ottokar Wiesengrund there", "Ottokar Wiesengrund", "", id="person"),
    pytest.param("Dear Mrs. Okonkwo-Bell, hello", "Okonkwo-Bell", "", id="person-greeted"),
    pytest.param("Sehr geehrter Herr Zwirnlein,", "Zwirnlein", "", id="person-greeted-de"),
    pytest.param("Un saludo,\nIgnacia Salom", "Ignacia Salom", "", id="person-signed-es"),
    pytest.param("Titulaire : Solène Vasseur", "Solène Vasseur", "", id="person-label-fr"),
    pytest.param("MÜLLER, Hans", "MÜLLER, Hans", "", id="person-turned-round"),
    pytest.param("J. K. Rowling", "J. K. Rowling", "", id="person-initials"),
    pytest.param("Anna Good", "Anna Good", "", id="person-ordinary-word"),
    pytest.param("anna müller", "anna müller", "", id="person-without-capitals"),
    pytest.param("Quillaume Dorsenne", "Quillaume Dorsenne", "Kunde", id="person-by-hint"),
    pytest.param("Zeno Vale12:14", "Zeno Vale", "", id="person-glued-to-time"),
    pytest.param('{"name": "Oksana Petrenko"}', "Oksana Petrenko", "", id="person-in-json"),
    pytest.param("OKAFOR/NGOZI MRS", "OKAFOR/NGOZI", "", id="person-passenger"),
    pytest.param("[09:41] Imogen: are you there?", "Imogen", "", id="person-in-a-chat"),
    pytest.param("1:1 Niamh / Declan", "Declan", "", id="person-pair"),
    pytest.param("Moreira da Costa, Manuel\t12:40", "Moreira da Costa, Manuel", "", id="person-turned-round"),
    pytest.param("Could you ask Desmond about it?", "Desmond", "", id="person-given-in-prose"),
    pytest.param("Meeting with Park Soo-yeon", "Park Soo-yeon", "", id="person-korean"),
    pytest.param("The corner of Alder Road and Pine Street.", "Alder Road and Pine Street", "", id="address-crossing"),
    pytest.param("ul. Polna 12A/4\n50-120 Wrocław", "ul. Polna 12A/4\n50-120 Wrocław", "", id="address-pl"),
    pytest.param("Am Gürtel 18/2/14, 1150 Wien", "18/2/14, 1150 Wien", "", id="address-at"),
    pytest.param("3-14-5 Nishi-Azabu, Minato-ku, Tokyo", "3-14-5 Nishi-Azabu, Minato-ku, Tokyo", "", id="address-jp"),
    pytest.param("Ahornweg 5, 3. Stock, 70174 Stuttgart", "Ahornweg 5, 3. Stock, 70174", "", id="address-storey"),
    pytest.param("Suite 400, 1811 Elm Blvd, Tulsa, OK 74103", "Suite 400, 1811", "", id="address-suite-before"),
    pytest.param("password is Basalt-99", "Basalt-99", "", id="password"),
    pytest.param("write to pia.holt @ example.test", "pia.holt @ example.test", "", id="email-apart"),
    pytest.param("https://wa.me/4915112345678", "4915112345678", "", id="phone-in-link"),
    pytest.param("(03) 9123 4567 / 0400 123 456", "0400 123 456", "", id="phones-in-a-row"),
    pytest.param("4242 4242\n4242 4242", "4242 4242\n4242 4242", "", id="card-over-two-lines"),
    pytest.param("Bankgiro 5805-6201", "5805-6201", "", id="account-giro"),
    pytest.param("she showed passport no. L4567890 at noon", "L4567890", "", id="number-in-a-sentence"),
    pytest.param("マイナンバー 1234 5678 9018", "1234 5678 9018", "", id="label-in-another-script"),
    pytest.param("Sie ist Jahrgang 1984", "1984", "", id="birth-year"),
    pytest.param("March 3rd 1977 is my birthday", "March 3rd 1977", "", id="birth-before-its-word"),
    pytest.param("hwaddr 001A2B3C4D5E", "001A2B3C4D5E", "", id="mac-bare"),
    pytest.param("Tu código de verificación es 509-221", "509-221", "", id="code-sent"),
    pytest.param("WIFI password blue-otter-42", "blue-otter-42", "", id="password-without-sign"),
    pytest.param("machine x login heidi password m0rgenrot", "m0rgenrot", "", id="netrc"),
    pytest.param("Benutzername s.vogt", "s.vogt", "", id="username-without-sign"),
    pytest.param("mo_dev", "mo_dev", "GitHub", id="network-as-hint"),
    pytest.param("N 47° 22.350 E 008° 32.500", "N 47° 22.350 E 008° 32.500", "", id="coordinates-minutes"),
    pytest.param("3782 822463 10005", "3782 822463 10005", "Card on file", id="card-on-file"),
    pytest.param("Sold to marl_pit for 20", "marl_pit", "", id="username-by-shape"),
    pytest.param("login,visits\nmarlpit,12", "marlpit", "", id="username-in-a-column"),
    pytest.param('<add key="SmtpPassword" value="Gneiss7" />', "Gneiss7", "", id="value-beside-its-name"),
    pytest.param("- name: DB_PASSWORD\n  value: Gneiss7x", "Gneiss7x", "", id="value-under-its-name"),
    pytest.param("User\tmarlpit\tGroup\tstaff", "marlpit", "", id="label-beside"),
    pytest.param("the plate of my car is XKR 4471", "XKR 4471", "", id="number-of-whose"),
    pytest.param("A grey Volvo, MX17 KLR, by the gate", "MX17 KLR", "", id="plate-beside-a-car"),
    pytest.param("ID 12345678Z", "12345678Z", "", id="id-of-a-person"),
    pytest.param("GRANT SELECT TO 'marl'@'10.0.4.%'", "10.0.4.%", "", id="ip-of-a-network"),
    pytest.param("(07).4465.0992", "(07).4465.0992", "", id="phone-with-points"),
    pytest.param("xoxb-123456789012-abcdefGHIJ", "xoxb-123456789012-abcdefGHIJ", "", id="token"),
    pytest.param("van der Meulen, Saskia", "van der Meulen, Saskia", "Member", id="particles-before-turned-name"),
    pytest.param("Freiherr von und zu Trott, Ansgar", "Freiherr von und zu Trott, Ansgar", "", id="noble-turned-name"),
    pytest.param("O'SHAUGHNESSY, Cornelius", "O'SHAUGHNESSY, Cornelius", "", id="shouted-turned-name"),
    pytest.param("Jan & Mieke de Wit", "Mieke de Wit", "Guest", id="word-behind-a-particle"),
    pytest.param("Mme d'Aubigny arrive demain", "d'Aubigny", "", id="title-and-apostrophe"),
    pytest.param("Tell Mr & Mrs Quellmalz", "Quellmalz", "", id="couple"),
    pytest.param("1. P. Vandenbroucke 2:43:55", "P. Vandenbroucke", "", id="initial-and-unknown-name"),
    pytest.param("The Pemberton family gave £25", "Pemberton", "", id="family-of-a-name"),
    pytest.param("Tore: Schlüter (7/2), Bjerregaard (4), Ó Conaill (3)", "Bjerregaard", "", id="scorers"),
    pytest.param("Remiro; Elustondo, Le Normand", "Elustondo", "Alineación", id="line-up-by-hint"),
    pytest.param("R v Featherstonehaugh", "Featherstonehaugh", "", id="case-at-court"),
    pytest.param("Zephyrinia invited you to a board", "Zephyrinia", "", id="who-did-it"),
    pytest.param("customer: leah goldfarb, order 5519", "leah goldfarb", "", id="label-and-name-without-capitals"),
    pytest.param("Frühstück: Wanda", "Wanda", "", id="given-name-behind-a-label"),
    pytest.param("Coffee by Ken & Joyce", "Ken", "", id="given-names-joined"),
    pytest.param("Quellmann/Brinkmann", "Quellmann/Brinkmann", "", id="pair-in-a-cell"),
    pytest.param("DELACOURT", "DELACOURT", "Bailleur", id="landlord-by-hint"),
    pytest.param("Bronagh Quillfeather", "Bronagh Quillfeather", "Case officer", id="officer-by-hint"),
    pytest.param(
        "The Old Forge, Church Street, Wedmore",
        "The Old Forge, Church Street, Wedmore",
        "Address",
        id="house-with-a-name",
    ),
    pytest.param(
        "Bât. C, 3e étage, code 14A", "Bât. C, 3e étage, code 14A", "Complément", id="second-line-of-an-address"
    ),
    pytest.param("Hinterhaus, 3. OG rechts", "Hinterhaus, 3. OG rechts", "", id="floor-and-door"),
    pytest.param("Travessa São Judas, s/n", "Travessa São Judas, s/n", "", id="street-without-number"),
    pytest.param("Lake Brynmoor", "Lake Brynmoor", "City", id="town-that-begins-with-an-ordinary-word"),
    pytest.param("Ann Taylor", "Ann Taylor", "Name", id="somebody-of-a-firms-name"),
    pytest.param("Jo Hill (spouse) 01632 960555", "Jo Hill", "Emergency contact", id="name-and-more-under-a-label"),
    pytest.param("19780412", "19780412", "Bank account", id="account-that-could-be-a-day"),
    pytest.param("14:45 Call Rebecca", "Rebecca", "", id="whom-a-calendar-says-to-call"),
    pytest.param("Mark from customer service was kind.", "Mark", "", id="staff-by-an-ordinary-word"),
    pytest.param("Dr. Hare", "Hare", "", id="title-and-an-ordinary-word"),
    pytest.param("what's the wifi password? river!45", "river!45", "", id="password-behind-a-question"),
    pytest.param("Passwort zurückgesetzt auf x7HEek9Z$_", "x7HEek9Z$_", "", id="password-set-to"),
    pytest.param("Login is lcain / x7HEek9Z$_", "x7HEek9Z$_", "", id="password-of-a-pair"),
    pytest.param("her partner (+61 8 5550 3186)", "+61 8 5550 3186", "", id="phone-in-brackets"),
    pytest.param("Versichertenkarte (Nr. K686437317)", "K686437317", "", id="number-in-brackets"),
    pytest.param("Falsches Kennwort für hwiesen", "hwiesen", "", id="account-in-a-german-log"),
    pytest.param("la contraseña k)9W3z(wHC8M ya no vale", "k)9W3z(wHC8M", "", id="brackets-in-a-password"),
    pytest.param("le wifi chez moi c'est k^5NZ)GdE0", "k^5NZ)GdE0", "", id="password-of-a-network-fr"),
    pytest.param("Mathilde : on se voit demain ?", "Mathilde", "", id="speaker-with-a-space-before-the-colon"),
    pytest.param("Dossier patient n° 4062792, suite", "4062792", "", id="patient-number-fr"),
    pytest.param("Reseña de Zorrin Quevelar · 7 de mayo de 2026", "Zorrin Quevelar", "", id="review-of"),
    pytest.param("auto targata JM898IP", "JM898IP", "", id="plate-it"),
    pytest.param("Avisar a Zorrin (zorrin.k@example.test)", "Zorrin", "", id="given-name-and-its-mail"),
)


@pytest.mark.parametrize(("text", "private", "hint"), PRIVATE)
def test_private_details_are_found_whole(engine: Engine, text: str, private: str, hint: str) -> None:
    assert left(engine, text, private, hint) == []


HARMLESS = (  # text, hint
    pytest.param("Order 304-1234567-1234567 of 2026-11-30 for $1,234.56", "", id="order"),
    pytest.param("ISBN 978-3-16-148410-0 / EAN 4006381333931", "", id="articles"),
    pytest.param("2138,43 € · 4048579800603", "", id="ean-that-passes-luhn"),
    pytest.param("Visa •••• 4242", "Card", id="masked-card"),
    pytest.param("Tracking 1Z999AA10123456784", "", id="tracking"),
    pytest.param("v131.0.6778.85, Node 20.11.1, firmware 10.0.19.45", "", id="versions"),
    pytest.param("Mon–Fri 9:00–17:30, closed 24/12/2026", "", id="opening-hours"),
    pytest.param("Crowds filled Piazza San Marco at 23:24.", "", id="landmark-and-time"),
    pytest.param("We walked along Baker Street and over Tower Bridge.", "", id="street-without-number"),
    pytest.param("12345 items sold, 10000 Steps, 5000 Points", "", id="counts"),
    pytest.param("Levi Strauss 501 Original jeans", "", id="brand-like-a-name"),
    pytest.param("Calvin Klein T-shirt, May edition, Paris blue", "", id="brand-month-town"),
    pytest.param("Samsung Galaxy S24 Ultra 256 GB", "", id="product"),
    pytest.param("Garmin Forerunner 265", "", id="maker"),
    pytest.param("Marks & Spencer and Fisher & Paykel", "", id="firms-with-and"),
    pytest.param("Acme Holdings GmbH", "Customer", id="firm-in-a-customers-column"),
    pytest.param("Morgan Stanley", "", id="bank"),
    pytest.param("Madame Bovary", "", id="work"),
    pytest.param("From: Berlin", "", id="town"),
    pytest.param("Account holder", "", id="heading"),
    pytest.param("IBAN:\nAddress:\nTotal:", "", id="headings"),
    pytest.param("Dear Customer, thank you.", "", id="greeting-without-name"),
    pytest.param("commit 3f786850e387550fdab836ed7e6dc881de23001b", "", id="commit"),
    pytest.param("@media print { @page } @Override @types/node", "", id="at-signs-in-code"),
    pytest.param("My account\nWindsor Copper Kettle 1.7 l", "", id="menu-above-goods"),
    pytest.param("Tel. 617-555-0121\nThank you! Open 8:00-22:00"[18:], "", id="line-below-a-phone"),
    pytest.param("Total", "Name", id="sum-row"),
    pytest.param("Manchester United 2 – 1 Aston Villa", "", id="score"),
    pytest.param("Chapter 12 The Long Road", "", id="chapter"),
    pytest.param("Baker Hughes", "Company", id="firm-in-a-firms-column"),
    pytest.param("Romeo und Julia", "", id="work-of-two-names"),
    pytest.param("Brandenburger Tor", "", id="landmark-de"),
    pytest.param("Trinidad and Tobago", "", id="country-of-two"),
    pytest.param("Beef Wellington, Sacher Torte", "", id="dishes"),
    pytest.param("Jefe de Proyecto", "", id="job-es"),
    pytest.param("Elisabeth.pdf", "", id="file-with-a-name"),
    pytest.param("Herman Miller Aeron Chair", "", id="goods-of-a-make-like-a-name"),
    pytest.param("10 februari 2026", "Billing Address", id="date-under-a-heading"),
    pytest.param("13:11 Dentist, Moleskine Cahier", "Shipping Information", id="time-under-a-heading"),
    pytest.param("6,398 followers · 6,697 posts", "Delivery Options", id="counts-under-a-heading"),
    pytest.param("Order", "Bread knife, beech handle", id="goods-as-a-heading"),
    pytest.param("report-final.pdf", "Name", id="file-under-name"),
    pytest.param("Changed 3 months ago", "Password", id="remark-under-password"),
    pytest.param("Norsk bokmål", "Language", id="language"),
    pytest.param("M5.6 2.3 1.6-1.3 1.6-3.9 5.6 2.3z", "", id="points-of-a-drawing"),
    pytest.param("// Handle browser back\nwindow.addEventListener(x)", "", id="verb-that-is-a-label"),
    pytest.param("12.50", "Phone", id="price-under-phone"),
    pytest.param("Philips Series 7000 Shaver 1903,97 kr", "", id="model-number-and-price"),
    pytest.param("Company number 04512233. Terms of Service · Privacy Policy", "", id="footer"),
    pytest.param("UPS 1Z 999 AA1 01 2345 6784", "", id="tracking-in-groups"),
    pytest.param("Sum 555 867 530, elapsed: 1234567890 ns", "", id="sums-like-phones"),
    pytest.param("Birthday party on 12.06.2024", "", id="party"),
    pytest.param("token limit 128000, password policy: minimum 12", "", id="credential-words"),
    pytest.param("discount code SAVE-20, error code 4040", "", id="codes"),
    pytest.param("1234567890", "Bytes", id="count-by-hint"),
    pytest.param("8841-207-33", "Part no.", id="part"),
    pytest.param("750000523", "N° FINESS", id="number-of-another-kind"),
    pytest.param("1,204,882", "Tokens used", id="tokens-used"),
    pytest.param("2026-01-14", "Last password reset", id="day-of-a-reset"),
    pytest.param("date,open,last\n2026-02-10,12.4,12.6", "", id="columns-of-numbers"),
    pytest.param("Access denied for security reasons, created by default", "", id="words-where-accounts-stand"),
    pytest.param("Message-ID: <20260211.0814.4471@lists.example>", "", id="message-id"),
    pytest.param("uid=1001 gid=1001", "", id="number-of-an-account"),
    pytest.param("BMW M-340 and VW T-6 may park here", "", id="models-of-cars"),
    pytest.param("door: 2040 x 826 mm, 88 %", "", id="door-of-a-size"),
    pytest.param("2012", "Driving licence since", id="year-under-licence"),
    pytest.param("00:00:00:00:00:01 elapsed 1:02:03"[26:], "", id="elapsed"),
    pytest.param("Kestrel Gravel Frame, size 54, Marlin Blue", "Item", id="goods-of-a-column"),
    pytest.param("Opel Adam", "Fahrzeug", id="car-of-a-column"),
    pytest.param("Rocky", "Mascota", id="pet-of-a-column"),
    pytest.param("Rebecca", "Reading book", id="book-of-a-column"),
    pytest.param("Material: Arri Alexa", "", id="goods-behind-their-head"),
    pytest.param("TSV Bayer Dormagen – VfL Eintracht Hagen 28:27", "", id="clubs"),
    pytest.param("El Rincón de Lola", "", id="inn-with-a-name"),
    pytest.param("Storm Brendan hits Cornwall", "", id="storm"),
    pytest.param("Olivia Burton watches from £90", "", id="goods-in-small-letters"),
    pytest.param("Ibuprofen 600, Voltaren Salbe", "", id="medicines"),
    pytest.param("Sir Walter Scott Way", "", id="street-of-a-title"),
    pytest.param("Oral-B, Corsodyl", "", id="makes-with-a-comma"),
    pytest.param("Thank you for riding with Hollow Lane Cycles", "", id="trade-behind-a-name"),
    pytest.param("Fundación Telefónica", "Socio", id="institution-under-members"),
    pytest.param("Jenkins approved this build", "", id="machine-that-acts"),
    pytest.param("2026-09-23", "Last login", id="day-of-a-login"),
    pytest.param("Buchungsnummer 435481", "", id="booking-number"),
    pytest.param("Chapman, Hughes and Walker", "", id="firm-of-family-names"),
    pytest.param("Mathematiker", "Stelle", id="job"),
    pytest.param("Según nuestros datos, llame a su banco", "", id="first-word-and-su"),
    pytest.param("Livrée", "Statut", id="state-fr"),
    pytest.param("Producción", "Nombre", id="environment-es"),
    pytest.param("Hélène Morin S.A.S.", "", id="firm-with-points"),
    pytest.param("Salud Total", "Aseguradora", id="insurer-es"),
    pytest.param("Ministerio del Interior", "Emitido por", id="institution-that-issues"),
)


@pytest.mark.parametrize(("text", "hint"), HARMLESS)
def test_harmless_text_stays(engine: Engine, text: str, hint: str) -> None:
    assert covered(engine, text, hint) == text


def test_a_name_is_found_again_in_the_rest_of_the_page_and_words_are_not(engine: Engine) -> None:
    texts = [
        Text("Kunde: Ottokar Wiesengrund"),
        Text("wiesengrund wiese"),
        Text("Wiesengrund's order"),
        Text("Ottokar?"),
    ]
    found = engine.find(texts)
    assert [[text.text[one.start : one.end] for one in finds] for text, finds in zip(texts, found, strict=True)] == [
        ["Ottokar Wiesengrund"],
        [],
        ["Wiesengrund"],
        ["Ottokar"],
    ]
    assert engine.find([Text("Wiesengrund's order")]) == engine.find([Text("Wiesengrund's order")])


def test_the_rest_of_a_column_of_names_is_found_and_of_a_mixed_column_is_not(engine: Engine) -> None:
    names = [Text(name, "Engineer") for name in ("Anna Fuchs", "Jorge Ramírez", "Hwang Bo-ram")]
    assert [bool(found) for found in engine.find(names)] == [True] * 3
    mixed = [Text(name, "Entry") for name in ("Anna Fuchs", "Jorge Ramírez", "Hwang Bo-ram", "Quavell Holdings")]
    assert [bool(found) for found in engine.find(mixed)] == [True, True, False, False]


def test_the_account_of_a_found_name_or_mail_is_found_again(engine: Engine) -> None:
    texts = [
        Text("Kunde: Tomasin Quarrelbock"),
        Text("zorbanax@example.test"),
        Text("tquarrelbock, zorbanax, quixotry"),
    ]
    found = engine.find(texts)[2]
    assert [texts[2].text[one.start : one.end] for one in found] == ["tquarrelbock", "zorbanax"]
    assert engine.find(texts[2:]) == [[]]


def test_an_account_is_found_again_in_the_rest_of_the_page_and_a_maker_is_not(engine: Engine) -> None:
    texts = [Text("Signed in as marlpit"), Text("marlpit"), Text("samsung", hint="Username"), Text("samsung")]
    found = engine.find(texts)
    assert [[one.type for one in each] for each in found[:2]] == [["USERNAME"], ["USERNAME"]]
    assert [len(each) for each in found[2:]] == [1, 0]


def test_a_name_that_is_a_word_is_not_looked_for_again(engine: Engine) -> None:
    found = engine.find([Text("Patient: Harold Summer"), Text("Summer sale"), Text("Harold")])
    assert [len(finds) for finds in found] == [1, 0, 1]


def test_spans_are_of_the_text_as_it_was_given(engine: Engine) -> None:
    text = "Mail:\u00a0o\u200bda\u00ad@example.test\u200b, Tel.\u2009+49\u201130\u2011901820"
    found = engine.find([Text(text)])[0]
    assert {one.type: text[one.start : one.end] for one in found} == {
        "EMAIL": "o\u200bda\u00ad@example.test\u200b",
        "PHONE": "+49\u201130\u2011901820",
    }


def test_the_value_under_its_label_is_found_and_the_label_is_not(engine: Engine) -> None:
    text = "Ship to\nTom Riddle\n4 Privet Drive\nLittle Whinging\nGU3 9XX\nUnited Kingdom\nTotal\n£12.00"
    shown = covered(engine, text).replace("_", "").split("\n")
    assert shown[0] == "Ship to"
    assert shown[-2:] == ["Total", "£12.00"]
    assert left(engine, text, "Tom Riddle\n4 Privet Drive\nLittle Whinging\nGU3 9XX") == []
