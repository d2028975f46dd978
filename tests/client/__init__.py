"""The Python client against the real API."""
