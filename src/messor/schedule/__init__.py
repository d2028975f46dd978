"""What runs automatically: cadences, leadership, and the orchestrators."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "clockwork", "leader", "orchestrators", "outlook", "plan", "runs", "standard",
    "standing_exports", "standing_queries",
)  # fmt: skip
