"""The politeness report: what was asked of a domain when, with which gaps, under which robots.txt.

It is signed with the identity key as a JSON Web Signature (RFC 7515, RFC 8037), so its owner can check
it with any library and our published keys.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from messor.errors import ConflictError, UsageError
from messor.fetch.identity import keys
from messor.fetch.identity.message_signatures import base64url, from_base64url
from messor.fetch.identity.signer import RequestKey
from messor.fetch.proxies.seal import Seal
from messor.registry import domains
from messor.settings import Settings
from messor.store.database import Database

TYPE = "messor-politeness-report+json"
MAX_REQUESTS = 20_000
DAYS = 30

REQUESTS = """
SELECT f.fetched_at, h.host, p.url, f.outcome, f.status_code, f.rule, f.waited_ms, f.delay_ms,
       f.robots_id, f.fetch_provider AS provider, k.thumbprint AS signed_by
  FROM messor.hosts h CROSS JOIN LATERAL (
    SELECT n.* FROM messor.http_fetches n
     WHERE n.host_id = h.id AND n.fetched_at >= (SELECT messor.clock()) - $2::interval
     ORDER BY n.fetched_at DESC LIMIT $3) f
  LEFT JOIN messor.pages p ON p.id = f.page_id
  LEFT JOIN messor.identity_keys k ON k.id = f.signed_by
 WHERE h.domain_id = $1 ORDER BY f.fetched_at DESC LIMIT $3
"""
ROBOTS = """
SELECT r.id, h.host, r.scheme, r.fetched_at, r.status_code, r.verdict, r.reason, r.crawl_delay,
       encode(r.body_hash, 'hex') AS body_hash
  FROM messor.robots_files r JOIN messor.hosts h ON h.id = r.host_id
 WHERE r.id = ANY ($1::bigint[]) ORDER BY r.id
"""
NOW = "SELECT messor.clock()"


async def build(
    database: Database, settings: Settings, name: str, days: int = DAYS
) -> dict[str, Any]:
    """The report on a domain's last days, newest request first."""
    if not 1 <= days <= 400:
        raise UsageError("A report covers between 1 and 400 days.")
    domain = await domains.get(database, name)
    made_at = await database.fetchval(NOW)
    span = timedelta(days=days)
    found = [dict(row) for row in await database.fetch(REQUESTS, domain.id, span, MAX_REQUESTS)]
    robots = sorted({row["robots_id"] for row in found if row["robots_id"] is not None})
    return {
        "domain": domain.domain,
        "status": domain.status,
        "agent": settings.agent_token,
        "contact": settings.contact,
        "made_at": made_at,
        "from": made_at - span,
        "is_complete": len(found) < MAX_REQUESTS,
        "summary": _summary(found),
        "robots": [dict(row) for row in await database.fetch(ROBOTS, robots)],
        "requests": found,
    }


def _summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, the shortest gap, and requests sent before their delay had passed."""
    gaps = [row["waited_ms"] for row in found if row["waited_ms"] > 0]
    outcomes: dict[str, int] = {}
    for row in found:
        outcomes[row["outcome"]] = outcomes.get(row["outcome"], 0) + 1
    return {
        "requests": len(found),
        "signed": sum(row["signed_by"] is not None for row in found),
        "outcomes": outcomes,
        "shortest_gap_ms": min(gaps, default=None),
        "early": sum(0 < row["waited_ms"] < (row["delay_ms"] or 0) - 5 for row in found),
    }


async def signed(
    database: Database, settings: Settings, seal: Seal, name: str, days: int = DAYS
) -> dict[str, str]:
    """The report as a flattened JSON Web Signature."""
    key = await keys.signing_key(database, seal)
    if key is None:
        raise ConflictError(
            "There is no identity key to sign with. Set MESSOR_IDENTITY_URL, then: messor identity show"
        )
    return sign(await build(database, settings, name, days), key)


def sign(report: dict[str, Any], key: RequestKey) -> dict[str, str]:
    header = {"alg": "EdDSA", "kid": key.name, "typ": TYPE}
    protected = base64url(msgspec.json.encode(header))
    payload = base64url(msgspec.json.encode(report, enc_hook=str))
    made = key.private.sign(f"{protected}.{payload}".encode())
    return {"protected": protected, "payload": payload, "signature": base64url(made)}


def opened(document: bytes, public: dict[str, bytes]) -> dict[str, Any]:
    """The report of a valid document; raises where it was altered or is not ours."""
    try:
        jws = msgspec.json.decode(document, type=dict[str, str])
        header = msgspec.json.decode(from_base64url(jws["protected"]), type=dict[str, str])
        signature = from_base64url(jws["signature"])
        key = Ed25519PublicKey.from_public_bytes(public[header["kid"]])
        key.verify(signature, f"{jws['protected']}.{jws['payload']}".encode())
        report: dict[str, Any] = msgspec.json.decode(from_base64url(jws["payload"]))
    except KeyError as error:
        raise UsageError("The report was not signed with one of these keys.") from error
    except InvalidSignature as error:
        raise UsageError("The report was altered: its signature does not fit.") from error
    except (ValueError, msgspec.DecodeError) as error:
        raise UsageError("The file is not a signed politeness report.") from error
    return report
