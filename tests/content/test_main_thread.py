"""Main content of forum threads: every post counts, and what is served without scripts is read."""

from __future__ import annotations

import pytest

from messor.content.main import read_main
from messor.content.main.thread import is_thread_url

THREAD = "https://forum.site.example/t/leaking-kettle/81"
ARTICLE = "https://site.example/news/leaking-kettle"
QUESTION = (
    "My kettle leaks at the base since Monday, and I have already replaced the seal twice. Has "
    "anybody found out which part has to go next, or is it time for a new one?"
)
REPLY = "Look at the thermostat first: its rubber ring dries out."
LONG_REPLY = (
    "It was the thermostat here as well. I took the base apart, cleaned the ring with vinegar and "
    "put it back with a little silicone grease; it has been dry ever since, for two years now."
)
POSTS = "".join(
    f'<div class=post><div class=author>user{n}</div><div itemprop="articleBody"><p>{text}</p></div></div>'
    for n, text in enumerate((QUESTION, REPLY, LONG_REPLY))
)
DECLARED = '<script type="application/ld+json">{"@type": "DiscussionForumPosting"}</script>'


def test_a_thread_keeps_all_posts() -> None:
    found = read_main(f"<h1>Leaking kettle</h1>{POSTS}", THREAD)
    assert not found.is_article
    for text in (QUESTION, REPLY, LONG_REPLY):
        assert text in found.text


@pytest.mark.parametrize(
    "sign",
    [DECLARED, '<div itemscope itemtype="https://schema.org/QAPage"></div>'],
    ids=["structured data", "microdata"],
)
def test_a_declared_thread_needs_no_telling_url(sign: str) -> None:
    assert REPLY not in read_main(f"<h1>Leaking kettle</h1>{POSTS}", ARTICLE).text
    assert REPLY in read_main(f"{sign}<h1>Leaking kettle</h1>{POSTS}", ARTICLE).text


def test_a_thread_served_for_visitors_without_scripts_is_read_in_order_with_its_markup() -> None:
    page = f"<div id=app>Loading</div><noscript><h1>Leaking kettle</h1>{POSTS}{POSTS}</noscript>"
    found = read_main(page, THREAD)
    places = [found.text.index(text) for text in (QUESTION, REPLY, LONG_REPLY)]
    assert places == sorted(places)
    assert found.markdown.startswith("# Leaking kettle")


def test_a_fallback_beside_content_is_not_content() -> None:
    lines = "".join(f"<p>{QUESTION}</p><p>{LONG_REPLY} {n}</p>" for n in range(4))
    hint = (
        f"<noscript><p>Switch on scripts.</p><p>{'Without them little works. ' * 30}</p></noscript>"
    )
    assert "scripts" not in read_main(f"<article>{lines}</article>{hint}", ARTICLE).text


@pytest.mark.parametrize(
    "url, is_thread",
    [
        ("https://forum.site.example/t/kettle/81", True),
        ("https://community.site.example/d/81-kettle", True),
        ("https://site.example/threads/kettle.81/", True),
        ("https://site.example/forum/showthread.php?t=81", True),
        ("https://site.example/viewtopic.php?t=81", True),
        ("https://site.example/questions/81/which-kettle", True),
        ("https://forum.site.example/", False),
        ("https://site.example/t/kettle", False),
        ("https://site.example/questions/", False),
        ("https://site.example/news/thread-of-the-week", False),
        ("https://[broken/threads/1", False),
    ],
)
def test_urls_of_threads(url: str, is_thread: bool) -> None:
    assert is_thread_url(url) is is_thread
