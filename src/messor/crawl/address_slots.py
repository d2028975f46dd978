"""Address slots: limits how many lanes of hosts on one IP address are visited at a time.

Hosts that share an address share its slots. A claim only knows addresses resolved earlier; here
a visit resolves the current one and takes its slots before the first request. Requests for slots
are gathered into one query.
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
    """Takes address slots for one worker's visits."""

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
        self._query: asyncio.Task[None] | None = None

    async def settle(self, lane: Lane, port: int) -> bool:
        """Whether the visit may begin; False if the address is full and the lane was given back."""
        address = await self._fetcher.address_of(lane.host.partition(":")[0], port)
        if address is None or address == lane.address or self._is_exempt(address):
            return True
        lane.address = address
        granted_slots: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((lane, granted_slots))
        if self._query is None or self._query.done():
            self._query = asyncio.create_task(self._serve())
        lane.slots = await granted_slots
        return lane.slots > 0

    def _is_exempt(self, address: str) -> bool:
        return any(ip_address(address) in network for network in self._exempt)

    async def _serve(self) -> None:
        """Serve all waiting visits with one query; a separate task, as any visit may be cancelled."""
        while self._waiting:
            await asyncio.sleep(GATHER_SECONDS)
            waiting, self._waiting = self._waiting, []
            try:
                granted = await lanes.settle_addresses(
                    self._database, self._lease, [lane for lane, _ in waiting], self._slots
                )
            except LOST_CONNECTION + TRY_AGAIN as error:
                for _, granted_slots in waiting:
                    if not granted_slots.done():
                        granted_slots.set_exception(error)
                continue
            for lane, granted_slots in waiting:
                if not granted_slots.done():
                    granted_slots.set_result(granted.get(lane.host_id, 0))
