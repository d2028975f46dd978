"""Contacts: people, addresses, numbers, profiles and forms, in several languages."""

# ruff: noqa: RUF001 - dashes and letters as pages have them

from __future__ import annotations

import pytest

from messor.content.kinds.contact import find
from tests.content.views import found, view


def test_german_imprint_gives_one_whole_contact() -> None:
    page = view(
        """<main><h1>Impressum</h1>
        <p>Praxis Dr. Sommer<br>Hauptstraße 12<br>10115 Berlin</p>
        <p>Telefon: 030 / 123 456-78<br>Telefax: 030 123456-79<br>E-Mail: praxis (at) dr-sommer (punkt) de</p>
        </main>""",
        "https://dr-sommer.de/impressum",
        lang="de",
    )
    assert found(find, page) == [
        {
            "street": "Hauptstraße 12",
            "postal_code": "10115",
            "locality": "Berlin",
            "phone": "+493012345678",
            "fax": "+493012345679",
            "email": "praxis@dr-sommer.de",
        }
    ]


def test_people_of_a_team_page() -> None:
    page = view(
        """<h1>Our team</h1>
        <div class="card"><h3>Anna Müller</h3><p>Managing Director</p>
          <a href="mailto:anna.mueller@acme.example.org">write</a></div>
        <div class="card"><h3>Tom O&#39;Brien</h3><p>Head of Sales</p>
          <p>tom@acme.org &middot; <a href="tel:+44-20-7946-0958">call</a></p></div>""",
        "https://acme.org/team",
    )
    assert found(find, page) == [
        {
            "name": "Anna Müller",
            "role": "Managing Director",
            "email": "anna.mueller@acme.example.org",
        },
        {
            "name": "Tom O'Brien",
            "role": "Head of Sales",
            "email": "tom@acme.org",
            "phone": "+442079460958",
        },
    ]


@pytest.mark.parametrize(
    "line, url, number",
    [
        ("Tél. : 01 42 68 53 00", "https://exemple.fr/", "+33142685300"),
        ("Teléfono: 91 521 29 00", "https://ejemplo.es/", "+34915212900"),
        ("Tel. 06 678 4651", "https://esempio.it/", "+39066784651"),
        ("Tel: +31 (0)20 624 1111", "https://voorbeeld.com/", "+31206241111"),
        ("Phone: (212) 736-3100", "https://example.us/", "+12127363100"),
        ("tel. 22 656 82 00", "https://przyklad.pl/", "+48226568200"),
        ("Puh. 09 310 1691", "https://esimerkki.fi/", "+35893101691"),
        ("Тел.: 8 (495) 697-03-49", "https://example.ru/", "+74956970349"),
        ("T 0041 44 668 18 00", "https://beispiel.org/", "+41446681800"),
    ],
)
def test_numbers_in_e164(line: str, url: str, number: str) -> None:
    (contact,) = found(find, view(f"<p>{line}</p>", url))
    assert contact["phone"] == number


def test_a_national_number_of_nowhere_stays_as_written() -> None:
    page = view("<p>Phone: 0151 23456789</p>", "https://example.com/")
    assert found(find, page) == [{"phone_text": "0151 23456789"}]


@pytest.mark.parametrize(
    "text",
    [
        "Order number 123456789012, invoice 2024-11-20.",
        "In 2019–2020 the team won 3:2, 1234567 people saw it.",
        "Write to name@example.com or see logo@2x.png.",
        "We met at noon at the old.house in town.",
        "IBAN DE89 3704 0044 0532 0130 00",
        "He was born 12.04.1968 in 80331 numbers of things.",
    ],
)
def test_what_is_no_contact(text: str) -> None:
    assert found(find, view(f"<p>{text}</p>", "https://example.de/", lang="de")) == []


def test_structured_person_and_contact_point() -> None:
    page = view(
        """<script type="application/ld+json">{"@graph": [
        {"@type": "Person", "name": "Zo\\u00eb Dupont", "jobTitle": "Fondatrice", "email": "mailto:zoe@atelier.fr"},
        {"@type": "Person", "name": "Only A Name"},
        {"@type": "ContactPoint", "telephone": "+33 1 42 68 53 00", "contactType": "sales"}]}</script>"""
    )
    assert found(find, page) == [
        {"name": "Zoë Dupont", "role": "Fondatrice", "email": "zoe@atelier.fr"},
        {"role": "sales", "phone": "+33142685300", "phone_text": "+33 1 42 68 53 00"},
    ]


def test_profiles_and_not_share_buttons() -> None:
    page = view(
        """<footer><a href="https://www.facebook.com/acme">f</a>
        <a href="https://www.facebook.com/sharer/sharer.php?u=x">share</a>
        <a href="https://twitter.com/intent/tweet?text=x">tweet</a>
        <a href="https://www.linkedin.com/company/acme/">in</a></footer>"""
    )
    assert found(find, page) == [
        {"network": "facebook", "profile": "https://www.facebook.com/acme"},
        {"network": "linkedin", "profile": "https://www.linkedin.com/company/acme/"},
    ]


def test_a_form_for_messages_and_not_one_for_comments() -> None:
    page = view(
        """<form action="/send" method="post"><input type="email" name="mail"><textarea name="message"></textarea></form>
        <form action="/wp-comments-post.php"><input name="email" type="email"><textarea name="comment"></textarea></form>""",
        "https://example.com/contact",
    )
    assert found(find, page) == [{"form_action": "/send", "form_message": "message"}]


@pytest.mark.parametrize(
    "body, street, code, place, region",
    [
        ("350 Fifth Avenue<br>New York, NY 10118", "350 Fifth Avenue", "10118", "New York", "NY"),
        (
            "723 Seventh Ave<br>Suite 902<br>Austin, Texas 78704-1234",
            "723 Seventh Ave Suite 902",
            "78704-1234",
            "Austin",
            "Texas",
        ),
        ("PO Box 80286<br>Phoenix, Az. 85001", "PO Box 80286", "85001", "Phoenix", "Az"),
        ("720 Brazos Suite 110 Austin, TX 78701", "720 Brazos Suite 110", "78701", "Austin", "TX"),
        (
            "Zoo Inc. | 525 East Stop 18 Road, Greenwood, IN 46143",
            "525 East Stop 18 Road",
            "46143",
            "Greenwood",
            "IN",
        ),
        (
            "363 Supertest Rd<br>Toronto, ON<br>M3J 2M4",
            "363 Supertest Rd",
            "M3J 2M4",
            "Toronto",
            "ON",
        ),
        (
            "101-1305 Welch St<br>Vancouver,<br>V7P 1B3, BC",
            "101-1305 Welch St",
            "V7P 1B3",
            "Vancouver",
            "BC",
        ),
        (
            "Unit 12 Admiral Court<br>Nelson Road<br>Dartmouth<br>Devon<br>TQ6 9HU",
            "Unit 12 Admiral Court Nelson Road",
            "TQ6 9HU",
            "Dartmouth",
            "Devon",
        ),
        (
            "Prescot Road<br>St Helens<br>Merseyside<br>WA10 3TT",
            "Prescot Road",
            "WA10 3TT",
            "St Helens",
            "Merseyside",
        ),
    ],
)
def test_addresses_that_end_in_a_region_and_a_code(
    body: str, street: str, code: str, place: str, region: str
) -> None:
    assert found(find, view(f"<p>About us</p><p>{body}</p>")) == [
        {"street": street, "postal_code": code, "locality": place, "region": region}
    ]


def test_an_address_without_a_code_and_a_street_alone() -> None:
    page = view(
        "<p>1391 Smizer Mill Road<br>Fenton, MO</p><p>Text</p><p>12 West 9th Street, #6C</p>"
    )
    assert found(find, page) == [
        {"street": "1391 Smizer Mill Road", "locality": "Fenton", "region": "MO"},
        {"street": "12 West 9th Street, #6C"},
    ]


@pytest.mark.parametrize(
    "text",
    ["Akron OH 44301 - 44399", "In 2013 Colorado 12345 people came.", "Model WA 2013 and more"],
)
def test_what_is_no_address(text: str) -> None:
    assert found(find, view(f"<p>{text}</p>")) == []


@pytest.mark.parametrize(
    "body, phone",
    [
        ("Ring (206) 588-2075 today", "+12065882075"),
        ("770-416-6100", "+17704166100"),
        ("Call 303.333.PAUL now", "+13033337285"),
        ("1-800-FLOWERS", "+18003569377"),
        ("(413)-545-5271", "+14135455271"),
        ("Tel 0207 515 7774, London E14 9QY", "+442075157774"),
    ],
)
def test_national_numbers_without_a_stated_country(body: str, phone: str) -> None:
    assert phone in [each.get("phone") for each in found(find, view(f"<p>{body}</p>"))]


@pytest.mark.parametrize(
    "text", ["8/28/2014 - 8/30/2014", "2014-01-28", "Open 10.00 - 18.00", "ISBN 123 456 7890 12"]
)
def test_what_is_no_number(text: str) -> None:
    assert not [each for each in found(find, view(f"<p>{text}</p>")) if "phone" in each]


def test_a_fax_is_labelled_before_or_after_its_number() -> None:
    page = view("<p>Phone: 636-349-2400 Fax: 636-349-9906</p><p>(212) 504-4115 (fax)</p>")
    rows = found(find, page)
    assert [each.get("phone") for each in rows if "phone" in each] == ["+16363492400"]
    assert [each["fax"] for each in rows if "fax" in each] == ["+16363499906", "+12125044115"]


def test_the_country_of_a_page_by_its_text() -> None:
    page = view("<p>Ireland</p><p>Tel 01 679 6111</p>")
    assert found(find, page)[0]["phone"] == "+35316796111"


@pytest.mark.parametrize(
    "body, street, code, place",
    [
        (
            "<address>12 rue de la Paix<br>75002 Paris</address>",
            "12 rue de la Paix",
            "75002",
            "Paris",
        ),
        ("<p>Calle de Alcalá 45, 28014 Madrid</p>", "Calle de Alcalá 45", "28014", "Madrid"),
        ("<p>Via Roma 10</p><p>00184 Roma</p>", "Via Roma 10", "00184", "Roma"),
        ("<p>Damstraat 3<br>1012 LG Amsterdam</p>", "Damstraat 3", "1012 LG", "Amsterdam"),
        (
            "<p>ul. Marszałkowska 8, 00-590 Warszawa</p>",
            "ul. Marszałkowska 8",
            "00-590",
            "Warszawa",
        ),
        ("<p>Drottninggatan 5, 111 51 Stockholm</p>", "Drottninggatan 5", "111 51", "Stockholm"),
        ("<p>221B Baker Street, London NW1 6XE</p>", "221B Baker Street", "NW1 6XE", "London"),
    ],
)
def test_postal_addresses(body: str, street: str, code: str, place: str) -> None:
    assert found(find, view(body)) == [{"street": street, "postal_code": code, "locality": place}]


def test_blocks_of_a_french_contact_page() -> None:
    page = view(
        """<main><h1>Contactez-nous</h1><div><i></i><span>14 bis avenue Victor Hugo<br/>69002 Lyon</span></div>
        <div><i></i><span>04 72 00 11 22</span></div>
        <a href="mailto:accueil@clinique.fr?subject=Bonjour">Écrivez-nous</a>
        <h2>L'équipe</h2><div><h4>Dr Claire Fontaine</h4><span>Médecin</span><span>claire.fontaine@clinique.fr</span></div>
        </main>""",
        "https://clinique.fr/contact",
        lang="fr",
    )
    assert found(find, page) == [
        {
            "street": "14 bis avenue Victor Hugo",
            "postal_code": "69002",
            "locality": "Lyon",
            "phone": "+33472001122",
            "email": "accueil@clinique.fr",
        },
        {"name": "Dr Claire Fontaine", "email": "claire.fontaine@clinique.fr"},
    ]


def test_an_address_within_a_footer_line() -> None:
    page = view("<footer><p>Joe's Plumbing LLC, 1200 S Lamar Blvd, Austin, TX 78704</p></footer>")
    assert found(find, page) == [
        {
            "street": "1200 S Lamar Blvd",
            "postal_code": "78704",
            "locality": "Austin",
            "region": "TX",
        }
    ]


@pytest.mark.parametrize(
    "written",
    [
        "info[zavináč]firma.cz",
        "info (arroba) firma.cz",
        "info {at} firma [dot] cz",
        "INFO@Firma.cz",
    ],
)
def test_ways_to_write_an_address(written: str) -> None:
    assert found(find, view(f"<p>Mail: {written}.</p>")) == [{"email": "info@firma.cz"}]


def test_text_that_is_not_shown_is_no_part_of_an_address() -> None:
    page = view(
        '<p>office<span style="display:none">NOSPAM</span>@huber-partner.at</p>',
        "https://huber-partner.at/impressum",
    )
    assert found(find, page) == [{"email": "office@huber-partner.at"}]


def test_addresses_that_a_script_unveils() -> None:
    page = view(
        """<p>Email: <a href="/cdn-cgi/l/email-protection" class="__cf_email__"
        data-cfemail="543b32323d3731143c3d383827373c3b3b387a373b7a213f">[email&#160;protected]</a></p>
        <hr><p>or <a href="/cdn-cgi/l/email-protection#2a424f4e6a4243464659">the head</a></p>""",
        "https://hillschool.co.uk/contact",
    )
    assert found(find, page) == [{"email": "office@hillschool.co.uk"}]


@pytest.mark.parametrize(
    "body", ["<dl><dt>電話番号</dt><dd>03-1234-5678</dd></dl>", "<p>電話：03-1234-5678</p>"]
)
def test_numbers_with_a_label_of_another_script(body: str) -> None:
    page = view(body, "https://shop.example.jp/info", lang="ja")
    assert found(find, page) == [{"phone": "+81312345678"}]


def test_profiles_that_structured_data_states() -> None:
    page = view(
        '<a href="https://facebook.com/acme">Facebook</a>',
        head="""<script type="application/ld+json">[{"@type": "Organization", "name": "Acme", "sameAs":
        ["https://www.facebook.com/Acme/", "https://www.instagram.com/acme", "https://acme.example"]},
        {"@type": "Person", "name": "Jo", "sameAs": "https://x.com/jo"}]</script>""",
    )
    assert found(find, page) == [
        {"network": "facebook", "profile": "https://facebook.com/acme"},
        {"network": "instagram", "profile": "https://www.instagram.com/acme"},
    ]


@pytest.mark.parametrize(
    "body, street, code, place",
    [
        ("Av. Paulista, 1578<br>São Paulo - SP, 01310-200", "Av. Paulista, 1578", "01310-200", "São Paulo"),
        ("Rua Augusta, 5<br>01310-200 São Paulo/SP", "Rua Augusta, 5", "01310-200", "São Paulo"),
        ("Kärntner Ring 5–7<br>1010 Wien", "Kärntner Ring 5–7", "1010", "Wien"),
    ],
)  # fmt: skip
def test_addresses_of_brazil_and_of_streets_in_two_words(
    body: str, street: str, code: str, place: str
) -> None:
    (contact,) = found(find, view(f"<p>{body}</p>", "https://x.example/contact"))
    assert contact == {"street": street, "postal_code": code, "locality": place}


def test_an_address_below_a_card_is_not_the_person_s() -> None:
    page = view(
        """<div><h3>Giulia Bianchi</h3><p>Direttrice</p><p>giulia@verde.it</p></div>
        <p>Studio Verde, Via Garibaldi 15, 00153 Roma</p>
        <div><h3>Marco Neri</h3><p>Responsabile</p><p>marco@verde.it</p><p>Via Roma 1, 20121 Milano</p></div>""",
        "https://verde.it/contatti",
    )
    assert found(find, page) == [
        {"name": "Giulia Bianchi", "role": "Direttrice", "email": "giulia@verde.it"},
        {"street": "Via Garibaldi 15", "postal_code": "00153", "locality": "Roma"},
        {
            "name": "Marco Neri",
            "role": "Responsabile",
            "email": "marco@verde.it",
            "street": "Via Roma 1",
            "postal_code": "20121",
            "locality": "Milano",
        },
    ]
