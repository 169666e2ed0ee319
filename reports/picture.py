"""A line byte by byte as characters: who owns each byte and which are hot.

Owns the letters and the legend that every emitter shares; colours and layout are the emitters'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from string import ascii_lowercase

import msgspec

from sharing.model import LinePicture, Participant, Slice

ROW_BYTES = 64
GROUP_BYTES = 8
PADDING = "."
UNKNOWN = "?"
HOLE = "-"
_UNOWNED = {"": PADDING, UNKNOWN: UNKNOWN, HOLE: HOLE}  # Slice.owner to the character that stands for it


# Two file-static variables of one name may share a line: only name and letter together tell owners apart.
Owner = tuple[str, str]


class Cell(msgspec.Struct, frozen=True):
    """One byte: the character that stands for it, its owner, and whether it is hot."""

    char: str
    owner: Owner
    hot: bool


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One owner in a picture.  ``ranges`` and ``hot`` are [start, end) offsets within the line."""

    mark: str
    owner: Owner
    ranges: tuple[tuple[int, int], ...]
    hot: tuple[tuple[int, int], ...]
    participant: Participant | None


def marks(picture: LinePicture) -> dict[Owner, str]:
    """A lower-case letter for each owner: the slice's own mark where that is a letter, else a free one."""
    named = [owner_of(piece) for piece in picture.slices if _is_named(piece)]
    given = {owner: owner[1] for owner in named if owner[1]}
    free = [letter for letter in ascii_lowercase if letter not in given.values()] or list(ascii_lowercase)
    nameless = list(dict.fromkeys(owner for owner in named if owner not in given))
    given.update((owner, free[number % len(free)]) for number, owner in enumerate(nameless))
    return {owner: given[owner] for owner in dict.fromkeys(named)}


def owner_of(piece: Slice) -> Owner:
    """The identity of a slice's owner within its picture."""
    mark = piece.mark.lower()
    return piece.owner, mark if len(mark) == 1 and mark in ascii_lowercase else ""


def cells(picture: LinePicture) -> list[Cell]:
    """One cell per byte of the line, in order: upper case is hot, lower case cold."""
    letters = marks(picture)
    out: list[Cell] = []
    for piece in picture.slices:
        char = _UNOWNED.get(piece.owner, "")
        if not char:
            letter = letters[owner_of(piece)]
            char = letter.upper() if piece.hot else letter
        out.extend([Cell(char, owner_of(piece), piece.hot)] * (piece.end - piece.start))
    return out


def rows(picture: LinePicture) -> Iterator[tuple[int, list[list[Cell]]]]:
    """(offset of the first byte, groups of eight cells) for each row of at most 64 bytes."""
    line = cells(picture)
    for first in range(0, len(line), ROW_BYTES):
        row = line[first : first + ROW_BYTES]
        yield first, [row[at : at + GROUP_BYTES] for at in range(0, len(row), GROUP_BYTES)]


def ruler(first: int, groups: int) -> str:
    """Decimal offsets above the groups of a row that begins at byte ``first``."""
    return "".join(f"{first + at * GROUP_BYTES:<{GROUP_BYTES + 1}}" for at in range(groups)).rstrip()


def plain_rows(picture: LinePicture) -> list[str]:
    """The picture as text: rulers and bordered rows of at most 64 bytes."""
    out: list[str] = []
    for first, groups in rows(picture):
        out.append(f" {ruler(first, len(groups))}")
        out.append("|" + "|".join("".join(cell.char for cell in group) for group in groups) + "|")
    return out


def legend(picture: LinePicture, participants: Sequence[Participant]) -> list[LegendEntry]:
    """One entry per owner, in the order of their first byte; padding and unknown bytes come last."""
    letters = marks(picture)
    pieces: dict[Owner, list[Slice]] = {}
    for piece in picture.slices:
        pieces.setdefault(owner_of(piece), []).append(piece)
    entries: list[LegendEntry] = []
    for owner, owned in pieces.items():
        if owner in letters:
            hot = _merge([(p.start, p.end) for p in owned if p.hot])
            ranges = _merge([(p.start, p.end) for p in owned])
            entries.append(LegendEntry(letters[owner], owner, ranges, hot, None))
    described = _participants(picture, entries, participants)
    entries = [replace(entry, participant=described.get(entry.owner)) for entry in entries]
    for name, mark in _UNOWNED.items():
        if (name, "") in pieces:
            ranges = _merge([(p.start, p.end) for p in pieces[name, ""]])
            entries.append(LegendEntry(mark, (name, ""), ranges, (), None))
    return entries


def _participants(
    picture: LinePicture, entries: Sequence[LegendEntry], participants: Sequence[Participant]
) -> dict[Owner, Participant]:
    """For each participant the one entry that shows it: by name and address, else a hot one of its members."""
    line = int(picture.address, 16)
    out: dict[Owner, Participant] = {}
    for participant in participants:
        start = int(participant.address, 16) - line
        inside = [
            entry
            for entry in entries
            if entry.owner not in out
            and any(start <= first and last <= start + participant.size for first, last in entry.ranges)
            and entry.owner[0].startswith(participant.name)
        ]
        if inside:
            best = min(inside, key=lambda entry: (entry.owner[0] != participant.full_name, not entry.hot))
            out[best.owner] = participant
    return out


def label(owner: Owner) -> str:
    """The owner's name as in the binary, or what bytes without one are."""
    return {"": "padding", UNKNOWN: "unknown", HOLE: "hole"}.get(owner[0], owner[0])


def runs(group: Sequence[Cell]) -> Iterator[tuple[Cell, str]]:
    """(first cell, characters) for each run of equal cells, so that a colour is set once per run."""
    for _, run in groupby(group, key=lambda cell: (cell.owner, cell.hot)):
        same = list(run)
        yield same[0], "".join(cell.char for cell in same)


def _is_named(piece: Slice) -> bool:
    return piece.owner not in _UNOWNED


def _merge(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
