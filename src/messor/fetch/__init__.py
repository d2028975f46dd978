"""Fetching: the address guard, HTTP, browser and services, limits and typed outcomes."""
