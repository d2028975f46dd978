"""Hooks of the documentation's site: README.md becomes its first page, and links to files that are no pages
become names of files, since the site stands without the repository.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s#]+)(#[^()\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add README.md as the first page."""
    readme = (ROOT / "README.md").read_text("utf-8")
    files.append(File.generated(config, "index.md", content=readme.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Replace links that lead out of the documentation."""
    folder = posixpath.dirname(page.file.src_uri)

    def relinked(found: re.Match[str]) -> str:
        mark, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        inner = posixpath.normpath(posixpath.join(folder, target))
        if inner == "../README.md" or (folder == "" and target == "README.md"):
            return f"[{text}]({posixpath.relpath('index.md', folder or '.')}{anchor})"
        if files.get_file_from_path(inner) is not None:
            return found[0]
        path = ROOT / "docs" / inner if inner.startswith("..") or folder else ROOT / inner
        if not path.exists() and not (ROOT / "docs" / inner).exists():
            return found[0]  # a broken link: mkdocs says so
        return text if not mark else ""

    return LINK.sub(relinked, markdown)
