"""The vocabulary: lock, atomic, list-head and thread-creation names as data, one row each.

Owns the tables beside this file and below ``libraries/`` (one file a library, in the schema of
``sharing.model.vocabulary``; the Clang tool reads the same files) and their lookup by type and by called function.
Judges nothing.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from sharing.knowledge.locks import WAITS, Handoff, LockCalls, LockEffect, functions, handed_operations, handoffs
from sharing.knowledge.names import FunctionNames, LinkageNames, Namespaces, TypeNames, one_of
from sharing.model.image import Image, ImageKind
from sharing.model.vocabulary import BarrierRow, CallbackRow, LockAbi, LockRow, ThreadRow, Vocabulary, listed

_T = TypeVar("_T")

__all__ = [
    "Knowledge",
    "LockAbi",
    "LockEffect",
    "LockRow",
    "ThreadRow",
    "TypeNames",
    "abi_keys",
    "default_knowledge",
    "libraries",
]


class AccessTable(msgspec.Struct, frozen=True):
    """Functions by name prefix whose argument is a pointer they access, and type names that say a role.

    Those of ``memory_store`` and ``memory_load`` by their whole names, as of ``once_load``, which look atomically
    whether something was done once.
    """

    rmw: tuple[tuple[str, int], ...]
    load: tuple[tuple[str, int], ...]
    store: tuple[tuple[str, int], ...]
    memory_store: tuple[tuple[str, int], ...]
    memory_load: tuple[tuple[str, int], ...]
    once_load: tuple[tuple[str, int], ...]
    atomic_types: tuple[str, ...]
    list_types: tuple[str, ...]


class ColdWords(msgspec.Struct, frozen=True):
    """Words in function names that speak of start-up, shutdown or diagnosis.

    ``library``: in names that a library exports, of what makes its objects, as ``stop`` of what ends them.  ``tests``:
    those of the others that say nothing of what threads are started for.
    """

    start: frozenset[str]
    stop: frozenset[str]
    library: frozenset[str]
    diagnostic: frozenset[str]
    anywhere: frozenset[str]
    tests: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.start | self.stop | self.diagnostic


class Knowledge:
    """All tables, indexed.  The rows of ``project`` come first and win."""

    def __init__(self, project: Vocabulary | None = None) -> None:
        tables = (*([project] if project is not None else []), *libraries())
        self.namespaces = Namespaces(t.inline_namespaces for t in tables)
        self.locks: tuple[LockRow, ...] = tuple(replace(row, name=row.label) for t in tables for row in t.lock)
        self.access: AccessTable = read_table("access.json", AccessTable)
        self.cold: ColdWords = read_table("cold_words.json", ColdWords)
        named = [(name, i) for i, row in enumerate(self.locks) for name in row.types]
        self.lock_types = TypeNames(named, self.namespaces)
        self.atomic_types = TypeNames([(t, 0) for t in self.access.atomic_types], self.namespaces)
        self.list_types = TypeNames([(t, 0) for t in self.access.list_types], self.namespaces)
        self.thread_handles = TypeNames([(name, 0) for t in tables for name in t.thread_handle], self.namespaces)
        self.runtime_functions = frozenset(name for t in tables for name in t.runtime_function)
        # Go's packages and Rust's crates have words for names that a variable or a namespace of C++ may have as well.
        self._library_data = {
            language: one_of(name for t in tables if t.language in also for name in t.library_data)
            for language, also in (("", {""}), ("Rust", {"", "Rust"}), ("Go", {"Go"}))
        }
        self._runtime_code = one_of(name for t in tables for name in t.runtime_code)
        self._linkage = linkage = LinkageNames(self.namespaces)
        guards = (row for t in tables for row in t.guard)
        self._lock_calls = LockCalls(
            self.locks, guards, read_table("lockable.json", Vocabulary).lock[0], self.lock_types, linkage
        )
        self._waits: FunctionNames[bool] = FunctionNames(linkage)
        for name in {name for row in self.locks for wait in row.wait for name in functions(row, wait)}:
            self._waits.add(name, True)
        # Of operations that source shows, see ``operation``.
        self._waiting = frozenset(f"{row.name}.{operation}" for row in self.locks for operation in WAITS)
        self._handed = dict(found for row in reversed(self.locks) for found in handed_operations(row))
        self._handoffs: FunctionNames[Handoff] = FunctionNames(linkage)
        for name, handoff in (found for row in self.locks for found in handoffs(row)):
            self._handoffs.add(name, handoff)
        self._threads: FunctionNames[ThreadRow] = FunctionNames(linkage)
        self._callbacks: FunctionNames[CallbackRow] = FunctionNames(linkage)
        self._event_loops: FunctionNames[bool] = FunctionNames(linkage)
        self._barriers: FunctionNames[BarrierRow] = FunctionNames(linkage)
        self._barrier_makers: set[str] = set()
        self._joins: FunctionNames[bool] = FunctionNames(linkage)
        self._results: FunctionNames[bool] = FunctionNames(linkage)
        self._entries: FunctionNames[bool] = FunctionNames(linkage)
        self._pools: list[tuple[FunctionNames[bool], FunctionNames[bool]]] = []  # what they run, and what makes them
        self._read_threads(tables)

    def _read_threads(self, tables: Iterable[Vocabulary]) -> None:
        # Calls of these names stand for thread starts that source shows; their argument 0 is the entry.
        self._source_starts: dict[str, ThreadRow] = {}
        classes: list[str] = []
        for table in tables:
            rust = table.language == "Rust"
            for row in table.thread:
                for name in row.functions:
                    self._threads.add(name, row, rust=rust)
                for name in (*row.types, *(f for f in row.functions if "::" in f or " " in f)):
                    self._source_starts.setdefault(name, ThreadRow(name, 0, many=row.many, waits=row.waits))
                classes += row.types
            for callback in table.callback:
                for name in callback.functions:
                    self._callbacks.add(name, callback, rust=rust)
                for name in callback.loop:
                    self._event_loops.add(name, True, rust=rust)
            for barrier in table.barrier:
                self._barrier_makers.update(barrier.makers)
                for name in barrier.functions:
                    self._barriers.add(name, barrier, rust=rust)
            for name in table.join:
                self._joins.add(name, True, rust=rust)
            for name in table.event_loop:
                self._event_loops.add(name, True, rust=rust)
            for name in table.result_wait:
                self._results.add(name, True, rust=rust)
            for name in table.thread_entry:
                self._entries.add(name, True, rust=rust)
            for pool in table.pool_task:
                tasks, makers = FunctionNames[bool](self._linkage), FunctionNames[bool](self._linkage)
                for names, known in ((pool.function, tasks), (pool.made_by, makers)):
                    for name in listed(names):
                        known.add(name, True, rust=rust)
                self._pools.append((tasks, makers))
        self._mentions_thread = self.namespaces.mention(classes)

    def lock_callees(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that ``lock_calls`` says something of."""
        return self._lock_calls.among(names)

    def lock_calls(self, name: str) -> list[LockEffect]:
        """What a called function does to locks: (argument, lock row, "lock", "unlock" or "init")."""
        return self._lock_calls.find(name)

    def lock_releases(self, name: str) -> list[int]:
        """Lock rows of which a called function releases one that a guard holds, see ``lock_calls``."""
        return self._lock_calls.released_by(name)

    def operation(self, row_name: str, effect: str) -> str:
        """A callee name for a lock operation that is known by its row ("" no such row), see ``lock_calls``."""
        return self._lock_calls.operation(row_name, effect)

    def thread_start(self, name: str) -> ThreadRow | None:
        """How a function of this name starts a thread, None where it does not."""
        known = self._source_starts.get(name)
        if known is None:
            found = self._threads.find(name)
            known = found[0] if found else None
        return known

    def thread_starters(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that start threads, see ``thread_start``."""
        own = {row for row, name in enumerate(names) if name in self._source_starts}
        return sorted(own.union(self._threads.among(names)))

    def starts_thread(self, name: str) -> bool:
        """Does a function of this name start a thread, whether or not its entry is seen passed?"""
        return self.thread_start(name) is not None

    def source_start(self, api: str) -> str:
        """The callee name for a thread start in source, see ``thread_start``."""
        return api if api in self._source_starts else "std::thread"

    def takes_entry(self, name: str) -> bool:
        """Is what this C++ function is handed perhaps a thread's: a thread's constructor, a container of threads?"""
        return name.startswith("_ZN") and self._mentions_thread(name) is not None

    def is_thread_entry(self, name: str) -> bool:
        """Does a function of this name run on a thread of its own, whoever starts it?"""
        return bool(self._entries.find(name))

    def thread_entries(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions of which ``is_thread_entry`` holds."""
        return self._entries.among(names)

    def pool_tasks(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that threads of a pool run, in a program that has all of these functions."""
        found: set[int] = set()
        for tasks, makers in self._pools:
            rows = tasks.among(names)
            if rows and makers.among(names):
                found.update(rows)
        return sorted(found)

    def is_library_data(self, name: str, language: str) -> bool:
        """Is a variable of this readable name a library's own, which no program that uses it can move?"""
        return self._library_data.get(language, self._library_data[""])(name) is not None

    def is_runtime_code(self, name: str) -> bool:
        """Does a function of this name in Go belong to the run-time, which each program contains?"""
        return self._runtime_code(name) is not None

    def joins_thread(self, name: str) -> bool:
        return bool(self._joins.find(name))

    def waits_for_result(self, name: str) -> bool:
        """Does a function of this name return when a task has set its result?"""
        return bool(self._results.find(name))

    def waits(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that wait for what another thread does."""
        waiting = (row for row in self.barriers(names) if (barrier := self.barrier(names[row])) and barrier.waits)
        shown = (row for row, name in enumerate(names) if name in self._waiting)
        return sorted({*self._waits.among(names), *self._joins.among(names), *waiting, *shown})

    def handoffs(self, names: Sequence[str]) -> Iterator[tuple[int, Handoff]]:
        """Rows of the names of functions that wait on an object, or may wake who waits there, with what they do."""
        yield from ((row, self._handoffs.find(names[row])[0]) for row in self._handoffs.among(names))
        yield from ((row, self._handed[name]) for row, name in enumerate(names) if name in self._handed)

    def barrier(self, name: str) -> BarrierRow | None:
        """How threads wait for each other in a function of this name, None where they do not."""
        found = self._barriers.find(name)
        return found[0] if found else None

    def meets(self, name: str) -> bool:
        """Is a function of this name a ``barrier``, or does it make what threads wait at?"""
        return name in self._barrier_makers or self.barrier(name) is not None

    def barriers(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that are a ``barrier``."""
        return self._barriers.among(names)

    def callers_back(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that ``callbacks`` says something of."""
        return self._callbacks.among(names)

    def callbacks(self, name: str) -> list[CallbackRow]:
        """Which of its arguments a function of this name has called, and by whom."""
        return self._callbacks.find(name)

    def event_loops(self, names: Sequence[str]) -> list[int]:
        """Rows of the names of functions that run events, calling back, until they are told to end."""
        return self._event_loops.among(names)

    def lock_abi(self, row: int, image: Image) -> LockAbi | None:
        """The byte ranges of a lock row in this image, None where the table does not know them."""
        known = self.locks[row]
        for key in abi_keys(image):
            if key in known.abi:
                return known.abi[key]
        if known.hot:
            return LockAbi(max(end for _, end in (*known.hot, *known.read)), known.hot, known.read)
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


@functools.cache
def libraries() -> tuple[Vocabulary, ...]:
    """The built-in rows, a file a library."""
    files = sorted(Path(__file__).with_name("libraries").glob("*.json"))
    return tuple(_DECODER.decode(file.read_bytes()) for file in files)


_DECODER = msgspec.json.Decoder(Vocabulary)
_DECODING = threading.Lock()


def read_table(name: str, kind: type[_T]) -> _T:
    """A JSON table of this folder."""
    data = Path(__file__).with_name(name).read_bytes()
    # msgspec looks at a type when it first decodes one, and two threads that do so at once crash the process.
    with _DECODING:
        return msgspec.json.decode(data, type=kind)
