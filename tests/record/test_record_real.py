"""Recordings made here, with the real perf: what their samples hold, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pmu import read_samples
from pmu.perfdata.registers import KEPT_STACK_BYTES
from pmu.sidecar import read_sidecar, sidecar_of, solo_of
from sharing.model.process.table import descendants
from sharing.model.samples import Field, Mode, Samples
from sharing.sampled.attribution.evaluate import RegisterFile, names_of

Run = Callable[..., tuple[int, str, str]]
X86_DI = 5  # perf numbers registers ax bx cx dx si di bp sp ip

WAITERS = r"""
#include <pthread.h>
#include <stdlib.h>
static int times = 300000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t *volatile which = &lock;
static void *work(void *unused) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(which);
    for (volatile int j = 0; j < 200; j++) {}
    pthread_mutex_unlock(which);
  }
  return unused;
}
int main(int argc, char **argv) {
  pthread_t t[3];
  if (argc > 1) times = atoi(argv[1]);
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}
"""


@pytest.fixture
def recorded(real_perf: str, linemate: Run, program: Path, tmp_path: Path) -> tuple[Path, Samples]:
    out = tmp_path / "profile"
    code, _, said = linemate(
        "record", "-o", out, "--event", "cpu-clock", "--frequency", 1999, "--", program, 60_000_000
    )
    assert code == 0, said
    return out, read_samples(out)


@pytest.fixture(scope="module")
def waiters(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Threads that wait for one lock, and the lock's address."""
    where = tmp_path_factory.mktemp("waiters")
    (where / "w.c").write_text(WAITERS)
    binary = where / "waiters"
    subprocess.run(["gcc", "-O1", "-no-pie", "-pthread", str(where / "w.c"), "-o", str(binary)], check=True)
    symbols = subprocess.run(["nm", str(binary)], capture_output=True, text=True, check=True).stdout
    return binary, next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" lock"))


def own(samples: Samples, program: Path) -> np.ndarray:
    """Rows of samples in the program itself."""
    return np.array([samples.image_of(row) == str(program) for row in range(len(samples.samples))])


def test_samples_have_all_that_attribution_needs(recorded: tuple[Path, Samples], program: Path) -> None:
    _, samples = recorded
    event = next(event for event in samples.events if event.name.startswith("cpu-clock"))
    wanted = Field.IP | Field.THREAD | Field.TIME | Field.ADDR | Field.CPU | Field.PERIOD | Field.REGS_INTR
    assert event.fields & wanted == wanted
    assert event.fields & Field.REGS_USER
    mine = samples.samples[own(samples, program)]
    assert len(mine) > 20
    assert len(set(mine["tid"].tolist())) == 2, "both threads"
    assert (mine["time"] > 0).all()
    assert (mine["period"] > 0).all()
    assert (mine["cpu"] >= 0).all()
    assert (mine["regs_intr"] >= 0).all()
    assert samples.counts.lost_samples == 0


def test_stacks_are_copied_where_they_are_asked_for(
    real_perf: str, linemate: Run, program: Path, tmp_path: Path
) -> None:
    out = tmp_path / "profile"
    line = ["--event", "cpu-clock", "--frequency", 1999, "--stacks", "--", program, 20_000_000]
    code, _, said = linemate("record", "-o", out, *line)
    assert code == 0, said
    assert f"copies of stacks ({KEPT_STACK_BYTES} bytes)" in said
    samples = read_samples(out)
    rows = samples.samples[own(samples, program)]
    registers = RegisterFile.of(samples, names_of(samples, ()))
    pointer, known = registers.read_one(rows, registers.names.stack, user=True)
    assert known.all()
    top = np.arange(len(rows))
    for offset, there in ((0, True), (KEPT_STACK_BYTES - 8, True), (KEPT_STACK_BYTES, False)):
        assert (registers.read_stack(rows, pointer + np.uint64(offset), top)[1] == there).all(), offset


def test_mappings_have_build_ids_and_anonymous_memory(recorded: tuple[Path, Samples], program: Path) -> None:
    _, samples = recorded
    rows = [m for m in samples.mappings if samples.paths[m["path"]] == str(program)]
    assert rows
    assert all(m["build_id"] >= 0 for m in rows)
    assert any(samples.paths[m["path"]] in ("//anon", "[heap]") for m in samples.mappings)


def test_the_sidecar_says_how_it_went(recorded: tuple[Path, Samples], program: Path) -> None:
    out, samples = recorded
    recording = read_sidecar(sidecar_of(out))
    (run,) = recording.runs
    assert (recording.target, recording.event.name, recording.event.frequency_hz) == ("command", "cpu-clock", 1999)
    assert recording.command == (str(program), "60000000")
    assert recording.profiles[0].samples == len(samples.samples)
    assert 0 < run.user_s + run.system_s <= run.wall_s * len(run.cpus) + 0.1
    assert run.status == 0
    # The command's time and its samples are two measures of one thing.
    assert run.user_s + run.system_s == pytest.approx(len(samples.samples) / 1999, rel=0.3, abs=0.05)


def test_solo_runs_on_one_processor(real_perf: str, linemate: Run, program: Path, tmp_path: Path) -> None:
    out = tmp_path / "profile"
    code, _, said = linemate(
        "record", "-o", out, "--event", real_perf, "--solo", "--metric", "loops_done", "--", program, 30_000_000
    )
    assert code == 0, said
    assert set(read_samples(solo_of(out)).samples["cpu"].tolist()) == {max(os.sched_getaffinity(0))}
    recording = read_sidecar(sidecar_of(out))
    assert [run.metric for run in recording.runs] == [60_000_000, 60_000_000]
    assert [run.cpus for run in recording.runs] == [
        tuple(sorted(os.sched_getaffinity(0))),
        (max(os.sched_getaffinity(0)),),
    ]


def test_a_sample_in_the_kernel_tells_which_futex_its_thread_waits_for(
    real_perf: str, linemate: Run, waiters: tuple[Path, int], tmp_path: Path
) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("looks for rdi")
    binary, lock = waiters
    code, _, said = linemate("record", "-o", tmp_path / "p", "--event", "cpu-clock", "--frequency", 3999, "--", binary)
    assert code == 0, said
    samples = read_samples(tmp_path / "p")
    s = samples.samples
    inside = s[(s["mode"] == Mode.KERNEL) & (s["regs_user"] >= 0)]
    if not len(inside):
        pytest.skip("no sample in the kernel (perf_event_paranoid)")
    mask = samples.events[int(inside["event"][0])].regs_user_mask
    first = samples.registers.values(inside["regs_user"], mask, [X86_DI])[:, 0]
    assert (first == lock).any()


def test_an_event_in_perf_s_words_is_measured_where_its_samples_have_addresses(
    real_perf: str, linemate: Run, waiters: tuple[Path, int], tmp_path: Path
) -> None:
    binary, lock = waiters
    event = f"mem:{lock:#x}/4:rw"
    code, _, said = linemate("record", "-o", tmp_path / "p", "--event", event, "--period", 100, "--", binary, 2000)
    if code == 2 and "--event" in said:
        pytest.skip(f"no breakpoints here: {said}")
    assert code == 0, said
    found = read_sidecar(sidecar_of(tmp_path / "p")).event
    assert (found.name, found.addresses, found.period, found.frequency_hz) == (event, "measured", 100, 0)
    samples = read_samples(tmp_path / "p").samples
    assert len(samples)
    assert set(samples["addr"].tolist()) == {lock}


def test_user_mode_alone_has_no_sample_of_the_kernel(real_perf: str, linemate: Run, tmp_path: Path) -> None:
    work = ("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=5000", "status=none")
    modes = {}
    for options in ((), ("--user",)):
        code, _, said = linemate(
            "record", "-q", "-o", tmp_path / "p", "--event", "cpu-clock", "--frequency", 1999, *options, "--", *work
        )
        assert code == 0, said
        modes[options] = set(read_samples(tmp_path / "p").samples["mode"].tolist())
    if Mode.KERNEL not in modes[()]:
        pytest.skip("the kernel cannot be sampled (perf_event_paranoid)")
    assert Mode.KERNEL not in modes[("--user",)]


def test_a_process_is_recorded_with_the_threads_that_it_makes_later(
    real_perf: str, linemate: Run, program: Path, tmp_path: Path
) -> None:
    """The program waits before it starts its second thread; recording ends with it."""
    running = subprocess.Popen([str(program), "150000000", "3000"], stdout=subprocess.DEVNULL)
    try:
        code, _, said = linemate("record", "-o", tmp_path / "p", "--event", "cpu-clock", "--pid", running.pid)
        assert code == 0, said
    finally:
        running.kill()
        running.wait()
    samples = read_samples(tmp_path / "p").samples
    assert set(samples["pid"].tolist()) == {running.pid}
    assert len(set(samples["tid"].tolist())) == 2
    recording = read_sidecar(sidecar_of(tmp_path / "p"))
    assert (recording.target, recording.pid, recording.runs) == ("process", running.pid, ())


def test_processes_that_came_from_one_are_recorded_with_it(
    real_perf: str, linemate: Run, program: Path, tmp_path: Path
) -> None:
    """A shell that waits for the program, which is there before the recording begins."""
    running = subprocess.Popen(["sh", "-c", f"{program} 100000000000 & wait"], start_new_session=True)
    try:
        while not (started := descendants(running.pid)):
            time.sleep(0.01)
        line = ("record", "-o", tmp_path / "p", "--event", "cpu-clock", "--pid", running.pid, "--duration", 0.3)
        code, _, said = linemate(*line)
        assert code == 0, said
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert set(read_samples(tmp_path / "p").samples["pid"].tolist()) == set(started)


def test_a_duration_ends_a_recording_and_not_the_process(
    real_perf: str, linemate: Run, program: Path, tmp_path: Path
) -> None:
    running = subprocess.Popen([str(program), "100000000000"], stdout=subprocess.DEVNULL)
    try:
        code, _, said = linemate(
            "record", "-o", tmp_path / "p", "--event", "cpu-clock", "--pid", running.pid, "--duration", 0.3
        )
        assert code == 0, said
        assert running.poll() is None
    finally:
        running.kill()
        running.wait()
    assert read_sidecar(sidecar_of(tmp_path / "p")).wall_s >= 0.3


def test_a_process_that_did_not_run_leaves_no_profile_to_judge(real_perf: str, linemate: Run, tmp_path: Path) -> None:
    running = subprocess.Popen(["sleep", "60"])
    try:
        line = ("record", "-o", tmp_path / "p", "--event", "cpu-clock", "--pid", running.pid, "--duration", 0.3)
        code, _, said = linemate(*line)
    finally:
        running.kill()
        running.wait()
    assert code == 3, said
    assert f"process {running.pid} did not run in these" in said
    assert "drive a load" in said
    assert "--duration SECONDS" in said
    assert "none" not in said


def test_the_whole_machine_is_recorded_or_refused_with_the_reason(
    real_perf: str, linemate: Run, tmp_path: Path
) -> None:
    from pmu.machine import read_machine

    code, _, said = linemate("record", "-o", tmp_path / "p", "--event", real_perf, "--duration", 0.2)
    if read_machine().may_see_all:
        assert code == 0, said
        assert read_sidecar(sidecar_of(tmp_path / "p")).target == "machine"
    else:
        assert code == 2
        assert "perf_event_paranoid" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_what_was_recorded(
    real_perf: str, program: Path, tmp_path: Path, repository: Path, number: signal.Signals
) -> None:
    started = tmp_path / "started"
    work = f"touch {started}; exec {program} 100000000000"
    line = [sys.executable, "-m", "linemate", "record", "-o", str(tmp_path / "p"), "--event", "cpu-clock"]
    running = subprocess.Popen(
        [*line, "--", "sh", "-c", work], cwd=repository, stderr=subprocess.PIPE, text=True, process_group=0
    )
    while not started.exists():
        assert running.poll() is None
        time.sleep(0.02)
    time.sleep(0.3)
    # As a terminal does: to everyone in the foreground.
    os.killpg(running.pid, number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 0, said
    assert "stopped by an interrupt" in said
    assert f"the command was ended by {number.name}" in said
    assert len(read_samples(tmp_path / "p").samples) > 0
    assert read_sidecar(sidecar_of(tmp_path / "p")).interrupted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "p.json", "started"]
