"""Backups: what is kept of an installation elsewhere, checked, and put back."""
