"""Programs as source states them, by hand: units with records, variables and functions in a few readable lines.

Owns the builder.  Tests that read real source are beside it (``programs/``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sharing.judge.declarations import run_source_rules, source_context
from sharing.knowledge import default_knowledge
from sharing.model.facts import (
    AccessFlag,
    AllocationFact,
    Base,
    FunctionFacts,
    LockFact,
    MemberFact,
    RecordFacts,
    TypeTree,
    UnitFacts,
    VariableBits,
    VariableFacts,
)
from sharing.model.finding import Finding
from sharing.model.image import AccessKind
from sharing.model.types import TypeKind
from sharing.source.merge import assemble
from sharing.source.program import Program
from tests.builders.units import unit_facts, variable_facts

LONG = TypeTree(TypeKind.BASE, "long", 8, 8)
INT = TypeTree(TypeKind.BASE, "int", 4, 4)
CHAR = TypeTree(TypeKind.BASE, "char", 1, 1)
ATOMIC = TypeTree(TypeKind.ATOMIC, "", 8, 8, LONG)
MUTEX = TypeTree(TypeKind.TYPEDEF, "pthread_mutex_t", 40, 8, TypeTree(TypeKind.UNION, "pthread_mutex_t", 40, 8))


def array(element: TypeTree, count: int) -> TypeTree:
    return TypeTree(TypeKind.ARRAY, "", element.size * count, element.align, element, count)


@dataclass
class Unit:
    """One unit: what is added gets the next line.  ``functions`` take accesses as ``f("worker", ("x", "rmw"))``."""

    path: str = "a.c"
    language: str = "C"
    triple: str = "x86_64-pc-linux-gnu"
    symbols: list[str] = field(default_factory=list)
    records: dict[str, RecordFacts] = field(default_factory=dict)
    variables: list[VariableFacts] = field(default_factory=list)
    functions: list[FunctionFacts] = field(default_factory=list)
    line: int = 0

    def record(self, name: str, *members: MemberFact, **more: Any) -> TypeTree:
        """A record whose size and alignment follow from its members unless they are given; its type."""
        self.line += 10
        align = max(
            [m.type.align for m in members] + [m.declared_align for m in members] + [more.get("declared_align", 1)]
        )
        end = max(m.offset_bits // 8 + m.type.size for m in members)
        place: dict[str, Any] = {"file": 0, "line": self.line, "column": 8}
        facts: dict[str, Any] = {
            "key": f"{name}@{self.path}:{self.line}",
            "bits": 0,
            "size": -(-end // align) * align,
            "align": align,
            "declared_align": 0,
            "begin": 0,
            "end": 0,
        }
        record = RecordFacts(**{**facts, **place, "name": name, "members": members, **more})
        self.records[record.key] = record
        return TypeTree(TypeKind.STRUCT, name, record.size, record.align, None, len(self.records) - 1)

    def member(
        self, name: str, at: int, type: TypeTree, text: str = "", align: int = 0, macros: tuple[str, ...] = ()
    ) -> MemberFact:
        return MemberFact(name, at * 8, type, 0, False, align, 0, self.line + 11, 3, 0, 0, macros, "", text)

    def variable(self, name: str, type: TypeTree, align: int = 0, **more: Any) -> str:
        """A definition; its identity."""
        self.line += 10
        place = {"order": len(self.variables), "line": self.line, "type_text": type.name}
        self.variables.append(variable_facts(name, type, align, **{**place, **more}))
        self.symbol(name)
        return name

    def symbol(self, name: str) -> int:
        if name not in self.symbols:
            self.symbols.append(name)
        return self.symbols.index(name)

    def function(
        self,
        name: str,
        *uses: tuple[Any, ...],
        under: str = "",
        allocates: tuple[tuple[str, TypeTree, int], ...] = (),
    ) -> None:
        """``uses``: (variable or record type, kind name, offset=0, stride=0); all ``under`` one lock if it is named."""
        self.line += 10
        rows: list[int] = []
        for use in uses:
            what, kind, offset, stride = (*use, 0, 0)[:4]
            variable = isinstance(what, str)
            base = Base.VARIABLE if variable else Base.RECORD
            row = [base, self.symbol(what) if variable else -1, -1 if variable else what.count, offset, 8]
            row += [AccessKind[kind.upper()], 0, AccessFlag.INDEXED if stride else 0, stride, 0, self.line, 5, 1, 0, 0]
            rows += [int(v) for v in row] + [1 if under else 0]
        self.functions.append(
            FunctionFacts(
                identity=name,
                symbol=name,
                name=name,
                file=0,
                line=self.line,
                column=1,
                bits=0,
                accesses=tuple(rows),
                locks=(LockFact(Base.VARIABLE, self.symbol(under), -1, 0, 0, False, "pthread_mutex_t", f"&{under}"),)
                if under
                else (),
                locksets=((), (0,)) if under else ((),),
                allocations=tuple(
                    AllocationFact(api, type.count, guarantee, 0, self.line + 1, 9)
                    for api, type, guarantee in allocates
                ),
            )
        )

    def facts(self) -> UnitFacts:
        return unit_facts(
            self.path,
            symbols=self.symbols,
            records=self.records.values(),
            variables=self.variables,
            functions=self.functions,
            language=self.language,
            standard="c11" if self.language == "C" else "c++20",
            triple=self.triple,
            hash="0",
            files=(self.header or self.path,),
            file_hashes=("0",),
        )

    header: str = ""  # where its declarations are, its own file unless said otherwise


def program(*units: Unit) -> Program:
    return assemble(u.facts() for u in units)


def found(*units: Unit, line_size: int = 64) -> list[Finding]:
    whole = program(*units)
    return run_source_rules(whole, source_context(whole, default_knowledge(), line_size, 2 * line_size))


def verdicts(*units: Unit, line_size: int = 64) -> dict[str, str]:
    """Rule and severity of each finding."""
    return {f.rule: str(f.severity) for f in found(*units, line_size=line_size)}


EMBEDDED = int(VariableBits.EMBEDDED)
