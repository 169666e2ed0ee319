"""Programs for tests of edits: real files on disk, and the facts that the Clang tool would state of them.

Owns a builder.  Places are found by the text of the declaration, so that a test shows what it is about.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from sharing.model.facts import (
    AllocationFact,
    FunctionFacts,
    MemberFact,
    RecordFacts,
    TypeTree,
    UnitFacts,
    UnitOptions,
    VariableBits,
    VariableFacts,
)
from sharing.model.finding import Confidence, Finding, LineRef, Participant, Remedy, Severity, Verdict
from sharing.model.types import TypeKind
from sharing.source.merge import assemble
from sharing.source.program import Program
from tests.builders.units import unit_facts, variable_facts

LONG = TypeTree(TypeKind.BASE, "long", 8, 8)
POINTER = TypeTree(TypeKind.POINTER, "struct node *", 8, 8)


def array(inner: TypeTree, count: int) -> TypeTree:
    return TypeTree(TypeKind.ARRAY, "", inner.size * count, inner.align, inner, count)


class ProgramBuilder:
    """Write files with ``file``, state what is in them, then ``program``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[str, str] = {}
        self._units: list[Unit] = []

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        self._texts[str(path)] = text
        return str(path)

    def unit(
        self,
        path: str,
        *headers: str,
        language: str = "C",
        standard: str = "gnu17",
        compiler: str = "gcc",
        pic: str = "",
    ) -> Unit:
        """``pic`` is the compiler's flag for code that may lie anywhere: ``-fPIC`` of a library, ``-fPIE``."""
        files = (path, *headers)
        unit = Unit(path, files, {name: self._texts[name] for name in files}, language, standard, compiler, pic)
        self._units.append(unit)
        return unit

    def program(self) -> Program:
        return assemble([unit.facts() for unit in self._units])


class Unit:
    """One translation unit under construction."""

    def __init__(self, path: str, files: tuple[str, ...], texts: dict[str, str], *command: str) -> None:
        self.path, self.files, self.texts = path, files, texts
        self.language, self.standard, self.compiler, self.pic = command
        self._variables: list[VariableFacts] = []
        self._records: list[RecordFacts] = []
        self._allocations: list[AllocationFact] = []
        self._functions: list[str] = []
        self._symbols: list[str] = []

    def _place(self, text: str) -> tuple[int, int, int, int]:
        """(file, line, begin, end) of the text, wherever it stands once."""
        for index, name in enumerate(self.files):
            whole = self.texts[name]
            at = whole.find(text)
            if at >= 0:
                begin = len(whole[:at].encode())
                return index, whole.count("\n", 0, at) + 1, begin, begin + len(text.encode())
        raise AssertionError(f"{text!r} is in no file")

    def record(self, text: str, name: str, members: tuple[tuple[str, str, TypeTree], ...] = (), **more: object) -> int:
        """``text`` is the definition up to its closing brace; members are (text, name, type), packed naturally."""
        file, line, begin, end = self._place(text)
        found, at = [], 0
        for written, label, kind in members:
            _, member_line, member_begin, member_end = self._place(written)
            at = -(-at // kind.align) * kind.align
            found.append(
                MemberFact(
                    label, 8 * at, kind, 0, False, 0, file, member_line, 1, member_begin, member_end, (), "", written
                )
            )
            at += kind.size
        facts = RecordFacts(f"key-{name}", name, 0, max(at, 8), 8, 0, file, line, 1, begin, end, tuple(found))
        self._records.append(msgspec.structs.replace(facts, **more))
        return len(self._records) - 1

    def of_record(self, index: int) -> TypeTree:
        facts = self._records[index]
        return TypeTree(TypeKind.STRUCT, facts.name, facts.size, facts.align, None, index)

    def variable(
        self,
        text: str,
        name: str,
        kind: TypeTree = LONG,
        *,
        also: tuple[str, ...] = (),
        internal: bool | None = None,
        scope: str = "",
        bits: int = 0,
        init: int = 0,
    ) -> str:
        """``text`` is the definition without its semicolon, ``also`` further declarations; returns the identity."""
        file, line, begin, end = self._place(text)
        whole = self.texts[self.files[file]].encode()
        found = re.compile(rb"(?<!\w)" + name.rsplit("::", 1)[-1].encode() + rb"(?!\w)").search(whole, begin)
        assert found is not None
        static = text.startswith("static") if internal is None else internal
        bits |= VariableBits.INTERNAL if static else 0
        identity = f"{name}@{self.files[file]}" if static else name
        self._variables.append(
            variable_facts(
                name,
                kind,
                identity=identity,
                scope=scope,
                bits=bits,
                init=init,
                order=len(self._variables),
                file=file,
                line=line,
                begin=begin,
                end=end,
                name_begin=found.start(),
                declarations=tuple(self._place(each) for each in also),
            )
        )
        return identity

    def declared(self, text: str, name: str, kind: TypeTree = LONG) -> None:
        """A declaration of what another unit defines."""
        self.variable(text, name, kind, internal=False, bits=VariableBits.DECLARED_ONLY)

    def defines(self, name: str) -> None:
        """A further function, without accesses."""
        self._functions.append(name)

    def refers(self, name: str) -> None:
        """A use of what another unit defines."""
        self._symbols.append(name)

    def declared_in(self, text: str, name: str) -> None:
        """A further declaration of a variable that was stated before."""
        at = next(i for i, v in enumerate(self._variables) if v.identity == name)
        known = self._variables[at]
        self._variables[at] = msgspec.structs.replace(known, declarations=(*known.declarations, self._place(text)))

    def allocation(self, record: int, api: str = "malloc", guarantee: int = 0, *, by_number: bool = False) -> None:
        self._allocations.append(AllocationFact(api, record, guarantee, 0, 1, 1, by_number))

    def facts(self) -> UnitFacts:
        functions = [FunctionFacts(f"f@{self.path}", "f", "f", 0, 1, 1, 0, allocations=tuple(self._allocations))]
        functions += [FunctionFacts(name, name, name, 0, 1, 1, 0) for name in self._functions]
        return unit_facts(
            self.path,
            symbols=(*(v.identity for v in self._variables), *self._symbols),
            records=self._records,
            variables=self._variables,
            functions=functions,
            directory=str(Path(self.path).parent),
            language=self.language,
            standard=self.standard,
            options=UnitOptions(compiler=self.compiler, pic=bool(self.pic), pie=self.pic == "-fPIE"),
            files=self.files,
            file_hashes=tuple(hashlib.sha256(self.texts[name].encode()).hexdigest() for name in self.files),
        )


def finding(*identities: str, kind: str = "pad-type", member: str = "", rule: str = "independent-writers") -> Finding:
    """A finding whose first participant is to move."""
    participants = tuple(
        Participant(i.split("@")[0], "0x0", 8, ((0, 8),), "counter", "", member=member, identity=i) for i in identities
    )
    remedy = Remedy(kind, f"move {participants[0].full_name}", "", "C", 0, False, True)
    return Finding(
        f"{rule}-0123456789",
        rule,
        Severity.HIGH,
        Confidence.STATIC,
        Verdict.FALSE_SHARING,
        LineRef("0x0", 64),
        participants,
        "",
        (),
        (remedy,),
    )


def read(path: str) -> bytes:
    return Path(path).read_bytes()
