"""The mutants: breakages of required behaviour, as `mutants/*.toml` lists them."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# What runs when a database is made: a server that is migrated already does not show its mutants.
MIGRATIONS = "src/messor/store/migrations/"


@dataclass(frozen=True)
class Mutant:
    """A breakage: one text of a file replaced by another."""

    row: str  # of docs/requirements.md
    path: str
    old: str
    new: str
    tests: tuple[str, ...]

    def problem(self, root: Path) -> str | None:
        """What keeps it from being applied, if anything."""
        path = root / self.path
        if not path.is_file():
            return f"{self.path} does not exist"
        count = path.read_text("utf-8").count(self.old)
        return None if count == 1 else f"{self.old!r} occurs {count} times in {self.path}, not once"

    @property
    def changes_migrations(self) -> bool:
        """Whether databases must be made anew to show it."""
        return self.path.startswith(MIGRATIONS)

    def names(self, test: str) -> bool:
        """Whether one of its tests is, or contains, the test with this id."""
        return any(test == own or test.startswith((f"{own}::", f"{own}[")) for own in self.tests)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def load(folder: Path = HERE) -> list[Mutant]:
    """All lists of a folder, each in its order."""
    return [mutant for path in sorted(folder.glob("*.toml")) for mutant in _load_file(path)]


def _load_file(path: Path) -> list[Mutant]:
    return [
        Mutant(
            row["row"],
            row["path"],
            row["old"],
            row["new"],
            tuple(f"tests/{test}" for test in row["tests"]),
        )
        for row in tomllib.loads(path.read_text("utf-8")).get("mutant", [])
    ]
