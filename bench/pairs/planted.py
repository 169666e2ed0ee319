"""Planted regressions: what one change makes slower beside an innocent move of the layout, measured and sampled.

Owns building, running and recording them.  ``planted/planted.toml`` says what is right; it was written down before
linemate saw the programs.  What counts as right is ``score``'s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from bench.measure import Unavailable, run
from bench.pairs.building import Variant
from bench.pairs.projects import Project
from bench.pairs.score import Outcome, judged, matches
from bench.pairs.table import Pair
from bench.pairs.truth import Root, Truth
from bench.places import WORK, tool
from linemate.explaining.run import ExplainRequest, explain, failing
from sharing.model.comparison import Comparison
from sharing.model.finding import Severity

SOURCES = Path(__file__).parent / "planted"
SECONDS = "0.3"
RECORDINGS, MEASURED = 3, 6  # runs of each build
PERIOD_NS = "250000"
LIBRARY = "libtcmalloc_minimal.so.4"


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``kind`` and ``says`` are those of ``truth.Root``; ``library``: what the slow build is linked with besides.

    ``also``: kinds that the same edit changes, which may be told behind it.
    """

    source: str
    kind: str
    says: tuple[tuple[str, ...], ...]
    library: str = ""
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return Path(self.source).stem


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    program: tuple[Program, ...]


@dataclass(frozen=True, slots=True)
class Planted:
    """What came out of one program.  ``alone``: what is said of the two files without measurements and profiles."""

    outcome: Outcome
    alone: Comparison
    fails: bool  # exit code 1

    @property
    def raised(self) -> bool:
        """Whether the first cause is stronger than without evidence; that nothing is to be found needs no strength."""
        roots = self.outcome.truth.roots
        same = [c.strength for c in self.alone.causes if any(matches(root, c) for root in roots)]
        return not roots or self.outcome.first.strength > max(same, default=0.0)


def programs() -> tuple[Program, ...]:
    """The table."""
    return msgspec.toml.decode((SOURCES / "planted.toml").read_bytes(), type=_Table).program


def ask(program: Program, *, slow: bool) -> Planted:
    """Build, measure, record and explain: the regression beside the innocent move, or that move alone."""
    folder = WORK / "planted" / program.name
    folder.mkdir(parents=True, exist_ok=True)
    old = _build(program, folder / "old", ())
    new = _build(program, folder / ("slow" if slow else "moved"), ("-DSLOW", "-DMOVED") if slow else ("-DMOVED",))
    measured, recorded = _measured(old, new), _recorded(old, new)
    said = explain(ExplainRequest(str(old), str(new), *recorded, *measured))
    truth = Truth((Root(program.kind, program.says),) if slow else ())
    project = Project(_compiler(program), (program.source,), (), (), {}, {}, name="planted")
    pair = Pair(program.name if slow else f"{program.name}, moved", project, Variant(), Variant())
    alone = explain(ExplainRequest(str(old), str(new)))
    outcome = judged(pair, truth, said)
    outcome = replace(outcome, false=tuple(what for what in outcome.false if what.split()[0] not in program.also))
    return Planted(outcome, alone, failing(said, Severity.HIGH))


def _compiler(program: Program) -> str:
    return "g++" if program.source.endswith(".cc") else "gcc"


def _build(program: Program, out: Path, defines: tuple[str, ...]) -> Path:
    # Variables stay in the order of the source, so that they lie where it says.
    flags = ("-O2", "-g", "-pthread", "-fno-toplevel-reorder", *defines)
    libraries: tuple[str, ...] = ()
    if program.library and "-DSLOW" in defines:
        made = out.parent / LIBRARY
        _compile(
            "gcc", "-O2", "-shared", "-fPIC", f"-Wl,-soname,{LIBRARY}", str(SOURCES / program.library), "-o", str(made)
        )
        libraries = (str(made), f"-Wl,-rpath,{made.parent}")
    _compile(_compiler(program), *flags, str(SOURCES / program.source), *libraries, "-o", str(out))
    return out


def _compile(*command: str) -> None:
    done = run(command)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:1])} …: {done.stderr.strip()[-200:]}")


def _measured(old: Path, new: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Figures of several runs of each build, in turns."""
    out: dict[Path, list[str]] = {old: [], new: []}
    for _ in range(MEASURED):
        for build in (old, new):
            done = run((str(build), SECONDS), keep_output=True)
            if done.returncode:
                raise Unavailable(f"{build.name} ended with {done.returncode}")
            out[build].append(done.stdout.split()[1])
    tables = []
    for build, figures in out.items():
        tables.append(build.with_suffix(".txt"))
        tables[-1].write_text("\n".join(["rounds_per_s", *figures, ""]), encoding="utf-8")
    return (str(tables[0]),), (str(tables[1]),)


def _recorded(old: Path, new: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Profiles of several runs of each build, in turns."""
    perf = tool("perf", "linux-perf")
    out: dict[Path, list[str]] = {old: [], new: []}
    for number in range(RECORDINGS):
        for build in (old, new):
            into = build.with_suffix(f".{number}.data")
            into.unlink(missing_ok=True)
            done = run((perf, "record", "-q", "-e", "cpu-clock", "-c", PERIOD_NS, "-I", "-d", "-o", str(into), "--",
                        str(build), SECONDS))  # fmt: skip
            if done.returncode or not into.exists():
                raise Unavailable(f"perf record: {done.stderr.strip()[-200:]}")
            out[build].append(str(into))
    return tuple(out[old]), tuple(out[new])
