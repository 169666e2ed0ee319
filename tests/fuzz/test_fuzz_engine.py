"""What judges and finds faults: each kind of fault is seen, what is none is not, and a faulty input becomes small."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fuzz.python.engine.judge import Limits, fault_of, limited_address_space
from fuzz.python.engine.mutation import Mutator
from fuzz.python.engine.shrink import shrunk
from fuzz.python.engine.target import Target, input_file, scratch_folder, use_folder
from sharing.model.errors import LinemateError, Malformed

LIMITS = Limits(cpu_s=0.2, memory_bytes=64 << 20)


def target(one: Callable[[bytes], object]) -> Target:
    return Target("a reader made up", one, lambda: (b"seed",))


def kind(one: Callable[[bytes], object], data: bytes = b"data") -> str:
    fault = fault_of(target(one), data, LIMITS)
    return "" if fault is None else fault.kind


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    with limited_address_space():
        yield


def raises(error: BaseException) -> Callable[[bytes], object]:
    def one(data: bytes) -> None:
        raise error

    return one


def test_reading_and_refusing_are_no_faults() -> None:
    assert kind(len) == ""
    assert kind(raises(Malformed("file", 4, "too short"))) == ""


@pytest.mark.parametrize("error", [ValueError("x"), RecursionError(), SystemExit(2), OSError(5, "x")])
def test_any_other_end_is_a_traceback(error: BaseException) -> None:
    assert kind(raises(error)) == "traceback"


@pytest.mark.parametrize("text", ["", " "])
def test_a_message_that_says_nothing_is_a_fault(text: str) -> None:
    assert kind(raises(LinemateError(text))) == "message"


def test_a_very_long_message_loses_its_middle_and_no_other() -> None:
    short = LinemateError("file: " + "x" * 1000)
    assert len(str(short)) == 1006
    long = str(Malformed("file", 4, "unknown key " + "x" * 1_000_000 + " in the end"))
    assert len(long) < 1600
    assert long.startswith("file: offset 0x4: unknown key x")
    assert long.endswith("x in the end")


def test_a_reader_without_end_is_a_hang_even_if_it_catches_everything() -> None:
    def patient(data: bytes) -> None:
        for _ in itertools.count():
            try:
                sum(range(1000))
            except Exception:
                continue

    assert kind(patient) == "hang"


def test_memory_is_seen_whether_it_is_there_or_not() -> None:
    assert kind(lambda data: bytes(1 << 44)) == "memory"
    assert kind(lambda data: bytearray(b"x") * (1 << 20)) == ""
    assert kind(lambda data: bytearray(b"x") * (300 << 20)) == "memory"


def test_faults_of_one_line_have_one_signature() -> None:
    def one(data: bytes) -> None:
        if data:
            raise ValueError(str(data))
        raise ValueError(str(data))

    first, again, other = (fault_of(target(one), data, LIMITS) for data in (b"a", b"b", b""))
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.signature == again.signature
    assert first.signature != other.signature


def test_a_faulty_input_shrinks_to_what_makes_the_fault() -> None:
    assert shrunk(b"much before" + b"BAD" + b"and behind" * 50, lambda data: b"BAD" in data) == b"BAD"


def test_mutations_come_again_with_the_same_seed_only() -> None:
    def first(seed: int) -> list[bytes]:
        mutator = Mutator([b"abcdef", b"0123456789"], [b"word"], 64, seed)
        return [mutator.next() for _ in range(50)]

    again = first(1)
    assert again == first(1)
    assert again != first(2)
    assert all(len(data) <= 64 for data in first(1))


def test_a_grown_input_has_about_the_size_that_was_asked_for() -> None:
    mutator = Mutator([b"a\nb\nc\n"], [b"word"], 64, 1)
    assert all(len(mutator.grown(1000)) + 8 >= 1000 and len(mutator.grown(1000)) < 2000 for _ in range(50))


def test_inputs_as_files_are_gone_afterwards(tmp_path: Path) -> None:
    with scratch_folder() as folder:
        assert input_file(b"x").read_bytes() == b"x"
    assert not folder.exists()
    with use_folder(tmp_path):
        assert input_file(b"y").parent == tmp_path
