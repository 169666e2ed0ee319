"""gain: what separating the data of a line is predicted to give, against what it gives.

Each program of testdata/programs/gain is built twice, as it is and with the remedy.  A round times both builds in
turns, without a profiler, and records the first one (spread over the processors, and on one).  The measured gain is the
wall time of the first build over that of the second; the prediction is what an audit of the round's profiles says.

What a shared line costs changes from second to second on a virtual machine, with the place of its processors in the
host, and two tight loops fall into step or do not.  So a round has several runs of everything, and no run counts both
for what is measured and for what is predicted: a slow one would make both larger, and hide that they differ.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.measure import Unavailable, raise_priority, run, run_closely
from bench.places import AUDIT_EXITS, REPOSITORY, WORK, linemate, tool
from bench.report import limit

MEDIAN_LIMIT, WORST_LIMIT = 0.10, 0.30
WORTH_FIXING = 1.02  # a finding whose interval ends below says that it is not
TURNS = 3  # runs of each build and of each level in a round
RECORDED = 2  # rounds of a program that predict, too: a recording takes several times as long as the runs
_PERIOD_NS = "1000000"  # the programs run for half a second: a sample each millisecond
_DISTURBED_SHARE, _RESOLUTION_S = 0.05, 0.03
_TRIES, _PAUSE_S = 5, 0.3
_ESTIMATE = re.compile(r"estimated speed-up ([0-9.]+)× \(([0-9.]+)–([0-9.]+)×\)(?:.*; (uncertain))?")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Throughput after over before.  ``proposed``: it is worth fixing; else nothing is, and 1.0 stands for that."""

    ratio: float = 1.0
    low: float = 1.0
    high: float = 1.0
    proposed: bool = False
    uncertain: bool = False  # it says so itself


@dataclass(frozen=True, slots=True)
class Round:
    """One round: wall seconds of both builds, and the prediction of the first one's profiles."""

    name: str
    before_s: tuple[float, ...]
    after_s: tuple[float, ...]
    estimate: Estimate | None  # none where nothing was recorded
    disturbed: bool

    @property
    def gain(self) -> float:
        return statistics.median(self.before_s) / statistics.median(self.after_s)


@dataclass(frozen=True, slots=True)
class Row:
    """One program: medians over the rounds."""

    name: str
    rounds: tuple[Round, ...]

    @property
    def measured(self) -> float:
        """All runs of one build against all of the other: a round has too few of a program that is slow or quick."""
        before = statistics.median(s for r in self.rounds for s in r.before_s)
        return before / statistics.median(s for r in self.rounds for s in r.after_s)

    @property
    def estimates(self) -> list[Estimate]:
        return [r.estimate for r in self.rounds if r.estimate is not None]

    @property
    def predicted(self) -> Estimate:
        of = self.estimates
        proposed = 2 * sum(e.proposed for e in of) > len(of)
        of = [e for e in of if e.proposed is proposed]
        return Estimate(
            statistics.median(e.ratio for e in of),
            statistics.median(e.low for e in of),
            statistics.median(e.high for e in of),
            proposed,
            2 * sum(e.uncertain for e in of) > len(of),
        )

    @property
    def error(self) -> float:
        return self.predicted.ratio / self.measured - 1

    @property
    def single(self) -> float:
        """The error that one recording usually has."""
        return statistics.median(abs(e.ratio / self.measured - 1) for e in self.estimates)

    def text(self, width: int) -> str:
        gains, p = [r.gain for r in self.rounds], self.predicted
        measured = f"  {self.name:<{width}}  {self.measured:5.2f} ({min(gains):.2f}–{max(gains):.2f})"
        noisy = sum(r.disturbed for r in self.rounds)
        note = f"{len(self.rounds)} rounds, {len(self.estimates)} recorded" + (f", {noisy} disturbed" if noisy else "")
        if not p.proposed:
            right = "right" if self.measured <= WORTH_FIXING else f"{self.measured - 1:.0%} missed"
            return f"{measured}  {right}  {note}"
        note += ", said to be uncertain" if p.uncertain else ""
        return f"{measured}  {p.ratio:5.2f} ({p.low:.2f}–{p.high:.2f})  {self.error:+4.0%}  {self.single:3.0%}  {note}"


def measure(rounds: int) -> list[str]:
    """The table, and whether the limits held.

    LINEMATE_GAIN names programs, all without it; LINEMATE_GAIN_ROUNDS a file that each round is added to as soon as it
    is made: the table is of all that it holds.  With no rounds nothing is run.
    """
    if not rounds:
        return table(rows_of(list(_read(kept_rounds()))))
    out = WORK / "gain"
    every = build(out)
    names = os.environ.get("LINEMATE_GAIN", "").split() or every
    if unknown := set(names) - set(every):
        raise Unavailable(f"no program is called {', '.join(sorted(unknown))}")
    return table(rows_of(rounds_of(names, rounds, out)))


def rounds_of(names: Sequence[str], rounds: int, out: Path) -> list[Round]:
    """So many rounds of each program, by turns, with those that a file of earlier ones holds.

    A round that cannot be measured is left out, and said: the others count.
    """
    tool("perf", "linux-perf")
    raise_priority()
    kept = kept_rounds()
    made = list(_read(kept))
    event = ""
    for _ in range(rounds):
        for name in names:
            earlier = [r for r in made if r.name == name]
            record = sum(r.estimate is not None for r in earlier) < RECORDED
            try:
                one, event = round_of(name, len(earlier), out, event, record=record)
            except Unavailable as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            made.append(one)
            with kept.open("a") as file:
                file.write(json.dumps(asdict(one)) + "\n")
    return made


def rows_of(made: Sequence[Round]) -> list[Row]:
    """A row a program, of the rounds that others left alone where there are any.  Without a recording there is none."""
    rows = []
    for name in dict.fromkeys(r.name for r in made):
        own = [r for r in made if r.name == name]
        quiet = [r for r in own if not r.disturbed]
        row = Row(name, tuple(quiet if any(r.estimate for r in quiet) else own))
        if row.estimates:
            rows.append(row)
    return rows


def kept_rounds() -> Path:
    """The file of rounds, which holds none where nobody named one."""
    return Path(os.environ.get("LINEMATE_GAIN_ROUNDS") or os.devnull)


def _read(path: Path) -> Iterable[Round]:
    for line in path.read_text().splitlines() if path.exists() else ():
        fields = json.loads(line)
        fields["estimate"] = Estimate(**fields["estimate"]) if fields["estimate"] else None
        yield Round(**fields)


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
    """Programs for which something is proposed, which count for the limits, and those for which nothing is."""
    if not rows:
        raise Unavailable("there are no rounds")
    width = max(len(row.name) for row in rows)
    rows = sorted(rows, key=lambda row: -row.measured)
    proposed = [row for row in rows if row.predicted.proposed]
    rest = [row for row in rows if not row.predicted.proposed]
    out = []
    if proposed:
        errors = [abs(row.error) for row in proposed]
        # An estimate knows no loss: its 1.00 stands for "nothing, or less".
        inside = sum(row.predicted.low <= max(row.measured, 1.0) <= row.predicted.high for row in proposed)
        unsaid = [abs(row.error) for row in proposed if not row.predicted.uncertain]
        out += [
            f"  {'program':<{width}}  measured gain (rounds)  predicted (interval)  error, of one recording",
            *(row.text(width) for row in proposed),
            f"  {inside} of {len(proposed)} measured gains are within the predicted interval",
            limit(statistics.median(errors), MEDIAN_LIMIT, "median error"),
            limit(
                max(unsaid, default=0.0), WORST_LIMIT, "largest error of estimates that are not said to be uncertain"
            ),
            f"  largest error of all: {max(errors):.2f}",
        ]
    if rest:
        right = sum(row.measured <= WORTH_FIXING for row in rest)
        out += [
            f"  nothing is proposed, rightly where padding gives at most {WORTH_FIXING}: {right} of {len(rest)}",
            *(row.text(width) for row in rest),
        ]
    return out


def round_of(name: str, number: int, out: Path, event: str, *, record: bool) -> tuple[Round, str]:
    """The round with that number of one program, and the event: looking for the best one takes a while."""
    reverse = number % 2 == 1
    estimate, disturbed = None, False
    before, after = out / name, out / f"{name}.padded"
    times: dict[Path, list[float]] = {before: [], after: []}
    noisy = []
    if record and reverse:
        estimate, event, disturbed = _predicted(before, number, event)
    for turn in range(TURNS):
        for program in (before, after) if (turn % 2 == 1) == reverse else (after, before):
            wall_s, was = _time(program)
            times[program].append(wall_s)
            noisy.append(was)
    if record and not reverse:
        estimate, event, disturbed = _predicted(before, number, event)
    of = tuple(times[before]), tuple(times[after])
    return Round(name, *of, estimate, disturbed or any(noisy)), event


def _time(program: Path) -> tuple[float, bool]:
    """Wall seconds of a run while others leave the machine alone, if they do within a few tries."""
    for _ in range(_TRIES):
        done = run_closely([str(program)])
        if done.returncode:
            raise Unavailable(f"{program.name} ended with {done.returncode}")
        if not done.disturbed:
            break
        time.sleep(_PAUSE_S)
    return done.wall_s, done.disturbed


def _predicted(program: Path, number: int, event: str) -> tuple[Estimate, str, bool]:
    """A recording and what an audit says of it; the event; whether others took processor time meanwhile."""
    profile = program.with_name(f"{program.name}.{number}.data")
    options = ["-q", "--solo", "--runs", str(1 + TURNS), "--period", _PERIOD_NS, "-o", str(profile)]
    for _ in range(_TRIES):
        done = run(linemate("record", *options, *(["--event", event] if event else []), "--", str(program)))
        if done.returncode:
            raise Unavailable(f"{program.name} cannot be recorded: {done.stderr.strip().splitlines()[-1:]}")
        recording = json.loads(Path(f"{profile}.json").read_text())
        # The run on one processor counts its own time only, and leaves the others to others.
        disturbed = _disturbed([r for r in recording["runs"] if r["level"] == "spread"])
        if not disturbed:
            break
        time.sleep(_PAUSE_S)
    return predict(program, profile), recording["event"]["name"], disturbed


def _disturbed(runs: Sequence[dict[str, Any]]) -> bool:
    """The usual run: medians are taken of them."""
    least_s = _RESOLUTION_S / _DISTURBED_SHARE
    shares = [float(r["background_s"]) / max(float(r["wall_s"]), least_s) for r in runs]
    return statistics.median(shares) > _DISTURBED_SHARE


def predict(program: Path, profile: Path) -> Estimate:
    """What an audit says of the line that would give the most, of those that it says are worth it."""
    command = linemate("audit", str(program), "--samples", str(profile), "--min-severity", "note", "--format", "json")
    done = run(command, keep_output=True)
    if done.returncode not in AUDIT_EXITS:
        raise Unavailable(f"the audit of {program.name} does not run: {done.stderr.strip().splitlines()[-1:]}")
    found = [
        Estimate(float(match[1]), float(match[2]), float(match[3]), proposed=True, uncertain=bool(match[4]))
        for finding in json.loads(done.stdout)["findings"]
        for evidence in finding["evidence"]
        if (match := _ESTIMATE.search(evidence["text"])) and float(match[3]) >= WORTH_FIXING
    ]
    return max(found, key=lambda e: e.ratio, default=Estimate())
