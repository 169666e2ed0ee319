"""The command line run in this process, with a pipeline that returns what the test says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from linemate.cli import main
from linemate.options import AuditOptions, CheckOptions
from sharing.model import Report
from sharing.source.merge import assemble
from sharing.source.program import Program
from tests.builders.report import EMPTY


@dataclass
class Pipeline:
    """Stands in for ``linemate.pipeline``, with programs of no units.

    Remembers what it was asked and answers ``report`` or raises ``error``.
    """

    report: Report = EMPTY
    error: BaseException | None = None
    asked: list[AuditOptions] = field(default_factory=list)
    checked: list[CheckOptions] = field(default_factory=list)

    def check_program(self, program: Program, options: CheckOptions) -> Report:
        self.checked.append(options)
        if self.error is not None:
            raise self.error
        return self.report

    def audit(self, options: AuditOptions, say: Callable[[str], None], *, on_image: object = None) -> Report:
        self.asked.append(options)
        if self.error is not None:
            raise self.error
        return self.report


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    double = Pipeline()
    module = ModuleType("linemate.pipeline")
    module.audit = double.audit  # type: ignore[attr-defined]  # a module made here has no declared names
    module.check_program = double.check_program  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "linemate.pipeline", module)
    source = ModuleType("linemate.source")
    source.read_program = lambda options: assemble(())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "linemate.source", source)
    return double


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """``run("audit", "server", …)`` in an empty folder; exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEMATE_DEBUG", raising=False)

    def invoke(*arguments: str) -> Result:
        code = main(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return invoke
