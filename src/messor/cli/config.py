"""`messor config`: every setting, its value, and where it came from."""

from __future__ import annotations

from typing import Any

import click

from messor.cli.output import json_option, print_json, print_table
from messor.core.masking import mask
from messor.settings import Settings, setting_sources


@click.group()
def config() -> None:
    """Show the settings.

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
    settings = Settings().model_dump()
    sources = setting_sources()
    rows = [
        {
            "setting": name,
            "value": _masked(settings[name]),
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


def _masked(value: Any) -> str:
    """Return the value as text, with secrets and passwords in URLs masked."""
    return str(mask(value))
