"""The processes of the system as ``/proc`` has them: which came from which.

Owns reading that table, in which processes come and go.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

import msgspec

_MOST_MAPS_BYTES = 16 << 20
_CODE = re.compile(rb"[0-9a-f]+-[0-9a-f]+ ..x. [0-9a-f]+ [0-9a-f:]+ [1-9][0-9]*\s+(/.*)")


class Process(msgspec.Struct, frozen=True):
    pid: int
    parent: int
    group: int
    lives: bool  # it is more than a zombie that nobody waits for


def processes() -> Iterator[Process]:
    """All that are there."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                # Behind the command's name, which may hold anything: state, parent, group.
                state, parent, group = file.read().rpartition(b") ")[2].split()[:3]
                yield Process(int(name), int(parent), int(group), state not in (b"Z", b"X"))


def descendants(pid: int) -> list[int]:
    """The living processes that came from one, in the order of their numbers."""
    children: dict[int, list[int]] = {}
    for process in processes():
        if process.lives:
            children.setdefault(process.parent, []).append(process.pid)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        mine = children.pop(waiting.pop(), [])
        found += mine
        waiting += mine
    return sorted(found)


def files_with_code(pid: int) -> list[str]:
    """The files that a process maps code of, as this process opens them, and each once.  Raises OSError."""
    with open(f"/proc/{pid}/maps", "rb") as file:
        lines = file.read(_MOST_MAPS_BYTES).splitlines()
    names = dict.fromkeys(found[1] for line in lines if (found := _CODE.match(line)))
    return [f"/proc/{pid}/root{os.fsdecode(name)}" for name in names]
