"""Two levels of a made-up program: threads that spend time in instructions, some of them on lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharing.model.addressspaces import SPACE_EVENT_DTYPE, AddressSpaces
from sharing.model.attribution import (
    PLACED_DTYPE,
    THREAD_KEY_DTYPE,
    Attribution,
    Basis,
    Module,
    Region,
    Space,
    SpaceKind,
)
from sharing.model.image import AccessKind
from sharing.model.recorded import RecordedRun
from sharing.model.samples import (
    MAPPING_DTYPE,
    SAMPLE_DTYPE,
    THREAD_DTYPE,
    Counts,
    Event,
    Mode,
    Recording,
    Registers,
    Samples,
)
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import SampledRun
from sharing.sampled.speedup.solo import Level

PERIOD_NS = 250_000
LINE = 0x4040


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one thread at one instruction; ``place`` 0 touches nothing."""

    thread: int
    function: str
    ip: int
    seconds: float
    place: int = 0
    kind: AccessKind = AccessKind.RMW
    kernel: bool = False


def level(spent: Sequence[Spent], *, solo: bool = False, wall_s: float = 0.0, metric: float | None = None) -> Level:
    """Each thread spends its time evenly mixed; spread threads side by side, solo ones in turns of one processor."""
    functions = tuple(sorted({s.function for s in spent}))
    threads = sorted({s.thread for s in spent})
    samples, rows = [], []
    for thread in threads:
        own = [s for s in spent if s.thread == thread]
        counts = [round(s.seconds * 1e9 / PERIOD_NS) for s in own]
        # The k-th of n samples of a kind at the share (k + ½) / n of the thread's time.
        at = np.concatenate([(np.arange(n) + 0.5) / n for n in counts if n] or [np.zeros(0)])
        which = np.concatenate([np.full(n, i) for i, n in enumerate(counts)])[np.argsort(at, kind="stable")]
        for tick, i in enumerate(which.tolist()):
            s = own[i]
            sample, row = np.zeros((), SAMPLE_DTYPE), np.zeros((), PLACED_DTYPE)
            offset = threads.index(thread) / len(threads)
            sample["time"] = round((tick * (len(threads) if solo else 1) + offset) * PERIOD_NS) + 1
            sample["period"], sample["pid"], sample["tid"] = PERIOD_NS, 100, 100 + thread
            sample["cpu"] = 0 if solo else thread % 2
            sample["mode"] = Mode.KERNEL if s.kernel else Mode.USER
            row["ip"], row["thread"], row["function"] = s.ip, threads.index(thread), functions.index(s.function)
            row["data_module"] = -1
            if s.place:
                row["place"] = row["link"] = s.place
                row["size"], row["kind"], row["basis"] = 8, s.kind, Basis.DERIVED
                row["region"], row["data_module"] = Region.STATIC, 0
            samples.append(sample)
            rows.append(row)
    order = np.argsort([int(s["time"]) for s in samples], kind="stable")
    none = np.zeros(0)
    profile = Samples(
        samples=np.array(samples, SAMPLE_DTYPE)[order],
        events=(Event("cpu-clock", type=1, config=0, sample_period=PERIOD_NS),),
        mappings=np.zeros(0, MAPPING_DTYPE),
        paths=(),
        build_ids=(),
        threads=np.zeros(0, THREAD_DTYPE),
        comms=(),
        symbols=(),
        registers=Registers(none.astype(np.uint64), none.astype(np.uint64)),
        spaces=AddressSpaces.replay(np.zeros(0, MAPPING_DTYPE), np.zeros(0, SPACE_EVENT_DTYPE)),
        counts=Counts(),
        recording=Recording("made up"),
    )
    attribution = Attribution(
        samples=profile,
        rows=np.array(rows, PLACED_DTYPE)[order],
        spaces=(Space(SpaceKind.PRIVATE, 100),),
        threads=np.array([(100, 100 + t) for t in threads], THREAD_KEY_DTYPE),
        functions=functions,
        modules=(Module("/bin/program", target=True),),
    )
    user_s = sum(s.seconds for s in spent if not s.kernel)
    system_s = sum(s.seconds for s in spent if s.kernel)
    longest = max(sum(s.seconds for s in spent if s.thread == t) for t in threads)
    wall_s = wall_s or (user_s + system_s if solo else longest)
    run = RecordedRun("solo" if solo else "spread", (0,) if solo else (0, 1), wall_s, user_s, system_s, 0.0, 0, metric)
    return Level(attribution, (run,))


def lines_of(one: Level) -> SampledRun:
    return profile_lines(one.attribution, 64)
