"""The numbers by which two builds and two sets of measurements are judged.  How they are stated: ``basics.numbers``.

The strength of a cause only orders what is suspected, the most likely first: it is no probability.
"""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

# Which measurements differ (``statistics``, ``bench``, ``samples``, ``dispersion``).
ALPHA: Annotated[
    float,
    About("chance of a false alarm", Origin.PAPER, "over all comparisons of one call: Fisher's convention"),
] = 0.05
LEVEL: Annotated[float, About("confidence of intervals", Origin.PAPER, "the counterpart of ALPHA")] = 0.95
MIN_PAIRS: Annotated[
    int,
    About("pairs of results", Origin.PAPER, "signs of fewer never reach ALPHA: 2 of 2**5 arrangements are 6 %"),
] = 6
MATTERS: Annotated[
    float, About("relative loss of speed", Origin.CHOSEN, "without --matters: smaller ones nobody searches for")
] = 0.03
RISE: Annotated[
    float,
    About("ratio of two shares", Origin.CHOSEN, "that there was none says something only where as much would be seen"),
] = 1.25
RAISED: Annotated[
    float,
    About("share of what a cause's strength lacks to 1", Origin.CHOSEN, "that it gains where samples show the rise"),
] = 0.5
RAISED_BY_ONE: Annotated[
    float, About("the same", Origin.CHOSEN, "where one recording of each build is all there is")
] = 0.25
NO_RISE: Annotated[
    float, About("factor of a cause's strength", Origin.CHOSEN, "where samples would have shown a rise and do not")
] = 0.5
MAIN_PART: Annotated[
    float,
    About("share of the loss", Origin.CHOSEN, "from here on the cause of it, though all else became dearer, too"),
] = 0.5
SIDE_PART: Annotated[
    float,
    About("share of the loss", Origin.CHOSEN, "the same of what became dearer than all else: less explains no loss"),
] = 0.1
UNSEEN: Annotated[
    float,
    About("share of all samples", Origin.CHOSEN, "code below writes too seldom to cost others MATTERS of their time"),
] = 0.001
LEAST_PLACED: Annotated[
    float, About("share of all samples", Origin.CHOSEN, "below, those with a place are no picture of the rest")
] = 0.05
DISPERSION_FLOOR: Annotated[
    float,
    About(
        "variance of counts over that of independent samples",
        Origin.MEASURED,
        "runs of one build with the same work: 2 to 5 for functions, 16 to 27 for what a kernel does now and then",
    ),
] = 5.0
FLOOR_WEIGHT: Annotated[
    int, About("degrees of freedom", Origin.CHOSEN, "of the floor, where several recordings say more")
] = 2

# What the whole machine did (``signature``).
IDLE_ROSE: Annotated[float, About("percentage points", Origin.CHOSEN, "of idle time: the program waits")] = 20.0
IDLE_SAME: Annotated[float, About("percentage points", Origin.CHOSEN, "of idle time: the program works")] = 10.0
COLLAPSED: Annotated[
    float,
    About("share of interrupts and context switches before", Origin.CHOSEN, "below, there is clearly less of them"),
] = 0.7

SWITCHES_ROSE: Annotated[
    float, About("context switches over those before", Origin.CHOSEN, "from here on, with more idle time, threads wait")
] = 1.3
# How a loss goes with the number of threads (``bylevels``).
GROWS_LEVELS: Annotated[
    int, About("levels", Origin.CHOSEN, "where repetitions do not tell the first from the last: two are no trend")
] = 3
GROWS_LEAST: Annotated[
    float, About("relative loss at most threads", Origin.CHOSEN, "less is too near MATTERS to be a trend")
] = 0.05
GROWS_LEAST_ONCE: Annotated[
    float, About("the same of figures measured once", Origin.CHOSEN, "single runs differ by some percent by chance")
] = 0.1
GROWS_FROM: Annotated[
    float,
    About("share of the loss at most threads", Origin.CHOSEN, "that the fewest have at most: else they lose as well"),
] = 1 / 3
GROWS_SLACK: Annotated[
    float, About("share of the loss at most threads", Origin.CHOSEN, "by which a level in between may fall back")
] = 0.1
GROWS_RAISES: Annotated[
    float,
    About("share of what a cause's strength lacks to 1", Origin.CHOSEN, "as RAISED_BY_ONE: of its kind, not of itself"),
] = 0.25
GROWS_UNSURE: Annotated[
    float, About("share of what both do", Origin.CHOSEN, "where repetitions do not tell the ends apart")
] = 0.5
GROWS_LOWERS: Annotated[
    float, About("factor of a cause's strength", Origin.CHOSEN, "of code: it may be what makes threads wait")
] = 0.7
CONTENDED: Annotated[
    float,
    About("share of all samples", Origin.CHOSEN, "that locks and counts gained: less is no loss that matters"),
] = 0.03

# What of two builds is the same (``unrelated``, ``recognised``, ``activity``).
FEW_MATCHED: Annotated[
    float, About("share of variables in both", Origin.CHOSEN, "below, the builds may not be of one program")
] = 0.5
OTHER_PROGRAM: Annotated[
    float,
    About(
        "share of functions, and of variables, in both",
        Origin.MEASURED,
        "up to it, and with other imports, two programs: pairs of stripped programs of Debian 12 shared at most 8 %, "
        "builds of one program with other libraries or languages 57 % and more",
    ),
] = 0.1
OTHER_IMPORTS: Annotated[
    float,
    About(
        "share of all imports in both",
        Origin.MEASURED,
        "up to it, two programs: pairs of programs of Debian 12 shared 9 to 41 %",
    ),
] = 0.5
OTHER_WITH_LIBRARY: Annotated[
    float,
    About(
        "share of functions in both",
        Origin.MEASURED,
        "up to it, other texts make two programs: those of GNU coreutils, findutils and diffutils share 53 to 64 %",
    ),
] = 0.75
OTHER_TEXTS: Annotated[
    float,
    About(
        "share of all texts in both",
        Origin.MEASURED,
        "up to it, two programs: stripped ones of one project shared 11 to 24 %, cp and mv 69 %, releases of mariadbd "
        "nearly all",
    ),
] = 0.4
CONTAINED_TEXTS: Annotated[
    float,
    About(
        "share of the texts of the build with less",
        Origin.MEASURED,
        "from here on one program: cat shares 74 % with sort",
    ),
] = 0.8
LEAST_SHAPES: Annotated[
    int, About("instructions", Origin.CHOSEN, "fewer of the same kinds in the same order are no sign of one function")
] = 12
LEAST_TEXTS: Annotated[int, About("texts of each program", Origin.CHOSEN, "of fewer, one edit is a large share")] = 20
RECOGNISED: Annotated[
    float,
    About("share of objects, of their bytes, of what is busy", Origin.CHOSEN, "what is ruled out needs all three"),
] = 0.95
SLOT_BYTES: Annotated[
    int, About("bytes of one access", Origin.CHOSEN, "a line; wider ones copy or clear whole objects")
] = 64

# Strength of a cause.
PLAUSIBLE: Annotated[
    float, About("strength", Origin.CHOSEN, "from here on a cause may explain a slowdown, and others need no naming")
] = 0.3
OTHER_COMPILER: Annotated[
    float, About("strength", Origin.CHOSEN, "lays everything out anew: pairs that met are its doing, however bad")
] = 0.97
OTHER_LEVEL: Annotated[float, About("strength", Origin.CHOSEN, "as OTHER_COMPILER, next to it")] = 0.96
LTO: Annotated[float, About("strength", Origin.CHOSEN, "less than another level, more than another version")] = 0.6
COMPILER_VERSION: Annotated[float, About("strength", Origin.CHOSEN, "more than one flag")] = 0.55
OTHER_FLAG: Annotated[float, About("strength", Origin.CHOSEN, "one that changes code")] = 0.45
OTHER_LINKER: Annotated[float, About("strength", Origin.CHOSEN, "more than a flag: it places everything")] = 0.5
LINKER_VERSION: Annotated[float, About("strength", Origin.CHOSEN, "just plausible")] = 0.3
LINK_MODE: Annotated[
    float, About("strength", Origin.CHOSEN, "relro and the like: below plausible, unless something follows from it")
] = 0.1
SEGMENT_ALIGNMENT: Annotated[float, About("strength", Origin.CHOSEN, "just plausible")] = 0.3
ALLOCATOR: Annotated[
    float, About("strength", Origin.CHOSEN, "replaces malloc for the whole process: as bad as a line that is hot")
] = 0.85
OTHER_LIBRARY: Annotated[float, About("strength", Origin.CHOSEN, "more than another version of one")] = 0.5
LIBRARY_VERSION: Annotated[float, About("strength", Origin.CHOSEN, "or another loader")] = 0.4
SYMBOL_VERSION: Annotated[float, About("strength", Origin.CHOSEN, "below plausible: mostly the same code")] = 0.2
MET_CRITICAL: Annotated[
    float, About("strength", Origin.CHOSEN, "a pair of that severity met on a line: next to another compiler")
] = 0.95
MET_HIGH: Annotated[float, About("strength", Origin.CHOSEN, "a pair of that severity")] = 0.9
MET_MEDIUM: Annotated[float, About("strength", Origin.CHOSEN, "a pair of that severity")] = 0.7
MET_LOW: Annotated[float, About("strength", Origin.CHOSEN, "a pair of that severity: just plausible")] = 0.4
MET_NOTE: Annotated[float, About("strength", Origin.CHOSEN, "a pair of that severity: below plausible")] = 0.15
MET_COUNTER: Annotated[
    float,
    About("strength", Origin.CHOSEN, "of a counter and what other threads use, often by estimate: just plausible"),
] = 0.3
HOT_ONLY: Annotated[float, About("strength", Origin.CHOSEN, "both busy, and no rule objects")] = 0.12
ADDED_PAIR: Annotated[
    float, About("factor of a strength", Origin.CHOSEN, "of a pair with a new variable, where other code changed too")
] = 0.5
BESIDE_ACCESS: Annotated[
    int,
    About(
        "instructions beside each access to added data",
        Origin.CHOSEN,
        "that reckon or jump: load, test and jump, or index, load, add and store; more is other work",
    ),
] = 4
SPLIT_NOW: Annotated[float, About("strength", Origin.CHOSEN, "an atomic or lock that crosses a line now")] = 0.6
BY_LAYOUT: Annotated[float, About("strength", Origin.CHOSEN, "a move, where nothing is known of accesses")] = 0.2
CHANGED_LEAST: Annotated[
    float, About("strength", Origin.CHOSEN, "of changed functions that are hardly any of the busy weight")
] = 0.35
CHANGED_MOST: Annotated[float, About("strength", Origin.CHOSEN, "of those that are all of it; between, by share")] = (
    0.65
)
NOT_RECOGNISED: Annotated[
    float, About("strength", Origin.CHOSEN, "busy functions without name and counterpart: changed, or not recognised")
] = 0.25
CHANGED_ELSEWHERE: Annotated[
    float, About("strength", Origin.CHOSEN, "functions that the estimate does not hold for busy")
] = 0.2
MOVED_CODE: Annotated[
    float, About("strength", Origin.CHOSEN, "the same instructions from another place within a line")
] = 0.1
SAMPLED_CODE: Annotated[
    float, About("share of samples", Origin.CHOSEN, "of a changed function: less is hardly worth a name")
] = 0.005
CONTENTION: Annotated[
    float, About("strength", Origin.CHOSEN, "more than changed code, which may be what makes threads wait")
] = 0.8
FEWER_LOCKS: Annotated[
    int, About("locks before over locks now", Origin.CHOSEN, "threads wait for each other twice as often from here on")
] = 2
FEWER_LOCKS_HOT: Annotated[
    float, About("strength", Origin.CHOSEN, "of locks among the busiest: more than the code that changed with them")
] = 0.7
FEWER_LOCKS_WARM: Annotated[float, About("strength", Origin.CHOSEN, "of others: just plausible")] = 0.4
CONTENTION_OF_MACHINE: Annotated[
    float, About("strength", Origin.CHOSEN, "idle processors and more switches, of no known lock")
] = 0.5
BUSY_FUNCTIONS: Annotated[int, About("functions of each build", Origin.CHOSEN, "by estimated executions")] = 60
BUSY_DECADES: Annotated[
    float, About("powers of ten", Origin.CHOSEN, "nothing this far below the busiest function is busy")
] = 3.0
LAST_LINE: Annotated[
    int,
    About("lines of a file", Origin.CHOSEN, "larger numbers are no lines: long generated files have 300,000"),
] = 1_000_000
LINES_MOVED: Annotated[
    int,
    About("numbers", Origin.CHOSEN, "different ones that moved by the same distance are lines; two may be constants"),
] = 3
LINE_MOVE: Annotated[
    int,
    About(
        "lines",
        Origin.MEASURED,
        "a single number that moved further is no line: between two releases of mariadbd lines moved by up to 232",
    ),
] = 300
ROUND: Annotated[
    int, About("divisor", Origin.CHOSEN, "sizes and counts are mostly multiples of it; of pairs of lines one in 64")
] = 8
ROUND_DECIMAL: Annotated[int, About("divisor", Origin.CHOSEN, "the same of limits that people chose")] = 10
MAY_BE_LINE: Annotated[
    float, About("strength", Origin.CHOSEN, "of numbers that may be lines: less than all that is known to be real")
] = 0.05
GREW_IN: Annotated[
    int, About("functions", Origin.CHOSEN, "in which a distance became longer, to be one of a record that grew")
] = 3
MEMBERS_MOVED: Annotated[
    int,
    About("distances", Origin.CHOSEN, "different ones that moved alike are a record that grew; two may have changed"),
] = 3
GREW_ELSEWHERE: Annotated[
    float,
    About(
        "share of its functions", Origin.CHOSEN, "may speak of another record that grew alike: where it grew is told"
    ),
] = 0.02
GREW: Annotated[
    float, About("strength", Origin.CHOSEN, "of a record that grew: which members met is not known, as BY_LAYOUT")
] = 0.2
GREW_BY_LINES: Annotated[
    float, About("strength", Origin.CHOSEN, "by whole lines: what moved keeps its place in its line, but for the joint")
] = 0.1
HEAP_STEP: Annotated[
    int, About("bytes", Origin.ABI, "objects of malloc begin at any multiple of it in 64-bit programs: max_align_t")
] = 16
HEAP_LIKELY: Annotated[
    float,
    About("share of an object's possible places", Origin.CHOSEN, "so many more at which a pair meets make it medium"),
] = 0.5
FETCH_BYTES: Annotated[
    int, About("bytes", Origin.ABI, "what decoders of common processors take at once; gcc aligns entries to 16")
] = 32
