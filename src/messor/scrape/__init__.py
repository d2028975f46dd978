"""Pages for programs that wait for them: one, a batch or a crawl, from the archive or by workers.

It fetches nothing itself: what the archive cannot answer becomes a task in its lane.
"""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "archived", "caller", "documents", "hooks", "jobs", "pages", "refusals", "services", "shown", "site_map", "uploads", "visible",
)  # fmt: skip
