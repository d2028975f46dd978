"""`messor tasks` as a person meets it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Messor


@pytest.fixture
def shop(messor: Messor) -> Messor:
    """A command line whose registry knows shop.test."""
    for act in ("submit", "approve"):
        assert messor("domains", act, "shop.test").code == 0
    return messor


def write(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("\n".join(lines))
    return name


def stdin(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_a_batch_with_bad_lines_says_which_and_exits_with_3(shop: Messor, tmp_path: Path) -> None:
    lines = [f"https://shop.test/{n},{n % 10 + 1}" for n in range(2_000)]
    lines[6], lines[1_500] = "https://shop.test/x,99", "https://nobody.test/,1"
    file = write(tmp_path, "urls.csv", "url,priority", *lines)
    said = shop("tasks", "submit", file)
    assert said.code == 3
    assert "1998 of 2000 lines accepted (1998 new pages), 0 duplicates, 2 rejected" in said.err
    assert [line.split()[0] for line in said.out.splitlines()] == ["LINE", "8", "1502"]
    assert "messor domains submit nobody.test" in said.out
    told = shop("tasks", "submit", file, "--json").json
    assert (told["accepted"], told["fresh"], told["rejected"]) == (1998, 0, 2)
    assert [line["line"] for line in told["errors"]] == [8, 1502]
    again = shop("tasks", "errors", told["id"], "--json").json
    assert again == told["errors"]


def test_a_good_batch_exits_with_0_and_one_of_bad_lines_with_2(
    shop: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, b"https://shop.test/a\nhttps://shop.test/a\n")
    assert shop("tasks", "submit", "-", "--name", "mine").code == 0
    stdin(monkeypatch, b"nonsense\n")
    said = shop("tasks", "submit", "-")
    assert said.code == 2
    assert "No line was accepted; line 1: not a web URL" in said.err
    stdin(monkeypatch, b"")
    assert shop("tasks", "submit", "-").code == 2
    assert shop("tasks", "submit", "missing.csv").code == 2
    assert shop("tasks", "submit", write(tmp_path, "a.csv", "https://shop.test/")).code == 2
    batches = shop("tasks", "batches", "--json").json
    assert {batch["name"] for batch in batches} == {"mine", "stdin"}


def test_the_terms_of_a_batch_are_those_of_its_tasks(shop: Messor, tmp_path: Path) -> None:
    file = write(tmp_path, "urls.txt", "https://shop.test/a", "https://shop.test/b")
    said = shop("tasks", "submit", file, "--priority", "2", "--every", "12h", "--json")
    batch = said.json["id"]
    (first, _) = shop("tasks", "list", "--batch", batch, "--json").json
    assert first["priority"] == 2
    assert first["status"] == "queued"
    assert first["rhythm"] == "crawled every 12 h (set for this page), exactly"
    assert shop("tasks", "submit", file, "--every", "often").code == 2


def test_pausing_and_the_rest(shop: Messor, tmp_path: Path) -> None:
    file = write(tmp_path, "urls.txt", "https://shop.test/a", "https://shop.test/b")
    batch = shop("tasks", "submit", file, "--json").json["id"]

    def statuses() -> list[str]:
        return [row["status"] for row in shop("tasks", "list", "--batch", batch, "--json").json]

    assert shop("tasks", "pause", "--batch", batch, "--json").json["tasks"] == 2
    assert statuses() == ["paused", "paused"]
    assert shop("tasks", "resume", "--url", "https://shop.test/a").code == 0
    assert statuses() == ["queued", "paused"]
    assert "2 tasks stopped" in shop("tasks", "stop", "--batch", batch).err
    assert statuses() == ["cancelled", "cancelled"]
    assert shop("tasks", "retry", "--domain", "shop.test").code == 0
    assert statuses() == ["queued", "queued"]
    assert shop("tasks", "pause", "--all").code == 0
    assert statuses() == ["paused", "paused"]
    assert shop("tasks", "resume", "--all").code == 0
    assert shop("tasks", "recrawl", "--domain", "shop.test").code == 0
    assert shop("tasks", "list", "--status", "queued").out.count("shop.test/") >= 2
    assert "No matching tasks" in shop("tasks", "list", "--status", "failed").err


@pytest.mark.parametrize(
    "words, code",
    [
        ((), 2),
        (("--all", "--domain", "shop.test"), 2),
        (("--batch", "seven"), 2),
        (("--domain", "nobody.test"), 4),
        (("--url", "https://shop.test/unknown"), 4),
        (("--url", "https://shop.test/robots.txt"), 5),
    ],
)
def test_a_scope_that_is_none_is_one_sentence(
    shop: Messor, words: tuple[str, ...], code: int
) -> None:
    said = shop("tasks", "pause", *words)
    assert said.code == code
    assert said.err.startswith("messor: ")
    assert len(said.err.strip().splitlines()) == 1


def test_what_cannot_be_done_says_why(shop: Messor) -> None:
    said = shop("tasks", "resume", "--url", "https://shop.test/")
    assert said.code == 5
    assert "is pending cannot be changed with 'resume'" in said.err


def test_events_tell_who_did_what(shop: Messor) -> None:
    shop("tasks", "pause", "--domain", "shop.test")
    said = shop("events", "--json")
    assert "tasks.paused" in said.out
    assert "local-admin" in said.out
