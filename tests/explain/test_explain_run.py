"""Commands that confirm a cause: a server is measured while it runs, all else from its start to its end."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import msgspec
import pytest

from reports.explain import EXPLAIN_EMITTERS
from reports.options import RenderOptions
from sharing.explain.causes.base import ranked, run_of
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Confidence
from sharing.model.image import Image, ImageKind
from tests.explain.conftest import Explain
from tests.explain.layouts import laid
from tests.explain.test_explain_suspects import needing

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
    return [step for cause in found.causes for step in (*cause.confirm, *cause.refute)]


@pytest.mark.parametrize(("kind", "booted"), [(ImageKind.KERNEL, True), (ImageKind.MODULE, True),
                                              (ImageKind.EXECUTABLE, False)])  # fmt: skip
def test_nothing_starts_a_kernel_or_a_module(kind: ImageKind, booted: bool) -> None:
    image = laid({".bss": []}, path="/lib/one.ko")
    run = run_of(dataclasses.replace(image, kind=kind))
    told = [
        run.recorded("a.data"),
        *run.shared_lines("HITM"),
        run.without_memory_events,
        run.counted("cycles"),
        run.timed,
    ]
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
    assert "perf c2c record -p $(pidof 'one two') -- sleep 30\nperf c2c report --stdio: " in text
    assert "linemate record --pid $(pidof 'one two') --duration 30" in text
    assert f"-- '{new}'" not in text
    assert sum("commands attach to the one that runs" in note for note in found.coverage.notes) == 1


@pytest.mark.parametrize("serves", ENDS)
def test_commands_start_what_is_no_server(explained: Explain, tmp_path: Path, serves: str) -> None:
    aligned = "__attribute__((aligned(64)))"
    old, new = (built(tmp_path, n, serves, aligned=a) for n, a in (("old", aligned), ("new", "")))
    found = explained(old, new)
    text = "\n".join(commands(found))
    assert f"perf c2c record -a -- '{new}'\nperf c2c report --stdio: " in text
    assert f"linemate record -- '{new}'" in text
    assert "pidof" not in text
    assert not any("commands attach" in note for note in found.coverage.notes)


@pytest.mark.parametrize("serves", [SERVES[0], ENDS[0]])
def test_changed_code_of_a_server_is_recorded_while_it_runs(explained: Explain, tmp_path: Path, serves: str) -> None:
    edits = ("long f(long a) { return a * 3; }", "long f(long a) { return a * 3 + all.left; }")
    old, new = (built(tmp_path, n, serves, code=code) for n, code in zip(("old", "new"), edits, strict=True))
    text = "\n".join(commands(explained(old, new)))
    if serves:
        assert "linemate record --pid $(pidof 'one two') --duration 30\nperf report -i linemate.data: f" in text
        assert "while the old build runs: linemate record -o old.data --pid $(pidof 'one two') --duration 30" in text
        assert "restart with the new build, under the same load: linemate record -o new.data --pid" in text
    else:
        assert f"perf record -- '{new}'\nperf report: f" in text


@pytest.mark.parametrize("kind", [ImageKind.KERNEL, ImageKind.EXECUTABLE])
def test_only_what_a_shell_starts_is_timed_from_start_to_end(kind: ImageKind) -> None:
    """Of what does not differ, of another compiler, and of an allocator that came."""

    def made(*libraries: str, by: str = "GNU C17 12.2.0 -O2") -> Image:
        return dataclasses.replace(needing(*libraries, units=(by,)), kind=kind, path="/boot/one")

    for new in (made(), made(by="clang version 19.1.7"), made("libtcmalloc.so.4")):
        steps = commands(explain(made(), new, default_knowledge(), ExplainOptions()))
        assert not any("then perf stat" in step for step in steps)
        assert any("perf stat -r 10 -- " in step for step in steps) == (kind is ImageKind.EXECUTABLE)
        assert any("boot with " in step for step in steps) == (kind is ImageKind.KERNEL)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_each_command_has_a_line_of_its_own(explained: Explain, tmp_path: Path, form: str) -> None:
    old, new = (built(tmp_path, n, "", aligned=a) for n, a in (("old", "__attribute__((aligned(64)))"), ("new", "")))
    told = EXPLAIN_EMITTERS[form].render(explained(old, new), RenderOptions()).splitlines()
    (record,) = (line for line in told if "perf c2c record" in line)
    (shown,) = (line for line in told if "perf c2c report" in line)
    assert "report" not in record
    assert "HITM" in shown or "HITM" in told[told.index(shown) + 1]


@pytest.mark.parametrize(("serves", "told"), [(SERVES[0], "--pid $(pidof 'one two') "), (ENDS[0], "--pid PID ")])
def test_what_to_record_next_names_a_server(explained: Explain, tmp_path: Path, serves: str, told: str) -> None:
    old, new = (built(tmp_path, n, serves, code=c) for n, c in (("old", ""), ("new", "int idle(void) { return 7; }")))
    found = explained(old, new)
    unlikely = (Cause(CauseKind.CODE, Confidence.STATIC, 0.1, "text"),)
    text = EXPLAIN_EMITTERS["text"].render(msgspec.structs.replace(found, causes=unlikely), RenderOptions())
    assert f"linemate record -o old.data {told}--duration 30" in text
    assert f"linemate record -o new.data {told}--duration 30" in text
