"""The numbers that decide what a rule says and how severe it is.  How they are stated: ``sharing.basics.numbers``."""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

# Severity by what was sampled.
HIGH_FROM: Annotated[
    float, About("share of the program's time, lower bound", Origin.CHOSEN, "a step of the grade; no source")
] = 0.10
MEDIUM_FROM: Annotated[
    float, About("share of the program's time, lower bound", Origin.CHOSEN, "a step of the grade; no source")
] = 0.04
MEDIUM_SAVED: Annotated[
    float,
    About("share of the program's time, expected", Origin.CHOSEN, "less is low where perhaps nothing is saved"),
] = 0.05
ATOMIC_FROM: Annotated[
    float,
    About("share of the program's time", Origin.CHOSEN, "a split lock stops all processors: it counts in full earlier"),
] = 0.005
FALSE_SHARE: Annotated[
    float,
    About("share of what others cause", Origin.CHOSEN, "below, the line counts as truly shared"),
] = 0.15
WORTH_SAYING: Annotated[
    float,
    About(
        "share of what others cause", Origin.CHOSEN, "that comes of other bytes: below, padding is said to spare none"
    ),
] = 0.05
LARGE_FOOTPRINT: Annotated[
    int, About("lines that one instruction walks", Origin.CHOSEN, "padding of a list or big array multiplies them")
] = 256
WORTH_NAMING: Annotated[
    float, About("share of what the busiest did", Origin.CHOSEN, "who did less is not named as reader or writer")
] = 0.01

WORTH_LISTING: Annotated[
    float,
    About("share of the false sharing", Origin.CHOSEN, "data that has less of it with the worst is no participant"),
] = 0.05
ITSELF_SHARED: Annotated[
    float,
    About("share of data's own cost", Origin.CHOSEN, "from here on it is said that threads share the data itself"),
] = 0.5
READERS_WRITE: Annotated[
    float, About("share of reading", Origin.CHOSEN, "by threads that write beside it: both sides disturb each other")
] = 0.5

# Severity steps that a circumstance takes off.
LESS: Annotated[
    int, About("severity steps", Origin.CHOSEN, "a part is true sharing, or one premise is less sure than usual")
] = 1
MUCH_LESS: Annotated[
    int, About("severity steps", Origin.CHOSEN, "programs that are written well do otherwise, or layout hardly helps")
] = 2
TO_NOTE: Annotated[
    int, About("severity steps", Origin.CHOSEN, "from high to note: as likely harmless, or put together on purpose")
] = 3

# What belongs together.
OWN_DATA: Annotated[
    float,
    About("share of data's use in functions that take a lock", Origin.CHOSEN, "from here on it is the lock's own data"),
] = 0.8
BESIDE_ITS_LOCK: Annotated[
    float,
    About(
        "share of data's use in functions that take the lock beside it",
        Origin.CHOSEN,
        "clearly most: the two belong together, whether or not the lock is held at each use",
    ),
] = 0.6
CHANGED_WITHOUT: Annotated[
    float,
    About(
        "share of data's changes in runs that do not take the lock",
        Origin.CHOSEN,
        "from here on it is not put beside its lock on purpose: a branch of which nothing is known goes half each way",
    ),
] = 0.25
NEAR_BYTES: Annotated[
    int,
    About(
        "bytes of code between two uses in one function",
        Origin.CHOSEN,
        "about a thousand instructions: in between another thread may have taken the line, so that it is fetched twice",
    ),
] = 4096
ONE_OBJECT: Annotated[
    float, About("share of common use", Origin.CHOSEN, "unnamed neighbours may be members of one object")
] = 0.95
WRITERS_TOGETHER: Annotated[
    float, About("share of common use", Origin.CHOSEN, "used together, the line is fetched once")
] = 0.6
READERS_TOGETHER: Annotated[
    float, About("share of common use", Origin.CHOSEN, "used together, the line is fetched once")
] = 0.8
LOCKS_TOGETHER: Annotated[
    float, About("share of common use, both ways", Origin.CHOSEN, "two locks that are always taken together")
] = 0.9
COMPANION: Annotated[
    float, About("share of common use", Origin.CHOSEN, "above, a condition variable belongs to the mutex beside it")
] = 0.5
PAIR_TOGETHER: Annotated[
    float, About("share of common use", Origin.CHOSEN, "above, fetching two lines at once helps as much as it harms")
] = 0.3
LOCK_AND_DATA: Annotated[
    float, About("share of the false sharing", Origin.CHOSEN, "what must be between the lock and the data")
] = 0.3
READ_ONLY: Annotated[float, About("writes per read", Origin.CHOSEN, "up to here data counts as only read")] = 0.02

WORD_BYTES: Annotated[int, About("bytes", Origin.ABI, "a futex, the least that locks are made of (futex(2))")] = 4

# Slots of threads.
MIN_SLOTS: Annotated[int, About("elements", Origin.CHOSEN, "an array has more than one")] = 2
MAX_SLOTS: Annotated[int, About("elements", Origin.CHOSEN, "more are a table")] = 256
MAX_SLOTS_BYTES: Annotated[int, About("bytes", Origin.CHOSEN, "a larger array is a table")] = 16 * 1024
NUMBER_BYTES: Annotated[
    int, About("bytes", Origin.CHOSEN, "of an element that counts; arrays of smaller numbers are texts and flags")
] = 4
SLOT_WRITER: Annotated[float, About("share of an element's writes", Origin.CHOSEN, "by its one thread")] = 0.9
UNNAMED_SLOTS: Annotated[
    int, About("equal neighbours without a name", Origin.CHOSEN, "two may be members of one struct")
] = 3
