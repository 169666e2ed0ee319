"""``record`` as a whole: the event that this machine has, the runs, the files, and what is said about them.

Owns the order of a recording and its sidecar.  How perf is driven is ``pmu.record``'s, what recording costs
``linemate.overhead``'s.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linemate.turns import BackgroundLoad, metric_of
from linemate.version import __version__
from pmu import read_samples
from pmu.events import EVENT_CHOICES, TIMER, Addresses, Candidate, EventChoice, candidates, registers_of
from pmu.heaplog import join_logs
from pmu.machine import Machine, read_machine
from pmu.perftool import Perf, Sampling, check_version, find_perf, trials, try_out
from pmu.profilefile import Files, check_replaceable, digest, put_in_place, replacing
from pmu.record import Plan, Recorded, record_command, record_running, run_watched
from pmu.sidecar import write_sidecar
from pmu.workload import Processors, find_command
from sharing.judge.numbers import MIN_TIMED
from sharing.model.errors import LinemateError
from sharing.model.native import native_file
from sharing.model.process.stopping import held
from sharing.model.recorded import (
    SCHEMA,
    MeasuredOverhead,
    RecordedEvent,
    RecordedHeap,
    RecordedProfile,
    RecordedRun,
    Recording,
    RefusedEvent,
)
from sharing.model.samples import Samples

HEAP_RECORDER = "liblinemate-heap.so"
_LOGS, _NOTES = "heap-logs", "heap"  # in the folder of a recording: of each process, and all of them
ENOUGH = MIN_TIMED * 6 // 5  # samples of one busy processor: not all of them stand for time
ALONE_S, ALONE_TIMES = 10.0, 4.0  # seconds, and times a spread run's: others may take of the one processor
MOST_HZ = 3989  # on cpu-clock this costs 7 % (docs/record.md): more is for the user to ask for
_MODIFIERS = set("ukhHGPpSDIWe")  # of perf-list(1)
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """``event`` "" is the best that works; ``frequency_hz`` and ``period`` 0 the choice's own."""

    output: Path
    command: tuple[str, ...] = ()
    pid: int | None = None
    duration_s: float | None = None
    event: str = ""
    frequency_hz: int = 0
    period: int = 0
    modes: str = "both"
    solo: bool = False
    ignore_affinity: bool = False  # of what COMMAND asks for, in the runs on one processor
    runs: int = 1
    metric: str = ""
    overhead_pairs: int = 0
    heap: bool = False

    @property
    def target(self) -> str:
        return "command" if self.command else "process" if self.pid is not None else "machine"


def record(options: RecordOptions, say: Say, echo: Say) -> Recording:
    """Record and write the files.  ``say`` takes lines about it, ``echo`` what the command prints where it is kept."""
    _check_target(options)
    perf, machine = find_perf(), read_machine()
    check_version(perf)
    if options.target == "machine" and not machine.may_see_all:
        raise LinemateError(
            "the whole machine needs privileges: run as root, or sysctl kernel.perf_event_paranoid=0; "
            "or name a command or --pid"
        )
    chosen, refused = choose(perf, machine, options.event, options.modes)
    sampling = Sampling(frequency_of(options, chosen.choice, machine), options.period, options.modes)
    recorder = _heap_recorder() if options.heap else None
    # Allocations, and code that a runtime makes, are dated by that clock.  Counters that keep buffers of their own do
    # so with the kernel's clock alone.
    clock = "CLOCK_MONOTONIC" if recorder or chosen.choice.generic == TIMER else ""
    plan = Plan(perf, machine, chosen, sampling, priority=options.solo, clock=clock)  # levels are compared by time
    for line in event_lines(chosen, sampling):
        say(line)
    overhead = _measure_overhead(options, plan, say) if options.overhead_pairs else ()
    heap: RecordedHeap | None = None
    with replacing(options.output, solo=options.solo, heap=options.heap) as files:
        if options.command:
            kept, runs = _run_all(options, plan, files, recorder, say, echo)
        else:
            part = files.part("spread")
            kept, runs = {"spread": (_record_running(options, plan, part), 0)}, []
        if recorder is not None:
            heap = _join_notes(files, say)
        profiles, contents = _profiles(files, {level: run for level, (_, run) in kept.items()})
        if contents.user_only and sampling.modes == "both":
            sampling = dataclasses.replace(sampling, modes="user")
            say("only user mode was sampled: the kernel allows no more, and waits for locks are not seen (see doctor)")
        whole = next(iter(kept.values()))[0]
        recording = Recording(
            SCHEMA,
            __version__,
            perf.version,
            machine.kernel,
            machine.architecture,
            machine.line_bytes,
            options.target,
            options.command,
            options.pid,
            whole.wall_s,
            any(recorded.interrupted for recorded, _ in kept.values()),
            _event(chosen, sampling, contents),
            refused,
            profiles,
            options.metric,
            tuple(runs),
            overhead,
            heap,
            options.ignore_affinity,
        )
        _keep(files, recording, list(kept))
    return recording


def _keep(files: Files, recording: Recording, levels: Sequence[str]) -> None:
    """Put all files in place; those of an earlier recording that say nothing about this one are deleted."""
    with held():  # a sidecar of other profiles would be worth nothing
        for level in levels:
            put_in_place(files, level, files.part(level))
        if "solo" not in levels:
            files.drop_earlier(files.solo)
        if recording.heap is None:
            files.drop_earlier(files.heap)
        else:
            os.replace(files.part(_NOTES), files.heap)
        write_sidecar(files.sidecar, recording)


def _check_target(options: RecordOptions) -> None:
    """Raises LinemateError where there is nothing to record, or the files would replace something else."""
    if options.command:
        find_command(options.command)
    elif options.pid is not None:
        _check_process(options.pid)
    check_replaceable(options.output, solo=options.solo, heap=options.heap)


def _heap_recorder() -> Path:
    found = native_file(HEAP_RECORDER)
    if found is None:
        raise LinemateError(f"--heap: {HEAP_RECORDER} is not built: run scripts/test, or install the package again")
    return found


def _join_notes(files: Files, say: Say) -> RecordedHeap:
    """The notes of all processes of the recorded run as one file."""
    logs, out = files.part(_LOGS), files.part(_NOTES)
    joined = join_logs([path for path in logs.iterdir() if path.is_file()], out)
    size = out.stat().st_size
    say(f"{files.heap}: {joined.noted:,} beginnings and ends of allocations")
    if not joined.noted:
        say("no allocation was noted: the program is linked statically, or drops LD_PRELOAD")
    return RecordedHeap(files.heap.name, size, digest(out), joined.noted, joined.left_out)


def _measure_overhead(options: RecordOptions, plan: Plan, say: Say) -> tuple[MeasuredOverhead, ...]:
    from linemate.overhead import measure, overhead_line

    measured = measure(plan, options.command, options.output.parent, options.overhead_pairs, options.metric)
    for row in measured:
        say(overhead_line(row))
    return measured


def choose(perf: Perf, machine: Machine, event: str, modes: str) -> tuple[Candidate, tuple[RefusedEvent, ...]]:
    """The event to record with, and the better ones that this machine does not have."""
    if event:
        candidate = _forced(event, machine)
        if refusal := candidate.refusal or try_out(perf, machine, candidate, modes):
            raise LinemateError(f"--event {event}: {refusal} (linemate doctor lists what works)")
        return candidate, ()
    refused: list[RefusedEvent] = []
    for trial in trials(perf, machine, modes):
        if not trial.refusal:
            return trial.candidate, tuple(refused)
        refused.append(RefusedEvent(trial.candidate.choice.name, trial.refusal))
    last = refused[-1].why if refused else "no event"
    raise LinemateError(f"nothing can be sampled here: {last} (linemate doctor says what to change)")


def _forced(event: str, machine: Machine) -> Candidate:
    """A choice by its name, else perf's own way to name an event."""
    for candidate in candidates(machine):
        if candidate.choice.name == event:
            return candidate
    if event.startswith("-"):
        names = ", ".join(choice.name for choice in EVENT_CHOICES)
        raise LinemateError(f"--event {event}: not an event; linemate's own are {names}")
    registers = registers_of(machine) is not None
    choice = EventChoice(
        event,
        (event,),
        Addresses.DERIVED if registers else Addresses.FUNCTION,
        "that perf knows it",
        "what perf says it counts",
        "what else it cannot show is not known here",
        registers=registers,
        sparse=True,
    )
    return Candidate(choice, choice.events)


def event_lines(chosen: Candidate, sampling: Sampling) -> tuple[str, ...]:
    """What is sampled, and what that can and cannot show."""
    choice = chosen.choice
    rate = f"every {sampling.period} events" if sampling.period else f"{sampling.frequency_hz} samples/s a processor"
    addresses = {
        Addresses.MEASURED: "data addresses are measured",
        Addresses.DERIVED: "data addresses are derived from registers",
        Addresses.FUNCTION: "no data addresses: by function only",
    }[choice.addresses]
    modes = "" if sampling.modes == "both" else f", {sampling.modes} mode only"
    return (
        f"event {choice.name} ({', '.join(chosen.events)}), {rate}{modes}: {addresses}",
        f"  shows {choice.shows}",
        f"  cannot show {choice.cannot_show}",
    )


@dataclass(frozen=True, slots=True)
class ProfileContents:
    """What a recording turned out to hold."""

    addresses: bool
    user_only: bool


def user_only(names: Sequence[str]) -> bool:
    """Whether perf gave its events up to user mode: it says so behind the name, ``cpu-clock:uH``."""
    modifiers = [name.rpartition(":")[2] for name in names if ":" in name and not name.startswith(("mem:", "dummy"))]
    return any("u" in letters and "k" not in letters for letters in modifiers if set(letters) <= _MODIFIERS)


def _event(chosen: Candidate, sampling: Sampling, contents: ProfileContents) -> RecordedEvent:
    choice = chosen.choice
    # Of an event that is not in the table, only the samples tell.
    measured = contents.addresses and choice not in EVENT_CHOICES
    frequency = 0 if sampling.period else sampling.frequency_hz
    return RecordedEvent(
        choice.name,
        chosen.events,
        Addresses.MEASURED.value if measured else choice.addresses.value,
        choice.shows,
        choice.cannot_show,
        frequency,
        sampling.period,
        sampling.modes,
    )


def frequency_of(options: RecordOptions, choice: EventChoice, machine: Machine) -> int:
    """The one that is asked for, else the event's own, or more where the time is too short for enough samples."""
    if options.frequency_hz:
        return options.frequency_hz
    wanted = choice.frequency_hz
    if options.duration_s is not None:
        wanted = max(wanted, min(math.ceil(ENOUGH / options.duration_s), MOST_HZ))
    return _allowed_hz(wanted, machine)


def _allowed_hz(wanted: int, machine: Machine) -> int:
    return min(wanted, machine.most_samples_per_s or wanted)


def _check_process(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        raise LinemateError(f"--pid {pid}: no such process") from None
    except (PermissionError, OverflowError):
        pass


def _record_running(options: RecordOptions, plan: Plan, part: Path) -> Recorded:
    try:
        return record_running(plan, part, pid=options.pid, duration_s=options.duration_s)
    except LinemateError as error:
        if options.pid is None or _owner(options.pid) == os.geteuid():
            raise
        raise LinemateError(
            f"--pid {options.pid}: the process is another user's: run as that user or as root, or record a command of "
            f"your own ({error})"
        ) from error


def _owner(pid: int) -> int:
    """User of a process, -1 unknown."""
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return -1


def _run_all(
    options: RecordOptions, plan: Plan, files: Files, recorder: Path | None, say: Say, echo: Say
) -> tuple[dict[str, tuple[Recorded, int]], list[RecordedRun]]:
    """Every run of the command, levels in turns.  The first of each level is profiled, the others only timed.

    Two loops that pull at one line fall into a step that each sample breaks: what a level takes is what it takes
    without samples.  A run on one processor that takes too long is ended, and is the last of them.
    """
    everywhere = tuple(sorted(os.sched_getaffinity(0)))
    # Interrupts go to the first processor rather than to the last.
    levels = {"spread": everywhere, **({"solo": everywhere[-1:]} if options.solo else {})}
    kept: dict[str, tuple[Recorded, int]] = {}
    runs: list[RecordedRun] = []
    for number in range(options.runs):
        for level, cpus in list(levels.items() if number % 2 == 0 else reversed(levels.items())):
            alone = level == "solo"
            within_s = _most_alone_s(runs) if alone else math.inf
            on = Processors(cpus, stays=alone and options.ignore_affinity)
            background, capture = BackgroundLoad(), bool(options.metric)
            if level in kept:
                recorded = run_watched(
                    options.command, on=on, capture=capture, priority=plan.priority, within_s=within_s
                )
            else:
                env = _noting(files, recorder) if recorder is not None and not alone else None
                part = files.part(level)
                recorded = record_command(
                    plan, options.command, part, on=on, capture=capture, env=env, within_s=within_s
                )
                kept[level] = (recorded, len(runs))
            if recorded.late:
                say(_late(runs[0], within_s))
                del levels[level], kept[level]
                runs = [run for run in runs if run.level != level]
                continue
            background_s = background.seconds()
            runs.append(_run(options, level, cpus, recorded, background_s, echo))
            if recorded.interrupted:
                return kept, runs
    return kept, runs


def _most_alone_s(runs: Sequence[RecordedRun]) -> float:
    """What a run on one processor may take: all processor time of one that was spread, and what it waited."""
    return ALONE_S + ALONE_TIMES * max((run.wall_s + run.user_s + run.system_s for run in runs), default=0.0)


def _late(spread: RecordedRun, within_s: float) -> str:
    return (
        f"the run on one processor had not ended after {within_s:.0f} s, where the one on {len(spread.cpus)} took "
        f"{spread.wall_s:.1f} s, and was ended: threads that spin for each other hand the processor over only when "
        "their time is up; there is no run without sharing, and gains are upper bounds"
    )


def _noting(files: Files, recorder: Path) -> dict[str, str]:
    """What makes a command note its allocations."""
    logs = files.part(_LOGS)
    logs.mkdir()
    others = os.environ.get("LD_PRELOAD", "")
    return {"LD_PRELOAD": f"{recorder}:{others}" if others else str(recorder), "LINEMATE_HEAP": str(logs.absolute())}


def _run(
    options: RecordOptions, level: str, cpus: Sequence[int], recorded: Recorded, background_s: float, echo: Say
) -> RecordedRun:
    ended = recorded.ended
    assert ended is not None
    metric = None
    if options.metric:
        echo(ended.output)
        if ended.status == 0 and not recorded.interrupted:
            metric = metric_of(ended.output, options.metric, options.command[0])
    return RecordedRun(
        level, tuple(cpus), ended.wall_s, ended.user_s, ended.system_s, background_s, ended.status, metric
    )


def _profiles(files: Files, runs: Mapping[str, int]) -> tuple[tuple[RecordedProfile, ...], ProfileContents]:
    """What was recorded, read back: a file that cannot be read is no recording."""
    rows, addresses, restricted = [], False, False
    for level, run in runs.items():
        samples = read_samples(files.part(level))
        rows.append(_profile(files, level, run, samples))
        addresses = addresses or bool(samples.samples["addr"].any())
        restricted = restricted or user_only([event.name for event in samples.events])
    return tuple(rows), ProfileContents(addresses, restricted)


def _profile(files: Files, level: str, run: int, samples: Samples) -> RecordedProfile:
    part = files.part(level)
    seen = sorted({int(cpu) for cpu in set(samples.samples["cpu"].tolist()) if cpu >= 0})
    name = (files.profile if level == "spread" else files.solo).name
    return RecordedProfile(
        level,
        name,
        part.stat().st_size,
        digest(part),
        len(samples.samples),
        samples.counts.lost_samples,
        tuple(seen),
        run,
    )
