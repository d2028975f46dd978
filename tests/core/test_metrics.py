"""Stages of a page's way: each is measured, and an exception counts as an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from messor.core.metrics import Metrics


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("raised, errors", [(ValueError, 1), (asyncio.CancelledError, 0)])
def test_a_stage_is_measured_however_it_ends(raised: type[BaseException], errors: int) -> None:
    metrics = Metrics()
    read: Callable[..., float | None] = metrics.registry.get_sample_value
    with metrics.stage("read"):
        pass
    with pytest.raises(raised), metrics.stage("read"):
        raise raised
    assert read("messor_stage_seconds_count", {"stage": "read"}) == 2
    assert read("messor_stage_errors_total", {"stage": "read"}) == errors
    assert read("messor_stage_seconds_count", {"stage": "keep"}) == 0
