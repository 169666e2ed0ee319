"""Counts of each thread: they belong to the right one, and add up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmu.counters import EVENTS, count_command
from pmu.machine import read_machine
from sharing.model.errors import LinemateError

Run = Callable[..., tuple[int, str, str]]
SEED_EVENTS = """
CPU_CYCLES INSTRUCTIONS CACHE_REFERENCES CACHE_MISSES BRANCH_INSTRUCTIONS BRANCH_MISSES BUS_CYCLES
CPU_CLOCK TASK_CLOCK PAGE_FAULTS CONTEXT_SWITCHES CPU_MIGRATIONS PAGE_FAULTS_MIN PAGE_FAULTS_MAJ
"""

# Threads that each touch another number of pages of their own; between them main sleeps.
PAGES = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
static void *touch(void *pages) {
  prctl(PR_SET_NAME, "toucher");
  size_t bytes = (size_t)pages * 4096;
  volatile char *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise((void *)p, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) p[at] = 1;
  for (volatile long i = 0; i < 100000000; i++) {}
  return 0;
}
int main(void) {
  pthread_t t[3];
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, touch, (void *)((i + 1) * 1000));
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}
"""


@pytest.fixture(scope="module")
def counting() -> None:
    """Skips, with the reason, where the kernel does not let us count."""
    try:
        count_command(["true"], read_machine().cpus or range(os.cpu_count() or 1))
    except LinemateError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("pages")
    (where / "p.c").write_text(PAGES)
    subprocess.run(["gcc", "-O1", "-pthread", str(where / "p.c"), "-o", str(where / "pages")], check=True)
    return where / "pages"


def counts(linemate: Run, *command: str | Path) -> dict[str, Any]:
    code, text, said = linemate("record", "--counters", "--format", "json", "--", *command)
    assert code == 0, said
    return json.loads(text)  # type: ignore[no-any-return]


def test_all_generic_events_are_there() -> None:
    names = [constant.removeprefix("PERF_COUNT_").partition("_")[2] for _, constant, _, _ in EVENTS]
    assert names == SEED_EVENTS.split()


# One processor: then threads of the family follow each other, and the kernel swaps their counters.
@pytest.mark.parametrize("alone", [False, True])
def test_each_thread_has_its_own_counts(counting: None, linemate: Run, pages: Path, alone: bool) -> None:
    before = os.sched_getaffinity(0)
    if alone:
        os.sched_setaffinity(0, {max(before)})
    try:
        found = counts(linemate, pages)
    finally:
        os.sched_setaffinity(0, before)
    faults = sorted(row["counts"]["page-faults"] for row in found["threads"] if row["name"] == "toucher")
    assert len(found["threads"]) == 4
    assert [round(count, -2) for count in faults] == [1000, 2000, 3000]
    (main,) = (row["counts"] for row in found["threads"] if row["pid"] == row["tid"])
    assert main["page-faults"] < 500
    for row in found["threads"]:
        assert row["counts"]["minor-faults"] <= row["counts"]["page-faults"]
        assert row["counts"]["cpu-clock"] == pytest.approx(row["counts"]["task-clock"], rel=0.2, abs=2e6)
    assert sum(row["counts"]["task-clock"] for row in found["threads"]) / 1e9 == pytest.approx(
        found["user_s"] + found["system_s"], rel=0.3, abs=0.02
    )


def test_what_a_machine_does_not_count_is_marked(counting: None, linemate: Run) -> None:
    found = counts(linemate, "true")
    code, text, _ = linemate("record", "--counters", "--", "true")
    assert code == 0
    for event in found["events"]:
        (row,) = found["threads"]
        assert (row["counts"][event["name"]] is None) is not event["supported"]
        assert (event["total"] is None) is not event["supported"]
        assert event["name"] in text
    missing = [event["name"] for event in found["events"] if not event["supported"]]
    said = [line for line in text.splitlines() if "unsupported" in line]
    assert said == ([f"unsupported on this machine: {', '.join(missing)}"] if missing else [])
    assert found["events"][8]["supported"], "task-clock is everywhere"


def test_children_are_counted_and_named(counting: None, linemate: Run) -> None:
    found = counts(linemate, "sh", "-c", "sleep 0.01; true; exit 7")
    assert found["status"] == 7
    assert {row["name"] for row in found["threads"]} == {"sh", "sleep"}
    assert len({row["pid"] for row in found["threads"]}) == 2


def test_what_still_runs_is_not_told_apart(counting: None, linemate: Run) -> None:
    found = counts(linemate, "sh", "-c", "sleep 2 >/dev/null & exit 0")
    assert [row["tid"] for row in found["threads"] if row["tid"] < 0] in ([], [-1])
    assert sum(row["counts"]["task-clock"] for row in found["threads"]) == found["events"][8]["total"]


def test_counts_do_not_replace_a_file(counting: None, linemate: Run, tmp_path: Path) -> None:
    out = tmp_path / "counts.json"
    for _ in range(2):
        assert linemate("record", "--counters", "-o", out, "--", "true")[0] == 0
    assert json.loads(out.read_text())["schema"] == "linemate-counters-1"
    out.write_text('{"mine": 1}')
    code, _, said = linemate("record", "--counters", "-o", out, "--", "true")
    assert code == 2
    assert "not replaced" in said
    assert out.read_text() == '{"mine": 1}'


def test_an_interrupt_ends_the_command_and_shows_the_counts(counting: None, repository: Path, tmp_path: Path) -> None:
    import signal
    import time

    started = tmp_path / "started"
    # Not a shell: that misses an interrupt while it makes itself the next command.
    waits = f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(60)"
    running = subprocess.Popen(
        [sys.executable, "-m", "linemate", "record", "--counters", "--", sys.executable, "-c", waits],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    while not started.exists():
        assert running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    text, said = running.communicate(timeout=60)
    assert running.returncode == 0, said
    assert "task-clock" in text
    assert "SIGINT" in said
