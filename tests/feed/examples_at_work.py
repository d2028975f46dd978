"""Runs the examples of docs/examples with the real dlt, LangChain and LlamaIndex (make clients).

Reads a line per turn from stdin; after each turn writes as JSON what the three copies hold.
"""

import json
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
sys.path.insert(0, str(EXAMPLES))

import dlt  # type: ignore[import-not-found]  # noqa: E402
from langchain_core.embeddings import (  # type: ignore[import-not-found]  # noqa: E402
    DeterministicFakeEmbedding,
)
from langchain_core.indexing import InMemoryRecordManager  # type: ignore[import-not-found]  # noqa: E402
from langchain_core.vectorstores import InMemoryVectorStore  # type: ignore[import-not-found]  # noqa: E402
from llama_index.core import Settings, VectorStoreIndex  # type: ignore[import-not-found]  # noqa: E402
from llama_index.core.embeddings import MockEmbedding  # type: ignore[import-not-found]  # noqa: E402

import dlt_source  # type: ignore[import-not-found]  # noqa: E402  # isort: skip
import langchain_loader  # type: ignore[import-not-found]  # noqa: E402  # isort: skip
import llama_index_reader  # type: ignore[import-not-found]  # noqa: E402  # isort: skip


class Counting(DeterministicFakeEmbedding):  # type: ignore[misc]
    """Counts what it embeds."""

    made: int = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.made += len(texts)
        found: list[list[float]] = super().embed_documents(texts)
        return found


class CountingMock(MockEmbedding):  # type: ignore[misc]
    """Counts what it embeds."""

    made: int = 0

    def _get_text_embedding(self, text: str) -> list[float]:
        self.made += 1
        found: list[float] = super()._get_text_embedding(text)
        return found


class Copies:
    """The three copies of one installation."""

    def __init__(self, url: str, key: str, folder: str) -> None:
        self._url, self._key, self._folder = url, key, folder
        self._words = Counting(size=8)
        self._store = InMemoryVectorStore(self._words)
        self._records = InMemoryRecordManager("messor")
        self._records.create_schema()
        self._sync = langchain_loader.MessorSync(url, key, self._store, self._records)
        Settings.embed_model = self._mock = CountingMock(embed_dim=8)
        self._index = VectorStoreIndex.from_documents([])
        self._reader = llama_index_reader.MessorReader(url, key)
        self._cursors: list[str | None] = [None, None]

    def turn(self) -> dict[str, Any]:
        self._cursors = [
            self._sync.run(self._cursors[0]),
            self._reader.sync(self._index, self._cursors[1]),
        ]
        nodes = self._index.docstore.docs.values()
        return {
            "tables": self._load(),
            "langchain": sorted(one["text"] for one in self._store.store.values()),
            "llama_index": sorted(node.get_content() for node in nodes),
            "embedded": [self._words.made, self._mock.made],
        }

    def _load(self) -> dict[str, Any]:
        """A new pipeline each time, as a scheduled run has."""
        target = dlt.destinations.duckdb(f"{self._folder}/copy.duckdb")
        pipeline = dlt.pipeline(
            "messor", pipelines_dir=self._folder, destination=target, dataset_name="messor"
        )
        pipeline.run(dlt_source.messor(self._url, self._key))
        with pipeline.sql_client() as client:
            pages = client.execute_sql("SELECT id, state FROM pages ORDER BY id")
            records = client.execute_sql("SELECT id, state, data FROM records ORDER BY id")
        return {
            "pages": [list(row) for row in pages],
            "records": [[row[0], row[1], json.loads(row[2])] for row in records],
        }


def main() -> None:
    copies = Copies(*sys.argv[1:])
    for _ in sys.stdin:
        sys.stdout.write(f"{json.dumps(copies.turn())}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
