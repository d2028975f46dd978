"""Audits, metrics and webhooks over what was recorded; only webhooks send requests."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "archive_audit", "archive_repair", "backup.create", "backup.manifest", "backup.place",
    "backup.restore", "chart", "clock_watch", "contract", "disk_watch",
    "domain_figures", "evidence.bundle", "evidence.verify", "figures", "key_rotation", "overview", "page_story", "politeness", "record_audit",
    "report", "slow_queries", "vitals", "webhooks.deliveries", "webhooks.dispatch", "webhooks.registry",
)  # fmt: skip
