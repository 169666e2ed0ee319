"""What a program shows of threads beside calls by name: system calls, functions looked up by name, code that it loads.

Owns these facts as values.  What they mean is ``sharing.static.kernelstarts``'s matter.
"""

from __future__ import annotations

import msgspec

UNKNOWN_FLAGS = -1
UNKNOWN_NAME = ""

# A child with CLONE_VM shares its parent's memory; with CLONE_VFORK as well the parent sleeps until it is gone.
CLONE_VM, CLONE_VFORK = 0x100, 0x4000


class CloneCall(msgspec.Struct, frozen=True):
    """An instruction that may be clone or clone3: a system call of that number.

    ``handed``: the number is the function's own first argument, so that its callers decide what it is.
    """

    ip: int
    flags: int = UNKNOWN_FLAGS
    handed: bool = False


class ThreadSigns(msgspec.Struct, frozen=True):
    """Of a program; of other files all is empty.

    ``numbers`` are clone's and clone3's on this architecture.  ``thread_flags`` and ``spawn_flags``: the code holds the
    flags by which C libraries start a thread, and those by which they start a program (posix_spawn).  ``looked_up``
    are names of functions that start threads, as texts of a program that looks functions up by name.  ``loaded`` are
    the files that it loads itself (dlopen), UNKNOWN_NAME for a name that is made at run time.  ``weak`` are imports
    that may be missing.  ``sections`` are addresses of calls by which a thread learns which sections of a parallel
    region are its.
    """

    clones: tuple[CloneCall, ...] = ()
    numbers: tuple[int, ...] = ()
    thread_flags: bool = False
    spawn_flags: bool = False
    looked_up: frozenset[str] = frozenset()
    loaded: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()
    sections: frozenset[int] = frozenset()


def shares_memory(flags: int) -> bool:
    """Does a child with these flags of clone run beside its parent, in its memory?  Of unknown ones it may."""
    return flags == UNKNOWN_FLAGS or (flags & CLONE_VM != 0 and flags & CLONE_VFORK == 0)
