"""Webhooks: deliver events, each signed and retried until it arrives."""
