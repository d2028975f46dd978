"""Writes the JSON Schemas of all kinds of records into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from messor.content.schemas.files import schema_files


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schema_files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
