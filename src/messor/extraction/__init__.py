"""Continuous extraction: queue, reader processes, shadow trials, replay."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "compare", "component", "domain_extraction", "extract", "learn_corrections", "parser_failures", "parser_figures",
    "queue", "reader_pool", "repair", "shadow_trials", "trial_queries",
)  # fmt: skip
