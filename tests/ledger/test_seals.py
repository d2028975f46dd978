"""Seals: whatever is changed in a sealed row, or in the chain itself, is found; what was erased is not."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from messor.errors import UsageError
from messor.fetch.proxies.seal import Seal
from messor.fetch.signing_keys import SigningKey, public_keys, signing_key
from messor.governance import erasure
from messor.ledger import checkpoints, merkle, seal_audit, sealer
from messor.ledger.events import Event, record
from messor.ledger.seal_audit import SealAudit
from messor.ledger.seal_report import SealReport
from messor.ledger.sealed_rows import EVENTS, FETCHES, LOGS, SealedLog
from messor.store.database import Database

ADD_FETCHES = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code, size,
  duration_ms, waited_ms, provider_cost, rule, policy_version, robots_id, final_url, headers_json, detail)
SELECT messor.clock() - make_interval(days => (n % 3) * 20), n, 1, 7, 'ok', 200, 1000 + n, 12, 1000, 0.10,
       'registry', 1, 3, 'https://press.test/' || n, '{"server": "x", "etag": "é"}', NULL
  FROM generate_series(1, $1) n
"""
COLUMNS = """
SELECT a.attname FROM pg_attribute a
 WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
# Another value of each type, given the one that is there.
OTHERS = {
    "bigint": "coalesce({0}, 0) + 1000000",
    "integer": "coalesce({0}, 0) + 1",
    "smallint": "coalesce({0}, 0) + 1",
    "numeric": "coalesce({0}, 0) + 0.01",
    "text": "coalesce({0}, '') || 'x'",
    "xid8": "(({0})::text::bigint + 1)::text::xid8",
    "uuid": "CASE WHEN {0} IS NULL THEN gen_random_uuid() END",
    "jsonb": "coalesce({0}, '{{}}') || '{{\"changed\": 1}}'",
    "timestamp with time zone": "{0} + interval '1 microsecond'",
    "date": "coalesce({0}, '2020-01-01') + 1",
}
# As somebody does who can do everything, and knows of the triggers.
AS_INTRUDER = "SET LOCAL session_replication_role = replica"


class Sealed:
    """A database with sealed rows, and the key that sealed them."""

    def __init__(self, database: Database, key: SigningKey) -> None:
        self.database, self.key = database, key

    async def seal(self) -> int:
        return await sealer.seal_now(self.database, self.key)

    async def audit(self) -> SealReport:
        return await SealAudit(self.database, await public_keys(self.database)).run()

    async def tampered(self, *statements: str) -> SealReport:
        """The report after somebody did this; it is undone afterwards."""
        raw = await asyncpg.connect(self.database.dsn, ssl=False)
        saved = {table: await raw.fetch(f"SELECT * FROM messor.{table}") for table in TABLES}
        try:
            async with raw.transaction():
                await raw.execute(AS_INTRUDER)
                for statement in statements:
                    await raw.execute(statement)
            return await self.audit()
        finally:
            async with raw.transaction():
                await raw.execute(AS_INTRUDER)
                for table, rows in saved.items():
                    await raw.execute(f"DELETE FROM messor.{table}")
                    await raw.executemany(
                        f"INSERT INTO messor.{table} OVERRIDING SYSTEM VALUE VALUES "
                        f"({', '.join(f'${at + 1}' for at in range(len(rows[0])))})",
                        [tuple(row) for row in rows],
                    ) if rows else None
            await raw.close()


TABLES = ("events", "http_fetches", "seal_removals", "seals")


@pytest.fixture
async def sealed(database: Database, tmp_path: Path) -> Sealed:
    async with database.transaction() as connection:
        key = await signing_key(connection, Seal(tmp_path))
        facts = [
            Event("domain.noted", f"member:{n}", uuid4(), n, {"note": f"é {n}"}) for n in range(5)
        ]
        await record(connection, facts)
        await connection.execute(ADD_FETCHES, 9)
    made = Sealed(database, key)
    assert await made.seal() == 14
    return made


async def test_what_nobody_touched_is_found_unchanged(sealed: Sealed) -> None:
    report = await sealed.audit()
    assert report.is_clean, report.findings
    assert report.rows == {"events": 5, "http_fetches": 9}
    assert report.verdict.startswith("14 rows in ")
    async with sealed.database.transaction() as connection:
        await record(connection, [Event("domain.noted", "ann")])
    later = await sealed.audit()
    assert later.is_clean
    assert later.unsealed == {"events": 1}
    assert await sealed.seal() == 1
    assert (await sealed.audit()).rows["events"] == 6
    assert await sealed.seal() == 0


async def test_every_column_is_sealed(sealed: Sealed) -> None:
    for log in LOGS.values():
        names = [
            row["attname"] for row in await sealed.database.fetch(COLUMNS, f"messor.{log.name}")
        ]
        assert sorted(names) == sorted(log.columns), "a new column needs a new form"


async def test_what_was_sealed_before_a_column_came_stays_whole(
    sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = SealedLog(EVENTS.name, EVENTS.time, (*EVENTS.forms, (*EVENTS.columns, "mood")))
    monkeypatch.setattr(sealer, "LOGS", {**LOGS, EVENTS.name: later})
    monkeypatch.setattr(seal_audit, "LOGS", {**LOGS, EVENTS.name: later})
    await sealed.database.fetch("ALTER TABLE messor.events ADD COLUMN mood text")
    await sealed.database.fetch(
        "INSERT INTO messor.events (type, actor, mood) VALUES ('domain.noted', 'ann', 'good')"
    )
    assert await sealed.seal() == 1
    report = await sealed.audit()
    assert report.is_clean, report.findings
    assert report.rows["events"] == 6
    changed = await sealed.tampered("UPDATE messor.events SET mood = 'bad' WHERE actor = 'ann'")
    assert changed.found == {"changed": 1}


@pytest.mark.parametrize("log", [EVENTS, FETCHES], ids=lambda log: log.name)
async def test_a_change_of_any_column_is_found(sealed: Sealed, log: SealedLog) -> None:
    types = {
        row["attname"]: row["type"]
        for row in await sealed.database.fetch(
            COLUMNS.replace("a.attname", "a.attname, format_type(a.atttypid, NULL) AS type", 1),
            f"messor.{log.name}",
        )
    }
    for name in log.columns:
        if name == "id":  # generated: another id is a removed and an inserted row, see below
            continue
        other = OTHERS[types[name]].format(name)
        report = await sealed.tampered(
            f"UPDATE messor.{log.name} SET {name} = {other} WHERE id = 3"
        )
        assert report.found, f"{log.name}.{name}"
        assert {(one.log, one.row_id) for one in report.findings} == {(log.name, 3)}, name


@pytest.mark.parametrize("log", ["events", "http_fetches"])
@pytest.mark.parametrize("row", [1, 3, 5])
async def test_removed_inserted_and_swapped_rows_are_found(
    sealed: Sealed, log: str, row: int
) -> None:
    removed = await sealed.tampered(f"DELETE FROM messor.{log} WHERE id = {row}")
    assert [(one.kind, one.row_id) for one in removed.findings] == [("removed", row)]
    columns = ", ".join(name for name in LOGS[log].columns if name != "id")
    inserted = await sealed.tampered(
        f"DELETE FROM messor.{log} WHERE id = {row}",
        f"INSERT INTO messor.{log} (id, {columns}) OVERRIDING SYSTEM VALUE "
        f"SELECT -4, {columns} FROM messor.{log} WHERE id = 2",
    )
    assert inserted.found == {"removed": 1, "inserted": 1}
    swapped = await sealed.tampered(
        f"CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM messor.{log} WHERE id IN ({row}, 2)",
        f"DELETE FROM messor.{log} WHERE id IN ({row}, 2)",
        f"INSERT INTO messor.{log} (id, {columns}) OVERRIDING SYSTEM VALUE "
        f"SELECT {row} + 2 - id, {columns} FROM kept",
    )
    assert swapped.found == {"changed": 2} or row != 2


async def test_deleting_past_the_triggers_or_through_them_is_found(sealed: Sealed) -> None:
    await sealed.database.fetch("DELETE FROM messor.events WHERE id = 2")
    await sealed.database.fetch("UPDATE messor.http_fetches SET outcome = 'lost' WHERE id = 4")
    report = await sealed.audit()
    assert report.found["unexplained"] == 2
    assert {one.row_id for one in report.findings} == {2, 4}
    # A cause that is no cause does not excuse it.
    async with sealed.database.transaction() as connection:
        await connection.execute("SELECT set_config('messor.removal', 'tidying', true)")
        await connection.execute("DELETE FROM messor.events WHERE id = 3")
    assert (await sealed.audit()).found["unexplained"] == 3


@pytest.mark.parametrize(
    "deed",
    [
        "UPDATE messor.seals SET commitments = set_byte(commitments, 0, 255 - get_byte(commitments, 0)) WHERE seq = 1",
        "UPDATE messor.seals SET ids = ids || 99::bigint WHERE seq = 2",
        "UPDATE messor.seals SET month = month - 31 WHERE seq = 2",
        "UPDATE messor.seals SET sealed_at = '2020-01-01T00:00:00.000000Z' WHERE seq = 1",
        "UPDATE messor.seals SET head = decode(repeat('00', 32), 'hex') WHERE seq = 2",
        "UPDATE messor.seals SET previous = decode(repeat('00', 32), 'hex') WHERE seq = 2",
        "UPDATE messor.seals SET signature = set_byte(signature, 5, 255 - get_byte(signature, 5)) WHERE seq = 2",
        "UPDATE messor.seals SET salts = decode(repeat('00', length(salts)), 'hex') WHERE seq = 1",
        "UPDATE messor.seals SET form = 9 WHERE seq = 1",
        "UPDATE messor.seals SET key_id = 'another' WHERE seq = 1",
        "DELETE FROM messor.seals WHERE seq = 1",
        "UPDATE messor.seals SET seq = seq + 100",
        "DELETE FROM messor.signing_keys",
    ],
)
async def test_a_change_of_the_chain_is_found(sealed: Sealed, deed: str) -> None:
    await sealed.database.fetch(deed)
    assert not (await sealed.audit()).is_clean


async def test_erased_rows_are_no_findings(sealed: Sealed) -> None:
    async with sealed.database.transaction() as connection:
        await connection.execute("SELECT messor.forget_pages(ARRAY[4, 5]::bigint[], true)")
        await erasure.erase_person(connection, "member:2", actor="ann", reason="asked")
    before = await sealed.audit()
    assert before.is_clean, before.findings
    await sealed.seal()
    report = await sealed.audit()
    assert report.is_clean, report.findings
    assert report.erased == {
        "erasure": 4
    }  # an event and a fetch each, an actor's name, and page 4's event
    # Salts are gone: nobody can try what the rows said.
    zeros = await sealed.database.fetchval(
        "SELECT count(*) FROM messor.seals WHERE position(decode(repeat('00', 16), 'hex') IN salts) > 0"
    )
    assert zeros >= 2
    # What is left of a cut row is sealed as it is now.
    await sealed.database.fetch("SELECT set_config('messor.removal', '', false)")
    changed = await sealed.tampered("UPDATE messor.events SET data = '{}' WHERE id = 3")
    assert [(one.kind, one.row_id) for one in changed.findings] == [("changed", 3)]
    # A removal cannot be taken back, or invented afterwards.
    hidden = await sealed.tampered("DELETE FROM messor.seal_removals WHERE row_id = 3")
    assert hidden.found["removed"] >= 1


async def test_what_retention_drops_is_no_finding(sealed: Sealed) -> None:
    database = sealed.database
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL messor.clock_offset = '100 days'")
        while await connection.fetchval("SELECT messor.drop_old_partition('http_fetches', 1)"):
            pass
    assert await database.fetchval("SELECT count(*) FROM messor.http_fetches") == 0
    await sealed.seal()
    report = await sealed.audit()
    assert report.is_clean, report.findings
    assert report.erased == {"retention": 9}
    # A month that is not over is not retention's.
    await database.fetch(
        "INSERT INTO messor.seal_removals (log, month, cause)"
        " VALUES ('events', date_trunc('month', messor.clock())::date, 'retention')"
    )
    gone = await sealed.tampered("DELETE FROM messor.events")
    assert gone.found["removed"] == 5


async def test_a_checkpoint_shows_what_was_cut_off(sealed: Sealed) -> None:
    database = sealed.database
    async with database.transaction() as connection:
        taken = await checkpoints.take(connection, sealed.key, sealed.key.public_key)
    assert checkpoints.parsed(taken.as_text()) == taken

    async def compared() -> SealReport:
        keys = await public_keys(database)
        audit = SealAudit(database, keys)
        report = await audit.run()
        await checkpoints.compare(database, taken, keys, audit.heads, report)
        return report

    agreed = await compared()
    assert agreed.is_clean
    assert "continues the checkpoint" in str(agreed.checkpoint)
    newest = "(SELECT max(seq) FROM messor.seals)"
    raw = await asyncpg.connect(database.dsn, ssl=False)
    async with raw.transaction():
        await raw.execute(AS_INTRUDER)
        await raw.execute(
            f"DELETE FROM messor.http_fetches WHERE id = ANY (SELECT unnest(ids) FROM messor.seals WHERE seq = {newest})"
        )
        await raw.execute(f"DELETE FROM messor.seals WHERE seq = {newest}")
    await raw.close()
    assert (await sealed.audit()).is_clean  # nothing inside can tell
    cut = await compared()
    assert [one.kind for one in cut.findings] == ["checkpoint"]
    # After a restore it says so, and the restore is sealed.
    async with database.transaction() as connection:
        await record(connection, [Event("backup.restored", "restore", data={"name": "x"})])
    await sealed.seal()
    told = await compared()
    assert [one.kind for one in told.findings] == ["restored"]


async def test_a_changed_checkpoint_is_refused(sealed: Sealed) -> None:
    async with sealed.database.transaction() as connection:
        taken = await checkpoints.take(connection, sealed.key, sealed.key.public_key)
    text = taken.as_text()
    head = taken.head.encode()
    for other in (
        text.replace(head, head[::-1]),
        text.replace(b'"block": ', b'"block": 1'),
        b"{}",
        b"",
    ):
        with pytest.raises(UsageError):
            checkpoints.parsed(other)


async def test_rows_of_transactions_in_progress_are_not_missed(sealed: Sealed) -> None:
    """A lower id that commits later is sealed later, not skipped."""
    database = sealed.database
    raw = await asyncpg.connect(database.dsn, ssl=False)
    slow = raw.transaction()
    await slow.start()
    await raw.execute("INSERT INTO messor.events (type, actor) VALUES ('domain.noted', 'slow')")
    async with database.transaction() as connection:
        await record(connection, [Event("domain.noted", "fast")])
    async with database.transaction() as connection:
        await sealer.mark_ids(connection)
    async with database.transaction() as connection:
        await sealer.mark_positions(connection)
    async with database.transaction() as connection:
        assert await sealer.seal_some(connection, sealed.key) is None
    await slow.commit()
    await raw.close()
    assert await sealed.seal() == 2
    assert (await sealed.audit()).rows["events"] == 7


async def test_large_logs_are_sealed_in_windows(
    sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealer, "WINDOW", 100)
    await sealed.database.fetch(ADD_FETCHES, 250)
    await sealed.database.fetch("SELECT setval('messor.http_fetches_id_seq', 10000000)")
    await sealed.database.fetch(ADD_FETCHES, 20)
    assert await sealed.seal() == 270
    report = await sealed.audit()
    assert report.is_clean
    assert report.rows["http_fetches"] == 279


@pytest.mark.parametrize("count", range(1, 10))
def test_a_path_leads_from_each_leaf_to_the_root(count: int) -> None:
    leaves = [merkle.leaf(row, bytes([row]) * 32) for row in range(count)]
    for at, hashed in enumerate(leaves):
        above = hashed
        for side, sibling in merkle.path(leaves, at):
            pair = sibling + above if side == "left" else above + sibling
            above = sha256(b"\x01" + pair).digest()
        assert above == merkle.root(leaves)


async def test_the_same_key_is_opened_again_and_another_machine_makes_its_own(
    sealed: Sealed, tmp_path: Path
) -> None:
    async with sealed.database.transaction() as connection:
        again = await signing_key(connection, Seal(tmp_path))
        other = await signing_key(connection, Seal(tmp_path / "other", "another secret"))
    assert again.key_id == sealed.key.key_id != other.key_id
    assert set(await public_keys(sealed.database)) == {again.key_id, other.key_id}
