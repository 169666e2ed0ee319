"""From a change of shift to the symbols that made it: contributions that add up exactly.

Owns the reading of the account in ``shifts``; makes objects for what is reported only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sharing.explain.identity import Ids, Objects
from sharing.explain.shifts import Account, Shifts
from sharing.model.comparison import Contribution, Share, ShiftRun
from sharing.model.image import SectionKind

_LARGEST_ALIGNMENT = 64  # bytes, of GCC on x86-64 (ix86_data_alignment): what is less may be padding at an end
MOST = 12  # named contributions of one change; the rest are added up


@dataclass(frozen=True, slots=True)
class _Parts:
    """Columns: signed bytes, what they are, and the row they belong to (on the new side unless ``old``)."""

    bytes: Ids
    share: list[Share]
    row: Ids
    old: list[bool]


def of_run(shifts: Shifts, run: int, most: int = MOST) -> tuple[Contribution, ...]:
    """Why a run's shift differs from the shift before it.  Adds up to the run's jump where it is in order."""
    record = shifts.runs[run]
    if not record["kept"] or not record["jump"]:
        return ()
    k = int(np.searchsorted(shifts.kept, record["first"]))
    return between(shifts, k - 1, k, most, lead=False)


def behind_section_start(shifts: Shifts, kept: int, most: int = MOST) -> tuple[Contribution, ...]:
    """Why a kept object moved: everything in front of it in its section, and its section's own shift.

    Adds up to its shift.
    """
    return between(shifts, -1, kept, most)


def section_shift(shifts: Shifts, pair: int) -> int:
    """How far the section that a variable is in moved as a whole."""
    row = int(shifts.matching.pairs["new"][pair])
    section = shifts.sections.get(int(shifts.matching.new.section[row]))
    return section.shift if section is not None else 0


def within_section(shifts: Shifts, kept: int, most: int = MOST) -> tuple[Contribution, ...]:
    """Why a kept object moved relative to the start of its section.  Adds up to that."""
    return between(shifts, -1, kept, most, lead=False)


def by_symbols(shifts: Shifts, contributions: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """The contributions, with what made a section in front larger in place of that section, where symbols did.

    They add up to what they added up to.  What moved in the direction of the whole comes first, named before padding.
    """
    out: list[Contribution] = []
    padding = 0
    for one in contributions:
        inside = _inside(shifts, one.name) if one.share is Share.SECTION else ()
        named = [c for c in inside if c.name and c.share is not Share.OTHERS]
        if not named:
            out.append(one)
            continue
        out += [c for c in inside if c.share is not Share.ALIGNMENT]
        rest = one.bytes - sum(c.bytes for c in inside if c.share is not Share.ALIGNMENT)
        if abs(rest) < _LARGEST_ALIGNMENT:
            padding += rest
        else:
            out.append(Contribution(Share.SECTION, one.name, rest))
    padding += sum(c.bytes for c in out if c.share is Share.ALIGNMENT)
    out = [c for c in out if c.share is not Share.ALIGNMENT]
    if padding:
        out.append(Contribution(Share.ALIGNMENT, "", padding))
    total = sum(c.bytes for c in out)
    return tuple(sorted(out, key=lambda c: (c.bytes * total < 0, not c.name, -abs(c.bytes))))


def _inside(shifts: Shifts, section: str) -> tuple[Contribution, ...]:
    """What made a section larger or smaller: all between its ends, also behind what both builds have in order."""
    objects = shifts.matching.new
    if section not in objects.words:
        return ()
    number = objects.words.index(section)
    ranges = []
    for account, side in ((shifts.old, shifts.matching.old), (shifts.new, objects)):
        of_rows = side.section[account.rows]
        first, stop = np.searchsorted(of_rows, [number, number + 1]).tolist()
        ranges.append((first, stop))
    old_range, new_range = ranges
    if old_range[0] == old_range[1] or new_range[0] == new_range[1]:
        return ()
    leading = _section_start(shifts, old_range[0], new_range[0], moved=False)
    return _contributions(shifts, leading, old_range, new_range, MOST)


def between(shifts: Shifts, first: int, last: int, most: int = MOST, *, lead: bool = True) -> tuple[Contribution, ...]:
    """What changed the distance of two kept objects, by their numbers; ``first`` -1: since the start of the section.

    ``first`` also stands for the start of the section where it is in an earlier one; then the section's own shift is
    part of the sum, unless ``lead`` is False.
    """
    old, new = shifts.matching.old, shifts.matching.new
    end_old, end_new = int(shifts.old.kept[last]), int(shifts.new.kept[last])
    start_old, start_new = (
        shifts.old.section_start(old, end_old),
        shifts.new.section_start(new, end_new),
    )
    whole = first < 0 or int(shifts.new.kept[first]) < start_new or int(shifts.old.kept[first]) < start_old
    leading: list[Contribution] = []
    if whole:
        leading = _section_start(shifts, start_old, start_new, moved=lead)
    else:
        start_old, start_new = int(shifts.old.kept[first]), int(shifts.new.kept[first])
    return _contributions(shifts, leading, (start_old, end_old), (start_new, end_new), most)


def _contributions(
    shifts: Shifts, leading: list[Contribution], old_range: tuple[int, int], new_range: tuple[int, int], most: int
) -> tuple[Contribution, ...]:
    """What came, went and grew in a stretch of both lines; ``leading`` is what lies in front of it."""
    old, new = shifts.matching.old, shifts.matching.new
    parts, padding, uncovered = _collect(shifts, old_range, new_range)
    inputs = _inputs(shifts, new_range, most)
    uncovered -= sum(c.bytes for c in inputs)
    alignment = sum(c.bytes for c in leading if c.share is Share.ALIGNMENT) + padding
    uncovered += sum(c.bytes for c in leading if c.share is Share.UNCOVERED)
    named = [c for c in leading if c.share is Share.SECTION]
    order = np.lexsort((parts.row, -np.abs(parts.bytes)))
    told = list(inputs)
    for at in order[:most].tolist():
        side = old if parts.old[at] else new
        row = int(parts.row[at])
        guessed = bool(side.inferred[row])
        told.append(
            Contribution(parts.share[at], side.label(row), int(parts.bytes[at]), side.place(row), guessed, symbols=1)
        )
    named += sorted(told, key=lambda c: -abs(c.bytes))
    rest = order[most:]
    if len(rest):
        named.append(Contribution(Share.OTHERS, f"{len(rest)} more", int(parts.bytes[rest].sum()), symbols=len(rest)))
    if alignment == -uncovered:
        alignment = uncovered = 0  # nothing moved by these two together: they say where a guess draws the border
    if alignment:
        named.append(Contribution(Share.ALIGNMENT, "", alignment))
    if uncovered:
        named.append(Contribution(_without_symbol(shifts, new_range[1] - 1), "", uncovered))
    return tuple(named)


def _without_symbol(shifts: Shifts, position: int) -> Share:
    """What bytes without a symbol are: compilers name no string literals, jump tables and merged constants."""
    section = shifts.sections.get(int(shifts.matching.new.section[shifts.new.rows[position]]))
    constant = section is not None and section.new.kind in (SectionKind.CONSTANT, SectionKind.RELRO)
    return Share.UNNAMED if constant else Share.UNCOVERED


def _section_start(shifts: Shifts, start_old: int, start_new: int, *, moved: bool) -> list[Contribution]:
    """The section's own shift, and what lies in front of its first symbol."""
    old, new = shifts.matching.old, shifts.matching.new
    row_old, row_new = int(shifts.old.rows[start_old]), int(shifts.new.rows[start_new])
    section = shifts.sections.get(int(new.section[row_new]))
    if section is None:
        distance = int(new.address[row_new]) - int(old.address[row_old])
        return [Contribution(Share.UNCOVERED, "", distance)] if distance else []
    out = [Contribution(Share.SECTION, name, size) for name, size in section.causes] if moved else []
    if section.padding and moved:
        out.append(Contribution(Share.ALIGNMENT, "", section.padding))
    fixed = old.image.synthetic or new.image.synthetic
    lead_old = int(old.address[row_old]) - (0 if old.image.synthetic else section.old.address)
    lead_new = int(new.address[row_new]) - (0 if new.image.synthetic else section.new.address)
    if fixed and old.image.synthetic != new.image.synthetic:
        return [Contribution(Share.UNCOVERED, "", int(new.address[row_new]) - int(old.address[row_old]))]
    if lead_new != lead_old:
        out.append(Contribution(Share.UNCOVERED, "", lead_new - lead_old))
    return out


def _collect(shifts: Shifts, old_range: tuple[int, int], new_range: tuple[int, int]) -> tuple[_Parts, int, int]:
    """(named contributions, alignment bytes, bytes without a symbol) of two stretches that begin and end together."""
    bytes_: list[Ids] = []
    rows: list[Ids] = []
    share: list[Share] = []
    is_old: list[bool] = []
    matching = shifts.matching
    realigned = _realigned(shifts, old_range, new_range)
    gap_old, gap_new = shifts.old.kept[realigned] - 1, shifts.new.kept[realigned] - 1
    moved_by = shifts.new.padding[gap_new] - shifts.old.padding[gap_old]
    bytes_.append(moved_by)
    rows.append(shifts.new.rows[gap_new + 1])
    is_old += [False] * len(realigned)
    share += [Share.REALIGNED] * len(realigned)
    padding = uncovered = 0
    for account, (start, end), of, told, sign, apart in (
        (shifts.old, old_range, matching.of_old, matching.absence_shows_old, -1, gap_old),
        (shifts.new, new_range, matching.of_new, matching.absence_shows_new, 1, gap_new),
    ):
        span = slice(start, end)
        pads, good = account.padding[span].copy(), account.explained[span]
        pads[apart - start] = 0
        padding += sign * int(pads[good].sum())
        uncovered += sign * int(pads[~good].sum())
        row, own = account.rows[span], account.own[span]
        loose = own != 0
        loose[_kept_within(account, start, end) - start] = False
        matched = of[row] >= 0
        # What the other side could not name is no addition and no removal.
        uncovered += sign * int(own[loose & ~matched & ~told[row]].sum())
        at = np.flatnonzero(loose & (matched | told[row]))
        bytes_.append(sign * own[at])
        rows.append(row[at])
        is_old += [sign < 0] * len(at)
        come, moved = (Share.REMOVED, Share.LEFT) if sign < 0 else (Share.ADDED, Share.ARRIVED)
        share += [moved if m else come for m in matched[at].tolist()]
    one, other, grown = _kept_pairs(shifts, new_range)
    guessed = matching.old.inferred[one] | matching.new.inferred[other]
    uncovered += int(grown[guessed].sum())
    at = np.flatnonzero((grown != 0) & ~guessed)
    bytes_.append(grown[at])
    rows.append(other[at])
    is_old += [False] * len(at)
    share += [Share.RESIZED] * len(at)
    return _Parts(np.concatenate(bytes_), share, np.concatenate(rows), is_old), padding, uncovered


def _kept_pairs(shifts: Shifts, new_range: tuple[int, int]) -> tuple[Ids, Ids, Ids]:
    """The kept objects that begin in a range: their rows on both sides, and by how much each grew."""
    first, stop = np.searchsorted(shifts.new.kept, new_range, "left").tolist()
    there, here = shifts.old.kept[first:stop], shifts.new.kept[first:stop]
    return shifts.old.rows[there], shifts.new.rows[here], shifts.new.own[here] - shifts.old.own[there]


def _inputs(shifts: Shifts, new_range: tuple[int, int], most: int) -> list[Contribution]:
    """Input sections of a linker's map that grew or shrank, each with the symbol behind whose start that is.

    A map bounds its symbols by the input section that they are in, but does not say how large they are: a change
    between two of them is a symbol's, padding for the alignment of the next, or something without a name.
    """
    old, new = shifts.matching.old, shifts.matching.new
    if len(old.image.sites) or len(new.image.sites):
        return []  # the units of a file with code do not bound what has no size
    one, other, grown = _kept_pairs(shifts, new_range)
    chosen = np.flatnonzero(
        (grown != 0) & old.inferred[one] & new.inferred[other] & (old.file[one] >= 0) & (new.file[other] >= 0)
    )
    chosen = chosen[np.argsort(-np.abs(grown[chosen]), kind="stable")[:most]]
    return [
        Contribution(Share.RESIZED, new.input_section(row), by, f"from {new.label(row)} on", symbols=1)
        for row, by in zip(other[chosen].tolist(), grown[chosen].tolist(), strict=True)
    ]


def _realigned(shifts: Shifts, old_range: tuple[int, int], new_range: tuple[int, int]) -> Ids:
    """Numbers of kept objects whose alignment changed: padding before them that only their own place explains.

    Where symbols are missing, something without one may be there as well.
    """
    if not (shifts.matching.old.complete and shifts.matching.new.complete):
        return np.zeros(0, np.int64)
    old, new = shifts.old, shifts.new
    inside = (new.kept > new_range[0]) & (new.kept <= new_range[1])
    inside &= (old.kept > old_range[0]) & (old.kept <= old_range[1])
    k = np.flatnonzero(inside)
    one, other = old.kept[k] - 1, new.kept[k] - 1
    fits = (old.explained[one] | old.by_place[one]) & (new.explained[other] | new.by_place[other])
    changed = (old.by_place[one] | new.by_place[other]) & (old.padding[one] != new.padding[other])
    chosen: Ids = k[fits & changed]
    return chosen


def _kept_within(account: Account, start: int, end: int) -> Ids:
    kept = account.kept
    return kept[np.searchsorted(kept, start, "left") : np.searchsorted(kept, end, "left")]


def describe_run(shifts: Shifts, run: int, most: int = MOST) -> ShiftRun:
    """One run for the report."""
    record = shifts.runs[run]
    new = shifts.matching.new
    rows = shifts.matching.pairs["new"][shifts.order[record["first"] : record["first"] + record["count"]]]
    first, last = int(rows[0]), int(rows[-1])
    return ShiftRun(
        section=new.section_name(first),
        shift=int(record["shift"]),
        jump=int(record["jump"]),
        variables=int(record["count"]),
        first=new.label(first),
        last=new.label(last),
        start=f"{_address(new, first):#x}",
        end=f"{_address(new, last) + int(new.size[last]):#x}",
        in_order=bool(record["kept"]),
        contributions=of_run(shifts, run, most),
    )


def _address(objects: Objects, row: int) -> int:
    return int(objects.image.variables["address"][row])
