"""`messor inspect`: one answer per line, in order, whatever the line holds."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="content.opf"
  media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="chapter.xhtml"
  media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>"""
CORPORA = Path(__file__).parents[3] / "shared" / "corpora"


def ask(subject: str, lines: list[str]) -> list[dict[str, Any]]:
    """What `messor inspect SUBJECT --jsonl` says, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "messor", "inspect", subject, "--jsonl"],
        input="\n".join([*lines, ""]).encode(),
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == b""
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    return answers


def packed(body: bytes) -> str:
    return base64.b64encode(body).decode()


def rows(name: str) -> list[dict[str, Any]]:
    path = CORPORA / name
    if not path.exists():
        pytest.skip(f"the external cases ({name}) are not here")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_a_bad_line_gets_an_error_and_the_next_its_turn() -> None:
    good = json.dumps({"input": "HTTP://Example.COM/a/../b#c"})
    answers = ask("url", [good, "{not json", "[]", "{}", '{"input": 7}', "", '{"a":' * 3000, good])
    assert [("error" in answer) for answer in answers] == [False, *[True] * 6, False]
    assert answers[0] == answers[-1]
    assert answers[0]["canonical"] == "http://example.com/b"
    assert answers[0]["registrable_domain"] == "example.com"
    assert answers[0]["ok"]


def test_lone_surrogates_are_taken() -> None:
    (answer,) = ask("url", ['{"input": "http://example.com/\\ud800"}'])
    assert answer["href"] == "http://example.com/%EF%BF%BD"


def test_robots_answers_in_the_form_of_the_specification() -> None:
    given = {"robots_txt": "User-agent: *\nCrawl-delay: 5\nDisallow: /private/", "user_agent": "A"}
    (answer,) = ask("robots", [json.dumps({**given, "url": "https://a.example/private/x"})])
    assert answer == {
        "allowed": False,
        "reason": "disallow_rule:/private/",
        "matched_rule": "/private/",
        "user_agent": "A",
        "crawl_delay": 5.0,
    }


def test_sitemap_encoding_and_address() -> None:
    body = (
        b"<urlset><url><loc>https://a.example/x</loc><lastmod>2026-01-02</lastmod></url></urlset>"
    )
    (sitemap,) = ask("sitemap", [json.dumps({"body_b64": packed(gzip.compress(body))})])
    assert sitemap["kind"] == "urlset"
    assert sitemap["urls"][0]["loc"] == "https://a.example/x"
    assert sitemap["urls"][0]["lastmod"].startswith("2026-01-02")
    (encoding,) = ask(
        "encoding",
        [
            json.dumps(
                {"body_b64": packed(b"x"), "content_type_header": "text/html; charset=latin1"}
            )
        ],
    )
    assert encoding == {"encoding": "windows-1252"}
    refused, allowed, wrong = ask(
        "address",
        [
            json.dumps({"url": "http://a.example/", "dns": ["93.184.216.34", "10.0.0.1"]}),
            json.dumps({"url": "http://a.example/", "dns": ["93.184.216.34"]}),
            json.dumps({"url": "http://a.example/", "dns": ["nonsense"]}),
        ],
    )
    assert (refused["allowed"], allowed["allowed"]) == (False, True)
    assert "10.0.0.1" in refused["reason"]
    assert "error" in wrong


def test_page_from_html_or_bytes_is_the_same_page() -> None:
    html = "<html lang=en><title>Tea</title><a href=/b rel=nofollow>b</a><p>Loose leaf.</p>"
    first, second = ask(
        "page",
        [
            json.dumps({"html": html, "url": "https://a.example/"}),
            json.dumps({"body_b64": packed(html.encode()), "url": "https://a.example/"}),
        ],
    )
    assert first["title"] == "Tea"
    assert first["links"] == [{"url": "https://a.example/b", "nofollow": True}]
    assert first["content_hash"] == second["content_hash"]


def test_page_shows_gates_block_and_signals() -> None:
    url = "https://a.example/"
    challenge = "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue</p>"
    shell = "<div id=root></div><script src=/app.js></script>"
    plain, stopped, bare, unknown, wrong, none = ask(
        "page",
        [
            json.dumps({"html": f"<title>Tea</title><p>{'Loose leaf. ' * 300}", "url": url}),
            json.dumps({"html": challenge, "url": url, "status": 403, "headers": {"A": ["b"]}}),
            json.dumps({"html": shell, "url": url, "status": None}),
            json.dumps({"html": None, "url": url, "headers": {"Set-Cookie": "_abck=1"}}),
            json.dumps({"html": "", "url": url, "status": "403"}),
            json.dumps({"url": url}),
        ],
    )
    nobody = {"is": False, "by": None, "evidence": None}
    assert (plain["gates"], plain["blocked"], plain["signals"]) == ([], nobody, [])
    assert stopped["gates"] == ["status", "size", "bot_block"]
    assert stopped["blocked"] == {"is": True, "by": "cloudflare", "evidence": "just a moment..."}
    assert stopped["signals"] == ["403", "challenge:cloudflare"]
    assert bare["gates"] == ["size", "spa_shell", "text_ratio"]
    assert unknown["blocked"] == nobody
    assert unknown["signals"] == ["trace:akamai"]
    assert wrong["error"] == "status: give a number"
    assert "html" in none["error"]


def test_every_stored_target_is_judged_rightly() -> None:
    path = CORPORA / "ssrf_targets.json"
    if not path.exists():
        pytest.skip("the external cases (ssrf_targets.json) are not here")
    cases = json.loads(path.read_text(encoding="utf-8"))
    answers = ask("address", [json.dumps({"url": c["url"], "dns": c["dns"]}) for c in cases])
    wrong = [
        c["url"] for c, a in zip(cases, answers, strict=True) if a["allowed"] == c["must_block"]
    ]
    assert wrong == []


def test_stored_urls_are_read_as_browsers_read_them() -> None:
    cases = [row for row in rows("url_whatwg.jsonl") if row["http"]]
    answers = ask("url", [json.dumps({k: c.get(k) for k in ("input", "base")}) for c in cases])
    for case, answer in zip(cases, answers, strict=True):
        expected = None if case["failure"] else case["href"]
        assert (answer["href"] if answer["ok"] else None) == expected, case["input"]


def test_a_document_that_hides_a_deep_page_is_refused_with_a_sentence() -> None:
    """An e-book's chapter may be nested to crash the parser of what it is converted to."""
    chapter = f"<html><body>{'<div>' * 5_000}deep{'</div>' * 5_000}</body></html>"
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as parts:
        parts.writestr("META-INF/container.xml", CONTAINER)
        parts.writestr("content.opf", PACKAGE)
        parts.writestr("chapter.xhtml", chapter)
    line = json.dumps({"body_b64": base64.b64encode(book.getvalue()).decode()})
    (answer,) = ask("document", [line])
    assert re.fullmatch(r"The page nests more than \d+ elements\.", answer["error"])
