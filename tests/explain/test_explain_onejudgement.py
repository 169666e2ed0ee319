"""A pair that met is as severe as an audit of the new build says, unless a profile says more."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.api import audit
from sharing.explain.causes.layout import severity_of
from sharing.model.comparison import CauseKind, LineMates
from sharing.model.finding import Severity
from tests.explain.conftest import Explain

CODE = """
#include <pthread.h>
volatile long seen = 1;
long filler[FILL] = {1};
volatile long sent = 2, level;
__attribute__((noinline)) void see(long i) { if (i % 3 == SOME) seen += i; }
__attribute__((noinline)) void send(long i) { if (i % 3 == SOME) sent += i; }
void (*volatile calls[2])(long) = {see, send};
static void *receive(void *unused) { for (long i = 0; i < 60000000; i++) FIRST; return unused; }
static void *transmit(void *unused) { for (long i = 0; i < 60000000; i++) SECOND; return unused; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, receive, 0), pthread_create(&b, 0, transmit, 0);
  pthread_join(a, 0), pthread_join(b, 0);
}
"""
SELDOM = "{ if (i % 4096 == 0 && level == 7) { if (i & 64) see(i); } }"
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    def made(fill: int, first: str, second: str) -> Path:
        folder = tmp_path_factory.mktemp("judgement")
        code = CODE.replace("FILL", str(fill)).replace("FIRST", first).replace("SECOND", second)
        (folder / "main.c").write_text(code.replace("SOME", "1"))
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "main.c", "-o", "program"], cwd=folder, check=True)
        return folder / "program"

    return made


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("seen += i & 3", "sent += i & 3"),
        ("see(i)", "sent += i & 3"),
        ("see(i)", "send(i)"),
        (SELDOM, "send(i)"),
        (SELDOM, SELDOM.replace("see", "send")),
    ],
    ids=["each time around", "one in a function", "both in functions", "one seldom", "both seldom"],
)
def test_explain_and_audit_agree(build: Build, explained: Explain, first: str, second: str) -> None:
    old, new = build(9, first, second), build(1, first, second)
    cause = next(c for c in explained(old, new).causes if c.kind is CauseKind.LAYOUT)
    (pair,) = (one for one in cause.new_line_mates if {one.first, one.second} == {"seen", "sent"})
    assert pair.severity == audited(new, pair)
    assert severity_of(cause.strength).value == pair.severity


def audited(program: Path, pair: LineMates) -> str:
    """What an audit says of the two, of the findings that name both the worst."""
    report = audit(str(program), min_severity=Severity.NOTE)
    found = [f.severity for f in report.findings if {pair.first, pair.second} <= {p.name for p in f.participants}]
    return max(found, key=lambda severity: severity.rank).value if found else ""


def test_the_cases_are_of_several_severities(build: Build, explained: Explain) -> None:
    said = set()
    for first, second in (
        ("seen += i & 3", "sent += i & 3"),
        (SELDOM, "send(i)"),
        (SELDOM, SELDOM.replace("see", "send")),
    ):
        found = explained(build(9, first, second), build(1, first, second))
        said |= {severity_of(c.strength) for c in found.causes if c.kind is CauseKind.LAYOUT}
    assert said == {Severity.HIGH, Severity.MEDIUM, Severity.LOW}
