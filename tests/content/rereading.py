"""Lists in many spellings, and the claim that what was read before changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from messor.content.memory import Memory

ITEMS = (
    "<li>Plain</li>",
    "<li class=share>Named <i>item</i></li>",
    "<li><a href=/a>First</a> <span>3.50</span></li>",
    "<li><a href=/b>Second</a> <span>4.50</span></li>",
    "<li>With <span class=caption>a box</span> in it</li>",
    "<li><p>With a paragraph</p></li>",
    "<li>With a list <ul><li>of <b>one</b></li></ul></li>",
    "<li title='</li><li>'>Odd <b>name</b></li>",
    "<li>Odd <!--</li><li>--><b>note</b></li>",
    "<li>Odd <script>'</li>'</script><b>script</b></li>",
    "<li>Leaves <b>a mark</b><br><br><a href=/x></a></li>",
    "<li><a href=/c>Not closed</li>",
    "<li></li>",
    "<li> </li>",
    "<li>Never <em>ended</em>",
)
BETWEEN = ("", " ", "\n", "<!-- note -->", "text between", "<a href=/y></a>", "<div>odd</div>")
LIST = st.tuples(
    st.sampled_from(("<ul>", "<ol>", "<ul title='1 > 0'>", "<b><ul>")),
    st.lists(st.tuples(st.sampled_from(ITEMS), st.sampled_from(BETWEEN)), max_size=6),
).map(lambda made: made[0] + "".join(map("".join, made[1])) + "</ul></ol></b>after")


def assert_reads_the_same_again(read: Callable[[str, Memory], Any], parts: Sequence[str]) -> None:
    """Each part and all together are read alike, whatever is remembered of their items."""
    fresh = [read(html, Memory()) for html in parts]
    memory = Memory()
    for _ in range(2):
        assert [read(html, memory) for html in parts] == fresh
    whole = read("".join(parts), Memory())
    for _ in range(2):
        assert read("".join(parts), memory) == whole
