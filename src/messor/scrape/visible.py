"""What a visitor sees on an archived page, for programs that read for a model.

Hidden elements, comments, alternative texts, invisible characters and lines that address a machine are
left out and counted. What remains is still a stranger's text: data, never instruction.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from messor.ai.hidden import hidden_spans
from messor.ai.injections import is_injection
from messor.ai.visible_text import VisibleText
from messor.archive import texts
from messor.archive.snapshot_content import read_body
from messor.archive.storage import Archive
from messor.content.plain import one_space
from messor.content.view import PageView
from messor.errors import NotFoundError, UnavailableError
from messor.scrape.archived import SnapshotPage
from messor.store.database import Database
from messor.web.document_formats import format_of
from messor.web.encodings import decode
from messor.web.html import TooComplexError

# Characters that nobody sees, or that change the direction of others.
_UNSEEN = re.compile(
    r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ue000-\uf8ff\U000e0000-\U000e0fff]"
)
_IMAGE = re.compile(r"!\[[^\]\n]{0,2000}\]\([^)\n]{0,4000}\)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class VisiblePage:
    """The text of a page as a visitor sees it."""

    text: str
    hidden: int  # elements left out
    withheld: int  # lines left out because they address a machine


def plain_title(title: str | None) -> str | None:
    """A title as it may be read to a model; none if it addresses one."""
    if title is None:
        return None
    text = one_space(_UNSEEN.sub("", title))
    return None if is_injection(text) else text


async def visible(database: Database, archive: Archive, page: SnapshotPage) -> VisiblePage:
    """Read the archived bytes; of a document, the text that was made of it."""
    try:
        return await asyncio.to_thread(_read, archive, page)
    except (NotFoundError, UnavailableError, TooComplexError, FileNotFoundError):
        text = await texts.markdown(database, page.snapshot_id)
        return VisiblePage(_UNSEEN.sub("", _COMMENT.sub("", _IMAGE.sub("", text))), 0, 0)


def _read(archive: Archive, page: SnapshotPage) -> VisiblePage:
    if page.segment is None or page.misfiled_at is not None:
        raise NotFoundError("The archive does not hold its bytes.")
    body = read_body(archive, page.segment, page.segment_offset, page.segment_length)
    if format_of(page.content_type, body) is not None:
        raise NotFoundError("It is a document.")
    source, _ = decode(body, page.content_type)
    view = PageView.of(source, page.url)
    seen = VisibleText.of(view)
    hidden = hidden_spans(view.document, view.source)
    lines = [line for each in seen.lines() if (line := one_space(_UNSEEN.sub("", each)))]
    return VisiblePage("\n".join(lines), len(hidden), seen.withheld)
