"""Writes texts to the archive, beside the bytes, before the rows that point at them are written.

A page that was fetched before may have its old content back, whose text is archived already: those
are looked up first, once per flush.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from messor.archive.snapshots import Snapshot, TextPlace
from messor.archive.text_records import Text, packed
from messor.archive.writer import Writer
from messor.store.database import Database

KNOWN = """
SELECT g.n FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) WITH ORDINALITY
         AS g (page_id, content_hash, data_hash, n)
  JOIN messor.page_snapshots s USING (page_id, content_hash, data_hash)
 WHERE s.misfiled_at IS NULL
"""


class TextArchiver:
    """Archives the texts of one writer."""

    def __init__(self, archive: Writer) -> None:
        self._archive = archive

    async def archive(self, database: Database, given: Sequence[tuple[str, Snapshot]]) -> None:
        """Give each new text of these URLs and snapshots its place; a second call adds nothing."""
        waiting = [each for each in given if each[1].text is None and each[1].markdown]
        known = await _known(database, [snapshot for _, snapshot in waiting])
        new = [each for each in waiting if id(each[1]) not in known]
        made = await self.append_all([(url, Text(one.markdown, one.data)) for url, one in new])
        for (_, snapshot), place in zip(new, made, strict=True):
            snapshot.text = place

    async def append_all(self, given: Sequence[tuple[str, Text]]) -> list[TextPlace]:
        """Append texts of these URLs; packing them is no work for the event loop."""
        if not given:
            return []
        made = await asyncio.to_thread(
            lambda: [(packed(url, text), text.word_count) for url, text in given]
        )
        return [TextPlace(self._archive.append(records), words) for records, words in made]


async def _known(database: Database, snapshots: Sequence[Snapshot]) -> set[int]:
    """Which of these are stored already, with their text."""
    again = [one for one in snapshots if one.previous_id is not None]
    if not again:
        return set()
    rows = await database.fetch(
        KNOWN,
        [one.page_id for one in again],
        [one.content_hash for one in again],
        [one.data_hash for one in again],
    )
    return {id(again[row["n"] - 1]) for row in rows}
