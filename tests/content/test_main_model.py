"""The learnt model of main content: its tables, its sums, its choice, and what it must not break."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import exp

import pytest

from messor.content.lists import Lists
from messor.content.main import read_main
from messor.content.main.blocks import Layout
from messor.content.main.complete import complete
from messor.content.main.extract import outline
from messor.content.main.features import BINS, read_columns
from messor.content.main.lexicon import UNKNOWN, Lexicon, class_words, heading_words, short_words
from messor.content.main.model import choose, likelihoods
from messor.content.main.tables import PAIRS, VERSION, WORDS, Pair
from messor.content.memory import Memory
from messor.web.html import parse_document

MENU = "".join(f'<li><a href="/{n}">Department number {n}</a></li>' for n in range(30))
SENTENCE = "The river rose by two metres in the night and the lower town had to be left in boats. "
SHELL = (
    '<body><div class="site-menu"><ul>{menu}</ul></div><div id="page">{content}</div>'
    '<div class="site-footer"><p>Subscribe to our newsletter</p><ul>{menu}</ul></div></body>'
)


def page(content: str) -> str:
    return SHELL.format(menu=MENU, content=content)


def text_of(content: str, url: str = "https://a.example/some/page") -> str:
    return read_main(page(content), url).text


def test_sums_of_tables_fit_their_lanes_and_words_their_bins() -> None:
    assert VERSION >= 1
    assert sum(max(pair.scores) for pair in PAIRS) < 1 << 16
    assert {len(pair.scores) for pair in PAIRS} == {BINS * BINS}
    assert all(0 <= score < BINS - 1 for score in chain.from_iterable(
        words.values() for words in WORDS.values()
    ))  # fmt: skip


def test_likelihoods_are_the_sums_of_the_scores_of_all_pairs() -> None:
    chance = random.Random(7)
    names = ("kind", "size", "linked")
    columns = {name: bytes(chance.randrange(BINS) for _ in range(51)) for name in names}
    pairs = [
        Pair(a, b, bytes(chance.choices(range(most), k=256)))
        for a, b in combinations(names, 2)
        for most in (256, 100, 30, 128)  # several of them fit a byte together
    ] * 20
    found = likelihoods(columns, pairs, 0.001, -25.0)
    for place, value in enumerate(found):
        total = sum(
            each.scores[columns[each.first][place] * 16 + columns[each.second][place]]
            for each in pairs
        )
        assert value == pytest.approx(1 / (1 + exp(25 - 0.001 * total)))


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(count), size) for size in range(1, count + 1))


def expected_f1(chosen: Sequence[int], likely: Sequence[float], sizes: Sequence[int]) -> float:
    whole = sum(a * b for a, b in zip(likely, sizes, strict=True))
    hits = sum(likely[place] * sizes[place] for place in chosen)
    return 2 * hits / (sum(sizes[place] for place in chosen) + whole)


def test_the_choice_has_the_highest_expected_f1() -> None:
    chance = random.Random(3)
    for _ in range(40):
        likely = [chance.random() for _ in range(7)]
        sizes = [chance.randrange(1, 500) for _ in range(7)]
        best = max(expected_f1(chosen, likely, sizes) for chosen in subsets(7))
        assert expected_f1(choose(likely, sizes), likely, sizes) == pytest.approx(best)


def test_every_feature_of_every_block_is_within_its_bins() -> None:
    html = page(f"<h1>News</h1><p>{SENTENCE}</p><table><tr><td>1<td>2<tr><td>3<td>4</table>")
    found = outline(parse_document(html), "https://a.example/", Lists())
    columns = read_columns(found.layout, found.weights, found.facts, Lexicon.of(Memory()))
    assert {name for pair in PAIRS for name in pair[:2]} <= columns.keys()
    assert {len(column) for column in columns.values()} == {len(found.layout.blocks.texts)}
    assert max(map(max, columns.values())) < BINS


def test_features_of_places_and_surroundings_are_what_they_say() -> None:
    rows = "".join(
        f"<p>{SENTENCE * (n % 4)}{n}</p><p><a href=/>{'x' * n}</a></p>" for n in range(1, 40)
    )
    found = outline(parse_document(page(f"<h1>News</h1>{rows}")), "https://a.example/", Lists())
    blocks, running = found.layout.blocks, found.weights.running
    columns = read_columns(found.layout, found.weights, found.facts, Lexicon.of(Memory()))
    count, headline = len(blocks.sizes), found.facts.headline
    assert headline is not None
    total, read = sum(blocks.sizes) + 1, 0
    for place in range(count):
        near = slice(max(0, place - 4), place + 5)
        size, held = sum(blocks.sizes[near]), len(blocks.sizes[near])
        read += blocks.sizes[place]
        after = place - headline
        assert {name: columns[name][place] for name in (
            "order", "read", "first", "last", "headline", "near_linked", "near_running", "near_mean"
        )} == {
            "order": place * 16 // count,
            "read": read * 16 // total,
            "first": min(place.bit_length(), 10),
            "last": min((count - place).bit_length(), 10),
            "headline": 0 if after < 0 else 1 + min(after.bit_length(), 9),
            "near_linked": sum(blocks.linked[near]) * 8 // size,
            "near_running": sum(running[near]) * 8 // size,
            "near_mean": min((size // held).bit_length(), 12),
        }  # fmt: skip


def test_features_of_a_box_are_inherited_by_the_blocks_inside() -> None:
    html = page(
        '<div class="comments"><p>First.</p><ul><li>one</li><li>two</li><li>three</li></ul>'
        "<div><div><p>Deep.</p></div></div></div><p>Outside.</p>"
    )
    found = outline(parse_document(html), "https://a.example/", Lists())
    columns = read_columns(found.layout, found.weights, found.facts, Lexicon.of(Memory()))
    place = {text: number for number, text in enumerate(found.layout.blocks.texts)}
    inside = [place[text] for text in ("First.", "one", "two", "three", "Deep.")]
    assert [columns["hint_0"][each] for each in inside] == [1] * 5
    assert columns["hint_0"][place["Outside."]] == 0
    assert [columns["repeats"][each] for each in inside] == [0, 2, 2, 2, 0]
    depths = [columns["depth"][each] for each in inside]
    assert [depth - depths[0] for depth in depths] == [0, 1, 1, 1, 2]
    assert columns["blocks_1"][place["one"]] == columns["blocks_1"][place["three"]] == 2
    assert columns["blocks_1"][place["First."]] == columns["blocks_2"][place["one"]] == 3


def test_words_are_the_same_by_either_way_of_splitting() -> None:
    assert class_words("post-body card2 post") == class_words("Post-Body Card2 post")
    assert class_words("userName") == {"user", "name"}
    assert short_words("Don't  miss_it: 24 hours") == {"don", "t", "miss_it", "24", "hours"}
    assert heading_words("Über uns") == {"über", "uns"}
    assert Lexicon.of(Memory()).short["qzxwv"] == UNKNOWN


def test_a_page_reads_the_same_with_and_without_what_is_remembered() -> None:
    memory = Memory()
    pages = [
        page(f'<div class="row"><h2>Part {n}</h2><p>{SENTENCE * n}</p></div>') for n in (2, 3, 2)
    ]
    for html in pages:
        url = "https://a.example/parts"
        assert read_main(html, url, Lists(memory=memory)) == read_main(html, url)


def test_rows_of_a_page_builder_are_all_kept() -> None:
    rows = "".join(
        f'<div class="builder-row"><div class="builder-column"><h2>Part {n} of the plan</h2>'
        f"<p>{SENTENCE}Number {n}.</p><p>{SENTENCE}Again {n}.</p></div></div>"
        for n in range(8)
    )
    text = text_of(f"<h1>The plan</h1>{rows}")
    assert all(f"Number {n}." in text and f"Again {n}." in text for n in range(8))
    assert "Department number" not in text


def test_all_posts_of_a_thread_are_kept() -> None:
    posts = "".join(
        f'<div class="post"><div class="author">user{n}</div><div class="post-body"><p>Answer {n}: '
        f"{SENTENCE}</p></div></div>"
        for n in range(12)
    )
    text = text_of(posts, "https://forum.example/threads/flood.123/")
    assert all(f"Answer {n}:" in text for n in range(12))
    assert "Department number" not in text


def test_a_table_in_an_article_keeps_all_its_rows() -> None:
    rows = "".join(f"<tr><td>Gauge {n}</td><td>{n}.5 m</td><td>-</td></tr>" for n in range(15))
    text = text_of(
        f"<article><h1>Levels</h1><p>{SENTENCE * 6}</p><table>{rows}</table><p>{SENTENCE * 5}</p></article>"
    )
    assert all(f"Gauge {n}\t{n}.5 m" in text for n in range(15))


def test_a_table_is_completed_or_dropped_by_what_was_chosen_of_it() -> None:
    layout = Layout()
    boxes, blocks = layout.boxes, layout.blocks
    boxes.tags += ["table"]
    boxes.parents += [0]
    boxes.starts += [1]
    boxes.ends += [5]
    blocks.texts = ["before", "aaaa", "bbbb", "cccc", "dddd", "after"]
    blocks.sizes = list(map(len, blocks.texts))
    assert complete(layout, [0, 1, 2, 4]) == [0, 1, 2, 3, 4]
    assert complete(layout, [0, 4, 5]) == [0, 5]
    assert complete(layout, [5]) == [5]
