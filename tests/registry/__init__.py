"""Tests of the room `registry`."""
