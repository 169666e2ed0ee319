"""What is read of a machine: made-up ones, and none at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmu.machine import Machine, cpu_list, cpu_words, read_machine


def test_an_intel_machine(intel: Any) -> None:
    machine = read_machine(intel.root)
    assert (machine.architecture, machine.vendor, machine.hypervisor) == ("x86_64", "GenuineIntel", "")
    assert machine.cpus == (0, 1, 2, 3)
    assert machine.cores == ((0, 1), (2, 3))
    assert machine.threads_per_core == 2
    assert machine.line_bytes == 64
    assert [(cache.level, cache.size_bytes, cache.shared_by) for cache in machine.caches] == [
        (1, 48 << 10, 2),
        (3, 30 << 20, 4),
    ]
    assert machine.devices["cpu"] == {"mem-loads", "mem-stores", "cpu-cycles"}
    assert machine.may_see_all


def test_lines_of_two_sizes_are_two_rows_and_the_larger_counts(arm: Any) -> None:
    machine = read_machine(arm.root)
    assert machine.vendor == "Arm"
    assert [(cache.line_bytes, cache.cpus) for cache in machine.caches] == [(64, (0,)), (128, (1,))]
    assert machine.line_bytes == 128


def test_lines_of_instructions_do_not_count(intel: Any) -> None:
    intel.cache(0, 2, 1, "Instruction", 256, "32K", "0-1")
    assert read_machine(intel.root).line_bytes == 64


def test_a_container_without_sysfs_is_unknown_and_no_error(tmp_path: Path) -> None:
    assert read_machine(tmp_path) == Machine()
    assert not Machine().may_see_all


@pytest.mark.parametrize(
    ("paranoid", "capabilities", "all_of_it"),
    [
        (2, 0, False),
        (1, 0, False),
        (0, 0, True),
        (-1, 0, True),
        (4, 1 << 21, True),
        (4, 1 << 38, True),
        (4, 1 << 19, False),
    ],
)
def test_who_may_record_the_whole_machine(amd: Any, paranoid: int, capabilities: int, all_of_it: bool) -> None:
    amd.put("proc/sys/kernel/perf_event_paranoid", str(paranoid))
    amd.put("proc/self/status", f"CapEff:\t{capabilities:016x}")
    assert read_machine(amd.root).may_see_all is all_of_it


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("sys/devices/system/cpu/online", "0-99999999999"),
        ("sys/devices/system/cpu/online", "3-1"),
        ("sys/devices/system/cpu/online", "zero"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "-3"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "x" * 5000),
        ("sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "100"),
        ("sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "-64"),
        ("proc/sys/kernel/perf_event_paranoid", "very"),
        ("proc/self/status", "CapEff: not hex"),
        ("proc/cpuinfo", "\0\0\0"),
    ],
)
def test_nonsense_is_unknown(intel: Any, path: str, text: str) -> None:
    before = read_machine(intel.root)
    intel.put(path, text)
    after = read_machine(intel.root)
    assert after != before
    assert all(cache.line_bytes in (0, 64) for cache in after.caches)


def test_a_virtual_machine_says_so(amd: Any) -> None:
    assert read_machine(amd.root).hypervisor == ""
    amd.put("proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : fpu hypervisor")
    assert read_machine(amd.root).hypervisor == "yes"
    amd.put("sys/hypervisor/type", "xen")
    assert read_machine(amd.root).hypervisor == "xen"


@given(st.sets(st.integers(0, 300), max_size=40))
def test_lists_of_processors_come_back(cpus: set[int]) -> None:
    ordered = tuple(sorted(cpus))
    assert cpu_list(cpu_words(ordered)) == ordered


def test_this_machine_has_processors_and_lines() -> None:
    machine = read_machine()
    assert machine.architecture
    if not machine.cpus:
        pytest.skip("the kernel shows no processors here (no sysfs)")
    assert set(machine.cpus) <= set(range(4096))
    assert machine.line_bytes in (0, 32, 64, 128, 256)
