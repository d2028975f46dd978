"""Versions of the ingestion interface: the one in service, and the one it replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from messor.ingest.request import POLICY_VERSION


@dataclass(frozen=True, slots=True)
class IngestionVersion:
    """A version of the interface."""

    version: str
    released: str  # year and month
    state: Literal["current", "deprecated"]
    summary: str


@dataclass(frozen=True, slots=True)
class IngestionVersions:
    """The version in service, its contract, and all versions, newest first."""

    version: str
    nm_policyVersion: str  # noqa: N815 - the specified name
    history: tuple[IngestionVersion, ...]


HISTORY = (
    IngestionVersion("2.0.0", "2026-01", "current", "Discovery-first ingestion in three modes"),
    IngestionVersion(
        "1.0.0", "2025-12", "deprecated", "Basic crawler, not available; replaced by 2.0.0"
    ),
)
VERSIONS = IngestionVersions(HISTORY[0].version, POLICY_VERSION, HISTORY)
