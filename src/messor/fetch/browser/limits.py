"""Limits of the browser, and whether a browser is available."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ADVICE = "install messor[browser] and Chromium (apt install chromium)"


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """Limits of the browser and of each render."""

    path: Path | None = None  # of Chromium; None searches for an installed one
    contexts: int = 2  # concurrent renders
    renders: int = 50  # after this many the browser is replaced
    memory_mb: int = 1024  # above this the browser is replaced, above twice this it is killed
    idle_seconds: float = 60.0  # closed after this long without a render
    launch_seconds: float = 30.0
    render_seconds: float = 30.0  # the whole render
    settle_seconds: float = 5.0  # maximum wait for an idle network, within the render
    closing_seconds: float = 5.0  # a page that takes longer to close is killed with the browser
    requests_here: int = 30  # to the lane's host, in addition to the page itself
    requests_elsewhere: int = 60  # to all other hosts together
    traffic_bytes: int = 20_000_000  # both directions, all hosts


def find_chromium(path: Path | None) -> Path | None:
    """The Chromium to use: the given one, or an installed one."""
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
