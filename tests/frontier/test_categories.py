"""Categories of pages, in many languages, and what is none."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.core.words import phrases
from messor.frontier.categories import CATEGORIES, WORDS, Category, categorise, priority


def name_of(path: str, anchor: str = "", title: str = "") -> str | None:
    found = categorise(path, anchor, title)
    return found.name if found else None


@pytest.mark.parametrize(
    "path", ["/", "", "/index.html", "/en/", "/de-DE/", "/us/en", "/Default.aspx"]
)
def test_roots_are_home(path: str) -> None:
    assert name_of(path) == "home"


@pytest.mark.parametrize(
    "path, name",
    [
        ("/about-us", "about"),
        ("/AboutUs.aspx", "about"),
        ("/company/team", "about"),
        ("/about/our-history", "about"),
        ("/de/ueber-uns/", "about"),
        ("/%C3%BCber-uns", "about"),
        ("/chi-siamo.html", "about"),
        ("/hakkimizda", "about"),
        ("/o-nas", "about"),
        ("/our_services", "services"),
        ("/services/teeth-whitening", "services"),
        ("/leistungen/", "services"),
        ("/dienstleistungen-steuerberatung", "services"),
        ("/dich-vu", "services"),
        ("/pricing", "pricing"),
        ("/plans-and-pricing", "pricing"),
        ("/preisliste-2024.html", "pricing"),
        ("/nos-tarifs", "pricing"),
        ("/contact.php", "contact"),
        ("/en/contact-us", "contact"),
        ("/kontakt", "contact"),
        ("/fale-conosco", "contact"),
        ("/menu", "menu"),
        ("/speisekarte", "menu"),
        ("/menus/dinner-menu", "menu"),
        ("/jidelni-listek", "menu"),
        ("/products/blue-chair", "products"),
        ("/shop/", "products"),
        ("/product/a-very-long-name-of-one-single-product-in-blue", "products"),
        ("/produkte", "products"),
        ("/faq", "faq"),
        ("/help/shipping", "faq"),
        ("/haeufige-fragen", "faq"),
        ("/resources/faq", "faq"),
    ],
)
def test_paths_name_their_category(path: str, name: str) -> None:
    assert name_of(path) == name


@pytest.mark.parametrize(
    "path",
    [
        "/blog/2024/how-to-price-your-menu",
        "/news/our-new-products",
        "/2024/05/12/services",
        "/how-to-write-an-about-page-that-sells-services",
        "/terms-of-service",
        "/about/privacy-policy",
        "/tag/products",
        "/people/jane-doe",
        "/section/food",
        "/contactless-payment",
        "/productivity",
        "/index.php?id=5",
        "/x/y/z",
        "/my-account/contact",
        "/tin-tuc/menu",
    ],
)
def test_articles_and_formalities_have_none(path: str) -> None:
    assert categorise(path) is None


def test_every_word_of_the_table_is_recognised_in_paths_and_anchors() -> None:
    """A word that two categories claim goes to the first; there are few."""
    lost = []
    for name, languages in WORDS.items():
        for phrase in phrases(",".join(languages.values())):
            words = phrase.strip(" =!")
            for path in (f"/{quote(words.replace(' ', '-'))}", f"/fr/{words.replace(' ', '_')}/"):
                lost += [(name, path)] * (name_of(path) != name)
            if "!" not in phrase:
                lost += [(name, words)] * (name_of("/x?id=5", words.upper()) != name)
    assert lost == []


@pytest.mark.parametrize(
    "path, anchor, name",
    [
        ("/page-17", "Contact us", "contact"),
        ("/p/12345", "Über uns", "about"),
        ("/node/5", "よくある質問", "faq"),
        ("/s/1", "产品中心", "products"),
        ("/a", "خدماتنا", "services"),
        ("/b", "हमारे बारे में", "about"),
        ("/c", "ΤΙΜΈΣ", "pricing"),
        ("/d", "Meny", "menu"),
        ("/e", "오시는 길", "contact"),
    ],
)
def test_a_link_text_tells_where_the_path_does_not(path: str, anchor: str, name: str) -> None:
    assert name_of(path, anchor) == name


def test_a_title_tells_too_and_a_headline_does_not() -> None:
    assert name_of("/page-17", title="Contact us | Acme") == "contact"
    assert name_of("/page-17", title="Why our services got cheaper over the last ten years") is None


def test_a_path_outweighs_a_link_text() -> None:
    assert name_of("/pricing", "Contact us") == "pricing"


def test_the_cue_is_told() -> None:
    assert categorise("/en/unsere-leistungen") == Category("services", 1.0, "unsere leistungen")


def test_priorities() -> None:
    assert priority(categorise("/"), 0) == 3
    assert priority(categorise("/contact"), 1) == 4
    assert priority(categorise("/products/blue-chair"), 2) == 5
    assert priority(None, 1) == 5
    assert priority(None, 9) == 6
    assert priority(categorise("/shop"), 1, listing=True) == 6


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_any_text_gets_an_answer(path: str, anchor: str, title: str) -> None:
    found = categorise(f"/{path}", anchor, title)
    assert found is None or (found.name in CATEGORIES and 0 < found.score <= 1)
