"""What the browser may use, and whether there is one to be used."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ADVICE = "install messor[browser] and Chromium (apt install chromium)"


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """The bounds of the browser and of each render."""

    path: Path | None = None  # of Chromium; None looks for an installed one
    contexts: int = 2  # renders at a time
    renders: int = 50  # after so many the browser is replaced
    memory_mb: int = 1024  # above it the browser is replaced, above twice of it killed
    idle_seconds: float = 60.0  # without a render it is closed
    launch_seconds: float = 30.0
    render_seconds: float = 30.0  # the whole render
    settle_seconds: float = 5.0  # the wait for a quiet network, within the render
    closing_seconds: float = 5.0  # a page that takes longer to close is killed with the browser
    requests_here: int = 30  # to the lane's host, besides the page itself
    requests_elsewhere: int = 60  # to all other hosts
    traffic_bytes: int = 20_000_000  # both ways, all hosts


def find_chromium(path: Path | None) -> Path | None:
    """The Chromium to use: the one given, or an installed one."""
    if path is not None:
        return path if path.is_file() else None
    found = (shutil.which(program) for program in PROGRAMS)
    return next((Path(program) for program in found if program), None)


def why_unavailable(limits: BrowserLimits) -> str | None:
    """Why pages cannot be rendered here, in one sentence; None when they can."""
    if find_spec("playwright") is None:
        return f"Playwright is not installed: {ADVICE}."
    if find_chromium(limits.path) is None:
        where = f"at {limits.path}" if limits.path else f"among {', '.join(PROGRAMS)}"
        return f"No Chromium was found {where}: {ADVICE}."
    return None
