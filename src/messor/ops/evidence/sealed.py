"""Sealed rows for a bundle: each with its salt, its path to the root of its block, and the block's head."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from messor.ledger import merkle
from messor.ledger.seal_blocks import COLUMNS, NO_SALT, SealBlock
from messor.ledger.sealed_rows import LOGS
from messor.store.database import Connection

BLOCKS = f"""
SELECT {COLUMNS} FROM messor.seals
 WHERE log = $1 AND last_id >= $3 AND first_id <= $4 AND ids && $2::bigint[] ORDER BY seq
"""
TEXTS = """
SELECT l.id, {text} AS text FROM messor.{name} l
 WHERE l.id BETWEEN $2 AND $3 AND l.id = ANY ($1::bigint[]) ORDER BY l.id
"""


async def of_rows(connection: Connection, log: str, ids: Collection[int]) -> list[dict[str, Any]]:
    """Those of the rows that are sealed."""
    if not ids:
        return []
    among, bounds = LOGS[log], (min(ids), max(ids))
    found: dict[int, dict[str, Any]] = {}
    texts: dict[int, dict[int, str]] = {}  # by form
    for row in await connection.fetch(BLOCKS, log, list(ids), *bounds):
        block = SealBlock.of(row)
        if block.form not in texts:
            sql = TEXTS.format(name=log, text=among.text(block.form))
            rows = await connection.fetch(sql, list(ids), *bounds)
            texts[block.form] = {one["id"]: one["text"] for one in rows}
        for at, row_id in enumerate(block.ids):
            if row_id in texts[block.form] and block.salt(at) != NO_SALT:
                found[row_id] = _shown(block, at, texts[block.form][row_id])
    return [found[row_id] for row_id in sorted(found)]


def _shown(block: SealBlock, at: int, text: str) -> dict[str, Any]:
    return {
        "log": block.log,
        "id": block.ids[at],
        "row": text,
        "salt": block.salt(at).hex(),
        "path": [(side, sibling.hex()) for side, sibling in merkle.path(block.leaves, at)],
        "header": block.header().decode(),
        "signature": block.signature.hex(),
    }
