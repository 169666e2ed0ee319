"""What calling a function does to locks: the lock rows and guard rows by function.

Owns the step from rows to single effects; ``analyzer/src/Knowledge.cpp`` does the same for source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sharing.knowledge.mangled import Mangled
from sharing.knowledge.mentions import mentioning
from sharing.knowledge.names import MAX_REMEMBERED, FunctionNames, LinkageNames, TypeNames, word_of
from sharing.model.vocabulary import Called, GuardRow, LockKind, LockRow, WaitCall

# Effects by the keys of a row that list functions: whatever changes the lock is an operation of it.
EFFECTS = {
    "lock": "lock",
    "lock_shared": "lock",
    "try_lock": "lock",
    "try_lock_shared": "lock",
    "use": "lock",
    "unlock": "unlock",
    "unlock_shared": "unlock",
    "init": "init",
}


# Rows of libraries/project.json: locks of a project's own, which the analyzer knows by the names of their type and
# functions; no type is called so.
OWN_LOCKS = frozenset({"a project's lock", "a project's rwlock"})
SPIN_LOCK = "a spin lock of the program's own"  # known by what code does to a word, whatever it is called
OWN_LOCK_CALLS = frozenset(f"{row}.lock" for row in OWN_LOCKS)
_ENDINGS = ("_t", "_s")


def own_lock(type_name: str) -> str:
    """The row of a type that is named a lock, "" of one that is not: what ``Callee.cpp`` asks of it."""
    stem = type_name.rpartition(" ")[2]
    stem = next((stem.removesuffix(e) for e in _ENDINGS if stem.endswith(e)), stem)
    if not stem.endswith(("lock", "mutex")):
        return ""
    return "a project's rwlock" if stem.endswith("rwlock") else "a project's lock"


class LockEffect(NamedTuple):
    argument: int
    row: int
    effect: str  # "lock", "unlock" or "init"


class Handoff(NamedTuple):
    """A function that waits on an object for what others do, or that may wake who waits there."""

    argument: int
    kind: LockKind
    waits: bool
    timed: bool = False  # goes on after a time, whatever happened


WAITS = ("wait", "timedwait")  # operations of rows that source shows, see ``LockCalls.operation``

_TIMED = re.compile("timed|clockwait|Timeout|Deadline|_for$|_until$")
# Of what is held between two calls, each release wakes someone.
_HANDED = frozenset({LockKind.CONDITION, LockKind.SEMAPHORE, LockKind.EVENT})


def handoffs(row: LockRow) -> Iterator[tuple[str, Handoff]]:
    """The functions of a row that do so, by name."""
    if row.kind not in _HANDED:
        return
    for key, effect in EFFECTS.items():
        for call in getattr(row, key) if effect != "init" else ():
            for name in functions(row, call):
                yield name, Handoff(0 if isinstance(call, str) else call.argument, row.kind, waits=False)
    for wait in row.wait:
        for name in functions(row, wait):
            timed = _TIMED.search(name) is not None
            yield name, Handoff(0 if isinstance(wait, str) else wait.argument, row.kind, waits=True, timed=timed)


def handed_operations(row: LockRow) -> Iterator[tuple[str, Handoff]]:
    """As ``handoffs``, of the operations of a row that source shows."""
    for operation in ("lock", "unlock", *WAITS) if row.kind in _HANDED else ():
        waits = operation in WAITS
        yield f"{row.name}.{operation}", Handoff(0, row.kind, waits, timed=operation == "timedwait")


class LockCalls:
    """Lock operations by function."""

    def __init__(
        self,
        locks: tuple[LockRow, ...],
        guards: Iterable[GuardRow],
        usual: LockRow,
        types: TypeNames,
        linkage: LinkageNames,
    ) -> None:
        self._types = types
        self._linkage = linkage
        self._calls: FunctionNames[LockEffect] = FunctionNames(linkage)
        self._guards: FunctionNames[GuardRow] = FunctionNames(linkage)
        self._operations: dict[str, list[LockEffect]] = {}
        self._usual = {c[1:]: effect for key, effect in EFFECTS.items() for c in getattr(usual, key)}
        self._usual_rows: set[int] = set()  # rows without methods of their own
        self._unknown: set[str] = set()
        usual_methods = frozenset(self._usual)
        for number, row in enumerate(locks):
            for effect in ("lock", "unlock", "init", *WAITS):
                does = "lock" if effect in WAITS else effect
                self._operations.setdefault(f"{row.name}.{effect}", []).append(LockEffect(0, number, does))
            for key, effect in EFFECTS.items():
                for call in getattr(row, key):
                    self._add(row, number, call, effect)
            for wait in row.wait:
                self._add_wait(row, number, wait)
            if not names_methods(row):
                self._usual_rows.add(number)
                for of in row.types:
                    linkage.expect_methods(of, usual_methods)
        self._method_words = set(usual_methods)
        for guard in guards:
            for name in guard.types:
                self._guards.add(f"{name}::{name.rpartition('::')[2]}", guard)
                self._method_words.add(word_of(name))

    def find(self, name: str) -> list[LockEffect]:
        known = self._operations.get(name)
        if known is not None:
            return known
        return self._calls.find(name) or self._of_class(name)

    def among(self, names: Sequence[str]) -> list[int]:
        """Rows of the names that ``find`` knows.  Of those that it does not it is remembered: several passes ask."""
        rows = [row for row, name in enumerate(names) if name not in self._unknown]
        found = [rows[at] for at in self._known([names[row] for row in rows])]
        if len(self._unknown) + len(rows) <= MAX_REMEMBERED:
            known = set(found)
            self._unknown.update(names[row] for row in rows if row not in known)
        return found

    def _known(self, names: list[str]) -> list[int]:
        plain = {row for row, name in enumerate(names) if name in self._operations}
        methods = mentioning(names, self._method_words)
        return sorted({*plain, *self._calls.among(names), *(row for row in methods if self._of_class(names[row]))})

    def operation(self, row_name: str, effect: str) -> str:
        """A callee name for a lock operation that is known by its row ("" no such row)."""
        name = f"{row_name}.{effect}"
        return name if name in self._operations else ""

    def released_by(self, name: str) -> list[int]:
        """Rows of the locks that a guard's destructor or ``unlock`` releases: which ones only the guard knows."""
        read = self._linkage.read(name) if name.startswith("_Z") else None
        if read is None or len(read.parts) < 2:
            return []
        *scope, method = read.parts
        if method not in (f"~{scope[-1]}", "unlock"):
            return []
        guards = self._guards.of_qualified(self._linkage.namespaces.plain((*scope, scope[-1])))
        if not guards:
            return []
        of = [guards[0].of] if guards[0].of else ["::".join(argument) for argument in read.arguments if argument]
        return [row for row in map(self._types.find, of) if row >= 0]

    def _add(self, row: LockRow, number: int, call: Called | WaitCall, effect: str) -> None:
        argument = 0 if isinstance(call, str) else call.argument
        for name in functions(row, call):
            self._calls.add(name, LockEffect(argument, number, effect))

    def _add_wait(self, row: LockRow, number: int, wait: str | WaitCall) -> None:
        # The lock first: of a wrapper that has both in one object, it says more.
        if isinstance(wait, WaitCall) and wait.releases is not None and wait.of:
            other = self._types.find(wait.of)
            if other >= 0:
                for name in functions(row, wait):
                    self._calls.add(name, LockEffect(wait.releases, other, "lock"))
        self._add(row, number, wait, "lock")

    def _of_class(self, name: str) -> list[LockEffect]:
        """A method that all lockable types have, or a guard's constructor, which locks what it is given."""
        read = self._linkage.read(name) if name.startswith("_Z") else None
        if read is None or len(read.parts) < 2:
            return []
        if effect := self._usual.get(read.parts[-1]):
            row = self._types.find("::".join(read.parts[:-1]))
            return [LockEffect(0, row, effect)] if row in self._usual_rows else []
        if read.parts[-1] != read.parts[-2]:
            return []
        guards = self._guards.of_qualified(self._linkage.namespaces.plain(read.parts))
        return list(self._taken(guards[0], read)) if guards else []

    def _taken(self, guard: GuardRow, made: Mangled) -> Iterator[LockEffect]:
        given = made.parameters
        # A reference or pointer to the lock; a guard of the same kind, or a constant one, is copied or moved.
        if not given.startswith(("R", "P")) or given.startswith("RK"):
            return
        tags = (tag.rpartition("::")[2] for tag in (*guard.defer, *guard.adopt))
        if any(f"{len(tag)}{tag}" in given for tag in tags):
            return
        if guard.of:
            row = self._types.find(guard.of)
            if row >= 0:
                yield LockEffect(guard.argument, row, "lock")
            return
        for number, of in enumerate(made.arguments):
            row = self._types.find("::".join(of)) if of else -1
            if row >= 0:
                yield LockEffect(guard.argument + number, row, "lock")


def names_methods(row: LockRow) -> bool:
    calls = (c for key in (*EFFECTS, "wait") for c in getattr(row, key))
    return any((c if isinstance(c, str) else c.function).startswith(".") for c in calls)


def functions(row: LockRow, call: Called | WaitCall) -> Iterator[str]:
    """A method is one of each type."""
    name = call if isinstance(call, str) else call.function
    if not name.startswith("."):
        yield name
        return
    for of in row.types:
        yield f"{of}::{name[1:]}"
