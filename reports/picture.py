"""A line byte by byte as characters: who owns each byte and which are hot.

Owns the letters and the legend that every emitter shares; colours and layout are the emitters'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from string import ascii_lowercase

from sharing.model import LinePicture, Participant, Slice

ROW_BYTES = 64
GROUP_BYTES = 8
PADDING = "."
UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Cell:
    """One byte: the character that stands for it, its owner as in ``Slice.owner``, and whether it is hot."""

    char: str
    owner: str
    hot: bool


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One owner in a picture.  ``ranges`` and ``hot`` are [start, end) offsets within the line."""

    mark: str
    owner: str
    ranges: tuple[tuple[int, int], ...]
    hot: tuple[tuple[int, int], ...]
    participant: Participant | None


def marks(picture: LinePicture) -> dict[str, str]:
    """A lower-case letter for each owner, the slice's own mark where it is one; letters repeat after 26 owners."""
    given: dict[str, str] = {}
    for piece in picture.slices:
        mark = piece.mark.lower()
        if _is_named(piece) and piece.owner not in given and mark in ascii_lowercase and len(mark) == 1:
            given[piece.owner] = mark
    free = [letter for letter in ascii_lowercase if letter not in given.values()] or list(ascii_lowercase)
    taken = 0
    for piece in picture.slices:
        if _is_named(piece) and piece.owner not in given:
            given[piece.owner] = free[taken % len(free)]
            taken += 1
    return given


def cells(picture: LinePicture) -> list[Cell]:
    """One cell per byte of the line, in order: upper case is hot, lower case cold."""
    letters = marks(picture)
    out: list[Cell] = []
    for piece in picture.slices:
        if piece.owner == "":
            char = PADDING
        elif piece.owner == UNKNOWN:
            char = UNKNOWN
        else:
            char = letters[piece.owner].upper() if piece.hot else letters[piece.owner]
        out.extend([Cell(char, piece.owner, piece.hot)] * (piece.end - piece.start))
    return out


def rows(picture: LinePicture) -> Iterator[tuple[int, list[list[Cell]]]]:
    """(offset of the first byte, groups of eight cells) for each row of at most 64 bytes."""
    line = cells(picture)
    for first in range(0, len(line), ROW_BYTES):
        row = line[first : first + ROW_BYTES]
        yield first, [row[at : at + GROUP_BYTES] for at in range(0, len(row), GROUP_BYTES)]


def plain_rows(picture: LinePicture) -> list[str]:
    """The picture as text: a ruler of decimal offsets and one bordered row per 64 bytes."""
    out: list[str] = []
    for first, groups in rows(picture):
        ruler = "".join(f"{first + at * GROUP_BYTES:<{GROUP_BYTES + 1}}" for at in range(len(groups)))
        out.append(f" {ruler.rstrip()}")
        out.append("|" + "|".join("".join(cell.char for cell in group) for group in groups) + "|")
    return out


def legend(picture: LinePicture, participants: Sequence[Participant]) -> list[LegendEntry]:
    """One entry per owner, in the order of their first byte; padding and unknown bytes come last."""
    letters = marks(picture)
    by_name = {participant.name: participant for participant in participants}
    pieces: dict[str, list[Slice]] = {}
    for piece in picture.slices:
        pieces.setdefault(piece.owner, []).append(piece)
    entries = [
        LegendEntry(
            letters[owner],
            owner,
            _merge([(p.start, p.end) for p in owned]),
            _merge([(p.start, p.end) for p in owned if p.hot]),
            by_name.get(owner),
        )
        for owner, owned in pieces.items()
        if owner not in ("", UNKNOWN)
    ]
    for owner, mark in (("", PADDING), (UNKNOWN, UNKNOWN)):
        if owner in pieces:
            entries.append(LegendEntry(mark, owner, _merge([(p.start, p.end) for p in pieces[owner]]), (), None))
    return entries


def runs(group: Sequence[Cell]) -> Iterator[tuple[Cell, str]]:
    """(first cell, characters) for each run of equal cells, so that a colour is set once per run."""
    for _, run in groupby(group, key=lambda cell: (cell.owner, cell.hot)):
        same = list(run)
        yield same[0], "".join(cell.char for cell in same)


def _is_named(piece: Slice) -> bool:
    return piece.owner not in ("", UNKNOWN)


def _merge(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
