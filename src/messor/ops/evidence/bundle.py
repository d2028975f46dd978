"""Bundles: a WACZ of one record or page with its quotes, chain, rights, politeness and seals, signed.

A bundle passes `release` like any export. Its last 64 bytes are a signature of all before them: the
ZIP file's comment, so that tools for WACZ read it as it is. `verify.py` in it verifies it offline.
"""

from __future__ import annotations

import asyncio
import base64
import tempfile
from collections.abc import Collection
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec

from messor.archive.records import load
from messor.archive.storage import ArchiveSource
from messor.errors import ConflictError, NotFoundError
from messor.exports import wacz, warcs
from messor.fetch.proxies.seal import Seal
from messor.fetch.signing_keys import SigningKey, public_keys, signing_key
from messor.ledger import sealer
from messor.ledger.events import Event, record
from messor.ops.evidence import chain, sealed
from messor.ops.evidence.chain import BundledPage, Chain
from messor.parsers.page_text import text_of
from messor.records import queries as records
from messor.records.queries import FullRecord
from messor.rights.release import Purpose, release
from messor.rights.uses import ApprovedUse
from messor.settings import Settings
from messor.store.database import Database

Kind = Literal["record", "page"]
FOLDER = "evidence"
SIGNATURE_BYTES = 64
MARK = b"messor-evidence-1:"
SIGNED_AS = b"messor evidence\n"
SIGNED_MANIFEST = b"messor manifest\n"
VERIFY = Path(__file__).with_name("verify.py")

SUBJECT = """
SELECT p.id AS page_id, p.host_id, h.domain_id, p.url, s.id AS snapshot_id, s.crawled_at
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id
  JOIN messor.page_snapshots s ON s.page_id = p.id AND s.id = coalesce($2, t.snapshot_id)
 WHERE p.id = $1
"""
ARCHIVED = f"""
SELECT y.content_type, {warcs.COLUMNS} FROM (SELECT $1::bigint AS page_id) k {warcs.JOINS}
 WHERE y.id = $2
"""


class Evidence:
    """Makes bundles for one installation."""

    def __init__(
        self, database: Database, settings: Settings, archive: ArchiveSource, seal: Seal
    ) -> None:
        self._database = database
        self._settings = settings
        self._archive = archive
        self._seal = seal

    async def bundle(
        self, kind: Kind, number: int, *, actor: str, declared: Collection[ApprovedUse] = ()
    ) -> bytes:
        """A bundle of a record or a page; that it was made is an event."""
        about = await records.record(self._database, number) if kind == "record" else None
        subject = await self._subject(about, number)
        if not await release(
            self._database, Purpose.EXPORT, [subject], lambda one: one.page_id, declared
        ):
            raise ConflictError(
                "The site's terms or its approval hold this page back. See which: messor rights "
                f"{subject.url}. With a permission on file it may leave: messor rights permit"
            )
        async with self._database.transaction() as connection:
            key = await signing_key(connection, self._seal)
        await sealer.seal_now(self._database, key)
        known = await chain.of_subject(self._database, self._settings, subject)
        warc, source = await self._archived(kind, subject)
        files = {
            "subject.json": _json(None if about is None else asdict(about)),
            "source.txt": source.encode(),
            "verify.py": VERIFY.read_bytes(),
            **known.files,
            "sealed.json": _json(await self._sealed(known)),
        }
        keys = await public_keys(self._database)
        manifest = _Manifest(f"{kind} {number}", subject, key, keys)
        data = await asyncio.to_thread(_packed, manifest, warc, files)
        await self._note(kind, number, subject, data, actor)
        return data

    async def _subject(self, about: FullRecord | None, number: int) -> BundledPage:
        page_id, snapshot_id = (
            (number, None) if about is None else (about.page_id, about.snapshot_id)
        )
        row = await self._database.fetchrow(SUBJECT, page_id, snapshot_id)
        if row is None:
            raise NotFoundError(
                f"There is no stored content of page {page_id}. Pages: messor pages list"
            )
        return BundledPage(**row)

    async def _archived(self, kind: Kind, subject: BundledPage) -> tuple[bytes, str]:
        """The page's records as a WARC, and its source as parsers read it."""
        row = await self._database.fetchrow(ARCHIVED, subject.page_id, subject.snapshot_id)
        made = await warcs.records(self._archive, [row]) if row is not None else []
        if row is None or not made:
            raise NotFoundError("The archive does not hold the bytes of this page any more.")
        place = (row["segment"], row["segment_offset"], row["segment_length"])
        held = await asyncio.to_thread(load, self._archive, *place)
        return b"".join([warcs.info(kind), *made]), text_of(held.body, row["content_type"])

    async def _sealed(self, known: Chain) -> list[dict[str, Any]]:
        async with self._database.transaction() as connection:
            events = await sealed.of_rows(connection, "events", known.events)
            return [*events, *await sealed.of_rows(connection, "http_fetches", known.requests)]

    async def _note(
        self, kind: Kind, number: int, subject: BundledPage, data: bytes, actor: str
    ) -> None:
        about = {kind: number, "sha256": sha256(data).hexdigest()}
        event = Event("evidence.bundled", actor, subject.domain_id, subject.page_id, about)
        async with self._database.transaction() as connection:
            await record(connection, [event])


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What a bundle is about, and who signs it."""

    name: str
    subject: BundledPage
    key: SigningKey
    keys: dict[str, bytes]

    def written(self, warc: bytes, files: dict[str, bytes]) -> bytes:
        """The manifest, with the hash of each file."""
        subject = self.subject
        known = self.keys.items()
        return _json(
            {
                "messor_evidence": 1,
                "subject": f"{self.name}, {subject.url}",
                "url": subject.url,
                "snapshot": subject.snapshot_id,
                "fetched_at": subject.crawled_at.isoformat(),
                "at": wacz.now(),
                "key": self.key.key_id,
                "keys": {name: base64.b64encode(public).decode() for name, public in known},
                "files": {
                    f"archive/{wacz.DATA}": sha256(warc).hexdigest(),
                    **{
                        f"{FOLDER}/{path}": sha256(data).hexdigest() for path, data in files.items()
                    },
                },
            }
        )


def _packed(about: _Manifest, warc: bytes, files: dict[str, bytes]) -> bytes:
    """The signed file. Blocks: call it off the event loop."""
    manifest, key = about.written(warc, files), about.key
    further = {f"{FOLDER}/{path}": data for path, data in files.items()} | {
        f"{FOLDER}/manifest.json": manifest,
        f"{FOLDER}/manifest.sig": key.sign(SIGNED_MANIFEST + manifest),
    }
    with tempfile.TemporaryDirectory(prefix="messor-evidence-") as folder:
        source, target = Path(folder) / "data.warc.gz", Path(folder) / "bundle.wacz"
        source.write_bytes(warc)
        title = f"Evidence: {about.name}"
        wacz.package_of(source, target, title, further, MARK + bytes(SIGNATURE_BYTES))
        body = target.read_bytes()[:-SIGNATURE_BYTES]
    return body + key.sign(SIGNED_AS + sha256(body).digest())


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2)
