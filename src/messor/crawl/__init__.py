"""The path of a page: session, visit, rules, read, keep, links, robots, sitemaps, flush."""
