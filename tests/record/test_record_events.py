"""Which event a machine gets, and why not a better one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linemate.recording.choice import choose
from pmu.events import EVENT_CHOICES, Addresses, candidates
from pmu.machine import Machine, read_machine
from pmu.perftool import Sampling, check_version, find_perf, reason, sampling_options, trials
from sharing.model.errors import LinemateError

CLOCK = {"type": 1, "config": 0, "samples": 3, "regs": True}
PEBS = "cpu/mem-loads,ldlat=30/P"
STORES = "cpu/mem-stores/P"


def chosen(machine: Any, modes: str = "both") -> tuple[str, dict[str, str]]:
    """The event that is taken, and the reasons against the better ones."""
    candidate, refused = choose(find_perf(), read_machine(machine.root), "", modes)
    return candidate.choice.name, {row.name: row.why for row in refused}


def test_intel_gets_precise_loads_and_stores(intel: Any, fake_perf: Any) -> None:
    fake_perf.says({PEBS: {"type": 4, "samples": 2, "addr": 0x5000}, STORES: {"type": 4}})
    assert chosen(intel) == ("intel-pebs", {})
    record = fake_perf.calls[-1]
    assert [record[at + 1] for at, part in enumerate(record) if part == "-e"] == [PEBS, STORES]
    assert "-W" in record


def test_loads_of_sapphire_rapids_come_in_a_group_with_their_auxiliary_event(intel: Any, fake_perf: Any) -> None:
    intel.put("sys/bus/event_source/devices/cpu/events/mem-loads-aux", "event=0x03,umask=0x82")
    group = "{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=30/}:P"
    fake_perf.says({group: {"type": 4, "samples": 2, "addr": 0x5000}, STORES: {"type": 4}})
    assert chosen(intel)[0] == "intel-pebs"


def test_both_kinds_of_cores_of_a_hybrid_are_sampled() -> None:
    both = frozenset({"mem-loads", "mem-stores"})
    machine = Machine("x86_64", devices={"cpu_core": both | {"mem-loads-aux"}, "cpu_atom": both})
    pebs = next(candidate for candidate in candidates(machine) if candidate.choice.name == "intel-pebs")
    assert pebs.events == (
        "{cpu_core/mem-loads-aux/,cpu_core/mem-loads,ldlat=30/}:P",
        "cpu_core/mem-stores/P",
        "cpu_atom/mem-loads,ldlat=30/P",
        "cpu_atom/mem-stores/P",
    )


def test_an_intel_guest_without_memory_events_goes_down_the_ladder(intel: Any, fake_perf: Any) -> None:
    (intel.root / "sys/bus/event_source/devices/cpu/events/mem-loads").unlink()
    fake_perf.says({"cycles": {"type": 0, "config": 0, "samples": 3, "regs": True}})
    name, refused = chosen(intel)
    assert name == "cpu-cycles"
    assert refused["intel-pebs"] == "event source cpu has no event mem-loads"
    assert refused["cache-misses"] == "The event is not supported."


def test_amd_gets_ibs_bound_to_the_process(amd: Any, fake_perf: Any) -> None:
    fake_perf.says({"ibs_op//": {"type": 9, "samples": 2, "addr": 0x5000}})
    assert chosen(amd)[0] == "amd-ibs"


def test_ibs_that_cannot_be_bound_records_the_machine(amd: Any, fake_perf: Any) -> None:
    fake_perf.says({"ibs_op//": {"type": 9, "samples": 2, "addr": 0x5000, "machine_only": True}})
    name, refused = chosen(amd)
    assert name == "amd-ibs-machine"
    assert "cannot be bound to a process" in refused["amd-ibs"]


def test_but_not_without_the_right_to(amd: Any, fake_perf: Any) -> None:
    amd.put("proc/self/status", "CapEff:\t0")
    fake_perf.says({"ibs_op//": {"type": 9, "samples": 2, "addr": 0x5000, "machine_only": True}, "cpu-clock": CLOCK})
    name, refused = chosen(amd)
    assert name == "cpu-clock"
    assert "cap_perfmon" in refused["amd-ibs-machine"]


def test_ibs_without_data_addresses_is_refused(amd: Any, fake_perf: Any) -> None:
    fake_perf.says({"ibs_op//": {"type": 9, "samples": 2}, "cpu-clock": CLOCK})
    name, refused = chosen(amd)
    assert name == "cpu-clock"
    assert refused["amd-ibs"] == "samples have no data addresses"


def test_spe_is_decoded_before_it_counts(arm: Any, fake_perf: Any) -> None:
    spe = "arm_spe_0/ts_enable=1,pa_enable=0,load_filter=1,store_filter=1,jitter=1/"
    fake_perf.says({spe: {"type": 9}}, decodes={"type": 9, "samples": 2, "addr": 0x5000})
    assert chosen(arm)[0] == "arm-spe"
    assert [call[0] for call in fake_perf.calls].count("inject") == 1


def test_spe_that_perf_cannot_decode_is_refused(arm: Any, fake_perf: Any) -> None:
    spe = "arm_spe_0/ts_enable=1,pa_enable=0,load_filter=1,store_filter=1,jitter=1/"
    fake_perf.says({spe: {"type": 9}, "cpu-clock": CLOCK})
    name, refused = chosen(arm)
    assert name == "cpu-clock"
    assert "built without the decoder" in refused["arm-spe"]


def test_what_perf_takes_instead_of_cycles_is_not_cycles(amd: Any, fake_perf: Any) -> None:
    fake_perf.says({"cycles": CLOCK, "cpu-clock": CLOCK})
    name, refused = chosen(amd)
    assert name == "cpu-clock"
    assert "instead" in refused["cpu-cycles"]


@pytest.mark.parametrize(
    ("clock", "why"),
    [({"samples": 0}, "gives no samples"), ({"regs": False}, "no registers")],
)
def test_an_event_that_opens_is_not_enough(amd: Any, fake_perf: Any, clock: dict[str, Any], why: str) -> None:
    fake_perf.says({"cpu-clock": CLOCK | clock})
    trial = next(t for t in trials(find_perf(), read_machine(amd.root)) if t.candidate.choice.name == "cpu-clock")
    assert why in trial.refusal


def test_an_architecture_without_known_registers_gets_functions(tmp_path: Path, fake_perf: Any) -> None:
    fake_perf.says({"cpu-clock": CLOCK})
    machine = Machine("s390x")
    choice = choose(find_perf(), machine, "", "both")[0].choice
    assert (choice.name, choice.addresses) == ("cpu-clock-functions", Addresses.FUNCTION)


def test_a_machine_where_nothing_opens_says_the_last_reason(amd: Any, fake_perf: Any) -> None:
    fake_perf.says({}, refusal="Permission denied by perf_event_paranoid")
    with pytest.raises(LinemateError, match=r"nothing can be sampled here: Permission denied.*doctor"):
        chosen(amd)


def test_an_event_can_be_forced_by_its_row_or_in_perf_s_words(amd: Any, fake_perf: Any) -> None:
    fake_perf.says({"cpu-clock": CLOCK, "mem:0x1000:w": {"type": 5, "regs": True}})
    machine = read_machine(amd.root)
    assert choose(find_perf(), machine, "cpu-clock", "both")[0].choice.name == "cpu-clock"
    assert choose(find_perf(), machine, "mem:0x1000:w", "both")[0].events == ("mem:0x1000:w",)


@pytest.mark.parametrize(
    ("event", "why"), [("intel-pebs", "no event mem-loads"), ("cycles", "not supported"), ("-a", "not an event")]
)
def test_a_forced_event_that_is_not_here_is_an_error(amd: Any, fake_perf: Any, event: str, why: str) -> None:
    fake_perf.says({"cpu-clock": CLOCK})
    with pytest.raises(LinemateError, match=why):
        choose(find_perf(), read_machine(amd.root), event, "both")


def test_options_of_a_derived_rung(amd: Any) -> None:
    machine = read_machine(amd.root)
    clock = next(c for c in candidates(machine) if c.choice.name == "cpu-clock")
    options = sampling_options(clock, machine, Sampling(499))
    assert options[:4] == ["-e", "cpu-clock", "-F", "499"]
    assert {"-d", "-T", "-P", "--sample-cpu", "--user-regs=ip,sp,di"} <= set(options)
    registers = next(part for part in options if part.startswith("--intr-regs=")).partition("=")[2].split(",")
    assert {"ax", "di", "r15", "ip", "sp"} <= set(registers)
    assert "-W" not in options
    options = sampling_options(clock, machine, Sampling(499, 100000, "user"))
    assert "-F" not in options
    assert options[2:4] == ["-c", "100000"]
    assert "--all-user" in options


def test_arm_registers_have_arm_s_names() -> None:
    machine = Machine("aarch64")
    clock = next(c for c in candidates(machine) if c.choice.name == "cpu-clock")
    options = sampling_options(clock, machine, Sampling(499))
    assert "--user-regs=pc,sp,x0" in options
    assert any(part.startswith("--intr-regs=x0,x1,") and part.endswith(",lr,sp,pc") for part in options)


def test_no_perf_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LinemateError, match="apt install linux-perf"):
        find_perf()


def test_a_perf_that_does_not_run_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ubuntu's perf is a script that wants one package for each kernel."""
    (tmp_path / "perf").write_text("#!/bin/sh\necho 'WARNING: perf not found for kernel 6.1' >&2; exit 2\n")
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(LinemateError, match=f"{tmp_path}/perf does not work"):
        find_perf()


@pytest.mark.parametrize(("version", "old"), [("5.9.3", True), ("4.19.0", True), ("5.10.0", False), ("6.1.187", False)])
def test_perf_before_5_10_cannot_say_when_it_samples(fake_perf: Any, version: str, old: bool) -> None:
    fake_perf.says({}, version=version)
    perf = find_perf()
    if old:
        with pytest.raises(LinemateError, match=r"5\.10 or newer"):
            check_version(perf)
    else:
        check_version(perf)


def test_the_reason_is_perf_s_without_its_usage() -> None:
    said = "event syntax error: 'ibs_op//'\n  \\___ Cannot find PMU `ibs_op'.\nRun 'perf list'\n\n Usage: perf record\n"
    assert reason(said) == "event syntax error: 'ibs_op//' Cannot find PMU `ibs_op'."
    assert reason("") == "no reason given"


def test_a_long_reason_ends_with_a_sentence() -> None:
    said = (
        "Error:\nAccess to performance monitoring and observability operations is limited.\n"
        "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n"
        "access to performance monitoring and observability operations for processes\n"
        "without CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN Linux capability.\n"
    )
    assert reason(said) == "Access to performance monitoring and observability operations is limited."
    assert reason("x" * 400) == "x" * 300 + "…"
    assert reason("perf 5.10 has no a.b\nc\nd") == "perf 5.10 has no a.b c d"


def test_every_row_says_what_it_needs_shows_and_hides() -> None:
    assert len({choice.name for choice in EVENT_CHOICES}) == len(EVENT_CHOICES)
    assert all(choice.requires and choice.shows and choice.cannot_show for choice in EVENT_CHOICES)
    order = [choice.addresses for choice in EVENT_CHOICES]
    assert order == sorted(order, key=list(Addresses).index)


Run = Callable[..., tuple[int, str, str]]


def test_the_real_ladder_ends_in_something(real_perf: str, linemate: Run, tmp_path: Path, program: Path) -> None:
    code, _, said = linemate("record", "-o", tmp_path / "p", "--event", real_perf, "--", program)
    assert code == 0, said
    assert f"event {real_perf}" in said
