"""The edit that helps a sampled line: of a variable, of what is allocated, of an object on a stack; or none.

Owns the wording for memory without a declaration.  Static variables have theirs in ``sharing.judge.remedy``.
"""

from __future__ import annotations

import re

from sharing.basics.naming import without_internals
from sharing.judge.remedies.choice import Conflict, choose
from sharing.judge.remedies.editedlayout import Edit, Layout, touched
from sharing.judge.remedies.go import go_field, go_objects
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedies.rust import Wrapped, rust_memory, rust_object
from sharing.judge.remedy import Style, remedy
from sharing.judge.sampled.parting import to_move
from sharing.model.attribution import Region
from sharing.model.finding import Remedy, Verdict
from sharing.model.profile import Actor
from sharing.rules.sampled.base import SampledDraft, SampledLine, is_large
from sharing.sampled.objects import SeenObject

_ATOMIC = re.compile(r"std::(\w+::)?atomic<")
_BEFORE_C11 = ("C", "C89", "C99")  # as DWARF calls them; _Alignas came with C11 (6.7.5)


def remedies(draft: SampledDraft, line: SampledLine, style: Style, paths: Paths) -> tuple[Remedy, ...]:
    """None for true sharing and contention, and for lines of structures that padding would blow up."""
    if not draft.separate or is_large(line):
        return ()
    if line.use.link >= 0 and line.use.target:
        edits = _edits(draft, line, style, paths)
        return tuple(dict.fromkeys(remedy(edit, style, paths) for edit in edits))
    if line.use.link >= 0:
        return ()  # a library's variable: its sources are not at hand
    size = style.line_size
    first = line.items[draft.separate[0]]
    writers = ", ".join(dict.fromkeys(t.function for t in first.touches if t.writes)) or "its users"
    seen = line.objects[draft.separate[0]] if line.objects else None
    if seen is not None and seen.address >= 0:
        moved = to_move(draft, line) if _inside(seen, draft, line) else draft.separate[:1]
        return tuple(dict.fromkeys(_of_object(at, draft, line, style) for at in moved))
    words = _Spelling(seen.language if seen is not None else "", style)
    stack = line.use.region is Region.STACK
    found = Remedy(
        kind="align-local" if stack else "pad-allocation",
        text=(
            f"give each object on the stack that is handed to a thread lines of its own (used by {writers})"
            if stack
            else _of_allocation(draft, line, size, writers)
        ),
        edit=words.type(
            "Own",
            "T value;",
            f"T: the type it has now; sizeof is a multiple of {size}"
            if stack
            else "T: the member or element that one thread writes",
        ),
        language="C" if words.in_c else "C/C++",
        cost_bytes=2 * size - (first.end - first.start),
        breaks_abi=False,
        protects_tail=True,
    )
    if seen is not None and seen.language == "Rust":
        return (rust_memory(writers, size, found),)
    if seen is not None and seen.language == "Go":
        return (go_objects(f"what {writers} write there", size, found),)
    return (found,)


class _Spelling:
    """Alignment as the language of the code that uses an object writes it; C++'s where that is not known."""

    def __init__(self, language: str, style: Style) -> None:
        self.in_c = re.fullmatch(r"C\d*", language) is not None
        self._old = language in _BEFORE_C11
        self._style = style

    def type(self, name: str, members: str, remark: str) -> str:
        if not self.in_c:
            align = self._style.macro or f"alignas({self._style.line_size})"
            return f"struct {align} {name} {{ {members} }};  // {remark}"
        return f"struct {name} {{ {members} }} {self._attribute()};  /* {remark} */"

    def member(self, kind: str, name: str, remark: str) -> str:
        size, macro = self._style.line_size, self._style.macro
        name += "".join(re.findall(r"\[\d*\]", kind))
        kind = re.sub(r"\[\d*\]", "", kind)
        if not self.in_c:
            return f"{macro or f'alignas({size})'} {kind} {name};  // {remark}"
        if self._old:
            return f"{kind} {name} {self._attribute()};  /* {remark} */"
        return f"{macro or f'_Alignas({size})'} {kind} {name};  /* {remark} */"

    def allocated(self, where: str) -> str:
        if self.in_c:
            return f"; malloc does not know of it: allocate the objects with aligned_alloc or mmap{where}"
        return f"; objects that C++17's new does not make need aligned_alloc, mmap or an aligned operator new{where}"

    def _attribute(self) -> str:
        return self._style.macro or f"__attribute__((aligned({self._style.line_size})))"


def _inside(seen: SeenObject, draft: SampledDraft, line: SampledLine) -> bool:
    """Whether all that the draft is about is in one object."""
    return all((other := line.objects[i]) is not None and other.address == seen.address for i in draft.items)


def _declared_type(seen: SeenObject) -> str:
    """The library's type around the value of an atomic member, which is what a declaration says; "" for others."""
    member = seen.member
    if member is None or without_internals(member.path, member.via) == member.path:
        return ""
    return next((name for name in member.via if _ATOMIC.match(name)), "")


def _of_object(at: int, draft: SampledDraft, line: SampledLine, style: Style) -> Remedy:
    """The member that gets lines of its own, or the type of which each object does."""
    seen = line.objects[at]
    assert seen is not None
    size, words = style.line_size, _Spelling(seen.language, style)
    others = [line.objects[i] for i in draft.items if i != at]
    actor = line.actors[at]
    inside = _inside(seen, draft, line)
    where = f" ({seen.source})" if seen.source else ""
    path = without_internals(seen.member.path, seen.member.via) if seen.member is not None else ""
    element, _, member = path.rpartition(".")
    slots = inside and seen.member is not None and seen.member.count > 1
    slots = slots and all(other is not None and other.member == seen.member for other in others)
    elements = slots or (inside and path.endswith("[]")) or "[]" in element
    if elements:
        text = f"pad what {path.partition('[]')[0]} of {seen.type_name}{where} has for each thread to {size} bytes"
        edit = words.type("Own", "T value;", f"T: the type of its elements; sizeof is a multiple of {size}")
    elif inside:
        text = f"give {path or seen.by} of {seen.type_name}{where} lines of its own"
        edit = words.member(
            _declared_type(seen) or actor.type_name,
            member,
            f"and the same for what stands behind it in {seen.type_name}",
        )
    else:
        text = f"give each {seen.type_name}{where} lines of its own: of {seen.size} bytes each, several share one"
        edit = words.type(seen.type_name, "…", f"sizeof is a multiple of {size}")
    block = line.blocks[at] if line.blocks else None
    # Who makes objects of a type that asks for the line aligns them, or is wrong already.
    if line.use.region is not Region.STACK and seen.language not in ("Rust", "Go") and seen.align < size:
        who = f" where {block.site.text} allocates it" if block is not None else ""
        text += words.allocated(who)
    found = Remedy(
        kind="pad-element" if elements else "align-member" if inside else "pad-type",
        text=text,
        edit=edit,
        language="C" if words.in_c else "C/C++",
        cost_bytes=2 * size - (actor.span[1] - actor.span[0]) if inside else -seen.size % size,
        breaks_abi=inside,
        protects_tail=True,
    )
    if seen.language not in ("Rust", "Go"):
        return found
    first, _, index = path.partition(".")[0].partition("[")
    array = bool(index) or (path == first and seen.member is not None and seen.member.count > 1)
    what = Wrapped.ELEMENTS if (inside and array) or "[]" in element else Wrapped.FIELD if inside else Wrapped.TYPE
    if seen.language == "Go":
        if what is Wrapped.FIELD:
            return go_field(seen.type_name, first, actor.type_name if path == first else "", size, found)
        several = f"the elements of {first} of" if what is Wrapped.ELEMENTS else "objects of"
        return go_objects(f"{several} {seen.type_name}", size, found)
    return rust_object(what, seen.type_name, first, size, found)


def _of_allocation(draft: SampledDraft, line: SampledLine, size: int, writers: str) -> str:
    """Which allocation, where that is known: its neighbour on the line is another one's, or another part of it."""
    first = line.items[draft.separate[0]]
    aligned = "aligned_alloc, mmap or an aligned operator new"
    blocks = [line.blocks[i] for i in draft.items] if line.blocks else []
    block = line.blocks[draft.separate[0]] if line.blocks else None
    if block is None:
        return (
            f"align and round up to {size} bytes the type that {writers} use here (the part at bytes "
            f"{first.start}–{first.end - 1} of the line), and allocate it with {aligned}"
        )
    at = line.use.address + first.start - block.address
    part = f"bytes {at}–{at + first.end - first.start - 1}"
    if any(other is not None and other.address != block.address for other in blocks):
        return (
            f"allocate the {block.size} bytes in {block.site.text} with {aligned}, their size rounded up to {size}: "
            f"other allocations lie on their line"
        )
    return (
        f"in the type that {block.site.text} allocates ({block.size} bytes), give {part}, which {writers} use, lines "
        f"of their own, and allocate it with {aligned}"
    )


def _edits(draft: SampledDraft, line: SampledLine, style: Style, paths: Paths) -> tuple[Edit, ...]:
    """Edits after which no two things that cost each other time are on one line, and nothing is on two."""
    actors = [line.actors[i] for i in draft.items]
    split = draft.verdict is Verdict.SPLIT_ACCESS
    # Of what one thread has for itself, one part stands for all.
    parted = [line.actors[group[0]] for group in draft.together] or actors
    first = Conflict(tuple(parted), tuple(line.actors[i] for i in draft.separate), split)

    def left(layout: Layout, _enough: int) -> list[Conflict]:
        after = [layout.after(actor) for actor in actors]
        lines = [_lines(actor, style.line_size) for actor in after]
        if split:
            return [Conflict((a,), (a,), True) for a, on in zip(actors[:1], lines, strict=False) if len(on) > 1]
        return [
            Conflict((a, b), (a, b))
            for at, a in enumerate(actors)
            for other, b in enumerate(actors[:at])
            if lines[at] & lines[other] and _cost_each_other(draft.items[at], draft.items[other], draft, line)
        ]

    return choose(first, left, paths, style.line_size)


def _cost_each_other(a: int, b: int, draft: SampledDraft, line: SampledLine) -> bool:
    if any(a in group and b in group for group in draft.together):
        return False
    return line.blame.between(a, b) > 0 or a in draft.separate or b in draft.separate


def _lines(actor: Actor, size: int) -> set[int]:
    return {at for start, end in touched(actor) for at in range(start // size * size, end, size)}
