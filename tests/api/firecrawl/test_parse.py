"""Files through /v2/parse: documents in the sandbox, web pages, and what is not read."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest

from simweb.files import pdf
from tests.api.firecrawl.conftest import TEXT, Door

PAGE = f"<html><head><title>A page</title></head><body><main><h1>Head</h1><p>{TEXT}</p></main></body></html>"


async def parsed(
    door: Door, name: str, body: bytes, kind: str = "application/octet-stream", key: str | None = None,
    **options: Any,
) -> httpx.Response:  # fmt: skip
    return await door.client.post(
        "/v2/parse",
        files={"file": (name, body, kind)},
        data={"options": msgspec.json.encode({"origin": "test", **options}).decode()},
        headers={"Authorization": f"Bearer {key or door.key}"},
    )


async def test_a_document_is_read(door: Door) -> None:
    body = (await parsed(door, "report.pdf", pdf("The report of a year").body)).json()
    assert body["success"] is True
    assert "The report of a year" in body["data"]["markdown"]
    metadata = body["data"]["metadata"]
    assert (metadata["numPages"], metadata["sourceURL"]) == (1, "report.pdf")


async def test_a_table_needs_its_name_alone(door: Door) -> None:
    body = (await parsed(door, "prices.csv", b"name,price\nTea,2.50\n")).json()
    assert "Tea" in body["data"]["markdown"]


async def test_a_saved_page_in_every_form(door: Door) -> None:
    formats = ["markdown", "html", "rawHtml", "links", "images", "summary"]
    data = (await parsed(door, "page.html", PAGE.encode(), "text/html", formats=formats)).json()[
        "data"
    ]
    assert data["metadata"]["title"] == "A page"
    assert data["rawHtml"] == PAGE
    assert data["summary"].startswith("It tells at length")
    assert "no model wrote it" in data["warning"]


@pytest.mark.parametrize(
    "name, body, part",
    [
        ("picture.png", b"\x89PNG\r\n\x1a\n", "is not a file that is read"),
        ("broken.pdf", b"%PDF-1.7 nonsense", "could not be read"),
        ("empty.pdf", b"", "is empty"),
    ],
)
async def test_what_is_not_read_says_why(door: Door, name: str, body: bytes, part: str) -> None:
    refused = await parsed(door, name, body)
    assert refused.status_code == 400, refused.text
    assert part in refused.json()["error"]


async def test_options_of_files(door: Door) -> None:
    for options in ({"actions": [{"type": "wait"}]}, {"proxy": "stealth"}, {"lockdown": True}):
        refused = await parsed(door, "page.html", PAGE.encode(), **options)
        assert (refused.status_code, refused.json()["code"]) == (403, "OPTION_REFUSED"), options
    for name in ("changeTracking", "screenshot"):
        refused = await parsed(door, "page.html", PAGE.encode(), formats=["markdown", name])
        assert (refused.status_code, refused.json()["code"]) == (403, "FORMAT_UNAVAILABLE"), name
    plain = await door.post("/v2/parse", url="http://one.test/a")
    assert plain.status_code == 400
    assert "multipart/form-data" in plain.json()["error"]


async def test_formats_that_are_read(door: Door) -> None:
    formats = (await door.get("/v2/parse/formats")).json()["data"]["formats"]
    found = {one["format"]: one for one in formats}
    assert found["pdf"]["mimeTypes"] == ["application/pdf"]
    assert {"docx", "xlsx", "epub", "eml", "html"} <= set(found)


async def test_nothing_of_a_file_is_kept(door: Door) -> None:
    await parsed(door, "report.pdf", pdf("Nothing of it is kept").body)
    for table in ("pages", "page_snapshots", "scrape_jobs"):
        assert await door.database.fetchval(f"SELECT count(*) FROM messor.{table}") == 0
