"""Learns the model of main content from the seen slices of the external corpora.

Run as `python -m bench.learning` in an environment that also has lightgbm, numpy and rapidfuzz; Messor
does not need them. It prints scores cross-validated by site, then those of the held slice, and with
`--write` stores the model in the package.
"""
