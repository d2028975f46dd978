"""Checkpoints: a signed statement of how far the chain of seals has come, to be kept elsewhere.

Whoever can write to the database can cut the end of the chain off, or seal everything anew. Neither
agrees with a checkpoint from before.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import msgspec

from messor.errors import UsageError
from messor.ledger.seal_blocks import FIRST, Signer, verifies
from messor.ledger.seal_report import SealReport
from messor.ledger.sealer import NEWEST, NOW
from messor.store.database import Connection, Database

SIGNED_AS = b"messor checkpoint\n"
MAX_BYTES = 10_000

RESTORES = """
SELECT occurred_at FROM messor.events WHERE type = 'backup.restored' ORDER BY tx DESC, id DESC LIMIT 1
"""


class SealCheckpoint(msgspec.Struct, frozen=True):
    """How far the chain had come at a time."""

    block: int
    head: str
    at: str
    key: str
    public_key: str
    signature: str = ""
    messor_checkpoint: int = 1

    def message(self) -> bytes:
        """What is signed: all but the signature, by name."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        del values["signature"]
        return SIGNED_AS + msgspec.json.encode(dict(sorted(values.items())))

    def is_signed(self) -> bool:
        try:
            public = base64.b64decode(self.public_key, validate=True)
            signature = base64.b64decode(self.signature, validate=True)
        except binascii.Error:
            return False
        return verifies(public, signature, self.message())

    def as_text(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


async def take(connection: Connection, signer: Signer, public_key: bytes) -> SealCheckpoint:
    """A checkpoint of the chain as it is."""
    newest = await connection.fetchrow(NEWEST)
    block, head = (newest["seq"], bytes(newest["head"])) if newest is not None else (0, FIRST)
    at = await connection.fetchval(NOW)
    draft = SealCheckpoint(
        block, head.hex(), at, signer.key_id, base64.b64encode(public_key).decode()
    )
    signature = base64.b64encode(signer.sign(draft.message())).decode()
    return msgspec.structs.replace(draft, signature=signature)


def parsed(data: bytes) -> SealCheckpoint:
    """A checkpoint from its file; a file that nobody signed is refused."""
    try:
        found = msgspec.json.decode(data[:MAX_BYTES], type=SealCheckpoint)
    except msgspec.DecodeError as error:
        raise UsageError("This file is not a checkpoint of Messor.") from error
    if found.messor_checkpoint != 1 or not found.is_signed():
        raise UsageError("The checkpoint's signature is wrong: the file was changed.")
    return found


async def compare(
    database: Database,
    given: SealCheckpoint,
    keys: Mapping[str, bytes],
    heads: Mapping[int, bytes],
    report: SealReport,
) -> None:
    """Compare the chain with a checkpoint; what disagrees is a finding."""
    if keys.get(given.key) != base64.b64decode(given.public_key):
        why = f"key {given.key} that signed the checkpoint is not one of this installation"
        report.note("checkpoint", None, None, given.block, why)
    here = heads.get(given.block)
    if here is not None and here.hex() == given.head:
        report.checkpoint = (
            f"The chain continues the checkpoint of {given.at} (block {given.block:,})."
        )
        return
    restored: Any = await database.fetchval(RESTORES)
    if restored is not None and f"{restored:%Y-%m-%dT%H:%M:%S.%fZ}" > given.at:
        why = (
            f"the database was restored from a backup on {restored:%Y-%m-%d %H:%M} UTC, after the "
            "checkpoint; what was sealed between the backup and the checkpoint is gone"
        )
        report.note("restored", None, None, given.block, why)
        return
    missing = "is not there" if here is None else "is another one"
    why = f"block {given.block:,} of the checkpoint {missing}: the chain was cut or made anew"
    report.note("checkpoint", None, None, given.block, why)
