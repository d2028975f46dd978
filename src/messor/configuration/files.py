"""The files of a configuration: every *.toml of a folder, and the vertical files in `verticals/`.

A file may hold any sections, and a section may be spread over files; each object is declared once.
Errors name the file and the key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from messor.configuration import toml
from messor.configuration.model import Section
from messor.configuration.sections import SECTIONS
from messor.errors import UsageError
from messor.store.listing import fault_of
from messor.verticals import files as vertical_files
from messor.verticals.files import VerticalFile

VERTICALS = "verticals"
MAX_BYTES = 32_000_000
HEAD = "# {about}. See docs/configuration.md; apply with: messor apply FOLDER\n\n"


@dataclass(slots=True)
class Configuration:
    """What the files declare: objects by section and name, and verticals."""

    sections: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    verticals: dict[str, VerticalFile] = field(default_factory=dict)


def read(folder: Path) -> Configuration:
    """Read and check the files of a folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. Write one: messor export config -o {folder}")
    found = Configuration()
    paths = sorted(folder.glob("*.toml"))
    for path in paths:
        _add(found, path, _parsed(path))
    for path in sorted((folder / VERTICALS).glob("*.toml")):
        file = vertical_files.read(path)
        if file.vertical.name in found.verticals:
            raise UsageError(f"{path}: the vertical {file.vertical.name} is declared twice.")
        found.verticals[file.vertical.name] = file
    if not paths and not found.verticals:
        raise UsageError(f"{folder} holds no *.toml file, nor {VERTICALS}/*.toml.")
    return found


def _parsed(path: Path) -> dict[str, Any]:
    try:
        body = path.read_bytes()
        if len(body) > MAX_BYTES:
            raise UsageError(f"{path} is longer than {MAX_BYTES} bytes.")
        return tomllib.loads(body.decode())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: byte {error.start} is invalid.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error


def _add(found: Configuration, path: Path, tables: dict[str, Any]) -> None:
    known = {section.name: section for section in SECTIONS}
    for name, objects in tables.items():
        if name not in known:
            raise UsageError(f"{path}: there is no section {name[:60]!r}; {', '.join(known)} are.")
        if not isinstance(objects, dict):
            raise UsageError(f'{path}: {name} must be tables such as [{name}."NAME"].')
        into = found.sections.setdefault(name, {})
        for key, given in objects.items():
            _declare(into, known[name], key, given, f"{path}: {name}.{key}")


def _declare(
    into: dict[str, dict[str, Any]], section: Section, key: str, given: Any, where: str
) -> None:
    if not isinstance(given, dict):
        raise UsageError(f"{where} must be a table of keys and values.")
    try:
        name = section.key(key)
        made = section.declared.model_validate(given)
    except ValidationError as error:
        raise UsageError(f"{where}: {fault_of(error)}") from error
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    if name in into:
        raise UsageError(f"{where}: {name} is declared twice.")
    into[name] = made.model_dump(mode="json", exclude_unset=section.is_partial, exclude_none=True)


def write(
    folder: Path,
    sections: Mapping[str, Mapping[str, Mapping[str, Any]]],
    verticals: Mapping[str, str],
    *,
    overwrite: bool,
) -> list[Path]:
    """Write a file per section, and each vertical's; returns the files."""
    texts = {folder / VERTICALS / f"{name}.toml": source for name, source in verticals.items()}
    for section in SECTIONS:
        head = HEAD.format(about=section.name.capitalize())
        body = toml.section(section.name, sections[section.name])
        texts[folder / f"{section.name}.toml"] = head + body
    there = [path for path in texts if path.exists()]
    if there and not overwrite:
        raise UsageError(f"{there[0]} exists; name a new folder, or add --overwrite.")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name}.part")
            draft.write_text(text, "utf-8")
            draft.replace(path)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return list(texts)
