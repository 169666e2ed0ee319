"""How a number that shapes a verdict is stated, and those that several rooms share.

A room's own stand in its ``numbers.py``, each with its unit and with where it comes from:

    LOW_FROM: Annotated[float, About("share of the program's time", Origin.CHOSEN, "why this much")] = 0.02

Code reads them as ``numbers.LOW_FROM``, so that a test can move one and see which verdicts follow.
"""

from __future__ import annotations

from enum import Enum
from types import ModuleType
from typing import Annotated, get_type_hints

import msgspec


class Origin(Enum):
    """Where a number comes from."""

    PAPER = "a publication or textbook"
    ABI = "a format, an ABI or a manual"
    MEASURED = "measured or fitted, on what is named"
    CHOSEN = "chosen: nothing was fitted; the reason is named"


class About(msgspec.Struct, frozen=True):
    """What a number counts, where it comes from, and its source or reason in words."""

    unit: str
    origin: Origin
    source: str


def described(module: ModuleType) -> dict[str, About]:
    """The numbers that a module states, by name."""
    found: dict[str, About] = {}
    for name, hint in get_type_hints(module, include_extras=True).items():
        found.update((name, extra) for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, About))
    return found


Z_95: Annotated[
    float,
    About("standard deviations", Origin.PAPER, "the normal distribution: 95 % lie within so many on both sides"),
] = 1.959963984540054

LOOP_FACTOR: Annotated[
    float,
    About("iterations of a loop", Origin.CHOSEN, "where nothing is known of its count: a power of ten a level"),
] = 10.0

RARITY_STEPS: Annotated[
    float,
    About("steps of rarity that halve a chance", Origin.ABI, "how the analyzers state it: rarity is 4 * -log2(chance)"),
] = 4.0

SELDOM: Annotated[
    int,
    About("steps of rarity", Origin.CHOSEN, "of what runs once or next to never among what repeats: 2^-10 of it"),
] = 40

LOW_FROM: Annotated[
    float, About("share of the program's time", Origin.CHOSEN, "below, it is said not to be worth fixing")
] = 0.02

# What it costs when a thread's use of a line misses (``costs``).
TRANSFER_NS: Annotated[
    float,
    About(
        "ns for one line from another core of the same socket",
        Origin.MEASURED,
        "tools that measure latency between cores: 50 to 100 on server processors, two to three times that between "
        "sockets",
    ),
] = 70.0
INSTRUCTION_NS: Annotated[
    float,
    About(
        "ns for one instruction of a server program",
        Origin.CHOSEN,
        "one a cycle at 3.3 GHz; servers run at 0.5 to 2 instructions a cycle",
    ),
] = 0.3
INSTRUCTION_BYTES: Annotated[
    float,
    About("bytes of one instruction", Origin.CHOSEN, "x86-64 code on average; only totals of functions rest on it"),
] = 4.0

SCALAR_BYTES: Annotated[
    int,
    About(
        "bytes of one access",
        Origin.CHOSEN,
        "two words; longer ones copy or clear several things at once, and straddle lines without harm",
    ),
] = 16

# A layout that is predicted up to where its parts begin.
LIKELY: Annotated[
    float, About("share of positions at which a pair meets", Origin.CHOSEN, "from here on it costs no severity")
] = 0.5
UNLIKELY: Annotated[
    float, About("share of positions at which a pair meets", Origin.CHOSEN, "below, it costs two severities, else one")
] = 0.25
