"""`messor audit contract` as a person meets it."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.cli.conftest import Messor
from tests.cli.test_audit import execute

# A run that planned nothing, with all its markers.
RUN = """
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, requested_by, stage,
                                   completed_at, outcome, evidence)
VALUES ('abc123', 'one', 'light', 'https://one.example/', 'tester', 'done', messor.clock(), 'error',
  '{"traceId": "abc123", "nm_policyVersion": "orbitBehaviourContract.v1.1.0", "nm_ingest": {
    "mode": "light", "discoverySources": [], "pagesPlanned": 0, "pagesFetched": 0, "pagesUsed": 0,
    "cacheHits": 0, "cacheMisses": 0, "outcome": "error", "frictionSignals": [],
    "domainRiskScore": 0, "durationMs": 12}}')
"""
BREAK = "UPDATE messor.ingestion_runs SET evidence = evidence #- '{nm_ingest,durationMs}'"


@pytest.fixture
def run(dsn: str) -> str:
    asyncio.run(execute(dsn, RUN))
    return dsn


def test_without_any_run_there_is_no_data_and_nothing_is_broken(messor: Messor) -> None:
    said = messor("audit", "contract")
    assert said.code == 0
    assert said.out.count("no data") >= 9
    assert "0 of 9 checks hold, 9 have no data yet." in said.out


def test_a_kept_contract_in_words_and_as_json(messor: Messor, run: str) -> None:
    said = messor("audit", "contract", "--within", "24h")
    assert said.code == 0
    assert "runs checked: 1, broken: 0" in said.out
    found = json.loads(messor("audit", "contract", "--json").out)
    assert found["kept"] is True
    assert [check["id"] for check in found["checks"]] == [
        *(f"INGEST_00{number}" for number in range(1, 8)),
        "COMPLY_001",
        "COMPLY_002",
    ]
    first = found["checks"][0]
    assert (first["state"], first["newest"]) == ("pass", "abc123")
    assert "messor.ingestion_runs" in first["sql"]


def test_a_broken_contract_exits_with_eight_and_says_what(messor: Messor, run: str) -> None:
    asyncio.run(execute(run, BREAK))
    said = messor("audit", "contract")
    assert said.code == 8
    assert "nm_ingest lacks durationMs" in said.out
    assert "The contract is broken: INGEST_001." in said.err
    assert json.loads(messor("audit", "contract", "--json").out)["kept"] is False


def test_a_time_that_is_none_is_refused(messor: Messor) -> None:
    said = messor("audit", "contract", "--within", "soon")
    assert said.code == 2
