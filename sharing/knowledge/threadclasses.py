"""Classes of libraries that run a virtual function of theirs on a thread: ``threadclasses.json``.

Owns the table: the type information of the class, as its symbol is called, and the number of the function in the table
of virtual functions.  Names of such functions, where a file has them, are the vocabulary's.
"""

from __future__ import annotations

import functools

import msgspec

from sharing.knowledge import read_table


class ThreadClass(msgspec.Struct, frozen=True):
    """One class: whatever derives from it has its function at this ``slot`` run on a thread.

    ``is_thread``: one object is one thread at a time; else threads of a pool run parts of what it stands for.
    ``made_to_start``: the library makes one of what it is handed, as the last thing before it starts the thread.
    ``source`` says who knows.
    """

    library: str
    typeinfo: str
    slot: int
    source: str
    is_thread: bool = False
    made_to_start: bool = False


@functools.cache
def thread_classes() -> tuple[ThreadClass, ...]:
    return read_table("threadclasses.json", tuple[ThreadClass, ...])
