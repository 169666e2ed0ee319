"""The history document in words.

Owns the sentences that all formats share; what each looks like is its own module's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.escape import sentence, visible
from sharing.model.history import Basis, Change, History, LayoutChange, Outlier, RevisionState, Step
from sharing.model.plural import count, named

FEW_SUSPECTS = 3  # that the verdict names


def percent(value: float) -> str:
    """``-4.8 %``, with fewer digits where they say nothing."""
    shown = 100 * value
    return f"{shown:+.0f} %" if abs(shown) >= 100 else f"{shown:+.1f} %"


def change_text(change: Change) -> str:
    """``-12.3 % (-13.0 % to -11.5 %)``; the interval's level where it is not 95 %."""
    if change.level <= 0:
        return percent(change.change)
    level = "" if change.level >= 0.9499 else f", a {100 * change.level:.0f} % interval"
    return f"{percent(change.change)} ({percent(change.low)} to {percent(change.high)}{level})"


def chance_text(chance: float) -> str:
    return "p < 0.001" if chance < 0.001 else f"p = {chance:.3f}" if chance < 0.1 else f"p = {chance:.2f}"


def revision_name(history: History, index: int) -> str:
    """Short name and subject of a revision."""
    revision = history.revisions[index]
    return f"{visible(revision.name)} {visible(revision.subject)}".strip()


def labels_text(labels: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{visible(name)} {visible(text)}" for name, text in labels) or "all"


def verdict(history: History) -> str:
    """The first line: the step that matters, or that there is none."""
    if history.bisection is not None:
        return visible(history.bisection.words)
    if all(r.state is RevisionState.FAILED and r.log for r in history.revisions):
        return f"nothing could be built: {count(len(history.revisions), 'revision')}, all of them left out"
    if history.metric and not any(values for points in history.series for values in points.values):
        return f"nothing could be measured: no run gave {visible(history.metric)}"
    if not history.metric:
        met = sum(1 for c in history.layout_changes if c.gained or c.lost)
        what = f"{count(met, 'change')} of layout" if met else "no change of layout among busy pairs"
        return f"{what} in {count(_built(history), 'build')}; nothing was measured"
    if history.undecided:
        # Of one metric, either every step has a direction or none has.
        step = max(history.steps, key=lambda s: abs(s.change.change))
        return (
            f"changed since {_since(history, step)}: {visible(history.metric)} {change_text(step.change)}, for "
            "better or worse: the name of the metric does not say; --better more or --better less does"
        )
    slower = [s for s in history.steps if s.slower]
    if slower:
        worst = max(slower, key=lambda s: abs(s.change.change))
        more = f", and {count(len(slower) - 1, 'more slowdown')}" if len(slower) > 1 else ""
        return f"slower since {_since(history, worst)}: {visible(history.metric)} {change_text(worst.change)}{more}"
    if history.steps:
        best = max(history.steps, key=lambda s: abs(s.change.change))
        return (
            f"faster since {_since(history, best)}: {visible(history.metric)} {change_text(best.change)}; no slowdown"
        )
    if history.slopes:
        return f"no step: {visible(history.metric)} drifts by {percent(history.slopes[0].change)}"
    return f"no step in {visible(history.metric)}"


def _built(history: History) -> int:
    return sum(r.state is RevisionState.BUILT for r in history.revisions)


def _since(history: History, step: Step) -> str:
    if len(step.suspects) == 1:
        return revision_name(history, step.suspects[0])
    if len(step.suspects) <= FEW_SUSPECTS:
        return f"one of {', '.join(revision_name(history, at) for at in step.suspects)}"
    return f"one of {len(step.suspects)} revisions up to {revision_name(history, step.between[1])}"


def basis_text(history: History) -> str:
    """What was tested, and at which level."""
    measured = sum(any(p.values[i] for p in history.series) for i in range(len(history.revisions)))
    cells = count(len(history.series), "condition")
    tested = {
        Basis.REVISIONS: "permuted revisions",
        Basis.REPETITIONS: "repetitions permuted between revisions",
        Basis.CONDITIONS: "neighbouring revisions over all conditions",
        Basis.NORMAL: "the step against the spread around it, assuming normal noise",
        Basis.NONE: "nothing could be tested",
    }[history.basis]
    direction = {
        True: "less is better",
        False: "more is better",
        None: "its name does not say whether more or less is better: --better does",
    }[history.less_is_better]
    return (
        f"{visible(history.metric)} ({direction}), {count(measured, 'measured revision')}, {cells}; tested: {tested}; "
        f"probability of any false step at most {100 * history.alpha:g} %"
    )


def bisection_lines(history: History) -> Iterator[str]:
    """What was asked of which build, and what it said."""
    bisection = history.bisection
    if bisection is None:
        return
    yield f"{visible(bisection.question)} {count(bisection.builds, 'build')} made"
    for at, verdict in bisection.tested:
        yield f"{revision_name(history, at)}: {visible(verdict)}"


def step_lines(history: History, step: Step, *, suspected: bool = False) -> Iterator[str]:
    """What is known of a step, a sentence each."""
    before, after = step.between
    kind = {True: "slowdown", False: "gain", None: "change"}[step.slower]
    word = "suspected, not shown: " if suspected else ""
    yield (
        f"{word}{kind} between {revision_name(history, before)} and {revision_name(history, after)}: "
        f"{change_text(step.change)}, {chance_text(step.chance)}"
    )
    if len(step.suspects) > 1:
        names = [revision_name(history, i) for i in step.suspects]
        yield f"not measured one by one: {named(names, 12, between='; ')}"
    if len(step.places) > 1:
        names = [revision_name(history, i) for i in step.places]
        shown = "; ".join(names) if len(names) <= 6 else f"{names[0]} to {names[-1]}"
        yield f"may as well be at one of {len(names)} revisions (95 %): {shown}"
    clear = [c for c in step.conditions if c.clear]
    if len(step.conditions) > 1 and clear and not suspected:
        rose = [c for c in clear if c.change.change > 0]
        fell = [c for c in clear if c not in rose]
        words = {
            True: (("slower", rose), ("faster", fell)),
            False: (("slower", fell), ("faster", rose)),
            None: (("more", rose), ("less", fell)),
        }[history.less_is_better]
        parts = []
        for word, those in words:
            if those:
                shown = "; ".join(f"{labels_text(c.labels)} {percent(c.change.change)}" for c in those[:8])
                parts.append(f"{word} in {len(those)} of {count(len(step.conditions), 'condition')}: {shown}")
        yield f"clearly {', '.join(parts)}"
    for cause in step.causes[:3]:
        yield visible(sentence(cause))
    for still in step.not_ruled_out:
        yield f"not ruled out: {visible(still)}"


def layout_lines(history: History, change: LayoutChange) -> Iterator[str]:
    """One change of layout: the pairs, then why."""
    names = " → ".join(visible(history.revisions[i].name) for i in change.between)
    parts = []
    for word, pairs in (
        ("now on one line", change.gained),
        ("no longer on one line", change.lost),
        ("now on one pair of lines", change.gained_wide),
        ("no longer on one pair of lines", change.lost_wide),
    ):
        if pairs:
            parts.append(f"{word}: {named([visible(p) for p in pairs], 3, between='; ')}")
    yield f"{names}: {'. '.join(parts)}"
    if change.cause:
        yield visible(change.cause)


def _outlier(history: History, outlier: Outlier) -> str:
    """A revision apart from its level; of one that is the first behind a step, the step is not denied."""
    name = revision_name(history, outlier.revision)
    apart = f"{abs(outlier.change) * 100:.1f} % {'above' if outlier.change > 0 else 'below'}"
    if any(step.between[1] == outlier.revision for step in history.steps):
        return f"{name} is the first behind a step, and its result is {apart} the level after the step"
    return f"{name} is an outlier, its result is {apart} the level around it: not counted as a step"


def remarks(history: History) -> Iterator[str]:
    """Everything beside the steps: outliers, slopes, ends, contrasts, what was left out, notes."""
    for slope in history.slopes:
        start, end = (revision_name(history, i) for i in (slope.start, slope.end))
        yield f"from {start} to {end} the level drifts by {percent(slope.change)}: not counted as a step"
    for outlier in history.outliers:
        yield _outlier(history, outlier)
    if history.ends is not None and not history.steps:
        chance = f", {chance_text(history.ends_chance)}" if history.ends_chance is not None else ""
        yield f"first to last revision, over all conditions: {change_text(history.ends)}{chance}"
    for contrast in history.contrasts:
        where = count(len(contrast.revisions), "revision")
        yield (
            f"with '{visible(contrast.condition)}', at the same {where}: {change_text(contrast.change)}, "
            f"{chance_text(contrast.chance)}"
        )
    for revision in history.revisions:
        if revision.left_out:
            log = f" (log: {visible(revision.log)})" if revision.log else ""
            yield f"left out: {visible(revision.name)} {visible(revision.subject)}: {visible(revision.why)}{log}"
    yield from (visible(note) for note in history.notes)
