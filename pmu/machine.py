"""What a machine says about itself: processors, caches, event sources, what may be recorded.

Owns reading ``/proc`` and ``/sys``.  What is not there is unknown (None or ""), never an error: containers hide most of
it.  ``root`` is where both are looked for, so that a machine can be made up.  Does not run anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAX_CPUS = 1 << 16
MAX_FILE_BYTES = 1 << 20
MAX_LINE_BYTES = 4096
# Capabilities that decide what may be recorded, by bit: include/uapi/linux/capability.h.
CAPABILITIES = {
    14: "cap_ipc_lock",
    19: "cap_sys_ptrace",
    21: "cap_sys_admin",
    23: "cap_sys_nice",
    34: "cap_syslog",
    38: "cap_perfmon",
}
_SIZE = re.compile(r"(\d{1,9})([KMG]?)$")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_ARM_IMPLEMENTERS = {"0x41": "Arm", "0x61": "Apple", "0xc0": "Ampere", "0x48": "HiSilicon", "0x4e": "NVIDIA"}


@dataclass(frozen=True, slots=True)
class Cache:
    """One kind of cache, and the processors that have it.  ``line_bytes`` and ``size_bytes`` are 0 where unknown."""

    level: int
    kind: str  # Data, Instruction, Unified
    line_bytes: int
    size_bytes: int
    cpus: tuple[int, ...]
    shared_by: int  # processors on one such cache, 0 unknown


@dataclass(frozen=True, slots=True)
class Machine:
    """``devices`` are the event sources of the kernel, each with the names of its events."""

    architecture: str = ""
    kernel: str = ""
    vendor: str = ""
    model: str = ""
    hypervisor: str = ""  # a name, or "yes"; "" none is known
    paranoid: int | None = None  # kernel.perf_event_paranoid
    kptr_restrict: int | None = None
    most_samples_per_s: int | None = None  # kernel.perf_event_max_sample_rate
    capabilities: frozenset[str] = frozenset()
    cpus: tuple[int, ...] = ()
    cores: tuple[tuple[int, ...], ...] = ()  # processors that are threads of one core
    packages: tuple[tuple[int, ...], ...] = ()
    nodes: tuple[tuple[int, tuple[int, ...]], ...] = ()
    caches: tuple[Cache, ...] = ()
    devices: Mapping[str, frozenset[str]] = field(default_factory=dict)
    autogroup: bool = False  # sessions share the processors, and priorities rank inside of one

    @property
    def line_bytes(self) -> int:
        """The largest line of any cache for data; 0 unknown."""
        return max((cache.line_bytes for cache in self.caches if cache.kind != "Instruction"), default=0)

    @property
    def threads_per_core(self) -> int:
        return max((len(core) for core in self.cores), default=0)

    @property
    def may_see_all(self) -> bool:
        """Other users' processes and the whole machine may be recorded."""
        return bool(self.capabilities & {"cap_perfmon", "cap_sys_admin"}) or (
            self.paranoid is not None and self.paranoid <= 0
        )


def read_machine(root: Path = Path("/")) -> Machine:
    """The machine whose ``proc`` and ``sys`` are under ``root``."""
    proc, sys = root / "proc", root / "sys"
    info = _cpuinfo(proc)
    cpu_root = sys / "devices/system/cpu"
    cpus = cpu_list(_text(cpu_root / "online"))
    return Machine(
        architecture=_text(proc / "sys/kernel/arch") or (os.uname().machine if root == Path("/") else ""),
        kernel=_text(proc / "sys/kernel/osrelease"),
        vendor=info.get("vendor_id", "") or _ARM_IMPLEMENTERS.get(info.get("CPU implementer", ""), ""),
        model=info.get("model name", ""),
        hypervisor=_hypervisor(sys, proc, info),
        paranoid=_number(proc / "sys/kernel/perf_event_paranoid"),
        kptr_restrict=_number(proc / "sys/kernel/kptr_restrict"),
        most_samples_per_s=_number(proc / "sys/kernel/perf_event_max_sample_rate"),
        capabilities=_capabilities(proc),
        cpus=cpus,
        cores=_groups(cpu_root, cpus, "core_cpus_list", "thread_siblings_list"),
        packages=_groups(cpu_root, cpus, "package_cpus_list", "core_siblings_list"),
        nodes=tuple(_nodes(sys / "devices/system/node")),
        caches=_caches(cpu_root, cpus),
        devices=dict(_devices(sys / "bus/event_source/devices")),
        autogroup=_number(proc / "sys/kernel/sched_autogroup_enabled") == 1,
    )


def cpu_list(text: str) -> tuple[int, ...]:
    """The kernel's list format: ``0-3,8``.  What is not one is empty."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            return ()
        low, high = int(first), int(last or first)
        if not low <= high < MAX_CPUS:
            return ()
        found += range(low, high + 1)
    return tuple(sorted(set(found)))


def cpu_words(cpus: tuple[int, ...]) -> str:
    """The inverse of ``cpu_list``."""
    ranges: list[list[int]] = []
    for cpu in cpus:
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def _text(path: Path) -> str:
    """The file's text without its end; "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None


def _cpuinfo(proc: Path) -> dict[str, str]:
    """The first processor's fields."""
    fields: dict[str, str] = {}
    for line in _text(proc / "cpuinfo").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    return fields


def _hypervisor(sys: Path, proc: Path, info: Mapping[str, str]) -> str:
    name = _text(sys / "hypervisor/type") or _text(proc / "device-tree/hypervisor/compatible").strip("\0")
    return name or ("yes" if "hypervisor" in info.get("flags", "").split() else "")


def _capabilities(proc: Path) -> frozenset[str]:
    """The effective ones of this process."""
    for line in _text(proc / "self/status").splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff" and re.fullmatch(r"[0-9a-fA-F]{1,16}", value.strip()):
            mask = int(value.strip(), 16)
            return frozenset(name for bit, name in CAPABILITIES.items() if mask >> bit & 1)
    return frozenset()


def _groups(cpu_root: Path, cpus: tuple[int, ...], *names: str) -> tuple[tuple[int, ...], ...]:
    """Distinct sets of processors; the second name is what kernels before 5.3 call the first."""
    found: dict[tuple[int, ...], None] = {}
    for cpu in cpus:
        for name in names:
            if group := cpu_list(_text(cpu_root / f"cpu{cpu}/topology/{name}")):
                found[group] = None
                break
    return tuple(found)


def _nodes(root: Path) -> Iterator[tuple[int, tuple[int, ...]]]:
    for node in cpu_list(_text(root / "online")):
        yield node, cpu_list(_text(root / f"node{node}/cpulist"))


def _caches(cpu_root: Path, cpus: tuple[int, ...]) -> tuple[Cache, ...]:
    """Caches of all processors; equal ones are one row."""
    found: dict[tuple[int, str, int, int, int], list[int]] = {}
    for cpu in cpus:
        for index in sorted((cpu_root / f"cpu{cpu}/cache").glob("index[0-9]*")):
            level, line = _number(index / "level"), _number(index / "coherency_line_size")
            if level is None or not 0 < level < 10:
                continue
            size = _SIZE.match(_text(index / "size"))
            size_bytes = int(size[1]) * _UNITS[size[2]] if size else 0
            shared = len(cpu_list(_text(index / "shared_cpu_list")))
            key = (level, _text(index / "type") or "Unified", _line_bytes(line), size_bytes, shared)
            found.setdefault(key, []).append(cpu)
    return tuple(
        Cache(level, kind, line, size, tuple(members), shared)
        for (level, kind, line, size, shared), members in sorted(found.items())
    )


def _line_bytes(said: int | None) -> int:
    """A power of two, or 0: nobody can compute with another."""
    return said if said is not None and 0 < said <= MAX_LINE_BYTES and not said & (said - 1) else 0


def _devices(root: Path) -> Iterator[tuple[str, frozenset[str]]]:
    try:
        names = sorted(entry.name for entry in root.iterdir())
    except OSError:
        return
    for name in names:
        try:
            events = frozenset(entry.name for entry in (root / name / "events").iterdir())
        except OSError:
            events = frozenset()
        yield name, events
