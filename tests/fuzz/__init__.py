"""Tests of the fuzzer, and a short hunt on every target."""
