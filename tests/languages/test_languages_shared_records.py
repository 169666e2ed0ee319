"""Records of which one object is with several threads at one time, by how they come to it, and what such are called."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

TEXT = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
DECLARED;
OBJECTS;
__attribute__((noinline)) static work_t *work_new(int n, const char *name) {
  work_t *w = calloc(1, sizeof *w);
  if (!w || n > 1000) {
    fprintf(stderr, "no room for %s\\n", name);
    return NULL;
  }
  w->rounds = 1000000L * (n + 10);
  for (int i = 0; i < n; i++) w->rounds += name[i & 1];
  puts(name);
  return w;
}
static void *make(void *given) {
  work_t *w = WORK_OF(given);
  for (long i = 0; i < w->rounds; i++) {
    w->total += i & 3;
    __atomic_store_n(&w->ready, i, __ATOMIC_RELEASE);
  }
  return NULL;
}
static void *steer(void *given) {
  work_t *w = WORK_OF(given);
  while (__atomic_load_n(&w->ready, __ATOMIC_ACQUIRE) < w->rounds - 1)
    __atomic_store_n(&w->speed, __atomic_load_n(&w->ready, __ATOMIC_RELAXED) & 7, __ATOMIC_RELAXED);
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t one, other;
  STARTED;
  pthread_join(one, NULL), pthread_join(other, NULL);
  return 0;
}
"""
MEMBERS = "{ long rounds; long ready; long total; APART long speed; }"
TAGGED, TYPEDEF = f"typedef struct work {MEMBERS} work_t", f"typedef struct {MEMBERS} work_t"
STARTS = "pthread_create(&one, NULL, make, MINE), pthread_create(&other, NULL, steer, YOURS)"
ALIKE = f"work_t *w = work_new(argc, argv[0]); if (!w) return 1; {STARTS}"
# Another object of the same record under the same name: each thread has its own.
APIECE = (
    "work_t *w = work_new(argc, argv[0]); if (!w) return 1; pthread_create(&one, NULL, make, w); "
    "w = work_new(argc + 1, argv[0]); if (!w) return 1; pthread_create(&other, NULL, steer, w)"
)
POINTERS = "struct part { int id; work_t *of; }; static struct part parts[2]"
PARTS = "parts[0].of = parts[1].of = WHICH; parts[0].of->rounds = 1000000L * argc; "
DIRECT, BEHIND = "((work_t *)(GIVEN))", "(((struct part *)(GIVEN))->of)"


def found(folder: Path, level: str = "-O2", compiler: str = "gcc", **parts: str) -> list[Finding]:
    """What is said of members of the record at low or above."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    words = {"DECLARED": TAGGED, "OBJECTS": "", "STARTED": ALIKE, "WORK_OF(given)": DIRECT, "APART": ""} | parts
    text = TEXT
    for name, said in [*words.items(), ("MINE", words.get("MINE", "w")), ("YOURS", words.get("YOURS", "w"))]:
        text = text.replace(name, said.replace("GIVEN", "given"))
    source = folder / "work.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([compiler, "-g", "-pthread", level, str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [one for one in findings if one.severity.rank >= Severity.LOW.rank]


def pairs(findings: list[Finding]) -> set[str]:
    return {part.full_name for one in findings for part in one.participants}


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_threads_are_started_with_what_one_call_returned(tmp_path: Path, compiler: str, level: str) -> None:
    names = pairs(found(tmp_path, level, compiler))
    assert {"struct work.total", "struct work.speed"} <= names, "nobody hands the object on: both have it for life"


def test_not_where_each_is_started_with_another(tmp_path: Path) -> None:
    assert found(tmp_path, STARTED=APIECE) == []


def test_not_a_line_apart(tmp_path: Path) -> None:
    assert "struct work.speed" not in pairs(found(tmp_path, APART="char apart[64];"))


def test_a_record_without_a_tag_has_the_name_of_its_typedef(tmp_path: Path) -> None:
    assert {"work_t.total", "work_t.speed"} <= pairs(found(tmp_path, DECLARED=TYPEDEF))


def test_the_only_object_is_in_static_storage_and_a_pointer_in_what_threads_are_given_leads_to_it(
    tmp_path: Path,
) -> None:
    parts = {"STARTED": PARTS + STARTS, "WORK_OF(given)": BEHIND, "MINE": "&parts[0]", "YOURS": "&parts[1]"}
    one = found(tmp_path, OBJECTS=f"static work_t the_work; {POINTERS}", WHICH="&the_work", **parts)
    assert {"struct work.total", "struct work.speed"} <= pairs(one)


def test_not_where_the_program_has_several_of_which_each_may_have_one(tmp_path: Path) -> None:
    parts = {"STARTED": PARTS + STARTS, "WORK_OF(given)": BEHIND, "MINE": "&parts[0]", "YOURS": "&parts[1]"}
    assert found(tmp_path, OBJECTS=f"static work_t works[9]; {POINTERS}", WHICH="&works[argc]", **parts) == []
