"""The event that is recorded: which one this machine has, how often it is sampled, and what it can show.

Owns the choice and the words about it.  The table of events is ``pmu.events``'s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from linemate.recording.options import RecordOptions
from pmu.events import EVENT_CHOICES, Addresses, Candidate, EventChoice, candidates, registers_of
from pmu.machine import Machine
from pmu.perfdata.registers import KEPT_STACK_BYTES
from pmu.perftool import Perf, Sampling, trials, try_out
from sharing.judge.numbers import MIN_TIMED
from sharing.model.errors import LinemateError
from sharing.model.recorded import RecordedEvent, RefusedEvent

ENOUGH = MIN_TIMED * 6 // 5  # samples of one busy processor: not all of them stand for time
MOST_HZ = 3989  # on cpu-clock this costs 7 % (docs/record.md): more is for the user to ask for
_MODIFIERS = set("ukhHGPpSDIWe")  # of perf-list(1)


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
    addresses += f" and copies of stacks ({KEPT_STACK_BYTES} bytes)" if sampling.stacks else ""
    modes = "" if sampling.modes == "both" else f", {sampling.modes} mode only"
    return (
        f"event {choice.name} ({', '.join(chosen.events)}), {rate}{modes}: {addresses}",
        f"  shows {choice.shows}",
        f"  cannot show {choice.cannot_show}",
    )


def frequency_of(options: RecordOptions, choice: EventChoice, machine: Machine, busy_s: float | None = None) -> int:
    """The one that is asked for, else the event's own, or more where the time is too short for enough samples.

    ``busy_s`` is the processor time that will be sampled, None for one processor for as long as was asked for.
    """
    if options.frequency_hz:
        return options.frequency_hz
    wanted = choice.frequency_hz
    busy_s = options.duration_s if busy_s is None else busy_s
    if busy_s is not None:
        wanted = max(wanted, min(math.ceil(ENOUGH / max(busy_s, ENOUGH / MOST_HZ)), MOST_HZ))
    return _allowed_hz(wanted, machine)


def _allowed_hz(wanted: int, machine: Machine) -> int:
    return min(wanted, machine.most_samples_per_s or wanted)


def user_only(names: Sequence[str]) -> bool:
    """Whether perf gave its events up to user mode: it says so behind the name, ``cpu-clock:uH``."""
    modifiers = [name.rpartition(":")[2] for name in names if ":" in name and not name.startswith(("mem:", "dummy"))]
    return any("u" in letters and "k" not in letters for letters in modifiers if set(letters) <= _MODIFIERS)


def recorded_event(chosen: Candidate, sampling: Sampling, *, addresses: bool) -> RecordedEvent:
    """What the sidecar says of the event; ``addresses``: samples of the recording have data addresses."""
    choice = chosen.choice
    # Of an event that is not in the table, only the samples tell.
    measured = addresses and choice not in EVENT_CHOICES
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
