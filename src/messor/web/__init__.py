"""Rules and formats of the web: URLs, robots.txt, sitemaps, HTML. Pure functions, no I/O."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("quotes", "urls")
