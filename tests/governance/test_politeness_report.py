"""The politeness report says what was asked when, and its owner can check it by the documented script."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from messor.errors import ConflictError, UsageError
from messor.fetch.identity import keys, publication
from messor.fetch.proxies.seal import seal_for
from messor.governance import politeness_report
from messor.store.database import Database
from tests.crawling import admit, crawl
from tests.little_web import LittleWeb, page

DOCUMENT = Path(__file__).parents[2] / "docs" / "identity.md"


async def test_a_report_is_checked_with_the_published_keys_alone(
    database: Database, tmp_path: Path
) -> None:
    rooms = {"/": page("Home", "/a"), "/a": page("A")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings(identity_url="https://bot.example")
        await admit(database, "http://one.test/", delay=0.2)
        await crawl(settings, database)
        asked = len(web.requests())
    seal = seal_for(settings)
    signed = await politeness_report.signed(database, settings, seal, "one.test")
    published = await keys.published(database)
    report = tmp_path / "report.json"
    directory = tmp_path / "directory.json"
    report.write_bytes(msgspec.json.encode(signed))
    directory.write_bytes(publication.directory(settings, published, (), 0).body)
    public = {key.thumbprint: key.public for key in published}
    found = politeness_report.opened(report.read_bytes(), public)
    assert found["summary"]["requests"] == found["summary"]["signed"] == asked
    assert found["summary"]["early"] == 0
    assert found["summary"]["shortest_gap_ms"] >= 200
    assert {each["host"] for each in found["robots"]} == {"one.test"}
    script = tmp_path / "check.py"
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    script.write_text(code)
    told = run(script, report, directory)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["requests"] == asked

    altered = {**signed, "payload": signed["payload"][:-4] + "AAAA"}
    with pytest.raises(UsageError, match="altered"):
        politeness_report.opened(msgspec.json.encode(altered), public)
    report.write_bytes(msgspec.json.encode(altered))
    assert run(script, report, directory).returncode != 0
    with pytest.raises(UsageError, match="one of these keys"):
        politeness_report.opened(msgspec.json.encode(signed), {})
    with pytest.raises(UsageError, match="not a signed"):
        politeness_report.opened(b"{", public)


async def test_without_a_key_there_is_no_signed_report(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("Home")}}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        with pytest.raises(ConflictError, match="MESSOR_IDENTITY_URL"):
            await politeness_report.signed(database, settings, seal_for(settings), "one.test")


def run(script: Path, report: Path, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), str(report), str(directory)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
