"""Loops without coverage: a fixed number of mutations, and inputs that grow.

Owns those two loops.  They need nothing that is not in the tests' environment.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from fuzz.python.engine.corpus import inputs
from fuzz.python.engine.guided import Found
from fuzz.python.engine.judge import Limits, fault_of, limited_address_space
from fuzz.python.engine.mutation import Mutator
from fuzz.python.engine.target import Target, scratch_folder

GROWN_BYTES = (1 << 16, 1 << 20)
GROWN_LIMITS = Limits(cpu_s=10.0, memory_bytes=1 << 30)


def run_blind(name: str, target: Target, *, runs: int, seconds: float, limits: Limits, seed: int) -> Found:
    """Mutations of the kept inputs."""
    with scratch_folder():
        mutator = Mutator(inputs(name, target), target.words, target.max_bytes, seed)
        return _judged(target, (mutator.next() for _ in _turns(runs, seconds)), limits)


def run_grown(name: str, target: Target, *, runs: int, seconds: float, seed: int) -> Found:
    """Inputs of up to a megabyte in which one part repeats: a reader takes time in proportion to its input."""
    with scratch_folder():
        mutator = Mutator(inputs(name, target), target.words, GROWN_BYTES[-1], seed)
        grown = (mutator.grown(GROWN_BYTES[turn % len(GROWN_BYTES)]) for turn in _turns(runs, seconds))
        return _judged(target, grown, GROWN_LIMITS)


def _turns(runs: int, seconds: float) -> Iterator[int]:
    until = time.monotonic() + seconds if seconds else 0.0
    turn = 0
    while (not runs or turn < runs) and (not until or time.monotonic() < until):
        yield turn
        turn += 1


def _judged(target: Target, stream: Iterator[bytes], limits: Limits) -> Found:
    found = Found()
    with limited_address_space():
        for data in stream:
            found.tried += 1
            fault = fault_of(target, data, limits)
            if fault is not None:
                found.faults.setdefault(fault.signature, data)
    return found
