"""The address desk: takes address slots for hosts whose address was just learned, many at once.

Hosts that share an address share its slots. A claim can only reckon with addresses known before;
here a visit makes sure of the true one before its first request.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address, ip_network

from messor.fetch.http import HttpFetcher
from messor.politeness import lanes
from messor.politeness.lanes import Lane
from messor.politeness.lease import WorkerLease
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

GATHER_SECONDS = 0.01


class AddressSlots:
    """Settles addresses for one worker's visits."""

    def __init__(
        self,
        database: Database,
        lease: WorkerLease,
        fetcher: HttpFetcher,
        *,
        slots: int,
        exempt: list[str],
    ) -> None:
        self._database = database
        self._lease = lease
        self._fetcher = fetcher
        self._slots = slots
        self._exempt = [ip_network(text, strict=False) for text in exempt]
        self._waiting: list[tuple[Lane, asyncio.Future[int]]] = []
        self._asking: asyncio.Task[None] | None = None

    async def settle(self, lane: Lane, port: int) -> bool:
        """Whether the visit may begin; False when the address is full and the lane went back."""
        address = await self._fetcher.address_of(lane.host.partition(":")[0], port)
        if address is None or address == lane.address or self._is_exempt(address):
            return True
        lane.address = address
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((lane, answer))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        lane.slots = await answer
        return lane.slots > 0

    def _is_exempt(self, address: str) -> bool:
        return any(ip_address(address) in network for network in self._exempt)

    async def _ask(self) -> None:
        """One question for all who came within a moment; a task of its own, as any may leave."""
        while self._waiting:
            await asyncio.sleep(GATHER_SECONDS)
            waiting, self._waiting = self._waiting, []
            try:
                granted = await lanes.settle_addresses(
                    self._database, self._lease, [lane for lane, _ in waiting], self._slots
                )
            except LOST_CONNECTION + TRY_AGAIN as error:
                for _, answer in waiting:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            for lane, answer in waiting:
                if not answer.done():
                    answer.set_result(granted.get(lane.host_id, 0))
