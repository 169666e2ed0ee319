"""The vocabulary: lock, atomic, list-head and thread-creation names as data, one row each.

Owns the JSON tables beside this file (shared with the Clang tool) and their lookup by type name and by
called function.  Judges nothing.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from importlib import resources
from typing import TypeVar

import msgspec

from sharing.model.image import Image, ImageKind

_T = TypeVar("_T")


class LockAbi(msgspec.Struct, frozen=True):
    """Byte ranges of a lock under one ABI: written by lock and unlock (hot), only read by them (read)."""

    size: int
    hot: tuple[tuple[int, int], ...]
    read: tuple[tuple[int, int], ...] = ()


class LockRow(msgspec.Struct, frozen=True):
    """One lock type: names it goes by, functions that take and release it, bytes by ABI."""

    name: str
    kind: str
    types: tuple[str, ...]
    abi: dict[str, LockAbi]
    lock: tuple[tuple[str, int], ...]
    unlock: tuple[tuple[str, int], ...]
    init: tuple[tuple[str, int], ...]
    source: str = ""


class ThreadRow(msgspec.Struct, frozen=True):
    """A function that starts a thread: which argument is its entry; ``many``: starts several at once.

    ``data`` is the argument that the entry gets as its first, None for the one behind the entry, -1 for none.
    """

    function: str
    entry: int
    many: bool = False
    data: int | None = None


class ThreadTable(msgspec.Struct, frozen=True):
    threads: tuple[ThreadRow, ...]
    entry_patterns: tuple[str, ...]
    entry_takers: tuple[str, ...]  # callees (std::thread's constructors, containers of threads) given a function
    creators_without_entry: tuple[str, ...]
    signal_handlers: tuple[ThreadRow, ...]
    joins: frozenset[str]
    runtime_functions: frozenset[str]
    handles: frozenset[str]


class AccessTable(msgspec.Struct, frozen=True):
    """Functions by name prefix whose argument is a pointer they access, and type names that say a role."""

    rmw: tuple[tuple[str, int], ...]
    load: tuple[tuple[str, int], ...]
    store: tuple[tuple[str, int], ...]
    memory_store: tuple[tuple[str, int], ...]
    memory_load: tuple[tuple[str, int], ...]
    atomic_types: tuple[str, ...]
    list_types: tuple[str, ...]


class ColdWords(msgspec.Struct, frozen=True):
    """Words in function names that speak of start-up, shutdown or diagnosis."""

    start: frozenset[str]
    stop: frozenset[str]
    diagnostic: frozenset[str]
    anywhere: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.start | self.stop | self.diagnostic


class TypeNames:
    """Exact names first, then globs; the answer is the row index, -1 for none."""

    def __init__(self, patterns: list[tuple[str, int]]) -> None:
        self._exact = {name: row for name, row in reversed(patterns) if not _is_glob(name)}
        self._globs = [(name, row) for name, row in patterns if _is_glob(name)]
        self._seen: dict[str, int] = {}

    def find(self, name: str) -> int:
        row = self._seen.get(name)
        if row is None:
            bare = name.removeprefix("struct ").removeprefix("class ").removeprefix("union ")
            row = self._exact.get(bare, -1)
            if row < 0:
                row = next((r for p, r in self._globs if fnmatch.fnmatchcase(bare, p)), -1)
            self._seen[name] = row
        return row


def _is_glob(name: str) -> bool:
    return any(c in name for c in "*?[")


class Knowledge:
    """All tables, indexed.  ``extra`` rows (a project's own) come first and win."""

    def __init__(self, extra_locks: tuple[LockRow, ...] = (), extra_threads: tuple[ThreadRow, ...] = ()) -> None:
        self.locks: tuple[LockRow, ...] = extra_locks + _table("locks.json", tuple[LockRow, ...])
        threads = _table("threads.json", ThreadTable)
        self.threads = msgspec.structs.replace(threads, threads=extra_threads + threads.threads)
        self.access: AccessTable = _table("access.json", AccessTable)
        self.cold: ColdWords = _table("cold_words.json", ColdWords)
        self.lock_types = TypeNames([(t, i) for i, row in enumerate(self.locks) for t in row.types])
        self.atomic_types = TypeNames([(t, 0) for t in self.access.atomic_types])
        self.list_types = TypeNames([(t, 0) for t in self.access.list_types])
        self.thread_rows = {row.function: row for row in self.threads.threads}
        self._creators = re.compile("|".join(map(fnmatch.translate, self.threads.creators_without_entry)))
        self._lock_calls: dict[str, list[tuple[int, int, str]]] = {}
        self._lock_globs: list[tuple[str, tuple[int, int, str]]] = []
        for i, row in enumerate(self.locks):
            for effect in ("lock", "unlock", "init"):
                self._lock_calls.setdefault(f"{row.name}.{effect}", []).append((0, i, effect))
            for effect, calls in (("lock", row.lock), ("unlock", row.unlock), ("init", row.init)):
                for name, arg in calls:
                    if _is_glob(name):
                        self._lock_globs.append((name, (arg, i, effect)))
                    else:
                        self._lock_calls.setdefault(name, []).append((arg, i, effect))

    def lock_calls(self, name: str) -> list[tuple[int, int, str]]:
        """What a called function does to locks: (argument, lock row, "lock", "unlock" or "init")."""
        known = self._lock_calls.get(name)
        if known is not None or not name.startswith("_ZN"):
            return known or []
        return [effect for glob, effect in self._lock_globs if fnmatch.fnmatchcase(name, glob)]

    def starts_thread(self, name: str) -> bool:
        """Does a function of this name start a thread, whether or not its entry is seen passed?"""
        return name in self.thread_rows or self._creators.match(name) is not None

    def operation(self, row_name: str, effect: str) -> str:
        """A callee name for a lock operation that is known by its row ("" no such row), see ``lock_calls``."""
        name = f"{row_name}.{effect}"
        return name if name in self._lock_calls else ""

    def lock_abi(self, row: int, image: Image) -> LockAbi | None:
        """The byte ranges of a lock row in this image, None where the table does not know them."""
        table = self.locks[row].abi
        for key in abi_keys(image):
            if key in table:
                return table[key]
        return None


def abi_keys(image: Image) -> tuple[str, ...]:
    """Names of the ABIs that apply to an image, most specific first."""
    bits = image.arch.bits
    if image.kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return (f"kernel-{bits}", "any")
    libc = "musl" if any(n.startswith(("libc.musl", "ld-musl")) for n in image.needed) else "glibc"
    return (f"{libc}-{image.arch.name}", f"{libc}-{bits}", "any")


@functools.cache
def default_knowledge() -> Knowledge:
    return Knowledge()


def _table(name: str, kind: type[_T]) -> _T:
    return msgspec.json.decode(resources.files(__name__).joinpath(name).read_bytes(), type=kind)
