"""Code that runs once and is what a thread lives in: ``if (!started) { started = 1; for (;) serve(); }``.

Owns which stretches of such code these are.  Who comes there a second time turns back, and the first one stays: how
often its loops go round has nothing to do with how often they are come to.  What a thread prepares once before it goes
on to its loop is none of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import FunctionFlag, Image, Table
from sharing.static.callees import functions_called
from sharing.static.executions import in_loop
from sharing.static.roots import main_roots
from sharing.static.starts import created

Bools = npt.NDArray[np.bool_]
Addresses = npt.NDArray[np.uint64]


def prepared_once(image: Image, knowledge: Knowledge | None, once: Addresses) -> Addresses:
    """``once``, [begin, end) of code that runs once, without what an entry of a thread has all of its loops in.

    Loops of functions that an entry calls are its own as well.  One that other code calls is left alone: of that who
    comes second goes on.  Without ``knowledge`` no entry is known.
    """
    if knowledge is None or not len(once):
        return once
    lives = _with_loops_there_alone(image, once)
    if not len(lives):
        return once
    roots, _ = created(image, knowledge, {root.function for root in main_roots(image)})
    lives = lives[among(lives, [root.function for root in roots])]
    if not len(lives):
        return once
    starts, sizes = image.functions["address"], image.functions["size"]
    of = np.searchsorted(starts, once[:, 0], "right") - 1
    kept: Addresses = once[~(among(of, lives) & (once[:, 0] < starts[of] + np.maximum(sizes[of], 1)))]
    return kept


def _with_loops_there_alone(image: Image, once: Addresses) -> npt.NDArray[np.int64]:
    """Functions that nothing calls and that have loops, or call what has some, in these stretches and nowhere else."""
    n = len(image.functions)
    tables = image.sites, image.behind.elsewhere, image.params, image.calls
    loops = np.zeros(n + 1, bool)
    for table in tables:
        looped = in_loop(table["loop_depth"])
        loops[table["function"][looped]] = True
    loops[n] = False  # of what is in no function
    there, elsewhere = np.zeros(n + 1, bool), np.zeros(n + 1, bool)
    for table in tables:
        rows = np.flatnonzero(in_loop(table["loop_depth"]))
        _note(picked(table, rows), once, there, elsewhere)
    called = functions_called(image)
    _note(picked(image.calls, loops[called]), once, there, elsewhere)
    taken = (image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN) != 0
    alone = there[:n] & ~elsewhere[:n] & taken
    alone[distinct(called[called >= 0])] = False
    return np.flatnonzero(alone)


def _note(rows: Table, once: Addresses, there: Bools, elsewhere: Bools) -> None:
    order = np.argsort(once[:, 0])
    begins, ends = once[order, 0], np.maximum.accumulate(once[order, 1])
    at = np.searchsorted(begins, rows["ip"], "right") - 1
    inside = (at >= 0) & (rows["ip"] < ends[at])
    there[rows["function"][inside]] = True
    elsewhere[rows["function"][~inside]] = True
