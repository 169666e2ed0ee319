"""The history for a review: the verdict, the steps, the rest folded.

Owns the Markdown of it; the sentences are ``reports.history.wording``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from reports.history.wording import (
    basis_text,
    bisection_lines,
    labels_text,
    layout_lines,
    remarks,
    step_lines,
    verdict,
)
from reports.markdown import code, fold, prose_with_code
from reports.options import RenderOptions
from sharing.model.history import History

ROWS = 60
CELLS = 8
MAX_CHARACTERS = 60_000  # forges refuse longer comments


def render(history: History, options: RenderOptions) -> str:
    """Blocks, parted by empty lines; the last ones are left out of a comment that would be too long."""
    blocks = [f"### {prose_with_code(verdict(history))}", *_blocks(history)]
    if options.summary:
        if history.series:
            blocks += [prose_with_code(basis_text(history)), *fold("All figures", [_table(history)])]
        said = [f"- {prose_with_code(text)}" for text in (*bisection_lines(history), *remarks(history))]
        if said:
            blocks += fold("Notes", ["\n".join(said)])
    kept: list[str] = []
    total = 0
    for block in blocks:
        total += len(block) + 2
        if total > MAX_CHARACTERS:
            kept.append("*Cut here: the whole history is in the other formats.*")
            break
        kept.append(block)
    return "\n\n".join(kept) + "\n"


def _blocks(history: History) -> Iterator[str]:
    for number, step in enumerate(history.steps):
        yield _listed(step_lines(history, step), bold=True)
        for change in history.layout_changes:
            if change.step == number:
                yield _listed(layout_lines(history, change))
    if history.best is not None:
        yield _listed(step_lines(history, history.best, suspected=True))
    alone = [c for c in history.layout_changes if c.step < 0]
    if alone:
        yield "**Changes of layout at which no step is shown**" if history.metric else "**Changes of layout**"
    for change in alone:
        yield _listed(layout_lines(history, change))


def _listed(lines: Iterator[str], *, bold: bool = False) -> str:
    first, *rest = (prose_with_code(line) for line in lines)
    return "\n".join([f"- **{first}**" if bold else f"- {first}", *(f"  - {line}" for line in rest)])


def _table(history: History) -> str:
    cells = history.series[:CELLS]
    steps = {s.between[1] for s in history.steps}
    heads = ["revision", *(labels_text(c.labels) for c in cells)]
    out = ["| " + " | ".join(code(h, in_table=True) if i else h for i, h in enumerate(heads)) + " |"]
    out.append("|---|" + "---:|" * len(cells))
    shown = [i for i in range(len(history.revisions)) if any(c.values[i] for c in history.series)]
    for i in shown[:ROWS]:
        name = code(history.revisions[i].name, in_table=True) + (" ← step" if i in steps else "")
        values = [f"{median(c.values[i]):,.6g}" if c.values[i] else "" for c in cells]
        out.append("| " + " | ".join([name, *values]) + " |")
    if len(shown) > ROWS:
        out.append(f"| {len(shown) - ROWS} more |" + " |" * len(cells))
    return "\n".join(out)
