"""Page types of hand-made pages in several languages, and of the external articles and products."""

from __future__ import annotations

from collections import Counter

import pytest

from messor.content.page_type import TYPES, page_type
from messor.content.view import PageView
from tests.content.views import corpus_pages, view

LOREM = "<p>" + "The quick brown fox jumps over the lazy dog near the river bank. " * 3 + "</p>"
LOGIN = '<form><input name="user"><input type="password"><button>OK</button></form>'
FORM = '<form action="/s"><input type="email"><textarea></textarea></form>'


@pytest.mark.parametrize(
    "expected, url, title, body",
    [
        ("home", "https://acme.de/", "Acme GmbH", "<h1>Willkommen</h1>"),
        ("home", "https://acme.com/en/", "Acme", LOREM * 5),
        ("about", "https://acme.fr/a-propos", "À propos | Acme", LOREM),
        ("about", "https://acme.pl/o-nas", "O nas", LOREM),
        ("service", "https://acme.de/leistungen", "Leistungen", LOREM),
        ("pricing", "https://acme.it/prezzi", "Prezzi", "<p>10 €</p>"),
        ("contact", "https://acme.es/contacto", "Contacto", FORM),
        ("contact", "https://acme.org/x", "Get in touch", FORM),
        ("menu", "https://wirt.at/speisekarte", "Speisekarte", "<p>Suppe 4,90 €</p>" * 9),
        ("faq", "https://acme.nl/veelgestelde-vragen", "Veelgestelde vragen", "<h3>Hoe?</h3>" * 5),
        ("legal", "https://acme.de/datenschutz", "Datenschutzerklärung", LOREM * 9),
        ("legal", "https://acme.com/terms", "Terms of Service", LOREM * 9),
        ("login", "https://acme.com/login", "Sign in", LOGIN),
        ("login", "https://acme.com/start", "Connexion", LOGIN),
        ("error", "https://acme.com/nope", "404 - Page not found", "<h1>Oops</h1>"),
        ("error", "https://acme.de/weg", "Seite nicht gefunden", "<p>Leider.</p>"),
        ("search", "https://acme.com/search?q=tea", "Search results for tea", "<p>3 results</p>"),
        ("listing", "https://shop.de/kategorie/schuhe?page=2", "Schuhe", "<p>19,90 €</p>" * 20),
        ("cart", "https://shop.com/cart", "Your cart", "<p>Empty</p>"),
        ("article", "https://news.com/2026/01/02/fox-jumps-over-dog", "Fox jumps", LOREM * 8),
        (
            "product",
            "https://shop.com/product/blue-fox",
            "Blue fox",
            "<p>$12.00</p><button>Add to cart</button>",
        ),
        ("other", "https://acme.com/xyz", "Xyz", "<p>Hello</p>"),
        ("forum", "https://forum.acme.com/t/how-to-jump/123", "How to jump", LOREM * 8),
        ("forum", "https://acme.com/showthread.php?t=7", "Jumping", LOREM * 8),
        ("forum", "https://acme.com/x", "X", '<meta name="generator" content="phpBB">' + LOREM * 4),
        ("documentation", "https://docs.acme.com/guide/install", "Install", LOREM * 8),
        ("documentation", "https://acme.com/reference/fox", "Fox", "<pre>a</pre>" * 4 + LOREM * 5),
        (
            "documentation",
            "https://fox.org/a",
            "A",
            '<meta name="generator" content="Docutils, Sphinx">' + LOREM * 5,
        ),
    ],
)
def test_types(expected: str, url: str, title: str, body: str) -> None:
    found = page_type(view(body, url, head=f"<title>{title}</title>"))
    assert found.name == expected, found
    assert 0 < found.confidence <= 1
    assert found.reasons


def test_structured_data_decides() -> None:
    for kind, expected in (("JobPosting", "job"), ("MusicEvent", "event"), ("FAQPage", "faq")):
        script = f'<script type="application/ld+json">{{"@type":"{kind}","name":"x"}}</script>'
        assert page_type(view(script)).name == expected


def test_categories() -> None:
    assert page_type(view(LOREM, "https://acme.de/leistungen")).category == "services"
    assert page_type(view(LOREM, "https://acme.de/xyz"), status=500).category is None


def test_a_status_is_an_error() -> None:
    assert page_type(view(LOREM), status=404).name == "error"


@pytest.mark.parametrize("name, share", [("articles", 0.97), ("products", 0.85)])
def test_external_pages(name: str, share: float) -> None:
    counts: Counter[str] = Counter()
    for url, text in corpus_pages(name):
        found = page_type(PageView.of(text, url))
        assert found.name in TYPES
        counts[found.name] += 1
    assert counts[name[:-1]] / counts.total() >= share, counts
