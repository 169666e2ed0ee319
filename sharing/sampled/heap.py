"""Which allocation an address belonged to at a moment, and who made it.

Owns the lifetimes.  Where a frame's code comes from is for the caller to say (``Frames``), as is how an allocation is
called in a report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sharing.model.heap import BEGINS, NOTE_DTYPE, Notes

MAX_STACK = 4  # frames that a report shows
_ALLOCATOR = re.compile(r"alloc|operator new|strn?dup|\bnew_?object", re.IGNORECASE)
_STANDARD = ("std::", "__gnu_cxx::")  # instances of C++'s templates are in the program's own file
# One object behind its counts of references (C++ [util.smartptr.shared.create], Rust's ArcInner); arrays have brackets.
_SINGLE = re.compile(
    r"\b(?:make|allocate)_shared(?:_for_overwrite)?<(?![^()]*\[)"
    r"|\balloc::(?:sync::Arc|rc::Rc)<(?!\[).{1,500}>::(?:try_)?(?:new|pin)(?:_cyclic)?\b"
)
LARGE_SPAN = 32 << 10  # bytes of an allocation
_NEVER = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Frame:
    """Code that was on the stack when memory was allocated; ``source`` is file:line:column, "" unknown."""

    function: str
    source: str = ""
    target: bool = False  # of the binary that is judged
    gives_memory: bool = False  # it passes on memory without knowing what it is for

    @property
    def text(self) -> str:
        return f"{self.function} ({self.source})" if self.source else self.function


Frames = Callable[[int, Sequence[int], int], Sequence[Frame]]  # process, return addresses, time


@dataclass(frozen=True, slots=True)
class Allocation:
    """``size`` bytes from ``address`` on; ``age_s`` when it was sampled; ``stack`` from the allocator's caller on."""

    address: int
    size: int
    age_s: float
    stack: tuple[Frame, ...]
    alike: int = 1  # allocations of that size from there that were noted

    @property
    def site(self) -> Frame:
        """Who wanted the memory: the first of the judged binary that is no allocator, nor of C++'s library."""
        own = [frame for frame in self.stack if frame.target] or list(self.stack)
        named = [frame for frame in own if not _ALLOCATOR.search(frame.function)]
        asks = [frame for frame in named if not _is_standard(frame.function)]
        # Outermost is who knows best, or the stack ended before.
        return next((frame for frame in asks if not frame.gives_memory), (asks or named or own)[0])

    @property
    def name(self) -> str:
        """``block of 64 bytes from open_channel``."""
        return f"block of {self.size} byte{'s' if self.size != 1 else ''} from {self.site.function}"

    @property
    def single(self) -> bool:
        """Whether it holds one object, though it is larger."""
        return any(_SINGLE.search(frame.function) for frame in self.stack)

    @property
    def text(self) -> str:
        """The allocation in a sentence of evidence."""
        at = next(i for i, frame in enumerate(self.stack) if frame is self.site)
        callers = self.stack[at : at + MAX_STACK]
        last = max((i for i, frame in enumerate(callers) if frame.target and frame.function != "_start"), default=0)
        path = " ← ".join(frame.text for frame in callers[: last + 1])
        more = f"; {self.alike} of that size from there were noted" if self.alike > 1 else ""
        return f"{self.size} bytes at {self.address:#x}, {self.age_s:.3g} s old when sampled, allocated in {path}{more}"


def _is_standard(function: str) -> bool:
    """Of C++'s library by its own name: an instance of a template is told with what it returns in front."""
    depth = begin = 0
    for at, letter in enumerate(function):
        depth += (letter in "<([") - (letter in ">)]")
        if letter == " " and depth == 0:
            begin = at + 1
    return function[begin:].startswith(_STANDARD)


class Allocations:
    """All allocations of one recording by address and time."""

    def __init__(self, notes: Notes, frames: Frames) -> None:
        rows = notes.rows
        begins = np.flatnonzero(rows["kind"] == BEGINS)
        until = _ends(rows, begins)
        # Small ones by address: those that may hold one are neighbours.  Large ones are few, and looked at all.
        small = rows["size"][begins] < LARGE_SPAN
        order = np.concatenate(
            [np.flatnonzero(small)[np.argsort(rows["address"][begins[small]], kind="stable")], np.flatnonzero(~small)]
        )
        self._small = int(small.sum())
        self._rows, self._until = rows[begins[order]], until[order]
        with np.errstate(over="ignore"):
            end = self._rows["address"] + np.maximum(self._rows["size"], 1)
        self._end = np.where(end < self._rows["address"], np.uint64(_NEVER), end)
        self._frames = frames
        self._stacks: dict[tuple[int, ...], tuple[Frame, ...]] = {}

    def at(self, pid: int, address: int, time: int) -> Allocation | None:
        """The latest allocation of a process that holds the address at that time."""
        rows = self._rows
        low, high = np.searchsorted(
            rows["address"][: self._small], np.array([max(address - LARGE_SPAN, 0), address], np.uint64), "right"
        )
        first = 0 if address < LARGE_SPAN else int(low)
        near = np.concatenate([np.arange(first, int(high)), np.arange(self._small, len(rows))])
        few = rows[near]
        here = (few["pid"] == pid) & (few["address"] <= address) & (address < self._end[near])
        here &= (few["time"] <= time) & (time < self._until[near])
        if not here.any():
            return None
        row = few[here][int(np.argmax(few["time"][here]))]
        stack = tuple(int(one) for one in row["stack"][: int(row["frames"])])
        if stack not in self._stacks:
            self._stacks[stack] = tuple(self._frames(pid, stack, time))
        if not self._stacks[stack]:
            return None
        alike = (rows["size"] == row["size"]) & (rows["stack"] == row["stack"]).all(axis=1)
        age_s = (time - int(row["time"])) / 1e9
        return Allocation(int(row["address"]), int(row["size"]), age_s, self._stacks[stack], int(alike.sum()))


def _ends(
    rows: np.ndarray[tuple[int, ...], np.dtype[np.void]], begins: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Until when each allocation lasts: it is freed, its address is given out again, or the end of the recording."""
    assert rows.dtype == NOTE_DTYPE
    until = np.full(len(begins), _NEVER, np.uint64)
    number = {int(row): i for i, row in enumerate(begins.tolist())}
    live: dict[tuple[int, int], int] = {}
    columns = zip(rows["pid"].tolist(), rows["address"].tolist(), rows["time"].tolist(), strict=True)
    for at, (pid, address, time) in enumerate(columns):
        before = live.pop((pid, address), -1)
        if before >= 0:
            until[before] = time
        if at in number:
            live[pid, address] = number[at]
    return until
