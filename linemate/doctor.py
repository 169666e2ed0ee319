"""``doctor``: what this machine can record, why not more, and what to change.

Owns the document and its advice.  Facts come from ``pmu.machine`` and ``pmu.perftool``; wording for a terminal is
``linemate.doctor_text``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from elfscan.tools import helper_confinement
from pmu.events import Addresses
from pmu.machine import Machine, cpu_words, read_machine
from pmu.perftool import INSTALL, OLDEST, Perf, Trial, find_perf, trials
from sharing.model.arch import machine_of_uname
from sharing.model.arch.row import MemorySampler
from sharing.model.errors import LinemateError

SCHEMA = "linemate-doctor-1"


class EventState(msgspec.Struct, frozen=True):
    """One of ``pmu.events``' choices.  ``refusal`` is "" where it works."""

    name: str
    events: tuple[str, ...]
    works: bool
    refusal: str
    requires: str
    addresses: str
    shows: str
    cannot_show: str


class CacheState(msgspec.Struct, frozen=True):
    level: int
    kind: str
    line_bytes: int  # 0 unknown
    size_bytes: int  # 0 unknown
    shared_by: int  # processors on one such cache, 0 unknown
    cpus: str


class Advice(msgspec.Struct, frozen=True):
    """What better evidence takes; ``command`` "" where no command does it."""

    why: str
    command: str


class Diagnosis(msgspec.Struct, frozen=True):
    schema: str
    kernel: str
    architecture: str
    vendor: str
    model: str
    hypervisor: str
    perf_path: str
    perf_version: str
    perf_error: str
    confinement: str  # of what reads binaries and source
    perf_event_paranoid: int | None
    kptr_restrict: int | None
    most_samples_per_s: int | None
    capabilities: tuple[str, ...]
    event_sources: tuple[str, ...]
    cpus: str
    cores: tuple[str, ...]
    packages: tuple[str, ...]
    nodes: tuple[str, ...]
    threads_per_core: int
    line_bytes: int
    caches: tuple[CacheState, ...]
    events: tuple[EventState, ...]
    best: str  # the choice that record takes, "" none
    remarks: tuple[str, ...]
    advice: tuple[Advice, ...]


def diagnose(root: Path = Path("/")) -> Diagnosis:
    """Look at the machine under ``root`` with the perf on PATH."""
    machine = read_machine(root)
    perf, error = _perf()
    states = tuple(_state(trial) for trial in (trials(perf, machine) if perf else ()))
    best = next((state.name for state in states if state.works), "")
    return Diagnosis(
        SCHEMA,
        machine.kernel,
        machine.architecture,
        machine.vendor,
        machine.model,
        machine.hypervisor,
        perf.path if perf else "",
        perf.version if perf else "",
        error,
        _confinement(),
        machine.paranoid,
        machine.kptr_restrict,
        machine.most_samples_per_s,
        tuple(sorted(machine.capabilities)),
        tuple(sorted(machine.devices)),
        cpu_words(machine.cpus),
        tuple(map(cpu_words, machine.cores)),
        tuple(map(cpu_words, machine.packages)),
        tuple(f"{number}: {cpu_words(cpus)}" for number, cpus in machine.nodes),
        machine.threads_per_core,
        machine.line_bytes,
        tuple(
            CacheState(c.level, c.kind, c.line_bytes, c.size_bytes, c.shared_by, cpu_words(c.cpus))
            for c in machine.caches
        ),
        states,
        best,
        tuple(_remarks(machine)),
        tuple(_advice(machine, perf, error, states)),
    )


def _perf() -> tuple[Perf | None, str]:
    try:
        return find_perf(), ""
    except LinemateError as error:
        return None, str(error)


def _confinement() -> str:
    try:
        return helper_confinement()
    except LinemateError as error:
        return f"unknown: {error}"


def _state(trial: Trial) -> EventState:
    choice = trial.candidate.choice
    return EventState(
        choice.name,
        trial.candidate.events or choice.events,
        not trial.refusal,
        trial.refusal,
        choice.requires,
        choice.addresses.value,
        choice.shows,
        choice.cannot_show,
    )


def _remarks(machine: Machine) -> Iterator[str]:
    """What the hardware means for verdicts."""
    if not machine.caches:
        yield "the kernel does not tell the size of a line here: linemate takes the architecture's"
    sizes = sorted({cache.line_bytes for cache in machine.caches if cache.line_bytes})
    if len(sizes) > 1:
        where = "; ".join(f"{size}: {_who_has(machine, size)}" for size in sizes)
        yield f"lines are not of one size ({where}): analyse with --line-size {sizes[-1]}, which is safe for all"
    if any(cache.line_bytes == 0 for cache in machine.caches):
        yield "the kernel does not tell the line size of every cache"
    if machine.vendor == "GenuineIntel":
        yield (
            "Intel processors fetch lines in aligned pairs (adjacent-line prefetch, on unless the firmware or bit 1 of "
            "MSR 0x1a4 turns it off): data on the other line of 128 bytes may still be disturbed"
        )
    if machine.threads_per_core > 1:
        yield (
            "threads of one core share its caches: two that land there show no false sharing; "
            "bind threads to different cores when you compare"
        )
    if len(machine.cpus) == 1:
        yield "there is one processor: nothing can be shared between caches, recordings show no false sharing"
    if machine.autogroup:
        yield (
            "sessions share the processors (kernel.sched_autogroup_enabled): a priority ranks only inside of one, so "
            "what compares speed raises the group of its session meanwhile, where it may"
        )
    if len(machine.nodes) > 1:
        yield "there are several memory nodes: a line that moves between them costs several times as much"


def _who_has(machine: Machine, size: int) -> str:
    names = dict.fromkeys(
        f"L{cache.level} {cache.kind.lower()} of {cpu_words(cache.cpus)}"
        for cache in machine.caches
        if cache.line_bytes == size
    )
    return ", ".join(names)


def _advice(machine: Machine, perf: Perf | None, error: str, states: tuple[EventState, ...]) -> Iterator[Advice]:
    """The most needed first."""
    if perf is None:
        missing = "not on PATH" in error
        yield Advice(f"nothing can be recorded: {error}", "apt install linux-perf" if missing else "")
    elif perf.number < OLDEST:
        yield Advice(f"perf {perf.version} is older than 5.10, which recording needs ({INSTALL})", "")
    elif not perf.buildid_mmap:
        yield Advice(
            "perf or the kernel is older than 5.12: build-ids are read from the files after a recording",
            "",
        )
    yield from _advice_on_rights(machine, perf)
    works = {state.name for state in states if state.works}
    if perf is not None and not works:
        yield Advice(
            "no event can be opened: in a container, its runtime forbids it",
            "docker run --cap-add PERFMON --security-opt seccomp=unconfined …",
        )
    if any(state.works and state.addresses == Addresses.MEASURED.value for state in states):
        return
    counters = works & {"cache-misses", "cpu-cycles"}
    if machine.hypervisor and not counters:
        yield Advice(
            "a virtual machine without hardware counters: data addresses are derived, not measured; record on the "
            "host, on a bare-metal instance, or give the guest counters",
            f"qemu-system-{machine.architecture} -cpu host,pmu=on …",
        )
    elif machine.vendor == "AuthenticAMD" and "ibs_op" not in machine.devices:
        yield Advice("no IBS: the firmware may have it off, guests do not get it; it measures data addresses", "")
    elif machine.vendor == "GenuineIntel" and not any("mem-loads" in events for events in machine.devices.values()):
        yield Advice("no memory events: guests get them only with PEBS passed through; record on the host", "")
    elif (sampler := _sampler(machine)) is not None and sampler.device not in machine.devices:
        yield Advice(f"no {sampler.name}: its driver may not be loaded", f"modprobe {sampler.module}")


def _sampler(machine: Machine) -> MemorySampler | None:
    row = machine_of_uname(machine.architecture)
    return row.sampler if row is not None else None


def _advice_on_rights(machine: Machine, perf: Perf | None) -> Iterator[Advice]:
    privileged = bool(machine.capabilities & {"cap_perfmon", "cap_sys_admin"})
    paranoid = machine.paranoid
    if paranoid is None:
        yield Advice("kernel.perf_event_paranoid cannot be read: what may be recorded shows only in trying", "")
    elif not privileged and paranoid > 2:
        yield Advice(
            f"perf_event_paranoid is {paranoid}: only root may record", "sysctl -w kernel.perf_event_paranoid=1"
        )
    elif not privileged and paranoid > 1:
        yield Advice(
            f"perf_event_paranoid is {paranoid}: no samples in the kernel, so waits for a lock are not seen",
            "sysctl -w kernel.perf_event_paranoid=1",
        )
    if not privileged and perf is not None and paranoid is not None and paranoid > 1:
        yield Advice("or give perf the right alone", f"setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep {perf.path}")
    if machine.kptr_restrict and "cap_syslog" not in machine.capabilities:
        yield Advice(
            f"kptr_restrict is {machine.kptr_restrict}: functions of the kernel have no address",
            "sysctl -w kernel.kptr_restrict=0",
        )
