"""The control API of the simulated web: counters, the epoch, the log, a market's truth.

`GET /counters`, `POST /epoch/3`, `POST /flush`; each returns the counters as JSON. A market also
has `GET /truth` and `GET /serp?keyword=…&location=…&epoch=…`. It has a port of its own on 127.0.0.1
and its requests are not logged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import parse_qs

from simweb.answers import SimResponse, plain
from simweb.requestlog import RequestLog


class Controlled(Protocol):
    epoch: int
    log: RequestLog

    def counters(self) -> dict[str, int]: ...

    def truth(self) -> dict[str, Any] | None: ...

    def serp(self, keyword: str, location: str, epoch: int) -> dict[str, Any] | None: ...


class Control:
    def __init__(self, server: Controlled) -> None:
        self._server = server

    def respond(
        self,
        host: str,  # noqa: ARG002 - the shape of every responder
        path: str,
        headers: Mapping[str, str],  # noqa: ARG002 - see above
        secure: bool,  # noqa: ARG002 - see above
    ) -> SimResponse:
        route, _, query = path.partition("?")
        document: dict[str, Any] | None = None
        match route.strip("/").split("/"):
            case ["counters"]:
                document = self._server.counters()
            case ["epoch", number] if number.isdecimal():
                self._server.epoch = int(number)
                document = self._server.counters()
            case ["flush"]:
                self._server.log.flush()
                document = self._server.counters()
            case ["truth"]:
                document = self._server.truth()
            case ["serp"]:
                document = self._serp(
                    {name: values[-1] for name, values in parse_qs(query).items()}
                )
        if document is None:
            return plain(
                404,
                "Unknown path; use counters, epoch/N, flush or, for a market, truth and serp.\n",
            )
        return SimResponse(
            200, (("Content-Type", "application/json"),), json.dumps(document).encode()
        )

    def _serp(self, asked: Mapping[str, str]) -> dict[str, Any] | None:
        epoch = asked.get("epoch", str(self._server.epoch))
        if not epoch.isdecimal():
            return None
        return self._server.serp(asked.get("keyword", ""), asked.get("location", ""), int(epoch))
