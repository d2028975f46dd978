"""Recognises a forum's thread: a page whose content is the posts of several people.

Read as an article it would keep one post and lose the others as comments on it.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

# Declared with microdata on the page.
THREAD = '[itemtype$="schema.org/DiscussionForumPosting"], [itemtype$="schema.org/QAPage"]'
_TYPES = ("DiscussionForumPosting", "QAPage")
_TYPE = re.compile(r'"@type"\s*+:\s*+\[?+\s*+"(?:DiscussionForumPosting|QAPage)"')
# The addresses that common forum software gives its threads.
_PATH = re.compile(
    r"""
    /(?:threads?|topics?|viewtopic|showthread|viewthread|t|d|questions)[/.?-](?=.*[0-9a-z]) |
    /forums?/.+/.+ | /viewtopic\.php | /showthread\.php
    """,
    re.VERBOSE,
)
_HOST = re.compile(r"(?:^|\.)(?:forums?|boards?|communit(?:y|ies)|discuss|discussions?|answers)\.")
# On other hosts a path alone says too little: /t/ and /d/ may be anything.
_SURE_PATH = re.compile(
    r"/(?:threads?|showthread|viewtopic|viewthread)[/.?]|/forums?/.+/.+|/questions/\d+/"
)


def says_thread(script: str) -> bool:
    """Whether structured data declares a thread."""
    return any(name in script for name in _TYPES) and _TYPE.search(script) is not None


def is_thread_url(url: str) -> bool:
    """Whether a URL is written like that of a thread."""
    try:
        parts = urlsplit(url.lower())
    except ValueError:
        return False
    if _SURE_PATH.search(parts.path):
        return True
    return _HOST.search(parts.hostname or "") is not None and _PATH.search(parts.path) is not None
