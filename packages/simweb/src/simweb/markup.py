"""The markup of the simulated pages: whole templates and small pieces, kept as files.

Placeholders are `$name`; values are escaped by the caller through `esc` where they are text.
"""

from __future__ import annotations

import tomllib
from functools import cache
from html import escape
from importlib.resources import files
from string import Template


def esc(text: object) -> str:
    return escape(str(text), quote=True)


@cache
def template(name: str) -> Template:
    """A file of the folder `markup`, such as `page.html`."""
    return Template((files("simweb") / "markup" / name).read_text("utf-8"))


@cache
def _pieces() -> dict[str, Template]:
    text = (files("simweb") / "markup" / "pieces.toml").read_text("utf-8")
    return {name: Template(piece) for name, piece in tomllib.loads(text).items()}


def piece(name: str, /, **values: object) -> str:
    """One small piece of markup with its values inserted unchanged."""
    return _pieces()[name].substitute(values)
