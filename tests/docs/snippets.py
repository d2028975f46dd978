"""Fenced blocks of the documentation, their commands, and what stands in for the reader's own numbers.

A block that cannot run is marked in the page by a comment before it: `<!-- not run: why -->`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# docs/cli.md is generated from the commands; its examples are checked where they are declared.
PAGES = [
    page
    for page in [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "guides").glob("*.md")),
        ROOT / "packages" / "client" / "README.md",
    ]
    if page.name != "cli.md"
]
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>.+?) -->\n\s*)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"(?:^|\| |[A-Z_]+=\S+ )messor ")
ENDS = ("|", "<", ">", "&&", ";", "&", ">&", "2>&1")


@dataclass(frozen=True)
class Snippet:
    """One fenced block."""

    page: Path
    line: int
    language: str
    text: str
    why_not: str | None  # it is not run

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def lines(self) -> list[str]:
        """Its lines without comments; continued ones as one."""
        joined = self.text.replace("\\\n", " ")
        return [
            one.strip() for one in joined.splitlines() if one.strip() and one.lstrip()[0] != "#"
        ]

    def commands(self) -> list[str]:
        """Its lines that call messor."""
        return [one for one in self.lines() if COMMAND.search(one)] if not self.language else []


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text("utf-8")
    return [
        Snippet(
            page,
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            found["text"],
            found["why"],
        )
        for found in BLOCK.finditer(text)
    ]


def words_of(line: str) -> list[str]:
    """The words after `messor`, up to a pipe, a redirection or a comment."""
    found = COMMAND.search(line)
    assert found is not None, line
    lexer = shlex.shlex(line[found.end() :], posix=True, punctuation_chars="|<>&;")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words: list[str] = []
    for word in lexer:
        if word in ENDS:
            break
        words.append(word)
    if words and words[-1] == "2" and "2>" in line:
        words.pop()
    return words
