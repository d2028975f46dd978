"""Where a segment is: what its name says.

A name with a scheme is the URL of an object: `s3://bucket/prefix/2026/11/19/….warc.gz`. After `#`
stands the offset at which the segment begins in that object: compaction puts many segments into one
and changes nothing but their names. Any other name is a path in the archive folder of one machine.
"""

from __future__ import annotations

from dataclasses import dataclass

SCHEMES = ("s3://", "file://", "memory://")


@dataclass(frozen=True, slots=True)
class ObjectLocation:
    """An object, and where in it a segment begins."""

    url: str
    base: int = 0


def is_remote(name: str) -> bool:
    """Whether a segment is an object that every machine can read."""
    return name.startswith(SCHEMES)


def located(name: str) -> ObjectLocation:
    """The location that the name of a remote segment states."""
    url, _, base = name.partition("#")
    return ObjectLocation(url, int(base or 0))
