"""Who is let in, who is ended to make room, and how proxies are counted."""

from __future__ import annotations

from messor.runtime.server.crowd import ConnectionTable
from messor.runtime.server.limits import ServerLimits


class Guest:
    def __init__(self, peer: str | None) -> None:
        self.peer = peer
        self.is_ended = False

    def end(self) -> None:
        self.is_ended = True


def crowd(in_all: int = 10, by_address: int = 3, *proxies: str) -> ConnectionTable:
    return ConnectionTable(ServerLimits(in_all, by_address, 1.0, 1.0, proxies))


def test_an_address_pushes_out_its_own_oldest() -> None:
    here = crowd()
    other = Guest("192.0.2.9")
    guests = [Guest("192.0.2.1") for _ in range(4)]
    assert here.enter(other)
    assert all(here.enter(guest) for guest in guests)
    assert [guest.is_ended for guest in guests] == [True, False, False, False]
    assert not other.is_ended
    assert len(here) == 4


def test_what_is_at_work_is_not_ended() -> None:
    here = crowd()
    busy = [Guest("192.0.2.1") for _ in range(3)]
    for guest in busy:
        assert here.enter(guest)
        here.works(guest)
    assert not here.enter(Guest("192.0.2.1"))
    assert here.enter(Guest("192.0.2.2"))
    here.waits(busy[1])
    assert here.enter(Guest("192.0.2.1"))
    assert [guest.is_ended for guest in busy] == [False, True, False]


def test_when_it_is_full_those_who_hold_most_make_room() -> None:
    here = crowd(6, 4)
    few, many = [Guest("192.0.2.1") for _ in range(2)], [Guest("192.0.2.2") for _ in range(4)]
    assert all(here.enter(guest) for guest in [*few, *many])
    assert here.enter(Guest("192.0.2.3"))
    assert not any(guest.is_ended for guest in few)
    assert [guest.is_ended for guest in many] == [True, False, False, False]
    assert len(here) == 6


def test_who_lets_requests_stand_still_makes_room_for_those_who_do_not() -> None:
    here = crowd(6, 3)
    busy, slow = [Guest(f"192.0.2.{n}") for n in range(3)], [Guest("192.0.2.9") for _ in range(3)]
    for guest in [*busy, *slow]:
        assert here.enter(guest)
        here.works(guest)
    for guest in [busy[0], *slow]:
        here.stalls(guest)
    assert here.enter(waiting := Guest("192.0.2.7"))
    assert [guest.is_ended for guest in slow] == [True, False, False]
    assert here.enter(Guest("192.0.2.7"))
    assert waiting.is_ended  # who only waits goes first
    assert not any(guest.is_ended for guest in busy)
    here.works(slow[1])
    here.works(slow[2])
    assert here.enter(Guest("192.0.2.7"))
    assert not slow[1].is_ended


def test_a_network_of_64_bits_is_one_address() -> None:
    here = crowd()
    guests = [Guest(f"2001:db8::{number}") for number in range(1, 5)]
    assert all(here.enter(guest) for guest in guests)
    assert guests[0].is_ended


def test_a_trusted_proxy_is_not_one_address() -> None:
    for proxies in (["192.0.2.1"], ["192.0.2.0/24"], ["*"]):
        here = crowd(10, 3, *proxies)
        guests = [Guest("192.0.2.1") for _ in range(10)]
        assert all(here.enter(guest) for guest in guests)
        assert not any(guest.is_ended for guest in guests)


def test_leaving_twice_counts_once() -> None:
    here, guest = crowd(), Guest(None)
    assert here.enter(guest)
    here.leave(guest)
    here.leave(guest)
    here.waits(guest)
    assert len(here) == 0


def test_who_holds_one_connection_is_not_ended_for_those_who_hold_many() -> None:
    here = crowd(5, 4)
    busy = [Guest(f"192.0.2.{1 + n % 2}") for n in range(4)]
    for guest in busy:
        assert here.enter(guest)
        here.works(guest)
    assert here.enter(visitor := Guest("192.0.2.9"))  # its request is still on its way
    assert not here.enter(Guest("192.0.2.2"))
    assert not visitor.is_ended
    assert here.enter(Guest("192.0.2.8"))  # who has most makes room, busy or not
    assert [guest.is_ended for guest in busy] == [True, False, False, False]
    assert not visitor.is_ended


def test_what_comes_through_a_proxy_is_not_ended_at_work() -> None:
    here = crowd(3, 3, "192.0.2.1")
    for guest in (through := [Guest("192.0.2.1") for _ in range(3)]):
        assert here.enter(guest)
        here.works(guest)
    assert not here.enter(Guest("192.0.2.9"))
    assert not any(guest.is_ended for guest in through)
