"""``check`` on small programs, from source alone: what is expected is written in each, and nothing else may be found.

``// expect: RULE SEVERITY NAME...`` names the participants that the finding must have, ``// no-finding`` says that the
default report is empty; ``// expect-of-source:`` stands where source calls otherwise what is found.  ``// ARGS:`` are
compiler flags.  Notes and what is only fragile do not count.  The programs of tests/e2e are held to the same verdicts
that their binaries get.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Report, Severity
from sharing.rules import LINE_RULES

OWN = Path(__file__).parent / "programs"
LINKED = Path(__file__).parents[1] / "e2e" / "programs"
PROGRAMS = sorted(p for folder in (OWN, LINKED) for p in folder.iterdir() if p.suffix in (".c", ".cc"))
OF_LINES = {rule.id for rule in LINE_RULES} - {"safe-by-luck"}


def words(source: Path, tag: str) -> list[list[str]]:
    return [line.split()[2:] for line in source.read_text().splitlines() if line.startswith(f"// {tag}:")]


def expectations(source: Path) -> list[list[str]]:
    wanted = words(source, "expect-of-source") or words(source, "expect")
    silent = "// no-finding" in source.read_text().splitlines()
    assert bool(wanted) != silent or words(source, "expect-of-source"), source.name
    return wanted


@functools.cache
def report(source: Path) -> Report:
    from linemate.pipeline import check_program
    from linemate.source import read_program

    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    flags = ("-O2", *(a for line in words(source, "ARGS") for a in line))
    options = CheckOptions(facts=FactsRequest(sources=(str(source),), flags=flags), min_severity=Severity.LOW)
    return check_program(read_program(options), options)


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: f"{p.parents[1].name}/{p.name}")
def test_program(source: Path) -> None:
    findings = report(source).findings
    rest = [f for f in findings if f.rule in OF_LINES or (source.parent == OWN and f.rule != "safe-by-luck")]
    for rule, severity, *names in expectations(source):
        hits = [f for f in rest if f.rule == rule and names_of(f) >= {bare(n) for n in names}]
        assert len(hits) == 1, summary(findings)
        (hit,) = hits
        assert hit.severity == severity, summary(findings)
        assert hit.confidence == "static"
        assert hit.remedies[0].protects_tail
        assert all(p.source.startswith(str(source)) for p in hit.participants), hit.participants
        assert hit.related, "a finding from source shows the accesses that make it"
        rest.remove(hit)
    assert rest == [], summary(rest)


def names_of(finding: Finding) -> set[str]:
    return {bare(n) for p in finding.participants for n in (p.name, p.full_name, p.member or p.name)}


def bare(name: str) -> str:
    """Without the keyword that names a record in C."""
    return name.removeprefix("struct ").removeprefix("union ")


def summary(findings: list[Finding] | tuple[Finding, ...]) -> str:
    return "\n".join(f"{f.severity} {f.rule} {[p.full_name for p in f.participants]}: {f.message}" for f in findings)
