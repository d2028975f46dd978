"""Elements marked up as byline, author or breadcrumb.

Each attribute selector walks the whole tree. One combined walk finds out whether a page has any of
these, and most have few.
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
# A superset of the selectors above: shorter lists are faster.
_ANY = (
    ':is([rel~="author"], [itemprop~="author"], [class*="byline" i], [class*="breadcrumb" i],'
    ' [aria-label*="breadcrumb" i], [id*="breadcrumb" i])'
)
_FEW = 12


def marked(page: PageView, marks: str) -> list[Element]:
    """Return what one of this module's selectors matches, in page order."""
    known = page.once(_any)
    if len(known) > _FEW:
        return page.document.select(marks)
    return [element for element in known if element.matches(marks)]


def _any(page: PageView) -> list[Element]:
    return page.document.select(_ANY)
