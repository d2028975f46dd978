from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

import pytest
from fuzz.cage import Cage
from fuzz.growth import find_outgrowth
from fuzz.hunt import Haul, Hunt
from fuzz.mutate import MAX_SIZE, Mutator, Sample
from fuzz.seeds import load_seeds
from fuzz.targets import TARGETS, BrokenInvariantError

from fuzz import run, targets


class EnoughError(Exception):
    """The hunt need not go on."""


def quadratic(data: bytes) -> None:
    for _ in range(data.count(b"a") // 4):
        data.count(b"a")


@pytest.mark.parametrize("name", list(TARGETS))
def test_a_short_hunt_finds_nothing(name: str) -> None:
    haul = Cage(name, TARGETS[name], load_seeds(name), seed=3).run(3)
    assert haul.inputs > 0  # how many depends on the machine
    assert not haul.findings


def test_a_planted_exception_is_caught_once_with_its_input() -> None:
    def planted(data: bytes) -> None:
        if b"//" in data:
            raise KeyError(data)

    haul = Hunt("url", planted, load_seeds("url"), seed=0).run(2)
    (found,) = haul.findings.values()
    assert found.kind == "exception"
    assert "KeyError" in found.sentence
    assert "planted" in found.sentence
    assert b"//" in found.data
    assert found.times_seen > 1


def test_a_broken_invariant_is_told_apart_from_an_exception() -> None:
    def planted(data: bytes) -> None:
        raise BrokenInvariantError("two is two")

    haul = Hunt("suffix", planted, [b"x"], seed=0).run(1)
    assert [(found.kind, found.sentence) for found in haul.findings.values()] == [
        ("invariant", "two is two")
    ]


def test_a_crash_is_a_finding_with_its_input_and_the_hunt_goes_on() -> None:
    def planted(data: bytes) -> None:
        if data == b"odd":
            raise KeyError(data)
        if data.startswith(b"bad"):
            os.kill(os.getpid(), signal.SIGKILL)

    haul = Cage("suffix", planted, [b"odd", b"bad.example", b"co.uk"], seed=0).run(5)
    exception, crash = haul.findings.values()
    assert "KeyError" in exception.sentence
    assert (crash.kind, crash.data[:3]) == ("crash", b"bad")
    assert "SIGKILL" in crash.sentence
    assert crash.times_seen > 1
    assert haul.inputs > 10


def test_a_call_that_does_not_return_is_a_finding_with_its_input() -> None:
    def planted(data: bytes) -> None:
        while data == b"endless":
            pass

    haul = Cage("suffix", planted, [b"x", b"endless"], seed=0, grace_seconds=3).run(0.5)
    (found,) = haul.findings.values()
    assert (found.kind, found.data) == ("hang", b"endless")


def test_a_planted_quadratic_function_is_caught() -> None:
    sample = Sample(b"x" + b"a" * 8192 + b"y", 1, 8193)
    # What others do on the machine may hide it now and then.
    looks = (find_outgrowth(quadratic, sample) for _ in range(10))
    found = next((look for look in looks if look is not None), None)
    assert found is not None
    assert found.seconds[-1] > 0.05
    assert "B" in str(found)


def test_a_hunt_comes_upon_a_quadratic_function_by_itself() -> None:
    hunt = Hunt("url", quadratic, [b"http://a/"], seed=0)

    def enough(_: Haul) -> None:
        raise EnoughError

    hunt.on_finding = enough
    with pytest.raises(EnoughError):
        hunt.run(120)
    assert [found.kind for found in hunt.haul.findings.values()] == ["growth"]


def test_a_linear_function_is_not_suspected() -> None:
    def linear(data: bytes) -> None:
        for _ in range(40):
            sorted(data)

    assert find_outgrowth(linear, Sample(b"a" * 8192, 0, 8192)) is None


def test_mutations_are_the_same_for_the_same_seed_and_bounded() -> None:
    seeds = load_seeds("page")
    one, other = (Mutator("page", seeds, Random(5)) for _ in range(2))
    samples = [one.next() for _ in range(300)]
    assert samples == [other.next() for _ in range(300)]
    assert max(len(sample.data) for sample in samples) <= 2 * MAX_SIZE
    assert any(sample.end for sample in samples)


def test_built_in_seeds_do_without_the_corpora(tmp_path: Path) -> None:
    for name in TARGETS:
        assert load_seeds(name, tmp_path / "none")


def test_the_command_saves_what_it_finds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["--minutes", "0.05", "--target", "suffix"]) == 0

    def planted(data: bytes) -> None:
        raise ValueError

    monkeypatch.setitem(targets.TARGETS, "suffix", planted)
    assert run.main(["--minutes", "0.05", "--target", "suffix"]) == 1
    folder = Path(capsys.readouterr().out.rpartition("Offending inputs: ")[2].strip())
    assert [path.name for path in folder.iterdir()] == ["suffix-0-exception.bin"]
