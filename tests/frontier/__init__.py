"""Tests of the room `frontier`."""
