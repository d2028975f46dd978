from __future__ import annotations

from messor.core.lazy import lazy


class Page:
    def __init__(self) -> None:
        self.asked = 0

    @lazy
    def title(self) -> str:
        """What it is called."""
        self.asked += 1
        return f"page {self.asked}"

    @lazy
    def broken(self) -> str:
        self.asked += 1
        raise ValueError(self.asked)


def test_what_is_asked_for_is_made_once_for_each() -> None:
    one, other = Page(), Page()
    assert (one.title, one.title, other.title) == ("page 1", "page 1", "page 1")
    assert (one.asked, other.asked) == (1, 1)
    assert Page.__dict__["title"].__doc__ == "What it is called."


def test_what_could_not_be_made_is_tried_again() -> None:
    page = Page()
    for _ in range(2):
        try:
            page.broken  # noqa: B018
        except ValueError:
            continue
    assert page.asked == 2
