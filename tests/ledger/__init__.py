"""Tests of the room `ledger`."""
