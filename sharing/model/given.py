"""What a thread is handed by a way that no call shows, as a closure or a record hands it on."""

from __future__ import annotations

import msgspec


class Given(msgspec.Struct, frozen=True):
    """A function that a thread runs, and the object that it is handed as an argument, by a way that no call shows."""

    ip: int  # of the call that makes the closure, or starts the thread
    entry: int  # address of the function
    parameter: int
    data: int  # an address, or as the target of a site behind a pointer; 0 none, or not always the same
    caller: int = 0  # address of the closure's function, which calls it
    alone: bool = False  # of all threads that the call starts one alone runs it
    is_whole: bool = False  # ``caller`` does nothing else, whoever makes such a closure
    stride: int = 0  # bytes between elements of an array, of which each thread is handed another; 0 one object
