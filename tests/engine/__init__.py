"""Tests of the room `engine`."""
