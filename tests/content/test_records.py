"""The smaller kinds of records: what pages in several languages state, and what they do not."""

# ruff: noqa: RUF001 - dashes and letters as pages have them

from __future__ import annotations

import pytest

from messor.content.kinds import (
    call_to_action,
    event,
    faq,
    funding_program,
    offer,
    opportunity,
    organisation,
    price_item,
    service,
)
from tests.content.views import found, view


def test_organisation_of_structured_data() -> None:
    page = view(
        """<script type="application/ld+json">{"@context":"https://schema.org","@type":["Dentist","LocalBusiness"],
        "name":"Zahnarzt &amp; Team","telephone":"030 123 456 78","url":"https:\\/\\/zahn.de\\/","logo":{"@type":"ImageObject","url":"/l.png"},
        "address":{"@type":"PostalAddress","streetAddress":"Hauptstr. 1","postalCode":10115,"addressLocality":"Berlin","addressCountry":"Deutschland"}}</script>"""
    )
    assert found(organisation.find, page) == [
        {
            "name": "Zahnarzt & Team",
            "url": "https://zahn.de/",
            "phone": "+493012345678",
            "logo": "/l.png",
            "street": "Hauptstr. 1",
            "postal_code": "10115",
            "locality": "Berlin",
            "country": "DE",
        }
    ]


def test_organisation_of_an_imprint() -> None:
    page = view(
        """<h1>Impressum</h1><p>Grüne Gärten Müller GmbH &amp; Co. KG</p><p>USt-IdNr.: DE 123456789</p>
        <footer>© 2024 Grüne Gärten Müller GmbH &amp; Co. KG</footer>""",
        "https://gg.de/impressum",
        lang="de",
    )
    assert found(organisation.find, page) == [
        {"name": "Grüne Gärten Müller GmbH & Co. KG", "vat_id": "DE 123456789"}
    ]


def test_microdata_and_rdfa_say_the_same() -> None:
    micro = view(
        """<div itemscope itemtype="http://schema.org/Organization"><b itemprop="name">Acme <i>Ltd</i></b>
        <a itemprop="url" href="https://acme.org/">x</a></div>"""
    )
    rdfa = view(
        """<div vocab="https://schema.org/" typeof="Organization"><b property="name">Acme <i>Ltd</i></b>
        <a property="url" href="https://acme.org/">x</a></div>"""
    )
    expected = [{"name": "Acme Ltd", "url": "https://acme.org/"}]
    assert found(organisation.find, micro) == expected
    assert found(organisation.find, rdfa) == expected


@pytest.mark.parametrize(
    "line, expected",
    [
        (
            "20% off all treatments until 31 May 2026 with code SPRING20",
            {"discount_percent": 20, "valid_until": "2026-05-31", "code": "SPRING20"},
        ),
        (
            "Jetzt 15 % Rabatt sichern – gültig bis 30.06.2026",
            {"discount_percent": 15, "valid_until": "2026-06-30"},
        ),
        ("Free consultation", {}),
        ("Kostenlose Erstberatung", {}),
        ("Économisez jusqu’à 30 %", {"discount_percent": 30}),
        ("-25% sur tous les soins", {"discount_percent": 25}),
        ("Save £50 on your first order", {"discount_amount": 50, "currency": "GBP"}),
        ("Oferta especial: 49,90 €", {"price": 49.9, "currency": "EUR"}),
    ],
)
def test_offers(line: str, expected: dict[str, object]) -> None:
    page = view(f"<h1>Acme</h1><h2>{line}</h2>", "https://example.com/")
    assert found(offer.find, page) == [{"title": line, **expected}]


@pytest.mark.parametrize(
    "line",
    [
        "About 20% of the people agreed.",
        "Free speech matters",
        "The price was $50",
        "Save the date",
    ],
)
def test_what_is_no_offer(line: str) -> None:
    assert found(offer.find, view(f"<p>{line}</p>", "https://example.com/")) == []


def test_calls_to_action() -> None:
    page = view(
        """<nav><a href="/contact">Contact</a><a href="/about">About</a></nav>
        <a class="btn" href="/book">Book now →</a> <button>Angebot anfordern</button>
        <a href="/x">Prendre rendez-vous</a> <input type="submit" value="S&#39;inscrire">
        <a href="/y">Our history</a>"""
    )
    assert found(call_to_action.find, page) == [
        {"label": "Book now →", "action": "book", "url": "/book"},
        {"label": "Prendre rendez-vous", "action": "book", "url": "/x"},
        {"label": "Angebot anfordern", "action": "quote"},
        {"label": "S'inscrire", "action": "sign_up"},
    ]


def test_services_of_a_page_of_services() -> None:
    page = view(
        """<main><h1>Unsere Leistungen</h1>
        <h2>Gartenpflege</h2><p>Wir pflegen Ihren Garten das ganze Jahr über, zuverlässig und günstig.</p>
        <h2>Baumschnitt</h2><p>Fachgerechter Schnitt von Obst- und Zierbäumen durch geprüfte Gärtner.</p>
        <h2>Kontakt</h2><p>Rufen Sie uns einfach an, wir freuen uns auf Ihre Nachricht.</p></main>""",
        "https://garten.de/leistungen",
        head="<title>Leistungen | Garten</title>",
        lang="de",
    )
    assert [each["name"] for each in found(service.find, page)] == ["Gartenpflege", "Baumschnitt"]


def test_structured_service() -> None:
    page = view(
        """<script type="application/ld+json">{"@type":"Service","name":"Botox","provider":{"@type":"MedicalClinic","name":"Aesthetica"},
        "areaServed":"Singapore","offers":{"@type":"Offer","price":"450.00","priceCurrency":"SGD"}}</script>"""
    )
    assert found(service.find, page) == [
        {
            "name": "Botox",
            "provider": "Aesthetica",
            "area": "Singapore",
            "price": 450,
            "currency": "SGD",
        }
    ]


def test_a_menu() -> None:
    page = view(
        """<h1>Speisekarte</h1><h2>Vorspeisen</h2>
        <ul><li>Linsensuppe <span>4,90 €</span></li><li>Bruschetta ........ 6,50 €</li></ul>
        <h2>Hauptspeisen</h2><div><h4>Wiener Schnitzel</h4><span>18,90&nbsp;€</span></div>""",
        "https://wirt.at/speisekarte",
        lang="de",
    )
    assert found(price_item.find, page) == [
        {"name": "Linsensuppe", "price": 4.9, "currency": "EUR", "section": "Vorspeisen"},
        {"name": "Bruschetta", "price": 6.5, "currency": "EUR", "section": "Vorspeisen"},
        {"name": "Wiener Schnitzel", "price": 18.9, "currency": "EUR", "section": "Hauptspeisen"},
    ]


def test_a_price_list_with_units() -> None:
    page = view(
        """<h1>Pricing</h1><table><tr><td>Basic</td><td>£10 / month</td></tr>
        <tr><td>Team</td><td>£25 per user</td></tr><tr><td>Room</td><td>£90 per night</td></tr></table>""",
        "https://example.com/pricing",
    )
    assert [
        (each["name"], each["price"], each["unit"]) for each in found(price_item.find, page)
    ] == [
        ("Basic", 10, "month"),
        ("Team", 25, "user"),
        ("Room", 90, "night"),
    ]


@pytest.mark.parametrize(
    "body, expected",
    [
        (
            """<h1>Community Energy Grant 2026</h1><p><b>Funder:</b> Green Foundation</p>
            <dl><dt>Maximum grant</dt><dd>£5,000 to £50,000</dd><dt>Deadline</dt><dd>31 March 2026, noon</dd>
            <dt>Who can apply</dt><dd>Charities and community groups</dd><dt>Region</dt><dd>Scotland</dd></dl>""",
            {
                "name": "Community Energy Grant 2026",
                "funder": "Green Foundation",
                "amount": 50000,
                "currency": "GBP",
                "deadline": "2026-03-31",
                "eligibility": "Charities and community groups",
                "region": "Scotland",
            },
        ),
        (
            """<h1>Förderprogramm Digitalisierung</h1><h3>Antragsberechtigt</h3><p>Kleine und mittlere Unternehmen</p>
            <p>Antragsfrist: 30.09.2026</p><p>Förderhöhe: bis zu 2 Mio. Euro</p><p>Fördergeber: Land Sachsen</p>""",
            {
                "name": "Förderprogramm Digitalisierung",
                "funder": "Land Sachsen",
                "amount": 2000000,
                "currency": "EUR",
                "deadline": "2026-09-30",
                "eligibility": "Kleine und mittlere Unternehmen",
            },
        ),
        (
            """<h1>Appel à projets culture</h1><table><tr><th>Date limite</th><td>15 juin 2026</td></tr>
            <tr><th>Montant</th><td>10 000 €</td></tr><tr><th>Bénéficiaires</th><td>Associations</td></tr></table>""",
            {
                "name": "Appel à projets culture",
                "amount": 10000,
                "currency": "EUR",
                "deadline": "2026-06-15",
                "eligibility": "Associations",
            },
        ),
        (
            """<h1>Community Growing Fund</h1><h2>How much you can apply for</h2><p>£2,000 to £15k</p>
            <h2>Who can apply</h2><ul><li>Registered charities</li><li>Schools</li></ul><p>And nobody else.</p>
            <h2>Where we fund</h2><p>Yorkshire</p>""",
            {
                "name": "Community Growing Fund",
                "amount": 15000,
                "currency": "GBP",
                "eligibility": "Registered charities Schools",
                "region": "Yorkshire",
            },
        ),
    ],
)
def test_funding_programs(body: str, expected: dict[str, object]) -> None:
    (program,) = found(funding_program.find, view(f"<main>{body}</main>", "https://funds.org/x"))
    assert program == expected


def test_a_page_about_funding_without_facts_is_no_program() -> None:
    page = view("<h1>Grants change lives</h1><p>We gave many grants. Deadline: soon.</p>")
    assert found(funding_program.find, page) == []


def test_jobs() -> None:
    stated = view(
        """<script type="application/ld+json">{"@type":"JobPosting","title":"Gardener (m/f/d)","datePosted":"2026-01-02",
        "validThrough":"2026-02-01T23:59","employmentType":"FULL_TIME","hiringOrganization":{"@type":"Organization","name":"Acme"},
        "jobLocation":{"@type":"Place","address":{"@type":"PostalAddress","addressLocality":"Leeds"}},
        "baseSalary":{"@type":"MonetaryAmount","currency":"GBP","value":{"@type":"QuantitativeValue","value":28000}}}</script>"""
    )
    assert found(opportunity.find, stated) == [
        {
            "title": "Gardener (m/f/d)",
            "organisation": "Acme",
            "location": "Leeds",
            "employment_type": "FULL_TIME",
            "published": "2026-01-02",
            "deadline": "2026-02-01",
            "salary": 28000,
            "currency": "GBP",
        }
    ]
    shown = view(
        """<h1>Praktikum im Naturschutz</h1><p>Ort: Freiburg</p><p>Bewerbungsfrist: 1. März 2026</p>
        <p><a href="/bewerben">Jetzt bewerben</a></p>""",
        "https://verein.de/mitmachen/praktikum",
        lang="de",
    )
    assert found(opportunity.find, shown) == [
        {
            "title": "Praktikum im Naturschutz",
            "type": "internship",
            "location": "Freiburg",
            "deadline": "2026-03-01",
            "url": "/bewerben",
        }
    ]


def test_questions_of_structured_data_and_of_headings() -> None:
    stated = view(
        """<script type="application/ld+json">{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"How long?",
        "acceptedAnswer":{"@type":"Answer","text":"<p>About <b>two</b> hours &amp; a bit.</p>"}}]}</script>"""
    )
    assert found(faq.find, stated) == [
        {"question": "How long?", "answer": "About two hours & a bit."}
    ]
    shown = view(
        """<h1>Häufige Fragen</h1><h3>Was kostet das denn?</h3><p>Nichts.</p><p>Wirklich.</p>
        <details><summary>Wie lange dauert es?</summary>Eine Stunde.</details>""",
        "https://x.de/faq",
        lang="de",
    )
    assert found(faq.find, shown) == [
        {"question": "Was kostet das denn?", "answer": "Nichts. Wirklich."},
        {"question": "Wie lange dauert es?", "answer": "Eine Stunde."},
    ]


def test_what_unfolds_on_a_page_of_questions_is_one() -> None:
    page = view(
        """<h1>FAQ</h1><details><summary>Returns</summary><p>Within 30 days.</p></details>
        <details><summary>How long does it take?</summary><p>Two days.</p></details>""",
        "https://x.example/faq",
    )
    assert [each["question"] for each in found(faq.find, page)] == [
        "Returns",
        "How long does it take?",
    ]


def test_events() -> None:
    stated = view(
        """<script type="application/ld+json">{"@type":"MusicEvent","name":"Jazz im Park","startDate":"2026-07-04T19:30:00+02:00",
        "location":{"@type":"Place","name":"Stadtpark","address":{"@type":"PostalAddress","addressLocality":"Graz","addressCountry":"AT"}},
        "offers":{"@type":"Offer","price":12.50,"priceCurrency":"EUR"}}</script>"""
    )
    assert found(event.find, stated) == [
        {
            "name": "Jazz im Park",
            "start": "2026-07-04T19:30:00+02:00",
            "location": "Stadtpark",
            "locality": "Graz",
            "country": "AT",
            "price": 12.5,
            "currency": "EUR",
        }
    ]
    shown = view(
        """<h1>Sommerfest</h1><p>Datum: 4. Juli 2026</p><p>Ort: Stadtpark Graz</p>""",
        "https://x.at/veranstaltungen/sommerfest",
        lang="de",
    )
    assert found(event.find, shown) == [
        {"name": "Sommerfest", "start": "2026-07-04", "location": "Stadtpark Graz"}
    ]


def test_a_menu_of_cards_with_descriptions() -> None:
    page = view(
        """<h1>Il nostro menù</h1><h2>Antipasti</h2>
        <div><div>Bruschetta</div><div>pane tostato, pomodoro</div><div>€ 5,00</div></div>
        <div><div>Tagliere misto</div><div>salumi e formaggi</div><div>€ 12,50</div></div>
        <h2>Primi</h2><div><div>Lasagne</div><div>11,00</div></div>""",
        "https://gino.it/menu",
        lang="it",
    )
    assert found(price_item.find, page) == [
        {
            "name": "Bruschetta",
            "description": "pane tostato, pomodoro",
            "price": 5,
            "currency": "EUR",
            "section": "Antipasti",
        },
        {
            "name": "Tagliere misto",
            "description": "salumi e formaggi",
            "price": 12.5,
            "currency": "EUR",
            "section": "Antipasti",
        },
        {"name": "Lasagne", "price": 11, "section": "Primi"},
    ]


def test_a_price_list_of_a_salon() -> None:
    page = view(
        """<h1>Preise</h1><table><tr><td>Schneiden</td><td>ab 45 €</td></tr>
        <tr><td>Färben</td><td>60,00 – 90,00 €</td></tr><tr><td>Herrenschnitt</td><td>25,-</td></tr></table>""",
        "https://salon.de/preise",
        lang="de",
    )
    assert [(each["name"], each["price"]) for each in found(price_item.find, page)] == [
        ("Schneiden", 45),
        ("Färben", 60),
        ("Herrenschnitt", 25),
    ]


def test_labels_in_bold_without_a_colon() -> None:
    page = view(
        """<h1>Program dotacyjny</h1><title>Dotacje</title><div><strong>Organizator</strong><span>Fundacja X</span></div>
        <div><strong>Kwota dofinansowania</strong><span>od 5 000 zł do 50 000 zł</span></div>""",
        "https://x.pl/d",
        head="<title>Dotacje</title>",
    )
    assert found(funding_program.find, page) == [
        {"name": "Program dotacyjny", "funder": "Fundacja X", "amount": 50000, "currency": "PLN"}
    ]


def test_a_menu_of_cards_with_buttons() -> None:
    card = """<div class="card"><div class="about"><div><b>{name}</b></div><div>600 kcal</div></div>
        <div class="price">{price}</div><div>Lorem ipsum dolor.</div><div><button>Add</button></div></div>"""
    other = """<a href="#"><div class="body"><span>Pizza</span><h3>{name}</h3><p>Mozzarella, parmesan</p>
        <div class="foot"><span>{price}</span><span>+</span></div></div></a>"""
    cards = card.format(name="Hazelnut Shake", price="10$") + card.format(
        name="Mango Shake", price="R$ 12,50"
    )
    page = view(cards + other.format(name="Quattro", price="11.00 &euro;"), "https://bar.com/menu")
    assert [(each["name"], each["price"]) for each in found(price_item.find, page)] == [
        ("Hazelnut Shake", 10),
        ("Mango Shake", 12.5),
        ("Quattro", 11),
    ]
