"""The alignment in bytes that gcc and clang give a variable with static storage in the object file.

Owns what goes beyond the language's alignment.  All figures were read off object files of gcc 12 and clang 19 and
agree with the compilers' sources, named at each function; ``tests/emission`` holds them.
"""

from __future__ import annotations

from collections.abc import Callable

from sharing.model.arch import machine_of_triple
from sharing.model.arch.row import GccAlignment, Machine
from sharing.model.facts import RecordFacts, TypeTree, UnitOptions, VariableBits, VariableFacts
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind
from sharing.source.declarations import stripped

# The record behind TypeTree.count, None where it is not known.
Records = Callable[[int], RecordFacts | None]

_SCALARS = frozenset((TypeKind.BASE, TypeKind.POINTER, TypeKind.ENUM))

_LARGE = 32  # GCC's ix86_data_alignment: MIN (256, MAX_OFILE_ALIGNMENT) bits, kept for old objects' sake
_VECTOR = 16
_VECTOR_ELEMENTS = frozenset((1, 2, 4, 8))


def alignment(variable: VariableFacts, options: UnitOptions, triple: str, records: Records | None = None) -> int:
    """Alignment of the variable in bytes.  ``records`` is needed where GCC aligns for vectors alone."""
    natural = max(variable.type.align or variable.align, 1)
    if variable.declared_align > 0:
        # Taken as it is, even where it is less than the type's; only LLVM then goes back to the type's, outside of
        # sections that the source names (DataLayout::getPreferredAlign).  A reshaped constant is a packed struct.
        raised = options.compiler == "clang" and not variable.section and not variable.bits & VariableBits.RESHAPED
        return max(variable.declared_align, natural if raised else 1)
    type_ = stripped(variable.type)
    machine = machine_of_triple(triple)
    if machine is None:
        return natural
    if options.compiler == "clang":
        return _clang(type_, variable, natural, machine.large_array)
    if machine.gcc is GccAlignment.BY_SIZE:
        return _gcc_by_size(type_, variable, natural, machine)
    if machine.gcc is GccAlignment.FOR_VECTORS:
        return _gcc_for_vectors(type_, variable, natural, options, records, anchored(options, triple))
    return natural


def anchored(options: UnitOptions, triple: str) -> bool:
    """Does GCC place variables for section anchors?  By the machine's row, by default from -O1 on.

    -fno-section-anchors there cannot be told from silence; it is rare.
    """
    if options.compiler == "clang" or options.level == "0" or not options.toplevel_reorder:
        return False
    machine = machine_of_triple(triple)
    return options.section_anchors or (machine is not None and machine.section_anchors)


def is_aggregate(type_: TypeTree) -> bool:
    """What GCC calls an aggregate; a pointer to member function is a record of two words there."""
    return (
        type_.kind in RECORD_KINDS
        or type_.kind == TypeKind.ARRAY
        or (type_.kind == TypeKind.MEMBER_POINTER and type_.size > 8)
    )


def _clang(type_: TypeTree, variable: VariableFacts, natural: int, large_array: int) -> int:
    """ASTContext::getDeclAlign with the target's LargeArrayMinWidth; other targets have none.

    The optimizer may align a variable further where it vectorizes stores to it (InferAlignment); that is not
    foreseen here.
    """
    if large_array and type_.kind == TypeKind.ARRAY and variable.size >= large_array:
        return max(natural, large_array)
    return natural


def _gcc_by_size(type_: TypeTree, variable: VariableFacts, natural: int, machine: Machine) -> int:
    """GCC's ix86_data_alignment under -malign-data=compat, the default, at every level, -Os included.

    Thread-local storage is precious (varasm.cc, align_variable and get_variable_align): there the result counts only up
    to a word, apart from what the psABI demands of arrays that other units may see.
    """
    if not is_aggregate(type_):
        return natural
    size, word, large_array = variable.size, (machine.bits or 0) // 8, machine.large_array
    wanted = natural
    if size >= word:
        wanted = max(wanted, word)
    if large_array and size >= large_array:
        wanted = max(wanted, large_array)
    if size >= _LARGE:
        wanted = max(wanted, _LARGE)
    if not variable.bits & VariableBits.THREAD:
        return wanted
    if wanted <= word:
        return wanted
    public_array = type_.kind == TypeKind.ARRAY and not variable.bits & VariableBits.INTERNAL
    return max(natural, large_array) if public_array else natural


def _gcc_for_vectors(
    type_: TypeTree,
    variable: VariableFacts,
    natural: int,
    options: UnitOptions,
    records: Records | None,
    anchors: bool,
) -> int:
    """AARCH64_EXPAND_ALIGNMENT, and the pass that aligns what could be vectorized (ipa-increase-alignment)."""
    if options.level in ("s", "z") or not is_aggregate(type_):
        return natural
    wanted = max(natural, 8)
    vectorized = options.level not in ("0", "1", "g", "")
    if vectorized and anchors and not variable.bits & VariableBits.WEAK:
        wanted = max(wanted, _vector_alignment(type_, records, 0))
    return wanted


def _vector_alignment(type_: TypeTree, records: Records | None, depth: int) -> int:
    """tree-vectorizer.cc, get_vec_alignment_for_type: arrays of a vector's size, and structs that hold one."""
    type_ = stripped(type_)
    if depth > MAX_DEPTH:
        return 0
    if type_.kind == TypeKind.ARRAY:
        element = type_
        for _ in range(MAX_DEPTH):
            if element.kind != TypeKind.ARRAY or element.inner is None:
                break
            element = stripped(element.inner)
        return _VECTOR if type_.size >= _VECTOR and element.kind in _SCALARS and element.size in _VECTOR_ELEMENTS else 0
    if type_.kind in (TypeKind.STRUCT, TypeKind.CLASS) and records is not None and type_.count >= 0:
        record = records(type_.count)
        members = record.members if record is not None else ()
        return max((_vector_alignment(m.type, None, depth + 1) for m in members), default=0)
    return 0
