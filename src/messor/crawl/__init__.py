"""The path of a page: session, visit, rules, read, keep, links, robots, sitemaps, flush."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("crawl_runs", "progress", "session", "worker")
