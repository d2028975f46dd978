"""Keeps a LlamaIndex index equal to what the pages say: changed, new, removed and erased chunks.

    pip install llama-index-core httpx

    index = VectorStoreIndex.from_documents([])
    cursor = MessorReader("http://127.0.0.1:8321", KEY).sync(index, cursor)  # store it; run again

Only chunks whose text is new are embedded. A run that is killed can be repeated from its old cursor.
"""

from collections.abc import Iterator
from typing import Any

import httpx
from llama_index.core import Document
from llama_index.core.indices.base import BaseIndex
from llama_index.core.readers.base import BaseReader


class MessorReader(BaseReader):
    """Reads the chunk feed."""

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

    def lazy_load_data(self) -> Iterator[Document]:
        newest = {page["page_id"]: page for page in self.pages()}
        for page in newest.values():
            yield from documents_of(page)

    def sync(self, index: BaseIndex[Any], cursor: str | None) -> str | None:
        """Apply what follows the cursor; returns the cursor to continue from."""
        self.cursor = cursor
        for page in self.pages():
            documents = documents_of(page)
            index.refresh_ref_docs(documents)  # embeds what is new or changed
            kept = {document.id_ for document in documents}
            for name in chunks_in(index, page["page_id"]) - kept:
                index.delete_ref_doc(name, delete_from_docstore=True)
        return self.cursor


def documents_of(page: dict[str, Any]) -> list[Document]:
    """The chunks of a page, each a document; their links lead to the heading."""
    return [
        Document(
            id_=chunk["id"],
            text=chunk["text"],
            metadata={
                "url": page["url"] + (f"#{chunk['anchor']}" if chunk["anchor"] else ""),
                "headings": " > ".join(chunk["heading_path"]),
                "language": page["language"],
            },
        )
        for chunk in page["chunks"]
    ]


def chunks_in(index: BaseIndex[Any], page_id: int) -> set[str]:
    """The ids of the page's chunks that the index has; they begin with the page's."""
    known = index.docstore.get_all_ref_doc_info() or {}
    return {name for name in known if name.startswith(f"chunk:{page_id}-")}
