"""The numbers by which counted executions are judged.  How they are stated: ``sharing.basics.numbers``."""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

MIN_TRANSFERS: Annotated[
    int, About("misses of a pair", Origin.CHOSEN, "what met less often says nothing of how often it does so")
] = 100
NEGLIGIBLE: Annotated[
    float,
    About(
        "share of the busiest thread's time",
        Origin.CHOSEN,
        "what threads that hardly ran may cost each other is only a note",
    ),
] = 0.001
FAINT_PART: Annotated[
    float,
    About("part of the rate that matters", Origin.CHOSEN, "a thread that uses it less takes no part in sharing it"),
] = 0.01
RUN_TO_RUN: Annotated[
    float,
    About(
        "part of what was counted",
        Origin.MEASURED,
        "of a thread that spins: 7.4, 7.7 and 9.0 % in three runs of one program",
    ),
] = 0.2
