"""Analysis: search, visibility, scores, track levels, classes of domains."""
