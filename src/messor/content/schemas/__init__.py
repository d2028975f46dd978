"""Schemas of records: what all kinds share, and the JSON Schema of each for `docs/records`.

`python -m messor.content.schemas docs/records` writes them.
"""
