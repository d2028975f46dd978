"""Verticals as files, and the organisations that belong to them."""
