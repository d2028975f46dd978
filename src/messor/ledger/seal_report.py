"""What an audit of the seals found: findings by kind, what was erased and why, and how much it covers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

MAX_FINDINGS = 1_000
Kind = Literal[
    "changed", "removed", "inserted", "unexplained", "chain", "signature", "checkpoint", "restored"
]


@dataclass(frozen=True, slots=True)
class SealFinding:
    """Something that is not as it was sealed."""

    kind: Kind
    log: str | None
    row_id: int | None
    block: int | None
    why: str


@dataclass(slots=True)
class SealReport:
    """The result of an audit."""

    blocks: int = 0
    rows: Counter[str] = field(default_factory=Counter)  # unchanged, by log
    erased: Counter[str] = field(default_factory=Counter)  # by cause
    unsealed: Counter[str] = field(default_factory=Counter)  # not sealed yet, by log
    found: Counter[str] = field(default_factory=Counter)  # findings by kind
    findings: list[SealFinding] = field(default_factory=list)
    checkpoint: str | None = None  # one sentence about the checkpoint compared with

    def note(
        self, kind: Kind, log: str | None, row_id: int | None, block: int | None, why: str
    ) -> None:
        self.found[kind] += 1
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(SealFinding(kind, log, row_id, block, why))

    @property
    def is_clean(self) -> bool:
        return not self.found

    @property
    def verdict(self) -> str:
        checked = f"{self.rows.total():,} rows in {self.blocks:,} blocks"
        if self.is_clean:
            return f"{checked}: unchanged since they were sealed."
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.found.items()))
        return f"{checked}; findings: {kinds}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "clean": self.is_clean,
            "blocks": self.blocks,
            "rows": dict(self.rows),
            "erased": dict(self.erased),
            "unsealed": dict(self.unsealed),
            "found": dict(self.found),
            "findings": [
                {
                    "kind": one.kind,
                    "log": one.log,
                    "row_id": one.row_id,
                    "block": one.block,
                    "why": one.why,
                }
                for one in self.findings
            ],
            "checkpoint": self.checkpoint,
        }
