"""Nobody outside is asked for names: those that the web of a test does not know have none."""

from __future__ import annotations

import pytest

from messor.fetch import guard


@pytest.fixture(autouse=True)
def unknown_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that would have been asked for."""
    names: list[str] = []

    class NoNames:
        async def resolve(self, host: str, *_: object) -> list[object]:
            names.append(host)
            raise OSError(f"{host} is not known here")

        async def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr(guard, "AsyncResolver", NoNames)
    return names
