"""The seen filter: exact about what it says, bounded in what it holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from messor.frontier.seen import SeenFilter

hosts = st.sampled_from(["a.test", "b.test", "c.test", "d.test"])
hashes = st.lists(st.integers(0, 30).map(lambda n: bytes([n])), max_size=12)


@given(st.lists(st.tuples(hosts, hashes), max_size=40), st.integers(1, 25))
def test_it_knows_only_what_it_was_told_and_keeps_its_bound(
    told: list[tuple[str, list[bytes]]], capacity: int
) -> None:
    seen = SeenFilter(capacity)
    truth: dict[str, set[bytes]] = {}
    for host, new in told:
        seen.learn(host, new)
        truth.setdefault(host, set()).update(new)
        assert len(seen) <= capacity
        for known_host, known in truth.items():
            assert seen.of(known_host) <= known
    assert len(seen) == sum(len(seen.of(host)) for host in truth)


def test_within_its_bound_it_forgets_nothing() -> None:
    seen = SeenFilter(100)
    for number in range(10):
        seen.learn(f"h{number}.test", [bytes([n]) for n in range(10)])
    assert all(len(seen.of(f"h{n}.test")) == 10 for n in range(10))


def test_the_host_used_longest_ago_goes_first() -> None:
    seen = SeenFilter(4)
    seen.learn("old.test", [b"1", b"2"])
    seen.learn("used.test", [b"1"])
    seen.of("old.test")
    seen.learn("new.test", [b"1", b"2"])
    assert seen.of("old.test") == {b"1", b"2"}
    assert seen.of("used.test") == set()


def test_asking_for_strangers_does_not_grow_it() -> None:
    seen = SeenFilter(10)
    for number in range(10_000):
        seen.of(f"h{number}.test")
    assert len(seen._hosts) <= 1_000
