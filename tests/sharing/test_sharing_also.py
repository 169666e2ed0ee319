"""The finding of a line names every pair that meets there, since its edits part them all."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

COMPILERS = [(tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")]

# `taken` is beside a limit that is read each time, and two locks of two threads are behind both.
PROGRAM = """
#include <pthread.h>
#include <unistd.h>
#ifndef GAP
#define GAP
#endif
static struct { _Alignas(64) volatile long taken; volatile long limit; GAP pthread_spinlock_t in_lock, out_lock;
  long under; } port;
static volatile int stop;
static void *receive(void *p) {
  while (!stop) {
    port.taken++;
    pthread_spin_lock(&port.in_lock);
    USE_UNDER
    pthread_spin_unlock(&port.in_lock);
  }
  return p;
}
static void *transmit(void *p) {
  while (!stop) {
    if (port.limit < 9) { pthread_spin_lock(&port.out_lock); pthread_spin_unlock(&port.out_lock); }
  }
  return p;
}
int main(int n, char **v) {
  pthread_t a, b;
  port.limit = n;
  pthread_create(&a, 0, receive, 0);
  pthread_create(&b, 0, transmit, 0);
  sleep(1);
  stop = 1;
  pthread_join(a, 0);
  pthread_join(b, 0);
  return (int)port.taken;
}
"""


def of_port(compiled: Compile, tool: str, level: str, *options: str) -> Finding:
    found = api.audit(
        compiled(tool, "c", PROGRAM, level, "-g", *options), min_severity=Severity.LOW, config=False
    ).findings
    (finding,) = [one for one in found if "port.limit" in {who.full_name for who in one.participants}]
    return finding


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_other_pairs_of_the_line_are_named_with_their_severity(compiled: Compile, tool: str, level: str) -> None:
    finding = of_port(compiled, tool, level, "-DUSE_UNDER=")
    names = {who.full_name for who in finding.participants}
    assert {"port.taken", "port.limit", "port.in_lock", "port.out_lock"} <= names
    assert any("port.out_lock" in one.text and "port.taken" in one.text for one in finding.also)
    assert all(one.text.startswith("also on this line, ") for one in finding.also)


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_on_a_line_of_their_own_they_are_no_part_of_it(compiled: Compile, tool: str, level: str) -> None:
    finding = of_port(compiled, tool, level, "-DUSE_UNDER=", "-DGAP=_Alignas(64)")
    assert finding.also == ()
    assert {who.full_name for who in finding.participants} == {"port.taken", "port.limit"}


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_for_what_a_lock_of_the_line_guards_the_lock_stands(compiled: Compile, tool: str, level: str) -> None:
    finding = of_port(compiled, tool, level, "-DUSE_UNDER=port.under++;")
    assert not any("port.under" in one.text.split("(")[0] for one in finding.also)


# Two threads write a word each, and both read a setting in each round: one rule names the writers, another one whom
# they disturb.  Where each looks at the setting once, nobody is.
SETTING = """
#include <pthread.h>
#include <unistd.h>
#ifndef GAP
#define GAP
#endif
static struct { _Alignas(64) volatile long in; volatile long out; GAP volatile long limit; } port;
static volatile int stop;
static void *receive(void *p) { ONCE while (!stop) { EACH port.in++; } return p; }
static void *transmit(void *p) { ONCE while (!stop) { EACH port.out++; } return p; }
int main(int n, char **v) {
  pthread_t a, b;
  port.limit = n;
  pthread_create(&a, 0, receive, 0);
  pthread_create(&b, 0, transmit, 0);
  sleep(1);
  stop = 1;
  pthread_join(a, 0);
  pthread_join(b, 0);
  return (int)port.in;
}
"""
LOOK = "if (port.limit < 9) usleep(0);"


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param(("-DONCE=", f"-DEACH={LOOK}"), True, id="read in each round"),
        pytest.param((f"-DONCE={LOOK}", "-DEACH="), False, id="read once"),
        pytest.param(("-DONCE=", f"-DEACH={LOOK}", "-DGAP=_Alignas(64)"), False, id="on a line of its own"),
    ],
)
def test_whom_two_writers_of_the_line_disturb_is_named_as_well(
    compiled: Compile, tool: str, level: str, options: tuple[str, ...], *, named: bool
) -> None:
    found = api.audit(
        compiled(tool, "c", SETTING, level, "-g", *options), min_severity=Severity.LOW, config=False
    ).findings
    (finding,) = [one for one in found if {"port.in", "port.out"} <= {who.full_name for who in one.participants}]
    assert ("port.limit" in {who.full_name for who in finding.participants}) == named
    assert any("port.limit" in one.text for one in finding.also) == named
