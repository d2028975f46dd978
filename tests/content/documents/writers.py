"""Documents made by real writers from one model: headings, running text, a link, lists, a table."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import (
    ListFlowable,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
)

WORDS = [
    "grant",
    "fund",
    "local",
    "community",
    "kettle",
    "garden",
    "teacher",
    "river",
    "bridge",
    "price",
    "market",
    "autumn",
    "winter",
    "membership",
    "deadline",
    "open",
    "evening",
    "application",
    "region",
    "project",
    "support",
    "family",
    "clinic",
    "doctor",
    "schedule",
    "library",
    "volunteer",
    "harvest",
    "orchard",
    "kitchen",
    "timber",
    "stone",
    "paper",
    "silver",
]
OFFICE = shutil.which("soffice")
NO_OFFICE = "needs LibreOffice: apt-get install libreoffice-writer-nogui libreoffice-calc-nogui"
LINK = "https://fund.example/apply"


@dataclass(frozen=True)
class Model:
    """What a document says."""

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]  # heading and paragraphs
    items: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the first is the head

    @classmethod
    def of(cls, seed: int) -> Model:
        made = random.Random(seed)

        def say(least: int, most: int) -> str:
            words = made.choices(WORDS, k=made.randint(least, most))
            return " ".join(words).capitalize()

        sections = tuple(
            (say(2, 4), tuple(f"{say(30, 90)}." for _ in range(made.randint(1, 3))))
            for _ in range(made.randint(2, 4))
        )
        columns = made.randint(2, 5)
        rows = [tuple(f"{say(1, 1)} {number}" for number in range(columns))]
        rows += [
            (say(1, 9), *(f"{made.randint(1, 9999)}.{made.randint(10, 99)}" for _ in range(columns - 1)))
            for _ in range(made.randint(3, 9))
        ]  # fmt: skip
        return cls(say(3, 5), sections, tuple(say(2, 5) for _ in range(4)), tuple(rows))

    @property
    def words(self) -> list[str]:
        """Every word that a reader must find."""
        parts = [self.title, *self.items, *(cell for row in self.rows for cell in row)]
        for heading, paragraphs in self.sections:
            parts += [heading, *paragraphs]
        return " ".join(parts).lower().replace(".", " ").split()

    def html(self) -> str:
        body = [f"<h1>{escape(self.title)}</h1>"]
        for heading, paragraphs in self.sections:
            body.append(f"<h2>{escape(heading)}</h2>")
            body += [f"<p>{escape(text)}</p>" for text in paragraphs]
        body.append(f'<p>See <a href="{LINK}">how to apply</a> today.</p>')
        body.append("<ul>" + "".join(f"<li>{escape(item)}</li>" for item in self.items) + "</ul>")
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        body.append(f'<table border="1">{rows}</table>')
        head = f"<meta charset='utf-8'><title>{escape(self.title)}</title>"
        return f"<!DOCTYPE html><html><head>{head}</head><body>{''.join(body)}</body></html>"


def by_reportlab(model: Model, **options: Any) -> bytes:
    """A PDF by reportlab, its table with rules and on a page of its own."""
    styles, target = getSampleStyleSheet(), io.BytesIO()
    parts: list[Any] = [Paragraph(model.title, styles["Title"])]
    for heading, paragraphs in model.sections:
        parts.append(Paragraph(heading, styles["Heading2"]))
        parts += [Paragraph(text, styles["BodyText"]) for text in paragraphs]
    parts.append(Paragraph(f'See <a href="{LINK}">how to apply</a> today.', styles["BodyText"]))
    items = [Paragraph(item, styles["BodyText"]) for item in model.items]
    grid = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
    cells = [[Paragraph(cell, styles["BodyText"]) for cell in row] for row in model.rows]
    parts += [ListFlowable(items, bulletType="bullet"), PageBreak(), Table(cells, style=grid)]
    parts.append(Spacer(1, 12))
    SimpleDocTemplate(target, title=model.title, author="Ada Writer", **options).build(parts)
    return target.getvalue()


def by_office(folder: Path, files: list[Path], to: str) -> list[Path]:
    """Convert files with LibreOffice, all in one run."""
    assert OFFICE is not None
    profile = f"-env:UserInstallation=file://{folder}/profile"
    subprocess.run(
        [OFFICE, profile, "--headless", "--convert-to", to, "--outdir", str(folder), *map(str, files)],
        check=True,
        capture_output=True,
        timeout=240,
    )  # fmt: skip
    suffix = to.partition(":")[0]
    return [folder / f"{file.stem}.{suffix}" for file in files]
