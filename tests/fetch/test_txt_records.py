"""TXT records, asked of a real name server on loopback."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from messor.fetch.txt_records import txt_records


class NameServer(asyncio.DatagramProtocol):
    """Answers every question with one TXT record of two strings, or with NXDOMAIN for `no.`."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        end = data.index(b"\0", 12) + 5
        question = data[12:end]
        missing = question.startswith(b"\x02no")
        head = data[:2] + struct.pack(">HHHHH", 0x8183 if missing else 0x8180, 1, not missing, 0, 0)
        text = b"\x0emessor-verify=\x04cafe"
        answer = b"\xc0\x0c" + struct.pack(">HHIH", 16, 1, 60, len(text)) + text
        self._transport.sendto(head + question + (b"" if missing else answer), addr)


async def test_a_record_of_several_strings_is_one_text() -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
    port = transport.get_extra_info("sockname")[1]
    try:
        found = await txt_records("_messor-verify.one.test", [f"127.0.0.1:{port}"])
        assert "".join(found) == "messor-verify=cafe"
        assert await txt_records("no.test", [f"127.0.0.1:{port}"]) == []
    finally:
        transport.close()
