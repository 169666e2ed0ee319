"""The numbers by which drafts become findings.  How they are stated: ``sharing.basics.numbers``."""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

# Layouts that are predicted (``positions``).
MAX_POSSIBLE: Annotated[int, About("pairs across units", Origin.CHOSEN, "more of what may never happen is noise")] = 5
SMALLEST_STEP: Annotated[
    int, About("bytes between positions", Origin.CHOSEN, "linkers place what matters here at words")
] = 4

# What is hot in two revisions (``comparedheat``).
MORE_USE: Annotated[
    float,
    About(
        "estimated executions in the newer revision over those in the older",
        Origin.CHOSEN,
        "from here on a function does more: what was done on one of two ways is done on both; a hint of how often a "
        "way is taken moves an estimate by less",
    ),
] = 2.0

# Which edit is offered (``remedies``).
ALIKE_LINES: Annotated[
    int, About("lines of memory", Origin.CHOSEN, "edits that cost up to so many in all are equally good")
] = 4

# What is one thing (``sampled.names``).
LOCK_GAP: Annotated[int, About("bytes", Origin.CHOSEN, "between two fields of one lock")] = 8
MAX_TOGETHER: Annotated[int, About("bytes of a member", Origin.CHOSEN, "it counts as one thing: two words")] = 16

# Lines that are judged together (``sampled.pooling``, ``sampled.verdict``).
MIN_POOLED: Annotated[int, About("samples of all lines", Origin.CHOSEN, "fewer say nothing")] = 30
MIN_NAMED: Annotated[int, About("lines of one variable", Origin.CHOSEN, "a series has more than one")] = 2
MIN_NAMELESS: Annotated[
    int,
    About("lines of memory without a name", Origin.CHOSEN, "that the same functions use alike: nodes, elements"),
] = 8
MIN_EXPECTED: Annotated[
    float,
    About(
        "pairs of samples at one element", Origin.CHOSEN, "that lines handed over whole would show, for none to tell"
    ),
] = 5.0
OWN_ELEMENTS: Annotated[float, About("share of those pairs", Origin.CHOSEN, "that may be there all the same")] = 0.2

# Elements with a lock each (``elements``).
FEW_LOCKED: Annotated[
    int, About("elements", Origin.CHOSEN, "of more, two threads take neighbours in less than one of eight turns")
] = 16

# Lines that wait together (``sampled.waiting``).
TOGETHER: Annotated[
    float,
    About("speed-up beside the others' fixes over that alone", Origin.CHOSEN, "from here on a line needs their fixes"),
] = 1.1

# Findings of the code that a run clears (``sampled.join``).
MIN_TIMED: Annotated[
    int, About("samples of a run", Origin.CHOSEN, "with so many, 0.5 % that is not seen is an upper bound")
] = 1000
MIN_IN_FUNCTIONS: Annotated[
    int, About("samples in functions that touch the line", Origin.CHOSEN, "with fewer, the run did not come there")
] = 30
CLEARED_BELOW: Annotated[
    float, About("share of the program's time, upper bound", Origin.CHOSEN, "a quarter of what is worth fixing")
] = 0.005
BY_FUNCTION: Annotated[
    float,
    About("share of samples in functions that touch a line", Origin.CHOSEN, "of which only the function is known"),
] = 0.5
WEAK_FROM: Annotated[
    float,
    About(
        "share of samples in functions that touch a line",
        Origin.CHOSEN,
        "that have no place: what is missing may be the point",
    ),
] = 0.2
