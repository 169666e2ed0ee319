"""What can be sampled on some machine, the best evidence first.

Owns the table of events with what each needs, what it can and cannot show, and how perf is asked for it.  Whether a
choice works on this machine is tried (``pmu.perftool``); here only what the machine's own lists rule out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pmu.machine import Machine
from sharing.model.arch import MACHINES, machine_of_uname

# Prime, so that samples do not keep step with a program's own timers.
CLOCK_HZ = 499
COUNTER_HZ = 1999
TIMER = (1, 0)  # perf_event_attr's type and config of cpu-clock
# Cycles from which on a load is sampled: hits in the first two levels are not what lines are lost to.
LOAD_LATENCY_CYCLES = 30


class Addresses(StrEnum):
    """Where the address of a sample's data comes from."""

    MEASURED = "measured"  # the processor recorded it
    DERIVED = "derived"  # computed from the instruction and the sampled registers
    FUNCTION = "function"  # not at all: samples speak of functions only


@dataclass(frozen=True, slots=True)
class EventChoice:
    """One way to sample.

    ``events`` are perf's, with {pmu} for one of ``sources`` that has all of ``needs`` among its events; the source ""
    is none in particular.  ``sparse``: a short trial may see no sample.  ``generic``: perf puts
    another event in the place of one that the kernel does not have, so the recording is asked what it holds.
    """

    name: str
    events: tuple[str, ...]
    addresses: Addresses
    requires: str
    shows: str
    cannot_show: str
    sources: tuple[str, ...] = ("",)
    needs: frozenset[str] = frozenset()
    auxiliary: str = ""  # a source that also has this event is asked for the next instead
    auxiliary_events: tuple[str, ...] = ()
    frequency_hz: int = COUNTER_HZ
    registers: bool = True
    sparse: bool = False
    whole_machine: bool = False  # the event cannot be bound to a process
    decode: tuple[str, ...] = ()  # `perf inject` options that turn what was recorded into samples
    generic: tuple[int, int] | None = None  # perf_event_attr's type and config


_INTEL = ("cpu", "cpu_core", "cpu_atom")
_MEASURED_SHOWS = (
    "the address of the data of each sampled access, as the processor saw it, and where the line was found"
)
_DERIVED_SHOWS = "addresses computed from the registers at the interrupt, for accesses whose operands are still in them"

EVENT_CHOICES: tuple[EventChoice, ...] = (
    EventChoice(
        "intel-pebs",
        (f"{{pmu}}/mem-loads,ldlat={LOAD_LATENCY_CYCLES}/P", "{pmu}/mem-stores/P"),
        Addresses.MEASURED,
        "an Intel processor with PEBS (data linear addresses)",
        f"{_MEASURED_SHOWS}; loads of {LOAD_LATENCY_CYCLES} cycles and more, all stores",
        "loads that hit the first levels",
        sources=_INTEL,
        needs=frozenset({"mem-loads", "mem-stores"}),
        # From Sapphire Rapids on the load latency event counts only in a group with this one.
        auxiliary="mem-loads-aux",
        auxiliary_events=(
            f"{{{{{{pmu}}/mem-loads-aux/,{{pmu}}/mem-loads,ldlat={LOAD_LATENCY_CYCLES}/}}}}:P",
            "{pmu}/mem-stores/P",
        ),
        sparse=True,
    ),
    EventChoice(
        "amd-ibs",
        ("ibs_op//",),
        Addresses.MEASURED,
        "an AMD processor with IBS, and a kernel that binds it to processes (6.2)",
        f"{_MEASURED_SHOWS}, for a random choice of all operations",
        "most samples are of operations without memory: they count time only",
        sources=("ibs_op",),
    ),
    EventChoice(
        "amd-ibs-machine",
        ("ibs_op//",),
        Addresses.MEASURED,
        "an AMD processor with IBS, and the right to record the whole machine",
        f"{_MEASURED_SHOWS}, for a random choice of all operations",
        "most samples are of operations without memory; all other processes are recorded as well",
        sources=("ibs_op",),
        whole_machine=True,
    ),
    EventChoice(
        "arm-spe",
        ("arm_spe_0/ts_enable=1,pa_enable=0,load_filter=1,store_filter=1,jitter=1/",),
        Addresses.MEASURED,
        "an Arm processor with the Statistical Profiling Extension, and a perf that decodes it",
        f"{_MEASURED_SHOWS}, for a random choice of loads and stores",
        "registers: a sample says where and what, not with which values",
        sources=("arm_spe_0",),
        registers=False,
        sparse=True,
        decode=("--itrace=M", "--strip"),
    ),
    EventChoice(
        "modified-line",
        ("mem_load_l3_hit_retired.xsnp_fwd:P",),
        Addresses.MEASURED,
        "an Intel processor whose perf names loads of lines that another core had modified",
        "the address of each sampled load of a line that another core had written: sharing itself",
        "stores, and everything that is not shared",
        sources=("cpu", "cpu_core"),
        sparse=True,
    ),
    EventChoice(
        "llc-misses-precise",
        ("LLC-load-misses:P",),
        Addresses.MEASURED,
        "a processor that records data addresses with its cache events",
        "the address of each sampled load that missed the last level",
        "stores, and lines that move between cores within the last level",
        sparse=True,
    ),
    EventChoice(
        "cache-misses",
        ("cache-misses",),
        Addresses.DERIVED,
        "a processor with counters that the kernel may use",
        f"where caches missed; {_DERIVED_SHOWS}",
        "the exact instruction: samples come some instructions late",
        sparse=True,
        generic=(0, 3),
    ),
    EventChoice(
        "cpu-cycles",
        ("cycles",),
        Addresses.DERIVED,
        "a processor with counters that the kernel may use",
        f"where cycles go, waits for lines among them; {_DERIVED_SHOWS}",
        "whether a cycle was spent on a miss; the exact instruction",
        generic=(0, 0),
    ),
    EventChoice(
        "cpu-clock",
        ("cpu-clock",),
        Addresses.DERIVED,
        "nothing: a timer of the kernel, in virtual machines too",
        f"where processor time goes, waits for lines among them; {_DERIVED_SHOWS}",
        "whether time was spent on a miss; code that runs with interrupts off",
        frequency_hz=CLOCK_HZ,
        generic=TIMER,
    ),
    EventChoice(
        "cpu-clock-functions",
        ("cpu-clock",),
        Addresses.FUNCTION,
        "nothing: a timer of the kernel, on architectures without sampled registers too",
        "which functions processor time goes to",
        "which data they touch",
        frequency_hz=CLOCK_HZ,
        registers=False,
        generic=TIMER,
    ),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A choice on some machine: the events to ask for, or why the machine's own lists rule it out."""

    choice: EventChoice
    events: tuple[str, ...] = ()
    refusal: str = ""


def candidates(machine: Machine) -> Iterator[Candidate]:
    """Every choice in order, the ruled out ones too."""
    for choice in EVENT_CHOICES:
        yield _candidate(choice, machine)


def registers_of(machine: Machine) -> tuple[str, str] | None:
    """perf's names of the registers at the interrupt and of user mode; None where they give no addresses.

    At the interrupt all that an operand can be made of, from user mode those that say where a thread is and, in a
    system call, which futex it waits for (the first argument).
    """
    row = machine_of_uname(machine.architecture)
    if row is None or row.perf is None or row.calls is None or not row.derives:
        return None
    return ",".join(row.perf.operands), ",".join((row.perf.ip, row.perf.stack, row.calls.arguments[0]))


def _candidate(choice: EventChoice, machine: Machine) -> Candidate:
    if choice.addresses is Addresses.DERIVED and registers_of(machine) is None:
        known = ", ".join(row.unames[0] for row in MACHINES if row.derives)
        return Candidate(choice, refusal=f"registers are read of {known}, not of {machine.architecture or 'this one'}")
    if choice.whole_machine and not machine.may_see_all:
        return Candidate(choice, refusal="recording the whole machine needs cap_perfmon or perf_event_paranoid 0")
    if choice.sources == ("",):
        return Candidate(choice, choice.events)
    present = [source for source in choice.sources if source in machine.devices]
    if not present:
        return Candidate(choice, refusal=f"the kernel has no event source {' or '.join(choice.sources)}")
    # A hybrid processor has a source for each kind of core.
    fit = [source for source in present if choice.needs <= machine.devices[source]]
    if not fit:
        missing = sorted(set().union(*(choice.needs - machine.devices[source] for source in present)))
        return Candidate(choice, refusal=f"event source {', '.join(present)} has no event {', '.join(missing)}")
    if not choice.needs:
        return Candidate(choice, choice.events)
    events: list[str] = []
    for source in fit:
        auxiliary = choice.auxiliary and choice.auxiliary in machine.devices[source]
        events += [event.format(pmu=source) for event in (choice.auxiliary_events if auxiliary else choice.events)]
    return Candidate(choice, tuple(events))
