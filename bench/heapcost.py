"""heap: what noting allocations costs a program, by how often it allocates.

Owns the two ways of ``record --heap``: the library that is loaded into a command, and probes on a program that is
linked statically and runs already.  The program does the same work in each turn and prints the processor time that it
took, which others on the machine hardly change.  What the library costs is against a recording without ``--heap``, what
probes cost against a run without a recording.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.measure import Unavailable, compare, raise_priority, run
from bench.places import REPOSITORY, WORK, linemate, tool
from bench.report import figure, ratio

RATES = (6_000, 58_000, 1_200_000)  # allocations in a second of processor time
SECONDS = 6.0  # of processor time that a turn takes without anything
_CALIBRATED = 300_000_000  # steps of work


def measure(rounds: int) -> list[str]:
    """Both ways at each rate, each in turns with what it is measured against."""
    tool("perf", "linux-perf")
    compiler, source = tool("gcc", "gcc"), REPOSITORY / "testdata" / "programs" / "allocating" / "loop.c"
    folder = WORK / "heap"
    folder.mkdir(parents=True, exist_ok=True)
    for name, more in (("dynamic", []), ("static", ["-static"])):
        done = run([compiler, "-O2", "-g", *more, "-o", str(folder / name), str(source)])
        if done.returncode:
            raise Unavailable(f"{source.name} does not build: {done.stderr.strip()[-200:]}")
    lines = []
    with tempfile.TemporaryDirectory(prefix="heap-") as scratch:
        for rate in RATES:
            lines += _at(rate, folder, Path(scratch), max(1, rounds))
    return lines


def _at(rate: int, folder: Path, scratch: Path, rounds: int) -> list[str]:
    steps_s = _CALIBRATED / min(_used(run([str(folder / "static"), "1", str(_CALIBRATED)], keep_output=True).stdout))
    steps = max(round(steps_s / rate), 1)
    work = [str(round(rate * SECONDS)), str(steps)]
    dynamic, static = [str(folder / "dynamic"), *work], [str(folder / "static"), *work]
    profile = scratch / "p.data"
    result = compare(
        {
            "recorded": _recorded(["-q", "-o", str(profile)], dynamic),
            "library": _recorded(["-q", "--heap", "-o", str(profile)], dynamic),
            "alone": _alone(static),
            "probes": _probed(profile, static),
        },
        rounds,
    )
    series = result.series
    actual = rate * SECONDS / series["alone"].median
    lines = [f"  {actual:,.0f} allocations in a second of processor time"]
    lines += [f"    {name:<9} {figure(one, 'processor s')}" for name, one in series.items()]
    return [*lines, f"  {ratio(result, 'library', 'recorded')}", f"  {ratio(result, 'probes', 'alone')}"]


def _used(output: str) -> list[float]:
    found = [float(line.split()[1]) for line in output.splitlines() if line.startswith("processor_s ")]
    if not found:
        raise Unavailable("the program that allocates printed no time")
    return found


def _alone(command: list[str]) -> Callable[[], tuple[float, bool]]:
    return lambda: (_used(run(command, keep_output=True).stdout)[0], False)


def _recorded(options: list[str], command: list[str]) -> Callable[[], tuple[float, bool]]:
    return lambda: (_used(run([*linemate("record", *options), "--", *command], keep_output=True).stdout)[0], False)


def _probed(profile: Path, command: list[str]) -> Callable[[], tuple[float, bool]]:
    """The recording begins when the program runs, and ends with it."""

    def once() -> tuple[float, bool]:
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=raise_priority)
        options = ["-q", "--heap", "-o", str(profile), "--pid", str(program.pid), "--duration", str(10 * SECONDS)]
        recorder = subprocess.Popen(
            linemate("record", *options), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        output, _ = program.communicate()
        _, said = recorder.communicate()
        if recorder.returncode:
            raise Unavailable(f"nothing is recorded: {said.strip()[-200:]}")
        return _used(output)[0], False

    return once
