"""Aligned type allocated without its alignment.

What it does: finds a record that asks for more alignment than malloc gives, and is allocated with malloc, calloc,
realloc, or a `new` from before C++17.

Why is this bad?  malloc aligns to 16 bytes on 64-bit machines.  The compiler believes the declared alignment, may use
instructions that fault without it, and the members that were to start a line start 16, 32 or 48 bytes into one: the
first and last shares its line with some other object of the heap, whose owner changes from run to run.

Example:

    struct queue { _Alignas(64) atomic_long head; _Alignas(64) atomic_long tail; };
    struct queue *q = malloc(sizeof *q);                        // 16 bytes of alignment

Use instead: an allocation that knows the alignment.

    struct queue *q = aligned_alloc(_Alignof(struct queue), sizeof *q);

In C++, `new` does so since C++17 (compile with -std=c++17 or later), and so do std::make_unique and the containers;
before it, what a std::vector holds counts as allocated by one that does not know.  So does what a std::allocator of
characters is told the size of, in any: it aligns to what characters need.  A wrapper of the project, known by
its name, by an attribute, or because it returns memory for the size of a record that it is told (and is told neither
where that is nor which of several), promises what malloc does where its definition is seen to call malloc, or another
wrapper that does; what is not seen of one may align, and is low, or medium where the record is busy.  So is what a
record tells of memory that was reserved.  Of one that is seen to call what aligns nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sharing.model.arch import target_architecture
from sharing.model.facts import CALL_COLUMNS, AllocationFact, RecordFacts
from sharing.model.finding import Related, Remedy, Severity, Verdict
from sharing.rules.declaration.base import DeclarationRule, SourceContext, SourceDraft, SourceParticipant, raised
from sharing.source.declarations import language, shown_name, source_position, synchronises
from sharing.source.program import Defined, Program
from sharing.static.coldness import last_component

MAX_PLACES = 6
MAX_WRAPPED = 4  # wrappers around wrappers
_Place = tuple[AllocationFact, str, str, int]  # the function that allocates, where, what is promised
# Slabs of these allocators have sizes that are multiples of the alignment of any type that fits them: since Linux 5.4
# kmalloc aligns sizes that are a power of two to themselves, and the caches between (96, 192) to their own divisor.
_SLABS = (
    "kmalloc",
    "kzalloc",
    "kcalloc",
    "kvmalloc",
    "kvzalloc",
    "kvcalloc",
    "kmem_cache",
    "vmalloc",
    "vzalloc",
    "devm_k",
    "memblock_",  # is told the alignment
)
_C_MALLOCS = frozenset({"malloc", "calloc", "realloc", "reallocarray"})
_MALLOCS = _C_MALLOCS | {"new", "new[]", "operator new", "operator new[]", "make_unique", "make_shared", "allocator"}
_CONTAINERS = ("std::vector<", "std::deque<")
_STANDARD = re.compile(r"(?:c|gnu)\+\+(\d\w)")
_ALIGNED_NEW = "17"
_OLD = ("98", "03", "0x")  # C++ of before 2011
# What else allocates is known by what it is told, which says less.
_NAMED_ALLOCATOR = re.compile(r"alloc(?:0|_n|0_n|_node|_array)?$", re.IGNORECASE)
# Others that call malloc hand on something else: what they keep in what they made.
_NAMED_AFTER_MEMORY = re.compile(r"alloc|mem(?![a-z])", re.IGNORECASE)


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. allocations that promise less than their record's alignment; 2. one finding a record."""
    found: dict[str, list[tuple[AllocationFact, str, str, int]]] = {}
    for defined in program.functions.values():
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is None or aligns_itself(fact):
                continue
            promised = fact.guarantee or _default_alignment(program, defined.unit)
            if record.facts.align <= promised:
                continue
            files = program.units[defined.unit].files
            where = f"{files[fact.file]}:{fact.line}:{fact.column}" if 0 <= fact.file < len(files) else ""
            found.setdefault(record.facts.key, []).append((fact, defined.facts.name, where, promised))
    found = _not_by_what_aligns(program, found) if found else found
    for key, place in _in_containers(program):
        found.setdefault(key, []).append(place)
    wrappers = _wrappers(program) if found else frozenset()
    for key, places in found.items():
        yield _draft(program, ctx, program.records[key], places, wrappers)


def _not_by_what_aligns(program: Program, found: dict[str, list[_Place]]) -> dict[str, list[_Place]]:
    """Without allocations by functions not named after it that are seen to call what aligns, where none is promised."""
    aligning = {name for name in _aligning(program) if not _NAMED_ALLOCATOR.search(name)}
    kept = {
        key: [place for place in places if place[0].guarantee or _unqualified(place[0].api) not in aligning]
        for key, places in found.items()
    }
    return {key: places for key, places in kept.items() if places}


def _in_containers(program: Program) -> Iterator[tuple[str, _Place]]:
    """Keys of records that a container of before C++17 holds by an allocator that is told no alignment."""
    aligned: dict[str, Defined[RecordFacts]] = {
        d.facts.name: d for d in program.records.values() if d.facts.align > _default_alignment(program, d.unit)
    }
    for held in program.records.values() if aligned else ():
        name = held.facts.name
        start = next((c for c in _CONTAINERS if name.startswith(c)), None)
        inner = aligned.get(name[len(start) : -1]) if start else None
        if inner is not None and _before_aligned_new(program.units[held.unit].standard):
            fact = AllocationFact("std::allocator", 0, 0, -1, 0, 0)
            yield inner.facts.key, (fact, name, "", _default_alignment(program, held.unit))


def _before_aligned_new(standard: str) -> bool:
    year = _STANDARD.fullmatch(standard)
    return year is not None and (year.group(1) in _OLD or year.group(1) < _ALIGNED_NEW)


def _wrappers(program: Program) -> frozenset[str]:
    """Unqualified names of functions that are seen to hand on what malloc gives, in all their definitions.

    Through others that do so as well; one that may align as well promises what its caller asks it for.
    """
    calls = _calls(program)
    known = set(_C_MALLOCS)
    for _ in range(MAX_WRAPPED):
        more = {
            name
            for name, definitions in calls.items()
            if name not in known
            and _NAMED_AFTER_MEMORY.search(name)
            and all(called & known and not any("align" in one for one in called) for called in definitions)
        }
        if not more:
            break
        known |= more
    return frozenset(known - _C_MALLOCS)


def _aligning(program: Program) -> frozenset[str]:
    """Unqualified names of functions of which a definition is seen to call what aligns, by its name, and none malloc.

    What these promise is not known; that it is no more than malloc does would be wrong.
    """
    aligning: set[str] = set()
    mallocs: set[str] = set(_C_MALLOCS)
    through: dict[str, set[str]] = {}  # by name what its definitions call that is named after memory
    for name, definitions in _calls(program).items():
        if _NAMED_AFTER_MEMORY.search(name):
            called = {one for definition in definitions for one in definition}
            if any("align" in one for one in called):
                aligning.add(name)
            through[name] = {last_component(one) for one in called if _NAMED_AFTER_MEMORY.search(one)}
    for found in (aligning, mallocs):
        for _ in range(MAX_WRAPPED):
            more = {name for name, called in through.items() if name not in found and called & found}
            if not more:
                break
            found |= more
    return frozenset(aligning - mallocs)


def _calls(program: Program) -> dict[str, list[set[str]]]:
    """By the unqualified name of a function what each of its definitions calls, as symbols."""
    calls: dict[str, list[set[str]]] = {}
    for defined in program.functions.values():
        rows = defined.facts.calls
        # Of a static function also the file stands in its symbol.
        symbols = {program.symbol(defined.unit, s).partition("@")[0] for s in rows[:: len(CALL_COLUMNS)] if s >= 0}
        calls.setdefault(_unqualified(defined.facts.name), []).append(symbols)
    return calls


def _unqualified(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]


def aligns_itself(fact: AllocationFact) -> bool:
    """Is it made by slabs, or by a function of the project that aligns, which says so in its name?"""
    return fact.api.startswith(_SLABS) or "align" in fact.api.lower()


def _default_alignment(program: Program, unit: int) -> int:
    """What malloc promises: twice a pointer (glibc's MALLOC_ALIGNMENT, musl and others alike)."""
    architecture = target_architecture(program.units[unit].triple)
    return 2 * (architecture.bits if architecture is not None else 32) // 8


def _draft(
    program: Program,
    ctx: SourceContext,
    record: Defined[RecordFacts],
    places: list[_Place],
    wrappers: frozenset[str],
) -> SourceDraft:
    facts = record.facts
    fact, function, where, promised = min(places, key=lambda p: p[3])
    spoken = language(program, record.unit)
    name = shown_name(facts)
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    at = f"{function} ({_short(where)})" if where else function
    kind = synchronises_record(program, record, ctx)
    # What a wrapper promises that is not seen is not written anywhere: most hand on what malloc gives.
    known = any((api := p[0].api.rpartition("::")[2]) in _MALLOCS or api in wrappers or p[0].guarantee for p in places)
    severity = Severity.MEDIUM if facts.align >= ctx.line_size and known else Severity.LOW
    says = f"promises {promised}" if known else f"is not seen to promise more than {promised}"
    struct = f"struct {name}" if spoken == "C" else name
    edit = (
        f"{struct} *p = aligned_alloc(_Alignof({struct}), sizeof *p);"
        if spoken == "C"
        else f"auto p = std::make_unique<{name}>();  // -std=c++17 or later"
    )
    return SourceDraft(
        rule=RULE.id,
        severity=raised(severity, ctx.heat(facts.key, 0)),
        verdict=Verdict.FRAGILE,
        participants=(
            SourceParticipant(
                name, 0, facts.size, kind or "record", source_position(program, record.unit, facts), facts.key, name
            ),
        ),
        message=(
            f"{name} asks for {facts.align} bytes of alignment, but {fact.api} in {at}{more} "
            f"{says}: its members start off their lines by multiples of that, and the compiler does not "
            f"know: allocate it with aligned_alloc{' or with new of C++17' if spoken == 'C++' else ''}"
        ),
        evidence=(f"alignment of {name}: {facts.align}; promised by {fact.api}: {promised}",),
        remedies=(
            Remedy(
                kind="aligned-allocation",
                text=f"allocate {name} with its alignment of {facts.align} bytes",
                edit=edit,
                language=spoken,
                cost_bytes=facts.align - promised,
                breaks_abi=False,
                protects_tail=True,
            ),
        ),
        score=float(len(places)),
        related=tuple(
            Related(name, function, "allocates", where) for _, function, where, _ in places[:MAX_PLACES] if where
        ),
    )


def _short(where: str) -> str:
    """file:line, of file:line:column with its folders."""
    return where.rpartition("/")[2].rpartition(":")[0]


def synchronises_record(program: Program, record: Defined[RecordFacts], ctx: SourceContext) -> str:
    """What of the record several threads use, "" for nothing seen."""
    kinds = (synchronises(program, record.unit, m.type, ctx.knowledge) for m in record.facts.members)
    return next((kind for kind in kinds if kind), "")


RULE = DeclarationRule(
    id="aligned-type-from-malloc",
    name="Aligned type allocated without its alignment",
    summary="A record that asks for the alignment of a line is allocated by a function that promises less.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
)
