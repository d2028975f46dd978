"""The door for whoever runs the simulated web: counters, the epoch, flushing the log.

`GET /counters`, `POST /epoch/3`, `POST /flush`; each answers with the counters as JSON. It has a
port of its own on 127.0.0.1 and its requests are not logged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from messor.world.answers import Answer, plain
from messor.world.requestlog import RequestLog


class Controlled(Protocol):
    epoch: int
    log: RequestLog

    def counters(self) -> dict[str, int]: ...


class Control:
    def __init__(self, server: Controlled) -> None:
        self._server = server

    def respond(self, host: str, path: str, headers: Mapping[str, str], secure: bool) -> Answer:  # noqa: ARG002 - the shape of every responder
        match path.strip("/").split("/"):
            case ["counters"]:
                pass
            case ["epoch", number] if number.isdecimal():
                self._server.epoch = int(number)
            case ["flush"]:
                self._server.log.flush()
            case _:
                return plain(404, "counters, epoch/N and flush are all there is.\n")
        body = json.dumps(self._server.counters()).encode()
        return Answer(200, (("Content-Type", "application/json"),), body)
