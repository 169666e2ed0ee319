"""The numbers by which code is weighed and lines are chosen.  How they are stated: ``sharing.basics.numbers``.

Bounds of what is searched, and caps of fixpoints that settle long before, stand where they are used.
"""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

# Executions of a place in one run of its function (``executions``).
IMPLAUSIBLE_LOOPS: Annotated[
    int,
    About(
        "loops one inside the other",
        Origin.CHOSEN,
        "nobody nests so many: a switch whose table could not be bounded joins unrelated code into cycles",
    ),
] = 8
MAX_LOOPS: Annotated[
    int,
    About(
        "loops one inside the other",
        Origin.CHOSEN,
        "deeper nests count like this: nobody's hot path is a million iterations of a scan",
    ),
] = 3

# Frequencies of functions in the whole program (``callgraph``, ``coldness``).
IMPLAUSIBLE_STARTS: Annotated[
    int,
    About("loops one inside the other", Origin.CHOSEN, "as IMPLAUSIBLE_LOOPS, for those that a thread is started in"),
] = 4
MAX_FREQUENCY: Annotated[
    float, About("runs of a function", Origin.CHOSEN, "beyond, one long chain of loops would outweigh all else")
] = 1e5
MANY_THREADS: Annotated[
    float,
    About("runs of a thread's entry", Origin.CHOSEN, "it is started more than once; what repeats is in its loops"),
] = 2.0
DISPATCHED: Annotated[
    float,
    About("runs of a function", Origin.CHOSEN, "it is called through a pointer, or from outside: again and again"),
] = 20.0
RECURSION: Annotated[
    float,
    About(
        "share of a caller's frequency", Origin.CHOSEN, "what goes around a cycle of calls: below 1, so that it ends"
    ),
] = 0.9
BIG_PROGRAM: Annotated[
    int,
    About("functions beyond main's own", Origin.CHOSEN, "from here on main is start-up and shut-down more than work"),
] = 200
SET_UP: Annotated[
    float,
    About("factor of a frequency", Origin.CHOSEN, "of what only main runs, in a big program: a power of ten less"),
] = 0.1
COLD: Annotated[
    float,
    About("factor of a frequency", Origin.CHOSEN, "a name or a section is weak evidence: it decides nothing alone"),
] = 0.05
ASIDE: Annotated[
    float,
    About(
        "factor of a frequency",
        Origin.MEASURED,
        "24 counted programs: of these functions 1 for 88 of the others is entered once in a million instructions "
        "(leaving one program out, 1 for 79 to 500), and none as often as matters, where 1,662 others are",
    ),
] = 0.01
LAST_WORDS: Annotated[
    float,
    About(
        "factor of a frequency",
        Origin.CHOSEN,
        "assertions and crash reports: called from everywhere, and as good as never run",
    ),
] = 1e-4

# The estimate by thread (``perthread``).
THREAD_LOOP: Annotated[
    float,
    About(
        "iterations of a loop",
        Origin.MEASURED,
        "counted programs, docs/estimate.md: of many loops one inside the other, most are short or not taken",
    ),
] = 3.0
CALL_SHARE: Annotated[
    float,
    About("share of a function's runs that make one of its calls", Origin.MEASURED, "as THREAD_LOOP"),
] = 0.5
POINTER_SHARE: Annotated[
    float,
    About(
        "share of calls through pointers that end at any function whose address is stored",
        Origin.MEASURED,
        "as THREAD_LOOP",
    ),
] = 0.02
FEW_TARGETS: Annotated[
    float,
    About(
        "functions whose address is stored, or is handed to another one",
        Origin.CHOSEN,
        "where there are no more, a thread's loop that calls through a pointer calls one of them: a pool's tasks",
    ),
] = 16
AGAIN_MOST: Annotated[
    float,
    About(
        "handlers that a handler leads to",
        Origin.CHOSEN,
        "they make calls through pointers as well: a geometric series, and that of one thread ends",
    ),
] = 0.9
STEADY: Annotated[
    float,
    About(
        "iterations of a loop",
        Origin.CHOSEN,
        "a thread lives in the outermost loops of its entry and of what that calls once",
    ),
] = 1000.0
STUB_INSTRUCTIONS: Annotated[
    float, About("instructions", Origin.CHOSEN, "a call that leaves the file: the way there, and what it at least does")
] = 20.0
CALLS_FOLLOWED: Annotated[
    int, About("calls from an entry", Origin.CHOSEN, "at CALL_SHARE a chain of so many runs 4,000 times less often")
] = 12
FAINT: Annotated[
    float, About("runs for each run of the entry", Origin.CHOSEN, "below, nothing is followed: one in a million")
] = 1e-6
CALLERS_SHARE: Annotated[
    float,
    About(
        "share of their instructions that callers of a library spend in it",
        Origin.CHOSEN,
        "they have work of their own, and other libraries: of a small one, half its functions would be busy else",
    ),
] = 0.1
SURE_FACTOR: Annotated[
    float, About("factor of the rate that matters", Origin.CHOSEN, "estimates are off by so much as often as not")
] = 10.0
UNOPTIMIZED: Annotated[
    float,
    About(
        "instructions for each one of the same code optimized",
        Origin.MEASURED,
        "five planted programs under callgrind, gcc -O0 for -O2: 2.0 to 2.4 of C, 5.0 of C++",
    ),
] = 3.0
EACH_TIME: Annotated[
    int, About("steps of rarity", Origin.CHOSEN, "up to here a loop does it as a rule: one time of four, or more often")
] = 8
LIFE_BEGINS: Annotated[
    int,
    About(
        "steps of rarity",
        Origin.CHOSEN,
        "a thread comes to its loop past five checks that may end it, each as likely as not",
    ),
] = 20
REST_NS: Annotated[
    float,
    About(
        "nanoseconds",
        Origin.CHOSEN,
        "a thread that sleeps so long each round loses 0.1 % of its time to a miss a round, the least that is counted",
    ),
] = 7e4
NAP_NS: Annotated[
    float,
    About(
        "nanoseconds",
        Origin.CHOSEN,
        "who sleeps for less where there is nothing to do expects work soon; periodic threads sleep for milliseconds",
    ),
] = 1e6
EVERY_ROUND: Annotated[
    int,
    About(
        "steps of rarity",
        Origin.CHOSEN,
        "below, a loop that sleeps does so in every round, not only where it is idle; a way past a return is 2",
    ),
] = 2
INLINED: Annotated[
    float,
    About("instructions", Origin.CHOSEN, "gcc and clang make smaller functions a part of their callers, about so far"),
] = 30.0

# Which accesses are busy, and which lines are looked at (``correlate``).
WARM_WEIGHT: Annotated[
    float,
    About(
        "estimated executions",
        Origin.CHOSEN,
        "what is in a loop of something that itself runs once, on an ordinary path, has more",
    ),
] = 4.0
LINE_WEIGHT: Annotated[
    float,
    About("estimated executions", Origin.CHOSEN, "half of what is warm: two halves of one thing may be on one line"),
] = 2.0
LOCK_EXTENT: Annotated[
    int, About("bytes", Origin.CHOSEN, "of a lock, to look at the line that it may cross; a rule asks its ABI")
] = 16
HOT_RANK: Annotated[int, About("rank among the actors of a program", Origin.CHOSEN, "so many may be hot")] = 30
HOT_SHARE: Annotated[
    float, About("share of a program's written actors", Origin.CHOSEN, "or this many may be hot, where that is more")
] = 0.02
HOT_DECADES: Annotated[float, About("powers of ten", Origin.CHOSEN, "nothing this far below the busiest is hot")] = 2.5
FUNCTION_SCORE: Annotated[
    float,
    About(
        "powers of ten for twice the functions",
        Origin.CHOSEN,
        "four times the users weigh like ten times the executions: many users outlive one deep loop",
    ),
] = 0.5
VIA_CALL_WEIGHT: Annotated[
    float,
    About(
        "factor of a weight",
        Origin.CHOSEN,
        "reached through a pointer argument: the path is one of several in the callee",
    ),
] = 0.7
INDEXED_WEIGHT: Annotated[float, About("factor of a weight", Origin.CHOSEN, "one of several elements")] = 0.3
TABLE_BYTES: Annotated[
    int,
    About(
        "bytes of an array",
        Origin.CHOSEN,
        "in a larger one an index chooses among many lines: plain uses of it, in loops too, say little of any one; "
        "of elements that are at least a line apart only one line each counts",
    ),
] = 16 * 1024
UNBOUNDED: Annotated[
    int, About("bytes of one access", Origin.CHOSEN, "larger ones are string operations of unknown length")
] = 4096
MAX_LINES: Annotated[int, About("lines", Origin.CHOSEN, "profiled in full, the busiest first; a bound on time")] = 240
MAX_EXTRA_LINES: Annotated[
    int, About("lines of each kind", Origin.CHOSEN, "with a split lock or an array, besides those; as MAX_LINES")
] = 400
MAX_HOTTEST: Annotated[int, About("lines", Origin.CHOSEN, "whose neighbourhood is looked at, too; as MAX_LINES")] = 80

# What calls do, how far it is followed (``flow``, ``callees``, ``rarecode``, ``profiles``).
LOCK_WRAPPERS: Annotated[
    int, About("calls from a function to the lock that it takes", Origin.CHOSEN, "wrappers of locks are no deeper")
] = 6
RELEASED: Annotated[
    float,
    About(
        "releases of a lock by times that a function takes it",
        Origin.CHOSEN,
        "from here on it holds the lock while it runs alone: ways out of a function have less than their share",
    ),
] = 0.7
ENTRY_WRAPPERS: Annotated[
    int, About("calls from a function to the start of a thread", Origin.CHOSEN, "wrappers of threads are no deeper")
] = 4
START_DEPTH: Annotated[
    int,
    About(
        "calls from a loop to the start of a thread",
        Origin.CHOSEN,
        "a list that makes threads in place calls ten functions of its library where nothing is inlined",
    ),
] = 16
START_WAYS: Annotated[
    int,
    About("ways to the starts of a thread", Origin.CHOSEN, "of more nobody says that one run of the program takes one"),
] = 8
ONCE_WRAPPERS: Annotated[
    int, About("calls between a function and what runs it once", Origin.CHOSEN, "they hand their own argument on")
] = 2
SEVERAL_CALLERS: Annotated[
    int,
    About(
        "functions that call one",
        Origin.CHOSEN,
        "from here on those of a kernel that are seen speak for modules: one may be the only one of its kind",
    ),
] = 2
MANY_NAMES: Annotated[
    int, About("comparisons of texts in a function", Origin.CHOSEN, "from here on it looks for names of options")
] = 8
PARAM_ROUNDS: Annotated[
    int,
    About(
        "levels of callees", Origin.CHOSEN, "whose accesses behind a pointer are those of the caller: more says little"
    ),
] = 2
MAX_CALLERS: Annotated[
    int, About("callers of one function", Origin.CHOSEN, "that a helper's lock is looked for in: more seldom agree")
] = 8
MAX_CALLERS_UP: Annotated[int, About("levels of callers", Origin.CHOSEN, "that a helper's lock is looked for in")] = 3
GUARD_SHARE: Annotated[
    float, About("share of an actor's weight", Origin.CHOSEN, "under a lock, for the lock to guard it: clearly most")
] = 0.6

# What objects are (``profiles``, ``roles``).
WRAPPER_BYTES: Annotated[
    int,
    About("bytes", Origin.CHOSEN, "what a type may add to the lock that it wraps: an instrumentation pointer, a name"),
] = 16
ONE_PIECE: Annotated[
    int, About("bytes of a variable without a type", Origin.CHOSEN, "up to a word it is one thing, however accessed")
] = 8
MAX_ELEMENTS: Annotated[int, About("elements of an array", Origin.CHOSEN, "that are told apart; more are a table")] = 64
READ_MOSTLY: Annotated[float, About("reads per write", Origin.CHOSEN, "from here on data counts as read-mostly")] = 20.0
SELDOM_WRITTEN: Annotated[
    float, About("reads per write", Origin.CHOSEN, "the same where no write is in repeated code")
] = 5.0
COUNTER_FROM: Annotated[
    float, About("share of writes that also read", Origin.CHOSEN, "more than this makes a counter: most of them")
] = 0.5
