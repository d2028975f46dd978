"""`messor import` as a person meets it: files in, a report out, exit codes, one sentence."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import Messor

PAGE = b"<!doctype html><title>About</title><link rel=canonical href='https://one.test/about'><p>We are here."


@pytest.fixture
def about(tmp_path: Path) -> Path:
    file = tmp_path / "about.html"
    file.write_bytes(PAGE)
    return file


def test_a_page_goes_in_and_is_listed(messor: Messor, about: Path) -> None:
    said = messor("import", str(about), "--domain", "one.test", "--approve")
    assert said.code == 0
    assert "https://one.test/about" in said.out
    assert "1 ok" in said.err
    (page,) = [p for p in messor("pages", "one.test", "--json").json if p["kind"] == "page"]
    assert (page["url"], page["outcome"], page["next_crawl_at"]) == (
        "https://one.test/about",
        "ok",
        None,
    )
    said = messor("import", str(about), "--json")
    assert (said.code, said.json["counts"]) == (0, {"unchanged": 1})
    assert said.json["results"][0]["snapshot_id"] is not None


def test_one_page_from_standard_input(messor: Messor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE)))
    said = messor("import", "-", "--url", "https://one.test/piped", "--approve", "--json")
    assert said.code == 0
    (result,) = said.json["results"]
    assert (result["outcome"], result["url"], result["origin"]) == (
        "ok",
        "https://one.test/piped",
        "stdin",
    )


def test_nothing_imported_is_a_failure_with_a_reason(messor: Messor, about: Path) -> None:
    said = messor("import", str(about), "missing.html", "--json")
    assert said.code == 7
    assert said.json["counts"] == {"refused": 1, "error": 1}
    (sentence,) = said.err.strip().splitlines()
    assert sentence.startswith("messor: No page was imported: ")
    assert "messor domains submit one.test" in sentence


def test_an_empty_folder_says_so(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = messor("import", "empty")
    assert said.code == 7
    assert "no page was found" in said.err


def test_good_and_bad_together_is_a_success(messor: Messor, about: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.warc").write_bytes(b"WARC/1.1\r\nContent-")
    (tmp_path / "bad.har").write_text(json.dumps({"log": None}))
    words = (str(about), "cut.warc", "bad.har", "--domain", "one.test", "--approve")
    said = messor("import", *words)
    assert said.code == 0
    assert "cut.warc: the file breaks off" in said.err
    assert "not a readable HAR file" in said.out


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("a.html", "--url", "javascript:alert(1)"), "is not a URL"),
        (("a.html", "b.html", "--url", "https://one.test/"), "give a single path"),
        (("a.html", "--approve"), "--approve requires --domain or --url"),
        (("a.html", "--domain", "127.0.0.1"), "is an address; approvals are for domains"),
    ],
    ids=["url", "two-paths", "approve", "domain"],
)
def test_bad_words_are_told(messor: Messor, words: tuple[str, ...], sentence: str) -> None:
    said = messor("import", *words)
    assert said.code == 2
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_bomb_is_refused_with_a_sentence(messor: Messor, tmp_path: Path) -> None:
    pages = b'{"request":{"method":"GET","url":"https://one.test/"},"response":{"status":200}},'
    bomb = tmp_path / "session.har"
    bomb.write_bytes(gzip.compress(b'{"log":{"entries":[' + pages * 1_500_000))
    assert bomb.stat().st_size < 1_000_000
    done = messor("import", str(bomb), "--url", "https://one.test/", "--approve")
    assert done.code == 7
    assert "has more than 100,000 items" in done.err


def test_a_zip_file_is_told_to_be_unpacked(messor: Messor, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as file:
        file.writestr("a.html", "<p>a")
    done = messor("import", str(tmp_path / "pages.zip"), "--url", "https://one.test/", "--approve")
    assert done.code == 7
    assert "extract it" in done.out + done.err


def test_a_large_page_is_read_in_a_process_of_its_own(messor: Messor, tmp_path: Path) -> None:
    page = tmp_path / "large.html"
    page.write_bytes(b"<title>large</title>" + b"<p>x" * 450_000)
    done = messor("import", str(page), "--url", "https://one.test/", "--approve", "--json")
    assert [(r["outcome"], r["reason"]) for r in done.json["results"]] == [("ok", None)]
    page.write_bytes(b"<title>huge</title>" + b"<p>x" * 4_900_000)
    done = messor("import", str(page), "--url", "https://one.test/", "--approve", "--json")
    assert done.code == 7
    assert "imported pages may have up to 5 MB" in done.err
