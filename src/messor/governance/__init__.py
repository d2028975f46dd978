"""Governance: submission, review, pre-flight, purge and erasure."""
