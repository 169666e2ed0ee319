"""One pair of variables of two builds: why it came onto one line, or off it.

Owns finding the pair by the names that somebody gave, whether its variables are busy or not.  The sentence is
``layout``'s.
"""

from __future__ import annotations

import numpy as np

from sharing.explain.causes.base import Builds
from sharing.explain.causes.layout import told_of
from sharing.explain.identity import Objects
from sharing.explain.linepairs import LinePair
from sharing.model.comparison import LineMates
from sharing.model.linkage import as_written


def of_pair(builds: Builds, names: tuple[str, str], *, parted: bool) -> str:
    """Why the two met in the new build, or ``parted`` there; "" where nothing that is known says so."""
    first, second = map(as_written, names)
    met = builds.lost if parted else builds.gained
    for pair in met.pairs:
        one, other = pair.mates.first, pair.mates.second
        if (_is(one, first) and _is(other, second)) or (_is(one, second) and _is(other, first)):
            return told_of(builds, pair, improves=parted)
    lead = _whole(builds, (first, second), parted=parted)
    return told_of(builds, lead, improves=parted) if lead is not None else ""


def _is(name: str, wanted: str) -> bool:
    """Is it the variable or member, part of it, or what it is a member of, as of what the other build wraps?"""
    short, long = sorted((name, wanted), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[+")


def _whole(builds: Builds, names: tuple[str, str], *, parted: bool) -> LinePair | None:
    """The two variables as they are on a line of the build where they share one, None unless both builds have both."""
    objects = builds.variables.old if parted else builds.variables.new
    of = builds.variables.of_old if parted else builds.variables.of_new
    rows = [_row(objects, name) for name in names]
    if min(rows) < 0 or rows[0] == rows[1] or min(int(of[row]) for row in rows) < 0:
        return None
    one, other = (_lines(objects, row, builds.line_size) for row in rows)
    shared = range(max(one.start, other.start), min(one.stop, other.stop))
    if not shared:
        return None
    line, labels = shared[0] * builds.line_size, [objects.label(row) for row in rows]
    mates = LineMates(labels[0], labels[1], f"{line:#x}", builds.line_size, (0, 0), (0, 0))
    return LinePair(mates, (rows[0], rows[1]), None, matched=True, together=False)


def _row(objects: Objects, name: str) -> int:
    """The one named variable that is called so, or that this is a member of; -1 none."""
    found = [row for row in np.flatnonzero(objects.named).tolist() if objects.label(row) == name]
    if len(found) == 1:
        return int(found[0])
    outer = name.rpartition(".")[0]
    return _row(objects, outer) if outer and not found else -1


def _lines(objects: Objects, row: int, line_size: int) -> range:
    start = int(objects.address[row])
    return range(start // line_size, (start + max(int(objects.size[row]), 1) - 1) // line_size + 1)
