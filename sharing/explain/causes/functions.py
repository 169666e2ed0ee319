"""Suspect: the code.  Busy functions that do something else than before, or the same from another place in a line.

Owns which functions are busy enough to matter and how much a change in them weighs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import msgspec
import numpy as np

from sharing.basics.naming import readable_names
from sharing.explain import numbers, recognised
from sharing.explain.activity import Activity
from sharing.explain.bodies import compare_bodies, of_the_program
from sharing.explain.bodychanges import Bodies
from sharing.explain.causes.added import accounted
from sharing.explain.causes.base import Builds, Use, Verdicts, first_of, is_file, named_again, quoted
from sharing.explain.causes.grown import grown
from sharing.explain.causes.linkedin import linked_in
from sharing.explain.causes.run import Run, recorded_both
from sharing.explain.code import Code, CodeChange, compare_code, loop_heads, read_code
from sharing.model.comparison import Cause, CauseKind, RuledOut
from sharing.model.finding import Confidence
from sharing.model.image import FunctionFlag
from sharing.model.plural import count

MAX_NAMED = 12
MAX_SYMBOLS = 1000  # that a profile may say more of


@dataclass(frozen=True, slots=True)
class _Busy:
    """One busy function of both builds."""

    name: str
    weight: float
    old_row: int
    new_row: int
    change: CodeChange
    sizes: tuple[int, int]
    code: Code | None  # of the new build


def ask(builds: Builds) -> Verdicts:
    """Changed code of busy functions, then of others; else their places; else the code is ruled out."""
    if not (is_file(builds.old.image) and is_file(builds.new.image)):
        return _by_size(builds)
    if not (builds.old.known and builds.new.known):
        return Verdicts(notes=("code: no busy functions are known to compare",))
    bodies = compare_bodies(builds)
    shown, failed = _busy(builds, bodies)
    if not shown:
        failed = ("code: no busy functions are known to compare", *failed)
    known = [f for f in shown if f.change is not CodeChange.UNKNOWN]
    added = accounted(builds)
    changed = [f for f in known if f.change is CodeChange.CHANGED and f.new_row not in added]
    fresh = _fresh(builds)
    notes = failed
    if len(known) < len(shown):
        notes = (*failed, f"code: {len(shown) - len(known)} of {len(shown)} busy functions could not be compared")
    unknown = _not_recognised(builds)
    others = _others(builds, bodies)
    notes = tuple(dict.fromkeys((*notes, *bodies.notes)))
    records, maybe = grown(builds, bodies), _maybe(builds, bodies)
    if changed or fresh:
        total = sum(f.weight for f in shown) + sum(w for _, w in fresh)
        share = (sum(f.weight for f in changed) + sum(w for _, w in fresh)) / total if total else 0.0
        cause = _changed(builds, changed, [n for n, _ in fresh], others, share)
        if unknown:
            cause = msgspec.structs.replace(
                cause, evidence=(*cause.evidence, f"{_not_found(unknown)}, or not recognised")
            )
        return Verdicts((_with_doubtful(cause, maybe), *records), notes=notes)
    if unknown:
        return Verdicts((_with_doubtful(_changed_or_not(builds, unknown, others), maybe), *records), notes=notes)
    if others:
        return Verdicts((_with_doubtful(_changed_elsewhere(builds, others), maybe), *records), notes=notes)
    if maybe:
        return Verdicts((may_be_lines(builds, maybe), *records), notes=notes)
    if records:
        return Verdicts(records, notes=notes)
    if added:
        return Verdicts(not_ruled_out=(_uses_of_added(list(added.values())),), notes=notes)
    moved = [text for f in known if (text := _elsewhere(builds, f))]
    if moved:
        return Verdicts((_moved(builds, moved, len(known)),), notes=notes)
    if not known:
        return Verdicts(notes=notes)
    what = count(len(known), "busy function")
    why = (
        f"the {what} compared are the same, but for addresses, at the same places in their lines, and no other "
        "function came, went, or changed its size or what it accesses and calls"
    )
    return Verdicts(ruled_out=(RuledOut(CauseKind.CODE, why),), notes=notes)


def _uses_of_added(uses: list[Use]) -> RuledOut:
    """What is left to say of functions that only use what was added, which is the layout's cause."""
    what = first_of(list(dict.fromkeys(name for use in uses for name in use.of)))
    names = first_of([use.name for use in uses])
    return RuledOut(CauseKind.CODE, f"{names} {'does' if len(uses) == 1 else 'do'} nothing new but to use {what}")


def _maybe(builds: Builds, bodies: Bodies) -> dict[str, str]:
    """Functions that differ in numbers that may be lines, and these numbers in words."""
    matching = builds.functions
    rows = {matching.new.label(int(matching.pairs["new"][pair])): moves for pair, moves in bodies.maybe.items()}
    shown = readable_names(list(rows), builds.demangle)
    return {
        shown[name]: ", ".join(f"{before:,}, now {after:,}" for before, after in moves) for name, moves in rows.items()
    }


def _differ_in(maybe: dict[str, str]) -> str:
    name = next(iter(maybe))
    one = len(maybe) == 1
    return (
        f"{count(len(maybe), 'function')} {'hands' if one else 'hand'} another number to a call and "
        f"{'is' if one else 'are'} else the same: may be a line number of the source"
        f"{'' if one else ' each'} ({quoted(name)}: {maybe[name]})"
    )


def _with_doubtful(cause: Cause, maybe: dict[str, str]) -> Cause:
    if not maybe:
        return cause
    return msgspec.structs.replace(cause, evidence=(*cause.evidence, _differ_in(maybe)))


def may_be_lines(builds: Builds, maybe: dict[str, str]) -> Cause:
    """The cause where functions differ in nothing but numbers that may be lines: the numbers in words, by function."""
    names = list(maybe)
    return _cause(
        builds.runs,
        names,
        _differ_in(maybe),
        numbers.MAY_BE_LINE,
        _takes_time(names, builds.runs),
        (f"{name}: {moves}" for name, moves in maybe.items()),
    )


def _by_size(builds: Builds) -> Verdicts:
    """Of a listing: functions of another size, and those that came or went.  Equal sizes exclude nothing."""
    matching = builds.functions
    old, new = matching.pairs["old"], matching.pairs["new"]
    old_row, new_row = old.astype(np.int64), new.astype(np.int64)
    before, after = matching.old.size[old_row].astype(np.int64), matching.new.size[new_row].astype(np.int64)
    sized = ~matching.old.inferred[old_row] & ~matching.new.inferred[new_row]
    differ = np.flatnonzero(sized & (before != after))
    differ = differ[np.argsort(-np.abs(after - before)[differ], kind="stable")]
    found = [
        (matching.new.label(int(new_row[i])), f"{int(before[i]):,} bytes, now {int(after[i]):,}")
        for i in differ.tolist()
    ]
    for objects, of, told, what in (
        (matching.new, matching.of_new, matching.absence_shows_new, "only the new build has it"),
        (matching.old, matching.of_old, matching.absence_shows_old, "only the old build has it"),
    ):
        found += [(objects.label(int(r)), what) for r in np.flatnonzero((of < 0) & told & (objects.size > 0))]
    note = "code: a listing shows sizes of functions at most; functions of the same size may do something else"
    if not found:
        return Verdicts(notes=(note,))
    shown = readable_names([name for name, _ in found], builds.demangle)
    names = [shown[name] for name, _ in found]
    return Verdicts((_other_size(names, [f"{shown[n]}: {what}" for n, what in found], builds.runs),), notes=(note,))


def _other_size(names: list[str], lines: list[str], runs: tuple[Run, Run]) -> Cause:
    return _cause(
        runs,
        names,
        f"{count(len(names), 'function')} changed in size, came or went: {first_of(names)}",
        numbers.CHANGED_ELSEWHERE,
        _takes_time(names, runs),
        lines,
        confidence=Confidence.LAYOUT,
    )


def _cause(
    runs: tuple[Run, Run],
    names: Sequence[str],
    summary: str,
    strength: float,
    confirm: tuple[str, ...],
    evidence: Iterable[str] = (),
    *,
    confidence: Confidence = Confidence.STATIC,
) -> Cause:
    """A cause about functions, refuted by profiles in which they take the share that they took."""
    return Cause(
        kind=CauseKind.CODE,
        confidence=confidence,
        strength=strength,
        summary=summary,
        symbols=tuple(names[:MAX_SYMBOLS]),
        evidence=tuple(islice(evidence, MAX_NAMED)),
        confirm=confirm,
        follows=CauseKind.TOOLCHAIN,
        refute=(
            *recorded_both(*runs),
            f"perf diff old.data new.data: the shares of {', '.join(names[:3])} are as before",
        ),
    )


def _takes_time(names: Sequence[str], runs: tuple[Run, Run]) -> tuple[str, ...]:
    """What confirms a change of functions that the estimate does not hold for busy."""
    old, new = runs
    return new.recorded(), f"{new.report}: {names[0]} or another takes time that it did not in {old.program}"


def _others(builds: Builds, bodies: Bodies) -> list[str]:
    """Functions that changed, the most executed first: in size, in their instructions, where in them which accesses and
    calls are; new ones where both sides name their functions.
    """
    matching = builds.functions
    old, new = matching.pairs["old"], matching.pairs["new"]
    old_row, new_row = old.astype(np.int64), new.astype(np.int64)
    sizes = matching.old.size[old_row], matching.new.size[new_row]
    done = matching.old.body[old_row], matching.new.body[new_row]
    differ = (sizes[0] != sizes[1]) & (sizes[0] > 0) & (sizes[1] > 0)
    differ |= (done[0] != done[1]) & (done[0] != 0) & (done[1] != 0)
    differ[bodies.changed] = True
    differ[list(bodies.same)] = False
    differ[[int(matching.of_new[row]) for row in accounted(builds)]] = False
    own = of_the_program(matching.old), of_the_program(matching.new)
    differ &= own[0][old_row] & own[1][new_row]
    weight = np.maximum(_weights(builds.old)[old_row], _weights(builds.new)[new_row])
    names = [matching.new.label(int(new_row[i])) for i in np.flatnonzero(differ)[np.argsort(-weight[differ])]]
    for objects, of, told, mine in (
        (matching.new, matching.of_new, matching.absence_shows_new, own[1]),
        (matching.old, matching.of_old, matching.absence_shows_old, own[0]),
    ):
        told &= not linked_in(builds)
        names += [objects.label(int(row)) for row in np.flatnonzero((of < 0) & told & mine & (objects.size > 0))]
    shown = readable_names(names, builds.demangle)
    return [shown[name] for name in names]


def _changed_elsewhere(builds: Builds, names: list[str]) -> Cause:
    return _cause(
        builds.runs,
        names,
        _elsewhere_changed(names),
        numbers.CHANGED_ELSEWHERE,
        _takes_time(names, builds.runs),
    )


def _elsewhere_changed(names: list[str]) -> str:
    return f"{count(len(names), 'function')} changed, none of them among the busiest by estimate: {first_of(names)}"


def _weights(activity: Activity) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    assert activity.profiler is not None
    graph = activity.profiler.graph
    weight = graph.frequency.copy()
    weight[graph.cold] = 0.0
    weight[(activity.image.functions["flags"] & FunctionFlag.STUB) != 0] = 0.0
    return weight


def _top(activity: Activity) -> list[int]:
    weight = _weights(activity)
    rows = np.argsort(-weight, kind="stable")[: numbers.BUSY_FUNCTIONS]
    least = max(weight.max(initial=0.0) / 10**numbers.BUSY_DECADES, 1.0)
    return [int(r) for r in rows if weight[r] >= least]


def _busy(builds: Builds, bodies: Bodies) -> tuple[list[_Busy], tuple[str, ...]]:
    """(functions of both builds that are busy in one of them, by weight; notes)"""
    matching = builds.functions
    chosen: dict[int, float] = {}
    for activity, of in ((builds.old, matching.of_old), (builds.new, matching.of_new)):
        weight = _weights(activity)
        for row in _top(activity):
            pair = int(of[row])
            if pair >= 0:
                chosen[pair] = max(chosen.get(pair, 0.0), float(weight[row]))
    old_rows, new_rows = (matching.pairs[side][list(chosen)].tolist() for side in ("old", "new"))
    before, of_old = read_code(builds.old.image, builds.old_traits, old_rows)
    after, of_new = read_code(builds.new.image, builds.new_traits, new_rows)
    out = []
    for pair, old_row, new_row, one, other in zip(chosen, old_rows, new_rows, before, after, strict=True):
        sizes = (int(matching.old.size[old_row]), int(matching.new.size[new_row]))
        change = compare_code(one, other)
        if change is CodeChange.UNKNOWN and sizes[0] != sizes[1] and min(sizes) > 0:
            change = CodeChange.CHANGED
        elif pair in bodies.same:
            change = CodeChange.RELOCATED
        out.append(_Busy(matching.new.label(new_row), chosen[pair], old_row, new_row, change, sizes, other))
    out.sort(key=lambda f: (-f.weight, f.name))
    shown = readable_names([f.name for f in out], builds.demangle)
    return [replace(f, name=shown[f.name]) for f in out], (*of_old, *of_new)


def _fresh(builds: Builds) -> list[tuple[str, float]]:
    """Busy functions that only the new build has; of what the old one may merely not name, nobody can say that."""
    if linked_in(builds):
        return []
    weight = _weights(builds.new)
    of = builds.functions.of_new
    objects = builds.functions.new
    told = builds.functions.absence_shows_new
    rows = [r for r in _top(builds.new) if of[r] < 0 and told[r]]
    shown = readable_names([objects.label(r) for r in rows], builds.demangle)
    return [(shown[objects.label(r)], float(weight[r])) for r in rows]


@dataclass(frozen=True, slots=True)
class _NotRecognised:
    """Functions of the new build without a counterpart, the busiest first, and how many of either build have none."""

    names: tuple[str, ...]
    old: int
    new: int


def _not_recognised(builds: Builds) -> _NotRecognised | None:
    """None where so few functions have no counterpart that they decide nothing."""
    weights = _weights(builds.old), _weights(builds.new)
    found = recognised.functions(builds.functions, weights)
    if found.few:
        return None
    objects, rows, weight = builds.functions.new, found.new, weights[1]
    if not len(rows):
        objects, rows, weight = builds.functions.old, found.old, weights[0]
    names = [objects.label(int(row)) for row in rows[np.argsort(-weight[rows], kind="stable")]]
    shown = readable_names(names, builds.demangle)
    return _NotRecognised(tuple(shown[name] for name in names), len(found.old), len(found.new))


def _not_found(found: _NotRecognised) -> str:
    return f"{count(found.old, 'function')} of the old build and {found.new:,} of the new one changed"


def _changed_or_not(builds: Builds, found: _NotRecognised, others: list[str]) -> Cause:
    known = f"{_elsewhere_changed(others)}; " if others else ""
    return _cause(
        builds.runs,
        (*others, *found.names),
        f"{known}{_not_found(found)}, or were not recognised: {first_of(found.names)}",
        numbers.NOT_RECOGNISED,
        (f"{named_again(builds.old.image, builds.new.image)}: names the functions that changed",),
        [
            *(f"{name}: changed, not among the busiest by estimate" for name in others[: MAX_NAMED // 2]),
            *(f"{name}: changed, or not recognised" for name in found.names),
        ],
        confidence=Confidence.LAYOUT,
    )


def _changed(builds: Builds, changed: list[_Busy], fresh: list[str], others: list[str], share: float) -> Cause:
    lines = [
        f"{f.name}: {f.sizes[0]:,} bytes, now {f.sizes[1]:,}"
        if f.sizes[0] != f.sizes[1]
        else f"{f.name}: other instructions"
        for f in changed
    ]
    lines += [f"{name}: new" for name in fresh]
    names = [f.name for f in changed] + fresh
    rest = [name for name in others if name not in names]
    lines += [f"{name}: changed, not among the busiest by estimate" for name in rest]
    old, new = builds.runs
    return _cause(
        builds.runs,
        [*names, *rest],
        f"{count(len(names), 'busy function')} changed: {first_of(names)}"
        + (f"; and {count(len(rest), 'other')}: {first_of(rest)}" if rest else ""),
        round(numbers.CHANGED_LEAST + (numbers.CHANGED_MOST - numbers.CHANGED_LEAST) * share, 3),
        (new.recorded(), f"{_found(builds, names[0], changed)} that {old.program} has not"),
        lines,
    )


def _found(builds: Builds, name: str, changed: list[_Busy]) -> str:
    """How a profiler shows the busiest changed function; one without a symbol by its address."""
    rows = [f.new_row for f in changed[:1] if not builds.functions.new.named[f.new_row]]
    if not rows:
        command = builds.runs[1].report.replace("report", "annotate")
        return f"{command} {shlex.quote(name)}: the time is in instructions"
    start, size = int(builds.functions.new.address[rows[0]]), int(builds.functions.new.size[rows[0]])
    last = start + size - 1
    return f"{builds.runs[1].report} --sort sym: the time is at addresses {start:#x} to {last:#x}, in instructions"


def _elsewhere(builds: Builds, function: _Busy) -> str:
    """How the place of a function's entry or loops within the bytes fetched at once changed, "" not."""
    one = int(builds.functions.old.address[function.old_row]) % numbers.FETCH_BYTES
    other = int(builds.functions.new.address[function.new_row]) % numbers.FETCH_BYTES
    if one == other:
        return ""
    heads = loop_heads(function.code) if function.code is not None else None
    if heads is None:
        return f"{function.name}: entry at {one} of {numbers.FETCH_BYTES} bytes, now at {other}"
    if not heads:
        return ""
    return (
        f"{function.name}: {count(len(heads), 'loop')}; entry at {one} of {numbers.FETCH_BYTES} bytes, now at {other}"
    )


def _moved(builds: Builds, moved: list[str], of: int) -> Cause:
    names = [text.partition(":")[0] for text in moved]
    old, new = builds.runs
    cause = _cause(
        builds.runs,
        names,
        f"{len(moved)} of {count(of, 'busy function')} have the same instructions at another place in their "
        f"{numbers.FETCH_BYTES} bytes, {quoted(names[0])} among them",
        numbers.MOVED_CODE,
        (f"rebuild {new.program} with -falign-functions=64 -falign-loops=32", f"{new.timed}: as fast as {old.program}"),
        moved,
        confidence=Confidence.LAYOUT,
    )
    where = f"{new.counted('idq.dsb_uops,idq.mite_uops')}: the shares are those of {old.program}"
    return msgspec.structs.replace(cause, refute=(where,))
