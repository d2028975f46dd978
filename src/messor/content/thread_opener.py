"""Who began a thread: the first person named at a post, where structured data does not say so.

Forum software names the author of a post in an attribute, in a link to the person's page, or in an
element named after users; which of them it is differs, but the first such name behind the title is
that of the first post.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from messor.content.main.thread import is_thread_url
from messor.content.titles import letters
from messor.content.view import PageView
from messor.web.text import one_line

# Addresses of posts with remarks, which are read as pages and not as threads.
_POST = re.compile(r"^/(?:r/\w+/comments|post/\d|s/\w+/\w)", re.IGNORECASE)
_TYPES = frozenset(("DiscussionForumPosting", "QAPage", "Question"))
_MAX_NAME = 60
_MAX_WORDS = 4
_MAX_TRIED = 200
_ATTRIBUTES = ("data-author", "author")
_PEOPLE = (
    ':is([data-author], [author], a[href*="member"], a[href*="user"], a[href*="/u/"],'
    ' a[href*="/~"], a[href*="profile"],'
    ' [class*="username" i], [class*="user-name" i], [class*="postleft" i] dt,'
    ' [class*="author" i] a, a[class*="author" i], [class*="poster" i] a, [class*="creator" i] a)'
)
_FRAME = "nav, footer, [class*='breadcrumb' i], [class*='login' i]"
# A link to a person's page, and not to a list of them or to an account's own.
_PERSON = re.compile(
    r"(?:^|/)(?:members?|users?|u|profiles?|people)/[^/?#]+|/~[^/]+|/?user-\d+|viewprofile|member\.php\?|profile\.php\?",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"\b(?:log ?in|sign|register|members?|profile|users?|search|reply|quote|posts?|posted|joined|more|view|online|offline|password|forgot|guests?|visitors?|account)\b|[@:/#]|^\W*\d*\W*$",
    re.IGNORECASE,
)


def is_thread(page: PageView) -> bool:
    """Whether the page is a thread, as it declares or as its URL is written."""
    return (
        not _TYPES.isdisjoint(page.types)
        or is_thread_url(page.url)
        or _POST.search(page.path) is not None
    )


def opener(page: PageView, headline: str) -> str:
    """Return the name of the one who began a thread, empty if none is named."""
    begun = _begun(page, headline)
    before = ""
    for element, name in _named(page):
        if (element.position or (0, 0)) > begun:
            return name
        before = before or name
    return before


def _begun(page: PageView, headline: str) -> tuple[int, int]:
    """Return the position of the title."""
    wanted = letters(headline)
    for tag in ("h1", "h2", "h3"):
        for element in page.document.find_all(tag)[:_MAX_TRIED]:
            if wanted and letters(element.text).startswith(wanted):
                return element.position or (0, 0)
    return (0, 0)


def _named(page: PageView) -> Iterator[tuple[Element, str]]:
    """Yield elements that name a person, in page order."""
    for element in page.document.select(_PEOPLE)[:_MAX_TRIED]:
        stated = next((value for each in _ATTRIBUTES if (value := element.attr(each))), None)
        href = element.attr("href")
        if stated is None and href is not None and not _PERSON.search(href):
            continue
        name = one_line(stated or element.text, 2 * _MAX_NAME)
        if _is_name(name) and element.closest(_FRAME) is None:
            yield element, name


def _is_name(text: str) -> bool:
    return (
        1 < len(text) <= _MAX_NAME
        and len(text.split()) <= _MAX_WORDS
        and _NO_NAME.search(text) is None
    )
