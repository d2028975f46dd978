"""Tests that share what is made once for their module run in one process of a run."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="module")
def shared() -> object:
    return object()


def test_a_test_that_shares_is_in_a_group(shared: object, request: pytest.FixtureRequest) -> None:
    """pytest-xdist tells its scheduler of a group by the end of the test's name."""
    is_divided = "PYTEST_XDIST_WORKER" in os.environ
    assert request.node.nodeid.endswith("@tests/docs/test_grouping.py") or not is_divided
