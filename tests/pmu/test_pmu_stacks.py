"""Copies of the user's stack (`perf record --call-graph dwarf`): the words that a sample has, wherever it is kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pmu import read_samples
from sharing.model.samples import Field, Samples
from sharing.sampled.attribution.evaluate import Names, RegisterFile
from sharing.sampled.thinning import thinned
from tests.builders import perfdata as b

IP, SP = 8, 7  # numbers of x86-64 registers in a mask: ip, sp
STACK = 0x7FFF_0000
SAMPLES = 64


def profile(*, big: bool = False, size: int = 32, copied: int = 0) -> b.Builder:
    """Sample ``n`` has the words 1000·n, 1000·n + 1, … on its stack; each fourth was taken in the kernel."""
    attr = b.Attr(sample_type=b.IP | b.TID | b.TIME | b.REGS_USER | b.STACK_USER, regs_user=1 << IP | 1 << SP)
    made = b.Builder([attr], big=big)
    for n in range(SAMPLES):
        words = made.words(*(1000 * n + i for i in range(size // 8)))
        misc = b.USER if n % 4 else 1
        made.sample(misc=misc, ip=0x1000, pid=5, tid=5, time=n + 1, user=[STACK, 0x1000], stack=words, copied=copied)
    return made


def read(path: Path, made: bytes, most: int | None = None) -> Samples:
    path.write_bytes(made)
    return read_samples(path, most=most)


def words(samples: Samples, offset: int) -> list[int]:
    """What is ``offset`` bytes above the stack pointer of each sample, -1 where nobody knows."""
    registers = RegisterFile.of(samples, Names(IP, SP))
    rows = samples.samples[:]
    at = np.arange(len(rows))
    value, known = registers.read_stack(rows, np.full(len(at), STACK + offset, np.uint64), at)
    return np.where(known, value, -1).astype(np.int64).tolist()


def expected(offset: int, numbers: Iterable[int] = range(SAMPLES)) -> list[int]:
    return [1000 * n + offset // 8 if n % 4 else -1 for n in numbers]


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_a_word_of_the_stack_is_where_the_sample_says(tmp_path: Path, big: bool, packed: bool) -> None:
    made = profile(big=big)
    if packed:
        made.compress()
    samples = read(tmp_path / "p", made.file())
    assert samples.events[0].fields & Field.STACK_USER
    assert words(samples, 0) == expected(0)
    assert words(samples, 24) == expected(24)
    for outside in (-8, 32, 1 << 40, 4):
        assert set(words(samples, outside)) == {-1}, f"{outside} bytes above the stack pointer"


def test_what_there_was_room_for_and_was_not_copied_is_not_known(tmp_path: Path) -> None:
    samples = read(tmp_path / "p", profile(copied=16).file())
    assert words(samples, 8) == expected(8)
    assert set(words(samples, 16)) == {-1}


def test_a_sample_without_a_stack_has_no_words(tmp_path: Path) -> None:
    assert set(words(read(tmp_path / "p", profile(size=0).file()), 0)) == {-1}


@pytest.mark.parametrize("size", [32, 4096])
def test_where_only_some_samples_are_kept_their_stacks_are(tmp_path: Path, size: int) -> None:
    samples = read(tmp_path / "p", profile(size=size).file(), most=SAMPLES // 2)
    assert len(samples.samples) <= SAMPLES // 2
    assert words(samples, 24) == expected(24, (samples.samples["time"] - np.uint64(1)).tolist())
    assert set(words(samples, 32 if size == 32 else 1024)) == {-1}, "no more than the innermost frames"


def test_thinning_afterwards_keeps_registers_and_no_stacks(tmp_path: Path) -> None:
    few = thinned(read(tmp_path / "p", profile().file()), SAMPLES // 2)
    assert not few.events[0].fields & Field.STACK_USER
    assert set(words(few, 0)) == {-1}


def test_a_copy_that_claims_more_than_the_profile_has_is_none(tmp_path: Path) -> None:
    samples = read(tmp_path / "p", profile().file())
    last = np.array([len(samples.registers.mapped) - 2], np.int64)
    assert not samples.registers.stack(last, np.zeros(1, np.int64))[1].any()
