"""Logs: one logger per room, as readable lines or JSON, each with its ids.

Ids of the run, visit or job are held in a context variable, so that everything a task does or
starts is logged with them. Secrets are masked, and terminal control characters are removed.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

from messor.core.masking import mask, mask_text
from messor.core.terminal import escaped, shown

ROOT = "messor"

_IDS: ContextVar[Mapping[str, str]] = ContextVar("log_ids", default=MappingProxyType({}))


def room_logger(module: str) -> logging.Logger:
    """The logger of a module's room: `messor.crawl` for `messor.crawl.visit`."""
    return logging.getLogger(".".join(module.split(".")[:2]))


@contextmanager
def log_ids(**ids: object) -> Iterator[None]:
    """Add ids to every line logged within the context."""
    token = _IDS.set({**_IDS.get(), **{name: str(value) for name, value in ids.items()}})
    try:
        yield
    finally:
        _IDS.reset(token)


def log(logger: logging.Logger, level: int, message: str, **fields: Any) -> None:
    """Log a constant message with fields; those that are None are left out."""
    if logger.isEnabledFor(level):
        logger.log(level, message, extra={"fields": fields})


def configure_logs(
    levels: str | None, form: Literal["text", "json"], *, default: str = "warning"
) -> None:
    """Write logs to stderr. `levels` is a default level, and levels of single rooms:
    `info,fetch=debug`.
    """
    handler = RoomHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, RoomHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    for room, level in {"": default.upper(), **_by_room(levels or "")}.items():
        logging.getLogger(f"{ROOT}.{room}" if room else ROOT).setLevel(level)


def _by_room(levels: str) -> dict[str, str]:
    """Levels by room; the default is under ""."""
    parts = (part.rpartition("=") for part in levels.upper().split(",") if part.strip())
    return {room.strip().lower(): level.strip() for room, _, level in parts}


class RoomHandler(logging.StreamHandler[Any]):
    """The only handler of a process, found by its class so that it can be replaced."""


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    fields: Mapping[str, Any] = getattr(record, "fields", {})
    return {name: value for name, value in {**fields, **_IDS.get()}.items() if value is not None}


def _room(record: logging.LogRecord) -> str:
    return record.name.removeprefix(f"{ROOT}.")


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


class TextFormatter(logging.Formatter):
    """`2026-11-18T09:30:00.123+00:00 INFO crawl: visit ended host=example.org pages=12`."""

    def format(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={_word(value)}" for name, value in _facts(record).items())
        line = f"{_time(record)} {record.levelname} {_room(record)}: {record.getMessage()}{facts}"
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return shown(mask_text(_one_line(line) + trace))


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, room, message, then fields and ids."""

    def format(self, record: logging.LogRecord) -> str:
        data = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "room": _room(record),
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            data["error"] = self.formatException(record.exc_info)
        return escaped(json.dumps(mask(data), default=str, ensure_ascii=False))


def _word(value: Any) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or " " in text else text


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
