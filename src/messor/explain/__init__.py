"""Explanations: why something happened, and what the rules say. Nothing here fetches or stores."""
