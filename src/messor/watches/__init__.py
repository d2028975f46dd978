"""Who wants to know what? Saved filters over changes, and the alerts that come of them."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "checks",
    "conditions",
    "feeds",
    "monitors",
    "nouns",
    "preview",
    "queries",
    "send",
    "watcher",
    "watches",
)
