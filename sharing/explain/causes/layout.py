"""Suspect: the layout.  Pairs that met or parted, the symbols that moved them, or why the layout is ruled out.

Owns the grading of what the change of layout means and its sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from sharing.explain import blame, numbers, recognised
from sharing.explain.causes import movers, toolchain
from sharing.explain.causes.added import in_one_build, laid_anew, only_used, owners_alone, told_of_added, use_of_added
from sharing.explain.causes.base import Builds, Verdicts, quoted, signed_bytes, signed_hex
from sharing.explain.causes.run import MISSES, Run
from sharing.explain.identity import Ids, Objects
from sharing.explain.linepairs import LinePair, LinePairs, Relaid
from sharing.explain.shifts import Shifts
from sharing.model.arrays import picked
from sharing.model.comparison import Cause, CauseKind, Contribution, LineMates, Moved, RuledOut, Share, Straddle
from sharing.model.finding import Confidence, Severity
from sharing.model.image import Image, ImageKind
from sharing.model.plural import count

MAX_PAIRS = 12
MAX_THREADS = 6
PAGE_BYTES = 4096
# How a rebuild takes back what moved the pair.
UNDONE = {
    Share.ADDED: "without {}",
    Share.REMOVED: "with {} where it was",
    Share.RESIZED: "with {} as large as it was",
    Share.REALIGNED: "with {} aligned as it was",
}


def ask(builds: Builds) -> Verdicts:
    """What the layout made worse and what it made better, one cause each, or why it is ruled out."""
    if not (builds.old.known and builds.new.known):
        return _without_accesses(builds)
    found = recognised.variables(builds.variables, builds.functions, builds.old, builds.new)
    sides = (_side(builds, builds.gained, improves=False), _side(builds, builds.lost, improves=True))
    worse, better = (c if c is None or found.few else doubted(c, *found.most) for c in sides)
    causes = tuple(c for c in (worse, better) if c is not None)
    if worse is not None:
        return Verdicts(causes)
    why = _nothing_met(builds)
    if better is not None:
        why = f"as the reason of a slowdown: {why}"
    return _excluded(builds, why, causes)


def doubted(cause: Cause, missing: int, of: int) -> Cause:
    """As strong as the share of variables that were recognised: a pair of two others is none that met."""
    return msgspec.structs.replace(
        cause,
        strength=round(cause.strength * (1 - missing / of), 3),
        evidence=(*cause.evidence, _not_matched(missing, of)),
    )


def _not_matched(missing: int, of: int) -> str:
    return f"{missing:,} of {count(of, 'variable')} that one build can write could not be matched"


def _excluded(builds: Builds, why: str, causes: tuple[Cause, ...] = ()) -> Verdicts:
    """The layout ruled out, where enough variables were recognised to say so."""
    found = recognised.variables(builds.variables, builds.functions, builds.old, builds.new)
    if found.few:
        return Verdicts(causes, (RuledOut(CauseKind.LAYOUT, why),))
    missing, of = found.most
    what = _not_matched(missing, of)
    return Verdicts(causes, not_ruled_out=(RuledOut(CauseKind.LAYOUT, what),))


def told_of(builds: Builds, lead: LinePair, *, improves: bool) -> str:
    """What moved one pair, and what became of its line, in a sentence."""
    account, pairs = _blame(builds, lead, improves=improves)
    return _sentence(builds, lead, blame.by_symbols(builds.shifts, account), pairs, improves=improves)


def severity_of(strength: float) -> Severity:
    """How bad a layout cause of that strength is: the severity of a pair that would have it."""
    return next((severity for severity, least in strengths().items() if strength >= least), Severity.NOTE)


def strengths() -> dict[Severity, float]:
    """How strong a cause a pair of each severity is, the worst first."""
    return {
        Severity.CRITICAL: numbers.MET_CRITICAL,
        Severity.HIGH: numbers.MET_HIGH,
        Severity.MEDIUM: numbers.MET_MEDIUM,
        Severity.LOW: numbers.MET_LOW,
        Severity.NOTE: numbers.MET_NOTE,
    }


def _side(builds: Builds, met: LinePairs, *, improves: bool) -> Cause | None:
    """What one side's pairs and straddles amount to; None for nothing that a rule objects to.

    Data that were used together from one line and no longer are cost a second line at most: no suspects.
    """
    strengths = {id(pair): _strength(builds, pair) for pair in met.pairs}
    harm = max(strengths.values(), default=0.0)
    split = max((_strength_of_split(s) for s in met.straddles), default=0.0)
    strength = max(harm, split)
    if strength < numbers.MET_NOTE:
        return None
    worst_first = sorted(met.pairs, key=lambda pair: -strengths[id(pair)])
    shown = _distinct(worst_first) if harm == strength else []
    text = "" if shown else _other_sentence(met.straddles, improves=improves)
    return _cause(builds, shown, strength, improves=improves, text=text)


def _strength(builds: Builds, pair: LinePair) -> float:
    """As bad as a rule says; less where other code than the access to what was added may be to blame."""
    if pair.severity is None:
        return numbers.HOT_ONLY if pair.mates.hot else 0.0
    value = strengths()[pair.severity]
    if pair.counted and not pair.used:
        value = max(value, numbers.MET_COUNTER)
    if pair.used or not (pair.matched or only_used(builds, pair)):
        return value * numbers.ADDED_PAIR
    return value


def _strength_of_split(straddle: Straddle) -> float:
    """Of what crosses lines in one build alone, as bad as a rule says; a crossing costs less than a line shared."""
    return min(numbers.SPLIT_NOW, strengths()[Severity(straddle.severity)]) if straddle.severity else 0.0


def _nothing_met(builds: Builds) -> str:
    moved = _moved_at_all(builds)
    if not moved and not builds.gained.total:
        return f"no variable of both builds moved{_resized(builds)}"
    mover = _mover(builds)
    what = f"{mover} moved {count(moved, 'variable')}" if mover else f"{count(moved, 'variable')} moved"
    if not builds.new.threaded:
        return f"{what}, but no second thread was found that could take lines away"
    if not builds.gained.total:
        return f"{what}, but none came onto a line of {builds.line_size} bytes with another, and no lock was split"
    met = count(builds.gained.total, "pair")
    return (
        f"{what}, but of the {met} that came onto one line of {builds.line_size} bytes none is, by estimate, one that "
        "busy threads take from each other, and no lock or atomic came to cross a line"
    )


def _resized(builds: Builds) -> str:
    """The end of a sentence on variables that stayed: which of them have another size, and that it matters to none."""
    old, new, pairs = builds.variables.old, builds.variables.new, builds.variables.pairs
    one, other = pairs["old"].astype(np.int64), pairs["new"].astype(np.int64)
    sized = other[~old.inferred[one] & ~new.inferred[other] & (old.size[one] != new.size[other])]
    if not len(sized):
        return ""
    before = old.size[builds.variables.pairs["old"][builds.variables.of_new[sized]]].view(np.int64)
    grown = new.size[sized].view(np.int64) - before
    names = [f"{quoted(new.label(row))} (resized, {signed_bytes(by)})" for row, by in zip(sized, grown, strict=True)]
    more = f" and {count(len(names) - 1, 'other')}" if len(names) > 1 else ""
    return f", and nothing in {names[0]}{more} that threads take from each other came onto one line"


def moved_harmlessly(builds: Builds) -> str:
    """The beginning of a sentence that finds no cause: what moved how many variables, and that no hot pair met."""
    mover, moved = _mover(builds), _moved_at_all(builds)
    if not moved:
        return ""
    what = f"{mover} moved" if mover else "something without a symbol moved"
    far, largest = "", _largest_run(builds)
    if largest is not None:
        many = int(largest["count"])
        far = f"{'' if many == moved else f', {many:,} of them'} by {signed_hex(int(largest['shift']))}"
    return f"{what} {count(moved, 'variable')}{far}; no hot pair came onto one line; "


def _moved_at_all(builds: Builds) -> int:
    runs = builds.shifts.runs
    moved = runs["shift"] != 0
    return int(runs["count"][moved].sum())


def _largest_run(builds: Builds) -> Any:
    """The run that moved most variables in their order, a record of ``Shifts.runs``."""
    runs = builds.shifts.runs
    runs = picked(runs, runs["kept"] & (runs["shift"] != 0))
    return runs[int(runs["count"].argmax())] if len(runs) else None


def _mover(builds: Builds) -> str:
    """What moved the most variables at once; "" where no symbol did."""
    shifts = builds.shifts
    largest = _largest_run(builds)
    if largest is None:
        return ""
    kept = int(np.searchsorted(shifts.kept, largest["first"]))
    return movers.movers(blame.by_symbols(shifts, blame.behind_section_start(shifts, kept)))


def _without_accesses(builds: Builds) -> Verdicts:
    """Only addresses speak: what newly shares a line may matter, what does not move cannot."""
    runs = builds.shifts.runs
    if not len(runs) or (not (runs["shift"] % builds.line_size != 0).any() and not builds.gained.total):
        return _excluded(builds, "no variable of both builds changed its place within a line")
    if not builds.gained.pairs:
        return _excluded(builds, "variables moved, but no two came onto one line with their first bytes")
    return Verdicts((_cause(builds, _distinct(builds.gained.pairs), numbers.BY_LAYOUT, improves=False, text=""),))


def _cause(builds: Builds, shown: list[LinePair], strength: float, *, improves: bool, text: str) -> Cause:
    """The cause, told by the worst of the pairs shown, or by ``text`` where there is none."""
    lead = _lead(builds, shown)
    account, pairs = _blame(builds, lead, improves=improves)
    contributions = blame.by_symbols(builds.shifts, account)
    relaid = lead.relaid if lead is not None else ()
    owners = [
        *(lead.added if lead is not None else ()),
        *(one.owner for one in relaid),
        *owners_alone(builds, lead, pairs),
    ]
    moved_by = [c.name for c in contributions if c.share in movers.SYMBOL_SHARES and c.name]
    symbols = tuple(dict.fromkeys([*owners, *moved_by]))
    rows = list(dict.fromkeys(row for m in shown for row in m.rows))  # the worst pair's first
    known = builds.new.known
    text = text or _sentence(builds, lead, contributions, pairs, improves=improves)
    gained = tuple(m.mates for m in _distinct(builds.gained.pairs))
    lost = tuple(m.mates for m in _distinct(builds.lost.pairs))
    gained += _wider(gained, builds.pair_gained)
    lost += _wider(lost, builds.pair_lost)
    old, new = builds.runs
    slower = old if improves else new
    confirm: tuple[str, ...] = (f"{slower.counted(MISSES)}: more misses than the other build has",)
    if lead is not None:
        image = (builds.old if improves else builds.new).image
        line = _as_loaded(image, lead.mates.line)
        confirm = (*slower.shared_lines(f"HITM on {line}"), slower.without_memory_events)
    seen = lead.seen if lead is not None else None
    threads = (f"threads: {', '.join(lead.threads[:MAX_THREADS])}",) if lead is not None and lead.threads else ()
    of_samples = [text for text in (seen.text if seen else "", lead.idle if lead is not None else "") if text]
    return Cause(
        kind=CauseKind.LAYOUT,
        confidence=seen.confidence if seen else Confidence.STATIC if known else Confidence.LAYOUT,
        strength=round(strength, 3),
        summary=text,
        symbols=symbols[:MAX_PAIRS],
        moved=_moved(builds, rows, improves=improves),
        new_line_mates=gained[: 2 * MAX_PAIRS],
        lost_line_mates=lost[: 2 * MAX_PAIRS],
        evidence=(*of_samples, *use_of_added(builds, shown), *map(movers.words, contributions), *threads),
        improves=improves,
        follows=None if _by_edit(lead) or _edited(builds) & set(symbols) else CauseKind.TOOLCHAIN,
        confirm=confirm,
        refute=_refutation(contributions, lead, new, improves=improves),
    )


def _by_edit(lead: LinePair | None) -> bool:
    """Whether an edit of the source shows in the pair itself."""
    return lead is not None and bool(lead.relaid or lead.added or lead.used)


def _lead(builds: Builds, shown: list[LinePair]) -> LinePair | None:
    """The pair by which the cause is told: of those that are as bad the one that something moved."""
    most = max((_strength(builds, pair) for pair in shown), default=0.0)
    return next(
        (m for m in shown if m.matched and not m.used and _strength(builds, m) == most), shown[0] if shown else None
    )


def _as_loaded(image: Image, line: str) -> str:
    """A line as profilers show it: what may be loaded anywhere keeps its place within a page alone."""
    if image.kind not in (ImageKind.PIE, ImageKind.SHARED):
        return f"the bytes of line {line}"
    return f"a line whose address ends in {int(line, 16) % PAGE_BYTES:03x} ({line} in the file)"


def _edited(builds: Builds) -> set[str]:
    """Variables that an edit of the source added, removed or resized.

    Another compilation may add, drop and resize what is local to a unit, and linkers copy what libraries define.
    """
    old, new, pairs = builds.variables.old, builds.variables.new, builds.variables.pairs
    mine = toolchain.compiled_alike(builds)
    one, other = pairs["old"].astype(np.int64), pairs["new"].astype(np.int64)
    sized = ~old.inferred[one] & ~new.inferred[other] & (old.size[one] != new.size[other])
    sides: list[tuple[Objects, Ids]] = [(new, other[sized])]
    if toolchain.merged_alike(builds):
        sides.append((old, np.flatnonzero((builds.variables.of_old < 0) & builds.variables.absence_shows_old)))
        sides.append((new, np.flatnonzero((builds.variables.of_new < 0) & builds.variables.absence_shows_new)))
    out: set[str] = set()
    for objects, rows in sides:
        chosen = rows[objects.named[rows] & (mine | ~objects.local[rows])]
        names = {objects.label(int(row)) for row in chosen}
        out |= {name for name in names if name.partition("@")[0] not in objects.image.imports and "@" not in name}
    return out


def _refutation(
    contributions: tuple[Contribution, ...], lead: LinePair | None, new: Run, *, improves: bool
) -> tuple[str, ...]:
    if improves:
        return (f"{new.timed}: as slow as before",)
    if lead is None:
        return (f"{new.counted(MISSES)}: no more misses than before",)
    if lead.added:
        return f"rebuild without {' and '.join(lead.added)}", f"{new.timed}: still slow"
    without = next((UNDONE[c.share].format(c.name) + ", or " for c in contributions[:1] if c.share in UNDONE), "")
    alone = f"with {lead.mates.first} alone on its line (aligned and padded to a whole line)"
    return f"rebuild {without}{alone}", f"{new.timed}: still slow"


def _blame(
    builds: Builds, lead: LinePair | None, *, improves: bool
) -> tuple[tuple[Contribution, ...], tuple[int, ...]]:
    """(what moved the pair, rows of ``Matching.pairs`` of its two variables)."""
    if lead is None:
        return (), ()
    of = builds.variables.of_old if improves else builds.variables.of_new
    pairs = tuple(int(of[row]) for row in lead.rows)
    if lead.relaid or lead.added or lead.used:
        return (), pairs
    shifts = builds.shifts
    kept = [k for pair in pairs if pair >= 0 and (k := shifts.kept_number(pair)) >= 0]
    if len(kept) == 2 and kept[0] != kept[1]:
        first, last = sorted(kept)
        apart = blame.between(shifts, first, last)
        if sum(c.bytes for c in apart):
            if any(c.share is not Share.ALIGNMENT for c in apart):
                return apart, pairs  # their distance changed
            kept = [last]  # padding between them became other as all in front of the second moved
    if not kept:
        return (), pairs
    if blame.section_shift(shifts, next(p for p in pairs if p >= 0)) % builds.line_size:
        return blame.behind_section_start(shifts, kept[0]), pairs
    return blame.within_section(shifts, kept[0]), pairs  # whole lines change nothing


def _sentence(
    builds: Builds,
    lead: LinePair | None,
    contributions: tuple[Contribution, ...],
    pairs: tuple[int, ...],
    *,
    improves: bool,
) -> str:
    if lead is None:
        return ""
    if lead.used or (lead.added and not improves):
        where = in_one_build(builds, lead, pairs, improves=improves) if lead.alone else []
        return "; ".join([*where, told_of_added(builds, lead, improves=improves)])
    mates = lead.mates
    verb = "no longer share" if improves else "now share" if mates.certain else "may now share"
    parts = []
    alone = [(m, p) for m, p in zip((mates.first, mates.second), pairs, strict=False) if _moved_alone(builds.shifts, p)]
    if lead.relaid:
        parts += laid_anew(builds, lead, pairs, improves=improves)
        parts += [_relaid(one, improves=improves) for one in lead.relaid]
    elif len(alone) == 1:
        name, pair = alone[0]
        parts.append(
            f"{quoted(name)} itself is at another place than before, moved by {_shift_text(builds.shifts, pair)}"
        )
    elif who := movers.movers(contributions):
        parts.append(_moved_them(builds, who, movers.total_of(contributions), pairs))
    elif lead.matched and pairs and (distance := max((_shift(builds.shifts, p) for p in pairs), key=abs)):
        kept = all(builds.shifts.kept_number(p) >= 0 for p in pairs)
        what = "something without a symbol moved them by" if kept else "they are in another order than before, moved by"
        parts.append(f"{what} {signed_hex(distance)}")
    elif not lead.matched:
        parts += in_one_build(builds, lead, pairs, improves=improves)
    parts.append(f"{quoted(mates.first)} and {quoted(mates.second)} {verb} line {mates.line}")
    if mates.functions and lead.together:
        parts.append(f"the function {quoted(mates.functions[0])} uses both variables")
    elif mates.functions:
        parts.append(f"functions that use one of them: {', '.join(map(quoted, mates.functions[:3]))}")
    return "; ".join(parts)


def _moved_them(builds: Builds, who: str, by: int, pairs: tuple[int, ...]) -> str:
    """What those did who moved the variables of a pair by so many bytes in all, or one of the two alone."""
    there = sorted((p for p in pairs if p >= 0), key=lambda p: -abs(_shift(builds.shifts, p)))
    for pair in there:
        section = blame.section_shift(builds.shifts, pair)
        for whole in dict.fromkeys((0, section)):
            if _shift(builds.shifts, pair) - whole == by:
                text = f"{who} moved {count(_moved_by(builds.shifts, pair), 'variable')} by {signed_hex(by)}"
                return f"{text}, besides the whole section's {signed_hex(whole)}" if whole else text
    if len(there) == 2 and abs(_shift(builds.shifts, there[0]) - _shift(builds.shifts, there[1])) == abs(by):
        return f"{who} brought the two {abs(by):,} bytes {'further apart' if by > 0 else 'closer together'}"
    return f"{who} moved them"


def _relaid(one: Relaid, *, improves: bool) -> str:
    old, new = (one.here, one.there) if improves else (one.there, one.here)
    return f"{quoted(one.name)} is at byte {new} of {quoted(one.owner)}, before at byte {old}"


def _other_sentence(straddles: tuple[Straddle, ...], *, improves: bool) -> str:
    """Of a lock or atomic that crosses lines."""
    crossing = max(straddles, key=_strength_of_split)
    verb = "no longer crosses" if improves else "now crosses"
    return f"{quoted(crossing.name)} at {crossing.address} {verb} the end of a line"


def _moved_alone(shifts: Shifts, pair: int) -> bool:
    """Whether a variable of both builds left its neighbours, so that nothing in front of it moved it."""
    return pair >= 0 and shifts.kept_number(pair) < 0


def _shift_text(shifts: Shifts, pair: int) -> str:
    return signed_hex(_shift(shifts, pair))


def _shift(shifts: Shifts, pair: int) -> int:
    return int(shifts.shift[int(np.flatnonzero(shifts.order == pair)[0])])


def _moved_by(shifts: Shifts, pair: int) -> int:
    """How many variables moved with one: those of equal shift in its section."""
    new = shifts.matching.new
    new_row = shifts.matching.pairs["new"]
    section = new.section[new_row]
    same = (section[shifts.order] == section[pair]) & (shifts.shift == _shift(shifts, pair))
    return int(same.sum())


def _moved(builds: Builds, rows: Iterable[int], *, improves: bool) -> tuple[Moved, ...]:
    matching = builds.variables
    of = matching.of_old if improves else matching.of_new
    out = []
    for row in rows:
        pair = int(of[row])
        if pair < 0:
            continue
        one, other = int(matching.pairs["old"][pair]), int(matching.pairs["new"][pair])
        before = int(matching.old.image.variables["address"][one])
        after = int(matching.new.image.variables["address"][other])
        shift = int(matching.new.address[other]) - int(matching.old.address[one])
        out.append(Moved(matching.new.label(other), f"{before:#x}", f"{after:#x}", signed_hex(shift)))
    return tuple(out[: 2 * MAX_PAIRS])


def _distinct(pairs: Sequence[LinePair]) -> list[LinePair]:
    """The worst pair of each two variables."""
    seen: set[tuple[int, ...]] = set()
    out = []
    for pair in pairs:
        key = tuple(sorted(set(pair.rows)))
        if key not in seen:
            seen.add(key)
            out.append(pair)
    return out[:MAX_PAIRS]


def _wider(shown: tuple[LineMates, ...], met: LinePairs) -> tuple[LineMates, ...]:
    """Pairs of the wider view that the line itself does not already hold."""
    have = {(m.first, m.second) for m in shown}
    return tuple(m.mates for m in _distinct(met.pairs) if (m.mates.first, m.mates.second) not in have and m.mates.hot)
