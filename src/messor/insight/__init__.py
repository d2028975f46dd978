"""Analysis: search, visibility, scores, track levels, classes of domains."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "calibration", "class_features", "classes", "full_text", "judge_weights", "ranks", "relevance.classifier",
    "relevance.guess", "relevance.queries", "relevance.review", "relevance.store",
    "relevance.topics", "reweigh", "score_queries", "scores", "scoring", "search",
    "search_server.client", "search_server.drift", "search_server.indexes", "search_server.jobs",
    "search_server.layout", "search_server.rebuild", "trends",
    "visibility",
)  # fmt: skip
