"""Every place where collected data can leave is listed here: it passes `release`, or is excused.

Data leaves through a stream or file sent by an interface, a file written, a request to somebody
who is not a site, or whatever reads the change feed for a program. A new place fails these tests
until it is listed.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import messor
from messor.rights.release import Purpose, release
from messor.store.database import Database

SOURCE = Path(messor.__file__).parent
# Sent at once; or handed to the senders of mail and webhooks.
SENDING = {"StreamingResponse", "FileResponse", "ClientSession", "NewMail", "new_delivery"}
WRITING = {"write_bytes", "write_text"}
OPENING = {"open", "fdopen"}
OPENS_FOR_WRITING = set("wax+")

# The place where data leaves, and the module that passes it through `release` for a purpose.
PASSING = {
    ("api/routes/exports.py", "FileResponse"): ("exports/batches.py", Purpose.EXPORT),
    ("console/views/exports.py", "FileResponse"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/calendars.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/hsds.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/places.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/duck.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/linked_data.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/wacz.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("exports/xlsx.py", "open"): ("exports/batches.py", Purpose.EXPORT),
    ("ops/evidence/bundle.py", "write_bytes"): ("ops/evidence/bundle.py", Purpose.EXPORT),
    ("cli/evidence.py", "write_bytes"): ("ops/evidence/bundle.py", Purpose.EXPORT),
    ("exports/spool.py", "fdopen"): ("exports/batches.py", Purpose.EXPORT),
    ("api/streams.py", "StreamingResponse"): ("api/routes/events.py", Purpose.FEED),
    ("insight/search_server/client.py", "ClientSession"): (
        "insight/search_server/documents.py",
        Purpose.SEARCH,
    ),
    ("analytics/rows.py", "open"): ("analytics/rows.py", Purpose.ANALYTICS),
    ("analytics/lake.py", "open"): ("analytics/rows.py", Purpose.ANALYTICS),
    ("watches/send.py", "NewMail"): ("watches/evaluate.py", Purpose.ALERT),
    ("watches/send.py", "new_delivery"): ("watches/evaluate.py", Purpose.ALERT),
    ("ops/webhooks/post.py", "ClientSession"): ("ops/webhooks/dispatch.py", Purpose.WEBHOOK),
    ("ops/webhooks/dispatch.py", "new_delivery"): ("ops/webhooks/dispatch.py", Purpose.WEBHOOK),
}
# Places through which no collected data leaves the installation.
EXCUSED = {
    ("console/views/overview.py", "StreamingResponse"): "figures of the installation, to a member",
    ("fetch/services/endpoint.py", "ClientSession"): "asks providers, engines and models",
    ("fetch/services/health.py", "ClientSession"): "asks whether a service is up",
    ("fetch/services/identity_provider.py", "ClientSession"): "logs a member in",
    ("schedule/alerts.py", "NewMail"): "figures of the installation, to its operator",
    ("governance/notices.py", "NewMail"): "tells a submitter about the submitted domain",
    ("cli/output.py", "open"): "a list, printed to a file",
    ("cli/audit.py", "write_text"): "a report about the installation",
    ("cli/identity.py", "write_bytes"): "who we are; no data",
    ("cli/person.py", "write_bytes"): "what is held on a person, to the admin that they asked",
    ("cli/records.py", "write_bytes"): "one image, shown to who asked for it",
    ("configuration/files.py", "write_text"): "the configuration, to the operator",
    ("content/schemas/__main__.py", "write_text"): "schemas; no data",
    ("cli/reference.py", "write_text"): "the reference of commands; no data",
    ("ops/backup/archive_copy.py", "open"): "a backup, to the operator",
    ("ops/backup/place.py", "fdopen"): "a backup, to the operator",
    ("ops/backup/restore.py", "write_bytes"): "a backup, to the operator",
    ("ops/webhooks/deliveries.py", "new_delivery"): "again, what passed the first time",
    ("archive/block_cache.py", "write_bytes"): "within the installation",
    ("crawl/crash_markers.py", "open"): "within the installation",
    ("crawl/crash_markers.py", "write_bytes"): "within the installation",
    ("crawl/crash_markers.py", "write_text"): "within the installation",
    ("crawl/sandboxed_reader.py", "fdopen"): "within the installation",
    ("extraction/reader_process.py", "fdopen"): "within the installation",
    ("fetch/proxies/key_file.py", "fdopen"): "within the installation",
    ("parsers/scaffold.py", "write_bytes"): "the draft of a parser",
    ("store/embedded/cluster.py", "fdopen"): "within the installation",
    ("store/embedded/folder.py", "fdopen"): "within the installation",
}
# What reads the change feed hands it on, by whatever means: its purpose, or why it does not leave.
FEED_READERS = {"CHANGES", "ENTRIES", "read_after", "read_chunks", "read_entries", "read_feed"}
READING_THE_FEED: dict[str, Purpose | str] = {
    "api/routes/changes.py": Purpose.FEED,
    "mcp/tools.py": Purpose.AGENT,
    "cli/changes.py": Purpose.FEED,
    "watches/evaluate.py": Purpose.ALERT,
    "analytics/sync.py": "reads which rows changed; they pass in analytics/rows.py",
    "entities/follow.py": "merges what changed into entities, within the installation",
    "watches/preview.py": "what a watch would tell, shown to who makes it",
    "console/views/changes.py": "a list, shown to a member",
}


def called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def opens_for_writing(node: ast.Call) -> bool:
    """Whether any argument spelled out is a mode that writes."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    texts = [each.value for each in given if isinstance(each, ast.Constant)]
    modes = [text for text in texts if isinstance(text, str) and len(text) <= 3]
    return any(set(mode) & OPENS_FOR_WRITING and set(mode) <= set("rwaxbt+") for mode in modes)


def is_way_out(node: ast.Call) -> bool:
    name = called(node)
    return name in SENDING | WRITING or (name in OPENING and opens_for_writing(node))


def ways_out() -> set[tuple[str, str]]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        nodes = [
            each for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call)
        ]
        found |= {(name, called(node)) for node in nodes if is_way_out(node)}
    return found


def test_every_way_out_passes_or_is_excused() -> None:
    assert ways_out() - PASSING.keys() - EXCUSED.keys() == set()


def test_no_way_out_is_listed_that_is_gone() -> None:
    assert (PASSING.keys() | EXCUSED.keys()) - ways_out() == set()


@pytest.mark.parametrize("way", sorted(PASSING))
def test_it_calls_release_with_its_purpose(way: tuple[str, str]) -> None:
    file, purpose = PASSING[way]
    assert releases_in(file) == [f"Purpose.{purpose.name}"]


def releases_in(file: str) -> list[str]:
    """The purposes for which a module calls `release`."""
    nodes = ast.walk(ast.parse((SOURCE / file).read_text()))
    calls = [node for node in nodes if isinstance(node, ast.Call) and called(node) == "release"]
    return [ast.unparse(call.args[1]) for call in calls]


def readers_of_the_feed() -> set[str]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or name.startswith("feed/"):
                continue
            names = {one.name for one in node.names}
            is_module = node.module == "messor.feed" and names & {"queries", "chunk_feed"}
            is_reader = str(node.module).startswith("messor.feed.") and names & FEED_READERS
            if is_module or is_reader:
                found.add(name)
    return found


def test_every_reader_of_the_feed_is_listed() -> None:
    assert readers_of_the_feed() == READING_THE_FEED.keys()


@pytest.mark.parametrize("file", sorted(READING_THE_FEED))
def test_a_reader_of_the_feed_releases_for_its_purpose(file: str) -> None:
    purpose = READING_THE_FEED[file]
    wanted = {f"Purpose.{purpose.name}"} if isinstance(purpose, Purpose) else set()
    assert set(releases_in(file)) == wanted


async def test_all_is_released_in_order(database: Database) -> None:
    for purpose in Purpose:
        assert await release(database, purpose, [3, 1, 2], lambda _: None) == [3, 1, 2]
