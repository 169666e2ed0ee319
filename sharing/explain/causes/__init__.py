"""The suspects, one module each: a pure function from the compared builds to causes and to what is ruled out.

Owns the order in which they are asked.  A new suspect is one module and one row of ``SUSPECTS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sharing.explain.causes import dependency, fewerlocks, functions, layout, toolchain
from sharing.explain.causes.base import Builds, Verdicts


@dataclass(frozen=True, slots=True)
class Suspect:
    name: str
    ask: Callable[[Builds], Verdicts]


SUSPECTS = (
    Suspect("layout", layout.ask),
    Suspect("dependency", dependency.ask),
    Suspect("toolchain", toolchain.ask),
    Suspect("code", functions.ask),
    Suspect("contention", fewerlocks.ask),
)
