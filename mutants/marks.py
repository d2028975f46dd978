"""Writes into docs/requirements.md how many mutants each row has; `python -m mutants.marks`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter

from mutants.listed import HERE, ROOT, load

PAGE = ROOT / "docs" / "requirements.md"
# Open rows have neither mutant nor reason.
ROW = re.compile(r"^\| ((?:AMI|FOR|DOM|FUN|ORB)-\d\d) \| .* \| shown \| .* \|$", re.MULTILINE)
_MARK = re.compile(r"; \[(?:\d+ mutants?|no mutant)\]\(\.\./mutants/\w+\.toml\)(?= \|$)")


def reasons() -> dict[str, str]:
    """Why rows have no mutant."""
    found: dict[str, str] = tomllib.loads((HERE / "without.toml").read_text("utf-8"))["reasons"]
    return found


def marked(text: str) -> str:
    """The page with the mark of each row as it should be."""
    counts = Counter(mutant.row for mutant in load())

    def with_mark(row: re.Match[str]) -> str:
        count = counts[row[1]]
        said = f"{count} mutant{'' if count == 1 else 's'}" if count else "no mutant"
        place = row[1][:3].lower() if count else "without"
        return f"{_MARK.sub('', row[0])[:-2]}; [{said}](../mutants/{place}.toml) |"

    return ROW.sub(with_mark, text)


def main() -> int:
    PAGE.write_text(marked(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
