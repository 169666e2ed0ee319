"""Which variables of a unit a compiler keeps, and in which order it writes them out.

Owns the two compilers' walks over a unit, as far as facts from source can follow them.  What decides is when a
compiler first puts a variable on its list:

GCC (cgraphunit.cc) lists file-scope variables where they are defined.  Statics of functions join at the end of the unit
in C, in the order in which the lowered function first names them: functions at -O0 in the order of the source, else in
that in which ``analyze_functions`` reaches them, callers first, callees right after; in C++ they are listed where they
stand.
``output_variables`` then takes the list from its newest end, unless -fno-toplevel-reorder (part of -O0) forbids.

Clang (CodeGenModule) appends a variable to its module's list when it is defined or when code generated before names it
first.  What nobody may need (internal linkage, inline) is deferred until something names it; such functions are
generated at the end of the unit, each followed by what it named.  Tentative definitions of C wait for the end, too.
LLVM keeps the order.

Both drop what nothing reaches (GCC not at -O0), and at -O1 and above internal scalars that are only read or only
written: their value is known, or nobody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from sharing.model.facts import Init, UnitOptions, VariableBits, VariableFacts
from sharing.model.image import AccessKind
from sharing.source.alignment import is_aggregate
from sharing.source.declarations import stripped
from sharing.source.references import FunctionReferences

_AROUND = 64  # functions in functions, as lambdas are
_KEPT = VariableBits.USED | VariableBits.VOLATILE


def in_order(
    variables: Sequence[VariableFacts],
    options: UnitOptions,
    language: str,
    functions: Sequence[FunctionReferences] | None,
    symbols: Sequence[str] = (),
) -> list[VariableFacts]:
    """The definitions that are written out, first to last.

    Without ``functions`` order follows the source alone and nothing is dropped.
    """
    definitions = sorted((v for v in variables if not v.bits & VariableBits.DECLARED_ONLY), key=lambda v: v.order)
    if functions is None:
        return _without_walk(definitions, options, language)
    walk = Walk(definitions, functions, symbols)
    clang = options.compiler == "clang"
    order = _clang_order(walk, language) if clang else _gcc_order(walk, options, language)
    return order if options.level == "0" else _optimized(order, walk)


def droppable(variable: VariableFacts) -> bool:
    """May the compiler leave it out when nothing refers to it?"""
    return bool(variable.bits & (VariableBits.INTERNAL | VariableBits.INLINE)) and not variable.bits & VariableBits.USED


def _forwards(options: UnitOptions) -> bool:
    return options.level == "0" or not options.toplevel_reorder


def _without_walk(definitions: list[VariableFacts], options: UnitOptions, language: str) -> list[VariableFacts]:
    if options.compiler == "clang":
        waiting = [v for v in definitions if v.bits & VariableBits.TENTATIVE and not v.scope]
        return [v for v in definitions if v not in waiting] + waiting if waiting else definitions
    if language == "C":
        definitions = [v for v in definitions if _listed_early(v)] + [v for v in definitions if not _listed_early(v)]
    return definitions if _forwards(options) else definitions[::-1]


def _listed_early(variable: VariableFacts) -> bool:
    """Does GCC list it when it reads it, in C?  Thread-local ones enter the symbol table with their TLS model."""
    return not variable.scope or bool(variable.bits & VariableBits.THREAD)


class Walk:
    """The tables of one unit that both compilers' walks go through."""

    def __init__(
        self, definitions: list[VariableFacts], functions: Sequence[FunctionReferences], symbols: Sequence[str]
    ) -> None:
        self.definitions = definitions
        self.symbols = symbols
        # By the place in the text; what headers have comes first.
        self.functions = sorted(functions, key=lambda f: (f.file == 0, f.file, f.line, f.column))
        self.variable = {v.identity: v for v in definitions}
        self.function = {f.identity: f for f in functions}
        self.statics: dict[str, list[VariableFacts]] = {}
        self.owner: dict[str, str] = {}
        by_file: dict[int, list[FunctionReferences]] = {}
        for f in functions:
            by_file.setdefault(f.file, []).append(f)
        for same in by_file.values():
            same.sort(key=lambda f: (f.line, f.column))
        for v in definitions:
            owner = _around(v, by_file.get(v.file, [])) if v.scope else None
            if owner is not None:
                self.statics.setdefault(owner.identity, []).append(v)
                self.owner[v.identity] = owner.identity

    def mentions(self, function: FunctionReferences) -> list[str]:
        """What a function defines or names, in the order of its text, each once."""
        if function.names:
            unplaced = [r.identity for r in function.references]
            return list(dict.fromkeys((*function.names, *unplaced)))
        events = [(v.line, v.column, v.identity) for v in self.statics.get(function.identity, ())]
        events += [(r.line or 1 << 60, r.column, r.identity) for r in function.references]
        return list(dict.fromkeys(identity for _, _, identity in sorted(events, key=lambda e: e[:2])))

    def statics_by_use(self, function: str) -> list[VariableFacts]:
        """A function's statics in the order in which it first names them, the others last."""
        statics = self.statics.get(function, [])
        if len(statics) < 2:
            return statics
        facts = self.function[function]
        own = {v.identity for v in statics}
        uses = [r.identity for r in facts.references if r.identity in own]
        if facts.names:
            declared: set[str] = set()
            uses = []
            for identity in facts.names:
                if identity in own and identity not in declared:
                    declared.add(identity)
                elif identity in own:
                    uses.append(identity)
        at = {identity: place for place, identity in enumerate(dict.fromkeys(uses))}
        return sorted(statics, key=lambda v: at.get(v.identity, len(at)))

    def initializer(self, variable: VariableFacts) -> list[str]:
        """What the initialiser of a variable names."""
        return [self.symbols[i] for i in variable.refers if 0 <= i < len(self.symbols)]

    def top_level(self) -> list[VariableFacts | FunctionReferences]:
        """File-scope variables and functions together, in the order of the source.

        Where the two come from different files nothing tells which was first: what a header has is taken to be.
        """
        merged: list[VariableFacts | FunctionReferences] = []
        variables = [v for v in self.definitions if v.identity not in self.owner]
        functions = list(self.functions)
        i = j = 0
        while i < len(variables) and j < len(functions):
            v, f = variables[i], functions[j]
            first = (v.line, v.column) < (f.line, f.column) if v.file == f.file else v.file != 0
            merged.append(v if first else f)
            i, j = (i + 1, j) if first else (i, j + 1)
        return [*merged, *variables[i:], *functions[j:]]


def _around(variable: VariableFacts, functions: list[FunctionReferences]) -> FunctionReferences | None:
    """The function of that file that begins last before the variable; one of the scope's name if there is any."""
    last = bisect_right(functions, (variable.line, variable.column), key=lambda f: (f.line, f.column))
    before = functions[max(last - _AROUND, 0) : last]
    named = [f for f in before if f.name == variable.scope] or before
    return named[-1] if named else None


def _gcc_order(walk: Walk, options: UnitOptions, language: str) -> list[VariableFacts]:
    visits = _reachable(walk, optimized=not _forwards(options))
    reached = set(visits)
    if _forwards(options):
        # Only what may be defined in several units is dropped: everything else is output as it was read.
        visits = [f.identity for f in walk.functions]
        dropped = {f.identity for f in walk.functions if f.identity not in reached}
        kept = {
            v.identity
            for v in walk.definitions
            if v.identity in reached or not (v.bits & VariableBits.INLINE or walk.owner.get(v.identity) in dropped)
        }
    else:
        kept = {
            v.identity
            for v in walk.definitions
            if v.identity in reached or not droppable(v) or v.bits & VariableBits.VOLATILE
        }
    listed = walk.definitions
    if language == "C":
        listed = [v for v in walk.definitions if _listed_early(v) or v.identity not in walk.owner]
        listed += [s for name in visits for s in walk.statics_by_use(name) if not _listed_early(s)]
    listed = [v for v in listed if v.identity in kept]
    return listed if _forwards(options) else listed[::-1]


def _reachable(walk: Walk, optimized: bool = True) -> list[str]:
    """Identities in the order in which GCC's analyze_functions takes them off its stack."""
    needed: list[str] = []
    for item in walk.top_level():
        if isinstance(item, FunctionReferences):
            if not item.deferred or item.virtual or not (optimized or item.merged):
                needed.append(item.identity)
        elif not droppable(item) or item.bits & _KEPT or item.init == Init.DYNAMIC:
            needed.append(item.identity)
    stack = needed[::-1]
    queued = set(stack)
    visits: list[str] = []
    while stack:
        name = stack.pop()
        visits.append(name)
        function = walk.function.get(name)
        if function is None:
            variable = walk.variable.get(name)
            named = walk.initializer(variable) if variable is not None else []
            called: list[str] = []
        else:
            calls = {r.identity for r in function.references if r.kind is AccessKind.UNKNOWN}
            mentions = walk.mentions(function)
            # Edges of the call graph are the newest first, references the oldest: the last pushed comes off first.
            called = [m for m in reversed(mentions) if m in calls]
            named = [m for m in mentions if m not in calls]
        for identity in (*called, *named):
            if identity not in queued and (identity in walk.function or identity in walk.variable):
                queued.add(identity)
                stack.append(identity)
    return visits


def _clang_order(walk: Walk, language: str) -> list[VariableFacts]:
    """Clang's list: what must be defined as the source comes, tentative definitions of C, what was asked for."""
    clang = _ClangList(walk)
    tentative = []
    for item in walk.top_level():
        if isinstance(item, VariableFacts) and item.bits & VariableBits.TENTATIVE and language == "C":
            tentative.append(item)
        else:
            clang.read(item)
    for item in tentative:
        if not droppable(item) or item.identity in clang.created:
            clang.define(item)
    clang.emit_deferred()
    clang.emit_tables()
    return [walk.variable[identity] for identity in clang.created]


class _ClangList:
    """The module's list while code is generated; the names of the parts are CodeGenModule's."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self.created: dict[str, None] = {}  # variables, in the order of the list
        self._parsed: set[str] = set()  # DeferredDecls: definitions that nothing has asked for yet
        self._named: set[str] = set()
        self._to_emit: list[str] = []  # DeferredDeclsToEmit

    def read(self, item: VariableFacts | FunctionReferences) -> None:
        """A definition comes by: it is generated now, or waits until something names it."""
        if not _may_wait(item):
            self.define(item)
            return
        self._parsed.add(item.identity)
        if item.identity in self._named:
            self._to_emit.append(item.identity)

    def define(self, item: VariableFacts | FunctionReferences) -> None:
        self._named.add(item.identity)
        if isinstance(item, FunctionReferences):
            for identity in self._walk.mentions(item):
                self._name(identity)
            return
        for identity in self._walk.initializer(item):
            self._name(identity)
        if item.bits & VariableBits.RESHAPED:
            # A variable made for its first mention has the wrong type: a new one takes its name, at the end.
            self.created.pop(item.identity, None)
        self.created.setdefault(item.identity)

    def _name(self, identity: str) -> None:
        """Code names a variable or function: its place on the list is taken now, its definition may follow later."""
        item = self._walk.variable.get(identity) or self._walk.function.get(identity)
        if isinstance(item, VariableFacts):
            self.created.setdefault(identity)
        if item is not None and identity not in self._named:
            self._named.add(identity)
            if identity in self._parsed:
                self._to_emit.append(identity)

    def emit_tables(self) -> None:
        """What tables of virtual functions refer to, of which facts do not say where code asks for them."""
        for function in self._walk.functions:
            if function.virtual:
                self._name(function.identity)
        self.emit_deferred()

    def emit_deferred(self) -> None:
        """What was asked for, each followed at once by what it asks for itself."""
        pending = [iter(self._to_emit.copy())]
        while pending:
            identity = next(pending[-1], None)
            if identity is None:
                pending.pop()
                continue
            self._to_emit.clear()
            self.define(self._walk.function.get(identity) or self._walk.variable[identity])
            if self._to_emit:
                pending.append(iter(self._to_emit.copy()))


def _may_wait(item: VariableFacts | FunctionReferences) -> bool:
    if isinstance(item, FunctionReferences):
        return item.deferred
    return droppable(item) and item.init != Init.DYNAMIC


def _optimized(order: list[VariableFacts], walk: Walk) -> list[VariableFacts]:
    """Without the internal scalars that are only read or only written.

    Tables that are only read become constant, too, but only where the optimizer sees through all that is done to
    them; taking half of them for variables is the smaller error.
    """
    kinds: dict[str, set[AccessKind]] = {}
    for function in walk.functions:
        for reference in function.references:
            kinds.setdefault(reference.identity, set()).add(reference.kind)
    for variable in walk.definitions:
        for identity in walk.initializer(variable):
            kinds.setdefault(identity, set()).add(AccessKind.ADDRESS)
    kept = []
    for v in order:
        known = set(kinds.get(v.identity, ()))
        if v.init == Init.DYNAMIC:
            known.add(AccessKind.STORE)
        owned = v.bits & VariableBits.INTERNAL and not v.bits & (_KEPT | VariableBits.CONSTANT)
        if owned and not is_aggregate(stripped(v.type)) and known in ({AccessKind.LOAD}, {AccessKind.STORE}):
            continue
        kept.append(v)
    return kept
