"""``linemate history --bisect``: the revision that changed speed or layout, by few builds.

Owns the two questions that can be asked of a build: whether a pair shares a line, and which end it is as fast as.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from linemate.history.bench import Bench
from linemate.history.buildlayouts import Layouts, sentences
from linemate.history.builds import Builds, Built
from linemate.history.clone import Commit
from linemate.history.document import document_of, explained, read_layouts, revisions_of
from linemate.history.options import HistoryOptions
from linemate.history.progress import watched
from sharing.history.bisect import Answer, Narrowed, narrow_down
from sharing.history.busy import meet, placed
from sharing.history.coincide import change_of, moves, pairs_along
from sharing.history.judge import difference, is_slower
from sharing.history.steps import Floats, segment
from sharing.model.errors import LinemateError
from sharing.model.history import Bisection, Change, History, RevisionState, Step
from sharing.model.plural import named

MOST_ENDS = 8  # revisions that are tried for an end whose build fails
UNCLEAR = (0.3, 0.7)  # of the way from one end to the other: measured again
MORE_ROUNDS = 2
_WAYS = {True: "slower", False: "faster", None: "changed"}


class _Search:
    """The builds that were made on the way."""

    def __init__(self, commits: Sequence[Commit], builds: Builds, tick: Callable[[str], None]) -> None:
        self.commits, self.builds = commits, builds
        self.made: dict[int, Built] = {}
        self.fresh = 0
        self._tick = tick

    def get(self, at: int) -> Built | None:
        """The build of a revision, None where it fails."""
        if at not in self.made:
            self.made[at] = self.builds.get(self.commits[at])
            self.fresh += self.made[at].fresh
            self._tick(self.commits[at].name)
        built = self.made[at]
        return built if built.binary is not None else None

    def ends(self) -> tuple[int, int]:
        """The outermost revisions that can be built."""
        last = len(self.commits) - 1
        first = next((i for i in range(min(MOST_ENDS, last)) if self.get(i) is not None), None)
        end = next((i for i in range(last, max(last - MOST_ENDS, -1), -1) if self.get(i) is not None), None)
        if first is None or end is None or first >= end:
            raise LinemateError(f"the builds at the ends of the range fail: {self._why()}")
        return first, end

    def _why(self) -> str:
        failed = next(b for b in self.made.values() if b.binary is None)
        return f"{failed.commit.name}: {failed.row.why} (log: {self.builds.log_path(failed.row.key)})"


def bisected(
    options: HistoryOptions, top: str, commits: Sequence[Commit], builds: Builds, layouts: Layouts, bench: Bench
) -> History:
    """The history of a bisection: few builds, one step or one change of layout."""
    if options.pair is None and not options.bench:
        raise LinemateError("--bisect needs --bench, or --pair A B to look for a change of layout")
    most = math.ceil(math.log2(max(len(commits) - 1, 2))) + 2
    with watched("building", most, quiet=options.quiet) as tick:
        search = _Search(commits, builds, tick)
        first, last = search.ends()
        if options.pair is not None:
            found, step = _by_pair(options.pair, search, layouts, first, last), None
        else:
            found, step = _by_speed(options, search, bench, layouts, (first, last))
    made = {at: b for at, b in sorted(search.made.items()) if b.binary is not None}
    around = _around(found, made)
    layouts_around, unread = read_layouts(around, layouts)
    moved = moves(layouts_around)
    if step is not None:
        step = explained([step], search.made, layouts)[0]
    if len(around) == 2 and found.ends_differ and step is None:
        found = _with_reason(options.pair, found, layouts, *around.values())
    revisions = revisions_of(commits, search.made, builds, unread)
    base = document_of(options, None, None, revisions, f"{top} {options.revisions}")
    return msgspec.structs.replace(
        base,
        metric=options.metric_name if options.pair is None else "",
        less_is_better=options.less,
        steps=(step,) if step is not None else (),
        bisection=found,
        pairs=pairs_along(layouts_around, moved),
        layout_changes=tuple(change_of(m, (step,) if step else (), "", "", improves=False) for m in moved),
        notes=(*base.notes, *(bench.notes(list(made.values()), earlier=False) if options.pair is None else ())),
        incomplete=any(r.state is RevisionState.FAILED for r in revisions),
    )


def _with_reason(pair: tuple[str, str] | None, found: Bisection, layouts: Layouts, old: Built, new: Built) -> Bisection:
    """With what moved the pair; else with the first that differs between the builds around the suspect."""
    moved = ""
    if pair is not None:
        moved = layouts.of_pair(old, new, pair, parted=bool(_share_in(pair, layouts, old)))
    words = (moved,) if moved else sentences(layouts.reasons(old, new))
    return msgspec.structs.replace(found, words=f"{found.words}. {words[0]}") if words else found


def _around(found: Bisection, made: dict[int, Built]) -> dict[int, Built]:
    """The builds in front of and behind the suspects."""
    if not found.suspects:
        return {}
    return {at: made[at] for at in (found.suspects[0] - 1, found.suspects[-1]) if at in made}


def _by_pair(pair: tuple[str, str], search: _Search, layouts: Layouts, first: int, last: int) -> Bisection:
    question = f"when did {pair[0]} and {pair[1]} come onto one line, or leave it?"
    ends = [_shares(pair, search, layouts, at) for at in (first, last)]
    if None in ends and ends[0] == ends[1]:
        raise LinemateError(f"neither end has both variables: {pair[0]}, {pair[1]}")
    state = {True: "on one line", False: "on separate lines", None: "not both there"}
    verdicts = [(at, state[end]) for at, end in zip((first, last), ends, strict=True)]
    if bool(ends[0]) == bool(ends[1]):
        words = f"ends do not differ: {pair[0]} and {pair[1]} are {state[ends[0]]} at both"
        return Bisection(question, False, tuple(verdicts), (), search.fresh, words)
    answers: dict[int, bool | None] = {}

    def ask(step: int) -> Answer:
        at = first + step
        if search.get(at) is None:
            return Answer.NONE
        answers[at] = _shares(pair, search, layouts, at)
        return Answer.OLD if bool(answers[at]) == bool(ends[0]) else Answer.NEW

    found = narrow_down(last - first, ask)
    verdicts += [(at, state[answers[at]] if at in answers else "no build") for at in _asked(found, first)]
    suspects = tuple(first + s for s in found.suspects)
    verb = "came onto one line" if ends[1] else "came off their common line"
    words = f"{pair[0]} and {pair[1]} {verb} with {_named(search, suspects)}"
    return Bisection(question, True, tuple(verdicts), suspects, search.fresh, words)


def _asked(found: Narrowed, first: int) -> list[int]:
    return [first + at for at, _ in found.asked]


def _shares(pair: tuple[str, str], search: _Search, layouts: Layouts, at: int) -> bool | None:
    """Whether bytes in use of both are on one line; None where a build has not both."""
    built = search.get(at)
    assert built is not None
    return _share_in(pair, layouts, built)


def _share_in(pair: tuple[str, str], layouts: Layouts, built: Built) -> bool | None:
    layout = layouts.of(built)
    parts = []
    for name in pair:
        found = placed(layout, name)
        if not found:
            whole = layouts.variable(built, name)
            if whole is None:
                return None
            found = (whole,)
        parts.append(found)
    return meet(parts[0], parts[1], layout.line_size)


def _named(search: _Search, suspects: tuple[int, ...]) -> str:
    texts = [f"{search.commits[at].name} {search.commits[at].subject}".strip() for at in suspects]
    if len(suspects) == 1:
        return texts[0]
    return f"one of {len(suspects)} revisions that could not be told apart: {named(texts, 6, between='; ')}"


def _by_speed(
    options: HistoryOptions, search: _Search, bench: Bench, layouts: Layouts, outermost: tuple[int, int]
) -> tuple[Bisection, Step | None]:
    question = f"when did {options.metric_name} change?"
    first, last = outermost
    old, new = search.made[first], search.made[last]
    loads = [_loaded(layouts, end) for end in (old, new)]
    alike = loads[0] == loads[1]
    rounds = options.rounds
    values = bench.again((old, new), rounds)
    _check(bench, (old, new))
    before, after = (_rows(values, end, bench.plan.conditions) for end in (old, new))
    told = segment(np.vstack([before, after]), options.alpha, (len(before), len(after)), repetitions=True)
    change = _change(before, after)
    effect = np.median(after, axis=0) - np.median(before, axis=0)
    chance = told.best.chance if told.best is not None else 1.0
    ends = ((first, "the old end"), (last, "the new end"))
    if not told.splits:
        words = (
            f"ends do not differ: {options.metric_name} {100 * change.change:+.1f} % "
            f"({100 * change.low:+.1f} % to {100 * change.high:+.1f} %), p = {chance:.2f}"
            f"{'; both load the same bytes' if alike else ''}"
        )
        return Bisection(question, False, ends, (), search.fresh, words), None
    said: dict[int, str] = {}

    def ask(step: int) -> Answer:
        at = first + step
        built = search.get(at)
        if built is None:
            return Answer.NONE
        if not alike and (same := _loaded(layouts, built)) in loads:
            said[at] = f"loads the same bytes as the {'old' if same == loads[0] else 'new'} end"
            return Answer.OLD if same == loads[0] else Answer.NEW
        share = _share(bench, (old, built, new), effect, rounds)
        if share is not None and UNCLEAR[0] < share < UNCLEAR[1]:
            share = _share(bench, (old, built, new), effect, MORE_ROUNDS * rounds)
        if share is None:
            said[at] = f"its benchmark failed: {bench.failed.get(built.row.key, '')}"
            return Answer.NONE
        said[at] = f"{100 * share:.0f} % of the way"
        return Answer.OLD if share < 0.5 else Answer.NEW

    found = narrow_down(last - first, ask)
    verdicts = (*ends, *((at, said.get(at, "no build")) for at in _asked(found, first)))
    suspects = tuple(first + s for s in found.suspects)
    slower = is_slower(change, options.less)
    words = (
        f"{_WAYS[slower]} since {_named(search, suspects)}: {options.metric_name} "
        f"{100 * change.change:+.1f} % ({100 * change.low:+.1f} % to {100 * change.high:+.1f} %) between the ends"
        f"{f', which load the same bytes: what differs is outside of {options.binary}' if alike else ''}"
    )
    step = Step((suspects[0] - 1, suspects[-1]), suspects, chance, slower, change, ())
    return Bisection(question, True, verdicts, suspects, search.fresh, words), step


def _loaded(layouts: Layouts, built: Built) -> str:
    """A digest of what a build loads; of a file that is no program, what names the build."""
    try:
        return layouts.of(built).loads
    except LinemateError:
        return built.row.key


def _check(bench: Bench, ends: Sequence[Built]) -> None:
    for end in ends:
        if end.row.key in bench.failed:
            raise LinemateError(f"{end.commit.name}: {bench.failed[end.row.key]}")


def _rows(values: dict[tuple[str, str], list[float]], built: Built, levels: Sequence[str]) -> Floats:
    """Logarithms, rounds by levels."""
    return np.log(np.array([values[built.row.key, level] for level in levels], np.float64)).T


def _change(before: Floats, after: Floats) -> Change:
    """Over all levels together: of the mean of the logarithms of each round."""
    made = difference(before.mean(axis=1), after.mean(axis=1))
    assert made is not None
    return made


def _share(bench: Bench, builds: tuple[Built, Built, Built], effect: Floats, rounds: int) -> float | None:
    """How far the middle build is on the way from the old end to the new one, measured together with both.

    Levels count by how much the ends differ there.  None where its benchmark fails.
    """
    values = bench.again(builds, rounds)
    _check(bench, (builds[0], builds[2]))
    if builds[1].row.key in bench.failed:
        return None
    if len({b.row.key for b in builds}) < 3:
        return 0.0 if builds[1].row.key == builds[0].row.key else 1.0
    old, middle, new = (np.median(_rows(values, b, bench.plan.conditions), axis=0) for b in builds)
    way = float((effect * (new - old)).sum())
    if abs(way) < 1e-12:
        return None
    return float((effect * (middle - old)).sum() / way)
