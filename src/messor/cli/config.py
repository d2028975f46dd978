"""`messor config`: every setting, its value, and where it came from."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import click

from messor.cli.output import json_option, print_json, print_table
from messor.settings import Settings, setting_sources


@click.group()
def config() -> None:
    """Look at the settings.

    \b
    Example:
      messor config show
    """


@config.command()
@json_option
def show(as_json: bool) -> None:
    """Print every setting with its source: default, environment, .env or the TOML file.

    \b
    Example:
      messor config show --json
    """
    settings = Settings()
    sources = setting_sources()
    rows = [
        {
            "setting": name,
            "value": _shown(getattr(settings, name)),
            "source": sources.get(name, "default"),
            "meaning": field.description,
        }
        for name, field in Settings.model_fields.items()
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(
            ("setting", "value", "source", "meaning"), [tuple(row.values()) for row in rows]
        )


def _shown(value: Any) -> str:
    """A value as people may see it: secrets and passwords in URLs stay hidden."""
    return without_password(str(value.model_dump() if hasattr(value, "model_dump") else value))


def without_password(text: str) -> str:
    """A URL whose password, if it has one, stays hidden."""
    password = urlsplit(text).password if "://" in text else None
    return text.replace(f":{password}@", ":…@") if password else text
