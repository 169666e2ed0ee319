"""The numbers by which samples become lines, users and costs.  How they are stated: ``sharing.basics.numbers``.

Bounds of what is looked at stand where they are used, as do the facts of memory layout (``regions``).
"""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

# Which lines are looked at (``lines``, ``touches``).
MIN_ON_LINE: Annotated[
    int, About("samples on a line", Origin.CHOSEN, "fewer are looked at only where many lines have so few")
] = 4
FEW_SAMPLES: Annotated[
    int,
    About("samples on a line", Origin.CHOSEN, "with fewer, it is judged with others like it, or not at all"),
] = 10
MIN_SHARE: Annotated[
    float, About("share of all cost, or of all samples", Origin.CHOSEN, "less is not worth fixing however it is shared")
] = 5e-4
MANY_THIN: Annotated[
    int,
    About(
        "lines with few samples of several threads", Origin.CHOSEN, "from here on they may be an array and are judged"
    ),
] = 16
MAX_LINES: Annotated[int, About("lines", Origin.CHOSEN, "the costliest ones; a bound on time")] = 256
MAX_THREADS: Annotated[
    int, About("threads of a line", Origin.CHOSEN, "the busiest, whose pairs are tested for overlap; a bound on time")
] = 6
WOULD_SHOW: Annotated[
    float,
    About("samples to expect", Origin.PAPER, "with none of so many, it is no chance: Poisson, e^-10"),
] = 10.0
SEVERAL: Annotated[int, About("threads", Origin.CHOSEN, "of two, the samples on the line decide")] = 3
MAX_SITES: Annotated[int, About("instructions of a line", Origin.CHOSEN, "that are followed to other lines")] = 8
SITES_SHARE: Annotated[
    float, About("share of a line's samples", Origin.CHOSEN, "that these must have: most of them")
] = 0.5

# Whether threads use a line at one time (``overlap``).
MIN_TESTED: Annotated[int, About("samples of each thread", Origin.CHOSEN, "below, nothing is said")] = 8
GAPS: Annotated[float, About("usual gaps between samples", Origin.CHOSEN, "a longer one ends a use")] = 4.0
CONCURRENT_FROM: Annotated[
    float,
    About(
        "share within the other's uses, lower bound",
        Origin.CHOSEN,
        "even threads that mostly wait reach it",
    ),
] = 0.1
PHASED_TO: Annotated[
    float, About("share within the other's uses, upper bound", Origin.CHOSEN, "few enough to be sure of phases")
] = 0.2
PHASED_SHARE: Annotated[
    float, About("share within the other's uses", Origin.CHOSEN, "what boundaries of phases may leave")
] = 0.05
ALTERNATE: Annotated[
    float,
    About(
        "share of the alternations that random order gives",
        Origin.CHOSEN,
        "phases of three samples and more have fewer",
    ),
] = 0.75
CLEAR_PHASES: Annotated[
    float,
    About(
        "share of the alternations that random order gives",
        Origin.CHOSEN,
        "phases of twenty samples and more have fewer",
    ),
] = 0.1
CROWDED: Annotated[
    float,
    About("processors", Origin.CHOSEN, "that others left to the run: with fewer, two threads seldom have one each"),
] = 1.5
BY_CHANCE: Annotated[
    float,
    About("probability", Origin.CHOSEN, "that threads which only get the processor now and then never meet"),
] = 0.1
CLOSE: Annotated[
    float, About("sampling periods", Origin.CHOSEN, "nearer samples are of threads that were there at the same time")
] = 0.9

# Pointers that are carried from sample to sample (``carried``).
MIN_CARRIED: Annotated[
    int, About("samples", Origin.CHOSEN, "that must tell the same pointer: two may agree before it changes")
] = 3
MIN_REPEATED: Annotated[
    int,
    About(
        "samples",
        Origin.CHOSEN,
        "that must tell the same pointer where a loop sets it: another one for a sixth of the time would show in 95 %",
    ),
] = 16

# What of a line's cost is whose (``blame``, ``latency``).
CODE_WEIGHT: Annotated[
    float,
    About("samples", Origin.CHOSEN, "of a write that only code says: it explains where nothing better does"),
] = 0.05
CODE_SHARE: Annotated[
    float, About("share of the most seen access of its function", Origin.CHOSEN, "as CODE_WEIGHT, where there is one")
] = 0.5
WAITS_PER_USE: Annotated[
    float,
    About(
        "samples of waiting that one sampled use explains",
        Origin.CHOSEN,
        "a miss lasts that many times a store and its run",
    ),
] = 32.0
MIN_LATENCIES: Annotated[
    int, About("samples of a kind of access", Origin.CHOSEN, "to take its own latency as the usual one")
] = 20
USUAL_CYCLES: Annotated[
    float, About("cycles", Origin.ABI, "load to use from the first cache, x86-64 and Arm server cores: 4 or 5")
] = 5.0
USUAL_ATOMIC_CYCLES: Annotated[
    float, About("cycles", Origin.ABI, "a locked operation on a line in the first cache, x86-64: 18 to 20")
] = 20.0

# What a fix would gain (``gain``, ``rates``, ``timeline``).
TELLING: Annotated[
    float,
    About("speed-up, upper bound", Origin.CHOSEN, "above it says nothing: all time at a tight loop's one access"),
] = 3.0
WORTH_FIXING: Annotated[
    float,
    About("speed-up", Origin.CHOSEN, "below, an edit costs more attention than it gives, and no benchmark shows it"),
] = 1.02
UNCERTAIN: Annotated[
    float, About("an end of the interval over what is expected, or the reverse", Origin.CHOSEN, "beyond, it is said")
] = 1.3
LEAST_SPREAD: Annotated[
    float,
    About(
        "share of user time", Origin.CHOSEN, "from run to run, where one or two were made; half of it where more were"
    ),
] = 0.05
MORE_RUNS: Annotated[int, About("runs", Origin.CHOSEN, "that show how much they differ: two may agree by chance")] = 3
ODDS: Annotated[
    float,
    About(
        "factor of the odds that a line's cost remains",
        Origin.MEASURED,
        "lock_list and mixed of testdata/programs/gain: nothing to sixteen times what is expected remained, on one "
        "machine within minutes",
    ),
] = 16.0
MIN_ALONE: Annotated[
    int, About("samples of a line on one processor", Origin.CHOSEN, "fewer say nothing of how often it is used")
] = 20
UNKNOWN_REMAINS: Annotated[
    float,
    About("share of a cost", Origin.CHOSEN, "that remains where nobody was seen who disturbs: as likely as not"),
] = 0.5
UNSEEN_RATE: Annotated[
    float, About("samples", Origin.CHOSEN, "of an access that only code says, or that has none on one processor")
] = 0.5
QUIET_ODDS: Annotated[
    float,
    About(
        "odds of a miss on a line that one item has to itself",
        Origin.MEASURED,
        "against a line that several pull at: 0.35, 0.3 and less on lock_list, references, mixed of "
        "testdata/programs/gain",
    ),
] = 0.35
FARTHER: Annotated[
    float,
    About(
        "ratio of two times that a line took between processors",
        Origin.MEASURED,
        "25 and 155 ns by turns on a virtual machine whose host moves its processors; measurements of one state differ "
        "by less than a third",
    ),
] = 2.0
STEP_SAMPLES: Annotated[
    float, About("usual distances of samples", Origin.CHOSEN, "in a moment of the run: most have a sample")
] = 2.0
SHORT_PHASE: Annotated[
    int, About("moments", Origin.CHOSEN, "that a set of threads must run to be a phase of its own")
] = 3

# The run on one processor (``solo``).
USUAL_PART: Annotated[
    float,
    About(
        "share of the time on one processor",
        Origin.CHOSEN,
        "at instructions below the usual ratio of both runs: waiting makes ratios larger, chance some smaller",
    ),
] = 0.25
FEW_TIME: Annotated[
    float, About("share of a run's user time", Origin.CHOSEN, "threads with less take no part in the match")
] = 0.005
FASTER: Annotated[
    float,
    About("time alone over time beside others", Origin.CHOSEN, "a thread that needs more alone did other work there"),
] = 1.15
ALIKE_TIME: Annotated[
    float, About("share of a thread's time", Origin.CHOSEN, "that must be in functions in which its match is as well")
] = 0.7
EVEN: Annotated[float, About("ratio of the time of two threads", Origin.CHOSEN, "below, they did the same work")] = 1.2
UNEVEN: Annotated[float, About("ratio of the time of two threads", Origin.CHOSEN, "above, they did not")] = 1.5
SAME_WALL: Annotated[
    float,
    About("share of wall time", Origin.CHOSEN, "two levels this close, both busy, ran for a fixed time"),
] = 0.002
SAME_WALL_S: Annotated[float, About("seconds", Origin.CHOSEN, "the same, for short runs")] = 0.004
RUNS_APART: Annotated[
    int,
    About("times SAME_WALL", Origin.CHOSEN, "between the runs of one level: work takes the same time seldom by chance"),
] = 4
BUSY: Annotated[
    float, About("share of one processor", Origin.CHOSEN, "that a run for a fixed time uses when confined to one")
] = 0.9
SPREADS: Annotated[
    float, About("processors", Origin.CHOSEN, "that a run for a fixed time uses where it may use several")
] = 1.2
LEAST_USUAL: Annotated[
    float,
    About("ratio of the time at instructions that do not wait", Origin.CHOSEN, "from here to MOST_USUAL: same work"),
] = 0.8
MOST_USUAL: Annotated[
    float, About("ratio of the time at instructions that do not wait", Origin.CHOSEN, "the other end of LEAST_USUAL")
] = 1.25
MIN_ANCHOR_S: Annotated[
    float, About("seconds in functions that touch no shared line", Origin.CHOSEN, "to scale the runs by them")
] = 0.05
METRIC_DOUBT: Annotated[
    float,
    About("share of the work", Origin.CHOSEN, "that the spread of a metric may cast doubt on, at most"),
] = 0.5
ONE_RUN_DOUBT: Annotated[
    float, About("share of the work", Origin.CHOSEN, "where nothing says that the runs did the same")
] = 0.02
ANCHOR_DOUBT: Annotated[
    float, About("share of the work", Origin.CHOSEN, "where it is scaled by functions without shared lines")
] = 0.15
