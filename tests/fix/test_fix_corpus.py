"""Every variable of two programs is given lines of its own, all edits at once: they compile and fill their lines."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from analyzer.run import run_facts
from analyzer.stream import read_facts
from elfscan.tools import tool_path
from linemate.options import FactsRequest
from sharing.fix.edits import apply_edits
from sharing.fix.plan import Plan, Planner, last_name
from sharing.fix.style import FixOptions
from sharing.fix.together import combine
from sharing.fix.tokens import Refused
from sharing.fix.variables import separate_variable
from sharing.model.errors import LinemateError
from sharing.model.facts import VariableBits
from sharing.source.merge import merge
from sharing.source.program import Program
from tests.fix.conftest import Build
from tests.fix.program import read

CORPUS = Path(__file__).parent / "corpus"
LINE = 64
ROUNDS = 4
PROGRAMS = {
    "c": (["everything.c"], "gcc", "-std=gnu11"),
    "c99": (["everything.c"], "gcc", "-std=gnu99"),
    "clang c": (["everything.c"], "clang-19", "-std=gnu11"),
    "c++": (["everything.cc", "second.cc"], "g++", "-std=c++20"),
    "clang c++": (["everything.cc", "second.cc"], "clang++-19", "-std=c++20"),
}


def facts(folder: Path, units: list[str], compiler: str, standard: str) -> Program:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    database = [
        f'{{"directory": "{folder}", "file": "{unit}", "arguments": ["{compiler}", "{standard}", "-c", "{unit}"]}}'
        for unit in units
    ]
    (folder / "compile_commands.json").write_text(f"[{', '.join(database)}]")
    return merge(read_facts(run_facts(FactsRequest(database=str(folder)))))


def expected(folder: Path) -> dict[tuple[str, int], str]:
    """(file, line) → reason of the refusals that the sources announce."""
    found = {}
    for path in folder.iterdir():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := re.search(r"refused: (.*?)( \*/)?$", line):
                found[path.name, number] = match[1]
    return found


def plain(name: str) -> str:
    """The variable's own name in a symbol: of ``f()::calls``, ``calls.0`` and ``f.calls`` calls."""
    return re.split(r"::|\.", re.sub(r"\.\d+$", "", name))[-1].partition("[")[0]


@pytest.mark.parametrize(("units", "compiler", "standard"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_every_variable_gets_lines_of_its_own(
    tmp_path: Path, build: Build, units: list[str], compiler: str, standard: str
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    for name in (*units, "everything.h"):
        shutil.copy(CORPUS / name, folder)
    moved: set[str] = set()
    for _ in range(ROUNDS):  # what refers to another variable of its statement is moved after that
        program = facts(folder, units, compiler, standard)
        assert program.failed == ()
        plans, refused = everything(program, folder)
        if not plans:
            break
        edits, clashes = combine(plans)
        late = {name for name, _ in clashes}
        moved |= {last_name(program.variables[name].facts.name) for name, _ in plans if name not in late}
        for name in {edit.file for edit in edits}:
            Path(name).write_bytes(apply_edits(read(name), [edit for edit in edits if edit.file == name]))
    assert plans == []
    read_files = {Path(name).name for unit in program.units for name in unit.files}
    announced = [(place, why) for place, why in expected(folder).items() if place[0] in read_files]
    assert refused.keys() == {place for place, _ in announced}
    assert [place for place, why in announced if why not in refused[place]] == []
    for level, optional in (("-O0", 0), ("-O2", len(moved))):  # optimised, what is only written may be gone
        found = build(*(str(folder / unit) for unit in units), compiler=compiler, flags=f"{standard} {level} -w")
        places = [(name, place) for name, place in found.items() if plain(name) in moved]
        assert len({plain(name) for name, _ in places}) >= len(moved) - optional
        assert [(name, place) for name, place in places if place[0] % LINE or place[1] % LINE] == []


def everything(program: Program, folder: Path) -> tuple[list[tuple[str, Plan]], dict[tuple[str, int], str]]:
    """Plans by identity, and reasons by file and line, of all variables that do not have lines of their own yet."""
    planner = Planner(program, read, FixOptions(LINE))
    plans: list[tuple[str, Plan]] = []
    refused: dict[tuple[str, int], str] = {}
    for identity, defined in program.variables.items():
        path = Path(program.path(defined.unit, defined.facts.file))
        if path.parent != folder or defined.facts.bits & VariableBits.CONSTANT:
            continue
        try:
            plans.append((identity, separate_variable(planner, identity)))
        except Refused as reason:
            if "already" not in str(reason):
                refused[path.name, defined.facts.line] = str(reason)
    return plans, refused
