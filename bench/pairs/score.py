"""Asking linemate of a pair, and holding what it says against the truth.

Owns what counts as right: the first cause is a root and names it, the other roots are among the causes, and nothing is
claimed, or ruled out, against the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench.pairs.building import build
from bench.pairs.table import Pair
from bench.pairs.truth import Root, Truth, met, same_loaded
from linemate.explaining.run import ExplainRequest, explain
from sharing.explain.numbers import PLAUSIBLE
from sharing.model.comparison import Cause, CauseKind, Comparison


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a pair.  ``wrong`` says in words what is not right; "" for what is."""

    pair: Pair
    truth: Truth
    said: Comparison
    root: bool
    false: tuple[str, ...]
    wrong: str

    @property
    def first(self) -> Cause:
        return self.said.causes[0]


def ask(pair: Pair) -> Outcome:
    """Build both files, note what is right, then run the comparison."""
    old, new = build(pair.project, pair.old), build(pair.project, pair.new)
    truth = truth_of(pair)
    return judged(pair, truth, explain(ExplainRequest(str(old), str(new))))


def judged(pair: Pair, truth: Truth, said: Comparison) -> Outcome:
    """What was said, held against the truth."""
    wrong = _wrong(truth, said)
    return Outcome(pair, truth, said, not wrong, _false(truth, said), wrong)


def truth_of(pair: Pair) -> Truth:
    """Symbols are read of builds that have them: of stripped ones, from the same build before it was stripped."""
    old, new = (build(pair.project, replace(side, stripped=False)) for side in (pair.old, pair.new))
    if same_loaded(old, new):
        return Truth()
    roots = pair.roots
    gained, lost = met(pair.project, old, new)
    if pair.layout is not None and (gained or lost):
        words = () if pair.new.stripped else pair.layout
        shown = gained or lost
        names = (tuple(sorted({name for both in shown for name in both})),) if not pair.new.stripped else ()
        roots = (Root("layout", (*words, *names), improves=not gained), *roots)
    return Truth(roots)


def matches(root: Root, cause: Cause) -> bool:
    """Whether a cause is that root, by its kind and by what it names."""
    text = f"{cause.summary} {' '.join(cause.symbols)}".lower()
    return (
        cause.kind.value == root.kind
        and (cause.improves == root.improves or cause.kind is CauseKind.TOOLCHAIN)
        and all(any(word.lower() in text for word in words) for words in root.says)
    )


def _wrong(truth: Truth, said: Comparison) -> str:
    first = said.causes[0]
    if not truth.roots:
        claimed = first.kind is not CauseKind.NONE and first.strength >= PLAUSIBLE and not first.improves
        return f"{first.kind} {first.strength:.2f} where nothing explains it" if claimed else ""
    if not any(matches(root, first) for root in truth.roots):
        return f"not {', '.join(r.kind for r in truth.roots)} first"
    for root in truth.roots:
        if not any(matches(root, cause) for cause in said.causes):
            return f"{root.kind} {root.says} is not told"
    return ""


def is_right(truth: Truth, cause: Cause) -> bool:
    """Whether a cause is a root, or follows from one."""
    if cause.follows is not None:
        return any(root.kind == cause.follows.value for root in truth.roots)
    return any(matches(root, cause) for root in truth.roots)


def _false(truth: Truth, said: Comparison) -> tuple[str, ...]:
    """What is claimed without being so: plausible causes of another kind that follow from no root; wrong exclusions."""
    kinds = {root.kind for root in truth.roots}
    out = [
        f"{cause.kind} {cause.strength:.2f}"
        for cause in said.causes
        if cause.kind is not CauseKind.NONE
        and (cause.follows or cause.kind).value not in kinds
        and cause.strength >= PLAUSIBLE
        and not cause.improves
    ]
    slower = {root.kind for root in truth.roots if not root.improves}
    return (*out, *(f"{r.kind} ruled out" for r in said.ruled_out if r.kind.value in slower))
