"""What a function does to the objects that it frees: marked as what it does to one that it makes.

Owns which members count as freed, and on which ways.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sharing.model.facts import ACCESS_COLUMNS, AccessFlag, FunctionFacts
from tests.analyzer.units import facts

HEAD = """
struct slot { int socket; unsigned long packets; };
struct device { struct slot *slots; struct slot *spare; int count; };
void free(void *); void pool_free(void *pool, void *what); int slot_free(void *);
struct slot *make(int); void close(int);
"""
FLAGS, WIDTH = ACCESS_COLUMNS.index("flags"), len(ACCESS_COLUMNS)
STRIDE = ACCESS_COLUMNS.index("stride")


def marked(tmp_path: Path, body: str) -> list[bool]:
    """Of each use of a slot of the array, in their order: is it of what ends?"""
    unit = facts(tmp_path, f"{HEAD}void f(struct device *d, struct device *other) {{ {body} }}\n")
    rows = msgspec.json.decode(dict(unit.functions)["f"], type=FunctionFacts).accesses
    flat = [rows[at : at + WIDTH] for at in range(0, len(rows), WIDTH)]
    return [bool(row[FLAGS] & AccessFlag.NEW) for row in flat if row[STRIDE]]


CLOSE = "for (int i = 0; i < d->count; i++) close(d->slots[i].socket);"


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        (f"{CLOSE} free(d->slots);", [True]),
        (f"if (!d->count) return; {CLOSE} free(d->slots);", [True]),
        (f"{CLOSE} pool_free(d, d->slots);", [True]),
        (f"{CLOSE} free(d->slots); d->slots = 0;", [True]),
        # Others take their place: a table that grows.
        (f"{CLOSE} free(d->slots); d->slots = make(9);", [False]),
        # Only some runs free them.
        (f"{CLOSE} if (other) free(d->slots);", [False]),
        # Neither frees them: one asks, one frees the record that has the pointer.
        (f"{CLOSE} slot_free(d->slots);", [False]),
        (f"{CLOSE} free(d);", [False]),
    ],
)
def test_uses_of_what_is_freed(tmp_path: Path, body: str, ends: list[bool]) -> None:
    assert marked(tmp_path, body) == ends
