"""What does it mean? Search, visibility, scores, track levels, classes of domains."""
