"""The command line, through which files are applied."""

from tests.cli.conftest import messor

__all__ = ["messor"]
