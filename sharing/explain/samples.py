"""Two profiles by function, joined to what moved: which functions rose, and which of them touch the new line mates.

Owns the join by names.  Which function rose by more than chance is ``statistics``'; what touches what is the access
graph's, through the line mates' functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from sharing.basics.naming import without_parameters
from sharing.explain import numbers
from sharing.explain.causes.base import quoted, ranked
from sharing.explain.contention import kind_of, of_profiles
from sharing.explain.dispersion import BLOCKS, ONE_EACH, Counts, Spread, inflation
from sharing.explain.identity import base_name
from sharing.explain.statistics import CountChange, compare_counts, finite, rise_text, times
from sharing.explain.work import Work
from sharing.model.comparison import SAMPLES_NEW, SAMPLES_OLD, Cause, CauseKind, Comparison, ShareChange
from sharing.model.finding import Confidence, Severity

LOCK_ROLES = frozenset({"mutex", "rwlock", "spinlock", "lock", "semaphore"})
MAX_NAMED = 12
MAX_LISTED = 40  # functions of one event


@dataclass(frozen=True, slots=True)
class Profile:
    """Samples of one event by function, as the profile names them; ``total`` are all samples, listed or not.

    ``blocks`` has the counts of each function in BLOCKS columns, ``totals`` all samples of these: the recordings, if
    there are several ``runs``, else stretches of the one.  A listing has none.  ``rates``: events a second of each
    recording, 0 unknown.
    """

    event: str
    counts: Mapping[str, int]
    total: int
    blocks: Mapping[str, Counts] = field(default_factory=dict)
    totals: Counts = field(default_factory=lambda: np.zeros(BLOCKS, np.int64))
    runs: int = 1
    rates: tuple[float, ...] = (0.0,)


def together(profiles: Sequence[Profile]) -> Profile:
    """Recordings of one build as one profile that knows how they differ."""
    if len(profiles) == 1:
        return profiles[0]
    counts: dict[str, int] = {}
    blocks: dict[str, Counts] = {}
    totals = np.zeros(BLOCKS, np.int64)
    for number, profile in enumerate(profiles):
        totals[number % BLOCKS] += profile.total
        for name, count in profile.counts.items():
            counts[name] = counts.get(name, 0) + count
            blocks.setdefault(name, np.zeros(BLOCKS, np.int64))[number % BLOCKS] += count
    rates = tuple(rate for profile in profiles for rate in profile.rates)
    return Profile(profiles[0].event, counts, int(totals.sum()), blocks, totals, len(profiles), rates)


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """One function of both profiles.  ``kind`` is "lock", "reference count" or "", by its name."""

    function: str
    change: CountChange
    kind: str


def compare_profiles(old: Profile, new: Profile, work: Work | None = None) -> tuple[FunctionChange, ...]:
    """Functions by how much their share rose, significant ones first.  ``work`` makes costs of shares.

    A function that one listing lacks counts as not sampled there only if that listing is complete; else it is left
    out, since the end of a listing says nothing of what is behind it.
    """
    before, after = folded(old.counts), folded(new.counts)
    complete = (sum(before.values()) == old.total, sum(after.values()) == new.total)
    names = sorted(
        name
        for name in before.keys() | after.keys()
        if (name in before or complete[0]) and (name in after or complete[1])
    )
    factors = inflation(_spread(old, names), _spread(new, names))
    rows = [[side.get(name, 0) for name in names] for side in (before, after)]
    changes = compare_counts(rows[0], rows[1], old.total, new.total, factors, work)
    out = [FunctionChange(n, c, kind_of(n)) for n, c in zip(names, changes, strict=True)]
    return tuple(sorted(out, key=lambda f: (not f.change.significant, -_rise(f.change), f.function)))


def _spread(profile: Profile, names: Sequence[str]) -> Spread:
    row = {name: at for at, name in enumerate(names)}
    counts = np.zeros((len(names), BLOCKS), np.int64)
    for name, blocks in profile.blocks.items():
        at = row.get(function_key(name))
        if at is not None:
            counts[at] += blocks
    return Spread(counts, profile.totals, profile.runs)


def _rise(change: CountChange) -> float:
    return change.new_share - change.old_share


def function_key(name: str) -> str:
    """What a function is called in profiles, symbol tables and reports alike: no parameters, no clone suffix."""
    return base_name(without_parameters(name))


def folded(counts: Mapping[str, int]) -> dict[str, int]:
    """Samples by what functions are called everywhere."""
    out: dict[str, int] = {}
    for name, count in counts.items():
        key = function_key(name)
        out[key] = out.get(key, 0) + count
    return out


@dataclass(frozen=True, slots=True)
class _Profiles:
    """Two profiles of one event, compared.  ``changes`` are their functions by name."""

    old: Profile
    new: Profile
    changes: Mapping[str, FunctionChange]
    work: Work | None

    @property
    def single(self) -> bool:
        return max(self.old.runs, self.new.runs) == 1

    @property
    def event(self) -> str:
        return self.old.event or "the samples"

    def dearer(self, function: FunctionChange) -> bool:
        """Whether a function costs more than before: of the same work where that is known."""
        change = function.change
        return change.dearer if self.work is not None else change.significant and change.low > 1

    def together(self, names: Sequence[str]) -> CountChange:
        """The change of some functions' sum: of two that share all the time, neither can rise in its share."""
        sides = [Spread(_spread(side, names).counts.sum(axis=0, keepdims=True), side.totals, side.runs)
                 for side in (self.old, self.new)]  # fmt: skip
        old, new = ([sum(getattr(self.changes[name].change, side) for name in names)] for side in ("old", "new"))
        return compare_counts(old, new, self.old.total, self.new.total, inflation(*sides), self.work)[0]


def with_profiles(
    comparison: Comparison, old: Profile, new: Profile, *, work: Work | None = None, weigh: bool = True
) -> Comparison:
    """The comparison with the profiles' evidence: a layout cause whose pair the risen functions touch is confirmed.

    Its strength rises where what touches the new pair became dearer, and falls where all of that was seen and did not;
    its confidence becomes SAMPLED in both cases.  A rise of lock and count functions, with no pair to explain it,
    is contention.  Of changed code those functions are named first that have most samples.  ``weigh`` False lists what
    changed and leaves the causes as they are: of several events of one run, each would count the same evidence again.
    """
    changes = compare_profiles(old, new, work)
    rose = [f for f in changes if f.change.significant and f.change.low > 1]
    seen = _Profiles(old, new, {f.function: f for f in changes}, work)
    causes = comparison.causes
    if weigh:
        causes = ranked(_weighed(c, seen) for c in comparison.causes)
        causes = _with_contention(causes, rose, old.event)
    notes = list(comparison.coverage.notes)
    if seen.single and ONE_EACH not in notes:
        notes.append(ONE_EACH)
    if not rose:
        notes.append(f"{old.event or 'samples'}: no function's share rose by more than chance")
    clear = [f for f in changes if f.change.significant and not f.change.low <= 1 <= f.change.high]
    listed = tuple(_listed(f, old.event) for f in clear)[:MAX_LISTED]
    counts = {**comparison.coverage.counts, SAMPLES_OLD: old.total, SAMPLES_NEW: new.total}
    return msgspec.structs.replace(
        comparison,
        causes=causes,
        coverage=msgspec.structs.replace(comparison.coverage, counts=counts, notes=tuple(notes)),
        profile=(*comparison.profile, *listed),
    )


def _listed(function: FunctionChange, event: str) -> ShareChange:
    return ShareChange(event, function.function, function.kind, *listed_counts(function.change))


def listed_counts(
    change: CountChange,
) -> tuple[int, int, float, float, float | None, float | None, float | None, float]:
    """What ``ShareChange`` and ``SampledChange`` say of their samples, in the order of their fields."""
    ratio, low, high = (finite(value) for value in (change.ratio, change.low, change.high))
    return change.old, change.new, change.old_share, change.new_share, ratio, low, high, change.adjusted


def raised(strength: float, *, single: bool) -> float:
    """The strength of a cause that samples confirm: less where one recording of each build is all there is."""
    by = numbers.RAISED_BY_ONE if single else numbers.RAISED
    return min(1.0, strength + (1 - strength) * by)


def _with_contention(causes: tuple[Cause, ...], rose: Sequence[FunctionChange], event: str) -> tuple[Cause, ...]:
    """The causes with contention, unless a pair that met explains the rise."""
    traffic = {f.function: f.change for f in rose if f.kind}
    pairs = [c for c in causes if c.kind is CauseKind.LAYOUT and c.new_line_mates and not c.improves]
    if not traffic or any(c.strength >= numbers.PLAUSIBLE for c in pairs):
        return causes
    found = of_profiles(traffic, [f.function for f in rose if not f.kind], event)
    if found is None:
        return causes
    return ranked((*(c for c in causes if c.kind is not CauseKind.NONE), found))


def _code(cause: Cause, profiles: _Profiles) -> Cause:
    """Changed code, as busy as the samples say, by their weight; likelier where it costs more than before."""
    by_key = {function_key(name): name for name in reversed(cause.symbols)}  # a split function has parts of one name
    seen = {name: profiles.changes[key] for key, name in by_key.items() if key in profiles.changes}
    sampled = sorted(seen, key=lambda name: -_share(seen[name].change))
    told = [name for name in sampled if _share(seen[name].change) >= numbers.SAMPLED_CODE]
    if not told:
        return cause
    share = min(1.0, sum(_share(seen[name].change) for name in told))
    known = profiles.work is not None
    # Code that is not seen to cost more explains no more of a loss than its share of the time.
    strength = numbers.CHANGED_MOST * share
    dearer = any((known or seen[name].change.significant) and seen[name].change.dearer for name in told)
    if dearer:
        strength = numbers.CHANGED_LEAST + (numbers.CHANGED_MOST - numbers.CHANGED_LEAST) * share
        strength = raised(strength, single=profiles.single)
    named = ", ".join(f"{quoted(name)} {100 * _share(seen[name].change):.1f}%" for name in told[:3])
    return msgspec.structs.replace(
        cause,
        confidence=Confidence.SAMPLED,
        strength=round(max(strength, cause.strength), 3),
        summary=f"{cause.summary}; of the samples of {profiles.old.event or 'the profile'}: {named}"
        f"{'' if dearer else ', not seen to cost more than before'}",
        symbols=(*told, *(name for name in cause.symbols if name not in told)),
        evidence=(*(f"{name}: {_shares(seen[name])}, changed" for name in told[:MAX_NAMED]), *cause.evidence),
    )


def _share(change: CountChange) -> float:
    return max(change.old_share, change.new_share)


def _weighed(cause: Cause, profiles: _Profiles) -> Cause:
    if cause.kind is CauseKind.CODE and not cause.improves:
        return _code(cause, profiles)
    if cause.kind is not CauseKind.LAYOUT or not cause.new_line_mates or cause.improves:
        return cause
    pairs = [mates for mates in cause.new_line_mates[:3] if mates.severity != Severity.NOTE.value]
    touching = {function_key(f) for mates in pairs for f in mates.functions}
    names = sorted(touching & profiles.changes.keys())
    if not names:
        return cause
    seen = [profiles.changes[name] for name in names]
    rose = [f for f in seen if profiles.dearer(f)]
    whole = profiles.together(names)
    if rose or whole.dearer:
        worst = max(rose or seen, key=lambda f: _rise(f.change))
        what, change = (worst.function, worst.change) if rose else (" and ".join(names[:3]), whole)
        return msgspec.structs.replace(
            cause,
            confidence=Confidence.SAMPLED,
            strength=raised(cause.strength, single=profiles.single),
            summary=f"{cause.summary}; {rise_text(what, change, profiles.event)}",
            evidence=(*(f"{f.function}: {_shares(f)}" for f in (rose or seen)[:MAX_NAMED]), *cause.evidence),
        )
    elsewhere = _lock_rise(cause, profiles.changes)
    if elsewhere:
        return msgspec.structs.replace(cause, evidence=(elsewhere, *cause.evidence))
    if not whole.as_dear:
        few = f"{', '.join(names[:3])}: too few samples, or too large a share, to show a rise"
        return msgspec.structs.replace(cause, evidence=(*cause.evidence, few))
    return msgspec.structs.replace(
        cause,
        confidence=Confidence.SAMPLED,
        strength=cause.strength * numbers.NO_RISE,
        evidence=(*(f"{f.function}: {_shares(f)}, no rise by a quarter" for f in seen[:MAX_NAMED]), *cause.evidence),
    )


def _lock_rise(cause: Cause, by_name: Mapping[str, FunctionChange]) -> str:
    """Time on a lock is spent in the library that takes it: a rise there is none against a pair with a lock."""
    worst = cause.new_line_mates[0]
    if not {worst.first_role, worst.second_role} & LOCK_ROLES:
        return ""
    rose = [f for f in by_name.values() if f.change.significant and f.change.low > 1]
    there = [f for f in rose if f.kind == "lock" or f.function.startswith("[lib")]
    if not there:
        return ""
    most = max(there, key=lambda f: _rise(f.change))
    return f"{most.function}: {_shares(most)}, where locks may be taken"


def _shares(function: FunctionChange) -> str:
    change = function.change
    return f"{100 * change.old_share:.2f}% to {100 * change.new_share:.2f}% ({times(change)})"
