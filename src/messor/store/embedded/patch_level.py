"""How well patched a PostgreSQL is, judged offline: by the versions installed on this machine, and
the end-of-life dates of the project.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from datetime import date

from messor.store.embedded.programs import Programs, installed_programs, wheel_name

# https://www.postgresql.org/support/versioning/
END_OF_LIFE = {
    14: date(2026, 11, 12),
    15: date(2027, 11, 11),
    16: date(2028, 11, 9),
    17: date(2029, 11, 8),
    18: date(2030, 11, 14),
}


@dataclass(frozen=True, slots=True)
class Concern:
    """What is wrong with a version, and what to do."""

    found: str
    mend: str


def source_of(programs: Programs) -> str:
    """Where the programs come from, and so who patches them."""
    if wheel_name().replace("-", "_") in programs.bin_dir.parts:
        return f"package {wheel_name()} {importlib.metadata.version(wheel_name())}"
    return str(programs.bin_dir)


def newer_beside(programs: Programs) -> Concern | None:
    """A newer minor version of the same major version that is also installed."""
    newer = [
        other
        for other in installed_programs()
        if other.major == programs.major and _parts(other.version) > _parts(programs.version)
    ]
    if not newer:
        return None
    best = max(newer, key=lambda other: _parts(other.version))
    return Concern(f"{best.version} is also installed", f"set MESSOR_POSTGRES_BIN={best.bin_dir}")


def outrun(running: str, programs: Programs | None) -> Concern | None:
    """A server that still runs older programs than those on disk."""
    if programs is None or _parts(running) >= _parts(programs.version):
        return None
    return Concern(f"its programs are now {programs.version}", "restart Messor")


def end_of_life(major: int, today: date) -> Concern | None:
    ended = END_OF_LIFE.get(major)
    if ended is None or today < ended:
        return None
    return Concern(
        f"PostgreSQL {major} has received no security fixes since {ended:%Y-%m-%d}",
        "move to a newer major version: messor db dump, then restore",
    )


def _parts(version: str) -> tuple[int, ...]:
    """The numbers of a version; distributions add text: `15.14 (Debian 15.14-0+deb12u1)`."""
    return tuple(int(part) for part in version.split(maxsplit=1)[0].split(".") if part.isdigit())
