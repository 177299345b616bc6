"""Words that stand beside private details, in many languages: what type a label promises, and what it rules out."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from host.core.pii import scripts

# Folded: lower case, no accents, ss for sharp s, "_" and "-" as spaces, camelCase split. A leading "=" asks that the
# label is nothing else. Order matters where one label has words of two types: the first that fits the value wins.
_WORDS: dict[str, str] = {
    "EMAIL": (
        "e ?mails?|mail address|mailadresse|correos?|correo electronico|courriel|adresse electronique|=mail"
        "|posta elettronica|e ?post|sahkoposti|e ?posta|replies? to|antwort an|mailto"
    ),
    "PHONE": (
        r"(?:tele)?phones?|tel|=ph|=mob|(?:work|home|office|emergency|daytime|evening|sms) (?:number|no)|telefon\w*"
        r"|telephone|mobiles?|cell(?:phone)?|landline|fax|whatsapp|telefon(?:o|e|nummer)?"
        "|telefonos?|telefono|handy(?:nummer)?|mobil(?:nummer|telefon|e)?|rufnummer|festnetz|movil|celular"
        "|portable|gsm|cellulare|telefoon(?:nummer)?|mobiel|telemovel|telemovil|komorka|komorkowy|numer telefonu"
        "|puhelin|cep(?: telefonu)?|contact (?:no|number)|call(?:back| back)?|phone number|=sms|ruckruf|durchwahl"
        "|hotline des kunden|erreichbar|recapito|llamar a|=m|=t|telefax|telf|tfno|tlf|matkapuhelin|mobilni"
        "|telefonszam|telefonas"
        r"|mobilfunk\w*|(?:reach|text|call|ring) me"
    ),
    "DATE_OF_BIRTH": (
        "birth ?(?:day|date)?|date of birth|d ?o ?b|born|bday|geburts(?:datum|tag|ort)?|geboren|geb(?: datum)?"
        r"|nacimiento|(?:f|fecha|fec) (?:de )?nac\w*|d nasc|data ur|=ur|nacid[oa]|naissance|nee? le|ne e le|ne en"
        r"|nee en|date naiss\w*"
        r"|nascita|nat[oa] il"
        r"|data di nascita|geboorte(?:datum)?|nascimento|nascid[oa]|data urodzenia|urodz\w*|fodd|fodelse(?:datum"
        r"|dag)|fodsels(?:dato|dag)|syntyma\w*|dogum(?: tarihi)?|narozen\w*"
        r"|datum narozeni|szuletes\w*|szuletett|data nasterii|nascut\w*|datum rodenja|roden\w*|anniversaire"
        r"|cumpleanos|verjaardag|urodziny"
        r"|=fn|=ddn|data nasc"
    ),
    "NATIONAL_ID": (
        r"ssn|social security(?: number| no)?|soc sec|national (?:id|insurance|identity)\w*|nino|ni number"
        "|id ?card|identity (?:card|number|no|document)|dni|nie|nif(?! de)|cedula|curp|documento(?: de identidad"
        r"| nacional)?|personalausweis\w*|ausweis\w*|sozialvers\w*|rentenvers\w*|sv nummer"
        "|versicherungsnummer|numero de securite sociale|securite sociale|secu|=nir|insee|=nss|seg social|=perso"
        "|carte (?:nationale )?d identite"
        "|carte d identite|=cni"
        r"|codice fiscale|c f|=cf|cod fisc\w*|carta d identita|bsn|burgerservice\w*|rijksregister\w*|personnummer"
        "|ni no|=nin|sv nummer|rv nummer|ahv ?nummer|persono?nummer|perso ?nummer|fodselsnummer|cpr|henkilotunnus"
        "|pesel|dowod osobisty|(?:numer|nr) dowodu|niss|cpf|=rg|=ahv|=avs|aadhaar|kimlik(?: no)?"
        r"|tckn|=sin|identification (?:no|number)|seguridad social|=bi|cartao de cidadao|legitimation\w*"
        r"|(?:personal|citizen|government|resident) id|id (?:no|number)|nric|fin no|hk ?id(?: card)?|emirates id|iqama"
        r"|cuil|rut|kennitala|oib|jmbg|emso|cnp|pps ?n?(?: no| number)?|svnr|egn|asmens kodas|isikukood"
        r"|personas kods|rodne cislo|taj(?: szam)?|szemelyi szam|nik|mykad|my number|green card|residence permit"
        r"|aufenthaltstitel|tarjeta de residencia|titre de sejour|permesso di soggiorno|amka"
        r"|known travell?er(?: number| no)?|redress (?:no|number)|document (?:no|number|id)|dokument(?:en)?nummer"
        r"|(?:numero|n o|no) (?:de |del )?document[oe]?|documento n\w*"
        r"|alien (?:registration )?(?:no|number)|uscis(?: no| number)?|krankenversicherung\w*"
        r"|forsakringskassa|steuer id"
        r"|nat ins|personal (?:number|code)|=identifikationsnummer|piece d identite|identiteitskaart|id ?nummer"
        r"|personbeteckning|(?:numero )?do bi|numero de identificac\w+"
    ),
    "TAX_ID": (
        r"tax ?(?:payer)?(?: id\w*| no| number| file number)|=tin|=itin|=ein|=utr|steuer ?(?:id\w*|nummer|nr"
        r"|identifikationsnummer)|idnr|=tfn|=pan|pan card|pan number|pan no|numero (?:d identification )?fiscal\w*"
        r"|identificacion fiscal"
        "|numero fiscal de reference|=spi|=rfc|st ?nr|=nip|skattenummer|skatte ?id|belastingnummer|sofinummer"
        "|numero contribuable|numero d identification fiscale|numer identyfikacji podatkowej|verokortti"
        r"|contribuinte|partita iva|vat(?: reg\w*)?(?: no| number| id)|vergi (?:no|numarasi)|btw(?: nummer)?|cnpj"
        r"|cuit|=gst|gstin|=abn|ird(?: no| number)?|ust ?id ?(?:nr|nummer)?|umsatzsteuer\w*|mwst nr"
        r"|tva intracommunautaire"
        r"|numero (?:de )?tva|siren|siret|tax ref\w*|=tva|=moms|momsnummer|cvr|organisationsnummer|orgnr|=dic|=ico"
        "|=inn|afm|cif|adoszam|unique taxpayer reference|employer identification number"
    ),
    "PASSPORT": (
        r"passport\w*|passnummer|pass nr|pas(?:poort)? ?nr|reisepass\w*|pass(?: ?nr| ?nummer| no)|pasaporte"
        r"|passeport|passaporto|paspoort\w*|passaporte|paszport\w*|pasaport|passi|travel document|visa (?:no|number)"
        r"|utlevel\w*|cestovni pas|pas (?:no|number)"
    ),
    "DRIVER_LICENSE": (
        r"driv(?:er|ing)\w*(?: s)? (?:licen[cs]e|permit)(?: number| no)?|=license|=licence|=permis|=licencia|=permiso"
        r"|=carnet|dl(?: no| number| #)?|licen[cs]e (?:no"
        r"|number)|fuhrerschein\w*|permiso de conducir|carnet de conducir|licencia de conducir|permis de conduire"
        r"|patente(?: di guida)?|rijbewijs\w*|carta de conducao|cnh|praw[oa] jazdy|driver (?:no|number|id)|fs ?nummer"
        r"|korkort\w*|ehliyet\w*"
        r"|ajokortti|forerkort\w*|korekort\w*|ridicsky prukaz|vezetoi engedely"
        r"|fahrerlaubnis\w*|carne de conducir|numero du permis"
    ),
    "VEHICLE": (
        "licen[cs]e plates?|number plates?|=registration|plate(?: no| number)?|registration(?: no| number| plate)"
        "|reg (?:no"
        r"|plate)|vin|vehicle (?:id\w*|registration|identification number)|kennzeichen|kennz|nummernschild"
        "|fahrgestell ?nummer|chassis ?nummer|fin|matricula|numero de bastidor|bastidor|placa|immat|immatriculation"
        "|plaque|targa|telaio"
        "|kenteken|tablica|(?:numer|nr) rejestracyjny|registreringsnummer|reg ?nummer|(?:truck|car|van|lorry|trailer"
        "|bike|taxi) reg|vrn|=reg|(?:numer |nr )?rej"
        "|regnr|plaka|chassis(?: no| number)?|rego"
        r"|kfz ?kennzeichen|spz|rendszam|rekisterinumero|vehicle reg(?: no)?|car reg\w*|vrm"
        r"|vehicle (?:no|number)|=kfz|fahrzeug ?ident\w*|placas|kenteken\w*|registreringsskylt"
        r"|numero de serie du vehicule"
    ),
    "MEDICAL_ID": (
        "(?:medical|health|patient|insurance|member|policy|policyholder|subscriber|beneficiary|medicare|medicaid"
        "|nhs|hospital|hosp|chart|insured(?: person(?: s)?)?)(?: record| insurance| card)? (?:id|no|number|nr|#)|mrn"
        "|nhs|npi|hicn|mbi|health card"
        r"|insurance (?:id|policy)|kranken(?:vers|kassen)\w*|versicherten\w*"
        "|patient(?:en)?(?:nummer|nr|id)|kv ?nummer|pat ?nummer|egk(?: ?nummer)?|kvnr|vers ?nr|(?:(?:numero|n o|no"
        "|num|n) de )?(?:afiliacion"
        "|afiliado"
        "|asegurado|poliza"
        "|numero de historia)|mutuelle|numero d adherent|numero de securite|forsakrings ?nummer|patientnummer"
        r"|ubezpieczenia|polis(?:a|nummer)|verzekerdennummer|numero (?:di )?assicurat\w*|numero sanitario"
        r"|tarjeta sanitaria|historia clinica|numero (?:de )?historia|numero d assure|allocataire|carte vitale"
        r"|tessera sanitaria"
        r"|polis ?nummer|=nhc|=cip"
        r"|=ipp|=sns|verzekerden\w*|(?:numero )?(?:di )?polizza"
        "|numero de utente|zorgpas|health insurance(?: id| number)|(?:member|subscriber|patient|policy) ?#"
        "|(?:nr|numer) polisy|versicherungsschein(?:nummer|nr)|rx ?bin|rx ?grp|patientennr"
        r"|historia (?:n o|no)|numero (?:de )?patient|ehr id|(?:plan member|health plan|health) id"
        r"|gesundheitskarte|numero adherent|numero tessera|zorgverzekering\w*|pacjenta|numero de beneficiario"
    ),
    "IBAN": "iban|international bank account(?: number)?",
    "BANK_ACCOUNT": (
        "(?:bank |checking |savings |current )?(?:account|acct|a c)(?: number| no| nr)|bank account|=account"
        "|account to (?:debit|credit)|(?:landlord|tenant|payee|refund|payout|salary|payroll|beneficiary|debit|credit"
        "|source|destination|deposit"
        "|rent) account"
        "|(?:bank ?)?konto ?(?:nummer|nr)?|kto|bankverbindung|blz|bankleitzahl|(?:numero de )?cuenta(?: bancaria"
        "| corriente)?|ccc|clabe|(?:numero de )?compte(?: bancaire)?|rib|conto(?: corrente)?|rekening(?:nummer)?"
        "|conta(?: bancaria)?|numer (?:konta|rachunku)|rachunek|rachunku|kontonummer|hesap(?: no)?|sort ?code"
        "|routing(?: number| no)?|aba|bsb|swift(?: ?bic)?|bic|transit(?: number)?|ifsc|debit account"
        r"|sepa mandat\w*|agencia|bank ?giro|plus ?giro|post ?giro|giro ?konto|reg ?nr|kontonr|tilinumero|nib"
        r"|account (?:no|number)|iban ?/ ?account|cislo uctu|szamlaszam|=acc|acc (?:no|number)|=abi|=cab|=cin"
        r"|code banque|code guichet|institution (?:no|number)|branch (?:no|code)|upi(?: id)?|=cbu|=cvu|=pix"
    ),
    "CARD": (
        "(?:credit|debit|payment|bank|gift)? ?cards?(?: number| no| nr)?|cc ?(?:number|num|no|csc|exp)?|=pan"
        r"|kreditkarte\w*|karten?(?:nummer|nr)?|(?:numero de )?tarjeta\w*|(?:numero de )?carte(?: bancaire"
        r"| bleue)?|carta(?: di credito)?|kaart(?:nummer)?|creditcard\w*|cartao|numer karty|karta|kort(?:nummer)?"
        "|kart(?: no)?|visa|mastercard|amex|american express|discover|diners(?: club)?|jcb|union ?pay|maestro|girocard"
        r"|rupay|dankort|bancontact|kortti\w*"
    ),
    "EXPIRY": (
        r"exp(?:iry|ires|iration)?(?: date)?|valid (?:thru|until|through)|good thru|gultig bis|ablauf\w*"
        r"|verfalls\w*|caduc\w*|vencimiento|validez|expire(?: le)?|expiration|scadenza|vervaldatum|geldig tot"
        r"|validade|waznosc\w*|giltig till|cc exp\w*|card exp\w*|son kullanma"
    ),
    "SECRET": (
        r"c ?v ?[cv]\d?|csc|cvn|security (?:code|answer|question|no|number)|card (?:code|verification)\w*|pin(?: ?code"
        r"| number)?|puk|one time (?:code|password|passcode)|otp|2fa(?: code)?|totp\w*|verification code"
        "|prufnummer|prufziffer|sicherheits(?:code|antwort|frage)|codigo de seguridad|code de securite"
        r"|cryptogramme|codice di sicurezza|recovery (?:code|key|phrase)\w*|backup codes?|seed phrase|mnemonic"
        "|mother s maiden name|maiden name|secret answer|geheimzahl|tan|codigo de verificacion|code pin"
        "|nip secreto|respuesta (?:secreta|de seguridad)|reponse secrete|risposta segreta|geheim antwoord"
        "|resposta secreta|geheime antwort|memorable (?:word|place|date|information)|nombre de soltera"
        "|geburtsname der mutter|passcode|unlock (?:code|pattern)|combination|zahlenkombination|combinacion"
        "|combinaison|combinazione|(?:door|gate|alarm|safe|key ?safe|lock ?box|pairing|setup|delivery"
        "|pick ?up|collection|entry|activation|key ?box|room|parcel|release|confirmation pin) code|turcode"
        "|(?:freischalt|aktivierungs|abhol|kopplungs|notfall|offnungs|tresor|alarm)code"
        r"|auth code|lock code|codigo de la puerta|code porte|digicode|code confidentiel|toegangscode|dorrkod|portkod"
        r"|kod (?:dostepu|do drzwi)|codigo de acesso|code d (?:acces|activation|entree)|codigo de (?:activacion"
        r"|recogida|entrada|alarma)"
        "|zugangscode|zugriffscode|bestatigungscode|verifizierungscode|einmal(?:code|passwort|kennwort)|sms code"
        "|codigo (?:de )?(?:acceso|un solo uso|sms|pin)|code (?:de verification|secret|sms|d acces)"
        "|codice (?:otp|pin|di verifica)"
        "|verificatiecode|pincode|pinkod|verifieringskod|kod pin|kod weryfikacyjny|2 ?fa secret|login code|access code"
        "|bekraftelsekode|engangskode|engangskod|codigo de verificacao"
        r"|(?:two factor|authenticator|vault|parking|building|garage|emergency|locker|entrance|house|apartment"
        r"|storage|barrier) code|\w*prufnummer|sicherheitsnummer|\w*(?:tur|tor|garagen|schliessfach)code"
        r"|code (?:de carte|a usage unique|immeuble|alarme|portail|coffre|parking|parent)|codice segreto"
        r"|beveiligingscode|sakerhetskod|codigo de seguranca|codigo del portal|security word"
    ),
    "PASSWORD": (
        r"pass ?(?:word|wd|phrase|code)?s?|pwd|=pw|\w*(?:passwort|kennwort|wachtwoord)|(?:code|codigo|codice) wi ?fi"
        r"|wi ?fi code|contrasena|clave(?! api)|mot de passe|mdp"
        "|wachtwoord|senha|palavra passe|haslo|losenord|adgangskode|passord|salasana|sifre|parola"
        "|current password|new password|heslo|jelszo|lozinka|zaporka|parole|wpa2? key|wi ?fi key|network key"
        "|wlan schlussel|netzwerkschlussel|cle wifi|clave wifi"
        r"|(?:router|wireless|network security) key|(?:wpa2?|wlan|netzwerk) ?schlussel"
    ),
    "KEY": (
        "(?:api|secret|access|private|signing|encryption|license|consumer|master|deploy|ssh|service|account"
        "|project|public|publishable|restricted|live|test|developer|integration)(?: access)? ?keys?(?: id)?"
        "|(?:application|app|product|serial|activation|licen[cs]e) key|geheimer schlussel|cle secrete|clave secreta"
        "|chiave (?:api|segreta)|api ?sleutel|apikey|client secret|webhook secret|app secret|shared secret|secrets?"
        "|credentials?|clave api|cle api"
        "|api schlussel|chave api|webhook url"
    ),
    "TOKEN": (
        r"\w*tokens?|bearer|session ?(?:id|key)?|authorization|jwt|csrf\w*|xsrf\w*|x api key|x auth token"
        "|sid|sessid|jsessionid|phpsessid|jeton|auth code"
    ),
    "COOKIE": "(?:set )?cookies?",
    "CRYPTO": (
        "(?:btc|bitcoin|eth|ethereum|crypto|wallet|xmr|ltc|doge|sol|usdt)(?: wallet)?(?: address)?"
        "|deposit address|wallet"
    ),
    r"IP_ADDRESS": r"ip(?: ?v?[46])?(?: ?addr(?:ess)?e?)?|client ip|remote addr\w*|ip adresse|direccion ip|adresse ip",
    "MAC_ADDRESS": "mac(?: addr(?:ess)?| adresse)?|bssid|ethernet address|hardware address",
    "USERNAME": (
        "(?:db|database|smtp|imap|pop|mail|mysql|pg|postgres|sql|mongo|redis|ldap|ssh|ftp|sftp|http|proxy|auth|api)"
        r" ?(?:user|usr|login)|pguser|nutzername|\w+benutzer|kennung|=alias|=profile|profile name|profilname|gamertag"
        r"|=operator"
        r"|nom de compte|codice (?:titolare|utente)|nombre de cuenta"
        "|nome account|accountnaam|kontonamn|nazwa konta|nazwa uzytkownika|nick|user ?(?:name|id)|usernames?"
        "|login(?: name| id)?|benutzer(?:name|kennung)?|anmeldename|usuario"
        "|nombre de usuario|identifiant|nom d utilisateur|pseudo(?:nyme)?|nome utente|gebruikersnaam|utilizador"
        r"|nome de usuario|uzytkownik\w*|anvandarnamn|brukernavn|kayttaja\w*|kullanici(?: adi)?|account name"
        "|screen name|nick ?(?:name)?|=user|(?:signed|logged) (?:in|on) as|(?:angemeldet|eingeloggt|ingelogd) als"
        "|(?:inloggad|innlogget|logget ind) som|zalogowan[ya] jako|connecte en tant que|sesion iniciada como"
        "|conectado como|accesso come|ea(?: id)?|ubisoft|nintendo(?: id)?|uid|logon|sign in id|felhasznalonev"
        "|prihlasovaci jmeno"
        "|uzivatelske jmeno|kayttajatunnus|brugernavn|psn(?: id)?|xbox(?: live)?"
        "|steam(?: ?id)?|epic(?: games)?(?: id)?|battle ?(?:net|tag)|riot id|origin id|switch friend code|friend code"
        "|minecraft(?: name)?|roblox|twitch|(?:x )?(?:remote|forwarded|effective|run as|logon|x) user|(?:student"
        "|pupil|employee|staff) (?:id|no|number)|matrikel(?:nummer|nr)|personal(?:nummer|nr)|matricule|player (?:id"
        "|tag|name)|line id|wechat(?: id)?|qq"
        r"|account id|benutzerkonto|nutzerkennung|(?:be)?nutzer id|gebruikers id|=profil|=perfil|gaming id|=streamer"
        r"|=actor|=initiator|domain user"
    ),
    "HANDLE": (
        "=handle|user handle|=insta|=ig|=yt|=fb|youtube|vimeo|patreon|vk|xing|behance|pinterest|=handles"
        "|=twitter|twitter handle|instagram|telegram|github(?: user)?|tiktok|mastodon"
        "|x com|social(?: media)?"
        "|skype(?: name)?|discord|snapchat|signal|threads|bluesky|linkedin|facebook"
    ),
    "LOCATION": (
        r"coord\w*|lat(?:itude)?|l(?:on|ng)(?:gitude)?|longitude|gps|geo ?(?:location)?|lat ?l(?:ng|on)"
        "|koordinaten|coordenadas|coordonnees gps|position|breitengrad|langengrad"
        "|latitud|longitud|latitudine|longitudine|breedtegraad|lengtegraad|plus code|what3words|geohash"
    ),
    "ADDRESS": (
        "(?:street |home |mailing |postal |billing |shipping |delivery |work |residential "
        r"|permanent )?address(?:e|es)?(?: line)?(?: ?\d)?|addr|street(?: address| name| line| no| nr| number)"
        "|=street|(?:home|billing|shipping|user|customer|client) (?:city|street|town|zip)|city name"
        "|=strasse und hausnummer|=street 1|=street 2|ship(?:ping|ped)?(?: to)?|deliver(?:y|ed)?(?: to)?"
        "|bill(?:ing|ed)?(?: to)?|mail to|=residence|lives (?:at|in)|living (?:at|in)|home ?town|=city|=town"
        r"|zip(?: ?code)?|post(?:al)? ?code|post ?code|=suburb|=county|po box|anschrift|adresse\w*|\w*anschrift"
        r"|\w*adresse|=strasse|hausnummer|plz|postleitzahl|wohn(?:ort|haft|sitz)\w*|=stadt|(?:liefer|rechnungs)an"
        r"|lieferung(?: an)?|=ort|versand an|senden an|direccion(?: de \w+)?|domicilio|=calle|codigo postal|c ?p"
        "|=ciudad|=localidad|poblacion|enviar a|envio(?: a)?|facturar a|residencia|=rue|code postal|=ville"
        "|livr(?:aison|er)(?: a)?|factur(?:ation|er)(?: a)?|domicile|=lieu|indirizzo|=via|=citta|=cap|=comune"
        r"|spedire a|consegna(?: a)?|residenza|adres\w*|=straat|postcode|woonplaats|=plaats|bezorg\w*|endereco"
        "|morada|=rua|=cidade|=localidade|=cep|=ulica|=miasto|miejscowosc|kod pocztowy|gatuadress|=gata"
        r"|postnummer|=ort|postadress|leveransadress|adresi?|sehir|osoite|address level\d?|address line\d"
        "|=location|pick ?up|drop ?off|=destination|abholort|return to|consignee|=standort|=ubicacion"
    ),
    "PERSON": (
        r"(?:\w+ )*(?:names?|name on card)|surname|fore ?name|first ?name|last ?name|given|family|cc name"
        "|card ?holder|account ?holder|holder|customers?|clients?|patients?|guests?|passengers?|travell?ers?"
        "|drivers?|employees?|owners?|tenants?|landlord|buyer|seller|recipients?|senders?|beneficiar(?:y|ies)"
        "|payees?|payers?|assignees?|reporters?|requesters?|authors?|reviewers?|contacts?|contact person"
        "|contact name|emergency contact|next of kin|attending|physician|doctor|dr|teacher|students?|pupil"
        "|members?|subscriber|applicants?|candidates?|manager|supervisor|agent|representative|rep|signed(?: in as"
        r"| by)?|logged in as|from|to|cc|bcc|by|\w+ by"
        "|written by|created by|updated by|approved by|prepared by"
        "|requested by|ordered by|assigned to|reported by|sold to|ship(?:ped)? to|bill(?:ed)? to|deliver to|attn"
        "|attention|c o|sold by|hosted by|host|organi[sz]er|participants?|attendees?|staff|interviewer|lead"
        "|=first|=last|committer|uploader|submitter|eingereicht von|creado por|modificado por|subido por|cree par"
        "|modifie par|aangemaakt door"
        "|skapad av"
        "|(?:hochgeladen|geandert|bearbeitet) von|utilisateur|gebruiker|anvandare|player|winner|donor|witness|spouse"
        "|partner|mother|father|child|parent|guardian|insured|policy ?holder"
        r"|account manager|sales rep\w*|person|people|user|resident|neighbou?r|colleague|worker|cashier|served by"
        r"|technician|vor ?name|nach ?name|\w*name|kund(?:e|in|en)|inhaber(?:in)?|konto ?inhaber(?:in)?"
        "|karteninhaber(?:in)?|empfanger(?:in)?|absender(?:in)?|ansprechpartner(?:in)?|versicherungsnehmer(?:in)?"
        "|versicherte[rn]?|patient(?:in)?|mitarbeiter(?:in)?|mitglied|gast|fahrer(?:in)?|besteller(?:in)?"
        "|kaufer(?:in)?|verkaufer(?:in)?|mieter(?:in)?|vermieter(?:in)?|arzt|arztin|bearbeiter(?:in)?"
        "|sachbearbeiter(?:in)?|auftraggeber(?:in)?|zahlungsempfanger(?:in)?|begunstigte[rn]?|teilnehmer(?:in)?"
        "|verfasser(?:in)?|autor(?:in)?|leiter(?:in)?|von|an|bewerber(?:in)?|schuler(?:in)?|lehrer(?:in)?"
        "|unterzeichnet von|erstellt von|angemeldet als|nutzer(?:in)?|nombres?(?: y apellidos?| completo)?"
        r"|apellidos?|clientes?|titular(?: de \w+)?|destinatari[oa]s?|remitente|pacientes?|empleados?|empleada"
        "|huesped(?:es)?|pasajer[oa]s?|propietari[oa]|inquilin[oa]|beneficiari[oa]|solicitante|autor(?:a)?"
        "|atendid[oa] por|firmad[oa] por|contacto|persona de contacto|medico|profesor(?:a)?|alumn[oa]|de|para"
        "|soci[oa]|miembro|responsable|asignad[oa] a|conductor(?:a)?|vendedor(?:a)?|comprador(?:a)?|a nombre de"
        "|trabajador(?:a)?|noms?|prenoms?|client(?:e)?|titulaire|destinataire|expediteur|patient(?:e)?"
        "|employe(?:e)?|voyageur|passager|proprietaire|locataire|beneficiaire|demandeur|auteur|contact|medecin"
        "|eleve|membre|signe par|a l attention de|adherent(?:e)?|assure(?:e)?|salarie(?:e)?|acheteur|vendeur"
        "|interlocuteur|nome(?: e cognome)?|cognome|intestatario|destinatario|mittente|paziente|dipendente|ospite"
        "|passeggero|proprietario|beneficiario|autore|medico|referente|socio|assistito|da|naam|voornaam"
        "|achternaam|klant|rekeninghouder|ontvanger|afzender|patient|medewerker|gast|eigenaar|contactpersoon|aan"
        "|huurder|reiziger|apelido|sobrenome|utente|remetente|funcionari[oa]|hospede|titular|responsavel"
        "|imie(?: i nazwisko)?|nazwisko|klient(?:ka)?|odbiorca|nadawca|pacjent(?:ka)?|posiadacz|wlasciciel"
        "|pracownik|namn|fornamn|efternamn|kund|mottagare|avsandare|kontohavare|anstalld|fornavn|etternavn"
        "|efternavn|kunde|modtager|nimi|asiakas|ad(?:i)?(?: soyadi?)?|soyad(?:i)?|musteri|alici|gonderen|hasta"
        "|sahibi|bidder|consignee name|skipper|nin[oa]s?|menin[oa]|bambin[oa]|enfant|dziecko|cocuk|officer"
        "|nurse in charge|registrar|responder|handler|leaders?|coach(?:es)?|captain|watchers?"
        "|consultant|referee|approver|headteacher|head teacher|tutor"
        "|lecturer|nurse|surgeon|dentist|therapist|midwife|solicitor|lawyer|attorney|judge|plaintiff|defendant|claimant"
        "|respondent|complainant|executor|trustee|chairman|chairwoman|chairperson|secretary|treasurer|vice president"
        "|president|bride|groom|best man|presenter|moderator|keynote(?: speaker)?|speakers?|instructor|mentor|mentee"
        "|counsel+or|caregiver|carer|care ?taker|janitor|babysitter|nanny|lessee|lessor|debtor|creditor|purchaser"
        "|consignor|vendor contact|claims? handler|case ?worker|investigator|inspector|adjuster|foreman|operator name"
        "|deceased|survivor|husband|wife|=son|daughter|brother|sister|uncle|aunt|cousin|grandparent|fiancee?|heir"
        "|hausmeister(?:in)?|trainer(?:in)?|betreuer(?:in)?|burge|burgin|zeug(?:e|in)|klager(?:in)?|beklagte[rn]?"
        "|angeklagte[rn]?|rechtsanwalt|rechtsanwaltin|anwalt|notar(?:in)?|schuldner(?:in)?|glaubiger(?:in)?|erbe"
        "|vorsitzende[rn]?|schriftfuhrer(?:in)?|kassenwart(?:in)?|referent(?:in)?|dozent(?:in)?|tutor(?:in)?"
        "|klassenlehrer(?:in)?|hausarzt|behandler(?:in)?|pflegekraft|angehorige[rn]?|ehemann|ehefrau|vater|mutter"
        "|tochter|bruder|schwester|kind|braut|brautigam|trauzeug(?:e|in)|verantwortliche[rn]?|antragsteller(?:in)?"
        "|entleiher(?:in)?|spieler(?:in)?|melder(?:in)?|zusteller(?:in)?|kurier"
        "|vecin[oa]s?|arrendador(?:a)?|arrendatari[oa]|avalista|fiador(?:a)?|testigo|abogad[oa]|notari[oa]|juez|jueza"
        "|demandante|demandad[oa]|maestr[oa]|docente|tutor(?:a)?|entrenador(?:a)?|arbitr[oa]|president[ea]"
        "|secretari[oa]"
        "|tesorer[oa]|enfermer[oa]|doctor(?:a)?|padre|madre|hij[oa]|hermano|hermana|marido|mujer|esposo|esposa"
        "|jugador(?:a)?"
        "|repartidor(?:a)?|encargad[oa]|invitad[oa]s?|fallecid[oa]|herederos?|conyuge"
        "|bailleur|bailleresse|preneur|garant|temoin|avocate?|notaire|juge|demanderesse|defendeur|defenderesse"
        "|professeure?|enseignante?|entraineur|arbitre|presidente?|secretaire|tresorier|tresoriere|infirmier|infirmiere"
        "|docteur|pere|mere|fils|fille|frere|soeur|=mari|epouse?|conjointe?|joueur|joueuse|livreur|coursier|invitee?s?"
        "|defunte?|heritier|gardienne?|stagiaire|candidate?"
        "|locatore|conduttore|garante|testimone|avvocato|notaio|giudice|insegnante|allenatore|allievo|alunn[oa]"
        "|infermier[ea]|dottor(?:essa)?|padre|figli[oa]|fratello|sorella|marito|moglie|coniuge|giocatore|inquilin[oa]"
        "|getuige|advocaat|rechter|docent|leraar|leerling|voorzitter|penningmeester|vader|moeder|zoon|dochter|broer"
        "|echtgenoot|echtgenote|speler|bezorger|verhuurder|koper|verkoper|bewoner|huisarts|behandelaar"
        "|swiadek|adwokat|sedzia|nauczyciel(?:ka)?|uczen|uczennica|lekarz|lekarka|ojciec|matka|=syn|corka|brat|siostra"
        "|maz|zona|zawodnik|najemca|wynajmujacy|kupujacy|sprzedajacy|kurier|opiekun(?:ka)?"
        "|testemunha|juiz|aluno|aluna|enfermeir[oa]|=pai|=mae|filh[oa]|irmao|irma|marido|esposa|jogador(?:a)?|locador"
        "|locatario|fiador(?:a)?|comprador(?:a)?|motorista|entregador"
        "|vittne|advokat|larare|elev|lakare|ordforande|kassor|=far|=mor|dotter|syster|spelare|hyresgast"
        "|hyresvard|kopare|saljare|ogretmen|ogrenci|doktor|avukat|tanik|kiraci|oyuncu"
    ),
}
_RULED_OUT = re.compile(  # labels of numbers and names that are nobody's
    r"\b(?:orders?|bestell\w*|pedidos?|commande|ordine|bestelling|encomenda|zamowieni\w*|invoices?"
    r"|rechnung(?:s ?(?:nummer|nr|datum))?|factura(?! ?(?:r|cion))|facture|fattura|factuur|ticket|case|tracking"
    r"|sendungs\w*|shipment|parcel|seguimiento|suivi"
    r"|sku|isbn|ean|upc|ndc|pzn|hsn|tsn|gtin|asin|parts? (?:no|number|nr)|art(?:icle|ikel\w*| nr)|product\w*"
    r"|produkt\w*|producto|produit|prodotto|item"
    r"|model\w*|brand|marke|marca|marque|version|build|release|firmware|serial|amount|betrag|importe|montant|total"
    r"|summe|price|preis|precio|prix|prezzo"
    r"|qty|quantity|menge|cantidad|quantite|date(?! of birth| naiss| de naiss)|datum|fecha(?! (?:de )?nac)|time"
    r"|uhrzeit|hora|status|stand|file|datei|archivo|fichier|folder|host ?name|domain|project|projekt|proyecto|projet"
    r"|compan(?:y|ies)|firma|empresa|entreprise|organi[sz]ation|vendor|merchant|supplier"
    r"|store|shop|event|category|kategorie|categoria|plan|team|department|abteilung|subject|betreff|asunto|objet"
    r"|title|titel|titulo|titre|course|kurs|playlist|song|movie|book|user agent|display mode|bank name"
    r"|bank(?! account|verbindung)|airline|hotel|school|country|land|pais|pays|currency"
    r"|size|colou?r|farbe|color|couleur|weight|gewicht|peso|poids|role|position title|job ?title|branch"
    r"|repo(?:sitory)?|commit|hash|checksum|package|class ?name|tag ?name|node ?name|type ?name|method|function"
    r"|variable|table ?name|column ?name|font|theme|language|sprache|idioma|langue"
    r"|reference|referenz|referencia|booking|reservation|buchung\w*|reserva|confirmation|flight|flug|vuelo|vol|seat"
    r"|gate|room|zimmer|batch|lot|charge|policy type|plan name|tariff|tarif|network name|printer|device|gerat"
    r"|dispositivo|bytes|duration|elapsed|dauer|views|hits|followers|downloads|offset|latency|app name|song"
    r"|artist|call number|sender ?id|meeting|standort name|transaction|purchase|po number|po no)\b"
)
_WEAK_PERSON = re.compile(  # words that stand before a name as often as before anything else
    r"(?:from|to|cc|bcc|by|via|with|host|user|users|people|person|contact|contacts|lead|player|winner|given|family"
    r"|von|an|mit|de|da|do|para|por|par|pour|avec|con|di|aan|van|door|od|dla|fran|till|av|til"
    r"|a|ad|adi|leiter|gast|holder|agent|manager|rep|author|authors|autor|auteur|autore|staff|participants?"
    r"|kind|speakers?|brother|sister|presidente?|president|captain|coach(?:es)?|consultant|secretary|moderator|leaders?"
    r"|nin[oa]s?|menin[oa]|bambin[oa]|enfant|dziecko|cocuk|bidder|skipper|inspector|officer|handler|responder"
    r"|trainer|tutor|docent|juge|elev|counsel+or|secretari[oa]|presidenta"
    r"|watchers?|vecin[oa]s?|maestr[oa]"
    r"|arbitr[oa]"
    r"|organi[sz]er|child|parent|partner|member|members?|mitglied|owner|owners|client|clients|customer|customers"
    r"|kunde|cliente|clientes|klant|nutzer|resident|contacto|contact name|referente|responsable|sender|seller"
    r"|sold by|hosted by|\w+ by"
    r"|utilisateur|gebruiker|anvandare|committer|uploader|submitter|ship(?:ped)? to|bill(?:ed)? to|deliver to|sold to"
    r"|enviar a"
    r"|attention|lieferung an"
    r"|versand an|reporter|assignee|reviewer|recipient|driver|guest|host name|technician|doctor|dr|physician)"
)


def _pattern(words: str) -> re.Pattern[str]:
    anchored = re.sub(r"(?<![^|])=([a-z0-9 ]+)", r"\\A\1\\Z", words)
    return re.compile(rf"(?<!\w)(?:{anchored})(?!\w)")


_PATTERNS: dict[str, re.Pattern[str]] = {
    kind: _pattern(f"{words}|{scripts.WORDS[kind]}" if kind in scripts.WORDS else words)
    for kind, words in _WORDS.items()
}
_OF = (  # "the plate of my car is": whose it is
    r"(?: (?:of|de|del|von|vom|du|da|di|do|for|fur|van)(?: \w{1,12}){1,3}(?= (?:is|ist|es|est|e|lautet|was|war)\b))?"
)
_NUMBER_WORD = r"(?: (?:is|ist|es|est|e|lautet|no|nr|n|o|num|number|nummer|numero|numer|id|code|#))*"
_ENDINGS: dict[str, re.Pattern[str]] = {  # of what stands right before a number in a sentence
    kind: re.compile(_PATTERNS[kind].pattern + _OF + _NUMBER_WORD + r"\Z")
    for kind in (
        "NATIONAL_ID", "TAX_ID", "PASSPORT", "DRIVER_LICENSE", "VEHICLE", "MEDICAL_ID", "IBAN", "BANK_ACCOUNT", "CARD",
    )
}  # fmt: skip
_NOT_A_PERSONS_NAME = re.compile(
    r"\b(?:product|file|host|project|company|item|domain|display|model|brand|event|team|plan|bank|store|shop"
    r"|user agent|dataset|table|column|field|function|class|package|group|channel|business|firm"
    r"|network|printer|playlist|hotel|school|job|street|city|place|device|app|service|server|database|branch|repo"
    r"|produkt|datei|projekt|firmen|strassen|orts|marken|modell|gruppen|datenbank|netzwerk|vereins|user|benutzer"
    r"|login|screen|nick"
    r"|account)"
    r" ?names?\b|\w*(?:datenbank|netzwerk|datei|produkt|firmen|strassen|orts|marken|gruppen|vereins|benutzer)name\b"
)


def folded(label: str) -> str:
    """A label as the tables here spell it: lower case, no accents, words apart."""
    apart = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", label)
    bare = "".join(
        c
        for c in unicodedata.normalize("NFD", apart.lower().replace("ß", "ss").replace("º", "o"))
        if not "\u0300" <= c <= "\u036f"
    )
    bare = bare.replace("ł", "l").replace("ø", "o").replace("æ", "ae").replace("ı", "i").replace("đ", "d")  # noqa: RUF001
    return re.sub(r"[^\w#]+|_+", " ", unicodedata.normalize("NFC", bare)).strip()


_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")


@lru_cache(maxsize=8192)
def ending(before: str) -> tuple[str, ...]:
    """The types of numbers that the last words of `before` (at most five) promise for what follows."""
    words = " ".join(folded(before).split()[-5:])
    found = [(kind, match) for kind, pattern in _ENDINGS.items() if (match := pattern.search(words))]
    return tuple(
        kind
        for kind, match in found
        if _RULED_OUT.search(words if kind != "TAX_ID" else words[: match.start()]) is None
    )


@lru_cache(maxsize=4096)
def promised(label: str) -> tuple[str, ...]:
    """The types that a label promises, likeliest first; PERSON? is a name only if it also looks like one."""
    if not label or len(label) > 300:
        return ()
    pieces = re.split(r"[|\n;·•/>(),:]+", _BRACKETED_END.sub("", label))
    pieces += [
        piece.lower() for piece in pieces if _INNER_CAPITAL.search(piece)
    ]  # "GitHub" is one word, "firstName" two
    given = [part for part in map(folded, pieces) if part]
    parts = [spelling for part in given for spelling in _spellings(part)]
    found: list[str] = []
    for kind, pattern in _PATTERNS.items():
        for part in given if kind == "PERSON" else parts:
            match = pattern.search(part)
            if match is not None and _stands(kind, part.replace(match[0], " ") if kind == "TAX_ID" else part):
                found.append("PERSON?" if kind == "PERSON" and _WEAK_PERSON.fullmatch(match[0]) else kind)
                break
    return tuple(found)


_COUNTED = re.compile(r"\b(?:no|nr|num|number|nummer|numero|id|code|count|total|#)\Z|\A(?:numero|num|nr|n o|no|n)\b")
_NUMERO = re.compile(r"\A(?:n|no|nr|nro|num|n o|n r)(?= (?:d|de|del|della|di|da|do|du|fiscal\w*)\b)")
_TAIL = re.compile(r"(?<=\w) (?:on file|used|(?:used )?(?:for|fur|para|pour|per|voor|dla)(?= )).*\Z")


_BRACKETED_END = re.compile(r"(?<=\w)(?:\((?:e|r|n|s|es|in|a|o|as|os|ne|en)\)|/(?:e|r|n|in|a|o)(?= ))")  # "Né(e) le"
_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (  # what a label is short for, and what may be written as one
    (re.compile(r"\b(\w) (?=\w\b)"), r"\1"),  # "D.N.I."
    (_NUMERO, "numero"),
    (re.compile(r"\A(?:n o|n|no|nr|nro|num|numer|cislo)(?= \w{4})"), "numer"),
    (re.compile(r"\A(?:n o|n|no|nr|nro|num) (?=\w{2})"), ""),
    (re.compile(r"(?<=[a-z]) (?=(?:nr|nummer)\b)"), ""),
    (re.compile(r"(?<=[a-z])( ?)nr\b"), r"\1nummer"),
)


def _spellings(part: str) -> list[str]:
    """The folded label as it is, and in the other ways in which the same label is written."""
    found = [part]
    for pattern, instead in _SPELLINGS:
        found += [other for one in found if (other := pattern.sub(instead, one)) not in found]
    return found


def _stands(kind: str, part: str) -> bool:
    if len(part.split()) > 7:
        return False  # a sentence is no label
    part = _TAIL.sub("", part)  # "card on file", "phone for this order": what the thing is comes first
    if kind == "PERSON" and (_NOT_A_PERSONS_NAME.search(part) or _COUNTED.search(part)):
        return False
    ruled_out = _RULED_OUT.search(part)
    if ruled_out is None or kind in ("EXPIRY", "PASSWORD", "KEY", "TOKEN", "SECRET"):
        return True
    return kind in ("PERSON", "ADDRESS", "EMAIL", "PHONE", "DATE_OF_BIRTH") and bool(_NAMED_ANYWAY.search(part))


_NAMED_ANYWAY = re.compile(
    r"\b(?:e ?mail|phone|tel\w*|mobile|address|adresse|direccion|name on|full name|first name|last name|surname"
    r"|contact|birth|geb|dob|nac|naiss|urodz\w*|fodelse\w*|fodsels\w*|geboorte\w*|narozeni|szuletes\w*"
    r"|geburt\w*|nacimiento|naissance|nascita|customer name|client name|patient name|recipient"
    r"|ordered by|account manager|manager|owner|lead|authors?|leader|organi[sz]er|teacher|coach|captain|worker"
    r"|assignee|reporter|requester|reviewer|approver|holder|officer|handler|autor(?:a|in)?|leiter(?:in)?|trainer(?:in)?"
    r"|verantwortliche[rn]?"
    r"|bearbeiter(?:in)?|ansprechpartner(?:in)?|responsable|auteur|organizador(?:a)?|encargad[oa])\b"
)


@lru_cache(maxsize=4096)
def ruled_out(label: str) -> bool:
    """Whether the label says that the value is a number, a time or a thing of no person."""
    return _RULED_OUT.search(folded(label)) is not None
