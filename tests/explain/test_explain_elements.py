"""Elements of an array, one for each thread: records that became smaller or larger, and meet or part by that."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sharing.model.comparison import Cause, CauseKind
from tests.explain.conftest import Explain

CODE = """
#include <pthread.h>
struct slot { MEMBERS };
__attribute__((aligned(64))) struct slot slots[8];
static void *work(void *arg) {
  struct slot *s = &slots[(long)arg];
  for (long i = 0; i < 60000000; i++) s->a += i & 7, s->b++;
  return 0;
}
int main(void) {
  pthread_t t[8];
  for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
  return (int)slots[3].a;
}
"""
ALONE = CODE.replace("pthread_create(&t[i], 0, work, (void *)i)", "work((void *)i)").replace(
    "pthread_join(t[i], 0)", "(void)t"
)
SMALL = "volatile long a, b;"
LINE = "volatile long a, b; char pad[48];"
WIDE = "volatile long a, b; char pad[112];"
LONGER = "volatile long a, b; char pad[56];"  # 72 bytes, of which the first 16 are in use
ENDS = "volatile long a; char pad[56]; volatile long b;"  # 72 bytes, of which both ends are
APART = "volatile long a; char pad[48]; volatile long b; char rest[64];"
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    done: dict[tuple[str, str, str], Path] = {}

    def made(members: str, flag: str = "-g", code: str = CODE) -> Path:
        if (members, flag, code) not in done:
            folder = tmp_path_factory.mktemp("elements")
            (folder / "main.c").write_text(code.replace("MEMBERS", members))
            subprocess.run(["gcc", "-O2", flag, "-pthread", "main.c", "-o", "program"], cwd=folder, check=True)
            done[members, flag, code] = folder / "program"
        return done[members, flag, code]

    return made


def layout(found: tuple[Cause, ...]) -> Cause | None:
    return next((c for c in found if c.kind is CauseKind.LAYOUT), None)


@pytest.mark.parametrize("before", [LINE, WIDE, LONGER], ids=["a line", "two lines", "a line and a word"])
def test_elements_that_became_smaller_than_a_line_lead(build: Build, explained: Explain, before: str) -> None:
    found = explained(build(before), build(SMALL))
    first = found.causes[0]
    assert (first.kind, first.improves) == (CauseKind.LAYOUT, False)
    mates = first.new_line_mates[0]
    assert (mates.first, mates.second, mates.finding) == ("slots[0].b", "slots[1].a", "packed-thread-slots")
    assert "`slots[1].a` is at byte 16 of `slots`" in first.summary
    assert [f.rule for f in found.findings] == ["packed-thread-slots"]
    back = explained(build(SMALL), build(before)).causes
    assert [c.improves for c in back if c.kind is CauseKind.LAYOUT] == [True]


def test_elements_of_more_than_a_line_whose_ends_are_used_meet(build: Build, explained: Explain) -> None:
    """No rule says how bad that is: it is low, and behind the code that changed with it."""
    worse = layout(explained(build(APART), build(ENDS)).causes)
    assert worse is not None
    assert {worse.new_line_mates[0].first, worse.new_line_mates[0].second} == {"slots[0].b", "slots[1].a"}
    assert worse.new_line_mates[0].severity == "low"


def test_elements_that_grow_behind_what_is_used_do_not_meet(build: Build, explained: Explain) -> None:
    """The near miss: 72 bytes each, and the 16 in use of each stay on lines of their own."""
    found = explained(build(LINE), build(LONGER))
    assert layout(found.causes) is None
    (why,) = (r.why for r in found.ruled_out if r.kind is CauseKind.LAYOUT)
    assert "`slots` (resized, +64 bytes)" in why


def test_elements_of_one_thread_are_no_matter(build: Build, explained: Explain) -> None:
    assert layout(explained(build(LINE, code=ALONE), build(SMALL, code=ALONE)).causes) is None


def test_stripped_files_show_elements_that_meet(build: Build, explained: Explain) -> None:
    worse = layout(explained(build(WIDE, "-s"), build(SMALL, "-s")).causes)
    assert worse is not None
    assert not worse.improves
    assert worse.new_line_mates[0].finding == "packed-thread-slots"
