"""Each rule on declarations against real source through the analyzer: what is expected is written in each file.

``// expect: RULE SEVERITY NAME...`` names participants that the finding must have, ``// no-finding`` says that the
rules are silent; nothing else may be found, notes included.  ``// ARGS:`` are compiler flags, ``// LINE:`` the bytes of
a line.  A folder is one program of several units.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.judge.declarations import run_source_rules, source_context
from sharing.knowledge import default_knowledge
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding
from sharing.rules import DECLARATION_RULES

PROGRAMS = sorted(p for p in (Path(__file__).parent / "programs").iterdir() if p.is_dir() or p.suffix in (".c", ".cc"))
UNIT_SUFFIXES = (".c", ".cc")


def files(program: Path) -> list[Path]:
    return sorted(program.iterdir()) if program.is_dir() else [program]


def lines(program: Path) -> list[str]:
    return [line for path in files(program) for line in path.read_text().splitlines()]


def expectations(program: Path) -> list[list[str]]:
    wanted = [line.split()[2:] for line in lines(program) if line.startswith("// expect:")]
    assert bool(wanted) != ("// no-finding" in lines(program)), f"{program.name} must say what is expected"
    return wanted


def findings(program: Path) -> list[Finding]:
    from linemate.source import read_program

    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    flags = tuple(a for line in lines(program) if line.startswith("// ARGS:") for a in line.split()[2:])
    units = tuple(str(p) for p in files(program) if p.suffix in UNIT_SUFFIXES)
    facts = read_program(CheckOptions(facts=FactsRequest(sources=units, flags=flags)))
    assert not facts.failed
    assert [u.errors for u in facts.units] == [()] * len(units)
    line_size = next((int(line.split()[2]) for line in lines(program) if line.startswith("// LINE:")), 64)
    return run_source_rules(facts, source_context(facts, default_knowledge(), line_size, 2 * line_size))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_program(program: Path) -> None:
    rest = findings(program)
    for rule, severity, *names in expectations(program):
        hits = [f for f in rest if f.rule == rule and {p.name for p in f.participants} >= set(names)]
        assert len(hits) == 1, summary(rest)
        (hit,) = hits
        assert hit.severity == severity, summary(rest)
        file, line, column = hit.participants[0].source.rsplit(":", 2)
        assert Path(file) in files(program)
        declaration = Path(file).read_text().splitlines()[int(line) - 1]
        assert names[0].rpartition("::")[2].rpartition(".")[2].partition("<")[0] in declaration, declaration
        assert 1 <= int(column) <= len(declaration)
        rest.remove(hit)
    assert rest == [], summary(rest)


def summary(rest: list[Finding]) -> str:
    return "\n".join(f"{f.severity} {f.rule} {[p.name for p in f.participants]}: {f.message}" for f in rest)


def test_every_rule_on_declarations_is_expected_in_some_program() -> None:
    expected = {rule for program in PROGRAMS for rule, *_ in expectations(program)}
    assert expected == {rule.id for rule in DECLARATION_RULES}
