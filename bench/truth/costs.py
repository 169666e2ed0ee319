"""The costs that the threshold of a true pair rests on, measured on this machine.

Owns two measurements: what a line takes from one processor to another, and what an instruction of the corpus's own
programs takes.  ``sharing.basics.numbers`` has the numbers that are used, which are those of servers in general.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.truth.drive import NotRun
from bench.truth.programs import PROGRAMS
from bench.truth.programs.program import DRIVERS, Program
from sharing.basics.costs import PER_MILLION, busy_rate
from sharing.basics.numbers import INSTRUCTION_NS, LOW_FROM, TRANSFER_NS

TIMED = ("pbzip2", "zstd", "sort", "pigz", "git-grep")  # that end by themselves, and soon
ROUNDS = 5
LIMIT_S = 300.0


def costs() -> Iterator[str]:
    """Lines to be read."""
    transfer = _transfer()
    yield f"a line from another processor: {transfer:.1f} ns (used: {TRANSFER_NS:.0f})"
    found = []
    for program in PROGRAMS:
        if program.name in TIMED:
            found.append(_instruction(program))
            yield f"an instruction of {program.name}: {found[-1]:.2f} ns"
    found.sort()
    middle = found[len(found) // 2]
    yield f"an instruction, the median of these: {middle:.2f} ns (used: {INSTRUCTION_NS})"
    rate = LOW_FROM * PER_MILLION * middle / transfer
    share = f"{100 * LOW_FROM:.0f} % of the time"
    yield f"uses per million instructions that cost {share}: {rate:.0f} (used: {busy_rate():.0f})"


def _transfer() -> float:
    with tempfile.TemporaryDirectory() as where:
        program = f"{where}/transfer"
        subprocess.run(["gcc", "-O2", "-pthread", str(DRIVERS / "transfer.c"), "-o", program], check=True)
        done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        raise NotRun("a line needs two processors to be moved")
    return float(done.stdout)


def _instruction(program: Program) -> float:
    """Time of its processors by instructions, the best of a few runs."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        if program.prepare is not None:
            program.prepare(where)
        command = [part.format(where=where) for part in program.command]
        best = min(_processor_s(command, where) for _ in range(ROUNDS))
        counts = where / "counts"
        run = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", *command]
        told = subprocess.run(run, cwd=where, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        executed = re.search(r"Collected : (\d+)", told.stderr)
    if executed is None:
        raise NotRun(f"{program.name}: callgrind does not say how much was executed")
    return best * 1e9 / int(executed[1])


def _processor_s(command: list[str], where: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        command, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env={**os.environ}
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
