"""Of a pair of which one is declared in several files the other one moves; where neither can, nothing does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from sharing.fix.edits import apply_edits, attach_edits, plan_finding
from sharing.fix.plan import Planner
from sharing.fix.style import FixOptions
from sharing.model.finding import Finding
from tests.fix.program import ProgramBuilder, finding, read

OWN = "long given;\nlong taken;\nlong lost;\nlong f(void) { return given + ++taken + lost; }\n"


def program(builder: ProgramBuilder, *declared: str, header: bool = False) -> Finding:
    """A program of whose variables another file declares some, itself or in a header; a finding that moves each."""
    head = "".join(f"extern long {name};\n" for name in declared)
    use = f"long g(void) {{ return {' + '.join(declared)}; }}\n"
    above = builder.file("all.h", head) if header else ""
    include = '#include "all.h"\n' if header else ""
    first = builder.unit(builder.file("a.c", include + OWN), *([above] if header else []))
    second = builder.unit(builder.file("b.c", include + use if header else head + use), *([above] if header else []))
    for name in ("given", "taken", "lost"):
        also = (f"extern long {name}",) if header and name in declared else ()
        first.variable(f"long {name}", name, also=also)
    for name in declared:
        second.declared(f"extern long {name}", name)
    found = finding("given", "taken", "lost")
    remedies = tuple(
        msgspec.structs.replace(found.remedies[0], text=f"move {name}", moves=name, identity=name, cost_bytes=100)
        for name in ("given", "lost")
    )
    return msgspec.structs.replace(found, remedies=remedies)


def compiles(path: Path) -> None:
    for tool in ("gcc", "clang-19"):
        if shutil.which(tool):
            subprocess.run([tool, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(path)], check=True)


def test_the_other_one_moves(builder: ProgramBuilder, tmp_path: Path) -> None:
    wanted = program(builder, "given")
    known = builder.program()
    first, second = plan_finding(wanted, Planner(known, read, FixOptions()))
    assert first.plan is not None
    assert first.participant.full_name == "taken"
    assert any("given stays" in note and "declared in 2 files" in note for note in first.plan.notes)
    assert second.plan is not None
    assert second.participant.full_name == "lost"
    shown = attach_edits(wanted, known, read).remedies[0]
    assert shown.text.startswith("taken: wrap it")
    assert (shown.moves, shown.identity, shown.cost_bytes) == ("taken", "taken", 56 + 56)
    text = apply_edits(read(str(tmp_path / "a.c")), [*first.plan.edits, *second.plan.edits])
    (tmp_path / "a.c").write_bytes(text)
    assert b"++taken.value" in text
    assert b"long given;" in text
    compiles(tmp_path / "a.c")


def test_where_neither_can_nothing_else_of_the_line_moves(builder: ProgramBuilder) -> None:
    plans = plan_finding(program(builder, "given", "taken"), Planner(builder.program(), read, FixOptions()))
    assert [one.plan for one in plans] == [None, None]
    assert "declared in 2 files" in plans[0].reason
    assert plans[1].reason.startswith("given would stay beside the other one: ")


def test_what_is_of_no_pair_may_stay(builder: ProgramBuilder) -> None:
    plans = plan_finding(program(builder, "lost"), Planner(builder.program(), read, FixOptions()))
    assert [one.plan is not None for one in plans] == [True, False]
    assert plans[0].participant.full_name == "given"


@pytest.mark.parametrize("declared", [("given",), ("given", "taken")])
def test_what_a_header_declares_moves_itself(builder: ProgramBuilder, declared: tuple[str, ...]) -> None:
    plans = plan_finding(program(builder, *declared, header=True), Planner(builder.program(), read, FixOptions()))
    assert plans[0].plan is not None
    assert plans[0].participant.full_name == "given"
    assert {Path(edit.file).name for edit in plans[0].plan.edits} == {"a.c", "b.c", "all.h"}
