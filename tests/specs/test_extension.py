"""The extension that specification 000 asks for, on a server that has it and on one that has not."""

from __future__ import annotations

import pytest

from messor.store.database import Database


async def test_pgcrypto_is_there_where_the_server_has_it(
    request: pytest.FixtureRequest, filled: Database
) -> None:
    is_installed = request.node.callspec.params["filled_server"] == "installed"
    available = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pgcrypto'"
    made = await filled.fetchval("SELECT count(*) FROM pg_extension WHERE extname = 'pgcrypto'")
    assert made == await filled.fetchval(available) == int(is_installed)
    if is_installed:
        digest = await filled.fetchval("SELECT encode(digest('a', 'sha256'), 'hex')")
        assert digest.startswith("ca978112ca1bbdca")
