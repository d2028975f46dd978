"""JSON-LD, microdata, RDFa and meta tags, as sloppy as they come."""

from __future__ import annotations

import json
from typing import Any

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from messor.content.page import ParsedPage
from messor.content.products.things import read_metas
from messor.content.structured import items as structured
from messor.content.structured.items import (
    MICRODATA,
    RDFA,
    marked_items,
)
from messor.content.structured.json_ld import (
    nodes,
    raw_object,
    read_json_ld,
    read_json_values,
    types_of,
)
from tests.content.published_shapes import (
    as_json,
    flat_json,
    read_items,
    read_opengraph,
    text_content,
    with_numbers,
)
from tests.content.views import CORPORA


def published(syntax: str, html: str, base: str, options: dict[str, Any]) -> Any:
    document = turbohtml.parse(html)
    if syntax == "json-ld":
        return with_numbers([v for script in read_json_ld(document) for v in script.values])
    if syntax == "opengraph":
        return read_opengraph(document)
    items = read_items(document, base)
    if not options["nested"]:
        return flat_json(items)
    found = []
    for item in items:
        shown = as_json(item, lists=options["strict"])
        if options["add_text_content"]:
            shown["textContent"] = text_content(item)
        found.append(shown)
    return found


def test_every_external_case_is_read() -> None:
    path = CORPORA / "structured_extruct.jsonl"
    if not path.exists():
        pytest.skip("the external cases (structured_extruct.jsonl) are not here")
    for row in map(json.loads, path.read_bytes().splitlines()):
        found = published(row["syntax"], row["html"], row["base_url"] or "", row["options"])
        assert json.loads(json.dumps(found)) == row["expected"], row["id"]


@pytest.mark.parametrize(
    "text, values",
    [
        ('{"a": 1}', [{"a": 1}]),
        ('<!-- note --> {"a": 1,}', [{"a": 1}]),
        ('//<![CDATA[\n{"a": "b\nc"}\n//]]>', [{"a": "b\nc"}]),
        ('{"a": [1, 2,], /* c */ "b": "// no comment"} // end', [{"a": [1, 2], "b": "// no comment"}]),
        ('{"a": 1};{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": "it\\\'s", }', [{"a": "it's"}]),
        ('{"a": "x\ty"}', [{"a": "x\ty"}]),
        ("{a", []),
        ("", []),
        ("[" * 100_000, []),
    ],
)  # fmt: skip
def test_sloppy_json(text: str, values: list[Any]) -> None:
    assert with_numbers(read_json_values(text)) == values


def test_numbers_stay_as_written() -> None:
    assert read_json_values('{"price": 12.50}') == [{"price": "12.50"}]


def test_object_literals_of_scripts() -> None:
    text = "push({'a': 'it\\'s', b: 1.50, c: [true, null,], });"
    assert raw_object(text, 5) == ({"a": "it's", "b": "1.50", "c": [True, None]}, len(text) - 2)
    assert raw_object("push({a: run()})", 5) is None
    assert raw_object("push({a: {", 5) is None


def test_nodes_of_a_graph_come_outer_first() -> None:
    value = {"@graph": [{"@type": "WebPage"}, {"@type": ["schema:Product", "Thing"]}]}
    assert [types_of(node) for node in nodes(value)] == [[], ["WebPage"], ["Product", "Thing"]]


def test_rdfa_lite() -> None:
    html = (
        '<div vocab="https://schema.org/" typeof="Product"><b property="name">A</b>'
        '<p property="offers" typeof="Offer"><i property="schema:price" content="5">5 €</i></p></div>'
    )
    (item,) = read_items(turbohtml.parse(html), "", RDFA)
    assert as_json(item, lists=False) == {
        "type": "Product",
        "properties": {
            "name": "A", "offers": {"type": "Offer", "properties": {"price": "5"}},
        },
    }  # fmt: skip


def test_items_side_by_side() -> None:
    html = '<p itemscope itemtype="A"><b itemprop="x" itemscope itemtype="B"></b></p>'
    assert flat_json(read_items(turbohtml.parse(html))) == [
        {"iid": 1, "type": ["A"], "properties": {"x": [{"iid_ref": 2}]}},
        {"iid": 2, "type": ["B"], "properties": {}},
    ]


def test_items_that_refer_to_each_other_end() -> None:
    html = (
        '<div id="a" itemscope itemtype="T" itemref="b"><b itemprop="p">1</b></div>'
        '<div id="b" itemscope itemprop="q" itemtype="T" itemref="a"><b itemprop="p">2</b></div>'
    )
    for item in read_items(turbohtml.parse(html), "", MICRODATA):
        assert json.dumps(as_json(item))


PARTS = st.sampled_from(
    (
        "<div itemscope>", "<p itemscope itemprop=a>", '<div itemscope itemref="i j">', "<b itemprop=b>1",
        "<div typeof=Thing>", "<p property=c>2", "<i id=i itemprop=d>3</i>", "</p>", "</div>",
        "<template itemscope><b itemprop=e>4", "</template>", "<table itemscope>5<td itemprop=f>", "</table>",
    )
)  # fmt: skip


@given(st.lists(PARTS, max_size=30))
def test_items_are_the_same_where_one_walk_finds_all_that_is_marked(parts: list[str]) -> None:
    page = ParsedPage.read("".join(parts))
    for syntax in (MICRODATA, RDFA):
        alone = marked_items(page.document, "", syntax)
        assert list(map(as_json, page.items(syntax))) == list(map(as_json, alone))


def test_no_more_properties_are_read_than_bounds_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those outside of all items do not count."""
    monkeypatch.setattr(structured, "MAX_ELEMENTS", 3)
    page = ParsedPage.read("<b itemprop=a>1</b>" * 5 + "<p itemscope>" + "<b itemprop=b>2</b>" * 5)
    for found in (page.items(MICRODATA), marked_items(page.document)):
        assert [len(item.properties["b"]) for item in found] == [3]


def test_meta_tags_by_property_name_and_itemprop() -> None:
    html = (
        '<meta property="OG:Title" content=" A "><meta name="sku" content="1">'
        '<meta itemprop="price" content="2"><meta name="empty"><meta content="x">'
    )
    found = [(meta.name, meta.content) for meta in read_metas(turbohtml.parse(html))]
    assert found == [("og:title", "A"), ("sku", "1"), ("price", "2")]
