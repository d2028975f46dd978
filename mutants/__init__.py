"""Mutants: deliberate breakages of required behaviour, each of which a named test must notice."""
