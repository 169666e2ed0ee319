"""The coverage-guided loop: libFuzzer through atheris, in a process of its own.

Owns both ends of that process: ``run_guided`` starts it and counts what it did, ``main`` is what runs in it.  Faults
that Python shows are kept and the loop goes on; a fault that ends the process (a crash in native code, a wait without
end) is found by its artifact, and the process is started again for the rest.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.python.engine.corpus import inputs
from fuzz.python.engine.judge import ROOT, Limits, fault_of, limited_address_space
from fuzz.python.engine.target import Target, scratch_folder, use_folder

READERS = ("analyzer", "elfscan", "linemate", "pmu", "reports", "sharing", "elftools", "tomllib", "csv", "shlex")
WAIT_S = 300  # on the clock, of one input: far beyond what any computes, also on a machine that is stopped for a while
MAX_STARTS = 5
ENDED = "the process ended"  # begins the signatures of faults that Python did not see
_COUNT = struct.Struct("<Q")
_MAX_FAULTS = 200


@dataclass(slots=True)
class Found:
    """What a loop did.  ``faults`` are inputs by the signature of their fault."""

    tried: int = 0
    faults: dict[str, bytes] = field(default_factory=dict)


def available() -> bool:
    """Whether atheris is installed: it has no wheel for every machine."""
    return importlib.util.find_spec("atheris") is not None


def run_guided(name: str, target: Target, corpus: Path, *, runs: int, seconds: float, limits: Limits) -> Found:
    """Run until so many inputs or seconds, whichever is given; ``corpus`` grows by what reaches new code."""
    found = Found()
    corpus.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds if seconds else 0.0
    with scratch_folder() as scratch, tempfile.TemporaryDirectory(prefix="linemate-fuzz-") as work_name:
        work = Path(work_name)
        seeds, faults, artifacts = (work / part for part in ("seeds", "faults", "artifacts"))
        for folder in (seeds, faults, artifacts):
            folder.mkdir()
        for number, data in enumerate(inputs(name, target)):
            (seeds / f"{number:05d}").write_bytes(data)
        (work / "words").write_text("".join(f'"{_escaped(word)}"\n' for word in target.words if word))
        loop = _Loop(name, target, corpus, work, scratch, limits)
        for _ in range(MAX_STARTS):
            left_s = max(1, int(until - time.monotonic())) if until else 0
            bound = f"-runs={max(1, runs - found.tried)}" if runs else f"-max_total_time={left_s}"
            ended, tried = _start(loop, bound)
            found.tried += tried
            if ended == 0:
                break
            _take_artifacts(artifacts, found, ended)
            if (runs and found.tried >= runs) or (until and time.monotonic() >= until - 1):
                break
        for path in sorted(faults.glob("*.json")):
            found.faults.setdefault(json.loads(path.read_text()), path.with_suffix(".input").read_bytes())
    return found


@dataclass(frozen=True, slots=True)
class _Loop:
    """What every process of a run is given.  ``work`` has the seeds and takes faults, ``scratch`` is the reader's."""

    name: str
    target: Target
    corpus: Path
    work: Path
    scratch: Path
    limits: Limits


def _start(loop: _Loop, bound: str) -> tuple[int, int]:
    """One process until ``bound``, libFuzzer's option: how it ended, and how many inputs it tried."""
    work, limits = loop.work, loop.limits
    counter = work / "count"
    counter.write_bytes(bytes(_COUNT.size))
    options = [bound]
    if loop.target.words:
        options.append(f"-dict={work / 'words'}")
    options += [
        f"-max_len={loop.target.max_bytes}",
        "-len_control=20",
        f"-timeout={WAIT_S}",
        "-rss_limit_mb=0",  # the limits are the judge's
        "-detect_leaks=0",
        "-reload=0",
        "-verbosity=0",
        f"-artifact_prefix={work / 'artifacts'}/",
        str(loop.corpus),
        str(work / "seeds"),
    ]
    own = [loop.name, str(loop.scratch), str(work), str(limits.cpu_s), str(limits.memory_bytes)]
    command = [sys.executable, "-m", "fuzz.python.engine.guided", *own, *options]
    with (work / "log").open("wb") as log:
        ended = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log).returncode
    (tried,) = _COUNT.unpack(counter.read_bytes())
    if ended and not tried:
        sys.stderr.write((work / "log").read_text(errors="replace")[-2000:])
    return ended, tried


def _take_artifacts(folder: Path, found: Found, ended: int) -> None:
    for path in sorted(folder.iterdir()):
        kind = path.name.partition("-")[0]
        found.faults[f"{ENDED} with {ended}: {kind} {path.name[-16:]}"] = path.read_bytes()
        path.unlink()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def main(arguments: Sequence[str]) -> None:
    """In the process of the loop: reader imported under instrumentation, every input judged and counted."""
    import atheris

    name, scratch, work, cpu_s, memory_bytes = arguments[:5]
    with atheris.instrument_imports(include=list(READERS)):
        from fuzz.python.targets import load

        target = load(name)
    limits = Limits(float(cpu_s), int(memory_bytes))
    faults = Path(work) / "faults"
    seen: set[str] = set()
    with (Path(work) / "count").open("r+b") as file:
        count = mmap.mmap(file.fileno(), _COUNT.size)
    tried = 0

    def one(data: bytes) -> None:
        nonlocal tried
        tried += 1
        _COUNT.pack_into(count, 0, tried)
        fault = fault_of(target, data, limits)
        if fault is not None and fault.signature not in seen and len(seen) < _MAX_FAULTS:
            seen.add(fault.signature)
            path = faults / f"{len(seen):05d}.json"
            path.with_suffix(".input").write_bytes(data)
            path.write_text(json.dumps(fault.signature))

    with use_folder(Path(scratch)), limited_address_space():
        atheris.Setup(["guided", *arguments[5:]], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
