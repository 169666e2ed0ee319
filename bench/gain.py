"""gain: what separating the data of a line is predicted to give, against what it gives.

Each program of testdata/programs/gain is built twice, as it is and with the remedy.  A round times both builds in
turns, without a profiler, records the first one (spread over the processors, and on one), and times both again.  The
measured gain is the wall time of the first build over that of the second; the prediction is what an audit of the
round's profiles says.

What a shared line costs changes within minutes on a virtual machine, with the place of its processors in the host:
where both are on one core it costs nothing, else it may double the time.  So a prediction is held against
the runs just before and just after its recording, and where these disagree the machine changed in between: such a round
is made again, and counts only where there is no other.  No run counts both for what is measured and for what is
predicted: a slow one would make both larger, and hide that they differ.
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
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from bench.gaintable import SEVERITIES, WORTH_FIXING, Estimate, Round, rows_of, table
from bench.measure import Unavailable, raise_priority, run, run_closely
from bench.places import AUDIT_EXITS, REPOSITORY, WORK, linemate, tool

TURNS = 2  # runs of each build before a recording, and after it
RUNS = 4  # runs of each level of a recording, one of them with samples
CHANGED = 1.2  # times the gain of the runs before a recording: after it, the machine is another one
_AGAIN = 2  # rounds that the machine may spoil before one of them counts
_PERIOD_NS = "1000000"  # the programs run for half a second: a sample each millisecond
_DISTURBED_SHARE, _RESOLUTION_S = 0.05, 0.03
_TRIES, _PAUSE_S = 5, 0.3
_ESTIMATE = re.compile(r"estimated speed-up ([0-9.]+)× \(([0-9.]+)–([0-9.]+)×\)(?:.*; (uncertain))?")


def measure(rounds: int) -> list[str]:
    """The table, and whether the limits held.

    LINEMATE_GAIN names programs, all without it; LINEMATE_GAIN_ROUNDS a file that each round is added to as soon as it
    is made: the table is of all that it holds.  With no rounds nothing is run.  LINEMATE_GAIN_KEEP names a folder where
    programs, recordings and rounds stay: with no rounds its recordings are judged anew, by the linemate of today.
    """
    out, wanted = kept_folder(WORK / "gain"), os.environ.get("LINEMATE_GAIN", "").split()
    if not rounds:
        return table(rows_of(kept(out, wanted)))
    every = build(out)
    names = wanted or every
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
            try:
                one, event = round_of(name, len(earlier), out, event)
            except Unavailable as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            made.append(one)
            with kept.open("a") as file:
                file.write(json.dumps(asdict(one)) + "\n")
    return made


def kept_folder(usual: Path) -> Path:
    """Where programs and recordings lie."""
    folder = Path(os.environ.get("LINEMATE_GAIN_KEEP") or usual)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept_rounds() -> Path:
    """The file of rounds, which holds none where nobody named one."""
    folder = os.environ.get("LINEMATE_GAIN_KEEP")
    return Path(os.environ.get("LINEMATE_GAIN_ROUNDS") or (Path(folder) / "rounds.jsonl" if folder else os.devnull))


def kept(folder: Path, wanted: Sequence[str]) -> list[Round]:
    """The rounds of earlier runs, of the programs that are wanted or of all, each with what is predicted of it now."""
    return [_anew(one, folder) for one in _read(kept_rounds()) if not wanted or one.name in wanted]


def _anew(one: Round, folder: Path) -> Round:
    """Judged again where its recording is still there."""
    profile = folder / one.profile
    if not one.profile or not profile.is_file():
        return one
    return replace(one, estimate=predict(folder / one.name, profile))


def _read(path: Path) -> Iterable[Round]:
    for line in path.read_text().splitlines() if path.exists() else ():
        yield msgspec.json.decode(line, type=Round)


def build(out: Path) -> list[str]:
    """Both builds of every program; their names."""
    make, _, _ = tool("make", "make"), tool("gcc", "gcc"), tool("g++", "g++")
    command = [make, "-s", "-C", str(REPOSITORY / "testdata/programs/gain"), f"OUT={out}", "CC=gcc", "CXX=g++"]
    for goal in ("all", "names"):
        done = subprocess.run([*command, goal], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"the programs do not build: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.split()


def round_of(name: str, number: int, out: Path, event: str) -> tuple[Round, str]:
    """The round with that number of one program, and the event: looking for the best one takes a while."""
    for _ in range(1 + _AGAIN):
        one, event = _one_round(name, number, out, event)
        if not one.changed:
            break
    return one, event


def _one_round(name: str, number: int, out: Path, event: str) -> tuple[Round, str]:
    before, after = out / name, out / f"{name}.padded"
    turns = [(before, after), (after, before)] if number % 2 else [(after, before), (before, after)]
    times: dict[Path, list[float]] = {before: [], after: []}
    noisy = []

    def half() -> float:
        """TURNS runs of each build by turns; the gain that they show."""
        for turn in range(TURNS):
            for program in turns[turn % 2]:
                wall_s, was = _time(program)
                times[program].append(wall_s)
                noisy.append(was)
        return statistics.median(times[before][-TURNS:]) / statistics.median(times[after][-TURNS:])

    first = half()
    estimate, event, disturbed = _predicted(before, number, event)
    second = half()
    changed = max(first, second) > CHANGED * min(first, second)
    of = tuple(times[before]), tuple(times[after])
    return Round(name, *of, estimate, disturbed or any(noisy), changed, _profile(before, number).name), event


def _profile(program: Path, number: int) -> Path:
    """Where the recording of a round lies."""
    return program.with_name(f"{program.name}.{number}.data")


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
    profile = _profile(program, number)
    options = ["-q", "--solo", "--runs", str(RUNS), "--period", _PERIOD_NS, "-o", str(profile)]
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
    sampled = [f for f in json.loads(done.stdout)["findings"] if f["confidence"].startswith(("sampled", "measured"))]
    worst = max((f["severity"] for f in sampled), key=SEVERITIES.index, default="note")
    found = [
        Estimate(float(match[1]), float(match[2]), float(match[3]), True, bool(match[4]), worst)
        for finding in sampled
        for evidence in finding["evidence"]
        if (match := _ESTIMATE.search(evidence["text"])) and float(match[3]) >= WORTH_FIXING
    ]
    return max(found, key=lambda e: e.ratio, default=Estimate(severity=worst))
