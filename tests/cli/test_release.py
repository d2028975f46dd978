"""What sites say decides what leaves: every kind of statement, by every declared use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.rights.uses import ApprovedUse
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.cli.conftest import Messor
from tests.cli.test_schedule import execute
from tests.harvested import WORDS
from tests.little_web import LittleWeb
from tests.serving import Serving, let_in

SITE = "press.test"
HOME = f"http://{SITE}/"
ROBOTS = """User-agent: *
Allow: /
Content-Usage: /aipref train-ai=n
Content-Usage: /yes train-ai=y, search=y
Content-Signal: ai-input=yes
"""
# Path, headers, element; and the uses that it is held back for.
KINDS: dict[str, tuple[tuple[tuple[str, str], ...], str, set[str]]] = {
    "silent": ((), "", set()),
    "aipref": ((), "", {"ai-train"}),
    "yes": ((), "", set()),
    "usage-header": ((("Content-Usage", "search=n"),), "", {"search"}),
    "usage-nonsense": ((("Content-Usage", "search=n, ?!"),), "", {"search", "ai-train"}),
    "signal-header": ((("Content-Signal", "ai-input=no"),), "", {"ai-input"}),
    "signal-nonsense": ((("Content-Signal", "ai-train=perhaps"),), "", {"ai-train"}),
    "tag-header": ((("X-Robots-Tag", "noarchive"),), "", {"archive"}),
    "tag-element": ((), '<meta name=robots content="noai">', {"ai-input", "ai-train"}),
    "tdm-header": (
        (("TDM-Reservation", "1"),),
        "",
        {"tdm", "ai-train", "price-monitoring", "market-research", "directory"},
    ),
    "tdm-element": (
        (("TDM-Reservation", "1"),),
        '<meta name="tdm-reservation" content="0">',
        set(),
    ),
    "tdm-nonsense": (
        (),
        '<meta name="tdm-reservation" content="maybe">',
        {"tdm", "ai-train", "price-monitoring", "market-research", "directory"},
    ),
}
ROBOTS_DUE = "UPDATE messor.crawl_tasks SET due_at = messor.clock() WHERE kind = 'robots'"


def html(name: str) -> SimResponse:
    headers, head, _ = KINDS[name]
    text = f"<!doctype html><html lang=en><title>{name}</title>{head}<h1>{name}</h1><p>{name} {WORDS * 6}</p>"
    return SimResponse(200, (("Content-Type", HTML), *headers), text.encode())


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    links = "".join(f"<a href='/{name}'>{name}</a>" for name in KINDS)
    home = f"<!doctype html><html lang=en><title>Press</title><p>{WORDS * 6}</p>{links}"
    rooms = {
        "/robots.txt": SimResponse(200, (("Content-Type", "text/plain"),), ROBOTS.encode()),
        "/": SimResponse(200, (("Content-Type", HTML),), home.encode()),
        **{f"/{name}": html(name) for name in KINDS},
    }
    with Serving(LittleWeb(tmp_path, {SITE: rooms})) as web:
        let_in(web, monkeypatch)
        yield web


def left(messor: Messor, target: Path, *uses: str) -> set[str]:
    """The pages that an export for these uses contains."""
    given = [word for use in uses for word in ("--use", use)]
    done = messor("export", "pages", "-o", str(target), "--restart", *given)
    assert done.code == 0, done.err
    kept = {name for name in KINDS if f'{HOME}{name}"' in target.read_text()}
    assert ("were held back" in done.err) == (kept != set(KINDS)), done.err
    return kept


def fed(messor: Messor, *uses: str) -> set[str]:
    """The pages that the change feed gives out for these uses."""
    given = [word for use in uses for word in ("--use", use)]
    found = messor("changes", "--json", "--limit", "200", "--kinds", "page", *given)
    assert found.code == 0, found.err
    return {name for name in KINDS if f'{HOME}{name}"' in found.out}


def test_nothing_leaves_for_a_use_that_a_site_refuses(
    messor: Messor, web: LittleWeb, tmp_path: Path
) -> None:
    crawled = messor("crawl", HOME, "--no-extract")
    assert crawled.code == 0, crawled.err
    for use in ApprovedUse:
        expected = {name for name, (_, _, held) in KINDS.items() if use.value not in held}
        assert left(messor, tmp_path / f"{use}.jsonl", use.value) == expected, use
        assert fed(messor, use.value) == expected, use
    # Without a declared use, and without a named one, it is text and data mining.
    expected = {name for name, (_, _, held) in KINDS.items() if "tdm" not in held}
    assert left(messor, tmp_path / "undeclared.jsonl") == expected
    # Several uses at once: all of them must be allowed.
    both = {name for name, (_, _, held) in KINDS.items() if not held & {"tdm", "archive"}}
    assert left(messor, tmp_path / "both.jsonl", "tdm", "archive") == both

    told = messor(
        "rights", "held", "--use", "archive", "--purpose", "export", "--since", "1d", "--json"
    ).json
    assert {one["place"] for one in told} == {"header X-Robots-Tag"}
    assert {one["reason"] for one in told} == {"refused"}


def test_the_approval_and_permissions_decide_where_they_speak(
    messor: Messor, web: LittleWeb, tmp_path: Path
) -> None:
    assert messor("crawl", HOME, "--no-extract").code == 0
    assert messor("rights", "uses", SITE, "--use", "search", "--use", "archive").code == 0
    # What is not approved is held back, even if the site says yes to it.
    assert left(messor, tmp_path / "a.jsonl", "ai-train") == set()
    held = messor("rights", "held", "--use", "ai-train", "--json").json
    assert {one["reason"] for one in held} == {"not_approved", "refused", "unclear"}
    # Undeclared, all uses of the domain count.
    expected = {name for name, (_, _, no) in KINDS.items() if not no & {"search", "archive"}}
    assert left(messor, tmp_path / "b.jsonl") == expected

    letter = tmp_path / "letter.pdf"
    letter.write_bytes(b"%PDF-1.4 yes")
    filed = messor(
        "rights", "permit", SITE, "ai-train", "--basis", "contract", "--reason", "Contract 17",
        "--document", str(letter), "--json",
    )  # fmt: skip
    assert filed.code == 0, filed.err
    assert left(messor, tmp_path / "c.jsonl", "ai-train") == set(KINDS)
    assert messor("rights", "revoke", filed.json["id"]).code == 0
    assert left(messor, tmp_path / "d.jsonl", "ai-train") == set()
    assert messor("rights", "revoke", filed.json["id"]).code == 5
    report = {one["use"]: one for one in messor("rights", "report", SITE, "--json").json}
    assert report["archive"]["refused"] == 1
    assert report["archive"]["may_leave"] == report["archive"]["by_silence"] == len(KINDS)
    assert report["search"]["by_statement"] == 1
    assert report["ai-train"]["not_approved"] > 0
    events = messor("events", "--type", "permission.granted", "--json").out
    assert "Contract 17" in events


def test_a_changed_robots_txt_counts_at_once(
    messor: Messor, web: LittleWeb, tmp_path: Path, dsn: str
) -> None:
    assert messor("crawl", HOME, "--no-extract").code == 0
    assert "silent" in left(messor, tmp_path / "before.jsonl", "ai-input")
    changed = ROBOTS.replace("ai-input=yes", "ai-input=no")
    web.houses[SITE].rooms["/robots.txt"] = SimResponse(
        200, (("Content-Type", "text/plain"),), changed.encode()
    )
    execute(dsn, ROBOTS_DUE)
    assert messor("crawl", HOME, "--no-extract", "--refetch", "--max-pages", "1").code == 0
    assert left(messor, tmp_path / "after.jsonl", "ai-input") == set()
