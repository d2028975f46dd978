"""The markdown of main content: marks, links, lists, tables, quotes and code."""

from __future__ import annotations

import pytest

from messor.content.main import read_main

URL = "https://site.example/docs/page"


def markdown(body: str) -> str:
    return read_main(f"<main>{body}</main>", URL).markdown


@pytest.mark.parametrize(
    "html, expected",
    [
        ("<h2>Two</h2><p>text</p>", "## Two\n\ntext"),
        ("<h3><b>Bold</b> head</h3><p>text</p>", "### Bold head\n\ntext"),
        ("<p>a <b>bold</b>, <i>slanted </i>word</p>", "a **bold**, *slanted* word"),
        ("<p>run <code>a_b*c</code> now</p>", "run `a_b*c` now"),
        ("<p>tick <code>a`b</code></p>", "tick ``a`b``"),
        (
            "<p>see <a href='../x?q=1#f'>the  page</a>.</p>",
            "see [the page](https://site.example/x?q=1#f).",
        ),
        ("<p><a href='/a(b)'>x</a> y</p>", "[x](https://site.example/a%28b%29) y"),
        (
            "<p>no <a href='javascript:x()'>script</a>, no <a href='#n'>note</a></p>",
            "no script, no note",
        ),
        ("<p><a href='/x'><img src=y></a>text</p>", "text"),
        ("<p>one<br>two</p>", "one\ntwo"),
        ("<p>one<br><br>two</p>", "one\n\ntwo"),
        ("<p>2 * 3 [x] &lt;b&gt; _a_ b_c</p>", "2 \\* 3 \\[x\\] \\<b> \\_a\\_ b_c"),
        ("<p># not a heading</p>", "\\# not a heading"),
        ("<p>1. not a list</p>", "1\\. not a list"),
        ("<p>- not a list</p>", "\\- not a list"),
        ("<blockquote><p>said</p><p>twice</p></blockquote><p>so</p>", "> said\n>\n> twice\n\nso"),
        (
            "<pre><code>def f():\n    return '*'\n</code></pre>",
            "```\ndef f():\n    return '*'\n```",
        ),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<dl><dt>Term<dd>Meaning</dl>", "**Term**\n: Meaning"),
    ],
)
def test_marks_and_blocks(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_lists_nest_and_count() -> None:
    html = "<ol><li>one<ul><li>inner<li>other</ul><li><p>two</p><p>more of two</p></ol><p>end</p>"
    assert markdown(html) == ("1. one\n    - inner\n    - other\n2. two\n\n    more of two\n\nend")


def test_a_table_keeps_empty_cells_in_their_columns() -> None:
    html = (
        "<table><tr><th>Name<th>Size<th>Note<tr><td>Chair<td><td>a|b"
        "<tr><td><a href=/t>Table</a><td>2 m<td></table>"
    )
    assert markdown(html) == (
        "| Name | Size | Note |\n| --- | --- | --- |\n| Chair |  | a\\|b |\n"
        "| [Table](https://site.example/t) | 2 m |  |"
    )


def test_a_column_without_content_is_left_out() -> None:
    html = "<table><tr><td><td>Chair<td>2<tr><td><td>Table<td>1</table>"
    assert markdown(html) == "| Chair | 2 |\n| --- | --- |\n| Table | 1 |"


def test_cells_are_written_like_any_other_text() -> None:
    html = (
        "<table><tr><th>a<br>b<th>1. one<tr><td><p>2</p><p>- 3</p><td># four|five<tr><td>6<td>x*y*"
        "<tr><td><b>7</b><td>"
    )
    lines = [
        "| a b | 1\\. one |",
        "| 2 \\- 3 | \\# four\\|five |",
        "| 6 | x\\*y\\* |",
        "| **7** |  |",
    ]
    assert markdown(f"{html}</table>") == "\n".join([lines[0], "| --- | --- |", *lines[1:]])
    without_signs = html.replace("*", "")
    expected = [line.replace("\\*", "") for line in lines]
    assert markdown(f"{without_signs}</table>") == "\n".join(
        [expected[0], "| --- | --- |", *expected[1:]]
    )


def test_rows_of_different_lengths_make_one_table() -> None:
    html = "<table><tr><td>a<tr><td>b<td>c<td>d<tr><td><td>e</table>"
    assert markdown(html) == "| a |  |  |\n| --- | --- | --- |\n| b | c | d |\n|  | e |  |"


def test_a_caption_stands_before_its_table() -> None:
    rows = "<tr><th>Name<td>Chair<tr><th>Size<td>2 m"
    table = "| Name | Chair |\n| --- | --- |\n| Size | 2 m |"
    assert markdown(f"<table><caption>Sizes</caption>{rows}</table>") == f"Sizes\n\n{table}"
    long = f"<table><caption><p>All <b>sizes</b></p><p>in m</p></caption>{rows}</table>"
    assert markdown(long) == f"All **sizes**\n\nin m\n\n{table}"
    quoted = f"<blockquote><table><caption>Sizes</caption>{rows}</table></blockquote>"
    assert markdown(quoted) == "> Sizes\n>\n" + "\n".join(f"> {x}" for x in table.split("\n"))
    assert markdown("<table><caption>Sizes</caption><tr><td>2 m</table>") == "Sizes\n\n2 m"


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    html = "<table><tr><td><table><tr><td>inner</table><td><p>one</p><p>two</p></table>"
    assert "|" not in markdown(html)


def test_a_link_around_blocks_is_in_each_of_them() -> None:
    html = "<a href=/x><h3>Title</h3><p>Lead</p></a><p>Free</p>"
    assert markdown(html) == (
        "### [Title](https://site.example/x)\n\n[Lead](https://site.example/x)\n\nFree"
    )


def test_an_article_opens_with_its_headline() -> None:
    text = "A sentence that is long enough to be taken for a part of some running text. " * 4
    page = f"<title>Rain *today*</title><h1>Rain *today*</h1><div><p>{text}</p><p>Then {text}</p></div>"
    found = read_main(page, URL)
    assert found.is_article
    assert found.markdown.startswith("# Rain \\*today\\*\n\nA sentence")
    assert not found.text.startswith("Rain")


def test_cells_that_span_rows_and_columns_stand_where_they_are_seen() -> None:
    html = """<table><tr><th>Tariff</th><th colspan="2">Price</th><th>Note</th></tr>
    <tr><td rowspan="2">Adults</td><td>5</td><td>7</td><td>a</td></tr>
    <tr><td>4</td><td rowspan="0">6</td><td>b</td></tr>
    <tr><td>Children</td><td colspan="x">1</td><td>2</td><td rowspan="9">c</td></tr></table>"""
    assert markdown(html) == (
        "| Tariff | Price |  | Note |\n| --- | --- | --- | --- |\n"
        "| Adults | 5 | 7 | a |\n| Adults | 4 | 6 | b |\n| Children | 1 | 2 | c |"
    )


def test_cells_that_span_no_end_of_columns_make_no_endless_table() -> None:
    row = '<tr><td colspan="99">a</td><td colspan="99" rowspan="99">b</td></tr>'
    lines = markdown(f"<table>{row * 20}</table>").split("\n")
    assert len(lines) == 21
    assert max(map(len, lines)) < 200


@pytest.mark.parametrize(
    "html, fence",
    [
        ("<pre><code class='language-python'>x</code></pre>", "python"),
        ("<pre><code class='hljs rust'>x</code></pre>", "rust"),
        ("<pre class='brush: js; toolbar: false'>x</pre>", "js"),
        ("<pre class='sourceCode haskell'>x</pre>", "haskell"),
        (
            "<div class='highlight-c++ notranslate'><div><pre><span>x</span></pre></div></div>",
            "c++",
        ),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "shell"),
        ("<pre><code data-lang='lang-go'>x</code></pre>", "go"),
        ("<pre><code class='language-text'>x</code></pre>", ""),
        ("<pre class='wide'>x</pre>", ""),
    ],
)
def test_code_has_its_language(html: str, fence: str) -> None:
    assert markdown(html) == f"```{fence}\nx\n```"


def test_a_numbered_list_starts_where_it_says() -> None:
    html = "<ol start=3><li>c<li>d</ol><p>so</p><ol start=-2><li>a</ol>"
    assert markdown(html) == "3. c\n4. d\n\nso\n\n1. a"


def test_footnotes_are_joined_with_their_references() -> None:
    html = (
        "<p>Foxes jump<sup><a href='#fn1'>1</a></sup> high<sup><a href='#cite_note-2'>[2]</a></sup>.</p>"
        "<ol><li id=fn1>Seen by all. <a href='#fnref1'>\u21a9</a></li>"
        "<li id=cite_note-2><b><a href='#cite_ref-2'>^</a></b> Said by one.</li></ol>"
    )
    assert markdown(html) == ("Foxes jump[^1] high[^2].\n\n[^1]: Seen by all.\n[^2]: Said by one.")


def test_terms_and_their_meanings() -> None:
    html = "<dl><dt>Fox</dt><dd>An animal.</dd><dd>A dance.</dd><dt>Dog</dt><dd>Another.</dd></dl>"
    assert markdown(html) == "**Fox**\n: An animal.\n: A dance.\n\n**Dog**\n: Another."


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=/fox.jpg alt='A red  fox'>",
        "<img src='data:image/gif;base64,R0' data-src=/fox.jpg alt='A red fox'>",
        "<img src=/empty.gif data-lazy-src=/fox.jpg alt='A red fox'>",
        "<img srcset='/fox.jpg 1x, /fox2.jpg 2x' alt='A red fox'>",
        "<picture><source srcset='/fox.jpg 300w'><img alt='A red fox'></picture>",
        "<amp-img src=/fox.jpg alt='A red fox'></amp-img>",
        "<figure><img src=/fox.jpg alt='A red fox'><noscript><img src=/fox.jpg></noscript></figure>",
    ],
)
def test_pictures_with_alternative_texts(picture: str) -> None:
    expected = "one\n\n![A red fox](https://site.example/fox.jpg)\n\ntwo"
    assert markdown(f"<p>one</p>{picture}<p>two</p>") == expected
    for _ in range(2):  # nothing depends on what was read before
        listed = markdown(f"<ul><li>one</li><li>{picture} two</li></ul>")
        assert listed == "- one\n- ![A red fox](https://site.example/fox.jpg)\n\n    two"


@pytest.mark.parametrize(
    "picture",
    ["<img src=/x.gif alt=''>", "<img src=/x.gif>", "<img src='data:image/gif;base64,R0' alt=x>",
     "<img src='javascript:x' alt=x>", "<table><tr><td><img src=/x.gif alt=x></table>"],
)  # fmt: skip
def test_pictures_that_say_nothing(picture: str) -> None:
    assert markdown(f"<p>one</p>{picture}<p>two</p>") == "one\n\ntwo"
