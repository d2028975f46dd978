"""Tests of the room `courtesy`."""
