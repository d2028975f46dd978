"""Data of downloaded images, in the rows of the products they belong to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from messor.store.database import Connection

DESCRIBE = """
UPDATE messor.product_images i
   SET image_path = g.path, content_hash = g.content_hash, width = g.width, height = g.height,
       file_size = g.file_size, media_type = g.media_type
  FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::int[], $5::int[], $6::int[], $7::text[])
    AS g (page_id, path, content_hash, width, height, file_size, media_type)
 WHERE i.image_page_id = g.page_id
"""
# Same path format as extraction writes.
MOVE = """
UPDATE messor.product_images i
   SET image_path = g.name || '@' || s.segment_offset || '+' || s.segment_length
  FROM messor.page_snapshots s JOIN messor.segments g ON g.id = s.segment_id
 WHERE s.id = ANY ($1::bigint[]) AND i.image_page_id = s.page_id AND i.content_hash = s.raw_hash
"""


class FoundImage(msgspec.Struct, frozen=True):
    """Properties of an image, read from its bytes."""

    media_type: str
    width: int
    height: int
    size: int
    content_hash: bytes


async def store(connection: Connection, found: Sequence[tuple[int, str, FoundImage]]) -> None:
    """Store images, each with its page and archive location."""
    if not found:
        return
    images = [image for _, _, image in found]
    await connection.execute(
        DESCRIBE,
        [page_id for page_id, _, _ in found],
        [path for _, path, _ in found],
        [image.content_hash for image in images],
        [image.width for image in images],
        [image.height for image in images],
        [image.size for image in images],
        [image.media_type for image in images],
    )


async def move(connection: Connection, snapshot_ids: Sequence[int]) -> None:
    """Update the archive locations of images among these snapshots after they moved."""
    await connection.execute(MOVE, snapshot_ids)
