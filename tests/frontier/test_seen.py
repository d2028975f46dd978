"""The seen filter: exact about what it says, bounded in what it holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from messor.frontier.seen import SeenFilter

hosts = st.sampled_from(["a.test", "b.test", "c.test", "d.test"])
hashes = st.lists(st.integers(0, 30).map(lambda n: bytes([n])), max_size=12)


def at_depth(hashes: list[bytes], depth: int = 1) -> dict[bytes, int]:
    return dict.fromkeys(hashes, depth)


@given(st.lists(st.tuples(hosts, hashes), max_size=40), st.integers(1, 25))
def test_it_knows_only_what_it_was_told_and_keeps_its_bound(
    told: list[tuple[str, list[bytes]]], capacity: int
) -> None:
    seen = SeenFilter(capacity)
    truth: dict[str, set[bytes]] = {}
    for host, new in told:
        seen.learn(host, at_depth(new))
        truth.setdefault(host, set()).update(new)
        assert len(seen) <= capacity
        for known_host, known in truth.items():
            assert seen.of(known_host).keys() <= known
    assert len(seen) == sum(len(seen.of(host)) for host in truth)


terms = st.lists(
    st.one_of(st.tuples(hosts, hashes), st.tuples(hosts, st.integers(1, 3))), max_size=60
)


@given(terms, st.integers(1, 25))
def test_under_new_terms_nothing_is_known(
    told: list[tuple[str, list[bytes] | int]], capacity: int
) -> None:
    seen = SeenFilter(capacity)
    truth: dict[str, set[bytes]] = {}
    under: dict[str, int] = {}
    for host, said in told:
        if isinstance(said, int):
            seen.meet(host, said)
            if under.get(host) != said:
                truth.pop(host, None)
            under[host] = said
        else:
            seen.learn(f"www.{host}:8080", at_depth(said))
            truth.setdefault(host, set()).update(said)
        for met in ("a.test", "b.test", "c.test", "d.test"):
            assert seen.of(f"www.{met}:8080").keys() <= truth.get(met, set())
    assert len(seen) == sum(len(seen.of(f"www.{host}:8080")) for host in truth) <= capacity
    assert sum(map(len, seen._names.values())) == len(seen._hosts)


def test_new_terms_are_of_all_hosts_of_a_domain_and_of_no_other() -> None:
    seen = SeenFilter()
    named = ["a.test", "www.a.test", "shop.a.test:8443", "a.test.", "b.test", "aa.test"]
    seen.meet("a.test", 1)
    for host in named:
        seen.learn(host, {b"1": 1})
    seen.meet("a.test", 1)
    assert len(seen) == 6
    seen.meet("a.test", 2)
    assert [host for host in named if seen.of(host)] == ["b.test", "aa.test"]


def test_within_its_bound_it_forgets_nothing() -> None:
    seen = SeenFilter(100)
    for number in range(10):
        seen.learn(f"h{number}.test", {bytes([n]): 1 for n in range(10)})
    assert all(len(seen.of(f"h{n}.test")) == 10 for n in range(10))


def test_the_host_used_longest_ago_goes_first() -> None:
    seen = SeenFilter(4)
    seen.learn("old.test", {b"1": 1, b"2": 1})
    seen.learn("used.test", {b"1": 1})
    seen.of("old.test")
    seen.learn("new.test", {b"1": 1, b"2": 1})
    assert seen.of("old.test").keys() == {b"1", b"2"}
    assert not seen.of("used.test")


def test_asking_for_strangers_does_not_grow_it() -> None:
    seen = SeenFilter(10)
    for number in range(10_000):
        seen.of(f"h{number}.test")
    assert len(seen._hosts) <= 1_000


def test_a_url_is_known_at_the_least_depth_learned_and_below() -> None:
    seen = SeenFilter()
    seen.learn("a.test", {b"1": 3})
    assert [seen.knows("a.test", b"1", depth) for depth in (1, 2, 3, 4)] == [
        False,
        False,
        True,
        True,
    ]
    seen.learn("a.test", {b"1": 2})
    seen.learn("a.test", {b"1": 4})
    assert [seen.knows("a.test", b"1", depth) for depth in (1, 2, 3)] == [False, True, True]
    assert not seen.knows("b.test", b"1", 9)
    assert len(seen) == 1
