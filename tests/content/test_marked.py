"""Elements marked as bylines, authors or breadcrumbs: the same as each selector would find alone."""

from __future__ import annotations

import pytest

from messor.content.bylines import AUTHORS, BYLINES, CRUMBS, marked
from tests.content.views import view

PAGE = (
    "<p class=Post-Byline id=1>x</p><a rel='nofollow author' id=2>x</a><i itemprop=author id=3>x</i>"
    "<nav aria-label='Breadcrumbs' id=4>x</nav><ul class='a BREADCRUMB' id=5></ul>"
    "<div class=breadcrumb-item id=6></div><ol id=Breadcrumbs></ol><b id=breadcrumb-x></b><u>y</u>"
)


@pytest.mark.parametrize("marks", [AUTHORS, BYLINES, CRUMBS])
@pytest.mark.parametrize("times", [0, 1, 5])
def test_marked_elements_are_those_that_the_selector_finds(marks: str, times: int) -> None:
    page = view(f"<p>a</p>{PAGE * times}")
    assert marked(page, marks) == page.document.select(marks)
    assert bool(marked(page, marks)) is (times > 0)


def test_which_marks_are_whose() -> None:
    page = view(PAGE)
    found = [
        [each.attr("id") for each in marked(page, marks)] for marks in (AUTHORS, BYLINES, CRUMBS)
    ]
    assert found == [["2", "3"], ["1", "2"], ["4", "5", "Breadcrumbs"]]
