"""The pins are complete: they are installed without resolving dependencies."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = {
    "requirements.txt": ((), ()),
    "requirements-image.txt": ((), ("broker", "clickhouse", "s3")),
    "requirements-dev.txt": (("dev",), ()),
    "requirements-bench.txt": (("dev", "bench"), ()),
}


def _pins(lock: str) -> dict[str, str]:
    """Version by name. A lock can pin a name several times, for different Pythons or systems."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for line in re.findall(r"^[A-Za-z0-9].*?==[^\\\n]*", text, re.MULTILINE):
        pin = Requirement(line.strip())
        if pin.marker is None or pin.marker.evaluate():
            [specifier] = pin.specifier
            found[canonicalize_name(pin.name)] = specifier.version
    return found


def _declared(lock: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups, extras = LOCKS[lock]
    declared = list(project["project"]["dependencies"])
    for group in groups:
        declared += project["dependency-groups"][group]
    for extra in extras:
        declared += project["project"]["optional-dependencies"][extra]
    return _applying(declared, [""])


def _needed(requirement: Requirement) -> list[Requirement]:
    """What an installed package needs, for the extras asked of it."""
    try:
        stated = metadata.requires(requirement.name) or []
    except metadata.PackageNotFoundError:  # pinned for another lock than the installed one
        return []
    return _applying(stated, ["", *requirement.extras])


def _applying(stated: list[str], extras: list[str]) -> list[Requirement]:
    return [
        each
        for each in map(Requirement, stated)
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_needed_is_pinned_in_a_version_that_fits(lock: str) -> None:
    pins = _pins(lock)
    waiting, seen, unmet = _declared(lock), set[str](), set[str]()
    while waiting:
        each = waiting.pop()
        if str(each) in seen:
            continue
        seen.add(str(each))
        version = pins.get(canonicalize_name(each.name))
        if version is None or not each.specifier.contains(version, prereleases=True):
            unmet.add(f"{each} (pinned: {version})")
        waiting += _needed(each)
    assert unmet == set()
    assert len(seen) > 50
