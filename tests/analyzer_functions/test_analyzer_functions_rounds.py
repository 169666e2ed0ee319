"""How rarely a loop does what it does once in so many rounds: by a modulus, a mask, or a counter that is set back."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.analyzer_functions.facts_in_words import read_unit, rows, tool

pytestmark = pytest.mark.skipif(tool() is None, reason="linemate-facts is not built")

HALF = 4  # steps of rarity: four a halving
A_LOOP = 10  # rounds that an inner loop is taken to make
SEVERAL = 4  # numbers that are left of one that is divided by what is no constant


def rarity(folder: Path, loop: str, suffix: str = "c") -> int:
    """Of what a function with this loop does to ``seen``."""
    source = folder / f"unit.{suffix}"
    source.write_text(
        f"""
        #define LIMIT (1 << 15)
        enum {{ EVERY = 5000 }};
        static unsigned seen, total;
        unsigned work(unsigned);
        struct owner {{ unsigned calls; int left; }};
        void f(unsigned n, struct owner *o, unsigned *shared) {{ total = n; {loop} }}
        """
    )
    unit = read_unit(source, [])
    (facts,) = [facts for name, facts in unit.functions.items() if name.startswith("f")]
    found = [row for row in rows(facts["accesses"], 16) if row[0] == 1 and "seen" in unit.symbol(row[1])]
    return int(found[-1][13])


SELDOM = [
    ("for (unsigned i = 0; i < n; i++) { work(i); if (i % 100000 == 0) seen++; }", 100_000),
    ("for (unsigned i = 0; i < n; i++) { work(i); if (i % EVERY) continue; seen++; }", 5000),
    ("for (unsigned i = 0; i < n; i++) if (!(i % LIMIT)) seen++;", 1 << 15),
    ("while (n--) { if (work(n) % 1000 == 7) seen++; }", 1000),
    ("while (n--) { if ((n & (LIMIT - 1)) == 0) seen++; }", 1 << 15),
    ("while (n--) { if (!(n & 0xfff) && total) seen++; }", 1 << 13),
    ("for (unsigned c = 0;;) { work(c); if (++c == 50000) { c = 0; seen++; } }", 50_000),
    ("for (unsigned c = 0;;) { c++; work(c); if (c >= LIMIT) { seen += c; c = 0; } }", 1 << 15),
    ("for (unsigned c = 0;;) { if (++c < 4000) continue; c -= 4000; seen++; }", 4000),
    ("for (;;) { if (--o->left == 0) { o->left = 2000; seen++; } }", 2000),
    ("for (;;) { if ((++o->calls & 0xfff) == 0) seen++; }", 1 << 12),
    ("for (;;) { if (__atomic_fetch_add(shared, 1, 0) % 4096 == 0) seen++; }", 1 << 12),
    ("for (;;) { if (__atomic_fetch_add(shared, 1, 0) % o->calls == 0) seen++; }", SEVERAL),
    ("for (;;) { unsigned v = __atomic_fetch_add(shared, 1, 0), i = v % o->calls; if (!i) seen++; }", SEVERAL),
    ("for (unsigned i = 0; i < n; i++) { unsigned part = i % 5000; work(part); if (part == 7) seen++; }", 5000),
    ("while (n--) { for (int i = 0; i < 20000; i++) work(i); seen++; }", 20_000 / A_LOOP),
]
OFTEN = [
    "while (n--) { if (work(n) & 0x1000) seen++; }",
    "while (n--) { if ((work(n) & 0xfff) == 0) seen++; }",
    "while (n--) { if (work(n) % 64 == 0) seen++; }",
    "while (n--) { if (n % 2 == 0) seen++; }",
    "while (n--) { if (work(n) % o->calls == 0) seen++; }",  # of a length, say: it often is
    "while (n--) { unsigned part = n % 5000; part = work(n); if (part == 7) seen++; }",
    "for (unsigned c = 0; c < n; c++) { if (c >= 1000) seen++; }",
    "while (n--) { seen++; if (work(n) == 3) for (int i = 0; i < 20000; i++) work(i); }",
    "while (n--) { for (int i = 0; i < 20; i++) work(i); seen++; }",
    "while (n--) { for (int i = 0; i < 1000000; i++) if (work(i)) break; seen++; }",  # a wait, so long at most
]


@pytest.mark.parametrize(("loop", "rounds"), SELDOM, ids=[loop for loop, _rounds in SELDOM])
def test_one_of_so_many_rounds_is_rare(tmp_path: Path, loop: str, rounds: float) -> None:
    assert rarity(tmp_path, loop) == pytest.approx(4 * math.log2(rounds), abs=2)


@pytest.mark.parametrize("loop", OFTEN)
def test_what_asks_for_no_round_is_as_likely_as_any(tmp_path: Path, loop: str) -> None:
    assert rarity(tmp_path, loop) <= HALF


def test_a_counter_of_a_class_is_known(tmp_path: Path) -> None:
    text = "for (;;) { work(1); if (++o->left >= 3000) { o->left = 0; seen++; } }"
    assert rarity(tmp_path, text, "cpp") == pytest.approx(4 * math.log2(3000), abs=2)
