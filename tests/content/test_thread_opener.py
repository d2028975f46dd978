"""Who began a thread, as the markup of common forum software names them."""

from __future__ import annotations

import pytest

from messor.content.metadata import read_metadata
from messor.content.view import PageView

TEXT = "<p>" + "The fox jumps over the lazy dog and has been seen with it again. " * 4 + "</p>"
HEAD = "<nav><a href='/members/'>Members</a></nav><h1>What do foxes say?</h1>"


def authors(body: str, url: str = "https://forum.example/threads/foxes.7/") -> list[str]:
    page = PageView.of(f"<title>What do foxes say?</title><body>{body}", url)
    return read_metadata(page).authors


@pytest.mark.parametrize(
    "post",
    [
        "<article data-author='{}'>",
        "<a href='members/x.1/' class='username'>{}</a>",
        "<dl class='postprofile'><dt><a href='./memberlist.php?mode=viewprofile&u=2'>{}</a></dl>",
        "<div class='postleft'><dl><dt><strong>{}</strong></dt></dl></div>",
        "<div class='PostUser'><h3 class='PostUser-username'>{}</h3></div>",
        "<a href='/~x'><img></a><a href='/~x'>{}</a>",
        "<div class='author_information'><a href='/user-12.html'>{}</a></div>",
    ],
)
def test_the_first_name_behind_the_title_began_it(post: str) -> None:
    posts = "".join(post.format(name) + TEXT for name in ("foxy 9", "dogmatic"))
    assert authors(f"<a href='/user/last'>latest-visitor</a>{HEAD}{posts}") == ["foxy 9"]


@pytest.mark.parametrize("name", ["Log in", "Members", "Lost Password?", "12", "@ann"])
def test_what_names_nobody(name: str) -> None:
    assert authors(f"{HEAD}<a href='/members/x'>{name}</a>{TEXT}") == []


def test_a_page_that_is_no_thread_has_no_opener() -> None:
    body = f"{HEAD}<a class='username' href='/members/x'>foxy</a>{TEXT}"
    assert authors(body, "https://zoo.example/foxes") == []
