"""A check of bounds seldom fails: of an index of so many elements, or of a length against the size of an array."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyzer_functions.facts_in_words import read_unit, rows, tool

pytestmark = pytest.mark.skipif(tool() is None, reason="linemate-facts is not built")

# Steps of rarity, four a halving: of 0.16, 0.84 and a half.
OUT, WITHIN, HALF = 11, 1, 4


def rarity(folder: Path, condition: str, body: str = "") -> dict[str, int]:
    """Of what is done where the condition holds, and where it does not."""
    source = folder / "unit.c"
    source.write_text(f"""
    #define MAX 8
    enum {{ KINDS = 8 }};
    struct handler {{ int (*call)(void); long calls; }};
    static struct handler handlers[MAX];
    static int table[3][8], holds, fails, seen;
    struct packet {{ unsigned char type, length; char bytes[28]; }};
    void f(struct packet *p, unsigned n, int i, int *some) {{
      if ({condition}) holds = 1; else {{ fails = 1; {body} }}
      seen = handlers[p->type].calls + table[2][i] + some[n];
    }}
    """)
    accesses = rows(read_unit(source, []).functions["f"].get("accesses", []), 16)
    unit = read_unit(source, [])
    return {unit.symbol(row[1]): row[13] for row in accesses}


@pytest.mark.parametrize(
    "condition", ["p->type >= MAX", "p->type > MAX - 1", "i >= KINDS", "p->length > sizeof(p->bytes)"]
)
def test_it_seldom_fails(tmp_path: Path, condition: str) -> None:
    found = rarity(tmp_path, condition)
    assert (found["holds"], found["fails"]) == (OUT, WITHIN)


@pytest.mark.parametrize("condition", ["p->type < MAX", "i <= 7", "p->length <= sizeof p->bytes"])
def test_it_is_passed_as_a_rule(tmp_path: Path, condition: str) -> None:
    found = rarity(tmp_path, condition)
    assert (found["holds"], found["fails"]) == (WITHIN, OUT)


@pytest.mark.parametrize(
    "condition",
    [
        "p->type >= 5",  # not of so many elements
        "p->length >= MAX",  # another number chooses
        "n >= 8",  # of as many as nothing says
        "p->length > sizeof(struct packet)",  # no array
        "p->type == MAX",  # no order
    ],
)
def test_other_comparisons_say_nothing(tmp_path: Path, condition: str) -> None:
    found = rarity(tmp_path, condition)
    assert (found["holds"], found["fails"]) == (HALF, HALF)


def test_what_leads_to_the_same_place_is_an_error_as_well(tmp_path: Path) -> None:
    found = rarity(tmp_path, "p->type >= MAX || p->length == 3")
    assert found["fails"] == 2 * WITHIN
    assert rarity(tmp_path, "p->length == 4 || p->length == 3")["fails"] == 2 * HALF
