"""Fuzz: corpus-seeded inputs for the web's rules, judged by exceptions, invariants and growth."""
