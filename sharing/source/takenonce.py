"""What runs once because it runs where a word of static storage was found to be zero, and is so for good no more.

Owns which events of source these are: ``if (!started.exchange(true)) begin();``.  They are told as the reader of code
tells them, as ranges in which the function holds a word that it took.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.knowledge.locks import SPIN_LOCK
from sharing.model.facts import AccessFlag, Base, FunctionFacts
from sharing.model.image import ZERO_RANGE_DTYPE, Table, ZeroRange
from sharing.source.addressing import AddressSpace
from sharing.source.events import EVENT_BYTES, FactRows
from sharing.source.locksets import Words
from sharing.source.program import Defined, Program


def taken_once(
    program: Program,
    functions: list[Defined[FunctionFacts]],
    events: list[tuple[FactRows, npt.NDArray[np.uint64]]],
    space: AddressSpace,
    for_good: Words,
) -> Table:
    """Rows of HELD and TAKES for words that are taken ``for_good``.

    ``events``: accesses, and what else has a lockset, each with its addresses.
    """
    found: list[tuple[int, int, int, ZeroRange]] = []  # a function, address of an instruction, of a word, what is so
    for row, of in enumerate(functions if for_good else ()):
        symbols, sets = program.units[of.unit].symbols, of.facts.locksets
        words = {
            number: (symbols[lock.id], lock.offset)
            for number, lock in enumerate(of.facts.locks)
            if lock.row == SPIN_LOCK and lock.base == Base.VARIABLE and 0 <= lock.id < len(symbols)
        }
        words = {number: word for number, word in words.items() if word in for_good and space.variables.get(word[0])}
        if not words:
            continue
        for rows, ips in events:
            here = slice(*rows.first[row : row + 2].tolist())
            for ip, held in zip(ips[here].tolist(), rows["lockset"][here].tolist(), strict=True):
                for number in sets[held] if 0 <= held < len(sets) else ():
                    if number in words:
                        found.append((row, ip, _place(space, words[number]), ZeroRange.HELD))
        accesses, ips = events[0]
        here = slice(*accesses.first[row : row + 2].tolist())
        columns = (accesses[name][here].tolist() for name in ("base", "id", "offset", "flags"))
        for ip, base, symbol, offset, flags in zip(ips[here].tolist(), *columns, strict=True):
            is_word = base == Base.VARIABLE and 0 <= symbol < len(symbols) and flags & AccessFlag.TAKES
            if is_word and (symbols[symbol], offset) in words.values():
                found.append((row, ip, _place(space, (symbols[symbol], offset)), ZeroRange.TAKES))
    return _table(found)


def _place(space: AddressSpace, word: tuple[str, int]) -> int:
    return space.variables[word[0]] + word[1]


def _table(found: list[tuple[int, int, int, ZeroRange]]) -> Table:
    table = np.zeros(len(found), ZERO_RANGE_DTYPE)
    for at, (row, ip, place, what) in enumerate(found):
        table[at] = (place, ip, ip + EVENT_BYTES, row, 1, int(what), 0)
    return table
