"""Locks of records that a function finds by a lookup: debug information says of which record each is a part."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

HEAD = """
#include <pthread.h>
#include <stdlib.h>
struct session { struct session *next; unsigned long id; BETWEEN pthread_mutex_t lock; APART long served; };
static struct session *table[64];
__attribute__((noinline)) struct session *find(unsigned long id) {
  struct session *s = table[id % 64];
  while (s && s->id != id) s = s->next;
  return s;
}
TAKING
static void *worker(void *unused) {
  for (unsigned long i = 0; i < 100000000; i++) {
    struct session *s = find(i * 7);
    if (!s) continue;
    TAKE;
    s->served += i;
    GIVE;
  }
  return unused;
}
static void *reader(void *unused) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < 100000000; i++) {
    struct session *s = find(i * 5);
    if (s) sum += s->id;
  }
  return (void *)sum;
}
int main(void) {
  for (unsigned long i = 0; i < 64; i++) {
    struct session *s = (struct session *)calloc(1, sizeof *s);
    s->id = i;
    pthread_mutex_init(&s->lock, NULL);
    table[i] = s;
  }
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i & 1 ? worker : reader, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""
PLAIN = {
    "TAKING": "",
    "TAKE": "pthread_mutex_lock(&s->lock)",
    "GIVE": "pthread_mutex_unlock(&s->lock)",
    "BETWEEN": "",
    "APART": "",
}
# A function of the program's own that is handed the lock.
WRAPPED = PLAIN | {
    "TAKING": "__attribute__((noinline)) void take(pthread_mutex_t *m) { if (pthread_mutex_lock(m)) abort(); }",
    "TAKE": "take(&s->lock)",
}


def found(folder: Path, *flags: str, compiler: str = "gcc", **parts: str) -> list[Finding]:
    """What is said at low or above of the lock of a session beside what is read to find one."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}: Debian's package has its name")
    text = HEAD
    for part, words in parts.items():
        text = text.replace(part, words)
    source = folder / "sessions.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([compiler, "-pthread", *flags, str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [one for one in findings if one.severity.rank >= Severity.LOW.rank and "session.lock" in one.message]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("parts", [PLAIN, WRAPPED], ids=["direct", "wrapped"])
def test_the_lock_of_a_record_that_was_looked_up(
    tmp_path: Path, compiler: str, level: str, parts: dict[str, str]
) -> None:
    (finding,) = found(tmp_path, "-g", level, compiler=compiler, **parts)
    assert finding.severity in (Severity.LOW, Severity.MEDIUM)
    assert "mutex" in finding.message
    assert any("one object stands for all" in e.text for e in finding.evidence)


@pytest.mark.parametrize(
    "near",
    [
        pytest.param({"BETWEEN": "char far[128];"}, id="a line from what is read"),
        pytest.param({"TAKE": "s->served++", "GIVE": ""}, id="only made"),
    ],
)
def test_not_what_is_apart_or_only_made(tmp_path: Path, near: dict[str, str]) -> None:
    assert found(tmp_path, "-g", "-O2", **PLAIN | near) == []


def test_not_without_types(tmp_path: Path) -> None:
    assert found(tmp_path, "-O2", **PLAIN) == []
