"""A flag that stops threads: what clears it before a loop, or sets it on an error, is no writer of each round."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
struct share { int kind; long left, done; };
volatile int stop, counted;
__attribute__((noinline)) static int batch(struct share *s) {
  while (s->done++ % 64) counted++;
  ROUND
  return s->done > 1000000000;
}
static void *report(void *p) { struct share *s = p; BEFORE while (!batch(s)) ; AFTER return 0; }
static void *send(void *p) {
  struct share *s = p;
  while (ASKED && s->left-- > 0) { s->done++; REACT }
  return 0;
}
static void *either(void *p) {
  struct share *s = p;
  switch (s->kind) { case 0: report(s); break; case 1: send(s); break; }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  struct share shares[4] = {0};
  pthread_create(&threads[3], 0, REPORT, &shares[3]);
  for (int i = 0; i < 3; i++) {
    shares[i].kind = 1; shares[i].left = 100000000;
    pthread_create(&threads[i], 0, SEND, &shares[i]);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  stop = 1;
  pthread_join(threads[3], 0);
  return counted & 1;
}
"""
FAILED = "if (s->done < 0) {} stop = {};"
BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "-O2")]
builds = pytest.mark.parametrize(("tool", "level"), BUILDS)
two_builds = pytest.mark.parametrize(("tool", "level"), [BUILDS[1], BUILDS[2]])


PLAIN = {"BEFORE": "", "AFTER": "", "ROUND": "", "REACT": "", "ASKED": "!stop", "REPORT": "report", "SEND": "send"}


def written(**places: str) -> str:
    text = SOURCE
    for name, code in {**PLAIN, **places}.items():
        text = text.replace(name, code)
    return text


def audited(compiled: Compile, tool: str, *flags: str, strip: bool = False, **places: str) -> list[Finding]:
    program = compiled(tool, "c", written(**places), "-g", *flags)
    if strip:
        bare = program.with_suffix(".bare")
        subprocess.run([str(shutil.which("strip")), "-o", str(bare), str(program)], check=True)
        program = bare
    return list(api.audit(str(program), min_severity=Severity.NOTE).findings)


def said(findings: list[Finding]) -> list[tuple[str, str]]:
    """Of the counter and the flag: by which rule, how severe."""
    wanted = {"counted", "stop"}
    return [(f.rule, f.severity.value) for f in findings if {p.full_name for p in f.participants[:2]} == wanted]


@builds
@pytest.mark.parametrize(
    "places",
    [
        {},
        {"BEFORE": "stop = 0;"},
        {"AFTER": "stop = 1;"},
        {"REACT": "if (s->done < 0) stop = 1;"},
        {"BEFORE": "stop = 0;", "REACT": "if (s->done < 0) stop = 1;"},
        {"ASKED": "stop", "REACT": "if (s->done < 0) stop = 0;"},
    ],
    ids=["only read", "cleared before", "set behind", "set on an error", "both", "cleared on an error"],
)
def test_the_flag_is_read_beside_the_counter(compiled: Compile, tool: str, level: str, places: dict[str, str]) -> None:
    assert said(audited(compiled, tool, level, **places)) == [("written-beside-read-mostly", "high")]


@builds
def test_so_it_is_where_threads_of_one_entry_go_either_way(compiled: Compile, tool: str, level: str) -> None:
    places = {"BEFORE": "stop = 0;", "REACT": "if (s->done < 0) stop = 1;", "REPORT": "either", "SEND": "either"}
    found = said(audited(compiled, tool, level, **places))
    # Low where both ways are inlined, so that nothing tells that a thread goes one of them for life.
    assert found in ([("written-beside-read-mostly", "high")], [("written-beside-read-mostly", "low")])


@pytest.mark.parametrize("entry", [{}, {"REPORT": "either", "SEND": "either"}], ids=["two entries", "one entry"])
@pytest.mark.parametrize("react", ["", "if (s->done < 0) stop = 1;"])
def test_so_it_is_in_source(tmp_path: Path, react: str, entry: dict[str, str]) -> None:
    (tmp_path / "main.c").write_text(written(BEFORE="stop = 0;", REACT=react, **entry))
    command = ["gcc", "-O2", "-c", "main.c"]
    rows = [{"directory": str(tmp_path), "file": "main.c", "arguments": command}]
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    found = api.check(database=tmp_path, min_severity=Severity.NOTE, config=False).findings
    assert [severity for _, severity in said(list(found))] == ["high"]


@two_builds
def test_so_it_is_without_names(compiled: Compile, tool: str, level: str) -> None:
    places = {"BEFORE": "stop = 0;", "REACT": "if (s->done < 0) stop = 1;"}
    found = audited(compiled, tool, level, strip=True, **places)
    assert [f.severity for f in found if f.rule == "written-beside-read-mostly"] == [Severity.HIGH]


@two_builds
@pytest.mark.parametrize(
    "places",
    [
        {"ROUND": "stop = 0;"},
        {"ROUND": "stop = 0;", "REACT": "if (s->done < 0) stop = 1;"},
        {"REACT": "if (s->done < 0) stop = 1; else stop = 0;"},
        {"ASKED": "1", "REACT": "if (s->done & 1) stop = 1;"},
    ],
    ids=["each round", "taken back each round", "two numbers", "never asked"],
)
def test_a_flag_that_is_written_in_rounds_is_no_setting(
    compiled: Compile, tool: str, level: str, places: dict[str, str]
) -> None:
    found = said(audited(compiled, tool, level, **places))
    assert not [rule for rule, _ in found if rule == "written-beside-read-mostly"]


def test_a_program_may_have_more_entries_than_roots_are_told_apart(compiled: Compile) -> None:
    entries = "\n".join(
        f"static volatile int c{at}; static void *t{at}(void *p) {{ c{at} = 0; for (;;) c{at} += {at}; return p; }}"
        for at in range(70)
    )
    starts = "\n".join(f"pthread_create(&thread, 0, t{at}, 0);" for at in range(70))
    source = f"#include <pthread.h>\n{entries}\nint main(void) {{ pthread_t thread; {starts} pause(); return 0; }}"
    program = compiled("gcc", "c", f"#include <unistd.h>\n{source}", "-g", "-O2")
    assert api.audit(str(program), min_severity=Severity.NOTE).findings
