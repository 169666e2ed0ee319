"""``python -m fuzz.python TARGET``: runs targets, keeps what has a fault.

Owns the command line and the shrinking of faulty inputs.  Exit code 1 where a fault was found.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fuzz.python.engine import guided
from fuzz.python.engine.blind import GROWN_LIMITS, run_blind, run_grown
from fuzz.python.engine.corpus import keep_fault, kept_folder
from fuzz.python.engine.guided import ENDED, Found, run_guided
from fuzz.python.engine.judge import ROOT, Fault, Limits, fault_of, limited_address_space
from fuzz.python.engine.shrink import shrunk
from fuzz.python.engine.target import Target, scratch_folder
from fuzz.python.targets import NAMES, load
from sharing.model.process.stopping import Stopped, install

DEFAULT_SECONDS = 60.0


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.list:
        for name in NAMES:
            print(f"{name:20} {load(name).reads}")
        return 0
    if unknown := sorted(set(options.target) - set(NAMES)):
        print(f"no target {', '.join(unknown)}: --list shows them", file=sys.stderr)
        return 2
    if options.files:
        return _judge_files(options.target, options.files)
    if not options.runs and not options.seconds:
        options.seconds = DEFAULT_SECONDS
    return max((_run(name, options) for name in options.target or NAMES), default=0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz.python", description="Fuzz the readers written in Python.")
    parser.add_argument("target", nargs="*", help="which (all)")
    parser.add_argument("--list", action="store_true", help="name every target and what it reads")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="inputs to try for each target")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="S", help="time for each target (60)")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="inputs that reach new code (build/fuzz/TARGET)")
    parser.add_argument("--grow", action="store_true", help="inputs of up to 1 MiB in which one part repeats")
    parser.add_argument("--blind", action="store_true", help="without coverage, also where atheris is installed")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of runs without coverage (0)")
    parser.add_argument("--files", nargs="+", type=Path, metavar="FILE", help="judge these files, nothing else")
    return parser


def _run(name: str, options: argparse.Namespace) -> int:
    target, limits = load(name), Limits()
    corpus = options.corpus or ROOT / "build" / "fuzz" / name
    began = time.monotonic()
    bounds = {"runs": options.runs, "seconds": options.seconds}
    if options.grow:
        limits = GROWN_LIMITS
        found = run_grown(name, target, seed=options.seed, **bounds)
        how = "grown"
    elif options.blind or not guided.available():
        found = run_blind(name, target, limits=limits, seed=options.seed, **bounds)
        how = "without coverage" if options.blind else "without coverage (requirements-fuzz.txt has atheris)"
    else:
        found = run_guided(name, target, corpus, limits=limits, **bounds)
        how = "coverage-guided"
    kept = (_keep(name, target, data, signature, limits) for signature, data in found.faults.items())
    kinds = [kind for kind in kept if kind]
    _report(name, found, kinds, how, time.monotonic() - began)
    return int(bool(kinds))


def _report(name: str, found: Found, kinds: list[str], how: str, wall_s: float) -> None:
    rate = found.tried / wall_s if wall_s else 0.0
    hangs, tracebacks = kinds.count("hang"), kinds.count("traceback")
    print(
        f"{name:20} {found.tried:9,} inputs {how} in {wall_s:.0f} s ({rate:,.0f}/s): {tracebacks} tracebacks, "
        f"{hangs} hangs, {len(kinds) - hangs - tracebacks} other faults",
        flush=True,
    )


def _keep(name: str, target: Target, data: bytes, signature: str, limits: Limits) -> str:
    """Shrink and save one faulty input; its kind, "" where it has no fault when it is judged again."""
    if signature.startswith(ENDED):
        if not _ends_the_process(name, data):
            print(f"{name}: {signature}, but not when the input is judged alone: the machine stood still", flush=True)
            return ""
        path = keep_fault(kept_folder(name), data)
        print(f"{name}: {signature}\n  kept as {path.relative_to(ROOT)} ({len(data)} bytes)", flush=True)
        return "crash"
    with scratch_folder(), limited_address_space():
        fault = fault_of(target, data, limits)
        if fault is None:
            # Memory is only seen growing; what was there before may have hidden it.
            fault = Fault("memory" if "MiB" in signature else "unsteady", signature, "")
        else:
            kept, known = fault, fault.signature
            data = shrunk(
                data, lambda one: (now := fault_of(target, one, limits)) is not None and now.signature == known
            )
            fault = fault_of(target, data, limits) or kept
    path = keep_fault(kept_folder(name), data)
    print(
        f"{name}: {fault.signature}\n  kept as {path.relative_to(ROOT)} ({len(data)} bytes)\n{fault.detail}", flush=True
    )
    return fault.kind


def _ends_the_process(name: str, data: bytes) -> bool:
    """Whether an input that ended the process of the loop does so again, in a process of its own."""
    with tempfile.NamedTemporaryFile(prefix="linemate-fuzz-") as file:
        file.write(data)
        file.flush()
        command = [sys.executable, "-m", "fuzz.python", name, "--files", file.name]
        try:
            return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=guided.WAIT_S).returncode != 0
        except subprocess.TimeoutExpired:
            return True


def _judge_files(names: list[str], files: list[Path]) -> int:
    faults = 0
    with scratch_folder(), limited_address_space():
        for name in names:
            target = load(name)
            for path in files:
                fault = fault_of(target, path.read_bytes(), Limits())
                print(f"{name} {path}: {'passes' if fault is None else fault.signature}")
                if fault is not None:
                    print(fault.detail)
                    faults += 1
    return int(faults > 0)


if __name__ == "__main__":
    install()
    try:
        sys.exit(main())
    except Stopped as stopped:  # by a signal: the loop's process and the folder of inputs are gone
        sys.exit(stopped.exit_code)
