"""Tests of the room `queue`."""  # noqa: A005 - imported as tests.queue only
