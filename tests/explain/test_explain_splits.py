"""Locks and atomics that cross the end of a line in one build alone: as bad as the rule on one build says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sharing.explain import numbers
from sharing.model.comparison import CauseKind, Comparison
from tests.explain.conftest import Explain

SOURCE = """
#include <pthread.h>
struct all {{
  char pad[{pad}];
  {type} it;
  char behind[{behind}];
}} __attribute__((aligned(64))) all = {{{{1}}}};
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {{
  for (long i = 0; i < 10000000; i++) {{
    {use}
  }}
  return unused;
}}
int main(void) {{
  pthread_t one, two;
  pthread_create(&one, 0, work, 0), pthread_create(&two, 0, work, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}}
"""
WAIT = "pthread_mutex_lock(&lock); pthread_cond_wait(&all.it, &lock); pthread_mutex_unlock(&lock);"
CONDITION = ("pthread_cond_t", f"{WAIT} pthread_cond_signal(&all.it);")
MUTEX = ("pthread_mutex_t", "pthread_mutex_lock(&all.it); pthread_mutex_unlock(&all.it);")
ATOMIC = ("struct { long v; } __attribute__((packed))", "__atomic_fetch_add(&all.it.v, 1, 5);")


def built(folder: Path, name: str, what: tuple[str, str], pad: int) -> Path:
    kind, use = what
    text = SOURCE.format(type=kind, use=use, pad=pad, behind=256 - pad)
    (folder / f"{name}.c").write_text(text)
    command = ["gcc", "-O2", "-g", "-Wno-address-of-packed-member", "-pthread", f"{name}.c", "-o", name]
    subprocess.run(command, cwd=folder, check=True)
    return folder / name


def strongest(found: Comparison) -> float:
    return max((c.strength for c in found.causes if c.kind is CauseKind.LAYOUT and not c.improves), default=0.0)


@pytest.mark.parametrize(
    ("what", "pad", "strength"),
    [
        (CONDITION, 24, numbers.MET_NOTE),  # whoever waits there sleeps
        (MUTEX, 56, numbers.MET_LOW),
        (ATOMIC, 60, numbers.SPLIT_NOW),
    ],
    ids=["condition", "mutex", "atomic"],
)
def test_what_comes_to_cross_a_line_is_as_bad_as_the_rule_says(
    explained: Explain, tmp_path: Path, what: tuple[str, str], pad: int, strength: float
) -> None:
    old, new = (built(tmp_path, name, what, at) for name, at in (("old", 64), ("new", pad)))
    assert strongest(explained(old, new)) == strength
    (gained,) = (s for s in explained(old, new).straddles if s.gained and s.atomic)
    assert gained.severity


def test_what_crossed_a_line_before_is_no_cause(explained: Explain, tmp_path: Path) -> None:
    """It crosses at another byte, but did so in the old build as well."""
    old, new = (built(tmp_path, f"at{at}", CONDITION, at) for at in (24, 40))
    assert strongest(explained(old, new)) == 0
