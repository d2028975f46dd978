"""The difference between files and database: what applying the files would change; reads only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from messor.configuration.files import Configuration
from messor.configuration.model import (
    ApplyContext,
    KeyChange,
    PlannedChange,
    Section,
    Source,
    Values,
)
from messor.configuration.sections import SECTIONS
from messor.errors import ConflictError, UsageError
from messor.verticals import differences, verticals
from messor.verticals.verticals import Applied

VERTICALS = "verticals"
APPLIED = "SELECT name FROM messor.verticals"
ACTIONS = ("add", "change", "remove")


async def compare(
    source: Source, wanted: Configuration, how: ApplyContext, *, prune: bool = False
) -> list[PlannedChange]:
    """What differs, in the order in which it is applied.

    With `prune` also what the files do not name, in the sections that they do name.
    """
    return [
        *await vertical_changes(source, wanted),
        *await section_changes(source, wanted, how, prune=prune),
    ]


async def vertical_changes(source: Source, wanted: Configuration) -> list[PlannedChange]:
    """The verticals to apply; raises ConflictError for another content of an applied version."""
    found = []
    for name, file in wanted.verticals.items():
        before = await verticals.find(source, name)
        if before is not None and before.source_hash == file.source_hash:
            continue
        version = file.vertical.version
        if before is not None and version <= before.vertical.version:
            raise ConflictError(
                f"verticals.{name}: version {before.vertical.version} is applied and differs from "
                f"the file's version {version}; give the file a higher version."
            )
        fields = differences.between(before.vertical if before else None, file.vertical)
        changes = tuple(KeyChange(each.key, each.before, each.after) for each in fields)
        found.append(PlannedChange(VERTICALS, name, "change" if before else "add", changes))
    return found


async def section_changes(
    source: Source, wanted: Configuration, how: ApplyContext, *, prune: bool
) -> list[PlannedChange]:
    """The changes of every section that the files name."""
    known = {row["name"] for row in await source.fetch(APPLIED)} | wanted.verticals.keys()
    found: list[PlannedChange] = []
    for section in SECTIONS:
        if (declared := wanted.sections.get(section.name)) is None:
            continue
        for name, values in declared.items():
            if (vertical := values.get("vertical")) and vertical not in known:
                raise UsageError(
                    f"{section.name}.{name}: the vertical {vertical!r} is neither applied nor "
                    f"in {VERTICALS}/; write its file: messor verticals export {vertical}"
                )
        current = await section.current(source, how)
        changes = [*_changes(section, declared, current)]
        if prune and section.how_removed:
            changes += _removals(section, declared, current)
        found += sorted(changes, key=_turn)
    return found


def _turn(change: PlannedChange) -> tuple[bool, int]:
    """Admins are made before others cease to be: one is always left."""
    is_promotion = change.section == "members" and change.wanted.get("role") == "admin"
    return not is_promotion, ACTIONS.index(change.action)


def _changes(
    section: Section, declared: dict[str, dict[str, Any]], current: dict[str, dict[str, Any]]
) -> Iterator[PlannedChange]:
    for name, wanted in declared.items():
        before = current.get(name)
        section.check(name, before, wanted)
        fields = _differences(section, before or {}, wanted)
        if before is None:
            yield PlannedChange(section.name, name, "add", fields, wanted=wanted)
        elif fields:
            yield PlannedChange(section.name, name, "change", fields, wanted=wanted, before=before)


def _differences(section: Section, before: Values, wanted: Values) -> tuple[KeyChange, ...]:
    """The keys that differ; the reason of a status belongs to its change and is not compared."""
    keys = list(wanted)
    if not section.is_partial:
        keys += [key for key in before if key not in wanted]
    found = [
        KeyChange(key, before.get(key), wanted.get(key))
        for key in keys
        if before.get(key) != wanted.get(key)
    ]
    moves = not before or any(field.key == "status" for field in found)
    return tuple(field for field in found if field.key != "reason" or moves)


def _removals(
    section: Section, declared: dict[str, dict[str, Any]], current: dict[str, dict[str, Any]]
) -> Iterator[PlannedChange]:
    for name, before in current.items():
        if name not in declared and section.goes(before):
            fields = tuple(KeyChange(key, value, None) for key, value in before.items())
            yield PlannedChange(
                section.name, name, "remove", fields, note=section.how_removed, before=before
            )


async def whole(
    source: Source, how: ApplyContext
) -> tuple[dict[str, dict[str, dict[str, Any]]], dict[str, str]]:
    """Everything that files can say about the database: sections, and sources of verticals."""
    sections = {section.name: await section.current(source, how) for section in SECTIONS}
    applied: list[Applied] = await verticals.listing(source)
    return sections, {one.vertical.name: one.source for one in applied}
