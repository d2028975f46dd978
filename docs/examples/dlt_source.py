"""A dlt source: pages, records and what else changes in Messor as tables, kept true by merging.

    pip install "dlt[duckdb]"
    DESTINATION=duckdb MESSOR_URL=http://127.0.0.1:8321 MESSOR_KEY=... python dlt_source.py

Run it again and again: each run loads what changed since the last. What was erased in Messor is deleted
from the tables. The position is kept in dlt's state, which is stored with the rows: nothing is missed or
doubled, even when a run is killed.
"""

import os
from collections.abc import Iterator
from typing import Any

import dlt
from dlt.sources.helpers import requests

CLIENT = requests.Client(raise_for_status=False)  # dlt's, which repeats what may pass
KINDS = ("page", "record", "organisation", "candidate", "serp")


@dlt.source(name="messor")
def messor(url: str, key: str, kinds: tuple[str, ...] = KINDS) -> Any:
    """One table per kind: `pages`, `records`, …"""

    @dlt.resource(
        name="changes",
        table_name=lambda row: f"{row['kind']}s",
        write_disposition="merge",
        primary_key="id",
        columns={
            "position": {"data_type": "text", "dedup_sort": "desc"},
            "is_erased": {"data_type": "bool", "hard_delete": True},
            "topic": {"data_type": "text"},
            "domain": {"data_type": "text"},
            "url": {"data_type": "text"},
            "page_id": {"data_type": "bigint"},
            "product_id": {"data_type": "bigint"},
            "data": {"data_type": "json"},
            "evidence": {"data_type": "json"},
        },
    )
    def changes() -> Iterator[list[dict[str, Any]]]:
        state = dlt.current.resource_state()
        while True:
            page = read(url, key, kinds, state.get("cursor"))
            yield [row_of(entry) for entry in page["items"]]
            state["cursor"] = page["cursor"]
            if page["next"] is None:
                return

    return changes


def read(url: str, key: str, kinds: tuple[str, ...], cursor: str | None) -> Any:
    """The next batch; `whole` gives all values of a record, as its row is replaced."""
    given = {"kinds": ",".join(kinds), "whole": "true", "limit": "5000", "cursor": cursor}
    response = CLIENT.get(
        f"{url}/api/v1/changes",
        params={name: value for name, value in given.items() if value is not None},
        headers={"Authorization": f"Bearer {key}"},
    )
    if response.status_code == 410:
        raise SystemExit(
            "Messor no longer keeps the entries after the last run. "
            'Load anew: pipeline.run(source, refresh="drop_sources")'
        )
    response.raise_for_status()
    return response.json()


def row_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The thing as it is now; of what the site removed, as it was last."""
    tx, number = entry["id"].split("-")
    return {
        "id": entry["subject"],
        "kind": entry["kind"],
        "topic": entry["topic"],
        "state": entry["state"],
        "domain": entry["domain"],
        "url": entry["url"],
        "page_id": entry["page_id"],
        "product_id": entry["product_id"],
        "data": entry["after"] or entry["before"],
        "evidence": entry["evidence"],
        "occurred_at": entry["occurred_at"],
        "position": f"{int(tx):020}-{int(number):020}",  # of several changes the last one counts
        "is_erased": entry["state"] == "erased" or None,
    }


if __name__ == "__main__":
    pipeline = dlt.pipeline(
        "messor", destination=os.environ.get("DESTINATION", "duckdb"), dataset_name="messor"
    )
    print(pipeline.run(messor(os.environ["MESSOR_URL"], os.environ["MESSOR_KEY"])))
