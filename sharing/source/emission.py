"""What a compiler will put into the object file for one unit's variables: sections, their alignment, and every offset.

Owns the choice of section and the layout in it.  The model of gcc 12 and clang 19 on ELF:

* A variable goes to the section of its attribute, else by its initial value: zero to .bss (.tbss), other values to
  .data (.tdata), constants to .rodata.  In position independent code what needs relocations is apart: GCC's
  .data.rel and .data.rel.ro, with ".local" where nothing can take the place of what is named; LLVM's .data.rel.ro
  (writable ones stay in .data).
* -fdata-sections, and everything that several units may define (inline, templates, their statics), gives each variable
  a section of its own, ".bss.name".
* -fcommon leaves zero-initialised tentative definitions of C to the linker, one by one ("COMMON").
* Order is that of ``sharing.source.emission_order``, alignment that of ``sharing.source.alignment``; each variable
  comes at the next multiple of its alignment, and a section is aligned as its strictest member.
* GCC writes zero-initialised variables with internal linkage as .local and .comm, which the GNU assembler collects in
  subsection 1 of .bss: they follow all others, whatever the order.
* A static of a C++ function with a dynamic initialiser is followed by its guard of 8 bytes.
* GCC with section anchors (AArch64 and others, -O1 and above) places variables in the order in which the code that it
  expands first names them; here that is taken to be the order of the unit, which is a guess (``exact`` is False).

What the facts do not tell: a variable whose every use the optimizer removes (seen only where all uses are loads, or all
are stores); tables that it finds to be constant; LLVM's splitting of internal structs into scalars; alignment raised
for vectorized stores; the images of automatic arrays, which GCC may put ahead of all variables of .data.
``tests/emission`` compares the rest with the compilers' object files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sharing.basics.geometry import round_up
from sharing.model.facts import Init, RecordFacts, UnitOptions, VariableBits, VariableFacts
from sharing.model.image import SectionKind
from sharing.source.alignment import Records, alignment, anchored
from sharing.source.emission_order import in_order
from sharing.source.program import Program
from sharing.source.references import FunctionReferences, unit_references

COMMON = "COMMON"
_GUARD_BYTES = 8  # Itanium C++ ABI, 2.8: one-time construction

_KINDS_BY_PREFIX = (
    (".data..percpu", SectionKind.PERCPU),
    (".data..ro_after_init", SectionKind.RELRO),
    (".data.rel.ro", SectionKind.RELRO),
    (".init.", SectionKind.INIT),
    (".rodata", SectionKind.CONSTANT),
)


@dataclass(frozen=True, slots=True)
class Placed:
    """One variable in a contribution: ``offset`` and ``size`` in bytes."""

    identity: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one unit gives to a section of the linked file, which keeps it together.  Bytes; members by offset.

    ``exact`` is False where offsets are possible rather than known.
    """

    section: str
    kind: SectionKind
    alignment: int
    size: int
    members: tuple[Placed, ...]
    exact: bool = True


def contributions(
    variables: Sequence[VariableFacts],
    options: UnitOptions,
    language: str,
    triple: str,
    functions: Sequence[FunctionReferences] | None = None,
    records: Records | None = None,
    symbols: Sequence[str] = (),
) -> tuple[Contribution, ...]:
    """The sections that the compiler makes of a unit's definitions, each with its members in order.

    ``functions`` say who names what and in which order, on which clang's order and the statics of C functions depend;
    without, nothing is dropped and order follows the source.  Initialisers are read with ``symbols``, the unit's table.
    Declarations are passed over.
    """
    order = in_order(variables, options, language, functions, symbols)
    local = _local(variables, options, functions)
    filled: dict[tuple[str, SectionKind], list[VariableFacts]] = {}
    for variable in order:
        inside = all(0 <= i < len(symbols) and local(symbols[i]) for i in variable.refers)
        section = _section(variable, options, language, inside)
        filled.setdefault(section, []).append(variable)
    out = []
    for (name, kind), members in filled.items():
        if name == COMMON:
            out += [_laid_out(name, kind, [m], options, triple, language, records) for m in members]
        else:
            out.append(_laid_out(name, kind, members, options, triple, language, records))
    return tuple(out)


def unit_contributions(program: Program, unit: int) -> tuple[Contribution, ...]:
    """The contributions of one unit of a program, with all that its facts tell."""
    facts = program.units[unit]

    def record_of(index: int) -> RecordFacts | None:
        found = program.record(unit, index) if index < len(facts.records) else None
        return found.facts if found is not None else None

    return contributions(
        facts.variables,
        facts.options,
        facts.language,
        facts.triple,
        functions=unit_references(program, unit),
        records=record_of,
        symbols=facts.symbols,
    )


def _section(variable: VariableFacts, options: UnitOptions, language: str, inside: bool) -> tuple[str, SectionKind]:
    """Name of the section and who may write it.  ``inside``: all addresses in its initialiser are of this unit."""
    bits = variable.bits
    if variable.section:
        kind = SectionKind.CONSTANT if bits & VariableBits.CONSTANT else SectionKind.WRITABLE
        kind = next((k for prefix, k in _KINDS_BY_PREFIX if variable.section.startswith(prefix)), kind)
        return variable.section, SectionKind.TLS if bits & VariableBits.THREAD else kind
    gcc = options.compiler != "clang"
    readonly = bool(bits & VariableBits.CONSTANT) and not (gcc and bits & VariableBits.VOLATILE)
    relocated = variable.init == Init.ADDRESSES and options.pic
    suffix = ".local" if gcc and inside else ""
    zero = variable.init in (Init.ZERO, Init.DYNAMIC)
    if bits & VariableBits.THREAD:
        base, kind = (".tbss" if zero else ".tdata"), SectionKind.TLS
    elif readonly:
        if relocated:
            base, kind = f".data.rel.ro{suffix}", SectionKind.RELRO
        else:
            base, kind = ".rodata", SectionKind.CONSTANT
    elif zero:
        base, kind = ".bss", SectionKind.WRITABLE
    else:
        base, kind = (f".data.rel{suffix}" if relocated and gcc else ".data"), SectionKind.WRITABLE
    if bits & VariableBits.INLINE:
        return f"{base}.{variable.symbol}", kind
    if _is_common(variable, options, language, base):
        return COMMON, kind
    return (f"{base}.{variable.symbol}" if options.data_sections else base), kind


def _local(
    variables: Sequence[VariableFacts], options: UnitOptions, functions: Sequence[FunctionReferences] | None
) -> Callable[[str], bool]:
    """Does a name bind to this unit (GCC's binds_local_p)?  In a shared object only what has internal linkage does, in
    an executable all that the unit defines, weak or not."""
    defined = [v for v in variables if not v.bits & VariableBits.DECLARED_ONLY]
    bound = {v.identity for v in defined if v.bits & VariableBits.INTERNAL}
    if options.pie:
        bound |= {v.identity for v in defined}
        bound |= {f.identity for f in functions or ()}
    # The identity of what has internal linkage ends with its file.
    return lambda identity: identity in bound or "@" in identity


def _is_common(variable: VariableFacts, options: UnitOptions, language: str, base: str) -> bool:
    return (
        options.common
        and language == "C"
        and base == ".bss"
        and bool(variable.bits & VariableBits.TENTATIVE)
        and not variable.bits & (VariableBits.INTERNAL | VariableBits.WEAK)
    )


def _laid_out(
    name: str,
    kind: SectionKind,
    members: list[VariableFacts],
    options: UnitOptions,
    triple: str,
    language: str,
    records: Records | None,
) -> Contribution:
    if options.compiler != "clang" and name == ".bss" and not anchored(options, triple):
        # Subsection 0, then subsection 1.
        members = sorted(members, key=lambda v: bool(v.bits & VariableBits.INTERNAL))
    offset, strictest = 0, 1
    placed = []
    for variable in members:
        align = alignment(variable, options, triple, records)
        strictest = max(strictest, align)
        guarded = language != "C" and variable.scope and variable.init == Init.DYNAMIC and name == ".bss"
        before = guarded and options.compiler != "clang" and not _forwards(options)
        if before:
            offset = round_up(offset, _GUARD_BYTES) + _GUARD_BYTES
        offset = round_up(offset, align)
        placed.append(Placed(variable.identity, offset, variable.size))
        offset += variable.size
        if guarded and not before:
            offset = round_up(offset, _GUARD_BYTES) + _GUARD_BYTES
        if guarded:
            strictest = max(strictest, _GUARD_BYTES)
    return Contribution(name, kind, strictest, offset, tuple(placed), exact=not anchored(options, triple))


def _forwards(options: UnitOptions) -> bool:
    return options.level == "0" or not options.toplevel_reorder
