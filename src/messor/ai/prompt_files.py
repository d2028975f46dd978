"""Prompts: versioned files, and how a page's text is put beside them as data.

A prompt's version is part of its file's name (`extract-1.txt`), and a file that was used never
changes: a better one is a new version. The text stands between two marks that nobody can guess.
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
    """One version of one prompt; `{mark}` in its text is filled in for each question."""

    name: str
    number: int
    text: str

    @property
    def version(self) -> str:
        return f"{self.name}-{self.number}"

    def messages(self, text: str, **facts: str) -> list[dict[str, str]]:
        """The prompt as instruction, then a text as data, fenced by a mark made for it alone."""
        mark = f"DATA-{secrets.token_hex(12)}"
        order = self.text.replace("{mark}", mark)
        for name, value in facts.items():
            order = order.replace(f"{{{name}}}", value)
        fenced = f"<<<{mark}\n{text}\n{mark}>>>"
        return [{"role": "system", "content": order}, {"role": "user", "content": fenced}]


@cache
def prompt(name: str, number: int | None = None) -> Prompt:
    """A prompt by name, the newest version unless one is named."""
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
