"""A site of the simulated web: one host, its address and its responder."""

from __future__ import annotations

from dataclasses import dataclass

from simweb.answers import Responder, SimResponse, redirect


@dataclass(frozen=True, slots=True)
class Site:
    host: str
    domain: str
    kind: str
    address: str
    pages: int
    responder: Responder
    secure: bool = False
    misbehaves: bool = False
    jitter_ms: int = 0  # maximum delay between accepting a connection and reading from it

    @property
    def base(self) -> str:
        return base_url(self.host, secure=self.secure)

    @property
    def start_url(self) -> str:
        return f"{self.base}/"

    def to_https(self, path: str) -> SimResponse:
        return redirect(f"{self.base}{path}", 301)

    def summary(self) -> dict[str, str | int]:
        return {
            "host": self.host,
            "domain": self.domain,
            "kind": self.kind,
            "start_url": self.start_url,
            "pages": self.pages,
        }


def base_url(host: str, *, secure: bool) -> str:
    return f"{'https' if secure else 'http'}://{host}"


def domain_of(host: str) -> str:
    """The registrable domain: under `.test` the last two labels."""
    return ".".join(host.split(".")[-2:])
