"""How declarations are read: what their names and texts say about alignment and padding.

Owns the words (cache line, pad, align) and small questions about type trees.  Judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sharing.knowledge import Knowledge
from sharing.model.facts import MemberFact, RecordBits, RecordFacts, TypeTree, VariableFacts
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, WRAPPER_KINDS, TypeKind
from sharing.source.program import Defined, Program

# Macros, constants and variables that speak of a cache line: CACHE_LINE_SIZE, kCacheLine, CACHELINE_ALIGNED,
# L1_CACHE_BYTES, SMP_CACHE_BYTES, LEVEL1_DCACHE_LINESIZE, DESTRUCTIVE_INTERFERENCE.
_LINE_WORDS = re.compile(
    r"cache_?line|cache_?align|cl_?size|[dl]1?_?cache_(?:line|bytes|size|align)|l1_?cache|smp_cache|false_?sharing"
    r"|_interference",
    re.IGNORECASE,
)
_PAD_WORDS = re.compile(
    r"(?:^|_|(?-i:[a-z](?=P)))"  # a word begins, in tailPad as well; heap and xp_info are none
    r"(?:p|pad|pads|padd|padding|fill|filler|dummy|unused|spacer|reserved|rsvd|gap|cache_?line\w*)_*\d*_*(?:$|_)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_BYTES = frozenset({"char", "unsigned char", "signed char", "uint8_t", "int8_t", "u8", "__u8", "byte", "std::byte"})


def speaks_of_lines(*texts: str) -> bool:
    """Does any of these texts or names speak of cache lines?"""
    return any(_LINE_WORDS.search(text) for text in texts)


def line_words(*texts: str) -> tuple[str, ...]:
    """The identifiers among these texts that speak of cache lines, each once."""
    names = (m.group() for text in texts for m in _IDENTIFIER.finditer(text))
    return tuple(dict.fromkeys(name for name in names if _LINE_WORDS.search(name)))


def is_pad_name(name: str) -> bool:
    return bool(_PAD_WORDS.search(name)) or bool(re.match(r"_*pad", name, re.IGNORECASE))


def stripped(tree: TypeTree) -> TypeTree:
    """The type without typedefs and qualifiers, as far as that is known."""
    for _ in range(MAX_DEPTH):
        if tree.kind not in WRAPPER_KINDS or tree.inner is None:
            break
        tree = tree.inner
    return tree


def core(tree: TypeTree | None) -> TypeTree | None:
    """The type behind typedefs and qualifiers, None where it is not known."""
    bare = stripped(tree) if tree is not None else None
    return None if bare is None or bare.kind in WRAPPER_KINDS else bare


def names(tree: TypeTree | None) -> Iterator[str]:
    """The type's own name and those behind its typedefs and qualifiers."""
    for _ in range(MAX_DEPTH):
        if tree is None:
            return
        if tree.name:
            yield tree.name
        if tree.kind not in WRAPPER_KINDS:
            return
        tree = tree.inner


def element(tree: TypeTree | None) -> tuple[TypeTree | None, int]:
    """What an array is made of and how many (all dimensions); (the type itself, 1) of what is no array."""
    count = 1
    for _ in range(MAX_DEPTH):
        inner = core(tree)
        if inner is None or inner.kind != TypeKind.ARRAY:
            return tree, count
        count *= max(inner.count, 0)
        tree = inner.inner
    return None, 0


def is_bytes(tree: TypeTree | None) -> bool:
    """An array of characters or bytes."""
    inner = core(tree)
    if inner is None or inner.kind != TypeKind.ARRAY:
        return False
    return any(name in _BYTES for name in names(element(inner)[0]))


def is_atomic(tree: TypeTree | None, knowledge: Knowledge) -> bool:
    for _ in range(MAX_DEPTH):
        if tree is None:
            return False
        if tree.kind == TypeKind.ATOMIC or (tree.name and knowledge.atomic_types.find(tree.name) >= 0):
            return True
        if tree.kind not in WRAPPER_KINDS:
            return False
        tree = tree.inner
    return False


def lock_kind(tree: TypeTree | None, knowledge: Knowledge) -> str:
    """What kind of lock the type is, "" for none."""
    for name in names(tree):
        row = knowledge.lock_types.find(name)
        if row >= 0:
            return knowledge.locks[row].kind
    return ""


def record_of(program: Program, unit: int, tree: TypeTree | None) -> Defined[RecordFacts] | None:
    """The record that a type is, None for any other type."""
    inner = core(tree)
    if inner is None or inner.kind not in RECORD_KINDS or not 0 <= inner.count < len(program.units[unit].records):
        return None
    return program.record(unit, inner.count)


def synchronises(program: Program, unit: int, tree: TypeTree | None, knowledge: Knowledge, depth: int = 0) -> str:
    """What the type is, or contains at any depth, for use by several threads ("mutex", "atomic"), "" for nothing."""
    tree = element(tree)[0]
    kind = lock_kind(tree, knowledge)
    if kind:
        return kind
    if is_atomic(tree, knowledge):
        return "atomic"
    record = record_of(program, unit, tree)
    if record is None or depth > 4:
        return ""
    for member in record.facts.members:
        kind = synchronises(program, record.unit, member.type, knowledge, depth + 1)
        if kind:
            return kind
    return ""


def source_position(program: Program, unit: int, facts: VariableFacts | RecordFacts | MemberFact) -> str:
    """file:line:column of a declaration, "" unknown."""
    files = program.units[unit].files
    return f"{files[facts.file]}:{facts.line}:{facts.column}" if 0 <= facts.file < len(files) else ""


def file_of(program: Program, unit: int, facts: VariableFacts | RecordFacts | MemberFact) -> str:
    files = program.units[unit].files
    return files[facts.file] if 0 <= facts.file < len(files) else ""


def member_size(member: MemberFact) -> int:
    """Bytes of a member, bit-fields rounded up."""
    if member.bit_size:
        return (member.offset_bits % 8 + member.bit_size + 7) // 8
    return max(member.type.size, 0)


def shown_name(record: RecordFacts) -> str:
    """The record as a declaration names it; one without a name by its kind."""
    if record.bits & RecordBits.ANONYMOUS or not record.name:
        return "an unnamed union" if record.bits & RecordBits.UNION else "an unnamed struct"
    return record.name


def written(tree: TypeTree | None, spoken: str) -> str:
    """The type as its language names it: records of C with their keyword, which typedefs do without."""
    if tree is None or not tree.name:
        return "T"
    keyword = "struct " if tree.kind == TypeKind.STRUCT else "union " if tree.kind == TypeKind.UNION else ""
    return (keyword if spoken == "C" and " " not in tree.name else "") + tree.name


def language(program: Program, unit: int) -> str:
    return program.units[unit].language
