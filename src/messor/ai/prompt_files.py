"""Prompts: versioned files, combined with a page's text as data.

A prompt's version is part of its file name (`extract-1.txt`), and a used file never changes: an
improved prompt is a new version. The text is fenced by two unguessable marks.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from messor.errors import UsageError

_FILE = re.compile(r"([a-z_]+)-(\d+)\.txt")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of a prompt; `{mark}` in its text is filled in per question."""

    name: str
    number: int
    text: str

    @property
    def version(self) -> str:
        return f"{self.name}-{self.number}"

    def messages(self, text: str, **facts: str) -> list[dict[str, str]]:
        """Return the prompt as instruction, then the text as data, fenced by a unique mark."""
        mark = f"DATA-{secrets.token_hex(12)}"
        order = self.text.replace("{mark}", mark)
        for name, value in facts.items():
            order = order.replace(f"{{{name}}}", value)
        fenced = f"<<<{mark}\n{text}\n{mark}>>>"
        return [{"role": "system", "content": order}, {"role": "user", "content": fenced}]


@cache
def prompt(name: str, number: int | None = None) -> Prompt:
    """Return a prompt by name, the newest version by default."""
    known = _known(name)
    if not known:
        raise UsageError(f"There is no prompt called {name!r}.")
    wanted = max(known) if number is None else number
    if wanted not in known:
        raise UsageError(f"There is no version {number} of the prompt {name!r}.")
    return Prompt(name, wanted, known[wanted])


def _known(name: str) -> dict[int, str]:
    folder = files("messor.ai") / "prompts"
    found = {}
    for file in folder.iterdir():
        match = _FILE.fullmatch(file.name)
        if match and match[1] == name:
            found[int(match[2])] = file.read_text(encoding="utf-8")
    return found
