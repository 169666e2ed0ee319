"""Two profiles by variable, joined to what moved: what rose in samples, and whether it is what met on a line.

Owns the join of placed samples with the matched variables.  Placing a sample is ``sharing.sampled``'s, whether a rise
is more than chance ``statistics``', and profiles that know functions alone are ``samples``'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds, quoted, ranked
from sharing.explain.dispersion import BLOCKS, Spread, inflation, stretches
from sharing.explain.identity import Ids, Objects
from sharing.explain.samples import MAX_LISTED, listed_counts, raised
from sharing.explain.statistics import CountChange, benjamini_hochberg, compare_counts, rise_text, times
from sharing.explain.work import Work
from sharing.model.attribution import Attribution, Basis, Region
from sharing.model.comparison import Cause, CauseKind, Comparison, LineMates, SampledChange, SampledKind
from sharing.model.finding import Confidence, Severity
from sharing.model.image import SectionKind
from sharing.model.plural import named

MAX_PAIRS = 12  # whose lines are counted as wholes
MAX_EVIDENCE = 6
SAMPLE_DTYPE = np.dtype([("row", "<i8"), ("offset", "<i8"), ("block", "<i8")])

Key = tuple[str, int, str]  # ("pair", row of the matching, member) or (side, row of the side, member)


@dataclass(frozen=True, slots=True)
class VariableSamples:
    """The samples of one event on named memory.  ``table`` has a record (SAMPLE_DTYPE) a sample, ``block`` its stretch
    of the run, or its run of several ``runs``; ``totals`` are all samples of each, placed or not.  ``derived``:
    addresses were computed from registers.
    """

    event: str
    table: npt.NDArray[Any]
    totals: Ids
    derived: bool
    runs: int = 1


def pooled(recordings: Sequence[VariableSamples]) -> VariableSamples:
    """Recordings of one build as one that knows how they differ."""
    if len(recordings) == 1:
        return recordings[0]
    tables, totals = [], np.zeros(BLOCKS, np.int64)
    for number, seen in enumerate(recordings):
        table = seen.table.copy()
        table["block"] = number % BLOCKS
        tables.append(table)
        totals[number % BLOCKS] += seen.totals.sum()
    derived = any(seen.derived for seen in recordings)
    return VariableSamples(recordings[0].event, np.concatenate(tables), totals, derived, len(recordings))


def variable_samples(attribution: Attribution, number: int, event: str, activity: Activity) -> VariableSamples | None:
    """The samples of event ``number`` on variables of the target; None where too few have a known place."""
    chosen = np.flatnonzero(attribution.samples.samples["event"] == number)
    rows = attribution.rows[chosen]
    known = rows["basis"] >= Basis.DERIVED
    if not len(rows) or int(known.sum()) < numbers.LEAST_PLACED * len(rows):
        return None
    block = stretches(attribution.samples.samples["time"][chosen])
    target = np.array([module.target for module in attribution.modules] + [False])
    static = np.flatnonzero(known & (rows["region"] == Region.STATIC) & target[rows["data_module"]])
    variables = activity.image.variables
    local = [s.index for s in activity.image.sections if s.kind is SectionKind.TLS]
    candidates = np.flatnonzero(~np.isin(variables["section"], local) & (variables["size"] > 0))
    address = variables["address"][candidates]
    link = rows["link"][static]
    at = np.searchsorted(address, link, "right").astype(np.int64) - 1
    row = candidates[np.maximum(at, 0)] if len(candidates) else np.zeros(len(link), np.int64)
    inside, offset = at >= 0, np.zeros(len(link), np.uint64)
    if len(variables):
        start, size = variables["address"][row], variables["size"][row]
        offset = link - start
        inside &= offset < size
    out = np.zeros(int(inside.sum()), SAMPLE_DTYPE)
    out["row"] = row[inside]
    out["offset"] = offset[inside].astype(np.int64)
    out["block"] = block[static][inside]
    return VariableSamples(
        event, out, np.bincount(block, minlength=BLOCKS), bool((rows["basis"] == Basis.DERIVED).any())
    )


@dataclass(slots=True)
class _Member:
    """The samples on one member of one build, by block, and by line."""

    name: str
    blocks: Ids
    lines: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Group:
    """Members whose samples are counted together."""

    kind: SampledKind
    name: str
    line: str
    members: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """One variable, member or line with its samples in both builds.  ``line`` is an address in one of the builds."""

    kind: SampledKind
    name: str
    line: str
    change: CountChange

    @property
    def rose(self) -> bool:
        return self.change.significant and self.change.low > 1

    @property
    def fell(self) -> bool:
        return self.change.significant and self.change.high < 1

    @property
    def clear(self) -> bool:
        """More than chance by the test and by the interval."""
        return self.rose or self.fell

    @property
    def difference(self) -> float:
        return self.change.new_share - self.change.old_share


def compare_variables(
    builds: Builds, old: VariableSamples, new: VariableSamples, work: Work | None = None
) -> tuple[MeasuredChange, ...]:
    """Members, variables of several members, and lines of pairs that met or parted: the clearest change first.

    All are corrected together.  Samples of one run come in clusters, and runs differ: see ``dispersion``.
    """
    matching = builds.variables
    before = _members(old, builds.old, matching.of_old, matching.old, "old", builds.line_size)
    after = _members(new, builds.new, matching.of_new, matching.new, "new", builds.line_size)
    groups = list(_groups(builds, before, after))
    columns = (np.zeros((len(groups), BLOCKS), np.int64), np.zeros((len(groups), BLOCKS), np.int64))
    for at, group in enumerate(groups):
        for column, members in zip(columns, (before, after), strict=True):
            for key in group.members:
                if key in members:
                    column[at] += members[key].blocks
    factors = inflation(Spread(columns[0], old.totals, old.runs), Spread(columns[1], new.totals, new.runs))
    n, m = int(old.totals.sum()), int(new.totals.sum())
    # Groups overlap: each is a row of its own against all samples, so that the sum of the rows says nothing.
    changes = [
        compare_counts([x], [y], n, m, factor, work)[0]
        for x, y, factor in zip(
            columns[0].sum(axis=1).tolist(), columns[1].sum(axis=1).tolist(), factors.reshape(-1, 1), strict=True
        )
    ]
    adjusted = benjamini_hochberg(np.array([change.p for change in changes], np.float64)).tolist()
    out = [
        MeasuredChange(group.kind, group.name, group.line, replace(change, adjusted=chance))
        for group, change, chance in zip(groups, changes, adjusted, strict=True)
    ]
    return tuple(sorted(out, key=lambda p: (not p.clear, -abs(p.difference), p.kind.value, p.name)))


def _members(
    seen: VariableSamples, activity: Activity, partner: Ids, objects: Objects, side: str, line_size: int
) -> dict[Key, _Member]:
    """Samples summed by member: what the judgement takes for one thing, else the whole variable."""
    out: dict[Key, _Member] = {}
    places, which = np.unique(seen.table[["row", "offset"]], return_inverse=True)
    blocks = np.zeros((len(places), BLOCKS), np.int64)
    np.add.at(blocks, (which.reshape(-1), seen.table["block"]), 1)
    for (row, offset), counts in zip(places.tolist(), blocks, strict=True):
        actor = activity.actor_at(row, offset)
        variable = objects.label(row)
        name = actor.name if actor is not None else variable
        pair = int(partner[row])
        key = ("pair" if pair >= 0 else side, pair if pair >= 0 else row, name.removeprefix(variable))
        member = out.setdefault(key, _Member(name, np.zeros(BLOCKS, np.int64), {}))
        member.blocks += counts
        line = int(activity.image.variables["address"][row]) + offset
        line -= line % line_size
        member.lines[line] = member.lines.get(line, 0) + int(counts.sum())
    return out


def _groups(builds: Builds, before: Mapping[Key, _Member], after: Mapping[Key, _Member]) -> Iterator[_Group]:
    """What is compared: each member, each variable of several, what is on each line that a pair came to or left."""
    by_variable: dict[tuple[str, int], list[Key]] = {}
    for key in sorted(before.keys() | after.keys()):
        side = after if key in after else before
        line = max(side[key].lines.items(), key=lambda item: (item[1], -item[0]))[0]
        yield _Group(SampledKind.MEMBER if key[2] else SampledKind.VARIABLE, side[key].name, f"{line:#x}", (key,))
        by_variable.setdefault(key[:2], []).append(key)
    for keys in by_variable.values():
        if len(keys) > 1:
            name = (after.get(keys[0]) or before[keys[0]]).name
            yield _Group(SampledKind.VARIABLE, name.removesuffix(keys[0][2]) or name, "", tuple(keys))
    done: set[str] = set()
    for met, side in ((builds.gained, after), (builds.lost, before)):
        for pair in met.pairs[:MAX_PAIRS]:
            line = int(pair.mates.line, 16)
            members = tuple(sorted(key for key, member in side.items() if line in member.lines))
            if len(members) > 1 and pair.mates.line not in done:
                done.add(pair.mates.line)
                names = named([side[key].name for key in members], 3)
                yield _Group(SampledKind.LINE, names, pair.mates.line, members)


def with_variable_samples(
    comparison: Comparison,
    builds: Builds,
    old: VariableSamples,
    new: VariableSamples,
    *,
    work: Work | None = None,
    weigh: bool = True,
) -> tuple[Comparison, bool]:
    """The comparison with what variables gained and lost in samples; whether that says something of the layout.

    A layout cause is confirmed where its pair, or what is on the line that the pair came to, became dearer by more than
    a quarter and more than chance: of the same work where ``work`` is known, else of all else that the program does.
    Two runs of one build differ, too, and one run each does not show by how much.  It loses half its strength where
    there are enough samples to see such a rise and there was none.
    """
    places = compare_variables(builds, old, new, work)
    confidence = Confidence.DERIVED if new.derived or old.derived else Confidence.SAMPLED
    single = max(old.runs, new.runs) == 1
    judged = [_weighed(c, places, new.event, confidence, single=single) if weigh else c for c in comparison.causes]
    said = any(after is not before for before, after in zip(comparison.causes, judged, strict=True))
    listed = tuple(_listed(p, new.event) for p in places if p.clear)[:MAX_LISTED]
    return msgspec.structs.replace(comparison, causes=ranked(judged), places=(*comparison.places, *listed)), said


def _weighed(
    cause: Cause, places: Iterable[MeasuredChange], event: str, confidence: Confidence, *, single: bool
) -> Cause:
    pairs = cause.lost_line_mates if cause.improves else cause.new_line_mates
    # What is only a note was not seen to disturb anybody, or the load does not come to it: it is not raised.
    pairs = tuple(mates for mates in pairs if mates.finding) or pairs[:1]
    pairs = tuple(mates for mates in pairs if mates.severity != Severity.NOTE.value)
    if cause.kind is not CauseKind.LAYOUT or not pairs:
        return cause
    about = [p for p in places if any(_is_of(p, mates) for mates in pairs)]
    known = [p for p in about if p.clear or p.change.work is not None]
    shown = [p for p in known if (p.change.cheaper if cause.improves else p.change.dearer)]
    if shown:
        told = max(shown, key=lambda p: (abs(p.difference), p.kind is SampledKind.LINE))
        what = "what is on that line" if told.kind is SampledKind.LINE else quoted(told.name)
        verb = "fell" if cause.improves else "rose"
        return msgspec.structs.replace(
            cause,
            confidence=confidence,
            strength=raised(cause.strength, single=single),
            summary=f"{cause.summary}; {rise_text(what, told.change, f'the samples of {event}', verb)}",
            evidence=(*(_words(p) for p in shown[:MAX_EVIDENCE]), *cause.evidence),
        )
    if cause.improves:
        return cause
    worst = pairs[0]
    # Of two that share all the time neither can rise: what is on their line decides.
    decide = [p for p in about if p.kind is SampledKind.LINE and p.line == worst.line]
    if not decide:
        decide = [p for p in about if p.kind is not SampledKind.LINE and p.name in (worst.first, worst.second)]
        if len(decide) < 2:
            return cause
    if not all(p.change.as_dear for p in decide):
        return cause
    return msgspec.structs.replace(
        cause,
        confidence=confidence,
        strength=cause.strength * numbers.NO_RISE,
        evidence=(*(f"{_words(p)}, no rise by a quarter" for p in decide), *cause.evidence),
    )


def _is_of(place: MeasuredChange, mates: LineMates) -> bool:
    if place.kind is SampledKind.LINE:
        return place.line == mates.line
    return place.name in (mates.first, mates.second)


def _words(place: MeasuredChange) -> str:
    change = place.change
    what = f"line {place.line} ({place.name})" if place.kind is SampledKind.LINE else place.name
    return f"{what}: {100 * change.old_share:.2f}% to {100 * change.new_share:.2f}% of the samples ({times(change)})"


def _listed(place: MeasuredChange, event: str) -> SampledChange:
    return SampledChange(event, place.kind, place.name, place.line, *listed_counts(place.change))
