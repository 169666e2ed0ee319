"""Attributions and lines made by hand: what a profile of a known program would give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sharing.model.addressspaces import AddressSpaces
from sharing.model.attribution import (
    PLACED_DTYPE,
    THREAD_KEY_DTYPE,
    WITNESS_DTYPE,
    Attribution,
    Basis,
    Module,
    Reason,
    Region,
    Space,
    SpaceKind,
    Table,
    line_keys,
)
from sharing.model.image import AccessKind
from sharing.model.samples import (
    MAPPING_DTYPE,
    SAMPLE_DTYPE,
    THREAD_DTYPE,
    Counts,
    Event,
    Field,
    Recording,
    Registers,
    Samples,
)

CLOCK = Event("cpu-clock", Field.TIME | Field.PERIOD | Field.CPU, 1, 0)
LINE = 0x5000
MS = 1_000_000


@dataclass(frozen=True, slots=True)
class One:
    """A sample (or a witness, with ``beside``): what thread touches which bytes when."""

    thread: int
    time: int  # nanoseconds
    at: int = 0
    size: int = 8
    kind: AccessKind = AccessKind.LOAD
    line: int = LINE
    function: str = "work"
    cpu: int = -2  # that of the thread
    region: Region = Region.HEAP
    link: int = 0
    flags: int = 0
    ip: int = 0x1000
    basis: Basis = Basis.DERIVED
    reason: Reason = Reason.NONE
    event: int = 0
    period: int = 250_000
    weight: int = 0
    uses: int = 0
    sampled: int = 0  # the instruction that the interrupt came to


@dataclass(slots=True)
class Recorded:
    """Samples and the accesses that were seen beside them."""

    samples: list[One] = field(default_factory=list)
    witnesses: list[tuple[int, One]] = field(default_factory=list)  # by time of the sample
    runs: dict[int, range] = field(default_factory=dict)  # of an access, the instructions of its run of code

    def loop(
        self,
        thread: int,
        times: Iterable[int],
        *,
        at: int,
        writes: bool = True,
        function: str = "work",
        line: int = LINE,
        region: Region = Region.HEAP,
        link: int = 0,
    ) -> Recorded:
        """A thread that loads eight bytes again and again, and stores them (which only witnesses show)."""
        for time in times:
            own = One(thread, time, at=at, function=function, line=line, region=region, link=link)
            self.samples.append(own)
            if writes:
                store = One(thread, time, at, 8, AccessKind.STORE, line, function, region=region, link=link)
                self.witnesses.append((time, store))
        return self


def attribution(
    recorded: Recorded, *, events: Sequence[Event] = (CLOCK,), modules: tuple[Module, ...] = ()
) -> Attribution:
    """The tables of one private address space with its threads 100, 101, ... on processors 0, 1, ..."""
    ones = sorted(recorded.samples, key=lambda one: one.time)
    threads = np.zeros(max([o.thread for o in ones] + [o.thread for _, o in recorded.witnesses]) + 1, THREAD_KEY_DTYPE)
    threads["pid"], threads["tid"] = 100, 100 + np.arange(len(threads))
    functions = tuple(dict.fromkeys(o.function for o in [*ones, *(w for _, w in recorded.witnesses)]))
    samples = np.zeros(len(ones), SAMPLE_DTYPE)
    rows = np.zeros(len(ones), PLACED_DTYPE)
    for i, one in enumerate(ones):
        samples[i]["time"], samples[i]["period"], samples[i]["event"] = one.time, one.period, one.event
        samples[i]["ip"] = one.sampled
        samples[i]["weight"], samples[i]["cpu"] = one.weight, one.thread if one.cpu == -2 else one.cpu
        samples[i]["pid"], samples[i]["tid"] = 100, 100 + one.thread
        _fill(rows[i : i + 1], one, functions)
    at = {one.time: i for i, one in enumerate(ones)}
    witnesses = np.zeros(len(recorded.witnesses), WITNESS_DTYPE)
    for i, (time, one) in enumerate(recorded.witnesses):
        witnesses[i]["sample"] = at[time]
        _fill(witnesses[i : i + 1], one, functions)

    def find(keys: Table, line_size: int) -> Table:
        return witnesses[np.isin(line_keys(witnesses["space"], witnesses["place"], line_size), keys)]

    def near(modules: Table, ips: Table) -> tuple[Table, Table]:
        found = [
            (sample, which)
            for which, ip in enumerate(ips.tolist())
            for sample, one in enumerate(ones)
            if one.sampled in recorded.runs.get(ip, range(0))
        ]
        pairs = np.array(found, np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    names = np.zeros(len(threads), THREAD_DTYPE)
    names["tid"], names["pid"] = threads["tid"], threads["pid"]
    empty = np.zeros(0, MAPPING_DTYPE)
    whole = Samples(
        samples,
        tuple(events),
        empty,
        (),
        (),
        names,
        ("worker",),
        (),
        Registers(np.zeros(0, np.uint64), np.zeros(0, np.uint64)),
        AddressSpaces(empty["start"], empty["end"]),
        Counts(),
        Recording("test"),
    )
    return Attribution(
        whole, rows, (Space(SpaceKind.PRIVATE, 100),), threads, functions, modules or (Module("/bin/x"),), find, near
    )


def _fill(row: Table, one: One, functions: Sequence[str]) -> None:
    known = one.basis is not Basis.NONE
    row["place"], row["link"] = one.line + one.at if known else 0, one.link + one.at if one.link else 0
    row["ip"], row["space"], row["thread"] = one.ip, 0 if known else -1, one.thread
    row["function"], row["module"], row["size"] = functions.index(one.function), 0, one.size
    row["data_module"] = 0 if one.link else -1
    row["kind"], row["flags"], row["region"] = one.kind, one.flags, one.region
    row["basis"], row["reason"], row["uses"] = one.basis, one.reason, one.uses


def ticks(count: int, start: float = 0.0, every: float = 0.25, shift: int = 0) -> list[int]:
    """``count`` times, ``every`` milliseconds, from ``start``; ``shift`` nanoseconds keep threads apart."""
    return [round((start + i * every) * MS) + shift for i in range(count)]
