"""Runs ``linemate-facts`` over sources that a test wrote.

Owns the command lines and the decoding of the answer; expectations are the tests'.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from analyzer.stream import read_facts
from elfscan.tools import tool_path
from sharing.model import LinemateError
from sharing.model.facts import FactsEnd, FactsFailure, FactsLine, FactsNote, RecordFacts, UnitFacts, VariableFacts
from tests.conftest import REPOSITORY

KNOWLEDGE = REPOSITORY / "sharing" / "knowledge"


@dataclass(frozen=True)
class Answer:
    """The lines of a stream by kind."""

    lines: tuple[FactsLine, ...]
    raw: bytes

    @property
    def units(self) -> list[UnitFacts]:
        return [line for line in self.lines if isinstance(line, UnitFacts)]

    @property
    def failures(self) -> dict[str, str]:
        """Reasons by the name of the file."""
        return {Path(line.path).name: line.reason for line in self.lines if isinstance(line, FactsFailure)}

    @property
    def notes(self) -> list[str]:
        return [line.text for line in self.lines if isinstance(line, FactsNote)]

    @property
    def end(self) -> FactsEnd:
        last = self.lines[-1]
        assert isinstance(last, FactsEnd)
        return last

    @property
    def unit(self) -> UnitFacts:
        (unit,) = self.units
        return unit


def tool() -> str:
    try:
        return str(tool_path("linemate-facts"))
    except LinemateError as error:
        pytest.skip(str(error))


def run(*arguments: str | Path, cwd: Path) -> Answer:
    """The tool's answer; it must succeed."""
    command = [tool(), "--knowledge", str(KNOWLEDGE), *map(str, arguments)]
    raw = subprocess.run(command, cwd=cwd, capture_output=True, check=True).stdout
    return Answer(tuple(read_facts(raw)), raw)


def facts(tmp_path: Path, text: str, *flags: str, name: str = "unit.c") -> UnitFacts:
    """The only unit made of ``text``."""
    (tmp_path / name).write_text(text)
    return run(name, "--", *flags, cwd=tmp_path).unit


def variables(unit: UnitFacts) -> dict[str, VariableFacts]:
    return {v.name: v for v in unit.variables}


def records(unit: UnitFacts) -> dict[str, RecordFacts]:
    return {r.name: r for _, raw in unit.records for r in [msgspec.json.decode(raw, type=RecordFacts)]}


def database(folder: Path, *entries: Mapping[str, object]) -> Path:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps(entries))
    return path


def entry(folder: Path, file: str, *flags: str) -> dict[str, object]:
    return {"directory": str(folder), "file": file, "arguments": ["cc", *flags, "-c", file]}
