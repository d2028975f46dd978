"""Event types: every fact that may be recorded, its meaning, and who may see it.

The first word of a type is its group. `events.record` refuses a type that is not declared here;
the console, webhooks and `docs/events.md` derive from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Audience = Literal["members", "admins"]


class EventType(NamedTuple):
    """One type of event."""

    name: str
    meaning: str
    audience: Audience
    is_common: bool  # offered first where a webhook's types are chosen
    page_urls: tuple[str, ...]  # data that are a page's own URL or content, and are not masked


class _Group(NamedTuple):
    meanings: Mapping[str, str]
    common: tuple[str, ...] = ()
    page_urls: tuple[str, ...] = ()
    audience: Audience = "members"


_OF_PAGE = ("url",)
_GROUPS: Mapping[str, _Group] = {
    "alert": _Group(
        {
            "raised": "something needs an operator's attention",
            "ended": "what needed attention is over",
        },
        ("raised", "ended"),
    ),
    "archive": _Group(
        {
            "compacted": "small archive objects were merged",
            "moved": "the archive was moved to an object store",
            "texts_moved": "texts of pages were moved between PostgreSQL and the archive",
            "repaired": "damaged or missing archive data were repaired",
        },
        ("compacted",),
    ),
    "audit": _Group({"completed": "the requests of the last day were audited"}, ("completed",)),
    "backup": _Group(
        {"created": "a backup was made", "restored": "a backup was put back"}, ("created",)
    ),
    "candidate": _Group(
        {
            "pending_review": "a candidate waits for review",
            "in_review": "a candidate was assigned to a reviewer",
            "approved": "a candidate was approved",
            "rejected": "a candidate was rejected",
            "crawl_failed": "a candidate's page could not be crawled",
        },
        page_urls=_OF_PAGE,
    ),
    "component": _Group(
        {"stalled": "a component or a process hung and was restarted"}, ("stalled",)
    ),
    "configuration": _Group({"applied": "configuration files were applied"}),
    "crawl": _Group({"started": "a crawl was started by hand"}, page_urls=_OF_PAGE),
    "discovery": _Group(
        {
            "started": "a discovery session was started",
            "finished": "a discovery session has ended",
        },
        ("finished",),
    ),
    "domain": _Group(
        {
            "submitted": "a domain was submitted",
            "resubmitted": "a rejected or suspended domain was submitted again",
            "approved": "a domain was approved",
            "rejected": "a domain was rejected",
            "suspended": "a domain was suspended",
            "blacklisted": "a domain was blacklisted",
            "review_asked": "an approved domain returned to review",
            "look_again": "an approved domain was flagged for review and is still crawled",
            "kept": "a flagged domain was kept approved",
            "trusted": "URLs of the domain are accepted from anyone",
            "untrusted": "URLs of the domain are no longer accepted from anyone",
            "noted": "a note was added to a domain",
            "configured": "a domain's terms were changed",
            "classified": "a domain's class changed",
            "class_decided": "a person decided a domain's class",
            "vertical_set": "a domain's vertical was set or cleared",
            "uses_set": "the uses that a domain's content is approved for were set or cleared",
            "track_level_changed": "a domain's track level changed",
            "preflight_asked": "a pre-flight was requested",
            "preflight": "a pre-flight was completed",
            "rescraped": "a domain's pages were made due",
            "processing": "processing of a domain began",
            "high_quality": "a domain was marked as high quality",
            "low_quality": "a domain was marked as low quality",
            "no_funds": "a domain has no funds this year",
            "failed": "a domain could not be processed",
            "purged": "a domain's stored content was deleted",
            "erased": "a domain was erased",
        },
        ("submitted", "approved", "rejected", "suspended", "review_asked"),
    ),
    "analytics": _Group(
        {"queried": "somebody asked the tables of analytics in SQL"},
    ),
    "evidence": _Group({"bundled": "somebody made an evidence bundle"}),
    "entity": _Group(
        {
            "merged": "a person said that two statements are of one entity",
            "split": "a person said that statements are of different entities",
        }
    ),
    "export": _Group(
        {
            "started": "somebody asked for an export",
            "finished": "an export's file is complete",
            "downloaded": "somebody downloaded an export's file",
            "delivered": "a standing export's file was delivered",
            "standing_added": "a standing export was created",
            "standing_switched": "a standing export was enabled or disabled",
            "standing_removed": "a standing export was removed",
            "cancelled": "an export was cancelled",
        }
    ),
    "extraction": _Group(
        {"completed": "a page's records changed"}, ("completed",), page_urls=_OF_PAGE
    ),
    "flag": _Group({"decided": "a person decided whether a page is relevant"}),
    "friction": _Group({"detected": "a host showed that it may not welcome us"}, ("detected",)),
    "host": _Group({"http_only": "a host answers over http only"}),
    "identity": _Group({"key_added": "a key that signs requests was made"}, audience="admins"),
    "ingestion": _Group(
        {
            "completed": "an ingestion has ended, in full or in part",
            "blocked": "an ingestion was blocked by the site",
            "failed": "an ingestion failed",
            "lost": "an ingestion's process ended before the ingestion did",
        },
        ("completed", "failed"),
    ),
    "jobs": _Group(
        {
            "requeued": "dead letters were queued again",
            "purged": "dead letters were deleted",
            "cancelled": "jobs were cancelled",
        }
    ),
    "key": _Group(
        {
            "created": "an API key was created",
            "revoked": "an API key was revoked",
            "policy_set": "an API key was given a policy, or its policy changed",
            "policy_dropped": "an API key lost its policy",
        },
        audience="admins",
    ),
    "keywords": _Group(
        {
            "generated": "keywords were generated from templates",
            "expanded": "keywords were added from search results",
            "tiered": "keywords changed their tiers",
            "tier_set": "a keyword's tier was set by hand, or returned to automatic",
        }
    ),
    "link": _Group({"made": "a one-time link was created"}, audience="admins"),
    "login": _Group(
        {"failed": "a login failed", "throttled": "logins were throttled"}, audience="admins"
    ),
    "mail": _Group(
        {
            "sent": "a mail was handed to the mail server",
            "failed": "a mail could not be sent and is not retried",
        },
        audience="admins",
    ),
    "member": _Group(
        {
            "created": "a member was created",
            "role_changed": "a member's role was changed",
            "disabled": "a member was deactivated",
            "enabled": "a member was activated again",
            "password_changed": "a member's password was changed",
            "identity_linked": "a member was linked to a single sign-on identity",
            "two_factor_on": "a member turned two-factor authentication on",
            "two_factor_off": "a member's two-factor authentication was turned off",
        },
        audience="admins",
    ),
    "organisation": _Group({"created": "an organisation was added"}),
    "owner": _Group(
        {
            "asked": "a site's owner asked for an opt-out, an erasure or a report",
            "proved": "a site's owner showed that the domain is theirs, and what was asked is done",
        },
        ("proved",),
    ),
    "page": _Group({"flagged": "a page became relevant"}, ("flagged",), page_urls=_OF_PAGE),
    "pages": _Group({"imported": "saved pages were imported"}),
    "parser": _Group(
        {
            "pinned": "a parser version was pinned",
            "unpinned": "a parser pin was removed",
            "compared": "two parser versions were compared on stored pages",
            "shadowing": "a parser version began to run in shadow",
            "promoted": "a compared parser version was promoted",
            "rejected": "a compared parser version was rejected",
            "rolled_back": "a promoted parser version was rolled back",
            "failing": "a parser no longer finds what it used to",
        }
    ),
    "payment": _Group(
        {
            "made": "a page was paid for; the receipt is with it",
            "failed": "an approved price was offered and not charged",
        },
        ("made",),
    ),
    "permission": _Group(
        {
            "granted": "an admin put a permission to use a domain's content on file",
            "revoked": "a permission to use a domain's content was revoked",
        }
    ),
    "person": _Group(
        {
            "looked_up": "somebody looked for what is held on a person",
            "handed_over": "what is held on a person was handed over",
            "erased": "a person's data were erased",
        },
        audience="admins",
    ),
    "price": _Group(
        {
            "approved": "paying for a domain's pages was approved, with caps",
            "revoked": "nothing more is paid for a domain's pages",
        }
    ),
    "product": _Group({"price_changed": "a product's price changed"}, page_urls=_OF_PAGE),
    "proxy": _Group(
        {
            "added": "a proxy was added",
            "enabled": "a proxy was enabled by hand",
            "disabled": "a proxy was disabled, by hand or after failures",
            "restored": "a disabled proxy works again",
            "removed": "a proxy was removed",
        },
        audience="admins",
    ),
    "ranking": _Group(
        {
            "learnt": "a product ranking was learnt from corrections",
            "used": "a product ranking was put in force",
        }
    ),
    "record": _Group(
        {
            "changed": "a record changed or returned",
            "removed": "a record is no longer on its page",
            "corrected": "a person corrected a record, or confirmed a field",
            "correction_withdrawn": "a correction was withdrawn; the page's own value applies again",
            "correction_lapsed": "a page changed a corrected field; the page's value applies again",
        },
        page_urls=("url", "found", "correct"),
    ),
    "records": _Group({"audited": "stored records were audited"}, ("audited",)),
    "relevance": _Group(
        {
            "trained": "a relevance classifier was trained",
            "switched": "another relevance classifier was put in force",
        }
    ),
    "retention": _Group(
        {
            "applied": "old log partitions were deleted",
            "rule_added": "a rule was made by which old snapshots go",
            "rule_removed": "a retention rule was removed",
            "snapshots_removed": "old snapshots were removed by retention rules",
            "held": "a domain or page was held: no rule removes anything of it",
            "lifted": "a hold was lifted",
        },
        page_urls=_OF_PAGE,
    ),
    "robots": _Group({"slow": "a robots.txt demands a long Crawl-delay"}),
    "scrape": _Group(
        {"requested": "a program asked for a page, on somebody's behalf or by a key's policy"},
        page_urls=_OF_PAGE,
    ),
    "schedule": _Group(
        {
            "failed": "a scheduled run failed",
            "overridden": "a schedule's cadence was overridden",
            "reset": "a schedule returned to its default cadence",
            "enabled": "a schedule was turned on",
            "disabled": "a schedule was turned off",
        },
        ("failed",),
    ),
    "secrets": _Group({"rotated": "stored secrets were sealed with a new key"}, audience="admins"),
    "session": _Group(
        {
            "opened": "a member logged in",
            "closed": "a member logged out",
            "revoked": "a session was revoked",
            "all_revoked": "all sessions of a member were revoked",
        },
        audience="admins",
    ),
    "submitter": _Group({"notice": "a submitter is due a notice of a decision"}),
    "tasks": _Group(
        {
            "submitted": "crawl tasks were submitted",
            "paused": "crawl tasks were paused",
            "resumed": "crawl tasks were resumed",
            "stopped": "crawl tasks were stopped",
            "retried": "failed crawl tasks were made due",
            "recrawled": "crawl tasks were made due",
        }
    ),
    "traffic": _Group(
        {
            "halted": "all traffic to sites was halted",
            "resumed": "traffic to sites was resumed",
            "limited": "crawl hours and megabytes per day of all sites together were set",
        }
    ),
    "url": _Group(
        {"submitted": "a URL was submitted", "erased": "a URL was erased"}, page_urls=_OF_PAGE
    ),
    "urls": _Group({"taken": "remembered URLs of an approved domain became pages"}),
    "vertical": _Group({"applied": "a vertical's file was applied"}),
    "watch": _Group(
        {
            "added": "a watch was added",
            "changed": "a watch was changed",
            "switched_on": "a watch was switched on",
            "switched_off": "a watch was switched off",
            "token_renewed": "the token of a watch's feed was replaced",
            "removed": "a watch was removed",
        }
    ),
    "webhook": _Group(
        {
            "added": "a webhook was added",
            "changed": "a webhook was changed",
            "removed": "a webhook was removed",
            "disabled": "a webhook was disabled after repeated failures",
            "redelivered": "a delivery was repeated by hand",
        },
        audience="admins",
    ),
}

EVENT_TYPES: Mapping[str, EventType] = MappingProxyType(
    {
        f"{group}.{word}": EventType(
            f"{group}.{word}", meaning, each.audience, word in each.common, each.page_urls
        )
        for group, each in _GROUPS.items()
        for word, meaning in each.meanings.items()
    }
)
GROUPS = tuple(_GROUPS)
# Groups about people and secrets rather than the web.
ADMIN_GROUPS = tuple(name for name, group in _GROUPS.items() if group.audience == "admins")
