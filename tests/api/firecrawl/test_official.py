"""The official clients, unmodified, in an environment of their own: skipped without `make clients`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from messor.watches import checks
from tests.api.firecrawl.conftest import Door, index

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-clients" / "bin" / "python"
SCRIPT = Path(__file__).with_name("official.py")
PATIENCE = 240.0

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="the clients are not here: make clients"
)


async def test_the_official_clients_work_unmodified(door: Door) -> None:
    for path in ("/b", "/docs/two"):
        await door.post("/v2/scrape", url=f"http://one.test{path}")
    await index(door.database)
    command = [str(PYTHON), str(SCRIPT), door.url, door.key, "http://one.test"]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    ending = asyncio.create_task(_end_checks(door))
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    ending.cancel()
    assert process.returncode == 0, err.decode()[-4000:]
    answers = json.loads(out)

    calls = answers["sync"]
    assert calls["scrape"]["markdown"].startswith("# Page A")
    assert calls["scrape"]["cache"] == "miss"
    assert calls["scrape"]["links"][0] == "http://one.test/"
    assert calls["scrape"]["messor"]["evidence"]
    assert calls["again"]["cache"] == "hit"
    refusals = {
        "denied": "PAGE_REFUSED", "blocked": "PAGE_BLOCKED", "unapproved": "APPROVAL_NEEDED",
        "stealth": "OPTION_REFUSED",
    }  # fmt: skip
    for name, code in refusals.items():
        assert (calls[name]["raised"], calls[name]["code"]) == ("WebsiteNotSupportedError", code)
    assert "does not exist" in calls["missing"]["text"]
    status, completed, total, urls = calls["crawl"]
    assert (status, completed, total, len(urls)) == ("completed", 6, 8, 6)
    assert calls["crawl_errors"]["robots_blocked"] == ["http://one.test/private/x"]
    assert calls["batch"] == ["completed", 2, 2, 2]
    assert "http://one.test/a" in calls["map"]
    assert calls["search"] == 1, "what is archived is searched"
    assert calls["credits"] > 0
    assert calls["watched"][-1] == "completed"
    assert answers["async"]["crawl"] == [
        "completed", ["http://one.test/docs/one", "http://one.test/docs/two"],
    ]  # fmt: skip
    assert answers["watched"][-1] == "completed"
    newer = answers["newer"]
    assert newer["parsed"][:2] == ["# A file\n\nIts text.", "page.html"]
    assert {"pdf", "docx", "html"} <= set(newer["parsed"][2])
    assert newer["check"] == ["completed", 2, ["http://one.test/a", "http://one.test/b"]]
    assert (newer["checks"], newer["paused"], newer["deleted"]) == (1, ["paused", 1], True)
    assert answers["langchain"] == ["# Page A\n\nIt tells at"[:20]]
    assert answers["llama_index"] == ["# Page A\n\nIt tells at"[:20]]


async def _end_checks(door: Door) -> None:
    """What the watcher of `messor up` does."""
    while True:
        await checks.advance(door.database)
        await asyncio.sleep(0.1)
