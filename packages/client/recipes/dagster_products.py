"""Dagster: an asset of changed products, and a schedule.

    dagster dev -f packages/client/recipes/dagster_products.py

`MESSOR_URL`, `MESSOR_KEY` and `PRODUCTS_FILE` are read from the environment.
"""

import os

from changed_products import copy_changed_products
from dagster import (
    Definitions,
    MaterializeResult,
    RetryPolicy,
    ScheduleDefinition,
    asset,
    define_asset_job,
)


@asset(retry_policy=RetryPolicy(max_retries=3, delay=60))
def products() -> MaterializeResult:
    """Products of approved shops, as their pages state them."""
    counts = copy_changed_products(os.environ["PRODUCTS_FILE"])
    return MaterializeResult(metadata=counts)


hourly = ScheduleDefinition(
    job=define_asset_job("copy_products", selection=[products]), cron_schedule="5 * * * *"
)
defs = Definitions(assets=[products], schedules=[hourly])
