"""Tests of the audits."""
