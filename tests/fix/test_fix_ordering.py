"""Symbol orders: the linker puts conflicting pairs on different lines, with the source as it is."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.fix.ordering import order_symbols, ordering_text
from sharing.judge.conflicts import groups_apart
from sharing.source.program import Program
from tests.fix.conftest import symbols
from tests.fix.program import LONG, ProgramBuilder, array, finding

LINE = 64
HOT = ("lock", "head", "hits", "flag")
COLD = ("name", "path", "table", "banner", "title")
TEXT = (
    "".join(f"long {name};\n" for name in HOT)
    + "".join(f"char {name}[{70 + 8 * i}];\n" for i, name in enumerate(COLD))
    + "long initialised = 1;\nlong other = 2;\nchar page[100] = {1};\nchar sheet[100] = {1};\n"
    + "char folio[100] = {1};\n"
    + f"long main_sum(void) {{ return {' + '.join(HOT)} + initialised + other; }}\n"
    + "int main(void) { return (int)main_sum(); }\n"
)


def program(builder: ProgramBuilder) -> tuple[Program, str]:
    path = builder.file("main.c", TEXT)
    unit = builder.unit(path)
    byte = msgspec.structs.replace(LONG, name="char", size=1, align=1)
    for name in HOT:
        unit.variable(f"long {name}", name)
    for i, name in enumerate(COLD):
        unit.variable(f"char {name}[{70 + 8 * i}]", name, array(byte, 70 + 8 * i))
    for name in ("initialised = 1", "other = 2"):
        unit.variable(f"long {name}", name.split()[0], init=1)
    for name in ("page", "sheet", "folio"):
        unit.variable(f"char {name}[100] = {{1}}", name, array(byte, 100), init=1)
    return builder.program(), path


def lines_of(place: tuple[int, int]) -> set[int]:
    return set(range(place[0] // LINE, (place[0] + place[1] - 1) // LINE + 1))


@pytest.mark.parametrize(
    ("linker", "tool", "flag"),
    [("lld", "ld.lld-19", "--symbol-ordering-file"), ("gold", "ld.gold", "--section-ordering-file")],
)
def test_the_linked_program_has_conflicting_pairs_apart(
    builder: ProgramBuilder, linker: str, tool: str, flag: str
) -> None:
    for needed in (tool, "gcc"):
        if not shutil.which(needed):
            pytest.skip(f"no {needed}")
    facts, path = program(builder)
    findings = [finding("lock", "head"), finding("hits", "flag"), finding("initialised", "other")]
    order = order_symbols(facts, findings, LINE)
    assert order.left_together == ()
    file, out = builder.folder / "order", builder.folder / "program"
    file.write_text(ordering_text(order, linker))
    folder = builder.folder / "bin"
    folder.mkdir()
    (folder / f"ld.{linker}").symlink_to(str(shutil.which(tool)))
    flags = ["-O1", "-fdata-sections", "-fno-common", f"-B{folder}", f"-fuse-ld={linker}", f"-Wl,{flag}={file}"]
    subprocess.run(["gcc", *flags, "-o", str(out), path], check=True)
    found = symbols(out)
    hot = (*HOT, "initialised", "other")
    for i, a in enumerate(hot):
        for b in hot[i + 1 :]:
            assert not lines_of(found[a]) & lines_of(found[b]), (a, b)


def test_company_that_no_finding_parts_may_stay_together(builder: ProgramBuilder) -> None:
    facts, _ = program(builder)
    order = order_symbols(facts, [finding("lock", "head", "hits")], LINE)
    group = {row.symbol: row.group for row in order.symbols}
    assert group["head"] == group["hits"] != group["lock"]


def test_too_little_cold_data_is_said(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("main.c", "long lock;\nlong head;\n"))
    lock, head = unit.variable("long lock", "lock"), unit.variable("long head", "head")
    order = order_symbols(builder.program(), [finding(lock, head)], LINE)
    assert order.left_together
    assert order.notes == (".bss has too little cold data to keep 2 groups apart",)


def test_what_is_in_a_section_of_its_own_cannot_be_ordered(builder: ProgramBuilder) -> None:
    facts, _ = program(builder)
    moved = msgspec.structs.replace(facts.variables["lock"].facts, section=".mine")
    facts.variables["lock"] = type(facts.variables["lock"])(moved, 0)
    order = order_symbols(facts, [finding("lock", "head")], LINE)
    assert order.left_together == ("lock",)
    assert order.notes == ("lock: it is in section .mine, which no order reaches",)


def test_gold_is_told_sections_and_lld_symbols(builder: ProgramBuilder, tmp_path: Path) -> None:
    facts, _ = program(builder)
    order = order_symbols(facts, [finding("lock", "head")], LINE)
    assert ".bss.lock\n" in ordering_text(order, "gold")
    assert "\nlock\n" in ordering_text(order, "lld")
    assert "-fdata-sections" in ordering_text(order, "lld").splitlines()[0]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_no_group_holds_a_conflict_and_nothing_is_lost(pairs: list[tuple[int, int]]) -> None:
    names = [str(n) for n in range(10)]
    conflicts = [(str(a), str(b)) for a, b in pairs if a != b]
    groups = groups_apart(names, conflicts)
    assert sorted(n for group in groups for n in group) == names
    assert not any({a, b} <= set(group) for group in groups for a, b in conflicts)
    assert all(len(a) >= len(b) for a, b in pairwise(groups))
