"""`messor search-index`, and what other commands say of the search server."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.cli.conftest import Messor
from tests.search_server.serving import fill, standing_in_a_thread
from tests.template_server import run_sql, with_database


def test_an_index_is_made_checked_and_dropped(
    messor: Messor, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(dsn))
    assert "PostgreSQL serves searches" in messor("search-index", "status").err
    refused = messor("search-index", "rebuild")
    assert (refused.code, "set MESSOR_SEARCH_SERVER_URL" in refused.err) == (2, True)
    with standing_in_a_thread() as stand_in:
        monkeypatch.setenv("MESSOR_SEARCH_SERVER_URL", stand_in.url)
        assert "without an index" in messor("doctor").out
        assert messor("search-index", "rebuild", "--json").json["documents"] == 3
        (status,) = messor("search-index", "status", "--json").json
        assert (status["state"], status["waiting"]) == ("live", 0)
        found = messor("search", "tea", "--json").json
        assert (len(found["hits"]), found["answered_by"], found["notice"]) == (
            3,
            "search server",
            None,
        )
        assert "is stand-in 0.0.0-stand-in, 0 documents wait" in messor("doctor").out
        (name,) = stand_in.aliases["messor"]
        stand_in.indexes[name].written.clear()
        drift = messor("search-index", "check", "--json").json
        assert (len(drift["missing"]), drift["extra"]) == (3, [])
        assert "3 documents will be resent" in messor("search-index", "check", "--repair").err
        stand_in.failures = [503]
        said = messor("search", "tea")
        assert said.out.count("https://a.test/") == 3
        assert "PostgreSQL was used instead: The search server" in said.err
        stand_in.authorization = "Basic x"
        assert (
            "rejected the credentials (401): check MESSOR_SEARCH_SERVER_KEY" in messor("doctor").out
        )
        refused = messor("search-index", "check")
        assert (refused.code, "rejected the credentials" in refused.err) == (6, True)
        stand_in.authorization = None
        monkeypatch.delenv("MESSOR_SEARCH_SERVER_URL")
        assert "messor search-index drop" in messor("doctor").out
        monkeypatch.setenv("MESSOR_SEARCH_SERVER_URL", stand_in.url)
        assert messor("search-index", "drop", "--json").json == {"dropped": [name]}
        assert stand_in.indexes == {}


def test_an_empty_database_is_set_up_with_its_index(
    messor: Messor, server_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As specification 001 sets one up: the database exists, then the schema, then the index."""
    name = f"forager_{os.getpid()}"
    asyncio.run(run_sql(server_dsn, f"CREATE DATABASE {name}"))
    try:
        with standing_in_a_thread() as stand_in:
            monkeypatch.setenv("MESSOR_DATABASE_URL", with_database(server_dsn, name))
            monkeypatch.setenv("MESSOR_SEARCH_SERVER_URL", stand_in.url)
            refused = messor("search-index", "rebuild")
            assert (refused.code, "Run: messor db upgrade" in refused.err) == (6, True)
            assert messor("db", "upgrade").code == 0
            assert messor("search-index", "rebuild").code == 0
            (held,) = stand_in.aliases["products"]
            mapping = stand_in.indexes[held].mapping["properties"]
            assert mapping["product_name"] == {"type": "text", "analyzer": "standard"}
            assert stand_in.aliases["products"][held] == {"filter": {"term": {"kind": "product"}}}
    finally:
        asyncio.run(run_sql(server_dsn, f"DROP DATABASE {name} WITH (FORCE)"))
