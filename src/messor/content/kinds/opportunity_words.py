"""Names and labels of opportunities and funding programs: data.

All are for folded text (lower case, no accents); labels must match as a whole.
"""

from __future__ import annotations

import re


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{text})(?!\w)")


def _label(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?:the |the application |our )?(?:{text})(?: \(.{{1,40}}\))?")


KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("internship", _words(
        "internships?|interns?|trainees?|praktikum|praktika|praktikant(?:in)?|stage|stagiaire|practicas|"
        "becario|tirocinio|estagio|stageplaats|staz|praktik|harjoittelu|staj|стажировка"
    )),
    ("apprenticeship", _words(
        "apprenticeships?|ausbildung|ausbildungsplatz|azubi|auszubildende[rn]?|apprentissage|alternance|apprendistato"
    )),
    ("volunteering", _words(
        "volunteers?|volunteering|ehrenamt|ehrenamtliche[rn]?|freiwillige[rn]?|benevolat|benevoles?|voluntariado|"
        "voluntarios?|volontariato|volontari|vrijwilligers?|vrijwilligerswerk|wolontariat|volontar|frivillig|"
        "vapaaehtoinen|dobrovolnik|gonullu|волонтер"
    )),
    ("scholarship", _words(
        "scholarships?|fellowships?|bursary|bursaries|stipendium|stipendien|bourses?|becas?|borsa di studio|"
        "borse di studio|bolsas?|beurs|beurzen|stypendium|stypendia|stipend|apuraha|burs|стипендия"
    )),
    ("tender", _words(
        "tenders?|request for proposals|rfp|ausschreibung|appel d.offres|licitacion|gara d.appalto|concurso publico|"
        "aanbesteding|przetarg|upphandling|udbud|anbud|тендер"
    )),
    ("call", _words(
        "call for (?:applications|proposals|papers|entries|projects)|open call|appel a (?:projets|candidatures)|"
        "convocatoria|bando|chamada|oproep|nabor wnioskow|utlysning"
    )),
    ("course", _words("training course|workshop|weiterbildung|fortbildung|lehrgang|schulung|formation|curso|corso|cursus|szkolenie")),
    ("job", _words(
        "jobs?|vacanc(?:y|ies)|position|we are hiring|hiring|full[- ]time|part[- ]time|stellenangebot|stelle|"
        "stellenausschreibung|vollzeit|teilzeit|m/w/d|w/m/d|m/f/d|h/f|f/h|offre d.emploi|emploi|cdi|cdd|"
        "oferta de (?:empleo|trabajo)|empleo|offerta di lavoro|lavoro|vaga|emprego|vacature|oferta pracy|praca|"
        "ledigt jobb|stilling|avoin tyopaikka|volna pozice|is ilani|вакансия|вакансія"
    )),
)  # fmt: skip

CLOSES = _label(
    "application deadline|deadline|closing date|closes|apply by|applications? close|deadline for applications|due date|"
    "submission deadline|call closes|end date|bewerbungsfrist|bewerbungsschluss|frist|antragsfrist|einreichfrist|"
    "einsendeschluss|antragsschluss|stichtag|bewerbung bis|date limite|date limite de candidature|"
    "date limite de depot|date de cloture|cloture|fecha limite|plazo|plazo de (?:solicitud|presentacion)|"
    "fecha de cierre|fin de plazo|scadenza|termine|termine di presentazione|scadenza domande|prazo|data limite|"
    "prazo de candidatura|prazo final|sluitingsdatum|uiterste datum|termin skladania wnioskow|termin|"
    "termin naboru|data zakonczenia|sista ansokningsdag|ansokan senast|sista dag|soknadsfrist|ansogningsfrist|"
    "hakuaika paattyy|viimeinen hakupaiva|uzaverka|termin podani|son basvuru tarihi|son tarih|"
    "срок подачи|срок подачи заявок|дедлайн|кінцевий термін"
)
PLACE = _label(
    "location|place|place of work|work location|where|based in|region|ort|arbeitsort|einsatzort|standort|lieu|"
    "lieu de travail|localisation|lugar|ubicacion|lugar de trabajo|sede|luogo|luogo di lavoro|local|"
    "local de trabalho|localizacao|locatie|standplaats|plaats|miejsce pracy|lokalizacja|miejsce|ort|"
    "arbetsplats|arbeidssted|sted|arbejdssted|sijainti|tyopaikka|misto vykonu prace|misto|calisma yeri|"
    "место работы|город"
)
WHO = _label(
    "organi[sz]ation|employer|company|institution|arbeitgeber|unternehmen|organisation|einrichtung|trager|"
    "employeur|entreprise|organisme|empleador|empresa|organizacion|entidad|azienda|datore di lavoro|ente|"
    "organizacao|empregador|organisatie|werkgever|bedrijf|pracodawca|organizacja|arbetsgivare|arbeidsgiver|"
    "virksomhed|tyonantaja|zamestnavatel|isveren|kurum|работодатель|организация|компания"
)

FUNDING = _words(
    "grants?|funding|fund|subsid(?:y|ies)|funding program(?:me)?|support scheme|forderung|forderprogramm|fordermittel|"
    "zuschuss|zuschusse|forderrichtlinie|subventions?|aides?|financement|appel a projets|subvencion(?:es)?|ayudas?|"
    "financiacion|convocatoria|finanziament[oi]|contribut[oi]|bando|agevolazion[ei]|financiamento|apoio|subsidie|"
    "subsidies|subsidieregeling|dotacj[aei]|dofinansowani[ea]|bidrag|stod|stotte|tilskud|tilskudd|tuki|avustus|"
    "rahoitus|dotace|hibe|destek|грант|гранты|субсидия|субсидии|фінансування"
)
FUNDER = _label(
    "funder|funding (?:body|organi[sz]ation|agency)|funded by|provider|managing authority|sponsor|donor|"
    "granted by|agency|awarding (?:body|agency)|grantor|fordergeber|mittelgeber|zuwendungsgeber|fordernde stelle|bewilligungsstelle|gefordert durch|"
    "financeur|financeurs|organisme financeur|finance par|porteur|entidad financiadora|financiador|"
    "organismo convocante|organismo|convoca|ente erogatore|ente finanziatore|finanziatore|entidade financiadora|"
    "subsidieverstrekker|verstrekker|instytucja finansujaca|organizator|finansiar|bidragsgivare|"
    "rahoittaja|poskytovatel|vyhlasovatel|destekleyen kurum|грантодатель|фонд|донор"
)
AMOUNT = _label(
    "amount|grant amount|funding amount|award amount|maximum (?:amount|grant|funding)|max(?:imum)? grant|budget|"
    "award ceiling|maximum award|how much (?:can (?:you|i) (?:get|apply for|receive)|you can (?:get|apply for|receive)|"
    "is available|do we give|we give)|"
    "total budget|funding|available funding|grant size|award|value|how much|forderhohe|forderbetrag|fordersumme|"
    "forderung bis|zuschusshohe|hohe der forderung|hochstbetrag|fordervolumen|montant|montant de l.aide|"
    "montant maximum|budget total|enveloppe|cuantia|importe|importe maximo|presupuesto|dotacion|importo|"
    "contributo|contributo massimo|ammontare|budget disponibile|dotazione|montante|valor|valor maximo|dotacao|"
    "bedrag|subsidiebedrag|maximaal bedrag|kwota|kwota dofinansowania|maksymalna kwota|budzet|belopp|"
    "stodbelopp|belop|belob|maara|tuen maara|vyse dotace|castka|alokace|tutar|destek tutari|butce|"
    "сумма|сумма гранта|размер гранта|бюджет|сума"
)
ELIGIBLE = _label(
    "eligibility|eligible(?: applicants)?|eligibility criteria|who can apply|who is eligible|applicants|"
    "target group|beneficiaries|open to|antragsberechtigt|antragsberechtigte|wer kann (?:einen antrag stellen|"
    "beantragen|sich bewerben)|zielgruppe|forderberechtigt|wer wird gefordert|beneficiaires|eligibilite|"
    "qui peut (?:candidater|postuler|en beneficier)|public cible|beneficiarios|requisitos|"
    "quien puede solicitar(?:la|lo)?|destinatarios|beneficiari|chi puo (?:partecipare|presentare domanda)|"
    "destinatari|requisiti|quem pode (?:candidatar-se|concorrer)|elegibilidade|voor wie|doelgroep|"
    "wie kan aanvragen|kto moze (?:skladac wnioski|otrzymac)|beneficjenci|dla kogo|vem kan soka|malgrupp|"
    "hvem kan soke|hvem kan soge|malgruppe|kuka voi hakea|kohderyhma|kdo muze zadat|opravneni zadatele|"
    "kimler basvurabilir|кто может участвовать|участники|целевая группа"
)
REGION = _label(
    "region|regions|area|country|countries|geographic(?:al)? (?:area|scope|focus)|location|eligible (?:countries|regions)|"
    "where|where we (?:fund|give|work)|fordergebiet|gebiet|land|lander|bundesland|regionen|zone geographique|territoire|territoires|pays|"
    "ambito geografico|ambito territorial|territorio|pais|paises|ambito|regione|regioni|area geografica|paese|"
    "regiao|ambito geografico|regio|regio's|gebied|landen|obszar|wojewodztwo|kraj|omrade|alue|oblast|"
    "bolge|регион|регионы|страна|территория"
)
