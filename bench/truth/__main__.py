"""Scores every corpus, or the named ones, and prints or writes the report."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from bench.truth import articles, facts, languages, pages, products, wcxb
from bench.truth.corpora import CORPORA
from bench.truth.report import Section, as_json, as_markdown

# One module per corpus; each returns None where its corpus is not here.
CASES: dict[str, Callable[[], Section | None]] = {
    "wcxb": wcxb.measure,
    "articles": articles.measure,
    **facts.CASES,
    "products": products.measure,
    "prices": products.measure_prices,
    "pages": pages.measure,
    "languages": languages.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("corpora", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--write", type=Path, help="write the report as markdown to this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.corpora) - CASES.keys():
        parser.error(f"no corpus is named {', '.join(sorted(unknown))}")
    sections = []
    for name in arguments.corpora or CASES:
        print(f"scoring {name}", file=sys.stderr)
        section = CASES[name]()
        if section is None:
            print(f"Skipped {name}: its pages are not in {CORPORA}.", file=sys.stderr)
        else:
            sections.append(section)
    if arguments.write and sections:
        arguments.write.write_text(as_markdown(sections))
    if arguments.json:
        print(json.dumps(as_json(sections), indent=2, ensure_ascii=False))
    elif not arguments.write:
        print(as_markdown(sections))
    return 0


if __name__ == "__main__":
    sys.exit(main())
