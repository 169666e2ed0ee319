"""``record`` as a whole: the event that this machine has, the runs, the files, and what is said about them.

Owns the order of a recording and its sidecar.  How perf is driven is ``pmu.record``'s, what recording costs
``linemate.overhead``'s.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linemate.recording.choice import choose, event_lines, frequency_of, recorded_event, user_only
from linemate.recording.levels import LOGS, Runner, Runs
from linemate.recording.options import RecordOptions, Say
from linemate.recording.probedheap import ProbedHeap, needs_probes
from linemate.recording.transfers import seen_transfers
from linemate.version import __version__
from pmu import read_samples
from pmu.events import TIMER, Addresses
from pmu.heaplog import join_logs
from pmu.machine import Machine, read_machine
from pmu.perftool import Perf, Sampling, check_version, find_perf
from pmu.profilefile import Files, check_replaceable, digest, put_in_place, replacing
from pmu.record import Plan, Recorded, record_running, run_watched
from pmu.sidecar import write_sidecar
from pmu.uprobes import refusal
from pmu.workload import find_command
from sharing.model.errors import LinemateError
from sharing.model.native import native_file
from sharing.model.process.stopping import Stopped, held
from sharing.model.recorded import SCHEMA, MeasuredOverhead, RecordedHeap, RecordedProfile, Recording, RefusedEvent
from sharing.model.samples import Samples

HEAP_RECORDER = "liblinemate-heap.so"
_NOTES = "heap"  # in the folder of a recording: the allocations that all processes noted


def record(options: RecordOptions, say: Say, echo: Say) -> Recording:
    """Record and write the files.  ``say`` takes lines about it, ``echo`` what the command prints where it is kept."""
    _check_target(options)
    perf, machine = find_perf(), read_machine()
    check_version(perf)
    _check_may_see(options, machine)
    plan, refused = _plan(options, perf, machine, say)
    recorder, probed = _heap_ways(options, say)
    for line in event_lines(plan.candidate, plan.sampling):
        say(line)
    overhead = _measure_overhead(options, plan, say) if options.overhead_pairs else ()
    with replacing(options.output, solo=options.solo, heap=options.heap) as files:
        done = _runs(options, plan, Runner(options, plan, files, recorder, probed), say, echo)
        heap = _join_notes(files, say) if recorder is not None else None
        if probed is not None:
            heap = _probed_notes(probed, files, say)
        profiles, contents = _profiles(files, {level: run for level, (_, run) in done.profiled.items()})
        sampling = plan.sampling
        if contents.user_only and sampling.modes == "both":
            sampling = dataclasses.replace(sampling, modes="user")
            say("only user mode was sampled: the kernel allows no more, and waits for locks are not seen (see doctor)")
        recorded = [recorded for recorded, _ in done.profiled.values()]
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
            recorded[0].wall_s,
            any(one.interrupted for one in recorded),
            recorded_event(plan.candidate, sampling, addresses=contents.addresses),
            refused,
            profiles,
            options.metric,
            tuple(done.runs),
            overhead,
            heap,
            options.ignore_affinity,
            seen_transfers(done.runs),
        )
        _keep(files, recording, list(done.profiled))
    return recording


def _plan(options: RecordOptions, perf: Perf, machine: Machine, say: Say) -> tuple[Plan, tuple[RefusedEvent, ...]]:
    """How to record, and the better events that this machine does not have."""
    chosen, refused = choose(perf, machine, options.event, options.modes)
    if options.stacks and chosen.choice.addresses is not Addresses.DERIVED:
        raise LinemateError(
            f"--stacks: event {chosen.choice.name} gives no addresses from registers, which stacks go with"
        )
    busy_s = _trial_s(options.command) if options.trial else None
    frequency_hz = frequency_of(options, chosen.choice, machine, busy_s)
    if busy_s is not None:
        say(f"the trial took {busy_s:.2f} s of processor time: {round(busy_s * frequency_hz):,} samples are expected")
    sampling = Sampling(frequency_hz, options.period, options.modes, options.stacks)
    # Allocations, and code that a runtime makes, are dated by that clock.  Counters that keep buffers of their own do
    # so with the kernel's clock alone.
    clock = "CLOCK_MONOTONIC" if options.heap or chosen.choice.generic == TIMER else ""
    # Levels are compared by time.
    return Plan(perf, machine, chosen, sampling, priority=options.solo, clock=clock), refused


def _trial_s(command: Sequence[str]) -> float:
    """Processor time that a command takes."""
    run = run_watched(command, capture=True)
    if run.interrupted:
        raise Stopped(run.interrupted)
    assert run.ended is not None
    return run.ended.user_s + run.ended.system_s


def _runs(options: RecordOptions, plan: Plan, runner: Runner, say: Say, echo: Say) -> Runs:
    """The runs of the command, or the recording of what runs already."""
    if options.command:
        return runner.run_all(say, echo)
    with contextlib.ExitStack() as beside:
        if runner.probed is not None and options.pid is not None:
            beside.enter_context(runner.probed.watching(options.pid))
        return Runs(profiled={"spread": (_record_running(options, plan, runner.files.part("spread")), 0)})


def _check_target(options: RecordOptions) -> None:
    """Raises LinemateError where there is nothing to record, or the files would replace something else."""
    if options.command:
        find_command(options.command)
    elif options.pid is not None:
        _check_process(options.pid)
    check_replaceable(options.output, solo=options.solo, heap=options.heap)


def _check_process(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        raise LinemateError(f"--pid {pid}: no such process") from None
    except (PermissionError, OverflowError):
        pass


def _check_may_see(options: RecordOptions, machine: Machine) -> None:
    if options.target == "machine" and not machine.may_see_all:
        raise LinemateError(
            "the whole machine needs privileges: run as root, or sysctl kernel.perf_event_paranoid=0; "
            "or name a command or --pid"
        )


def _heap_ways(options: RecordOptions, say: Say) -> tuple[Path | None, ProbedHeap | None]:
    """What notes allocations: a library in the command, or probes where none can be loaded into it."""
    if not options.heap:
        return None, None
    why = needs_probes(options.command) if options.command else "it runs already"
    if not why:
        return _heap_recorder(), None
    refused = refusal()
    if refused and not options.command:
        raise LinemateError(f"--heap --pid: {refused}")
    if refused:
        say(f"no allocation will be noted: {why}, and {refused}")
        return None, None
    said = "; what it has allocated until now has no allocation site" if options.pid is not None else ""
    say(f"allocations are watched by probes: {why}{said}")
    return None, ProbedHeap(say)


def _probed_notes(probed: ProbedHeap, files: Files, say: Say) -> RecordedHeap:
    out = files.part(_NOTES)
    count, left_out = probed.write(read_samples(files.part("spread")), out)
    say(f"{files.heap}: {count:,} beginnings and ends of allocations")
    return RecordedHeap(files.heap.name, out.stat().st_size, digest(out), count, left_out, by="probes")


def _heap_recorder() -> Path:
    found = native_file(HEAP_RECORDER)
    if found is None:
        raise LinemateError(f"--heap: {HEAP_RECORDER} is not built: run scripts/test, or install the package again")
    return found


def _join_notes(files: Files, say: Say) -> RecordedHeap:
    """The notes of all processes of the recorded run as one file."""
    logs, out = files.part(LOGS), files.part(_NOTES)
    joined = join_logs([path for path in logs.iterdir() if path.is_file()], out)
    size = out.stat().st_size
    say(f"{files.heap}: {joined.noted:,} beginnings and ends of allocations")
    if not joined.noted:
        say("no allocation was noted: what was run drops LD_PRELOAD, or starts a program that is linked statically")
    return RecordedHeap(files.heap.name, size, digest(out), joined.noted, joined.left_out)


def _measure_overhead(options: RecordOptions, plan: Plan, say: Say) -> tuple[MeasuredOverhead, ...]:
    from linemate.overhead import measure, overhead_line

    measured = measure(plan, options.command, options.output.parent, options.overhead_pairs, options.metric)
    for row in measured:
        say(overhead_line(row))
    return measured


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


@dataclass(frozen=True, slots=True)
class ProfileContents:
    """What a recording turned out to hold."""

    addresses: bool
    user_only: bool


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
