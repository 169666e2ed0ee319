"""What moved variables, and how many went elsewhere: numbers of all, however few are listed, and bytes that add up."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from linemate.explaining.run import ExplainRequest
from linemate.explaining.run import explain as compared
from reports.explain import EXPLAIN_EMITTERS
from reports.options import RenderOptions
from sharing.explain.causes.movers import movers, words
from sharing.explain.compare import MAX_CHANGES, ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model import Image
from sharing.model.comparison import CauseKind, Comparison, Contribution, SectionMove, Share
from tests.explain.layouts import Var, laid

WENT = 30
# Two counters of two threads, behind many small variables that the new build has in a section of their own.
PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
#ifdef APART
#define PLACE __attribute__((section("guarded")))
#else
#define PLACE
#endif
#define ONE(n) PLACE long option##n = n + 1;
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
__attribute__((aligned(64))) long first = 1;
TEN(1) TEN(2) ONE(31)
_Atomic long served = 1;
char between[40] = "x";
_Atomic long failed = 1;
static void *serve(void *arg) { for (;;) atomic_fetch_add(&served, first); }
static void *fail(void *arg) { for (;;) atomic_fetch_add(&failed, first); }
int main(int argc, char **argv) {
  pthread_t t[2];
  pthread_create(&t[0], 0, serve, 0);
  pthread_create(&t[1], 0, fail, 0);
  pthread_join(t[0], 0);
  return between[argc];
}
"""


def document(old: Image, new: Image) -> Comparison:
    return explain(old, new, default_knowledge(), ExplainOptions())


def gone_elsewhere(others: int) -> Comparison:
    """Thirty go to another section, half of them so small that many others that grew stand before them."""
    went = [Var(f"went{n}", 64 if n % 2 else 4, 4) for n in range(WENT)]
    old = {".bss": [*went, *(Var(f"v{n}", 16) for n in range(others))]}
    new = {".guarded": went, ".bss": [Var(f"v{n}", 24) for n in range(others)]}
    return document(laid(old), laid(new))


@pytest.mark.parametrize("others", [20, MAX_CHANGES + 50])
def test_of_what_went_to_another_section_all_are_counted_also_those_that_no_list_has(others: int) -> None:
    found = gone_elsewhere(others)
    listed = sum(one.name.startswith("went") for one in found.changes)
    assert (listed < WENT) == (others > MAX_CHANGES)
    assert found.section_moves == (SectionMove(".bss", ".guarded", WENT),)
    text = EXPLAIN_EMITTERS["text"].render(found, RenderOptions(width=200))
    assert f"and {WENT - 1} more " in text
    rows = text.partition("variables that changed\n")[2].partition("\n\n")[0].splitlines()
    shown = sum(1 + int((re.search(r"and (\d+) more", row) or [0, 0])[1]) for row in rows[:-1])
    assert rows[-1].strip() == f"and {found.coverage.counts['changes'] - shown} more changes"


def test_symbols_that_are_not_named_one_by_one_are_counted_and_their_bytes_are_in_the_sum() -> None:
    parts = (
        Contribution(Share.LEFT, "a", -8, symbols=1),
        Contribution(Share.LEFT, "b", -8, symbols=1),
        Contribution(Share.OTHERS, "17 more", -76, symbols=17),
        Contribution(Share.ALIGNMENT, "", 12),
    )
    assert (
        movers(parts) == "`a` (moved away, -8 bytes) and 18 other symbols, -92 bytes in all, and +12 bytes of padding"
    )
    assert words(parts[2]) == "-76 bytes: 17 other symbols"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((Contribution(Share.ADDED, "a", 64, symbols=1),), "`a` (added, +64 bytes)"),
        (
            (Contribution(Share.ADDED, "a", 56, "f.c:3", symbols=1), Contribution(Share.ALIGNMENT, "", 8)),
            "`a` (added, +56 bytes, f.c:3) and +8 bytes of padding",
        ),
        (
            (Contribution(Share.ADDED, "a", 64, symbols=1), Contribution(Share.REMOVED, "b", -16, symbols=1)),
            "`a` (added, +64 bytes) and 1 other symbol, +48 bytes in all,",
        ),
        (
            (Contribution(Share.ADDED, "a", 64, symbols=1), Contribution(Share.UNCOVERED, "", -16)),
            "`a` (added, +64 bytes) and -16 bytes without a symbol",
        ),
        ((Contribution(Share.UNCOVERED, "", -16),), ""),
    ],
)
def test_the_bytes_that_are_told_add_up_to_the_move(parts: tuple[Contribution, ...], said: str) -> None:
    assert movers(parts) == said


def test_of_a_program_the_number_and_the_bytes_are_those_of_all_that_moved_a_pair(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    for name, define in (("old", "-DTOGETHER"), ("new", "-DAPART")):
        command = ["gcc", "-O2", "-g", "-fno-toplevel-reorder", define, "p.c", "-pthread", "-o", name]
        subprocess.run(command, cwd=tmp_path, check=True)
    found = compared(ExplainRequest(str(tmp_path / "old"), str(tmp_path / "new")))
    layout = next(c for c in found.causes if c.kind is CauseKind.LAYOUT and "served" in c.summary)
    told = re.match(
        r"`option\d+` \(moved away, -8 bytes\S*[^)]*\) and (\d+) other symbols?, (-\d+) bytes in all,"
        r"(?: and ([-+]\d+) bytes of padding)? moved \d+ variables? by (-0x[0-9a-f]+)",
        layout.summary,
    )
    assert told is not None, layout.summary
    assert int(told[1]) == 20
    assert int(told[2]) == -21 * 8
    assert int(told[2]) + int(told[3] or 0) == int(told[4], 16)
