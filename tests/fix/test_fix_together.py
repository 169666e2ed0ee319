"""Edits of several variables of one statement: all at one go, each with whole lines, and never one over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharing.fix.edits import apply_edits
from sharing.fix.plan import Planner
from sharing.fix.style import FixOptions
from sharing.fix.together import combine
from sharing.fix.variables import separate_variable
from tests.fix.conftest import Build
from tests.fix.program import LONG, POINTER, ProgramBuilder

LINE = 64
USES = "\nlong f(void) { return in + out + drop; }\nvoid g(void) { in++; out++; drop++; }\n"


def together(builder: ProgramBuilder, path: str, *identities: str) -> tuple[list[str], str]:
    """Separate the variables at once: who was left out, and the text that is written."""
    planner = Planner(builder.program(), read, FixOptions())
    edits, left_out = combine((each, separate_variable(planner, each)) for each in identities)
    text = apply_edits(read(path), edits)
    Path(path).write_bytes(text)
    return [name for name, _ in left_out], text.decode()


def read(path: str) -> bytes:
    return Path(path).read_bytes()


def lined(places: dict[str, tuple[int, int]], *names: str) -> bool:
    return all(places[name][0] % LINE == 0 and places[name][1] % LINE == 0 for name in names)


@pytest.mark.parametrize("order", ["in out drop", "drop in out", "in drop out", "out in drop", "in drop", "out drop"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_all_of_one_statement(builder: ProgramBuilder, build: Build, order: str, compiler: str) -> None:
    path = builder.file("a.c", f"static volatile long in = 1, out, drop = 3;{USES}")
    unit = builder.unit(path, compiler=compiler)
    text = "static volatile long in = 1, out, drop = 3"
    known = {name: unit.variable(text, name, init=1) for name in ("in", "out", "drop")}
    left_out, written = together(builder, path, *(known[name] for name in order.split()))
    assert left_out == []
    assert lined(build(path, compiler=compiler), *order.split())
    assert "= { 1 }" in written if "in" in order.split() else "long in = 1;" in written


def test_of_a_type_that_is_defined_with_them(builder: ProgramBuilder, build: Build) -> None:
    uses = "\nlong f(void) { a.n++; b.n += 2; return a.n + b.n + c->n; }\n"
    path = builder.file("a.c", f"static struct box {{ long n; long m; }} a, b = {{ 1, 2 }}, *c = 0;{uses}")
    unit = builder.unit(path)
    text = "static struct box { long n; long m; } a, b = { 1, 2 }, *c = 0"
    box = unit.record("struct box { long n; long m; }", "box", (("long n;", "n", LONG), ("long m;", "m", LONG)))
    first = unit.variable(text, "a", unit.of_record(box))
    second = unit.variable(text, "b", unit.of_record(box), init=1)
    unit.variable(text, "c", POINTER)
    left_out, written = together(builder, path, second, first)
    assert left_out == []
    assert written.startswith("struct box { long n; long m; };\nstatic struct { _Alignas(64) struct box value; } a;\n")
    assert "\nstatic struct box *c = 0;\n" in written
    assert lined(build(path), "a", "b")


def test_one_that_points_to_another_stays(builder: ProgramBuilder, build: Build) -> None:
    """Its initialiser names what moves, which two edits of the same text would be."""
    uses = "\nlong f(void) { in++; return *at; }\nvoid g(long *p) { at = p; }\n"
    path = builder.file("a.c", f"static long in = 1, *at = &in;{uses}")
    unit = builder.unit(path)
    moved = unit.variable("static long in = 1, *at = &in", "in", init=1)
    pointer = unit.variable("static long in = 1, *at = &in", "at", POINTER, init=1)
    left_out, written = together(builder, path, moved, pointer)
    assert left_out == [pointer]
    assert "*at = &in.value;" in written
    assert lined(build(path), "in")


def test_a_type_without_a_name_stays(builder: ProgramBuilder) -> None:
    path = builder.file("a.c", "static struct { long n; } a, b;\nlong f(void) { return a.n++ + b.n++; }\n")
    unit = builder.unit(path)
    text = "static struct { long n; } a, b"
    kind = unit.of_record(unit.record("struct { long n; }", "", (("long n;", "n", LONG),)))
    first = unit.variable(text, "a", kind)
    unit.variable(text, "b", kind)
    with pytest.raises(Exception, match="declared together with its type"):
        together(builder, path, first)
