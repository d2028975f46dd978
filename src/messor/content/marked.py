"""Elements that are marked as a byline, an author or a trail of breadcrumbs.

Each selector of attributes is a walk over the whole tree. One walk tells whether a page has any of
these marks, and most have few.
"""

from __future__ import annotations

from turbohtml import Element

from messor.content.view import PageView

BYLINES = '[class*="byline" i], [rel~="author"]'
AUTHORS = '[rel~="author"], [itemprop~="author"]'
CRUMBS = (
    '[aria-label*="breadcrumb" i], [class~="breadcrumb" i], [class~="breadcrumbs" i],'
    ' [id="breadcrumb" i], [id="breadcrumbs" i]'
)
# Whatever one of them selects, and some more, for shorter lists take less time.
_ANY = (
    ':is([rel~="author"], [itemprop~="author"], [class*="byline" i], [class*="breadcrumb" i],'
    ' [aria-label*="breadcrumb" i], [id*="breadcrumb" i])'
)
_FEW = 12


def marked(page: PageView, marks: str) -> list[Element]:
    """What one of the selectors of this module selects, in the order of the page."""
    known = page.notes.get("marked")
    if not isinstance(known, list):
        known = page.notes["marked"] = page.document.select(_ANY)
    if len(known) > _FEW:
        return page.document.select(marks)
    return [element for element in known if element.matches(marks)]
