"""Judges of search results: each gives a score, a weight and its reasons, from metadata alone."""
