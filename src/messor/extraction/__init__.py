"""Continuous extraction: queue, reader processes, shadow trials, replay."""
