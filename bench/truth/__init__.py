"""How true what is read from pages is, corpus by corpus, beside the best library for the task.

Run as `python -m bench.truth` or `make truth`, which also writes `docs/truth.md`.
"""
