"""Whether pages get read at all: blocks that are found, pages taken for blocks, pages refused as too deep."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import Any

from bench.truth.corpora import CORPORA, load_rows
from bench.truth.report import Section, Table

from messor.fetch.gates import judge
from messor.web.depth import is_too_deep
from messor.web.html import read_page

_URL = "https://site.example/page/7"


def measure() -> Section | None:
    """Judge every page of the corpora."""
    cases = [row for row in load_rows("block_pages.jsonl") if "expect_blocked" in row]
    folders = sorted(folder for folder in CORPORA.glob("*_html") if folder.is_dir())
    if not cases or not folders:
        return None
    found = Counter((row["expect_blocked"], _is_blocked(row)) for row in cases)
    rows = []
    for folder in folders:
        pages = [
            gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            for path in sorted(folder.iterdir())
        ]
        blocked = sum(_is_blocked({"html": html}) for html in pages)
        refused = sum(is_too_deep(html, known=True) for html in pages)
        slow = sum(is_too_deep(html) for html in pages)
        rows.append((folder.name.removesuffix("_html"), len(pages), blocked, refused, slow))
    return Section(
        "Pages that are read at all",
        "Pages of all corpora, none of which is a block: taken for one, refused as nested too deeply, or left to"
        " the slow sandbox for it. Below, stored responses that are blocks, or are not.",
        Table(("corpus", "pages", "false blocks", "refused", "to the sandbox"), tuple(rows)),
        Table(
            ("blocks", "found", "other responses", "taken for blocks"),
            ((found[True, True] + found[True, False], found[True, True],
              found[False, True] + found[False, False], found[False, True]),),
        ),
    )  # fmt: skip


def _is_blocked(row: dict[str, Any]) -> bool:
    html = row["html"] or ""
    reading = read_page(html, _URL)
    verdict = judge(
        status=row.get("status") or 200,
        headers=row.get("headers") or {},
        html=html,
        reading=reading,
        size=len(html.encode()),
    )
    return verdict.block is not None
