"""What tests of recording share: made-up machines, a stand-in for perf, and whether the real one samples here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile long counters[32];
static long count = 20000000;
static void *work(void *at) { for (long i = 0; i < count; i++) (*(volatile long *)at)++; return 0; }
int main(int argc, char **argv) {
  if (argc > 1) count = atol(argv[1]);
  if (argc > 2) usleep(atol(argv[2]) * 1000);
  pthread_t t;
  pthread_create(&t, 0, work, (void *)&counters[0]);
  work((void *)&counters[1]);
  pthread_join(t, 0);
  printf("loops_done %ld\n", 2 * count);
  return argc > 3 ? atoi(argv[3]) : 0;
}
"""


@dataclass
class MadeUp:
    """A machine as its ``proc`` and ``sys`` show it, written under ``root``."""

    root: Path
    cpus: int = 2
    written: list[str] = field(default_factory=list)

    def put(self, path: str, text: str) -> None:
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text + "\n")

    def source(self, name: str, *events: str) -> None:
        """An event source with its events."""
        (self.root / "sys/bus/event_source/devices" / name / "events").mkdir(parents=True)
        for event in events:
            self.put(f"sys/bus/event_source/devices/{name}/events/{event}", "event=0x01")

    def cache(self, cpu: int, index: int, level: int, kind: str, line: int | None, size: str, shared: str) -> None:
        where = f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
        self.put(f"{where}/level", str(level))
        self.put(f"{where}/type", kind)
        self.put(f"{where}/size", size)
        self.put(f"{where}/shared_cpu_list", shared)
        if line is not None:
            self.put(f"{where}/coherency_line_size", str(line))

    def cores(self, *cores: str) -> None:
        """Processors that are threads of one core, as lists."""
        for core in cores:
            first, _, last = core.partition("-")
            for cpu in range(int(first), int(last or first) + 1):
                self.put(f"sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list", core)

    def basics(
        self, arch: str, cpuinfo: str, cpus: str, *, paranoid: int = 2, kptr: int = 0, capabilities: int = 0
    ) -> None:
        self.put("proc/sys/kernel/arch", arch)
        self.put("proc/sys/kernel/osrelease", "6.12.1")
        self.put("proc/sys/kernel/perf_event_paranoid", str(paranoid))
        self.put("proc/sys/kernel/kptr_restrict", str(kptr))
        self.put("proc/sys/kernel/perf_event_max_sample_rate", "100000")
        self.put("proc/cpuinfo", cpuinfo)
        self.put("proc/self/status", f"Name:\tx\nCapEff:\t{capabilities:016x}")
        self.put("sys/devices/system/cpu/online", cpus)


INTEL = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nflags\t\t: fpu vme"
AMD = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: EPYC\nflags\t\t: fpu vme"
ARM = "processor\t: 0\nCPU implementer\t: 0x41"
CAP_PERFMON = 1 << 38


@pytest.fixture
def intel(tmp_path: Path) -> MadeUp:
    """Two cores of two threads, PEBS, an administrator."""
    made = MadeUp(tmp_path / "intel")
    made.basics("x86_64", INTEL, "0-3", capabilities=CAP_PERFMON)
    made.source("cpu", "mem-loads", "mem-stores", "cpu-cycles")
    made.cores("0-1", "2-3")
    for cpu in range(4):
        core = "0-1" if cpu < 2 else "2-3"
        made.cache(cpu, 0, 1, "Data", 64, "48K", core)
        made.cache(cpu, 1, 3, "Unified", 64, "30M", "0-3")
    return made


@pytest.fixture
def amd(tmp_path: Path) -> MadeUp:
    made = MadeUp(tmp_path / "amd")
    made.basics("x86_64", AMD, "0-1", capabilities=CAP_PERFMON)
    made.source("cpu", "cpu-cycles", "cache-misses")
    made.source("ibs_op")
    return made


@pytest.fixture
def arm(tmp_path: Path) -> MadeUp:
    """Two kinds of cores with lines of different sizes, SPE."""
    made = MadeUp(tmp_path / "arm")
    made.basics("aarch64", ARM, "0-1", capabilities=CAP_PERFMON)
    made.source("arm_spe_0")
    made.cache(0, 0, 1, "Data", 64, "64K", "0")
    made.cache(1, 0, 1, "Data", 128, "128K", "1")
    return made


@dataclass
class FakePerf:
    """A perf on PATH that does what it is told; ``calls`` are the arguments that it was started with."""

    folder: Path

    def says(
        self,
        events: Mapping[str, Mapping[str, Any]],
        *,
        version: str = "6.1.0",
        refusal: str = "The event is not supported.",
        buildid_mmap: bool = True,
        decodes: Mapping[str, Any] | None = None,
    ) -> None:
        """``events`` by perf's name: type, config, samples, addr, regs; others are refused."""
        plan = {
            "version": version,
            "events": events,
            "refusal": refusal,
            "buildid_mmap": buildid_mmap,
            "decodes": decodes,
        }
        (self.folder / "plan.json").write_text(json.dumps(plan))

    @property
    def calls(self) -> list[list[str]]:
        log = self.folder / "calls"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def recordings(self) -> list[list[str]]:
        """Calls that attach to something, as opposed to trials."""
        return [call for call in self.calls if any(part.startswith("--control") for part in call)]


@pytest.fixture
def fake_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePerf:
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "perf"
    script.write_text(f"#!{sys.executable} -IS\n" + (HERE / "fake_perf.py").read_text())
    script.chmod(0o755)
    (folder / "builders").write_text(str(HERE.parent / "builders"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return FakePerf(folder)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two threads that write one line: PROGRAM [loops [milliseconds to wait first [exit code]]]."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    where = tmp_path_factory.mktemp("program")
    (where / "two.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O2", "-pthread", str(where / "two.c"), "-o", str(where / "two")], check=True)
    return where / "two"


@pytest.fixture(scope="session")
def real_perf(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Skips, with perf's reason, where the real perf cannot sample."""
    from pmu.events import EVENT_CHOICES
    from pmu.machine import read_machine
    from pmu.perftool import find_perf, trials
    from sharing.model.errors import LinemateError

    try:
        perf = find_perf()
    except LinemateError as error:
        pytest.skip(str(error))
    refusals = []
    for trial in trials(perf, read_machine()):
        if not trial.refusal:
            return trial.candidate.choice.name
        refusals.append(trial.refusal)
    assert len(refusals) == len(EVENT_CHOICES)
    pytest.skip(f"perf cannot sample here: {refusals[-1]}")


@pytest.fixture
def linemate(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in this process: exit code, output, errors."""
    from linemate.cli import main

    def run(*arguments: str | Path | int) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return code, said.out, said.err

    return run


def files_of(folder: Path) -> Iterable[str]:
    """Names in a folder, hidden ones too: what a recording leaves behind shows."""
    return sorted(path.name for path in folder.iterdir())
