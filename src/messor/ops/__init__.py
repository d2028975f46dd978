"""Audits, metrics and webhooks over what was recorded; only webhooks send requests."""
