"""How the estimates of the code compare with what was counted, for one program.

Owns the measures; what is true is ``bench.truth.truth``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bench.truth.exact import Exact, SharedMembers
from bench.truth.members import Members, Places
from bench.truth.subject import Judged
from bench.truth.truth import Truth, spans, true
from sharing.counted.shareduse import NamedSpan, SharedUse, shared_use
from sharing.counted.weigh import faint_rate
from sharing.model.finding import OF_SHARING, Finding, Severity
from sharing.model.image import ALLOCATED, Image
from sharing.model.profile import Actor, Heat
from sharing.static import perthread
from sharing.static.callees import function_at, function_name
from sharing.static.executions import in_loop
from sharing.static.starts import Root

MOST_USED = 30
FIRST = 10


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of ``whole``; shares of several programs add up."""

    part: int = 0
    whole: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.part + other.part, self.whole + other.whole)


@dataclass(frozen=True, slots=True)
class Used:
    """One actor of the judgement as counted: uses of all threads, and the pair of threads that met on it most often."""

    actor: Actor
    uses: float
    met: SharedUse | None

    @property
    def rate(self) -> float:
        """Of the pair, per million instructions; what is rarer than faint is shared by nobody."""
        return self.met.rate if self.met is not None and self.met.rate >= faint_rate() else 0.0


@dataclass(frozen=True, slots=True)
class Checked:
    """A finding that says that threads share a line, and the pair of its participants that met most often.

    ``named``: it is about static storage, which instructions name.  What is done to records on the heap is not
    counted: ``most`` is the pair that can have met most often there, by the lines of source that ran, and ``seen``,
    with ``exact``, the one that took a line from each other in vain most often.
    """

    finding: Finding
    met: SharedUse | None
    named: bool = True
    most: SharedUse | None = None
    seen: SharedUse | None = None
    exact: bool = False
    owner: str = ""  # there the key of the record

    @property
    def decided(self) -> bool:
        """Not where threads met on one array or record: whether they used the same bytes of it is not counted."""
        return self.named and not (true(self.met) and self.met.inside)

    @property
    def true(self) -> bool:
        return true(self.met) and not self.met.inside

    @property
    def possible(self) -> bool:
        """Where it is not decided: whether threads did what it names often enough at all."""
        return true(self.met if self.named else self.most)

    @property
    def confirmed(self) -> bool:
        """Where it is not decided by instructions: by the addresses that were counted."""
        return self.exact and true(self.seen)


@dataclass(frozen=True, slots=True)
class Score:
    """One program's figures as one variant shows it, and what they were taken from."""

    variant: str
    hot_of_most_used: Share
    used_of_hot: Share
    shared_of_hot: Share
    rank_correlation: float  # Spearman's, of estimated weight and counted uses of everything that code names
    precision: dict[str, Share]  # by severity, "first" of the first ten
    recall: Share  # of truly shared lines, by findings of low and more that are true
    reached: Share  # functions that ran on a thread, by whether the code said so
    entries: Share  # thread entries that the code has, by whether a thread was in them
    threads: int
    unknown_threads: int  # no entry known to the code
    undecided: int = 0  # findings that the counts cannot tell to be true or not
    used: tuple[Used, ...] = ()  # most used by two threads first
    checked: tuple[Checked, ...] = ()  # in the order of the report
    lines: dict[int, SharedUse] = field(default_factory=dict)  # shared
    found: frozenset[int] = frozenset()  # of these, with a true finding of low and more
    members: tuple[SharedMembers, ...] = ()  # of records, that took a line from each other
    members_found: frozenset[str] = frozenset()  # of their records, with a confirmed finding of low and more
    unreached: tuple[str, ...] = ()  # functions on threads that were not to run them
    idle_entries: tuple[str, ...] = ()


def score(one: Judged, truth: Truth) -> Score:
    """Hold a judgement of the code alone against the counts."""
    named = [actor for actor in one.actors if actor.section != ALLOCATED]
    used = sorted((_used(actor, truth) for actor in named), key=lambda u: (-u.rate, -u.uses))
    most = [u for u in used if u.rate][:MOST_USED]
    hot = [u for u in used if u.actor.told_heat is Heat.HOT]
    records = _Records(one, truth)
    every = [_checked(f, truth, records) for f in one.findings if f.verdict in OF_SHARING]
    checked = [c for c in every if c.decided]
    precision = {s.value: Share() for s in reversed(Severity)}
    for c in checked:
        precision[c.finding.severity.value] += Share(int(c.true), 1)
    said = [c for c in checked if c.finding.severity is not Severity.NOTE]
    precision["first"] = Share(sum(c.true for c in said[:FIRST]), len(said[:FIRST]))
    lines = truth.lines(one.line_size)
    found = frozenset(line for line in lines if any(c.true and on_line(c.finding, line) for c in said))
    reach = _reach(one, truth)
    return Score(
        one.variant,
        Share(sum(u.actor.told_heat is Heat.HOT for u in most), len(most)),
        Share(sum(bool(u.uses) for u in hot), len(hot)),
        Share(sum(bool(u.rate) for u in hot), len(hot)),
        _spearman(np.array([u.actor.weight for u in used]), np.array([u.uses for u in used])),
        precision,
        Share(len(found), len(lines)),
        reach.reached,
        reach.entries,
        sum(t.instructions > 0 for t in truth.counted.threads),
        reach.unknown,
        len(every) - len(checked),
        tuple(used),
        tuple(every),
        lines,
        found,
        *records.shared(every),
        reach.unreached,
        reach.idle,
    )


def _used(actor: Actor, truth: Truth) -> Used:
    uses = float(truth.uses(actor.span)[1].sum())
    return Used(actor, uses, shared_use(truth, [NamedSpan(actor.name, actor.span)]) if uses else None)


def _checked(finding: Finding, truth: Truth, records: _Records) -> Checked:
    line = int(finding.line.address, 16)
    named = any(s.address < line + finding.line.size and line < s.end for s in truth.image.sections)
    checked = Checked(finding, truth.shared(places(finding)), named)
    return checked if named else records.checked(checked)


class _Records:
    """What is known of members of records on the heap, where the source is."""

    def __init__(self, one: Judged, truth: Truth) -> None:
        self._members: Members | None = None
        self._exact: Exact | None = None
        if one.program is not None and one.variant != "stripped":
            self._members, self._places = Members(one.program, truth), Places(one.program, one.passes.image)
            if truth.accesses is not None:
                self._exact = Exact(one.program, truth.accesses, truth.counted)

    def checked(self, of: Checked) -> Checked:
        """A finding about a record, with the pair that can have met, and the one that did."""
        if self._members is None:
            return of
        places = self._places(of.finding)
        most, owners = self._members.met(of.finding, places), {owner for owner, _ in places}
        if self._exact is None or len(owners) > 1 or "" in owners:
            return replace(of, most=most)
        (owner,) = owners
        seen = self._exact.shared(owner, [span for _, span in places])
        return replace(of, most=most, seen=seen, exact=True, owner=owner)

    def shared(self, every: Sequence[Checked]) -> tuple[tuple[SharedMembers, ...], frozenset[str]]:
        """Members that took a line from each other, and those of their records that have a confirmed finding."""
        if self._exact is None:
            return (), frozenset()
        found = tuple(m for m in self._exact.members() if self._exact.in_record(m.owner))
        said = {c.owner for c in every if c.confirmed and c.finding.severity is not Severity.NOTE}
        return found, frozenset(said & {m.owner for m in found})


def places(finding: Finding) -> list[NamedSpan]:
    """The bytes on the line of a finding that each of its participants has."""
    return [NamedSpan(p.full_name, span) for p, span in zip(finding.participants, spans(finding), strict=True)]


def on_line(finding: Finding, line: int) -> bool:
    start = int(finding.line.address, 16)
    return start <= line < start + finding.line.size


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Rank correlation, ties with their mean rank; 0 where there is nothing to rank."""
    if len(a) < 3 or not np.ptp(a) or not np.ptp(b):
        return 0.0
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    end = np.cumsum(counts)
    mean: np.ndarray = (end - (counts - 1) / 2)[inverse]
    return mean


@dataclass(frozen=True, slots=True)
class _Reach:
    reached: Share
    entries: Share
    unknown: int
    unreached: tuple[str, ...]
    idle: tuple[str, ...]


def _reach(one: Judged, truth: Truth) -> _Reach:
    """Functions by thread: those that ran against those that the code says may run."""
    calls, ran = one.passes.calls, ran_in(one, truth)
    roots = [r for r in calls.roots if r.function >= 0 and not r.is_part]
    reached, unknown = Share(), 0
    wrong: dict[str, float] = {}
    seen: set[str] = set()
    within = Within(one.passes.image, roots)
    begin = np.isin(one.passes.image.functions["address"], np.array(one.passes.image.entry_points, np.uint64))
    for number, thread in enumerate(truth.counted.threads):
        entries = {r.name for r in roots if r.name != "main" and ran[r.function, number]} or within(ran[:, number] > 0)
        seen |= entries
        # Counts that begin when the program is warm do not have main itself.
        mains = {r.name for r in roots if r.name == "main" and (ran[r.function, number] or thread.number == 1)}
        entries = entries or mains
        rows = np.flatnonzero(ran[:, number])
        if not len(rows) or not thread.instructions:
            continue
        if not entries:
            unknown += 1
            continue
        bits = sum(1 << at for at, root in enumerate(calls.roots) if root.name in entries)
        rows = rows[~begin[rows]]  # where the loader begins is not main, and the thread that main is
        said = ((calls.mask[rows] & np.uint64(bits)) != 0) | (calls.phases.alone[rows] & ("main" in entries))
        reached += Share(int(said.sum()), len(rows))
        for at in rows[~said].tolist():
            name = f"{function_name(one.passes.image, at)} on {'/'.join(sorted(entries))}"
            wrong[name] = wrong.get(name, 0.0) + float(ran[at, number])
    known = {r.name for r in roots if r.name != "main"}
    return _Reach(
        reached,
        Share(len(known & seen), len(known)),
        unknown,
        tuple(sorted(wrong, key=lambda name: -wrong[name])),
        tuple(sorted(known - seen)),
    )


class Within:
    """Entries of threads that were in their loops before the counting began, and so never in the entry itself.

    Such a thread executed a function that none of those it executed calls: where it was.  It is in the entry that alone
    runs this function, once.
    """

    def __init__(self, image: Image, roots: Sequence[Root]) -> None:
        callee = function_at(image, image.calls["callee"])
        direct = (callee >= 0) & (image.calls["function"] >= 0)
        calls, callee = image.calls[direct], callee[direct]
        order = np.argsort(calls["function"], kind="stable")
        self._caller, self._callee = calls["function"][order].astype(np.int64), callee[order]
        looped = in_loop(calls["loop_depth"][order])
        start = np.searchsorted(self._caller, np.arange(len(image.functions) + 1))
        each = np.ones(len(self._callee))
        made = perthread.Calls(self._callee, each, each, looped, start)
        threads = [r for r in roots if r.name != "main"]
        self._names = [r.name for r in threads]
        self._once = np.array([perthread.once_of(made, np.array([r.function]), each > 0) for r in threads], bool)

    def __call__(self, ran: np.ndarray) -> set[str]:
        if not len(self._once):
            return set()
        outermost = ran.copy()
        outermost[self._callee[ran[self._caller]]] = False
        own = self._once & outermost & (self._once.sum(axis=0) == 1)
        return {self._names[at] for at in np.flatnonzero(own.any(axis=1)).tolist()}


def ran_in(one: Judged, truth: Truth) -> np.ndarray:
    """Instructions that each thread executed in each function of the judgement."""
    counted, threads = truth.counted.table, len(truth.counted.threads)
    functions = truth.image.functions if not one.own else one.passes.image.functions
    out = np.zeros((len(functions), threads))
    start, size, address = functions["address"], functions["size"], counted["address"]
    row = np.searchsorted(start, address, "right").astype(np.int64) - 1
    end = (start + size)[np.maximum(row, 0)]
    inside = (row >= 0) & (address < end)
    np.add.at(out, (row[inside], counted["thread"][inside]), counted["executions"][inside])
    return out if one.own else _by_name(one, truth, out)


def _by_name(one: Judged, truth: Truth, ran: np.ndarray) -> np.ndarray:
    """The same rows for the functions of the source, which have no address of the file: by their names."""
    image = one.passes.image
    row_of = {function_name(truth.image, at): at for at in range(len(ran))}
    rows = np.array([row_of.get(function_name(image, at), -1) for at in range(len(image.functions))], np.int64)
    out: np.ndarray = np.where((rows >= 0)[:, None], ran[rows], 0.0) if len(ran) else np.zeros((len(rows), 0))
    return out
