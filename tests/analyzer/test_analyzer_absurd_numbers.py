"""Sizes, offsets and alignments that no process has room for: compilers take them in declarations, a check goes on.

Owns what is lost for them, which is the one object or place; each has a near miss that stays.
"""

from __future__ import annotations

from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

from sharing.model.facts import ACCESS_COLUMNS, ARG_COLUMNS, FunctionFacts, UnitFacts
from sharing.source.merge import assemble
from sharing.source.program import Program
from tests.analyzer.units import facts, records, variables

MANY = 33_000  # parameters and arguments

C = """
struct fits { char a[1ull << 46]; int b; };
struct large { char a[1ull << 60]; int b; };
struct wraps { char a[1ull << 60], b[1ull << 60], c[1ull << 60], d[1ull << 60]; char e; };
struct holds { struct large *to; char (*array)[1ull << 60]; int last; } holds;
char fits[1ull << 46], large[1ull << 60], none[0];
struct wraps wraps;
int beside, aligned __attribute__((aligned(1ull << 31))), near_aligned __attribute__((aligned(1 << 28)));
struct bits { long long a : 64, : 0; unsigned b : 1; int flexible[]; } bits = {1, 1, {1, 2, 3}};
extern int unbound[];
void take(void *, ...);
void places(struct large *large_of, struct wraps *wraps_of, struct fits *fits_of, unsigned long i)
{
  large[5] = 1;
  fits[5] = 1;
  unbound[1ull << 61] = 1;
  unbound[-(1ll << 61)] = 1;
  unbound[1ull << 62] = 1;
  (&unbound[1ull << 44])[1ull << 44] = 1;
  unbound[1ull << 40] = 1;
  large_of->b = 1;
  wraps_of->e = 1;
  fits_of->b = 1;
  large_of[i].b = 1;
  fits_of[i * (1ul << 20)].b = 1;
  take(&large_of->b, &unbound[1ull << 61]);
  beside = 1;
}
"""

CXX = """
struct first { char a[1ull << 60]; };
struct second { char a[1ull << 60]; };
struct derived : first, second { int last; };
struct small { int a; };
struct both : small { int last; } both;
enum wide : __int128 { one = 1 } wide;
void places(derived *of, both *fits) { of->last = 1; static_cast<second *>(of)->a[0] = 1; fits->last = 1; wide = one; }
"""


def program(unit: UnitFacts) -> Program:
    """As a check reads it: facts out of range raise."""
    return assemble([unit])


def accesses(unit: UnitFacts, name: str) -> list[dict[str, int]]:
    flat = function(unit, name).accesses
    width = len(ACCESS_COLUMNS)
    rows = [flat[at : at + width] for at in range(0, len(flat), width)]
    return [dict(zip(ACCESS_COLUMNS, row, strict=True)) for row in rows]


def function(unit: UnitFacts, name: str) -> FunctionFacts:
    return next(f.facts for f in program(unit).functions.values() if f.facts.name == name)


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> UnitFacts:
    return facts(tmp_path_factory.mktemp("c"), C)


def test_only_what_fits_into_no_process_is_left_out(in_c: UnitFacts) -> None:
    assert {"fits", "none", "beside", "aligned", "holds", "bits"} <= variables(in_c).keys()
    assert not {"large", "wraps"} & variables(in_c).keys()
    assert {"fits", "holds", "bits"} <= records(in_c).keys()
    assert not {"large", "wraps"} & records(in_c).keys()
    assert {name: variables(in_c)[name].size for name in ("fits", "none", "bits")} == {
        "fits": 1 << 46,
        "none": 0,
        "bits": 24,
    }
    assert variables(in_c)["near_aligned"].declared_align == 1 << 28
    assert [m.name for m in records(in_c)["holds"].members] == ["to", "array", "last"]
    named = {note.split(":")[0] for note in in_c.notes}
    assert named == {"large", "wraps"}
    assert all(note.endswith("left out: it fits into no process") for note in in_c.notes)


def test_places_beyond_every_object_are_none(in_c: UnitFacts) -> None:
    rows = accesses(in_c, "places")
    offsets = {in_c.symbols[row["id"]]: row["offset"] for row in rows if row["base"] == 1}
    assert offsets == {"large": 5, "fits": 5, "unbound": 4 << 40, "beside": 0}
    behind = [(row["id"], row["offset"], row["stride"]) for row in rows if row["base"] == 2]
    assert (2, 1 << 46, 0) in behind
    assert all(offset < 1 << 47 and stride < 1 << 47 for _, offset, stride in behind)
    assert function(in_c, "places").args[ARG_COLUMNS.index("arg") :: len(ARG_COLUMNS)] == ()


def test_bases_and_wide_enumerations(tmp_path: Path) -> None:
    unit = facts(tmp_path, CXX, "-std=c++17", name="unit.cc")
    assert not {"first", "second", "derived"} & records(unit).keys()
    assert records(unit)["both"].size == 8
    assert variables(unit)["wide"].size == 16
    assert [(row["base"], row["offset"], row["size"]) for row in accesses(unit, "places")][-2:] == [
        (2, 4, 4),
        (1, 0, 16),
    ]


def test_types_within_each_other_end_somewhere(tmp_path: Path) -> None:
    nested = "typedef int t0;\n" + "".join(f"typedef const volatile t{i} t{i + 1};\n" for i in range(100))
    unit = facts(tmp_path, f"{nested}t100 deep; int plain{'[1]' * 100};\n")
    assert {v.identity for v in program(unit).units[0].variables} >= {"deep", "plain"}


def test_parameters_without_end(tmp_path: Path) -> None:
    parameters = ", ".join(f"int *p{i}" for i in range(MANY))
    values = ", ".join(["&v"] * MANY)
    text = f"int v;\nvoid many({parameters}) {{ *p0 = 1; *p{MANY - 1} = 1; }}\nvoid call(void) {{ many({values}); }}\n"
    unit = facts(tmp_path, text)
    assert [row["id"] for row in accesses(unit, "many")] == [0]
    assert max(function(unit, "call").args[ARG_COLUMNS.index("arg") :: len(ARG_COLUMNS)]) < MANY - 1


@pytest.mark.parametrize("called", [0, 2000])
def test_what_a_large_accessor_returns_is_asked_once(tmp_path: Path, called: int) -> None:
    """It has few statements, one of which holds the rest."""
    inside = "".join("j = j * 3 + pick();\n" for _ in range(4000))
    accessor = f"struct e *at(int i) {{ {{ int j = 0; {inside} i += j; }} return &table[i & 7]; }}\n"
    calls = "at(1)->x = 1;\n" * called
    before = getrusage(RUSAGE_CHILDREN).ru_utime
    unit = facts(
        tmp_path, f"struct e {{ long x, y; }} table[8]; int pick(void);\n{accessor}void use(void) {{ {calls} }}"
    )
    assert {row["stride"] for row in accesses(unit, "use")} == ({16} if called else set())
    assert getrusage(RUSAGE_CHILDREN).ru_utime - before < 2
