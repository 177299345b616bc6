"""Invented people's names, streets and towns by language, and words of goods and firms; no list of anybody else's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


def words(text: str) -> tuple[str, ...]:
    """What is between blanks."""
    return tuple(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """What is between bars."""
    return tuple(text.split("|"))


LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "sv", "pl")


@dataclass(frozen=True, slots=True)
class Place:
    """How a language spells where somebody lives: streets without numbers, towns with their postcodes."""

    streets: tuple[str, ...]
    towns: tuple[str, ...]
    street: str
    whole: str


GIVEN: Mapping[str, tuple[str, ...]] = {
    "en": words(
        "Abigail Alastair Bethany Callum Darcy Dwayne Eleanor Ewan Frances Gareth Harriet Imogen Jerome Keisha Lachlan "
        "Marcus Nadine Oscar Penelope Quentin Rosemary Stuart Tabitha Vaughn Winifred Xavier Yolanda Zachary Aisha "
        "Dmitri Mei-Ling Rajesh Chinwe Tariq"
    ),
    "de": words(
        "Annegret Bernd Clemens Dorothea Eberhard Friederike Gisela Heiko Ilse Jannik Karsten Liselotte Manfred Nele "
        "Ottmar Petra Ruprecht Sieglinde Thorsten Ulrike Volker Waltraud Björn Jörg Käthe Günther Ayşe Mehmet"
    ),
    "es": words(
        "Amparo Baltasar Consuelo Domingo Encarnación Fermín Graciela Herminia Ignacio Jacinta Leandro Maribel Nicanor "
        "Obdulia Pascual Remedios Salvador Trinidad Úrsula Vicenta Joaquín Begoña Asunción Iñaki"
    ),
    "fr": words(
        "Amélie Baptiste Capucine Didier Édouard Florence Gaspard Hortense Isabeau Jacques Léontine Maxence Noémie "
        "Odile Pascal Quitterie Rémi Solène Thibault Violette Yannick Zélie Aminata Karim"
    ),
    "it": words(
        "Achille Benedetta Carmelo Donatella Ettore Fiammetta Giancarlo Ilaria Loredana Massimo Nicoletta Ottavio "
        "Pierluigi Rosalba Settimio Tiziana Ubaldo Valentina Zeno Mariangela Calogero Ornella"
    ),
    "nl": words(
        "Aaltje Bastiaan Claartje Dirk Elske Floris Geertje Hidde Ingeborg Jelle Karlijn Lodewijk Machteld Niek Okke "
        "Pleun Roelof Sietske Teunis Veerle Wouter Yentl Zwaantje Joost"
    ),
    "sv": words(
        "Agneta Birger Cajsa Dag Elof Frideborg Göran Hjördis Inge Jerker Kerstin Linnéa Måns Nanna Ove Pernilla "
        "Ragnar Siv Torbjörn Ulla Valborg Yngve Åsa Östen"
    ),
    "pl": words(
        "Agnieszka Bogdan Czesława Dariusz Elżbieta Franciszek Grażyna Hubert Iwona Jacek Krystyna Leszek Małgorzata "
        "Norbert Oliwia Przemysław Radosław Stanisława Tadeusz Urszula Wojciech Zbigniew Łukasz Żaneta"
    ),
}
FAMILY: Mapping[str, tuple[str, ...]] = {
    "en": words(
        "Ashdown Birtwistle Cavanagh Drummond Eastwood-Pike Fothergill Galbraith Hathersage Inglesby Jessop Kirkbride "
        "Lethbridge Mortlock Nethercott O'Halloran Pettigrew Quarmby Ravenscroft Satterthwaite Thistlewood Underhill "
        "Venables Wolstenholme Yardley Chaudhry Nwosu Takahashi Delgado Kowalczyk Brody"
    ),
    "de": words(
        "Aschenbrenner Bachmeier Claußen Dörfler Ehrhardt Fröschl Großkopf Hirschfeld Immenhof Jungnickel Kettelhake "
        "Lindwurm Mohnhaupt Niehoff Oelschläger Pfannenstiel Querfurth Rübsam Schwarzkopf Töpfer Uhlenbrock Vogelsang "
        "Wiedenhöft Zuckschwerdt Demir Kaya"
    ),
    "es": words(
        "Alcorta Bermúdez Carrasquilla Duarte Escudero Fuenmayor Goicoechea Hinojosa Izquierdo Jurado Labrador "
        "Manrique Navascués Olmedilla Pedraza Quiñones Redondo Sepúlveda Torquemada Urrutia Valdivieso Zaldívar"
    ),
    "fr": words(
        "Aubertin Beauregard Charpentier Desrosiers Estienne Fauconnier Guillemot Hautecœur Jolivet Kerbrat Lachenal "
        "Montfleury Nicollet Ollivier Pruvost Quémeneur Rochebrune Sauvageot Thévenet Vaillancourt Traoré"
    ),
    "it": words(
        "Accardi Bertolucci Castelnuovo Dell'Acqua Evangelisti Fumagalli Guarnieri Imperiale Lucchesi Mastrangelo "
        "Nespolo Orsenigo Pappalardo Quattrocchi Ruggieri Santangelo Tagliabue Ughetti Vinciguerra Zambrotta"
    ),
    "nl": (
        *words(
            "Aartsen Bakhuis Doornbos Elzinga Fokkema Groeneveld Hoekstra Jongbloed Kuipers Loonstra Middelkoop "
            "Noordhof Oosterhuis Postma Rietveld Schaafsma Terpstra Uiterwijk Wiersma Zandstra"
        ),
        "van den Heuvel",
        "de Groot",
        "van der Linden",
    ),
    "sv": words(
        "Ahlqvist Bergendahl Cederlund Dahlström Ekengren Forssell Granath Hedenius Isaksson Josefsson Kullgren "
        "Lagerkvist Malmborg Nordenskjöld Oxelgren Palmqvist Rosenblad Sjögren Tornberg Wallenius Åkerblom Öhman"
    ),
    "pl": words(
        "Adamczewski Bielawski Chmielarz Drozdowicz Fijałkowski Gromadzki Iwaszkiewicz Jabłoński Kaczorek Lewicki "
        "Maciejowski Niedźwiedzki Ostaszewski Piątkowski Rogoziński Świderski Turzyniecki Wąsik Zawistowski Żurek"
    ),
}
PLACES: Mapping[str, Place] = {
    "en": Place(
        phrases(
            "Juniper Hollow Road|Cobbler's Row|Mill Race Lane|Fenwick Avenue|Larkspur Drive|Old Quarry Street|"
            "Pemberley Close|Saddlers Way|Tollgate Crescent|Westmoreland Place|Beacon Hill|Copperfield Court"
        ),
        phrases(
            "Harlow, NH 03755|Eastbrook, OR 97201|Millbrae, CA 94030|Cedar Falls, IA 50613|Norwich NR2 4SZ|"
            "Durham DH1 3LE|Bristol BS8 1TH|Ayr KA7 1UG"
        ),
        "{number} {street}",
        "{number} {street}, {town}",
    ),
    "de": Place(
        phrases(
            "Amselweg|Brückenstraße|Carl-Orff-Ring|Dornbuschgasse|Am Eichenhain|Fliederstr.|Gartenweg|Hinter der Mauer|"
            "Im Wiesengrund|Kastanienallee|Lindenplatz|Unterer Mühlenweg"
        ),
        phrases(
            "04107 Leipzig|18055 Rostock|34117 Kassel|44135 Dortmund|55116 Mainz|70173 Stuttgart|88045 Friedrichshafen|"
            "99084 Erfurt"
        ),
        "{street} {number}",
        "{street} {number}, {town}",
    ),
    "es": Place(
        phrases(
            "Calle del Olivar|Avenida de los Almendros|Plaza de San Telmo|Paseo de la Ribera|C/ Mesones|"
            "Camino Viejo|Ronda de Toledo|Travesía del Horno|Carrer de la Lluna|Calle Juan de Mena"
        ),
        phrases("37001 Salamanca|46003 Valencia|15001 A Coruña|29015 Málaga|50003 Zaragoza|08001 Barcelona"),
        "{street}, {number}",
        "{street}, {number}, {town}",
    ),
    "fr": Place(
        phrases(
            "rue des Tanneurs|avenue du Général Leclerc|boulevard Voltaire|impasse des Lilas|chemin du Moulin|"
            "place de la Fontaine|quai des Célestins|allée des Marronniers|rue de l'Église|cours Mirabeau"
        ),
        phrases("69002 Lyon|35000 Rennes|13100 Aix-en-Provence|67000 Strasbourg|59800 Lille|21000 Dijon"),
        "{number} {street}",
        "{number} {street}, {town}",
    ),
    "it": Place(
        phrases(
            "Via dei Mille|Corso Garibaldi|Piazza del Duomo|Viale Trento|Vicolo Stretto|Via San Martino|Largo Augusto|"
            "Via Monte Grappa|Lungarno Pacinotti"
        ),
        phrases("40121 Bologna|10122 Torino|35139 Padova PD|90133 Palermo|06121 Perugia PG|34121 Trieste"),
        "{street} {number}",
        "{street} {number}, {town}",
    ),
    "nl": Place(
        phrases(
            "Kerkstraat|Molenweg|Prinsengracht|Dorpsplein|Lange Voorhout|Zonnebloemlaan|Oude Vest|Havenkade|"
            "Burgemeester Reigerstraat|Beukenlaan"
        ),
        phrases("3511 LN Utrecht|9712 HV Groningen|6211 CK Maastricht|2312 GB Leiden|8011 PK Zwolle"),
        "{street} {number}",
        "{street} {number}, {town}",
    ),
    "sv": Place(
        phrases(
            "Björkvägen|Storgatan|Kungsholms strand|Skolgränd|Norra Hamngatan|Ekbacken|Vasagatan|Lillåvägen|"
            "Prästgårdsvägen|Sankt Eriks torg"
        ),
        phrases("753 20 Uppsala|411 06 Göteborg|903 26 Umeå|582 24 Linköping|211 34 Malmö"),
        "{street} {number}",
        "{street} {number}, {town}",
    ),
    "pl": Place(
        phrases(
            "ul. Krótka|ul. Mickiewicza|al. Niepodległości|ul. Świętego Marcina|pl. Wolności|ul. Ogrodowa|"
            "os. Słoneczne|ul. Długa|ul. Wiśniowa"
        ),
        phrases("31-042 Kraków|50-101 Wrocław|61-806 Poznań|80-831 Gdańsk|20-109 Lublin"),
        "{street} {number}",
        "{street} {number}, {town}",
    ),
}
# Names of goods, firms, works and places that read like people, and those that do not.
PRODUCTS = phrases(
    "Marlowe Leather Satchel|Hudson Oak Side Table|Philips Series 7000 Shaver|Dyson V15 Detect|Kindle Paperwhite|"
    "Calvin Klein Slim Fit Jeans|Levi Strauss Trucker Jacket|Yves Rocher Shampoo|Jack Wolfskin Backpack|"
    "Paul Smith Mug|Mary Jane Shoes|Jimmy Choo Eau de Parfum|Ralph Lauren Polo Shirt|Earl Grey Loose Tea|"
    "Oliver Peoples Frames|Uncle Ben's Basmati|Victoria Sponge Kit|Chesterfield Sofa|Lazy Susan, Bamboo|"
    "Makita Cordless Drill|Bosch Serie 6|Garmin Forerunner 265|Nintendo Switch OLED|Lego Technic Crane|"
    "Stanley Thermos 1 L|Morphy Richards Kettle|Kenwood Stand Mixer|Charlotte Tilbury Lipstick|Ben Sherman Shirt|"
    "Jamie Oliver Frying Pan|Logitech MX Keys|Sennheiser Momentum 4|Canon EOS R8|Weber Kettle Grill|Moleskine Cahier|"
    "Tommy Hilfiger Belt|Hugo Boss Suit|Christian Dior Sauvage|Harry Winston Watch|Johnny Walker Black"
)
FIRMS = phrases(
    "Rolls-Royce Holdings|Deutsche Bahn AG|Marks & Spencer|Goldman Sachs|Banco Santander|Crédit Agricole|"
    "Hewlett Packard Enterprise|Procter & Gamble|Ernst & Young|Albert Heijn|Peek & Cloppenburg|Carl Zeiss AG|"
    "Nordea Bank Abp|Thomas Cook|Morgan Stanley|Penguin Random House|Northwind Traders|Contoso Ltd|Fabrikam Inc.|"
    "Lidl Stiftung & Co. KG|Telecom Italia|Zurich Insurance Group|Fisher & Paykel|Abercrombie & Fitch"
)
WORKS = phrases(
    "Jane Eyre|The Great Gatsby|Oliver Twist|Robinson Crusoe|Madame Bovary|Anna Karenina|Don Quixote|"
    "Moby Dick|Northanger Abbey|Sherlock: The Abominable Bride|Peter Pan|Mary Poppins Returns|Harry Potter Box Set|"
    "Doctor Zhivago|The Count of Monte Cristo|Wuthering Heights"
)
LANDMARKS = phrases(
    "Oxford Street|Times Square|Unter den Linden|Champs-Élysées|Madison Square Garden|Gran Vía|Piazza San Marco|"
    "Hyde Park|Lake Victoria|Prince Edward Island|St. James's Park|Alexanderplatz|Mount Washington|Plaza Mayor"
)
HEADINGS = phrases(
    "Account Settings|Order Summary|Shipping Information|Payment Method|Billing Address|Customer Service|"
    "Frequently Asked Questions|Terms of Service|Your Recent Activity|Contact Details|Delivery Options|"
    "Privacy Policy|Save Changes|Sign Out|Add New Card|Personal Information|Security Settings|Help Center"
)
