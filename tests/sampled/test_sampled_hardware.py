"""Profiles of processors that record addresses (Intel PEBS, AMD IBS, Arm SPE), byte by byte: from file to verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from elfscan.fileformat.elf import ElfFile, map_file
from pmu import read_samples
from sharing.model.finding import Confidence, Severity, Verdict
from sharing.model.samples import Event
from sharing.sampled.speedup.solo import Level, read_levels
from tests.builders import perfdata as b
from tests.builders.elf import ALLOC, EXEC, FUNC, WRITE, ElfBuilder
from tests.builders.recorded import CLOCK, One, Recorded, attribution, ticks
from tests.sampled.conftest import report, sampled

CODE, DATA, PAIR = 0x401000, 0x402000, 0x402040  # two counters of eight bytes
EXACT = b.USER | 1 << 14
IBS, SPE = 11, 10  # numbers of event sources, which differ from machine to machine
MEMORY = b.IDENTIFIER | b.IP | b.TID | b.TIME | b.ADDR | b.CPU | b.PERIOD | b.DATA_SRC


def pebs() -> b.Builder:
    """Loads with their latency and stores are events of their own (mem-loads, mem-stores)."""
    kind = MEMORY | b.WEIGHT_STRUCT
    precise = b.SAMPLE_ID_ALL | 2 << 15
    loads = b.Attr(type=4, config=0x1CD, config1=30, sample_type=kind, ids=(1,), flags=precise)
    stores = b.Attr(type=4, config=0x2CD, sample_type=kind, ids=(2,), flags=precise)
    return b.Builder([loads, stores])


def ibs() -> b.Builder:
    """One event for all operations, most of which touch no memory."""
    return b.Builder([b.Attr(type=IBS, sample_type=MEMORY | b.WEIGHT | b.RAW, ids=(1,), flags=b.SAMPLE_ID_ALL)])


def spe() -> b.Builder:
    """What perf makes of the trace: without registers, every sample one operation."""
    return b.Builder([b.Attr(type=SPE, sample_type=MEMORY | b.WEIGHT, ids=(1,), flags=b.SAMPLE_ID_ALL)])


def recorded(made: b.Builder, folder: Path, *, apart: int = 8) -> tuple[Path, Path]:
    """Thread 6 writes a counter while thread 7 reads and writes one ``apart`` bytes behind it."""
    target, profile = folder / "server", folder / "p.data"
    elf = ElfBuilder()
    text = elf.section(".text", b"\x90" * 64, flags=ALLOC | EXEC, address=CODE, align=16)
    data = elf.section(".data", bytes(256), flags=ALLOC | WRITE, address=DATA, align=64)
    elf.segment(1, 5, text)
    elf.segment(1, 6, data)
    elf.symbol("main", text, CODE, 32, FUNC)
    elf.symbol("pair", data, PAIR, 16)
    target.write_bytes(elf.bytes())
    for load in ElfFile(str(target), map_file(str(target))).loads:
        start, size, offset = (int(load[name]) for name in ("address", "size", "offset"))
        made.mmap2(5, start, size, offset, str(target), time=1)
    stored = len(made.attrs) - 1
    for step in range(400):
        now = 1000 + 500_000 * step
        write = {"addr": PAIR, "data_src": b.STORE | b.HIT | b.L1, "weight": 20}
        read = {"addr": PAIR + apart, "data_src": b.LOAD | b.HIT | b.L3 | b.HITM, "weight": 300}
        own = {"addr": PAIR + apart, "data_src": b.STORE | b.HIT | b.L1, "weight": 20}
        else_where = {"addr": DATA, "data_src": b.LOAD | b.HIT | b.L1, "weight": 5}
        turns = ((6, stored, write), (7, 0, read), (6, 0, else_where), (7, stored, own))
        for turn, (tid, which, has) in enumerate(turns):
            at = now + 100_000 * turn
            made.sample(which, EXACT, ip=CODE + tid, pid=5, tid=tid, cpu=tid - 6, time=at, period=1000, **has)
        if made.attrs[0].type == IBS:
            made.sample(0, EXACT, ip=CODE + 20, pid=5, tid=6, cpu=0, time=now + 50_000, period=1000)
    profile.write_bytes(made.file())
    return target, profile


@pytest.mark.parametrize("processor", [pebs, ibs, spe])
def test_addresses_that_the_processor_recorded_tell_who_disturbs_whom(
    tmp_path: Path, processor: Callable[[], b.Builder]
) -> None:
    target, profile = recorded(processor(), tmp_path)
    assert read_samples(profile).counts.skipped_samples == 0
    finding = sampled(report(target, profile))[0]
    assert (finding.verdict, finding.confidence) == (Verdict.FALSE_SHARING, Confidence.SAMPLED)
    assert finding.severity.rank >= Severity.MEDIUM.rank
    assert {p.full_name.partition("+")[0] for p in finding.participants} == {"pair"}


@pytest.mark.parametrize("processor", [pebs, ibs, spe])
def test_the_same_accesses_on_lines_of_their_own_are_none(tmp_path: Path, processor: Callable[[], b.Builder]) -> None:
    assert sampled(report(*recorded(processor(), tmp_path, apart=64))) == []


@pytest.mark.parametrize(("event", "period"), [(CLOCK, 250_000), (replace(CLOCK, name="ibs_op", type=IBS), 7)])
def test_a_sample_of_what_is_no_clock_stands_for_the_time_up_to_the_next_one(event: Event, period: int) -> None:
    samples = Recorded([One(thread, at, period=period) for thread in (0, 1) for at in ticks(100, shift=thread)])
    (times,) = read_levels([Level(attribution(samples, events=[event]))])
    assert times.seconds.sum() == pytest.approx(2 * 100 * 0.25e-3)
