"""Chaos: crawls of a simulated web under kills and stalls, and a checker that judges them after."""
