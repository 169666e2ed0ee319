"""Options of record and doctor, each with its near miss; what is said, and the exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linemate.recording import levels
from linemate.recording.choice import user_only
from linemate.recording.options import RecordOptions
from linemate.recording.run import record
from pmu.sidecar import read_sidecar, sidecar_of, solo_of
from sharing.model.errors import LinemateError

Run = Callable[..., tuple[int, str, str]]
CLOCK = {"type": 1, "config": 0, "samples": 3, "regs": True}


@pytest.fixture
def out(tmp_path: Path, fake_perf: Any) -> Path:
    fake_perf.says({"cpu-clock": CLOCK})
    return tmp_path / "profile"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "what to record"),
        (["--pid", "1", "--", "true"], "COMMAND or --pid"),
        (["--duration", "1", "--", "true"], "COMMAND or --pid"),
        (["--duration", "0"], "duration"),
        (["--frequency", "9", "--period", "9", "--", "true"], "not both"),
        (["--frequency", "0", "--", "true"], "frequency"),
        (["--user", "--kernel", "--", "true"], "not both"),
        (["--solo", "--pid", "1"], "need a COMMAND"),
        (["--ignore-affinity", "--", "true"], "goes with --solo"),
        (["--runs", "2", "--duration", "1"], "need a COMMAND"),
        (["--metric", "x", "--duration", "1"], "need a COMMAND"),
        (["--overhead", "--pid", "1"], "need a COMMAND"),
        (["--trial", "--pid", "1"], "need a COMMAND"),
        (["--trial", "--frequency", "99", "--", "true"], "no --frequency"),
        (["--counters", "--stacks", "--", "true"], "takes no samples"),
        (["--counters"], "what to record"),
        (["--counters", "--pid", "1"], "takes no samples"),
        (["--counters", "--solo", "--", "true"], "takes no samples"),
        (["--format", "json", "--", "true"], "goes with --counters"),
        (["--", "no-such-command-here"], "no such command"),
        (["--", "/etc/passwd"], "not executable"),
        (["--", ""], "no command"),
        (["--pid", "4194304"], "no such process"),
        (["--event", "nonsense", "--", "true"], "doctor lists what works"),
    ],
)
def test_bad_usage(out: Path, linemate: Run, arguments: list[str], why: str) -> None:
    code, _, said = linemate("record", "-o", out, *arguments)
    assert code == 2
    assert why in said
    assert not out.exists()


def test_it_says_what_it_got_and_what_that_can_and_cannot_show(out: Path, linemate: Run) -> None:
    code, _, said = linemate("record", "-o", out, "--", "true")
    assert code == 0
    assert "event cpu-clock (cpu-clock), 499 samples/s a processor: data addresses are derived from registers" in said
    assert "shows where processor time goes" in said
    assert "cannot show whether time was spent on a miss" in said
    assert "3 samples in" in said


@pytest.mark.parametrize(("samples", "few"), [(999, True), (1000, False)])
def test_a_short_recording_is_said_to_be_short(
    tmp_path: Path, fake_perf: Any, linemate: Run, samples: int, few: bool
) -> None:
    fake_perf.says({"cpu-clock": {**CLOCK, "samples": samples}})
    code, _, said = linemate("record", "-o", tmp_path / "profile", "--", "true")
    assert code == 0
    assert ("999 samples are few" in said and "--frequency" in said) == few


@pytest.mark.parametrize(
    ("names", "restricted"),
    [
        (["cpu-clock"], False),
        (["cpu-clock:u"], True),
        (["cpu-clock:uH", "dummy:HG"], True),
        (["cpu-clock:H"], False),
        (["cycles:uk"], False),
        (["cpu/mem-loads,ldlat=30/P"], False),
        (["mem:0x5000:rw"], False),
        (["sched:sched_switch"], False),
    ],
)
def test_that_perf_kept_to_user_mode_shows_in_its_names(names: list[str], restricted: bool) -> None:
    assert user_only(names) is restricted


@pytest.mark.parametrize(("user", "advice"), [(4242, True), (os.stat("/proc/1").st_uid, False)])
def test_another_user_s_process_is_said_to_be_one(
    out: Path, fake_perf: Any, monkeypatch: pytest.MonkeyPatch, user: int, advice: bool
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise LinemateError("perf record: access is limited.")

    monkeypatch.setattr("linemate.recording.run.record_running", refuse)
    monkeypatch.setattr("linemate.recording.run.os.geteuid", lambda: user)
    with pytest.raises(LinemateError) as refused:
        record(RecordOptions(out, pid=1), say=lambda line: None, echo=lambda line: None)
    assert ("--pid 1: the process is another user's" in str(refused.value)) == advice
    assert "access is limited." in str(refused.value)


def test_quiet_says_nothing_but_warnings(out: Path, linemate: Run) -> None:
    assert linemate("record", "-q", "-o", out, "--", "true") == (0, "", "")
    code, _, said = linemate("record", "-q", "-o", out, "--", "false")
    assert (code, said) == (0, "linemate: warning: the command exited with 1\n")


def test_a_command_that_fails_is_recorded_all_the_same(out: Path, linemate: Run) -> None:
    code, _, said = linemate("record", "-o", out, "--", "sh", "-c", "kill -SEGV $$")
    assert code == 0
    assert "the command was ended by SIGSEGV" in said
    assert read_sidecar(sidecar_of(out)).runs[0].status == -11


@pytest.mark.parametrize(
    ("options", "wanted", "unwanted"),
    [
        ([], ["-F", "499"], "-c"),
        (["--frequency", "77"], ["-F", "77"], "-c"),
        (["--period", "1000"], ["-c", "1000"], "-F"),
        (["--user"], ["--all-user"], "--all-kernel"),
        (["--kernel"], ["--all-kernel"], "--all-user"),
        (["--stacks"], ["--call-graph", "dwarf,1024"], "--all-user"),
        (["--heap"], ["-k", "CLOCK_MONOTONIC"], "--call-graph"),
        (["--trial"], ["-F", "3989"], "-c"),
    ],
)
def test_what_perf_is_asked_for(
    out: Path, linemate: Run, fake_perf: Any, options: list[str], wanted: list[str], unwanted: str
) -> None:
    assert linemate("record", "-o", out, *options, "--", "true")[0] == 0
    call = fake_perf.recordings()[-1]
    at = call.index(wanted[0])
    assert call[at : at + len(wanted)] == wanted
    assert unwanted not in call


def test_stacks_go_with_addresses_from_registers(out: Path, linemate: Run) -> None:
    """Without registers nobody knows where on a stack a variable is."""
    code, _, said = linemate("record", "-o", out, "--event", "cpu-clock-functions", "--stacks", "--", "true")
    assert code == 2
    assert "--stacks: event cpu-clock-functions" in said
    assert not out.exists()


def test_a_trial_runs_the_command_once_more_and_says_what_to_expect(
    out: Path, linemate: Run, fake_perf: Any, tmp_path: Path
) -> None:
    code, said, told = linemate("record", "-o", out, "--trial", "--", "sh", "-c", f"echo x; echo x >>{tmp_path}/runs")
    assert (code, said) == (0, "x\n"), "what the trial prints is dropped"
    assert len((tmp_path / "runs").read_text().splitlines()) == 2
    assert len(fake_perf.recordings()) == 1
    assert re.search(r"the trial took \d\.\d\d s of processor time: \d+ samples are expected", told)


def test_the_command_s_options_are_its_own(out: Path, linemate: Run) -> None:
    code, said, _ = linemate("record", "-o", out, "--", "echo", "-o", "--pid", "--", "x")
    assert (code, said) == (0, "-o --pid -- x\n")
    assert read_sidecar(sidecar_of(out)).command == ("echo", "-o", "--pid", "--", "x")


def test_runs_take_turns_and_keep_the_metric(out: Path, linemate: Run, tmp_path: Path) -> None:
    script = f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); n=$((n+1)); echo $n >{tmp_path}/n; echo speed: $n"
    asked = ["--solo", "--runs", 3, "--metric", "speed"]
    code, said, told = linemate("record", "-o", out, *asked, "--", "sh", "-c", script)
    assert code == 0
    assert [f"run {n} of 3" in told for n in range(5)] == [False, True, True, True, False]
    assert re.search(r"run 3 of 3 on one processor, for \d+ s at the most", told)
    assert said == "".join(f"speed: {n}\n" for n in range(1, 7)), "what the command prints is passed on"
    recording = read_sidecar(sidecar_of(out))
    assert [run.level for run in recording.runs] == ["spread", "solo", "solo", "spread", "spread", "solo"]
    assert [run.metric for run in recording.runs] == [1, 2, 3, 4, 5, 6]
    assert [(profile.level, profile.run) for profile in recording.profiles] == [("spread", 0), ("solo", 1)]
    assert all(len(run.cpus) == 1 for run in recording.runs if run.level == "solo")


def test_a_run_on_one_processor_that_takes_far_longer_is_ended_and_the_last(
    out: Path, linemate: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "ALONE_S", 0.2)
    slow_alone = 'test "$(nproc)" -gt 1 || sleep 60'
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: no run is spread")
    code, _, said = linemate("record", "-o", out, "--solo", "--runs", 2, "--", "sh", "-c", slow_alone)
    assert code == 0, said
    assert "threads that spin for each other" in said
    kept = read_sidecar(sidecar_of(out))
    assert [run.level for run in kept.runs] == ["spread", "spread"]
    assert [profile.level for profile in kept.profiles] == ["spread"]
    assert not solo_of(out).exists()


def test_one_run_of_each_level_is_profiled_and_the_others_are_only_timed(
    out: Path, linemate: Run, fake_perf: Any
) -> None:
    assert linemate("record", "-o", out, "--solo", "--runs", 3, "--", "true")[0] == 0
    assert len(read_sidecar(sidecar_of(out)).runs) == 6
    assert len(fake_perf.recordings()) == 2


def test_a_metric_that_the_command_does_not_print_is_an_error(out: Path, linemate: Run) -> None:
    code, _, said = linemate("record", "-o", out, "--metric", "speed", "--", "echo", "speedy: 3")
    assert code == 2
    assert "no number behind 'speed'" in said
    assert not out.exists()


def test_a_long_command_is_confined_before_it_starts(out: Path, linemate: Run) -> None:
    code, said, _ = linemate("record", "-o", out, "--solo", "--", "sh", "-c", "taskset -cp $$ | sed 's/.*: //'")
    assert code == 0
    everywhere, alone = said.split()
    assert alone.isdecimal()
    assert alone in everywhere or "-" in everywhere


def test_without_perf_both_say_what_to_install(linemate: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "true").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, said = linemate("record", "-o", tmp_path / "p", "--", "true")
    assert code == 2
    assert "apt install linux-perf" in said
    code, text, _ = linemate("doctor")
    assert code == 1
    assert "apt install linux-perf" in text


def doctor(linemate: Run, root: Path) -> tuple[int, dict[str, Any]]:
    code, text, _ = linemate("doctor", "--root", root, "--format", "json")
    return code, json.loads(text)


def test_doctor_of_an_intel_machine(intel: Any, fake_perf: Any, linemate: Run) -> None:
    event = {"type": 4, "samples": 2, "addr": 0x5000}
    fake_perf.says({"cpu/mem-loads,ldlat=30/P": event, "cpu/mem-stores/P": event, "cpu-clock": CLOCK})
    code, found = doctor(linemate, intel.root)
    assert code == 0
    assert found["best"] == "intel-pebs"
    assert {row["name"] for row in found["events"] if row["works"]} == {
        "intel-pebs",
        "cpu-clock",
        "cpu-clock-functions",
    }
    assert found["cores"] == ["0-1", "2-3"]
    assert any("adjacent-line" in remark for remark in found["remarks"])
    assert any("threads of one core" in remark for remark in found["remarks"])
    assert found["advice"] == [], "nothing is better than what it has"
    assert not any("sched_autogroup_enabled" in remark for remark in found["remarks"])
    intel.put("proc/sys/kernel/sched_autogroup_enabled", "1")
    _, grouped = doctor(linemate, intel.root)
    assert any("sched_autogroup_enabled" in remark for remark in grouped["remarks"])


def test_doctor_lists_what_works_before_what_does_not(intel: Any, fake_perf: Any, linemate: Run) -> None:
    fake_perf.says({"cpu-clock": CLOCK})
    code, text, _ = linemate("doctor", "--root", intel.root)
    assert code == 0
    marks = [m[1] for m in re.finditer(r"^  [a-z-]+ +(taken|works|no)  ", text, re.MULTILINE)]
    works = [mark != "no" for mark in marks]
    assert works == sorted(works, reverse=True)
    assert set(works) == {True, False}
    assert marks[0] == "taken"


def test_doctor_of_an_amd_machine_has_no_word_on_intel_s_prefetch(amd: Any, fake_perf: Any, linemate: Run) -> None:
    fake_perf.says({"ibs_op//": {"type": 9, "samples": 2, "addr": 0x5000}})
    code, found = doctor(linemate, amd.root)
    assert (code, found["best"]) == (0, "amd-ibs")
    assert not any("adjacent-line" in remark for remark in found["remarks"])


def test_doctor_names_lines_of_different_sizes(arm: Any, fake_perf: Any, linemate: Run) -> None:
    fake_perf.says({"cpu-clock": CLOCK})
    _, found = doctor(linemate, arm.root)
    assert any("64: L1 data of 0; 128: L1 data of 1" in r and "--line-size 128" in r for r in found["remarks"])


def test_doctor_where_rights_are_missing(amd: Any, fake_perf: Any, linemate: Run) -> None:
    amd.put("proc/sys/kernel/perf_event_paranoid", "4")
    amd.put("proc/sys/kernel/kptr_restrict", "1")
    amd.put("proc/self/status", "CapEff:\t0")
    fake_perf.says({}, refusal="Access to performance monitoring is limited.")
    code, found = doctor(linemate, amd.root)
    assert (code, found["best"]) == (1, "")
    commands = [advice["command"] for advice in found["advice"]]
    assert "sysctl -w kernel.perf_event_paranoid=1" in commands
    assert "sysctl -w kernel.kptr_restrict=0" in commands
    assert any(command.startswith("setcap cap_perfmon") for command in commands)


def test_and_where_they_are_not(amd: Any, fake_perf: Any, linemate: Run) -> None:
    amd.put("proc/sys/kernel/perf_event_paranoid", "4")
    fake_perf.says({"ibs_op//": {"type": 9, "samples": 2, "addr": 0x5000}})
    _, found = doctor(linemate, amd.root)
    assert found["advice"] == [], "cap_perfmon is above perf_event_paranoid"


def test_doctor_in_a_container_without_sysfs(tmp_path: Path, fake_perf: Any, linemate: Run) -> None:
    fake_perf.says({})
    (tmp_path / "empty").mkdir()
    code, text, _ = linemate("doctor", "--root", tmp_path / "empty")
    assert code == 1
    assert "caches     unknown" in text
    assert "nothing can be sampled here" in text


def test_doctor_escapes_what_a_machine_says(amd: Any, fake_perf: Any, linemate: Run) -> None:
    amd.put("proc/cpuinfo", "vendor_id : x\x1b[31m\nflags : hypervisor")
    fake_perf.says({"cpu-clock": CLOCK}, refusal="\x1b]0;title\x07")
    _, text, _ = linemate("doctor", "--root", amd.root)
    assert "\x1b" not in text
    assert r"x\x1b[31m" in text


def test_doctor_of_this_machine(linemate: Run) -> None:
    code, text, _ = linemate("doctor", "--format", "json")
    found = json.loads(text)
    assert code == (0 if found["best"] else 1)
    assert found["perf_path"] or found["perf_error"]
    # What the kernel offers, or that it offers nothing.
    assert "Landlock" in found["confinement"]
    assert f"helpers    confinement: {found['confinement']}\n" in linemate("doctor")[1]


@pytest.mark.parametrize("ignored", [False, True])
def test_the_command_finds_signals_as_it_would_without_us(
    out: Path, tmp_path: Path, repository: Path, ignored: bool
) -> None:
    """A job of a shell in the background ignores interrupts, and so does what it starts."""
    status = tmp_path / "status"
    # A run of the tests under nohup ignores hang-ups, and passes that on: those are not asked about.
    script = f"trap {chr(39) * 2 if ignored else '-'} INT; " + 'exec "$@"'
    work = [
        sys.executable,
        "-m",
        "linemate",
        "record",
        "-q",
        "-o",
        str(out),
        "--",
        "cp",
        "/proc/self/status",
        str(status),
    ]
    subprocess.run(["sh", "-c", script, "sh", *work], cwd=repository, check=True)
    masks = dict(line.split(":\t") for line in status.read_text().splitlines() if line.startswith("Sig"))
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        is_ignored = bool(int(masks["SigIgn"], 16) & 1 << (kind - 1))
        assert is_ignored == (ignored and kind is signal.SIGINT), kind
    assert int(masks["SigBlk"], 16) == 0
