"""Records of C that only a typedef names, and which of their arrays an element is of, by debug information."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Severity

# Threads take any of the objects, from a table that a pointer leads to.
TEXT = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define MANY for (unsigned i = 0; i < 100000000; i++)
#define BINS 8
HEAD { MEMBERS } NAME;
static void *ask(void *given) {
  NAME **all = given;
  long sum = 0;
  MANY {
    NAME *one = all[i * 7 % 9];
    sum += ASKED;
    atomic_fetch_add_explicit(&one->COUNTED, 1, memory_order_relaxed);
  }
  return (void *)sum;
}
int main(void) {
  NAME **all = calloc(9, sizeof *all);
  pthread_t ids[4];
  for (int i = 0; i < 9; i++) all[i] = calloc(1, sizeof **all);
  for (int i = 0; i < 4; i++) pthread_create(&ids[i], NULL, ask, all);
  for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
  return 0;
}
"""
WORDS = {
    "HEAD": "typedef struct",
    "MEMBERS": "long limit; APART _Atomic long answered;",
    "NAME": "session_t",
    "ASKED": "one->limit",
    "COUNTED": "answered",
    "APART": "",
}


def found(folder: Path, level: str = "-O2", compiler: str = "gcc", **parts: str) -> set[str]:
    """Who is in findings from low on."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    text = TEXT
    words = WORDS | parts
    for _ in range(2):
        for name, said in words.items():
            text = text.replace(name, said)
    source = folder / "names.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([compiler, "-g", "-pthread", level, str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    kept = [one for one in findings if one.severity.rank >= Severity.LOW.rank]
    return {part.full_name for one in kept for part in one.participants}


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_record_without_a_tag_has_the_name_of_its_typedef(tmp_path: Path, compiler: str, level: str) -> None:
    assert found(tmp_path, level, compiler) == {"session_t.answered", "session_t.limit"}


def test_a_tag_comes_before_the_typedef(tmp_path: Path) -> None:
    assert found(tmp_path, HEAD="typedef struct session") == {"struct session.answered", "struct session.limit"}


def test_not_a_line_apart(tmp_path: Path) -> None:
    assert found(tmp_path, APART="char apart[64];") == set()


def test_an_index_that_counts_from_another_array_is_of_the_one_with_elements_so_long(tmp_path: Path) -> None:
    """``bounds + 64 + 4 * i`` is compiled to ``bounds + 4 * (i + 16)``."""
    members = "long bounds[BINS]; _Atomic int bins[BINS];"
    names = found(tmp_path, MEMBERS=members, ASKED="one->bounds[i & 7]", COUNTED="bins[(sum + i) % BINS]")
    assert any("bins" in name for name in names), names
