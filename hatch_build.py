"""Build hook: copies the console's front-end files out of build-time packages.

htmx comes from django-htmx, Tabler and its icons from starlette-admin. These files are not
committed, and neither package is needed to run Messor.
"""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = Path("src/messor/console/static/vendor")

# Path of each file in its package, and its name here.
FILES = {
    "django_htmx": {
        "static/django_htmx/htmx-2.min.js": "htmx.min.js",
        "static/django_htmx/ext/hx-sse-2.min.js": "htmx-sse.min.js",
    },
    "starlette_admin": {
        "static/css/vendor/tabler.min.css": "tabler.min.css",
        "static/css/vendor/fontawesome.min.css": "icons.min.css",
        "static/webfonts/fa-solid-900.woff2": "fa-solid-900.woff2",
        "static/webfonts/fa-regular-400.woff2": "fa-regular-400.woff2",
    },
}

_DARK = re.compile(r"([^{}]*\[data-bs-theme=dark\][^{}]*)\{([^{}]*)\}")


class FrontEndHook(BuildHookInterface):  # type: ignore[type-arg,misc,unused-ignore]
    """Fills `console/static/vendor` before a wheel is built, an editable one included."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        target = Path(self.root) / TARGET
        target.mkdir(parents=True, exist_ok=True)
        for package, files in FILES.items():
            folder = _folder(package)
            for source, name in files.items():
                shutil.copyfile(folder / source, target / name)
        icons = target / "icons.min.css"
        icons.write_text(icons.read_text("utf-8").replace("../../webfonts/", ""), "utf-8")
        tabler = (target / "tabler.min.css").read_text("utf-8")
        (target / "tabler-auto.css").write_text(follow_system(tabler), "utf-8")


def follow_system(css: str) -> str:
    """Tabler's dark rules once more, for pages that leave the choice to the reader's system."""
    rules = [
        f"{selector.replace('=dark]', '=auto]')}{{{body}}}"
        for selector, body in _DARK.findall(css)
        if ":not([data-bs-theme=dark])" not in selector
    ]
    return "@media (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}\n"


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} carries front-end files; it is needed to build.")
    return Path(spec.origin).parent
