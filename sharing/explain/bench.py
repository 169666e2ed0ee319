"""Benchmarks of two builds: what changed by more than chance, and where.

Owns the pairing of measurements by their labels, and what is said where they are too few.  The tests are
``statistics``' and ``joint``'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from sharing.explain import numbers
from sharing.explain.bylevels import growth_of, loss_at, sentence, told_by_conditions, weighed
from sharing.explain.causes.base import ranked
from sharing.explain.contention import of_machine
from sharing.explain.joint import MOST, adjusted, least_chance, needed, overall
from sharing.explain.losses import Answer, Loss, is_time, is_work, loss_of
from sharing.explain.same import SAME_BUILD
from sharing.explain.signature import Reading, Signature, medians, read_signature
from sharing.explain.statistics import Effect, Floats, compare_samples, finite, holm, paired_change
from sharing.explain.tables.base import Labels, Measurement, repetition_labels
from sharing.explain.work import Pace
from sharing.knowledge.metrics import Kind, kind_of_metric
from sharing.model.comparison import Cause, CauseKind, Comparison, MeasuredChange

MAX_NOTES = 12
MAX_LISTED = 40  # changes in the document
NOT_SLOWER = "no significant regression"
NO_DIRECTION = (
    "changed by more than chance, but the name does not say whether more of it is better: no cause is stronger or "
    "weaker for it (a column called requests_per_s or seconds would say)"
)
UNCHANGED = f"{NOT_SLOWER}: nothing measured changed by more than chance"


@dataclass(frozen=True, slots=True)
class BenchChange:
    """One metric under one set of conditions, in both builds.  ``effect.p`` is corrected for all cells compared.

    ``needed`` is how many values a side could show a change, where these are too few for any; else 0.
    """

    metric: str
    labels: Labels
    effect: Effect
    needed: int = 0


def compare_measurements(
    old: Sequence[Measurement], new: Sequence[Measurement], ignore: Sequence[str] = (), share: float = 1.0
) -> tuple[BenchChange, ...]:
    """Every metric that both have under the same labels (those in ``ignore`` aside), the clearest change first.

    Cells of a table that are measured once a build cannot be tested one by one; see ``paired``.  ``share`` of the level
    is for these tests.
    """
    ignore = (*ignore, *repetition_labels((*old, *new)))
    before, after = _cells(old, ignore), _cells(new, ignore)
    common = sorted(before.keys() & after.keys())
    effects = [compare_samples(before[key], after[key]) for key in common]
    least = [0] * len(common)
    tested = []
    for i, key in enumerate(common):
        if len({*before[key], *after[key]}) == 1:
            # Figures that never vary (no errors) are the same, and cost the others nothing.
            effects[i] = replace(effects[i], p=1.0)
        elif effects[i].p is not None:
            tested.append(i)
    pairs = [(np.array(before[common[i]]), np.array(after[common[i]])) for i in tested]
    strata = [common[i][1] for i in tested]
    chances = adjusted(strata, pairs) if len(tested) <= MOST else holm(np.array([effects[i].p for i in tested]))
    for i, p in zip(tested, chances.tolist(), strict=True):
        effects[i] = replace(effects[i], p=min(1.0, p / share))
        if not effects[i].significant and least_chance(*effects[i].repetitions) >= numbers.ALPHA * share:
            least[i] = needed(len(set(strata)), share)
    out = [
        BenchChange(metric, labels, effect, values)
        for (metric, labels), effect, values in zip(common, effects, least, strict=True)
    ]
    return tuple(sorted(out, key=_order))


def _order(change: BenchChange) -> tuple[float, bool, float]:
    """What is sure before what is not; of what was measured too few times, the work done first."""
    if change.effect.p is None:
        return 1.0, not is_work(change.metric), -abs(change.effect.change)
    return change.effect.p, False, -abs(change.effect.change)


def _repeated(*sides: Sequence[Measurement]) -> bool:
    ignore = repetition_labels([m for side in sides for m in side])
    return any(len(values) > 1 for side in sides for values in _cells(side, ignore).values())


def over_conditions(old: Sequence[Measurement], new: Sequence[Measurement]) -> tuple[BenchChange, ...]:
    """The change of each metric over all its conditions together, where there are several."""
    ignore = repetition_labels((*old, *new))
    before, after = _cells(old, ignore), _cells(new, ignore)
    metrics: dict[str, list[tuple[Labels, tuple[Floats, Floats]]]] = {}
    for key in sorted(before.keys() & after.keys()):
        a, b = np.array(before[key]), np.array(after[key])
        if (a > 0).all() and (b > 0).all():
            metrics.setdefault(key[0], []).append((key[1], (a, b)))
    out = []
    for metric, effect in zip(metrics, overall(list(metrics.values())), strict=True):
        if effect is None:
            cells = metrics[metric]
            single = paired(old, new, metric, ignore) if all(len(a) == len(b) == 1 for _, (a, b) in cells) else None
            effect = single if single is not None and single.repetitions[0] >= numbers.MIN_PAIRS else None
        if effect is not None and effect.p is not None:
            out.append(BenchChange(metric, (), effect))
    return tuple(out)


def paired(
    old: Iterable[Measurement], new: Iterable[Measurement], metric: str, ignore: Sequence[str] = ()
) -> Effect | None:
    """The change of one metric over all cells of a table together: the same conditions before and after.

    The test flips the sign of each cell's logarithmic change (exactly, or by drawing); the interval is that of Walsh
    averages.  None when fewer than two cells have both.
    """
    before, after = _cells(old, ignore), _cells(new, ignore)
    common = sorted(key for key in before.keys() & after.keys() if key[0] == metric)
    a = np.array([np.median(before[k]) for k in common], np.float64)
    b = np.array([np.median(after[k]) for k in common], np.float64)
    if len(a) < 2 or not (a > 0).all() or not (b > 0).all():
        return None
    return paired_change(a, b)


def pace_of(old: Sequence[Measurement], new: Sequence[Measurement]) -> Pace | None:
    """How much more the new build does in a second, by work done or else by time taken, over all conditions together.

    None where nothing was repeated, or no metric is known to be one of these.
    """
    cells = compare_measurements(old, new)
    alone = [c for c in cells if sum(other.metric == c.metric for other in cells) == 1]
    found = [c for c in (*over_conditions(old, new), *alone) if c.effect.low is not None and c.effect.high is not None]
    for is_kind in (is_work, is_time):
        for change in found:
            low, middle, high = (
                1 + (value or 0.0) for value in (change.effect.low, change.effect.change, change.effect.high)
            )
            if is_kind(change.metric) and 0 < low <= middle <= high:
                of = (middle, low, high) if is_kind is is_work else (1 / middle, 1 / high, 1 / low)
                return Pace(change.metric, *of)
    return None


def with_measurements(
    comparison: Comparison, old: Sequence[Measurement], new: Sequence[Measurement], matters: float = numbers.MATTERS
) -> Comparison:
    """The comparison with what was measured of both builds: notes of what changed by more than chance.

    System-wide figures that speak against lines that bounce halve the strength of the layout as a cause.  So do
    measurements whose intervals exclude a loss that ``matters`` (relative).  A loss that is sure raises the one cause
    that is left.
    """
    notes = list(comparison.coverage.notes)
    whole = over_conditions(old, new)
    # Cells one by one and all together are two families of tests: each has half of the level.
    share = 0.5 if whole and _repeated(old, new) else 1.0
    whole = tuple(replace(c, effect=replace(c.effect, p=min(1.0, (c.effect.p or 0.0) / share))) for c in whole)
    cells = compare_measurements(old, new, share=share)
    if not cells:
        notes.append("measurements: the two have no metric under equal conditions in common")
    changed, said = _changed(cells, whole)
    notes += said
    loss = loss_of(((c.metric, _called(c), c.effect) for c in (*whole, *cells) if _decides(c, whole)), matters)
    unclear = list(dict.fromkeys(c.metric for c in changed if kind_of_metric(c.metric) is Kind.UNKNOWN))
    if unclear:
        notes.append(f"{', '.join(unclear[:MAX_NOTES])} {NO_DIRECTION}")
    nothing = _nothing(cells, whole) if cells and not changed else ""
    if nothing and not (nothing == UNCHANGED and loss.answer is Answer.INCONCLUSIVE):
        notes.append(nothing)
    listed = [*changed, *(c for c in whole if c not in changed), *(c for c in cells if c not in changed)][:MAX_LISTED]
    causes = comparison.causes
    signature = read_signature(medians(old), medians(new))
    if signature.reading is not Reading.UNCLEAR:
        notes.append(f"{signature.reading.value}: {signature.why}")
    if signature.reading is Reading.AGAINST_BOUNCING:
        causes = ranked(_against_bouncing(cause, signature) for cause in causes)
    if (found := of_machine(signature)) and not any(c.kind is CauseKind.CONTENTION for c in causes):
        causes = ranked((*(c for c in causes if c.kind is not CauseKind.NONE), found))
    if loss.answer is Answer.NONE:
        causes = ranked(_no_slower(c, loss) for c in causes)
    elif loss.answer is Answer.LOSS:
        causes = _slower(causes, loss, whole=_recognised(comparison))
    ours = loss.answer is not Answer.NONE and not (causes and causes[0].summary.startswith(SAME_BUILD))
    growth = growth_of(cells) if ours else None
    if growth is not None:
        causes = weighed(causes, growth)
    seen, runs = _seen_once(cells, matters) if ours and loss.answer is not Answer.LOSS else ("", 0)
    if loss.answer is Answer.INCONCLUSIVE and loss.effect is not None and not unclear:
        notes.append(
            f"inconclusive: a loss of up to {100 * loss.worst:.1f}% is not excluded ({loss.name}: "
            f"{_percent(loss.effect)}); repeat the measurement more often"
        )
    return msgspec.structs.replace(
        comparison,
        causes=causes,
        coverage=msgspec.structs.replace(comparison.coverage, notes=tuple(notes)),
        measurements=tuple(_measured(c) for c in listed),
        loss=_told(loss, whole, cells) if loss.answer is Answer.LOSS else "",
        loss_seen=seen,
        runs_needed=runs,
        by_level=sentence(growth, causes) if growth is not None else "",
        load=growth.load if growth is not None else "",
    )


def _told(loss: Loss, whole: Sequence[BenchChange], cells: Sequence[BenchChange]) -> str:
    """A loss in words: under each of its conditions where there are several, since their mean is that of none."""
    if loss.effect is None:
        return ""
    metric = next((c.metric for c in (*whole, *cells) if c.effect is loss.effect), loss.name)
    if apart := told_by_conditions(cells, metric):
        low, high = loss.effect.low or 0.0, loss.effect.high or 0.0
        where = "over all" if loss.name == metric else loss.name
        return f"{apart} (95 %: {where} {100 * low:+.1f}% to {100 * high:+.1f}%)"
    return f"{loss.name} {_percent(loss.effect)}"


def _seen_once(cells: Sequence[BenchChange], matters: float) -> tuple[str, int]:
    """The largest loss in figures that are too few to say, in words, and how many runs of each build would say."""
    few = [c for c in cells if (c.effect.p is None or c.needed) and (is_work(c.metric) or is_time(c.metric))]
    lost = max(few, key=lambda c: (loss_at(c) >= matters, is_work(c.metric), loss_at(c)), default=None)
    if lost is None or loss_at(lost) < matters:
        return "", 0
    conditions = sum(c.metric == lost.metric for c in cells)
    runs = max((c.needed for c in few), default=0) or needed(conditions, 0.5 if conditions > 1 else 1.0)
    return told_by_conditions(cells, lost.metric) or f"{_called(lost)} {100 * lost.effect.change:+.1f}%", runs


def _changed(cells: Sequence[BenchChange], whole: Sequence[BenchChange]) -> tuple[list[BenchChange], list[str]]:
    """What changed by more than chance, one by one, else over all conditions; and that in words."""
    changed = [c for c in cells if c.effect.significant]
    said = [_words(change) for change in changed[:MAX_NOTES]]
    for change in whole:
        if change.effect.significant and not any(c.metric == change.metric for c in changed):
            said.append(f"{change.metric}, over all conditions: {_percent(change.effect)}")
            changed.append(change)
    return changed, said


def _against_bouncing(cause: Cause, signature: Signature) -> Cause:
    """Weaker where a layout is said to cost; of another library, or nothing, it says what kind of cause to look for."""
    if cause.kind is CauseKind.LAYOUT and not cause.improves:
        return msgspec.structs.replace(cause, strength=cause.strength / 2, evidence=(*cause.evidence, signature.why))
    if cause.kind in (CauseKind.DEPENDENCY, CauseKind.NONE):
        return msgspec.structs.replace(cause, evidence=(f"{signature.reading.value}: {signature.why}", *cause.evidence))
    return cause


def _nothing(cells: Sequence[BenchChange], whole: Sequence[BenchChange]) -> str:
    """What is said where no change is clear: that there was none only where one could have been seen."""
    few = [c.needed for c in cells if c.needed]
    varying = [c for c in cells if c.effect.p is not None and not c.needed and c.effect.change != 0]
    if few and not varying and not whole:
        return f"too few repetitions to tell a change from chance: {max(few)} a side are needed"
    if not whole and all(c.effect.p is None or min(c.effect.repetitions) < 2 for c in cells):
        return "measured once a build: too few times to tell a change from chance"
    return UNCHANGED


def _decides(change: BenchChange, whole: Sequence[BenchChange]) -> bool:
    """Figures under one condition decide where all conditions together were not tested, or where they are clear."""
    return change in whole or change.effect.significant or not any(c.metric == change.metric for c in whole)


def _no_slower(cause: Cause, loss: Loss) -> Cause:
    """A layout that only might be slower loses half its strength."""
    if cause.kind is not CauseKind.LAYOUT or cause.improves:
        return cause
    excluded = f"a loss of {100 * loss.worst:.1f}% or more" if loss.worst > 0 else "a loss of any size"
    summary = f"{cause.summary}; measured: {NOT_SLOWER}, {excluded} is excluded"
    return msgspec.structs.replace(cause, strength=round(cause.strength / 2, 3), summary=summary)


def _recognised(comparison: Comparison) -> bool:
    """Whether nearly all functions of both builds are known in the other: else what was not may be the cause."""
    functions = comparison.functions
    return functions.matched >= numbers.RECOGNISED * max(functions.old, functions.new)


def _slower(causes: Sequence[Cause], loss: Loss, *, whole: bool) -> tuple[Cause, ...]:
    """With a loss that is sure, the one root that may explain it is more likely; of several, none is.

    A layout that is all that is left explains it as a pair that is high would.  Not ``whole``: functions are left that
    nothing is known of, which may explain it as well.
    """
    if (
        loss.effect is not None
        and causes
        and causes[0].kind is CauseKind.NONE
        and causes[0].summary.startswith(SAME_BUILD)
    ):
        said = f"; measured: {loss.name} {100 * loss.effect.change:+.1f}%, which is not due to these files"
        return (msgspec.structs.replace(causes[0], summary=causes[0].summary + said), *causes[1:])
    if not whole:
        return tuple(causes)
    left = [c for c in causes if c.follows is None and not c.improves and c.strength >= numbers.PLAUSIBLE]
    if len(left) != 1 or loss.effect is None:
        return tuple(causes)
    (only,) = left
    strength = only.strength + (1 - only.strength) / 2
    if only.kind is CauseKind.LAYOUT:
        strength = max(strength, numbers.MET_HIGH)
    raised = msgspec.structs.replace(
        only,
        strength=round(strength, 3),
        by_itself=None if only.by_itself is None else round(strength, 3),
        summary=f"{only.summary}; measured: {loss.name} {100 * loss.effect.change:+.1f}%, and no other cause is left",
    )
    return ranked(raised if c is only else c for c in causes)


def _called(change: BenchChange) -> str:
    where = ", ".join(f"{name} {text}" for name, text in change.labels)
    return f"{change.metric}{f' ({where})' if where else ''}"


def _measured(change: BenchChange) -> MeasuredChange:
    effect = change.effect
    return MeasuredChange(
        change.metric,
        dict(change.labels),
        effect.old,
        effect.new,
        finite(effect.change),
        finite(effect.low),
        finite(effect.high),
        effect.p,
        effect.repetitions,
        effect.significant,
        change.needed,
    )


def _words(change: BenchChange) -> str:
    return f"{_called(change)}: {_percent(change.effect)}"


def _percent(effect: Effect) -> str:
    low, high = effect.low or 0.0, effect.high or 0.0
    return (
        f"{100 * effect.change:+.1f}% ({100 * low:+.1f}% to {100 * high:+.1f}%; "
        f"medians {effect.old:g} and {effect.new:g}, {effect.repetitions[0]} and {effect.repetitions[1]} values)"
    )


def _cells(measurements: Iterable[Measurement], ignore: Sequence[str]) -> dict[tuple[str, Labels], list[float]]:
    out: dict[tuple[str, Labels], list[float]] = defaultdict(list)
    for measured in measurements:
        labels = tuple((k, v) for k, v in measured.labels if k not in ignore)
        out[measured.metric, labels].append(measured.value)
    return out
