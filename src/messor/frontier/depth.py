"""Depth: a page's distance in links from its domain's homepage, as known so far.

A page that is known by name only has none: it is fetched because somebody named it, and no crawl of
its domain starts there. A page that a shorter way leads to gets that depth.
"""

from __future__ import annotations

UNKNOWN_DEPTH = 1_000  # beyond every limit

# Of a page `p`, as people see it.
KNOWN_DEPTH_SQL = f"nullif(p.depth, {UNKNOWN_DEPTH})"


def depth_after(depth: int) -> int:
    """The depth of a page linked from one at `depth`."""
    return min(depth + 1, UNKNOWN_DEPTH)
