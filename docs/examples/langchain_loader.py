"""Keeps a LangChain vector store equal to what the pages say: changed, new, removed and erased chunks.

    pip install langchain-core httpx

    sync = MessorSync("http://127.0.0.1:8321", KEY, vector_store, record_manager)
    cursor = sync.run(cursor)  # store the cursor; run it again whenever you like

Only chunks whose text is new are embedded. A run that is killed can be repeated from its old cursor.
"""

from collections.abc import Iterator
from typing import Any

import httpx
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.indexing import RecordManager, index
from langchain_core.vectorstores import VectorStore


class MessorLoader(BaseLoader):
    """All chunks of the feed as documents, for a one-time load."""

    def __init__(self, url: str, key: str, *, domain: str | None = None) -> None:
        self._client = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60
        )
        self._domain = domain
        self.cursor: str | None = None

    def pages(self) -> Iterator[dict[str, Any]]:
        """Each changed page after the cursor, with its chunks; the cursor moves along."""
        while True:
            given = {"domain": self._domain, "cursor": self.cursor, "limit": 200}
            response = self._client.get(
                "/api/v1/changes/chunks", params={k: v for k, v in given.items() if v is not None}
            )
            response.raise_for_status()
            batch = response.json()
            yield from batch["items"]
            self.cursor = batch["cursor"]
            if batch["next"] is None:
                return

    def lazy_load(self) -> Iterator[Document]:
        newest = {page["page_id"]: page for page in self.pages()}
        for page in newest.values():
            yield from documents_of(page)


def documents_of(page: dict[str, Any]) -> list[Document]:
    """The chunks of a page; their links lead to the heading."""
    return [
        Document(
            id=chunk["id"],
            page_content=chunk["text"],
            metadata={
                "page": f"page:{page['page_id']}",
                "source": page["url"] + (f"#{chunk['anchor']}" if chunk["anchor"] else ""),
                "heading_path": chunk["heading_path"],
                "language": page["language"],
                "chunk": chunk["id"],
                "hash": chunk["hash"],
            },
        )
        for chunk in page["chunks"]
    ]


class MessorSync:
    """Applies the chunk feed to a vector store; the record manager remembers what is in it."""

    def __init__(
        self,
        url: str,
        key: str,
        store: VectorStore,
        records: RecordManager,
        *,
        domain: str | None = None,
    ) -> None:
        self._loader = MessorLoader(url, key, domain=domain)
        self._store = store
        self._records = records

    def run(self, cursor: str | None) -> str | None:
        """Apply what follows the cursor; returns the cursor to continue from."""
        self._loader.cursor = cursor
        for page in self._loader.pages():
            if page["chunks"]:
                self._replace(documents_of(page))
            else:  # removed by its site, erased, or without text now
                self._delete(f"page:{page['page_id']}")
        return self._loader.cursor

    def _replace(self, documents: list[Document]) -> None:
        """Chunks of the page that are not among these are deleted, equal ones are left alone."""
        index(
            documents,
            self._records,
            self._store,
            cleanup="incremental",
            source_id_key="page",
            key_encoder=lambda one: f"{one.metadata['chunk']}:{one.metadata['hash']}",
        )

    def _delete(self, page: str) -> None:
        keys = self._records.list_keys(group_ids=[page])
        if keys:
            self._store.delete(keys)
            self._records.delete_keys(keys)
