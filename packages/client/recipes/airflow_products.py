"""Airflow: a DAG that copies changed products every hour.

Put this file and `changed_products.py` into the DAG folder. `MESSOR_URL`, `MESSOR_KEY` and `PRODUCTS_FILE` are
read from the environment of the worker.
"""

import os
from datetime import datetime, timedelta

from airflow.sdk import dag, task


@dag(
    schedule="5 * * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=1)},
)
def copy_products() -> None:
    @task
    def copy() -> dict[str, int]:
        from changed_products import copy_changed_products

        return copy_changed_products(os.environ["PRODUCTS_FILE"])

    copy()


copy_products()
