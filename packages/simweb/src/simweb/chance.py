"""The source of all randomness of the simulated web: named, seeded generators.

A generator is named by what it decides ("7", "shop.test", "/lamps"), so that adding a page or a
host never changes what another one draws.
"""

from __future__ import annotations

import random
from typing import TypeAlias

Draw: TypeAlias = random.Random


def draw(*names: object) -> Draw:
    """The generator of that name; the same names always give the same sequence."""
    return random.Random("/".join(map(str, names)))  # noqa: S311 - repeatable, not secret
