"""gain: what separating the data of a line is predicted to give, against what it gives.

Each program of testdata/programs/gain is built twice, as it is and with the remedy.  A round records the first build
(spread over the processors, then on one) and the second in the same way; the prediction is what an audit of the
round's profile says, the measured gain the wall time of the first build over that of the second.

Why both builds are recorded: what a shared line costs changes from minute to minute on a virtual machine, with the
place of its processors in the host.  Runs that are compared stand next to each other and are disturbed alike.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import Unavailable, run
from bench.places import AUDIT_EXITS, REPOSITORY, WORK, linemate, tool
from bench.report import limit

MEDIAN_LIMIT, WORST_LIMIT = 0.10, 0.25
_PERIOD_NS = "1000000"  # the programs run for half a second: a sample each millisecond
_DISTURBED_SHARE, _RESOLUTION_S = 0.05, 0.03
_MOST_ROUNDS = 3  # times the rounds asked for
_ESTIMATE = re.compile(r"estimated speed-up ([0-9.]+)× \(([0-9.]+)–([0-9.]+)×\)")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Throughput after over before; 1.0 where no finding says anything."""

    ratio: float = 1.0
    low: float = 1.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Round:
    """One round: wall seconds of both builds, and the prediction of the first one's profile."""

    before_s: float
    after_s: float
    estimate: Estimate

    @property
    def gain(self) -> float:
        return self.before_s / self.after_s


@dataclass(frozen=True, slots=True)
class Row:
    """One program.  Medians over the rounds; ``worst`` is the largest error of a single round."""

    name: str
    rounds: tuple[Round, ...]
    disturbed: int

    @property
    def measured(self) -> float:
        return statistics.median(r.gain for r in self.rounds)

    @property
    def predicted(self) -> Estimate:
        of = [r.estimate for r in self.rounds]
        return Estimate(
            statistics.median(e.ratio for e in of),
            statistics.median(e.low for e in of),
            statistics.median(e.high for e in of),
        )

    @property
    def error(self) -> float:
        return self.predicted.ratio / self.measured - 1

    def text(self, width: int) -> str:
        gains, p = [r.gain for r in self.rounds], self.predicted
        note = f"  {self.disturbed} of {len(self.rounds)} rounds disturbed" if self.disturbed else ""
        return (
            f"  {self.name:<{width}}  {self.measured:5.2f} ({min(gains):.2f}–{max(gains):.2f})  "
            f"{p.ratio:5.2f} ({p.low:.2f}–{p.high:.2f})  {self.error:+.0%}{note}"
        )


def measure(rounds: int) -> list[str]:
    """The table, and whether the limits held.  LINEMATE_GAIN names programs, all without it."""
    out = WORK / "gain"
    names = os.environ.get("LINEMATE_GAIN", "").split() or build(out)
    tool("perf", "linux-perf")
    rows = [row_of(name, out, rounds) for name in names]
    return table(rows)


def build(out: Path) -> list[str]:
    """Both builds of every program; their names."""
    make, _, _ = tool("make", "make"), tool("gcc", "gcc"), tool("g++", "g++")
    command = [make, "-s", "-C", str(REPOSITORY / "testdata/programs/gain"), f"OUT={out}", "CC=gcc", "CXX=g++"]
    for goal in ("all", "names"):
        done = subprocess.run([*command, goal], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"the programs do not build: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.split()


def table(rows: Sequence[Row]) -> list[str]:
    width = max(len(row.name) for row in rows)
    errors = [abs(row.error) for row in rows]
    inside = sum(p.low <= row.measured <= p.high for row in rows for p in (row.predicted,))
    return [
        f"  {'program':<{width}}  measured gain (range)  predicted (interval)  error",
        *(row.text(width) for row in sorted(rows, key=lambda row: -row.measured)),
        f"  {inside} of {len(rows)} measured gains are within the predicted interval",
        limit(statistics.median(errors), MEDIAN_LIMIT, "median error"),
        limit(max(errors), WORST_LIMIT, "largest error"),
    ]


def row_of(name: str, out: Path, rounds: int) -> Row:
    """The least disturbed rounds of one program."""
    made: list[tuple[float, Path, float, float]] = []
    quiet, event = 0, ""
    while quiet < rounds and len(made) < _MOST_ROUNDS * rounds:
        profile = out / f"{name}.{len(made)}.data"
        first, second = (name, f"{name}.padded") if len(made) % 2 == 0 else (f"{name}.padded", name)
        runs = {}
        for one in (first, second):
            to = profile if one == name else out / f"{one}.data"
            runs[one], event = _record(out / one, to, event, solo=one == name)
        # The run on one processor counts its own time only, and leaves the others to others.
        others = max(_others(r) for of in runs.values() for r in of if r["level"] == "spread")
        quiet += others <= _DISTURBED_SHARE
        before, after = (next(r for r in runs[one] if r["level"] == "spread") for one in (name, f"{name}.padded"))
        made.append((others, profile, float(before["wall_s"]), float(after["wall_s"])))
    kept = sorted(made)[:rounds]
    of = tuple(Round(before, after, predict(out / name, profile)) for _, profile, before, after in kept)
    return Row(name, of, sum(others > _DISTURBED_SHARE for others, *_ in kept))


def _record(program: Path, profile: Path, event: str, *, solo: bool) -> tuple[list[dict[str, Any]], str]:
    """The runs of one recording as its sidecar has them, and the event: looking for the best one takes a while."""
    options = ["-q", "--period", _PERIOD_NS, "-o", str(profile), *(["--solo"] if solo else [])]
    options += ["--event", event] if event else []
    done = run(linemate("record", *options, "--", str(program)))
    if done.returncode:
        raise Unavailable(f"{program.name} cannot be recorded: {done.stderr.strip().splitlines()[-1:]}")
    recording = json.loads(Path(f"{profile}.json").read_text())
    return recording["runs"], recording["event"]["rung"]


def _others(of: dict[str, Any]) -> float:
    return 0.0 if of["others_s"] <= _RESOLUTION_S else of["others_s"] / max(of["wall_s"], _RESOLUTION_S)


def predict(program: Path, profile: Path) -> Estimate:
    """What an audit says of the line that would give the most."""
    command = linemate("audit", str(program), "--samples", str(profile), "--min-severity", "note", "--format", "json")
    done = run(command, keep_output=True)
    if done.returncode not in AUDIT_EXITS:
        raise Unavailable(f"the audit of {program.name} does not run: {done.stderr.strip().splitlines()[-1:]}")
    found = [
        Estimate(*map(float, match.groups()))
        for finding in json.loads(done.stdout)["findings"]
        for evidence in finding["evidence"]
        if (match := _ESTIMATE.search(evidence["text"]))
    ]
    return max(found, key=lambda e: e.ratio, default=Estimate())
