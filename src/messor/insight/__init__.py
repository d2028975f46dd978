"""Analysis: search, visibility, scores, track levels, classes of domains."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "calibration", "class_features", "classes", "judge_weights", "ranks", "relevance.classifier",
    "relevance.guess", "relevance.queries", "relevance.review", "relevance.store",
    "relevance.topics", "reweigh", "score_queries", "scores", "scoring", "search", "trends", "visibility",
)  # fmt: skip
