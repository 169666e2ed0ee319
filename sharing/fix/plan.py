"""What an edit is made of and what it may look at.

Owns ``Plan`` and ``Planner``, the program with its files and the lookups that every kind of edit needs.  The edits
themselves are in ``sharing.fix.variables`` and ``sharing.fix.records``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from sharing.fix.macros import definitions
from sharing.fix.style import FixOptions, Spelling, is_system, spelling
from sharing.fix.tokens import Files, ReadFile, Refused, Source, Token
from sharing.model.facts import (
    AllocationFact,
    RecordBits,
    RecordFacts,
    TypeTree,
    UnitFacts,
    VariableBits,
    VariableFacts,
)
from sharing.model.finding import SourceEdit
from sharing.model.types import MAX_DEPTH, RECORD_KINDS
from sharing.source.declarations import stripped
from sharing.source.merge import executables, part
from sharing.source.program import Defined, Program

KEPT = "__attribute__((used)) keeps clang from dropping the padding of a static"
_RECORD = "record "  # before the key of a record among users


@dataclass(frozen=True, slots=True)
class Part:
    """An edit of the declarators ``first``..``last`` of a statement of several, which begins at ``statement``.

    It ends the statement in front of it by one semicolon, where there is one, and its last ``again`` characters begin
    another one for what is behind it.
    """

    edit: SourceEdit
    statement: int
    first: int
    last: int
    again: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Edits that hold together or not at all.  ``how`` says in words what they do; ``notes`` what to know of them.

    ``rounds``: the object's size becomes whole lines (else its neighbours are moved away by other means).
    ``tail``: padding behind the last member parts objects that follow each other, wherever the first starts.
    ``grows``: bytes that each object grows by, where that is not what the remedy says, which knows of no padding.
    ``parts``: those of ``edits`` that can be joined with those of their neighbours in a declaration.
    """

    edits: tuple[SourceEdit, ...]
    how: str
    breaks_abi: bool = False
    notes: tuple[str, ...] = ()
    rounds: bool = True
    tail: bool = False
    grows: int | None = None
    parts: tuple[Part, ...] = ()


@dataclass(slots=True)
class Changes:
    """Replacements collected for one plan, and which of them are ``parts`` of a declaration of several."""

    _made: list[SourceEdit] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def replace(self, source: Source, begin: int, end: int, text: str) -> SourceEdit:
        if not 0 <= begin <= end <= len(source.data):
            raise Refused(f"what is known of {source.path} does not fit the file")
        line, column = source.position(begin)
        end_line, end_column = source.position(end)
        edit = SourceEdit(source.path, begin, end, text, line, column, end_line, end_column, source.sha256)
        if edit not in self._made:
            self._made.append(edit)
        return edit

    def insert(self, source: Source, at: int, text: str) -> None:
        self.replace(source, at, at, text)

    def edits(self) -> tuple[SourceEdit, ...]:
        """In order.  Raises Refused where two overlap: a declaration that refers to itself."""
        made = sorted(self._made, key=lambda e: (e.file, e.begin, e.end))
        for a, b in pairwise(made):
            if a.file == b.file and overlap(a, b):
                raise Refused(f"its declaration refers to itself ({a.file}:{a.line})")
        return tuple(made)


def overlap(a: SourceEdit, b: SourceEdit) -> bool:
    """Two insertions at one place overlap too: their order would be a guess."""
    if a.begin == a.end and b.begin == b.end:
        return a.begin == b.begin
    return a.begin < b.end and b.begin < a.end


class Planner:
    """A program, its files, and how the project writes alignment."""

    def __init__(
        self, program: Program, read_file: ReadFile, options: FixOptions, members: frozenset[int] | None = None
    ) -> None:
        self.program = program
        self.files = Files(read_file)
        self.options = options
        self._members = members  # None: all units
        self._whole: Planner = self
        self._spellings: dict[str, Spelling] = {}
        self._macros: dict[tuple[str, bytes], tuple[tuple[list[Token], bool], ...]] = {}
        self._names: dict[str, dict[int, set[bytes]]] = {}

    @property
    def line_size(self) -> int:
        return self.options.line_size

    def source(self, path: str) -> Source:
        """A file to edit.  Raises Refused for the system's, and for what changed since it was analysed."""
        if is_system(path):
            raise Refused(f"{path} belongs to the system")
        source = self.files.source(path)
        known = self._hashes.get(path)
        if known and source.sha256 not in known:
            raise Refused(f"{path} changed since it was analysed")
        return source

    def spelling(self, path: str) -> Spelling:
        if path not in self._spellings:
            self._spellings[path] = spelling(self.program, path, self.files, self.options)
        return self._spellings[path]

    def of_program(self, identity: str, place: str) -> Planner:
        """The planner of the one program whose definition stands at ``place`` (file:line), where several define it.

        A declaration that other programs read too keeps them together: an edit of it is one of all their definitions.
        """
        definers = [n for n, unit in enumerate(self.program.units) if _defines(unit, identity)]
        if len(definers) < 2:
            return self
        units = self.program.units
        mine = {n for n in definers if any(f"{place}:".startswith(f"{at}:") for at in _places(units[n], identity))}
        parts = [p for _, p in self.executables if identity in p.variables]
        own = [p for p in parts if p.variables[identity].unit in mine]
        members = sorted({n for p in own for n in p.members})
        others = {n for p in parts if p not in own for n in p.members}
        if not own or others & set(members) or len({p.variables[identity].unit for p in own}) != 1:
            return self
        declaring = {path for n in members for path in _declaring(self.program.units[n], identity)}
        if any(declaring & set(self.program.units[n].files) for n in others):
            return self
        found = Planner(part(self.program, members), self.files.read_file, self.options, frozenset(members))
        found.files = self.files
        found._whole = self._whole
        return found

    @cached_property
    def executables(self) -> tuple[tuple[str, Program], ...]:
        """The programs that all units make, as ``sharing.source.merge`` parts them; a part cannot be parted again."""
        return self._whole.executables if self._whole is not self else tuple(executables(self.program))

    def has(self, unit: int) -> bool:
        """Is the unit one of the program that is edited?"""
        return self._members is None or unit in self._members

    def macros(self, path: str, name: bytes) -> tuple[tuple[list[Token], bool], ...]:
        """What the macro ``name`` stands for in files that units with ``path`` read: (tokens, with parameters)."""
        key = (path, name)
        if key not in self._macros:
            names = {file: None for unit in self.program.units if path in unit.files for file in unit.files}
            self._macros[key] = tuple(each for file in names for each in definitions(file, name, self.files))
        return self._macros[key]

    def declared_by(self, path: str, begin: int) -> frozenset[bytes]:
        """Names of the variables that the statement at ``begin`` of a file declares."""
        if path not in self._names:
            found = self._names.setdefault(path, defaultdict(set))
            for unit in (unit for unit in self.program.units if path in unit.files):
                at = unit.files.index(path)
                for each in unit.variables:
                    places = [(each.file, each.begin), *((file, start) for file, _, start, _ in each.declarations)]
                    name = last_name(each.name).encode("utf-8", "surrogateescape")
                    for start in (start for file, start in places if file == at):
                        found[start].add(name)
        return frozenset(self._names[path].get(begin, ()))

    def keep(self, facts: VariableFacts) -> str:
        """An attribute that keeps the padding of a static, "" where none is needed.

        LLVM splits a static of which it sees every access into its members and drops the others, padding included
        (GlobalOpt's scalar replacement of aggregates): 8 bytes are left, and a free tail.
        """
        if not facts.bits & VariableBits.INTERNAL or facts.bits & VariableBits.USED:
            return ""
        units = (unit for unit in self.program.units if facts.identity in unit.symbols)
        return "__attribute__((used))" if any(unit.options.compiler == "clang" for unit in units) else ""

    def variable(self, identity: str) -> Defined[VariableFacts]:
        defined = self.program.variables.get(identity)
        if defined is None:
            raise Refused("no analysed unit defines it")
        return defined

    def record_of(self, tree: TypeTree, unit: int) -> Defined[RecordFacts] | None:
        """The record behind typedefs and qualifiers, None for anything else."""
        core = stripped(tree)
        if core.kind not in RECORD_KINDS or not 0 <= core.count < len(self.program.units[unit].records):
            return None
        return self.program.record(unit, core.count)

    def own_record(self, tree: TypeTree, unit: int) -> Defined[RecordFacts] | None:
        """As ``record_of``, if it is the project's own and not a template."""
        defined = self.record_of(tree, unit)
        if defined is None or defined.facts.bits & (RecordBits.SYSTEM | RecordBits.TEMPLATE) or defined.facts.file < 0:
            return None
        return None if is_system(self.program.path(defined.unit, defined.facts.file)) else defined

    def users(self, key: str) -> frozenset[str]:
        """Variables, records and allocations that contain the record ``key``, by identity, key or place."""
        return frozenset(self._users.get(key, ()))

    def allocations(self, key: str) -> tuple[tuple[str, int], ...]:
        """(``file:line`` of the call, alignment that it promises) of what allocates the record, or one around it."""
        found = [place for at in self._around(key) for place in self._allocations.get(at, ())]
        return tuple(dict.fromkeys(found))

    def numbered(self, key: str) -> str:
        """``file:line`` that allocates the record, or one around it, by a number of bytes; "" where none does."""
        return next((self._numbered[at] for at in self._around(key) if at in self._numbered), "")

    def is_placed(self, key: str) -> bool:
        """Was it seen where objects of the record, or of one around it, come from?"""
        users = {user for at in self._around(key) for user in self._users.get(at, ())}
        static = any(user in self.program.variables or user in self.program.declared for user in users)
        return static or bool(self.allocations(key))

    def union_around(self, key: str) -> str:
        """The name of a union with this record among its members, at any depth, "" none."""
        for at in self._around(key):
            known = self.program.records.get(at)
            if at != key and known is not None and known.facts.bits & RecordBits.UNION:
                return known.facts.name or f"at line {known.facts.line}"
        return ""

    def around(self, key: str) -> frozenset[str]:
        """Keys of the record and of all that contain it."""
        return frozenset(self._around(key))

    def _around(self, key: str) -> dict[str, None]:
        seen, front = {key: None}, [key]
        while front:
            users = self._users.get(front.pop(), ())
            fresh = sorted({user.removeprefix(_RECORD) for user in users if user.startswith(_RECORD)} - seen.keys())
            seen.update(dict.fromkeys(fresh))
            front += fresh
        return seen

    @cached_property
    def _hashes(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for unit in self.program.units:
            for path, digest in zip(unit.files, unit.file_hashes, strict=False):
                if digest:
                    found[path].add(digest)
        return found

    @cached_property
    def _allocations(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for key, place, made, standard in self._made():
            promise = made.guarantee
            if not promise and _follows_type(made.api, standard):
                promise = self.line_size
            found[key].append((place, promise))
        return found

    @cached_property
    def _numbered(self) -> dict[str, str]:
        return {key: place for key, place, made, _ in self._made() if made.by_number}

    def _made(self) -> Iterator[tuple[str, str, AllocationFact, str]]:
        """Calls that allocate records: the record's key, ``file:line``, what is known, the unit's standard."""
        for function in self.program.functions.values():
            unit = self.program.units[function.unit]
            for made in function.facts.allocations:
                if 0 <= made.record < len(unit.records):
                    place = f"{self.program.path(function.unit, made.file)}:{made.line}"
                    yield self.program.record_key(function.unit, made.record), place, made, unit.standard

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)

        def note(tree: TypeTree | None, unit: int, user: str) -> None:
            for _ in range(MAX_DEPTH):
                if tree is None:
                    return
                if tree.kind in RECORD_KINDS:
                    if 0 <= tree.count < len(self.program.units[unit].records):
                        found[self.program.record_key(unit, tree.count)].add(user)
                    return
                tree = tree.inner

        for known in (self.program.variables, self.program.declared):
            for identity, variable in known.items():
                note(variable.facts.type, variable.unit, identity)
        for key, record in self.program.records.items():
            for member in record.facts.members:
                note(member.type, record.unit, f"{_RECORD}{key}")
        for key, places in self._allocations.items():
            found[key].update(place for place, _ in places)
        return found


def _follows_type(api: str, standard: str) -> bool:
    """From C++17 on, ``new`` aligns as the type asks (P0035); an operator of the class's own states its promise."""
    return api.startswith(("new", "std::make_")) and bool(re.search(r"\+\+(1[7-9z]|2)", standard))


def _defines(unit: UnitFacts, identity: str) -> bool:
    out = VariableBits.INTERNAL | VariableBits.DECLARED_ONLY | VariableBits.INLINE
    return any(v.identity == identity and not v.bits & out for v in unit.variables)


def _places(unit: UnitFacts, identity: str) -> Iterator[str]:
    """``file:line`` of the unit's definitions."""
    for each in unit.variables:
        if each.identity == identity and not each.bits & VariableBits.DECLARED_ONLY and each.file >= 0:
            yield f"{unit.files[each.file]}:{each.line}"


def _declaring(unit: UnitFacts, identity: str) -> Iterator[str]:
    """Files that declare or define a variable."""
    for each in unit.variables:
        if each.identity == identity:
            yield from (unit.files[file] for file in (each.file, *(at[0] for at in each.declarations)) if file >= 0)


def last_name(name: str) -> str:
    """The unqualified name: what stands in the declaration."""
    return name.rsplit("::", 1)[-1]
