"""Which variables of a unit a compiler keeps, and in which order it writes them out.

Owns the two compilers' walks over a unit, as far as facts from source can follow them.  What decides is when a
compiler first puts a variable on its list:

GCC (cgraphunit.cc) lists file-scope variables where they are defined.  Statics of functions join at the end of the unit
in C, when their function is lowered: at -O0 in the order of the functions, else in the order in which
``analyze_functions`` reaches them, callers first, callees right after; in C++ they are listed where they stand.
``output_variables`` then takes the list from its newest end, unless -fno-toplevel-reorder (part of -O0) forbids.

Clang (CodeGenModule) appends a variable to its module's list when it is defined or when code generated before names it
first.  What nobody may need (internal linkage, inline) is deferred until something names it; such functions are
generated at the end of the unit, each followed by what it named.  Tentative definitions of C wait for the end, too.
LLVM keeps the order.

Both drop what nothing reaches (GCC not at -O0), and at -O1 and above internal scalars that are only read or only
written: their value is known, or nobody asks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sharing.model.facts import Init, UnitOptions, VariableBits, VariableFacts
from sharing.model.image import AccessKind
from sharing.source.alignment import is_aggregate, stripped
from sharing.source.references import FunctionReferences

_KEPT = VariableBits.USED | VariableBits.VOLATILE


def in_order(
    variables: Sequence[VariableFacts],
    options: UnitOptions,
    language: str,
    functions: Sequence[FunctionReferences] | None,
    referenced: Collection[str] | None,
    symbols: Sequence[str] = (),
) -> tuple[list[VariableFacts], frozenset[str]]:
    """The definitions that are written out, first to last, and the identities of those that turn out to be constant.

    Without ``functions`` order follows the source alone and only what ``referenced`` lacks is dropped.
    """
    definitions = sorted((v for v in variables if not v.bits & VariableBits.DECLARED_ONLY), key=lambda v: v.order)
    if functions is None:
        if referenced is not None and not _keeps_unused(options):
            definitions = [v for v in definitions if not droppable(v) or v.identity in referenced]
        return _without_walk(definitions, options, language), frozenset()
    walk = Walk(definitions, functions, symbols)
    clang = options.compiler == "clang"
    order = _clang_order(walk, language) if clang else _gcc_order(walk, options, language)
    if options.level == "0":
        return order, frozenset()
    return _optimized(order, walk)


def droppable(variable: VariableFacts) -> bool:
    """May the compiler leave it out when nothing refers to it?"""
    return bool(variable.bits & (VariableBits.INTERNAL | VariableBits.INLINE)) and not variable.bits & VariableBits.USED


def _keeps_unused(options: UnitOptions) -> bool:
    return options.compiler != "clang" and _forwards(options)


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
        self.functions = functions
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
        events = [(v.line, v.column, v.identity) for v in self.statics.get(function.identity, ())]
        events += [(r.line or 1 << 60, r.column, r.identity) for r in function.references]
        return list(dict.fromkeys(identity for _, _, identity in sorted(events, key=lambda e: e[:2])))

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
    before = [f for f in functions if (f.line, f.column) <= (variable.line, variable.column)]
    named = [f for f in before if f.name == variable.scope] or before
    return named[-1] if named else None


def _gcc_order(walk: Walk, options: UnitOptions, language: str) -> list[VariableFacts]:
    if _forwards(options):
        # Only what may be defined in several units is dropped: everything else is output as it was read.
        reached = set(_reachable(walk, optimized=False))
        dropped = {f.identity for f in walk.functions if f.identity not in reached}
        kept = [
            v
            for v in walk.definitions
            if v.identity in reached or not (v.bits & VariableBits.INLINE or walk.owner.get(v.identity) in dropped)
        ]
        if language == "C":
            kept = [v for v in kept if _listed_early(v)] + [v for v in kept if not _listed_early(v)]
        return kept
    visits = _reachable(walk)
    reached = set(visits)
    if language == "C":
        listed = [v for v in walk.definitions if _listed_early(v) or v.identity not in walk.owner]
        late = [s for name in visits if name in walk.function for s in walk.statics.get(name, ())]
        listed += [s for s in late if not _listed_early(s)]
    else:
        listed = list(walk.definitions)
    return [v for v in reversed(listed) if not droppable(v) or v.identity in reached or v.bits & VariableBits.VOLATILE]


def _reachable(walk: Walk, optimized: bool = True) -> list[str]:
    """Identities in the order in which GCC's analyze_functions takes them off its stack."""
    needed: list[str] = []
    for item in walk.top_level():
        if isinstance(item, FunctionReferences):
            if not item.deferred or not (optimized or item.merged):
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
    created: dict[str, None] = {}
    deferred: list[str] = []
    seen: set[str] = set()

    def name_it(identity: str) -> None:
        """Code names a variable or function: its place on the list is taken now, its definition may follow later."""
        variable = walk.variable.get(identity)
        if variable is not None:
            created.setdefault(identity)
            if identity in seen or (not droppable(variable) and not variable.bits & VariableBits.TENTATIVE):
                return
        elif identity not in walk.function or identity in seen or not walk.function[identity].deferred:
            return
        seen.add(identity)
        deferred.append(identity)

    def define(item: VariableFacts | FunctionReferences) -> None:
        if isinstance(item, FunctionReferences):
            for identity in walk.mentions(item):
                if walk.owner.get(identity) == item.identity:
                    seen.add(identity)
                    created.setdefault(identity)
                name_it(identity)
            return
        for identity in walk.initializer(item):
            name_it(identity)
        if item.bits & VariableBits.RESHAPED:
            # A variable made for its first mention has the wrong type: a new one takes its name, at the end.
            created.pop(item.identity, None)
        created.setdefault(item.identity)

    def define_deferred() -> None:
        waiting, deferred[:] = list(deferred), []
        for identity in waiting:
            item = walk.function.get(identity) or walk.variable[identity]
            define(item)
            if deferred:
                define_deferred()

    tentative = []
    for item in walk.top_level():
        if isinstance(item, FunctionReferences):
            if not item.deferred:
                define(item)
        elif item.bits & VariableBits.TENTATIVE and language == "C":
            tentative.append(item)
        elif not droppable(item) or item.init == Init.DYNAMIC:
            define(item)
    for item in tentative:
        if not droppable(item) or item.identity in created:
            define(item)
    define_deferred()
    return [walk.variable[identity] for identity in created]


def _optimized(order: list[VariableFacts], walk: Walk) -> tuple[list[VariableFacts], frozenset[str]]:
    """Without the internal scalars that are only read or only written, and the names of tables that are only read."""
    kinds: dict[str, set[AccessKind]] = {}
    for function in walk.functions:
        for reference in function.references:
            kinds.setdefault(reference.identity, set()).add(reference.kind)
    for variable in walk.definitions:
        for identity in walk.initializer(variable):
            kinds.setdefault(identity, set()).add(AccessKind.ADDRESS)
    kept = []
    constant = set()
    for v in order:
        known = set(kinds.get(v.identity, ()))
        if v.bits & VariableBits.INTERNAL and not v.bits & (_KEPT | VariableBits.CONSTANT):
            if v.init == Init.DYNAMIC:
                known.add(AccessKind.STORE)
            scalar = not is_aggregate(stripped(v.type))
            if scalar and known in ({AccessKind.LOAD}, {AccessKind.STORE}):
                continue
            if known == {AccessKind.LOAD} and not v.section:
                constant.add(v.identity)
        kept.append(v)
    return kept, frozenset(constant)
