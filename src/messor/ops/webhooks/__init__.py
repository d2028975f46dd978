"""Webhooks: others are told of events, each signed, tried again until it arrives."""
