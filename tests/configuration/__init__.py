"""Tests of the configuration as files."""
