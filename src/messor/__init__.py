"""Messor: a governed web-intelligence crawler."""

from importlib.metadata import version

__version__ = version("messor")
