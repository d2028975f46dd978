"""The pins work with pip alone: with hashes, pip accepts only the extras that are pinned."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
GROUPS = {"": (), "-image": (), "-dev": ("dev",), "-bench": ("dev", "bench")}
# Requirements of pinned packages that are not installed here, from their metadata.
FOREIGN = {"procrastinate": ("psycopg[pool]",)}


def _pinned(name: str) -> set[tuple[str, frozenset[str]]]:
    text = (ROOT / f"requirements{name}.txt").read_text(encoding="utf-8")
    found = re.findall(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?==", text, re.MULTILINE)
    return {
        (canonicalize_name(each), frozenset(filter(None, re.split(r",\s*", extras))))
        for each, extras in found
    }


def _required(name: str, pinned: set[str]) -> set[tuple[str, frozenset[str]]]:
    """Requirements with extras, of the project and of every pinned package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    required = list(project["project"]["dependencies"])
    for group in GROUPS[name]:
        required += project["dependency-groups"][group]
    for package in sorted(pinned):
        try:
            required += metadata.requires(package) or ()
        except metadata.PackageNotFoundError:
            required += FOREIGN.get(package, ())
    wanted = map(Requirement, required)
    return {
        (canonicalize_name(each.name), frozenset(each.extras))
        for each in wanted
        if each.extras and (each.marker is None or each.marker.evaluate({"extra": ""}))
    }


@pytest.mark.parametrize("name", GROUPS)
def test_pip_finds_every_extra_pinned(name: str) -> None:
    pinned = _pinned(name)
    missing = _required(name, {package for package, _ in pinned}) - pinned
    assert missing == set()
