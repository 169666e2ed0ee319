"""The edit that helps a sampled line: of a variable, of what is allocated, of an object on a stack; or none.

Owns the wording for memory without a declaration.  Static variables have theirs in ``sharing.judge.remedy``.
"""

from __future__ import annotations

from sharing.judge.remedy import Style, remedy
from sharing.model.attribution import Region
from sharing.model.finding import Remedy
from sharing.rules.sampled.base import SampledDraft, SampledLine, walks


def remedies(draft: SampledDraft, line: SampledLine, style: Style) -> tuple[Remedy, ...]:
    """None for true sharing and contention, and for lines of structures that padding would blow up."""
    if not draft.separate or walks(line):
        return ()
    actors = [line.actors[i] for i in draft.separate]
    if line.use.link >= 0 and line.use.target:
        inside = len({line.actors[i].owner for i in draft.items}) == 1
        others = tuple(line.actors[i].name for i in draft.items)
        return tuple(dict.fromkeys(remedy(actor, style, inside=inside, others=others) for actor in actors))
    if line.use.link >= 0:
        return ()  # a library's variable: its sources are not at hand
    size = style.line_size
    first = line.items[draft.separate[0]]
    writers = ", ".join(dict.fromkeys(t.function for t in first.touches if t.writes)) or "its users"
    align = style.macro or f"alignas({size})"
    cost = 2 * size - (first.end - first.start)
    if line.use.region is Region.STACK:
        return (
            Remedy(
                kind="align-local",
                text=f"give each object on the stack that is handed to a thread lines of its own (used by {writers})",
                edit=f"struct {align} Own {{ T value; }};  // T: the type it has now; sizeof is a multiple of {size}",
                language="C/C++",
                cost_bytes=cost,
                breaks_abi=False,
                protects_tail=True,
            ),
        )
    aligned = "aligned_alloc, mmap or an aligned operator new"
    return (
        Remedy(
            kind="pad-allocation",
            text=(
                f"align and round up to {size} bytes the type that {writers} use here (the part at bytes "
                f"{first.start}–{first.end - 1} of the line), and allocate it with {aligned}"
            ),
            edit=f"struct {align} Own {{ T value; }};  // T: the member or element that one thread writes",
            language="C/C++",
            cost_bytes=cost,
            breaks_abi=False,
            protects_tail=True,
        ),
    )
