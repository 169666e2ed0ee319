"""Records behind pointers that were laid out anew: members that meet on the heap, and what is not shown of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.explaining.run import ExplainRequest, explain
from sharing.explain import numbers
from sharing.explain.causes.layout import severity_of
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Severity

APART = "volatile long in; char pad[120]; volatile long out; char rest[56];"
TOGETHER = "volatile long in; volatile long out; char pad[120]; char rest[56];"
# A pair of threads for one record, which the second one is handed or takes from a static pointer.
CODE = """
#include <pthread.h>
#include <stdlib.h>
struct conn { MEMBERS };
static struct conn *shared;
static void *receive(void *arg) { struct conn *c = FROM; for (long i = 0; i < 9000000; i++) c->in += i & 7; return 0; }
static void *transmit(void *arg) { struct conn *c = FROM; for (long i = 0; i < 900000; i++) c->out += i & 7; return 0; }
int main(void) {
  pthread_t a, b;
  shared = malloc(sizeof *shared);
  pthread_create(&a, 0, receive, shared), pthread_create(&b, 0, transmit, shared);
  pthread_join(a, 0), pthread_join(b, 0);
  return (int)shared->in;
}
"""
# Threads of one kind, each with a record: what one runs beside another is as likely its own.
OWN = CODE.replace("FROM", "arg").replace(
    "pthread_create(&a, 0, receive, shared), pthread_create(&b, 0, transmit, shared);",
    "pthread_create(&a, 0, run, shared), pthread_create(&b, 0, run, malloc(sizeof *shared));",
).replace("int main", "static void *run(void *arg) { for (;;) receive(arg), transmit(arg); }\nint main")  # fmt: skip
SLOTS = """
#include <pthread.h>
#include <stdlib.h>
struct slot { volatile long count; MEMBERS };
static struct slot *all;
static void *work(void *arg) {
  struct slot *mine = &all[(long)arg];
  for (long i = 0; i < 60000000; i++) mine->count += i & 7;
  return 0;
}
int main(void) {
  pthread_t threads[8];
  all = malloc(8 * sizeof *all);
  for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
  return (int)all->count;
}
"""
TALLIES = """
#include <pthread.h>
#include <stdlib.h>
struct tally { volatile long made, kept; MEMBERS } __attribute__((aligned(64)));
static struct tally *all;
static void *work(void *arg) {
  struct tally *mine = &all[(long)arg];
  for (unsigned long i = 0; i < 60000000; i++) { mine->made += i & 7; mine->kept += i & 3; USE }
  return 0;
}
int main(void) {
  pthread_t threads[8];
  all = aligned_alloc(64, 8 * sizeof *all);
  for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
  return (int)all->made;
}
"""
HANDED, TAKEN = CODE.replace("FROM", "arg"), CODE.replace("FROM", "shared")
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    done: dict[tuple[str, ...], Path] = {}

    def made(code: str, members: str, *flags: str) -> Path:
        if (code, members, *flags) not in done:
            folder = tmp_path_factory.mktemp("behind")
            (folder / "main.c").write_text(code.replace("MEMBERS", members))
            command = ["gcc", "-O1", "-pthread", *(flags or ("-g",)), "main.c", "-o", "program"]
            subprocess.run(command, cwd=folder, check=True)
            done[(code, members, *flags)] = folder / "program"
        return done[(code, members, *flags)]

    return made


def compared(old: Path, new: Path) -> Comparison:
    return explain(ExplainRequest(str(old), str(new)))


def layout(found: Comparison) -> Cause | None:
    return next((c for c in found.causes if c.kind is CauseKind.LAYOUT), None)


def excluded(found: Comparison) -> bool:
    return CauseKind.LAYOUT in {r.kind for r in found.ruled_out}


@pytest.mark.parametrize("code", [HANDED, TAKEN], ids=["handed to the thread", "behind a static pointer"])
@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (TOGETHER, "`out` is at byte 8 of `conn`, before at byte 128"),
        (f"long more[4]; {APART.replace('120', '24')}", "`more` is new in `conn`"),
    ],
    ids=["another order", "a member more, and padding less"],
)
def test_members_that_meet_behind_a_pointer_lead(build: Build, code: str, members: str, sentence: str) -> None:
    found = compared(build(code, APART), build(code, members))
    first = found.causes[0]
    assert (first.kind, first.improves, first.symbols) == (CauseKind.LAYOUT, False, ("conn.in", "conn.out"))
    assert sentence in first.summary
    assert "`receive`, `transmit`" in first.summary
    back = layout(compared(build(code, members), build(code, APART)))
    assert back is not None
    assert back.improves


STATIC = HANDED.replace("static struct conn *shared;", "static struct conn one;\n#define shared (&one)").replace(
    "shared = malloc(sizeof *shared);", "OTHER"
)  # fmt: skip


OTHER = 'if (getenv("X")) { void *p = malloc(sizeof *shared); receive(p), transmit(p); }'


@pytest.mark.parametrize("other", ["", OTHER], ids=["static", "a heap"])
def test_a_static_object_that_is_handed_on_is_judged_where_it_is(build: Build, other: str) -> None:
    """It has an address, so that what meets is known; the near miss hands on another object, which has none."""
    code = STATIC.replace("OTHER", other)
    found = compared(build(code, APART), build(code, TOGETHER))
    causes = [c for c in found.causes if c.kind is CauseKind.LAYOUT and not c.improves]
    assert "now share line 0x" in causes[0].summary
    assert any("may now share" in c.summary for c in causes) is bool(other)


def test_a_record_that_grows_behind_what_is_used_stays_ruled_out(build: Build) -> None:
    """The near miss: another size is allocated, and all that threads use is where it was."""
    found = compared(build(HANDED, APART), build(HANDED, f"{APART} long more;"))
    assert layout(found) is None
    assert excluded(found)


def test_members_that_part_at_no_place_less_are_not_accused(build: Build) -> None:
    """Both layouts keep them a line apart; that the record changed is said."""
    found = compared(build(HANDED, APART), build(HANDED, APART.replace("pad[120]", "pad[184]")))
    assert layout(found) is None
    assert [r.kind for r in found.not_ruled_out] == [CauseKind.LAYOUT]
    assert "`conn`, which threads use behind pointers, was laid out anew" in found.not_ruled_out[0].why


def test_a_member_added_within_the_padding_of_a_record_is_named(build: Build) -> None:
    """Nothing else moved, and both builds have debug information."""
    taken = TALLIES.replace("USE", "all[(i * 2654435761u >> 20) & 7].taken += 1;")
    found = compared(build(TALLIES.replace("USE", ""), ""), build(taken, "volatile long taken;"))
    (left,) = [r.why for r in found.not_ruled_out if r.kind is CauseKind.LAYOUT]
    assert "`taken` of `tally`, which `work` uses behind pointers, was added where nothing else moved" in left
    assert "takes debug information" not in left


def test_a_member_that_nothing_uses_is_not_named(build: Build) -> None:
    found = compared(build(TALLIES.replace("USE", ""), ""), build(TALLIES.replace("USE", ""), "long spare;"))
    assert not any("was added" in r.why for r in found.not_ruled_out)


def test_what_the_same_threads_run_may_be_each_ones_own(build: Build) -> None:
    found = compared(build(OWN, APART), build(OWN, TOGETHER))
    assert layout(found) is None
    assert not excluded(found)


def test_without_debug_information_a_layout_is_not_shown(build: Build) -> None:
    found = compared(build(HANDED, APART, "-s"), build(HANDED, TOGETHER, "-s"))
    assert layout(found) is None
    assert not excluded(found)
    assert "memory behind pointers at other offsets" in found.not_ruled_out[0].why
    same = compared(build(HANDED, APART, "-s"), build(HANDED, f"{APART} long more;", "-s"))
    assert excluded(same)


def test_slots_of_threads_that_shrink_may_meet(build: Build) -> None:
    """Low: that they lie one behind the other is how they are allocated, which the accesses do not say."""
    found = layout(compared(build(SLOTS, "char pad[120];"), build(SLOTS, "char pad[8];")))
    assert found is not None
    assert severity_of(found.strength) is Severity.LOW
    assert "two `slot` one behind the other may now share a line" in found.summary
    assert layout(compared(build(SLOTS, "char pad[120];"), build(SLOTS, "char pad[184];"))) is None


@pytest.mark.parametrize(
    ("name", "value", "severity"), [("HEAP_LIKELY", 0.6, Severity.LOW), ("HEAP_STEP", 64, Severity.NOTE)]
)
def test_each_number_decides(
    build: Build, monkeypatch: pytest.MonkeyPatch, name: str, value: float, severity: Severity
) -> None:
    """At half of the places, those in the second half of a line; none where objects begin with lines."""
    old, new = build(HANDED, APART), build(HANDED, f"long more[4]; {APART.replace('120', '24')}")
    before = layout(compared(old, new))
    assert before is not None
    assert severity_of(before.strength) is Severity.MEDIUM
    monkeypatch.setattr(numbers, name, value)
    after = layout(compared(old, new))
    assert (severity_of(after.strength) if after is not None else Severity.NOTE) is severity
