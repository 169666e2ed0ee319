"""How often causes of each strength are right: the table of ``docs/explain.md``, from all pairs that were built.

Owns the bins and the page's part between two marks.  What is right is ``score``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.pairs.score import Outcome, is_right
from bench.places import REPOSITORY
from sharing.model.comparison import LIKELY_FROM, POSSIBLE_FROM, CauseKind

PAGE = REPOSITORY / "docs" / "explain.md"
BEGIN, END = "<!-- python -m bench.pairs --page: begin -->", "<!-- python -m bench.pairs --page: end -->"
BINS = (
    (LIKELY_FROM, 1.01, "likely"),
    (0.5, LIKELY_FROM, "possible"),
    (POSSIBLE_FROM, 0.5, "possible"),
    (0.0, POSSIBLE_FROM, "unlikely"),
)


def write(outcomes: Sequence[Outcome]) -> None:
    """Put the table into the page.  Raises ValueError where the page has not its two marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    lines = "\n".join(table(outcomes))
    PAGE.write_text(f"{before}{BEGIN}\n{lines}\n{END}{after}", encoding="utf-8")


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Markdown: what was said, how strongly, and how often it was so."""
    right, false = sum(o.root for o in outcomes), sum(bool(o.false) for o in outcomes)
    projects = len({o.pair.project.name for o in outcomes})
    out = [
        f"Of {len(outcomes)} pairs of {projects} projects the first cause is the root in {right}; "
        f"something false is claimed in {false}.",
        "",
        "| strength | in words | causes | right |",
        "|---|---|---|---|",
    ]
    said = list(_said(outcomes))
    for least, below, word in BINS:
        mine = [good for strength, good in said if least <= strength < below]
        share = f"{100 * sum(mine) / len(mine):.0f} %" if mine else "-"
        reach = (
            f"{least:.1f} or more" if below > 1 else f"{least:.1f} to {below:.1f}" if least else f"below {below:.1f}"
        )
        out.append(f"| {reach} | {word} | {len(mine)} | {share} |")
    return out


def _said(outcomes: Iterable[Outcome]) -> Iterable[tuple[float, bool]]:
    """(strength, whether it is so) of each cause; what is better explains no slowdown and is not counted."""
    for outcome in outcomes:
        for cause in outcome.said.causes:
            if cause.kind is not CauseKind.NONE and not cause.improves:
                yield cause.strength, is_right(outcome.truth, cause)
