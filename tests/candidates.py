"""A package with candidates, found as any team's parsers are: by its entry points."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FORGETFUL = """
import os
from dataclasses import replace

from messor.parsers.builtin import PRODUCTS


class Forgetful:
    name = "forgetful"
    version = "1rc1"
    kinds = PRODUCTS.kinds
    is_generic = False

    def accepts(self, page):
        return True

    def parse(self, page):
        made = PRODUCTS.parse(page)
        return [replace(one, fields={k: v for k, v in one.fields.items() if k != "price"})
                for one in made[:1]]


class Failing(Forgetful):
    version = "2rc1"

    def parse(self, page):
        raise KeyError("price")


class Dying(Forgetful):
    version = "3rc1"

    def parse(self, page):
        os._exit(1)


FORGETFUL, FAILING, DYING = Forgetful(), Failing(), Dying()
"""


def pack_candidates(folder: Path) -> str:
    """Write the package; answers the path of modules by which it is found."""
    package, about = folder / "forgetful", folder / "forgetful-1.dist-info"
    for place in (package, about):
        place.mkdir(parents=True)
    (package / "__init__.py").write_text(FORGETFUL)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: forgetful\nVersion: 1\n")
    names = "".join(f"{name} = forgetful:{name}\n" for name in ("FORGETFUL", "FAILING", "DYING"))
    (about / "entry_points.txt").write_text(f"[messor.parsers]\n{names}")
    return os.pathsep.join([str(folder), *sys.path])
