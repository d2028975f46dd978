"""Patterns of lines that promise an offer, in the major European languages: data.

All are for folded text (lower case, no accents) and take linear time.
"""

from __future__ import annotations

import re

_REDUCTION = (
    "off|discount|rabatt|ermassigung|nachlass|reduziert|gunstiger|sparen|de reduction|de remise|"
    "de rabais|de descuento|dto|di sconto|sconto|de desconto|korting|znizki|rabatu|taniej|alennus|"
    "alennusta|sleva|slevy|indirim|скидка|скидки|знижка|rabat"
)
PERCENT_OFF = re.compile(
    rf"\d{{1,2}}\s?%\s?(?:{_REDUCTION}|[^\W\d]{{3,16}}rabatt)(?!\w)"
    rf"|(?<!\w)(?:save|spare|sparen sie|discount of|rabatt von|economisez|ahorra|risparmia|poupe|bespaar|oszczedz|"
    rf"spar|saasta|usetrete|скидка|скидки|indirim|sconto|remise de|reduction de|descuento del?|korting van|up to|"
    rf"bis zu|jusqu.a|hasta|fino al?|tot)\s(?:[^\W\d]{{1,10}}\s){{0,2}}-?\d{{1,2}}\s?%(?!\s?(?:of|der|des|von)\s)"
    rf"|(?:^|\s)[-\u2212\u2013]\d{{1,2}}\s?%(?!\w)"
)
FREE = re.compile(
    r"(?<!\w)(?:free|kostenlose[rsn]?|gratis|unverbindliche[rsn]?|complimentary)\s"
    r"(?:(?:initial|first|und unverbindliche[rsn]?|no-obligation|erste[rs]?)\s)?"
    r"(?:consultations?|estimates?|quotes?|trial|assessment|evaluation|demo|shipping|delivery|inspection|check-?up|"
    r"erstberatung|beratung|probetraining|probestunde|versand|testphase|erstgesprach|testversion|"
    r"verzending|proefles|adviesgesprek|provtimme|radgivning|konsultation|frakt|toimitus|konzultace)(?!\w)"
    r"|(?<!\w)(?:consultation|essai|devis|livraison|bilan)\s(?:gratuite?|offerte?)(?!\w)"
    r"|(?<!\w)(?:consulta|prueba|presupuesto|envio|primera consulta|valoracion)\s(?:gratis|gratuit[ao])(?!\w)"
    r"|(?<!\w)(?:consulenza|prova|preventivo|spedizione|prima visita)\s(?:gratis|gratuit[ao])(?!\w)"
    r"|(?<!\w)(?:consulta|avaliacao|teste|frete|orcamento)\s(?:gratis|gratuit[ao])(?!\w)"
    r"|(?<!\w)(?:bezplatna|darmowa|bezplatny|darmowy)\s(?:konsultacja|dostawa|wycena|okres probny)(?!\w)"
    r"|(?<!\w)(?:бесплатная|бесплатный)\s(?:консультация|доставка|пробный|осмотр)(?!\w)"
    r"|(?<!\w)buy one,? get one(?!\w)|(?<!\w)2 for 1(?!\w)|(?<!\w)two for one(?!\w)"
)
SAVING = re.compile(
    r"(?<!\w)(?:save|off your|sie sparen|sparen sie|spare|economisez|ahorra|risparmia|poupe|bespaar|oszczedz|spar|"
    r"saasta|usetrete|gutschein|voucher|cheque cadeau)(?!\w)"
)
DEAL = re.compile(
    r"(?<!\w)(?:special offer|limited[- ]time|introductory (?:offer|price)|deal of|only today|sonderangebot|"
    r"aktionspreis|einfuhrungspreis|nur heute|unser angebot|offre speciale|offre de lancement|promotion|"
    r"oferta especial|offerta speciale|promocao|aanbieding|actieprijs|promocja|oferta specjalna|"
    r"erbjudande|kampanj|tilbud|tarjous|akcni nabidka|kampanya|акция|спецпредложение)(?!\w)"
)
CODE = re.compile(
    r"(?i:code|gutscheincode|rabattcode|promo ?code|codigo|código|codice|kod|kortingscode|koodi)[:\s]{1,3}[\"'“„«]?"
    r"((?=[A-Z0-9]*[A-Z])[A-Z0-9]{4,16})(?![\w])"
)
UNTIL = re.compile(
    r"(?<!\w)(?:until|till|valid (?:until|through|to)|ends?(?: on)?|expires?(?: on)?|offer ends|through|bis(?: zum)?|"
    r"gultig bis(?: zum)?|jusqu.au|valable jusqu.au|hasta el|valido hasta(?: el)?|fino al|valido fino al|ate|"
    r"valido ate|tot(?: en met)?|t/m|geldig tot|do|wazne do|till och med|t\.o\.m\.|til og med|til|"
    r"asti|voimassa|do|plati do|до|действует до)\s([^\n]{4,40})"
)
