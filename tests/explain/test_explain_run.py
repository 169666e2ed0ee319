"""Commands that confirm a cause: a server is measured while it runs, all else from its start to its end."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from sharing.explain.causes.base import ranked, run_of
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Confidence
from sharing.model.image import ImageKind
from tests.explain.conftest import Explain
from tests.explain.layouts import laid

SOURCE = """
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
{before}
struct {{ long left {aligned}, right {aligned}; }} all __attribute__((aligned(64)));
{code}
static void *one(void *unused) {{ for (;;) __atomic_fetch_add(&all.left, 1, 5); }}
static void *other(void *unused) {{ for (;;) __atomic_fetch_add(&all.right, 1, 5); }}
int main(void) {{
  pthread_t a, b;
  int s = socket(AF_INET, SOCK_STREAM, 0);
  {serves}
  pthread_create(&a, 0, one, 0), pthread_create(&b, 0, other, 0);
  pthread_join(a, 0), pthread_join(b, 0);
  return s;
}}
"""


def built(folder: Path, name: str, serves: str, **edit: str) -> Path:
    text = SOURCE.format(serves=serves, **({"before": "", "aligned": "", "code": ""} | edit))
    folder = folder / name
    folder.mkdir()
    (folder / "one two.c").write_text(text)
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "one two.c", "-o", "one two"], cwd=folder, check=True)
    return folder / "one two"


def commands(found: Comparison) -> list[str]:
    return [text for cause in found.causes for text in (cause.confirm, cause.refute) if text]


@pytest.mark.parametrize(("kind", "booted"), [(ImageKind.KERNEL, True), (ImageKind.MODULE, True),
                                              (ImageKind.EXECUTABLE, False)])  # fmt: skip
def test_nothing_starts_a_kernel_or_a_module(kind: ImageKind, booted: bool) -> None:
    image = laid({".bss": []}, path="/lib/one.ko")
    run = run_of(dataclasses.replace(image, kind=kind))
    told = [run.recorded("a.data"), run.shared_lines, run.without_memory_events, run.counted("cycles"), run.timed]
    assert any("-- /lib/one.ko" in text for text in told) != booted
    assert ("boot with /lib/one.ko" in run.timed) == booted
    assert (run.recorded("a.data") == "perf record -o a.data -a -- sleep 30") == booted
    assert (run.counted("cycles") == "perf stat -a -e cycles -- sleep 30") == booted


def test_an_unlikely_improvement_is_the_last_of_all_and_a_likely_one_leads() -> None:
    def cause(strength: float, *, improves: bool) -> Cause:
        return Cause(CauseKind.LAYOUT, Confidence.STATIC, strength, "text", improves=improves)

    def order(*causes: Cause) -> list[float]:
        return [one.strength for one in ranked(causes)]

    assert order(cause(0.23, improves=True), cause(0.1, improves=False)) == [0.1, 0.23]
    assert order(cause(0.9, improves=True), cause(0.1, improves=False)) == [0.9, 0.1]
    assert order(cause(0.9, improves=True), cause(0.5, improves=False)) == [0.5, 0.9]


SERVES = ["listen(s, 8);", "accept(s, 0, 0);", "accept4(s, 0, 0, 0);", "daemon(0, 0);"]
ENDS = ["", "connect(s, 0, 0);", "bind(s, 0, 0);"]


@pytest.mark.parametrize("serves", SERVES)
def test_commands_attach_to_a_server(explained: Explain, tmp_path: Path, serves: str) -> None:
    aligned = "__attribute__((aligned(64)))"
    old, new = (built(tmp_path, n, serves, aligned=a) for n, a in (("old", aligned), ("new", "")))
    found = explained(old, new)
    text = "\n".join(commands(found))
    assert "perf c2c record -p $(pidof 'one two') -- sleep 30; perf c2c report" in text
    assert "linemate record --pid $(pidof 'one two') --duration 30" in text
    assert f"-- '{new}'" not in text
    assert sum("commands attach to the one that runs" in note for note in found.coverage.notes) == 1


@pytest.mark.parametrize("serves", ENDS)
def test_commands_start_what_is_no_server(explained: Explain, tmp_path: Path, serves: str) -> None:
    aligned = "__attribute__((aligned(64)))"
    old, new = (built(tmp_path, n, serves, aligned=a) for n, a in (("old", aligned), ("new", "")))
    found = explained(old, new)
    text = "\n".join(commands(found))
    assert f"perf c2c record -a -- '{new}'; perf c2c report" in text
    assert f"linemate record -- '{new}'" in text
    assert "pidof" not in text
    assert not any("commands attach" in note for note in found.coverage.notes)


@pytest.mark.parametrize("serves", [SERVES[0], ENDS[0]])
def test_changed_code_of_a_server_is_recorded_while_it_runs(explained: Explain, tmp_path: Path, serves: str) -> None:
    edits = ("long f(long a) { return a * 3; }", "long f(long a) { return a * 3 + all.left; }")
    old, new = (built(tmp_path, n, serves, code=code) for n, code in zip(("old", "new"), edits, strict=True))
    text = "\n".join(commands(explained(old, new)))
    if serves:
        assert "linemate record --pid $(pidof 'one two') --duration 30; perf report -i linemate.data: f" in text
        assert "while the old build runs: linemate record -o old.data --pid $(pidof 'one two') --duration 30" in text
        assert "restart with the new build, under the same load: linemate record -o new.data --pid" in text
    else:
        assert f"perf record -- '{new}'; perf report: f" in text
