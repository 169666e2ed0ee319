"""Small programs through the built tools: what is expected is written in each, and nothing else may be found.

``// expect: RULE SEVERITY NAME...`` names the participants that the finding must have, ``// no-finding`` says that
the default report is empty.  Notes do not count.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate.cli import main
from tests import cpp

PROGRAMS = sorted(p for p in (Path(__file__).parent / "programs").iterdir() if p.suffix in (".c", ".cc"))
RISCV = "riscv64-linux-gnu-gcc"
COMPILERS = [("gcc", "-O2"), ("gcc", "-O0"), ("clang-19", "-O2"), ("clang-19", "-O0"), (RISCV, "-O2")]


def build(source: Path, compiler: str, level: str, folder: Path, *extra: str) -> Path:
    tool = compiler
    if source.suffix != ".c":
        tool = "clang++-19" if compiler == "clang-19" else compiler.replace("gcc", "g++")
    binary = folder / source.stem
    extra = tuple(a for a in extra if compiler != "clang-19" or a != "-fno-toplevel-reorder")  # clang keeps the order
    return cpp.build(tool, source, binary, level, "-g", "-pthread", *extra)


def audit(binary: Path, *options: str) -> tuple[int, dict[str, object]]:
    """In this process: the start of another takes longer than the audit."""
    document = binary.with_suffix(".json")
    code = main(["audit", str(binary), "--quiet", "-o", str(document), *options])
    return code, json.loads(document.read_text())


def arguments(source: Path) -> list[str]:
    """``// ARGS:`` of a program: compiler flags that its layout depends on."""
    return [a for line in source.read_text().splitlines() if line.startswith("// ARGS:") for a in line.split()[2:]]


def expectations(source: Path) -> list[list[str]]:
    lines = source.read_text().splitlines()
    wanted = [line.split()[2:] for line in lines if line.startswith("// expect:")]
    assert bool(wanted) != ("// no-finding" in lines), f"{source.name} must say what is expected"
    return wanted


@pytest.mark.parametrize(("compiler", "level"), COMPILERS, ids=[" ".join(c) for c in COMPILERS])
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.name)
def test_program(source: Path, compiler: str, level: str, tmp_path: Path) -> None:
    status, report = audit(build(source, compiler, level, tmp_path, *arguments(source)))
    found = report["findings"]
    assert isinstance(found, list)
    rest = [f for f in found if f["rule"] != "safe-by-luck"]
    for rule, severity, *names in expectations(source):
        hits = [f for f in rest if f["rule"] == rule and names_of(f) >= set(names)]
        assert len(hits) == 1, summary(found)
        assert hits[0]["severity"] == severity, summary(found)
        assert hits[0]["confidence"] == "static"
        assert hits[0]["remedies"][0]["protects_tail"]
        rest.remove(hits[0])
    assert rest == [], summary(rest)
    assert status == (1 if any(s in ("high", "critical") for _, s, *_ in expectations(source)) else 0)


def names_of(finding: dict[str, object]) -> set[str]:
    names: set[str] = set()
    for p in finding["participants"]:  # type: ignore[attr-defined]
        names |= {
            p["name"],
            f"{p['name']}.{p['member']}" if p.get("member") else p["name"],
            p.get("member") or p["name"],
        }
    return names


def summary(findings: list[dict[str, object]]) -> str:
    return "\n".join(f"{f['severity']} {f['rule']}: {f['message']}" for f in findings)
