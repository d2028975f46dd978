"""The checker must not be talked into a pass: every kind of wrong history is called wrong."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from chaos.history import Fault, FaultKind, Fetch, History, Lease, Page, Request, Snapshot, Visit

from chaos import checker, verdict

HOME, LAMPS = Page("shop.test", "/"), Page("shop.test", "/lamps")
NOON = 1_800_000_000.0


def request(page: Page, at: float, lasting: float = 0.01) -> Request:
    return Request(page, 100 + at, 100 + at + lasting, NOON + at)


def visit(begin: float, end: float, token: int = 1, lease: int = 1) -> Visit:
    return Visit("shop.test", token, lease, NOON + begin, NOON + end)


def good_history() -> History:
    """Two pages, fetched half a second apart by one worker."""
    pages = (HOME, LAMPS)
    return History(
        delay=0.5,
        lease_seconds=3.0,
        expected=frozenset(pages),
        requests=[request(HOME, 1.0), request(LAMPS, 1.5)],
        fetches=[Fetch(HOME, NOON + 1.0, "ok"), Fetch(LAMPS, NOON + 1.499, "ok")],
        visits=[visit(0.9, 2.0)],
        leases=[Lease(1, 4711, NOON + 9, "stopped")],
        snapshots=[Snapshot(page, b"", "a.warc.gz", 0, 1) for page in pages],
        new_pages=list(pages),
    )


def failed(history: History) -> set[str]:
    return {check.name for check in verdict.judge(history) if not check.ok}


def test_a_good_history_passes() -> None:
    assert failed(good_history()) == set()


def test_an_early_request_is_seen() -> None:
    history = good_history()
    history.requests[1] = request(LAMPS, 1.49)
    assert failed(history) == {"gaps below 495 ms", "smallest gap, ms"}
    assert [gap.second.page for gap in checker.early(history)] == [LAMPS]


def test_five_milliseconds_are_forgiven() -> None:
    history = good_history()
    history.requests[1] = request(LAMPS, 1.496)
    assert failed(history) == set()


def test_hosts_have_rhythms_of_their_own() -> None:
    history = good_history()
    other = Page("other.test", "/")
    history.requests.append(request(other, 1.1))
    assert checker.early(history) == []


def test_two_requests_at_once_are_seen() -> None:
    history = good_history()
    history.requests[0] = request(HOME, 1.0, lasting=0.6)
    assert failed(history) == {"most requests at once to a host"}


@pytest.mark.parametrize(
    "visits, count",
    [
        ([visit(0, 2), visit(2, 3, 2)], 0),
        ([visit(0, 2), visit(1.999, 3, 2)], 1),
        ([visit(0, 9), visit(1, 2, 2), visit(3, 4, 3)], 2),
        ([visit(0, 2, lease=1), visit(1, 3, 2, lease=2)], 1),
    ],
)
def test_overlapping_leases_are_counted(visits: Sequence[Visit], count: int) -> None:
    history = good_history()
    history.visits = list(visits)
    assert len(checker.overlaps(history)) == count
    assert ("overlapping leases" in failed(history)) == bool(count)


def test_a_request_that_nobody_had_the_right_to_send_is_seen() -> None:
    history = good_history()
    history.visits = [visit(0.9, 1.2)]
    assert checker.outside_visits(history) == [history.requests[1]]


def test_a_page_never_fetched_is_lost() -> None:
    history = good_history()
    never = Page("shop.test", "/never")
    history.expected |= {never}
    assert checker.lost_pages(history) == {never}
    assert failed(history) == {"pages lost"}


def test_a_page_without_a_snapshot_is_lost() -> None:
    history = good_history()
    del history.snapshots[0]
    assert checker.lost_pages(history) == {HOME}


def test_a_page_that_was_only_refused_is_lost() -> None:
    history = good_history()
    history.fetches[0] = replace(history.fetches[0], outcome="blocked")
    assert checker.lost_pages(history) == {HOME}


def test_a_second_snapshot_is_a_duplicate() -> None:
    history = good_history()
    history.snapshots.append(history.snapshots[0])
    assert failed(history) == {"duplicate snapshots"}


def test_a_page_new_twice_is_seen() -> None:
    history = good_history()
    history.new_pages.append(HOME)
    assert failed(history) == {"pages new twice"}


def test_a_page_fetched_again_though_its_fetch_was_recorded_is_seen() -> None:
    history = good_history()
    history.requests.append(request(HOME, 2.0))
    history.fetches.append(Fetch(HOME, NOON + 2.0, "unchanged"))
    assert failed(history) == {"refetches"}


def test_a_record_without_a_request_is_seen() -> None:
    history = good_history()
    history.fetches.append(Fetch(HOME, NOON + 1.0, "ok"))
    assert failed(history) == {"records without a request"}


class TestUnrecorded:
    """A request was served, no row says so, and the page was fetched again two seconds later."""

    @pytest.fixture
    def history(self) -> History:
        history = good_history()
        history.requests.append(request(LAMPS, 6.0))
        history.fetches[1] = Fetch(LAMPS, NOON + 6.0, "ok")
        history.visits = [visit(0.9, 5.0), visit(5.5, 7.0, 2, lease=2)]
        history.leases.append(Lease(2, 4712, NOON + 9, "stopped"))
        return history

    def test_it_needs_a_fault(self, history: History) -> None:
        assert failed(history) == {"requests without a record, unexplained"}

    @pytest.mark.parametrize("kind", [FaultKind.KILL, FaultKind.STALL])
    def test_its_workers_fault_explains_it(self, history: History, kind: FaultKind) -> None:
        history.faults = [Fault(kind, 4711, NOON + 1.7, NOON + 1.7)]
        assert failed(history) == set()

    def test_another_workers_fault_does_not(self, history: History) -> None:
        history.faults = [Fault(FaultKind.KILL, 4712, NOON + 1.7, NOON + 1.7)]
        assert failed(history) == {"requests without a record, unexplained"}

    def test_a_fault_much_later_does_not(self, history: History) -> None:
        history.faults = [Fault(FaultKind.KILL, 4711, NOON + 4.9, NOON + 4.9)]
        assert failed(history) == {"requests without a record, unexplained"}

    def test_a_crash_of_the_database_explains_it_for_everybody(self, history: History) -> None:
        history.faults = [Fault(FaultKind.POSTGRES, 0, NOON + 1.7, NOON + 3.0)]
        assert failed(history) == set()


def test_a_lease_that_ran_out_needs_a_fault_too() -> None:
    history = good_history()
    history.leases = [Lease(1, 4711, NOON + 5, "expired")]
    assert failed(history) == {"leases lost without a fault"}
    history.faults = [Fault(FaultKind.KILL, 4711, NOON + 2.5, NOON + 2.5)]
    assert failed(history) == set()


class TestNeighbours:
    """Three hosts on one address of two slots."""

    @pytest.fixture
    def history(self) -> History:
        history = good_history()
        history.address_slots = 2
        history.addresses = dict.fromkeys(("shop.test", "inn.test", "mill.test"), "127.0.1.1")
        return history

    def beside(self, history: History, host: str, at: float, lasting: float) -> None:
        page = Page(host, "/")
        history.requests.append(request(page, at, lasting))
        history.fetches.append(Fetch(page, NOON + at, "ok"))
        history.visits.append(Visit(host, 1, 1, NOON + at - 0.1, NOON + at + lasting + 0.1))

    def test_as_many_as_its_slots_pass(self, history: History) -> None:
        self.beside(history, "inn.test", 1.2, 0.6)
        assert checker.most_at_address(history) == 2
        assert checker.most_visits_at_address(history) == 2
        assert failed(history) == set()

    def test_a_request_too_many_is_seen(self, history: History) -> None:
        self.beside(history, "inn.test", 1.2, 0.6)
        self.beside(history, "mill.test", 1.4, 0.6)
        assert checker.most_at_address(history) == 3
        assert "most requests at once to an address" in failed(history)

    def test_a_visit_too_many_is_seen_between_requests(self, history: History) -> None:
        self.beside(history, "inn.test", 1.2, 0.1)
        self.beside(history, "mill.test", 1.25, 0.01)
        assert checker.most_at_address(history) == 2
        assert failed(history) == {"most visits at once at an address"}

    def test_a_claim_that_sent_nothing_takes_no_slot(self, history: History) -> None:
        self.beside(history, "inn.test", 1.2, 0.1)
        history.visits.append(Visit("mill.test", 1, 1, NOON + 1.2, NOON + 1.25))
        assert failed(history) == set()

    def test_other_addresses_have_slots_of_their_own(self, history: History) -> None:
        history.addresses["mill.test"] = "127.0.1.2"
        self.beside(history, "inn.test", 1.2, 0.6)
        self.beside(history, "mill.test", 1.4, 0.6)
        assert failed(history) == set()


class TestPatience:
    """The homepage is refused for eight seconds, and the next page is asked for."""

    @pytest.fixture
    def history(self) -> History:
        history = good_history()
        history.retry_after = 8.0
        history.requests.insert(0, replace(request(HOME, 0.9), status=429))
        history.fetches.insert(0, Fetch(HOME, NOON + 0.9, "blocked"))
        history.visits = [visit(0.8, 1.2), visit(4.0, 12.0, 2, lease=2)]
        history.leases.append(Lease(2, 4712, NOON + 19, "stopped"))
        return history

    def ask_again(self, history: History, at: float) -> None:
        history.requests[1:] = [request(HOME, at), request(LAMPS, at + 0.5)]
        history.fetches[1:] = [Fetch(HOME, NOON + at, "ok"), Fetch(LAMPS, NOON + at + 0.5, "ok")]

    def test_waiting_passes(self, history: History) -> None:
        self.ask_again(history, 8.92)
        assert failed(history) == set()

    def test_every_early_request_is_seen(self, history: History) -> None:
        self.ask_again(history, 5.0)
        assert [intrusion.request.page for intrusion in checker.intrusions(history)] == [
            HOME,
            LAMPS,
        ]
        assert failed(history) == {"requests inside a Retry-After of 8 s"}

    def test_what_was_forgotten_with_its_worker_is_told_apart(self, history: History) -> None:
        self.ask_again(history, 5.0)
        del history.fetches[0]
        history.faults = [Fault(FaultKind.KILL, 4711, NOON + 0.95, NOON + 0.96)]
        assert failed(history) == set()
        assert all(intrusion.residual for intrusion in checker.intrusions(history))

    def test_a_kill_excuses_nobody_once_it_is_written_down(self, history: History) -> None:
        self.ask_again(history, 5.0)
        history.faults = [Fault(FaultKind.KILL, 4711, NOON + 0.95, NOON + 0.96)]
        assert failed(history) == {"requests inside a Retry-After of 8 s"}

    @pytest.mark.parametrize("pid, at", [(4712, 0.95), (4711, 0.85), (4711, 3.5)])
    def test_another_kill_excuses_nobody(self, history: History, pid: int, at: float) -> None:
        self.ask_again(history, 5.0)
        del history.fetches[0]
        history.faults = [Fault(FaultKind.KILL, pid, NOON + at, NOON + at)]
        assert "requests inside a Retry-After of 8 s" in failed(history)

    def test_a_refusal_that_nobody_heard_binds_nobody(self, history: History) -> None:
        self.ask_again(history, 5.0)
        history.requests[0] = replace(history.requests[0], answered=0.0)
        assert checker.intrusions(history) == []

    def test_being_refused_is_no_refetch(self, history: History) -> None:
        self.ask_again(history, 9.0)
        assert checker.refetches(history) == 0

    def test_what_a_refusal_said_is_no_second_snapshot(self, history: History) -> None:
        self.ask_again(history, 9.0)
        history.snapshots.append(replace(history.snapshots[0], verdict="blocked"))
        assert failed(history) == set()
        history.snapshots.append(replace(history.snapshots[0], verdict=None))
        assert failed(history) == {"duplicate snapshots"}
