"""Programs whose sharing is known, built and recorded here, and what ``audit --samples`` says of the recordings."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from pmu import read_samples
from sharing.model.finding import Finding, Report, Severity
from tests.alone import alone

PROGRAMS = Path(__file__).parent / "programs"
PERIOD_NS = 250_000
ENOUGH = 2500  # samples of a second on two processors, which gives 8000 where nobody else runs
TRIES = 3

Audit = Callable[..., Report]
Recorded = Callable[..., tuple[Path, Path]]


def needs(*tools: str) -> None:
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: no two threads run at the same time")


def record(program: Path, *arguments: str, into: Path, least: int = ENOUGH) -> Path:
    """A profile with registers and data mappings; skips where perf cannot, or others need the processors."""
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-c", str(PERIOD_NS), "-I", "-d", "-o", str(into)]
    for _ in range(TRIES):
        into.unlink(missing_ok=True)
        with alone():
            done = subprocess.run([*first(), *command, "--", str(program), *arguments], capture_output=True, text=True)
        if not into.exists() or not into.stat().st_size:
            pytest.skip(f"perf record: {done.stderr.strip()[-200:]}")
        assert done.returncode == 0, done.stderr
        got = len(read_samples(into).samples)
        if got >= least:
            return into
    pytest.skip(f"the machine is busy: {got} samples of {program.name} in place of {least}")


def first() -> list[str]:
    """What puts a command before others where that is allowed."""
    allowed = subprocess.run(["nice", "-n", "-15", "true"], capture_output=True)
    return ["nice", "-n", "-15"] if allowed.returncode == 0 and not allowed.stderr else []


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """``recorded("pairs.c", "heap", defines=("PAD",))`` is a program and the profile of one run."""
    where = tmp_path_factory.mktemp("sampled")
    made: dict[tuple[object, ...], tuple[Path, Path]] = {}

    def run(source: str, *arguments: str, defines: tuple[str, ...] = (), strip: bool = False) -> tuple[Path, Path]:
        key = (source, *arguments, "|", *defines, strip)
        if key not in made:
            needs("gcc", "perf")
            name = "-".join([Path(source).stem, *defines, *arguments, *(["stripped"] if strip else [])])
            out = where / name
            options = ["-O2", "-g", "-pthread", *(f"-D{d}" for d in defines), *(["-s"] if strip else [])]
            subprocess.run(["gcc", *options, str(PROGRAMS / source), "-o", str(out)], check=True)
            least = ENOUGH // 2 if arguments[:1] in (("turns",), ("alone",)) else ENOUGH
            made[key] = out, record(out, *arguments, into=where / f"{name}.data", least=least)
        return made[key]

    return run


@pytest.fixture(scope="session")
def seen(recorded: Recorded) -> Audit:
    """``seen("pairs.c", "heap", defines=("PAD",))`` is the report about one recorded run."""
    made: dict[Path, Report] = {}

    def run(source: str, *arguments: str, defines: tuple[str, ...] = (), strip: bool = False) -> Report:
        binary, profile = recorded(source, *arguments, defines=defines, strip=strip)
        if binary not in made:
            made[binary] = report(binary, profile)
        return made[binary]

    return run


def report(binary: Path, *profiles: Path) -> Report:
    return audit(AuditOptions(str(binary), samples=tuple(map(str, profiles)), min_severity=Severity.NOTE))


def sampled(report: Report) -> list[Finding]:
    """The findings that samples speak of, in order."""
    return [f for f in report.findings if f.confidence.value.startswith("sampled")]
