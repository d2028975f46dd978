"""Evidence: a bundle is whole, an offline script says so, and any changed byte is found."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.access.roles import Role
from messor.archive.storage import Archive
from messor.errors import ConflictError, NotFoundError
from messor.fetch.proxies.seal import Seal
from messor.ops.evidence.bundle import Evidence
from messor.ops.evidence.verify import DAMAGED, verify
from messor.rights.uses import ApprovedUse
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse
from tests import replaying
from tests.api.conftest import api_over, client_of, key_of
from tests.extraction.test_extract import SHOP, opened_bench
from tests.extraction.test_extract import product as kettle

KETTLE = f"http://{SHOP}/kettle"
ROBOTS = "User-agent: *\nAllow: /\nContent-Signal: search=yes\n"


@dataclass
class Made:
    """A crawled shop, and what makes its bundles."""

    database: Database
    settings: Settings
    maker: Evidence
    record_id: int
    page_id: int


@pytest.fixture
async def made(dsn: str, tmp_path: Path) -> AsyncIterator[Made]:
    async with opened_bench(tmp_path, dsn, kettle=kettle()) as bench:
        text = (("Content-Type", "text/plain"),)
        bench.set("/robots.txt", SimResponse(200, text, ROBOTS.encode()))
        await bench.crawl()
        await bench.extract()
        settings = bench.settings
        async with bench.opened() as database:
            record = await database.fetchrow(
                "SELECT id, page_id FROM messor.records WHERE kind = 'product'"
            )
            assert record is not None
            maker = Evidence(database, settings, Archive.of(settings), Seal(settings.data_dir))
            yield Made(database, settings, maker, record["id"], record["page_id"])


async def test_a_record_s_bundle_shows_everything(made: Made, tmp_path: Path) -> None:
    data = await made.maker.bundle("record", made.record_id, actor="ann")
    package = zipfile.ZipFile(io.BytesIO(data))
    assert package.testzip() is None
    files = {name: package.read(name) for name in package.namelist()}
    record = json.loads(files["evidence/subject.json"])
    assert record["fields"]["price"]["evidence"]["quote"] in files["evidence/source.txt"].decode()
    events = json.loads(files["evidence/decisions.json"])["events"]
    assert "domain.approved" in {event["type"] for event in events}
    polite = json.loads(files["evidence/politeness.json"])
    assert [one["outcome"] for one in polite["requests"] if one["page_id"] == made.page_id] == [
        "ok"
    ]
    robots = polite["robots"][0]["body"]
    assert files[f"evidence/{robots}"].decode() == ROBOTS
    rights = json.loads(files["evidence/rights.json"])
    assert {one["use"] for one in rights["now"]["statements"]} == {"search"}
    rows = json.loads(files["evidence/sealed.json"])
    assert {row["log"] for row in rows} == {"events", "http_fetches"}
    assert len(rows) == len(events) + len(polite["requests"])
    (bundled,) = await made.database.fetch(
        "SELECT actor FROM messor.events WHERE type = 'evidence.bundled'"
    )
    assert bundled["actor"] == "ann"
    # As other tools read it.
    found = {
        record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
        for record in ArchiveIterator(io.BytesIO(files["archive/data.warc.gz"]))
        if record.rec_type == "response"
    }
    assert found[KETTLE] == kettle().body
    assert "whole" in verify(data)
    key = json.loads(files["evidence/manifest.json"])["key"]
    assert "whole" in verify(data, key)
    with pytest.raises(ValueError, match="signed by"):
        verify(data, "another")


async def test_the_script_in_the_bundle_verifies_it_with_python_alone(
    made: Made, tmp_path: Path
) -> None:
    bundle, script = tmp_path / "page.wacz", tmp_path / "verify.py"
    bundle.write_bytes(await made.maker.bundle("page", made.page_id, actor="ann"))
    script.write_bytes(zipfile.ZipFile(bundle).read("evidence/verify.py"))
    assert len(script.read_text().splitlines()) <= 100
    command = [sys.executable, "-I", str(script), str(bundle)]
    done = subprocess.run(  # noqa: ASYNC221 - a test
        command, check=False, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    assert f"page {made.page_id}, {KETTLE}: whole." in done.stdout
    bundle.write_bytes(bundle.read_bytes()[:-1] + b"x")
    done = subprocess.run(  # noqa: ASYNC221 - a test
        command, check=False, capture_output=True, text=True, cwd="/"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "NOT VALID" in done.stderr


def is_valid(data: bytes) -> bool:
    try:
        verify(data)
    except DAMAGED:
        return False
    return True


async def flipped(made: Made, step: int) -> list[int]:
    """The places where a changed byte goes unnoticed."""
    data = bytearray(await made.maker.bundle("record", made.record_id, actor="ann"))
    assert is_valid(bytes(data))
    missed = []
    for place in {*range(0, len(data), step), *range(len(data) - 200, len(data))}:
        for bit in (1, 32, 128):
            data[place] ^= bit
            missed += [place] if is_valid(bytes(data)) else []
            data[place] ^= bit
    return missed


async def test_a_changed_byte_is_found(made: Made) -> None:
    assert await flipped(made, 101) == []
    data = await made.maker.bundle("record", made.record_id, actor="ann")
    other = await made.maker.bundle("page", made.page_id, actor="ann")
    for changed in (data[:-1], data + b"x", b"x" + data, data[:-64] + other[-64:], b"", data[:100]):
        assert not is_valid(changed)


@pytest.mark.wide
async def test_any_changed_byte_is_found(made: Made) -> None:
    assert await flipped(made, 1) == []


async def test_what_may_not_leave_is_not_bundled(made: Made) -> None:
    domain_id = await made.database.fetchval("SELECT id FROM messor.domains")
    await made.database.fetch(
        "INSERT INTO messor.domain_uses (domain_id, uses, set_by) VALUES ($1, '{search}', 'ann')",
        domain_id,
    )
    with pytest.raises(ConflictError, match="messor rights"):
        await made.maker.bundle("page", made.page_id, actor="ann", declared=[ApprovedUse.AI_TRAIN])
    with pytest.raises(NotFoundError):
        await made.maker.bundle("record", 10**6, actor="ann")
    with pytest.raises(NotFoundError):
        await made.maker.bundle("page", 10**6, actor="ann")


async def test_admins_get_it_over_the_api(made: Made) -> None:
    app = api_over(made.settings, made.database)
    for role, status in ((Role.REVIEWER, 403), (Role.ADMIN, 200)):
        key = await key_of(made.database, role)
        async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
            answer = await client.post(f"/api/v1/evidence/record/{made.record_id}")
            assert answer.status_code == status, answer.text
            if status == 200:
                assert "whole" in verify(answer.content)
                assert (await client.post("/api/v1/evidence/record/999999")).status_code == 404
                assert (await client.post("/api/v1/evidence/novel/1")).status_code == 422


@pytest.mark.skipif(replaying.WHY_NOT is not None, reason=str(replaying.WHY_NOT))
async def test_it_replays_like_any_wacz(made: Made, tmp_path: Path) -> None:
    bundle = tmp_path / "evidence.wacz"
    bundle.write_bytes(await made.maker.bundle("record", made.record_id, actor="ann"))
    async with (
        replaying.replay_files(tmp_path / "pywb", [bundle]) as pywb,
        aiohttp.ClientSession() as session,
        session.get(f"{pywb.base}/seen/id_/{KETTLE}") as answer,
    ):
        assert answer.status == 200
        assert await answer.read() == kettle().body
