"""Tests of the room `fetch`."""
