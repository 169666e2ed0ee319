"""Threads that no call of a known function starts: system calls, functions looked up by name, and loaded code.

Owns what these signs mean (``sharing.model.threadsigns`` says what they are), and which calls of clone make a process.
Which functions threads run is ``starts``'s.
"""

from __future__ import annotations

import fnmatch

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, those_having
from sharing.knowledge.runtimes import needed_threads
from sharing.model.arrays import among, picked
from sharing.model.image import ArgKind, Image, SlotKind
from sharing.model.threadsigns import UNKNOWN_FLAGS, UNKNOWN_NAME, CloneCall, shares_memory
from sharing.static.callees import function_name

_SYSCALL = frozenset({"syscall", "__syscall"})
_FLAGS_ARGUMENT = 2
_BEHIND_FRAME = 64  # bytes of code

# Functions of C libraries that hold the system call: who calls them says what it is for.
CLONES = frozenset({"clone", "__clone"})
HOLDERS = CLONES | {"__clone2", "clone3", "__clone3", "__clone_internal", "__clone_internal_fallback"}
# Without this argument (NULL) nothing calls back on a thread.
_EVENT_ARGUMENT = {"timer_create": 1, "mq_notify": 1}
# These make a process.
_PROCESSES = frozenset(
    {
        "fork", "__fork", "__libc_fork", "_Fork", "vfork", "__vfork", "__libc_vfork", "arch_fork", "posix_spawn",
        "posix_spawnp", "__posix_spawn", "__posix_spawnp", "__spawni", "__spawnix", "__spawnix_compat",
    }
)  # fmt: skip

Bools = npt.NDArray[np.bool_]


def making_processes(image: Image, cloning: list[int]) -> Bools:
    """Rows of arguments of clone (its addresses) where a process is made: with its own memory, or the parent sleeps."""
    args = image.args
    result = having(args, "callee", cloning)
    spawning = np.isin(args["function"], _rows_named(image, _PROCESSES))
    flags = picked(args, result & (args["arg"] == _FLAGS_ARGUMENT) & (args["kind"] == ArgKind.CONSTANT))
    ips = [int(row["ip"]) for row in flags if not shares_memory(int(row["value"]))]
    return np.asarray(result & (spawning | np.isin(args["ip"], ips)), bool)


def idle_imports(image: Image) -> frozenset[str]:
    """Imports that would start threads as far as their names go, and do not as they are used."""
    weak = image.signs.weak
    addresses: dict[str, list[int]] = {}
    for address, name in image.callee_names.items():
        if name in weak or name in CLONES or name in _EVENT_ARGUMENT:
            addresses.setdefault(name, []).append(address)
    return frozenset(name for name, at in addresses.items() if _is_idle(image, name, at, may_lack=name in weak))


def _is_idle(image: Image, name: str, addresses: list[int], *, may_lack: bool) -> bool:
    calls, args = image.calls, image.args
    called = calls["ip"][having(calls, "callee", addresses)]
    if not len(called):
        # Code of compilers' run-times asks whether the program has threads by such a function, and never calls it.
        handed = among(args["value"][args["kind"] == ArgKind.ADDRESS], addresses).any()
        return may_lack and not handed and not among(_stored(image), addresses).any()
    if name in CLONES:
        return bool(np.isin(called, args["ip"][making_processes(image, addresses)]).all())
    if name in _EVENT_ARGUMENT:
        none = (args["arg"] == _EVENT_ARGUMENT[name]) & (args["kind"] == ArgKind.CONSTANT) & (args["value"] == 0)
        return bool(np.isin(called, args["ip"][none]).all())
    return False


def _stored(image: Image) -> npt.NDArray[np.uint64]:
    """Addresses of functions that code puts where calls may take them from; not those that it only compares."""
    found: npt.NDArray[np.uint64] = image.kept["value"][image.kept["slot"] != SlotKind.UNKNOWN]
    return found


def without_names(image: Image) -> str:
    """What says, beside names of functions, that this program can start threads, in words; "" nothing does."""
    for call in image.signs.clones:
        if _asks_for_thread(image, call):
            return f"it asks the kernel for threads (the system call at {call.ip:#x})"
    if at := _by_number(image, _named(image, _SYSCALL)):
        return f"it asks the kernel for threads (syscall, called at {at:#x})"
    if image.signs.looked_up:  # in a static program the C library has none of these texts itself
        return f"it looks up {min(image.signs.looked_up)} by name"
    return ""


def loads_threads(image: Image) -> str:
    """What says that a library of threads is loaded when the program runs, in words; "" nothing does."""
    for name in sorted(image.signs.loaded):
        library = needed_threads((name.rpartition("/")[2],))
        if library is not None:
            return f"it loads {library[0]}, of {library[1].name}"
    return ""


def loads_code(image: Image) -> str:
    """What the program loads when it runs, of which this image says nothing, in words; "" no such thing.

    Shells, interpreters and linkers load modules so, which hardly ever have code of theirs run on other threads.
    """
    for name in sorted(image.signs.loaded):
        if name == UNKNOWN_NAME:
            return "files whose names are made when it runs"
        if not fnmatch.fnmatchcase(name, "lib*.so.[0-9]*"):  # of its own, as those that the loader maps
            return name
    return ""


def _asks_for_thread(image: Image, call: CloneCall) -> bool:
    row = _function_of(image, call.ip)
    name = function_name(image, row) if row >= 0 and image.functions["name"][row] >= 0 else ""
    if call.handed:
        if row < 0 or name in _SYSCALL:
            return False  # asked for by name
        return _by_number(image, [int(image.functions["address"][row])]) != 0
    if not shares_memory(call.flags) or name in _PROCESSES:
        return False
    if name in HOLDERS:
        return False
    if call.flags == UNKNOWN_FLAGS and not name and not image.imports:
        handed = _flags_handed(image, row)
        only_processes = (image.signs.spawn_flags or bool(handed)) and not any(map(shares_memory, handed))
        return image.signs.thread_flags or not only_processes
    return True


def _flags_handed(image: Image, row: int) -> list[int]:
    """The flags with which the function of this row is called, were it clone."""
    if row < 0:
        return []
    args = image.args
    chosen = (args["callee"] == image.functions["address"][row]) & (args["arg"] == _FLAGS_ARGUMENT)
    flags: list[int] = args["value"][chosen & (args["kind"] == ArgKind.CONSTANT)].tolist()
    return flags


def _by_number(image: Image, addresses: list[int]) -> int:
    """Address of a call of one of these, each a way to any system call, that asks for a thread; 0 none does."""
    args = image.args
    rows = those_having(args, "callee", addresses)
    numbers = (rows["arg"] == 0) & (rows["kind"] == ArgKind.CONSTANT)
    for row in picked(rows, numbers & among(rows["value"], list(image.signs.numbers))):
        handed = picked(rows, (rows["ip"] == row["ip"]) & (rows["arg"] == 1) & (rows["kind"] == ArgKind.CONSTANT))
        flags = int(handed["value"][0]) if len(handed) else UNKNOWN_FLAGS
        if row["value"] != image.signs.numbers[0] or shares_memory(flags):
            return int(row["ip"])
    return 0


def _named(image: Image, names: frozenset[str]) -> list[int]:
    """Addresses that calls of functions of these names lead to, of this image or of other files."""
    own: list[int] = image.functions["address"][_rows_named(image, names)].tolist()
    return own + [address for address, name in image.callee_names.items() if name in names]


def _rows_named(image: Image, names: frozenset[str]) -> list[int]:
    ids = image.functions["name"].tolist()
    return [row for row, i in enumerate(ids) if i >= 0 and image.names[i] in names]


def _function_of(image: Image, ip: int) -> int:
    """Row of the function that has this instruction, -1 where none has.

    C libraries end the frame of clone before the call: behind it the stack is another one.
    """
    table = image.functions
    row = int(np.searchsorted(table["address"], np.uint64(ip), "right")) - 1
    return row if row >= 0 and ip < int(table["address"][row]) + int(table["size"][row]) + _BEHIND_FRAME else -1
