"""A client of Messor's API: typed, synchronous and asynchronous, small.

from messor_client import Client

with Client("messor_…", "http://127.0.0.1:8321") as messor:
    for record in messor.list_records(kind="contact"):
        print(record.domain, record.data)
"""

from messor_client import errors, models
from messor_client.client import AsyncClient, Client
from messor_client.errors import ApiError, ClientError
from messor_client.feed import ChangeBatch, CursorStore, FileCursor
from messor_client.pages import AsyncPages, Page, Pages
from messor_client.wire import Retries

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncPages",
    "ChangeBatch",
    "Client",
    "ClientError",
    "CursorStore",
    "FileCursor",
    "Page",
    "Pages",
    "Retries",
    "errors",
    "models",
]
