"""Tests of the room `archive`."""
