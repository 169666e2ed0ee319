"""Edits of several plans at once: each edit once, and none that overlaps another.

Owns the rule that edits never overlap, and how those of neighbours in one declaration (``static long a, b;``) become
one.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sharing.fix.plan import Part, Plan, overlap
from sharing.model.finding import SourceEdit


def combine(plans: Iterable[tuple[str, Plan]]) -> tuple[tuple[SourceEdit, ...], tuple[tuple[str, str], ...]]:
    """Edits of several plans; and (name, reason) of plans left out because they overlap others.

    Plans come in order of importance: of two that overlap, the first is kept.
    """
    kept = _Kept()
    left_out: list[tuple[str, str]] = []
    for name, plan in plans:
        reason = kept.add(name, plan)
        if reason:
            left_out.append((name, reason))
    return kept.edits(), tuple(left_out)


class _Kept:
    """What is written: by file, each edit with the plan that it is of and the part of a declaration that it is."""

    def __init__(self) -> None:
        self._made: set[SourceEdit] = set()  # as planned, those that were joined too
        self._files: dict[str, list[tuple[SourceEdit, str, Part | None]]] = {}

    def add(self, name: str, plan: Plan) -> str:
        """Take a plan; or the reason why not, with nothing changed."""
        parts = {part.edit: part for part in plan.parts}
        fresh = [edit for edit in plan.edits if edit not in self._made]
        files = {edit.file: list(self._files.get(edit.file, ())) for edit in fresh}
        for edit in fresh:
            known = files[edit.file]
            met = [one for one in known if overlap(edit, one[0])]
            part = parts.get(edit)
            for _, owner, other in sorted(met, key=lambda one: one[0].begin):
                part = _joined(part, other) if part is not None and other is not None else None
                if part is None:
                    return f"its edit at {edit.file}:{edit.line} overlaps that of {owner}"
            files[edit.file] = [one for one in known if one not in met]
            files[edit.file].append((edit if part is None else part.edit, name, part))
        self._files.update(files)
        self._made.update(fresh)
        return ""

    def edits(self) -> tuple[SourceEdit, ...]:
        every = (edit for known in self._files.values() for edit, _, _ in known)
        return tuple(sorted(every, key=lambda edit: (edit.file, edit.begin, edit.end)))


def _joined(one: Part, other: Part) -> Part | None:
    """Two neighbours of one declaration as one edit, without the gap that both replace; None where they are none."""
    first, second = sorted((one, other), key=lambda part: part.first)
    if first.statement != second.statement or first.last + 1 != second.first:
        return None
    end = len(first.edit.replacement) - first.again
    edit = msgspec.structs.replace(
        first.edit,
        end=second.edit.end,
        replacement=first.edit.replacement[:end] + second.edit.replacement.removeprefix(";"),
        end_line=second.edit.end_line,
        end_column=second.edit.end_column,
    )
    return Part(edit, first.statement, first.first, second.last, second.again)
