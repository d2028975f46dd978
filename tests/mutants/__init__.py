"""Tests of the list of mutants."""
