"""Every command of the documentation is run, page by page, in an installation over a simulated web.

The installation has what a reader has by then: approved domains with pages, records and products, a member, a
key, verticals. Numbers and names that only the reader knows may be unknown here (exit codes 4 and 5); every other
command has to end well. What cannot run says why in `NOT_RUN`.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.store.database import Database
from tests.cli.conftest import Messor, messor
from tests.crawling import admit
from tests.docs.snippets import COMMAND, PAGES, snippets, words_of
from tests.docs.test_snippets import STAND_INS
from tests.harvested import product_html, stock_shop
from tests.little_web import LittleWeb, page, robots
from tests.serving import Serving, let_in

NOT_RUN = {
    r"messor (up|worker|mcp|demo|rehearse)\b": "it serves until it is stopped, or has tests of its own",
    r"--follow": "it follows until it is stopped",
    r"messor db (shell|dump|url|rotate-password|moved|upgrade|downgrade|status)": (
        "it is about the embedded server, or changes the schema; tests/cli/test_db.py runs it"
    ),
    r"messor (backup|archive move|archive compact)": "tests/cli/test_backup.py runs it on a server of its own",
    r"messor (parsers (new|compare|shadow|promote|pin)|replay --parser|corrections (learn|use))": (
        "it needs a parser of the reader's own"
    ),
    r"messor (mail|model|relevance|search-index|keywords expand|scout search|scout track)": (
        "it needs a mail server, a model, a search server or a search engine of the reader's own"
    ),
    r"messor export standing": "it needs a place of the reader's own",
    r"^\d{4}-\d\d-\d\dT": "a line of the log, as the command above prints it",
    r"messor (plan|apply|export config)": "it needs a folder of the reader's own",
    r"messor proxies (add|probe)": "it needs a proxy",
    r"messor extract (--once )?--processes": "it starts processes; tests/cli/test_extract.py runs it",
    r"(saved|session\.har|mirror|about\.html|domains\.csv|pages\.csv|pages\.txt|contract\.pdf|clinics\.csv|mine\.toml|page\.html|\.warc)": (
        "the file is the reader's own"
    ),
    r"(2rc1|products=2\b)": "the version is the reader's own",
    r"< |\| messor|curl |psql|\$\(|docker|systemctl|python |pip |prometheus|FIRECRAWL": (
        "it belongs to a shell, another program or another machine"
    ),
}
# Only the reader knows whether these exist: an id, a number, a name of another example.
READERS = re.compile(r"\b(ID|TRIAL|CANDIDATE|DELIVERY|RECORD|\d+|[0-9a-f]{12}|[0-9a-f-]{36})\b")
SITE = {
    "/": page("Home", "/news/", "/menu", "/private/report.html", "/people/jane.html"),
    "/news/": page("News"),
    "/menu": page("Menu"),
    "/people/jane.html": page("Jane"),
    "/robots.txt": robots("User-agent: *\nDisallow: /private/\n"),
}
HOSTS = ("example.org", "foodbank.org", "shop.example")


# Exit codes that are right here, and why.
ENDINGS = {
    r"audit politeness|archive verify": (8, "its products were planted, not fetched and archived"),
    r"evidence bundle": (1, "its products were planted, not fetched and archived"),
    r"members link": (5, "there is an admin already"),
    r"scores show": (4, "scores are computed once a week"),
    r"domains (approve|preflight)": (5, "shop.example is approved already"),
}


def allowed(line: str) -> set[int]:
    """Exit codes with which a command may end here."""
    codes = {code for part, (code, _) in ENDINGS.items() if re.search(part, line)}
    return {0, *codes} | ({4, 5} if READERS.search(line) else set())


def why_not(line: str) -> str | None:
    return next((why for part, why in NOT_RUN.items() if re.search(part, line)), None)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    with Serving(LittleWeb(tmp_path, dict.fromkeys(HOSTS, SITE), tls=True)) as found:
        let_in(found, monkeypatch)
        yield found


def furnish(dsn: str, messor: Messor, lines: list[str]) -> None:
    """What a reader has who followed the guides so far; what the page makes itself is left to it."""
    made = " ".join(lines)

    async def act() -> None:
        async with Database(dsn) as database:
            if not re.search(r"domains (submit|approve) foodbank.org", made):
                await admit(database, "foodbank.org")
            shop = await stock_shop(database, "shop.example")
            await shop.see("/lamp", product_html("Lamp", "12.00", sku="L-1"))

    asyncio.run(act())
    commands = ["members add admin@example.org --name Admin --role admin"]
    commands += [
        f"members add {name}@example.org --name {name} --role reviewer"
        for name in ("ada", "agent")
        if f"members add {name}@" not in made
    ]
    commands += [
        f"verticals apply {name}" for name in ("funding", "wellness", "community_resources")
    ]
    commands += [
        f"domains submit {name}" for name in ("foodbank.org", "shelter.org", "spam.example")
    ]
    commands += [
        "webhooks add https://example.org/hook --type domain.approved"
    ]  # a secret to rotate
    commands += ["crawl https://example.org/ --depth 1 --no-extract"]
    if re.search(r"query|analytics ask", made):
        commands += ["analytics sync"]
    for words in commands:
        assert messor(*words.split()).code in (0, 5), words


@pytest.mark.wide
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_commands_of_a_page_end_well(
    path: Path, dsn: str, messor: Messor, web: LittleWeb
) -> None:
    lines = [
        line
        for snippet in snippets(path)
        if snippet.why_not is None and not snippet.language
        for line in snippet.lines()
        if COMMAND.search(line) and why_not(line) is None
    ]
    if not lines:
        return
    furnish(dsn, messor, lines)
    faults = []
    for line in lines:
        words = [STAND_INS.get(word, word) for word in words_of(line)]
        done = messor(*words)
        if done.code not in allowed(line):
            faults.append(f"{shlex.join(words)} → {done.code}: {done.err.strip()[-200:]}")
    assert faults == [], "\n".join(faults)


def test_every_other_line_says_why_it_is_not_run() -> None:
    for path in PAGES:
        for snippet in snippets(path):
            if snippet.why_not is not None or snippet.language:
                continue
            for line in snippet.lines():
                is_setting = re.match(r"(export )?[A-Z_]+=\S*(\s+#.*)?$", line)
                assert COMMAND.search(line) or is_setting or why_not(line), (snippet.name, line)


def test_most_commands_are_run() -> None:
    lines = [line for path in PAGES for snippet in snippets(path) for line in snippet.commands()]
    run = [line for line in lines if why_not(line) is None]
    assert len(run) > 0.6 * len(lines), f"{len(run)} of {len(lines)}"
