"""Suspect: contention.  More of the same waiting, wherever the data lie: locks and counts rose in the profiles.

Owns which functions take locks and count references by their names, and the cause that is made of their rise.  That
they rose by more than chance is ``statistics``'; a pair that met on the lock's line explains it better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sharing.explain import numbers
from sharing.explain.causes.base import first_of, quoted
from sharing.explain.signature import Reading, Signature
from sharing.explain.statistics import CountChange
from sharing.model.comparison import Cause, CauseKind
from sharing.model.finding import Confidence

# Functions that only take, release or count: a rise in these alone is contention or true sharing, wherever data lie.
_LOCK_WORDS = re.compile(r"(?<![bc])lock|mutex|spin|sync|latch|semaphore|futex|rwsem|lll_|cond_(timed)?wait|osq_")
_COUNT_WORDS = ("addref", "incref", "decref", "refcount", "get_ref", "put_ref", "retain")
MAX_NAMED = 12
CONFIRM = ("perf lock contention -ab, or perf trace -s -e futex: more and longer waits than with the old build",)


def kind_of(name: str) -> str:
    """Whether a function's name says that it takes locks, or counts references."""
    word = name.rpartition("::")[2].lower()
    if word == "release" or any(w in word for w in _COUNT_WORDS):
        return "reference count"
    return "lock" if _LOCK_WORDS.search(name.lower()) else ""


def of_profiles(rose: Mapping[str, CountChange], callers: Sequence[str], event: str) -> Cause | None:
    """The cause that lock and count functions which rose are, None where they hardly count.

    ``callers`` are functions that rose with them and are neither.
    """
    names = sorted(rose, key=lambda name: rose[name].old_share - rose[name].new_share)
    before, after = (sum(getattr(rose[name], side) for name in names) for side in ("old_share", "new_share"))
    if after - before < numbers.CONTENDED:
        return None
    top = names[0]
    share = f"{100 * rose[top].old_share:.1f}% to {100 * rose[top].new_share:.1f}%"
    kinds = sorted({kind_of(name) for name in names})
    what = " and ".join({"lock": "locks", "reference count": "counts"}[kind] for kind in kinds)
    also = f"; with it rose {first_of([*names[1:], *callers])}" if len(names) > 1 or callers else ""
    return Cause(
        kind=CauseKind.CONTENTION,
        confidence=Confidence.SAMPLED,
        strength=numbers.CONTENTION,
        summary=f"{quoted(top)} rose from {share} of the samples of {event or 'the profile'}{also}: more contention "
        f"for the same {what}, which no padding cures",
        symbols=(*names, *callers)[:MAX_NAMED],
        evidence=tuple(
            f"{name} ({kind_of(name)}): {100 * rose[name].old_share:.2f}% to {100 * rose[name].new_share:.2f}%"
            for name in names[:MAX_NAMED]
        ),
        confirm=CONFIRM,
        refute=("run both builds with one thread: the new one is as much slower as with many",),
    )


def of_machine(signature: Signature) -> Cause | None:
    """The cause that idle processors and more switches are, None where they are not."""
    if signature.reading is not Reading.CONTENDED:
        return None
    return Cause(
        kind=CauseKind.CONTENTION,
        confidence=Confidence.LAYOUT,
        strength=numbers.CONTENTION_OF_MACHINE,
        summary=f"threads wait for each other: {signature.why}",
        confirm=CONFIRM,
        refute=("profiles of both builds: locks and what waits for them have the share that they had",),
    )
