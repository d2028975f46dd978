"""Random markup, counted and parsed: whether the parser ever has more open than was counted.

`python -m tests.web.nesting_check SEED SECONDS` goes on until its time is up, and prints the pages
that nest more deeply than was counted. A page that ends it is a finding as well.
"""

from __future__ import annotations

import sys
import time
from random import Random

import turbohtml

from messor.web.depth import is_too_deep, may_exceed
from messor.web.open_elements import OpenElements

# A page of 6 KB that ended workers: its depth was hidden from who cuts names at a dash.
KILLER = "<div><a><picture>" + "<x-1></x-2>" * 504 + "<table><td></tr> <div></a>" + " word" * 400

# The parser keeps so many elements open. Those put behind a page tell how many it left open.
_MOST_OPEN = 512
_PROBE = "<x-probe>" * (_MOST_OPEN + 8)
SLACK = 11  # the page's own elements, and those that come and go with one tag
# All that ever were elements: what the parser makes of one is not to be read in our tables.
_NAMES = """
a abbr address annotation-xml applet article aside audio b base big blink blockquote body br button
canvas caption center code col colgroup command datalist dd desc details dialog dir div dl dt em embed
fieldset figcaption figure font footer foreignObject form frame frameset g h1 h2 h6 head header hgroup
hr html i iframe image img input isindex keygen label legend li link listing main malignmark map
marquee math menu menuitem meta mglyph mi mn mo ms mtext multicol nav nextid nobr noembed noframes
noscript object ol optgroup option output p param path picture plaintext pre q rb rp rt rtc ruby s
script search section select selectedcontent slot small source spacer span strike strong style sub
summary sup svg table tbody td template textarea tfoot th thead title tr track tt u ul var video wbr
x-1 x-2 xmp
""".split()  # noqa: SIM905 - a list would take a line for each
_RAW = ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
_COMMON = """
a b div font foreignObject g li p select span svg table td template title tr
""".split()  # noqa: SIM905 - as above
_VALUES = ("</div>", ">", "<b>", "'", "1", "</b>", "</table>")
_OTHERS = (
    "x", " ", "<!--</div>-->", "<![CDATA[</svg>]]>", "<!-- <p> -->", "</ z>", "<?x </p>>", "<",
    "<div a=</div>", "<div </div>",
)  # fmt: skip


def random_tag(random: Random) -> str:
    name = random.choice(_COMMON if random.random() < 0.5 else _NAMES)
    kind = random.random()
    if kind >= 0.9:
        return random.choice(_OTHERS)
    if kind >= 0.55:
        return f"</{name}>"
    attribute = f' x="{random.choice(_VALUES)}"' if random.random() < 0.2 else ""
    if name in ("a", "b", "font", "i") and random.random() < 0.6:
        attribute = random.choice((" c=@", " color=@"))  # the same twice is not opened again
    return f"<{name}{attribute}{'/' if random.random() < 0.12 else ''}>"


def random_page(random: Random) -> str:
    """A few tags, then others again and again: what is hidden once is hidden often."""
    kind = random.random()
    if kind < 0.4:
        return _plain_page(random)
    if kind < 0.6:
        return _page_of_short_elements(random)
    first = "".join(random_tag(random) for _ in range(random.choice((0, 0, 1, 2, 5))))
    unit = "".join(random_tag(random) for _ in range(random.randint(1, random.choice((3, 6, 12)))))
    return first + "".join(
        unit.replace("@", str(n)) for n in range(random.choice((25, 25, 45, 45, 700)))
    )


def _plain_page(random: Random) -> str:
    """A few names, each as likely as the others, opened and closed."""
    names = [random.choice(_NAMES) for _ in range(random.randint(1, 4))]
    first = "".join(_plain_tag(random, random.choice(_NAMES)) for _ in range(random.choice((0, 1))))
    unit = [_plain_tag(random, name) for name in names]
    unit += [f"</{random.choice(names)}>" for _ in range(random.choice((0, 1, 1, 2)))]
    random.shuffle(unit)
    return first + "".join(unit) * 25


def _plain_tag(random: Random, name: str) -> str:
    if random.random() < 0.25:
        return f"</{name}>"
    end = f"</{name}>" if name in _RAW and random.random() < 0.8 else ""
    return f"<{name}>{end}{random.choice(('', '', '', 'x', ' '))}"


def _page_of_short_elements(random: Random) -> str:
    """Elements with nothing but text, in the second half, which seem closed wherever they stand."""
    first = "".join(random_tag(random) for _ in range(random.choice((5, 20, 60)))).replace("@", "1")
    unit = "".join(
        random_tag(random) if random.random() < 0.4 else _short_element(random)
        for _ in range(random.choice((1, 2, 3, 6)))
    )
    rest = "".join(unit.replace("@", str(n)) for n in range(random.choice((5, 10, 25))))
    return first + " " * random.choice((0, len(rest))) + rest


def _short_element(random: Random) -> str:
    name = random.choice(random.choice((_COMMON, _NAMES)))
    before = random.choice(("", "", "", "", "<!--", '<p x="', "<svg>", "<script>", "<p/x"))
    attribute = random.choice(("", ' c="@"', ' x=">"', ' x="--><div y="', ' x="</div>"'))
    return f"{before}<{name}{attribute}>{random.choice(('', 'x', '&lt;', '>'))}</{name}>"


def height_of(page: str) -> int:
    """How many elements the page leaves open in the parser; 0 where nothing can be opened behind it."""
    document = turbohtml.parse(page + _PROBE, positions=False)
    if not document.select("x-probe"):
        return 0
    return _MOST_OPEN - len(document.select("x-probe > x-probe:first-child"))


def main() -> None:
    random, ends_at = Random(int(sys.argv[1])), time.monotonic() + float(sys.argv[2])
    found = pages = 0
    while time.monotonic() < ends_at:
        page = random_page(random)
        pages += 1
        if is_too_deep(page):
            continue  # it may end this process
        height = height_of(page)
        limit = height - SLACK
        if limit > 0 and not (may_exceed(page, limit) and OpenElements(limit).is_exceeded_by(page)):
            found += 1
            sys.stdout.write(f"{height} {page}\n")
    sys.stdout.write(f"{pages} pages, {found} of them deeper than counted\n")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
