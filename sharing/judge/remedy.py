"""The edit that separates an object from its line mates and keeps it separated.

Owns the wording of remedies per language.  Every edit protects the front and the tail of the object: alignment on
a type rounds the size up (C11 6.5.3.4 with 6.2.8; [basic.align]), alignment on a variable does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sharing.basics.geometry import round_up
from sharing.model.finding import Remedy
from sharing.model.image import ImageKind
from sharing.model.profile import Actor, Role

_NAMELESS = ("", "struct", "class", "union")


@dataclass(frozen=True, slots=True)
class Style:
    """What decides the form of an edit.  ``macro`` is the project's own alignment macro, "" for none."""

    line_size: int
    kind: ImageKind
    macro: str = ""


def remedy(actor: Actor, style: Style, *, inside: bool = False, others: tuple[str, ...] = ()) -> Remedy:
    """The edit for one actor.  ``inside``: its line mates, called ``others``, are members of the same variable."""
    size = actor.owner_span[1] - actor.owner_span[0]
    line = style.line_size
    rounded = round_up(max(size, 1), line)
    member = inside and actor.span != actor.owner_span
    language = language_of(actor, style.kind)
    if not actor.sized:
        return _unnamed(actor, style)
    if style.kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return _kernel(actor, style, member, rounded - size)
    of_array = actor.count > 1 or (any(a.stride for a in actor.accesses) and size > max(_stride(actor), 1))
    if of_array and not actor.name.startswith(actor.owner + "."):  # not of a member that is an array
        return _array(actor, style, language)
    if member:
        return _member(actor, style, language, others)
    name, kind = _identifier(actor.owner), _owner_type(actor) or "T"
    cost = rounded - size + line - 1
    note = "" if _owner_type(actor) else "  // T: the type it has now"
    if language == "C++":
        edit = (
            f"struct {_align(style)} Line_{name} {{ {kind} value; }};{note}\n"
            f"Line_{name} {name};  // sizeof is {rounded}: front and tail of its lines are its own"
        )
    else:
        edit = (
            f"struct line_{name} {{ {kind} value; }} {_attribute(style)};{note.replace('//', '/*')}"
            f"{' */' if note else ''}\nstruct line_{name} {name};  /* sizeof is {rounded}: tail included */"
        )
    return Remedy(
        kind="pad-type",
        text=(
            f"give {actor.owner} a type of its own that is aligned and rounded up to {line} bytes; keep scope and "
            f"storage class, brace its initialiser once more, change its extern declarations alike, and write .value "
            f"where it is used"
        ),
        edit=edit,
        language=language,
        cost_bytes=cost,
        breaks_abi=style.kind is ImageKind.SHARED,  # an exported variable changes its size
        protects_tail=True,
    )


def language_of(actor: Actor, kind: ImageKind) -> str:
    """C or C++, from debug information, else from the name."""
    if kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return "C (kernel)"
    if actor.language:
        return "C++" if "++" in actor.language or "plus" in actor.language.lower() else "C"
    return "C++" if "::" in actor.owner or actor.owner.startswith("_Z") else "C"


def _unnamed(actor: Actor, style: Style) -> Remedy:
    return Remedy(
        kind="pad-type",
        text=(
            f"find the definition behind {actor.owner} (debug information would name it) and give "
            f"its type the alignment and the rounded-up size of a {style.line_size}-byte line"
        ),
        edit=f"struct {_align(style)} line_T {{ T value; }};  // C: {_attribute(style)} on the struct",
        language="C/C++",
        cost_bytes=style.line_size * 2 - 1 - (actor.span[1] - actor.span[0]) % style.line_size,
        breaks_abi=False,
        protects_tail=True,
    )


def _kernel(actor: Actor, style: Style, member: bool, cost: int) -> Remedy:
    name = _identifier(actor.owner)
    kind = _owner_type(actor) or "..."
    if actor.role in (Role.READ_MOSTLY, Role.CONSTANT) and not member:
        edit, text, cost = (
            f"{kind} {name} __read_mostly;",
            f"move {actor.owner} to the section of read-mostly data",
            0,
        )
    elif member:
        field = actor.name.rsplit(".", 1)[-1]
        edit = f"... {field} ____cacheline_aligned_in_smp;\n/* and the member after it as well */"
        text = f"start {actor.name} and the member after it on a line of their own"
        cost = 2 * style.line_size
    else:
        edit = f"{kind} {name} __cacheline_aligned_in_smp;"
        text = (
            f"move {actor.owner} to .data..cacheline_aligned, where each object starts a line: the next one cannot use "
            f"its tail"
        )
        cost += style.line_size - 1
    return Remedy("section", text, edit, "C (kernel)", cost, member, True)


def _array(actor: Actor, style: Style, language: str) -> Remedy:
    name, stride = _identifier(actor.owner), _stride(actor)
    size = actor.owner_span[1] - actor.owner_span[0]
    count = max(size // stride, 1) if stride else actor.count
    rounded = round_up(max(stride, 1), style.line_size)
    element = re.sub(r"\[\d*\]$", "", _owner_type(actor))
    element = element if element not in _NAMELESS else "T"
    if language == "C++":
        edit = (
            f"struct {_align(style)} Slot_{name} {{ {element} value; }};  // {rounded} bytes\n"
            f"Slot_{name} {name}[{count}];"
        )
    else:
        edit = (
            f"struct slot_{name} {{ {element} value; }} {_attribute(style)};  /* sizeof is {rounded} */\n"
            f"struct slot_{name} {name}[{count}];"
        )
    return Remedy(
        kind="pad-element",
        text=f"round the element type of {actor.owner} up to {style.line_size} bytes (the element, not the array)",
        edit=edit,
        language=language,
        cost_bytes=(rounded - stride) * count + style.line_size - 1,
        breaks_abi=False,
        protects_tail=True,
    )


def _member(actor: Actor, style: Style, language: str, others: tuple[str, ...]) -> Remedy:
    field = actor.name[len(actor.owner) :].lstrip(".") or actor.name
    array = field.partition("[")[0]
    if array != field and any(not name.startswith(f"{actor.owner}.{array}[") for name in others):
        field = array  # the array moves: an edit in its elements would blow up each of them
    leaf = re.sub(r"[^A-Za-z0-9_].*$", "", field.rsplit(".", 1)[-1]) or "member"
    spec = _align(style) if language == "C++" else _alignas_c(style)
    edit = f"{spec} … {leaf};\n{spec} /* the member that follows */"  # debug information lacks the type as written
    return Remedy(
        kind="align-member",
        text=(
            f"start {field} of {actor.owner} on a line of its own and the member after it on the next, or move {field} "
            f"beside members that the same functions use"
        ),
        edit=edit,
        language=language,
        cost_bytes=2 * style.line_size - (actor.span[1] - actor.span[0]) % style.line_size,
        breaks_abi=True,
        protects_tail=True,
    )


def _stride(actor: Actor) -> int:
    """Bytes of an element.  Code may take several of a plain array in one step (vectors, unrolled loops); of a table
    or of an object without a type, the largest step is what one thread has."""
    size = actor.owner_span[1] - actor.owner_span[0]
    if actor.stride > 0 and actor.owner_type.endswith(f"[{size // actor.stride}]") and actor.owner_type.count("[") == 1:
        return actor.stride
    return max([actor.stride, *(a.stride for a in actor.accesses)])


def _align(style: Style) -> str:
    return style.macro or f"alignas({style.line_size})"


def _alignas_c(style: Style) -> str:
    return style.macro or f"_Alignas({style.line_size})"


def _attribute(style: Style) -> str:
    return style.macro or f"__attribute__((aligned({style.line_size})))"


def _identifier(name: str) -> str:
    """The last component of a qualified name, as it stands in the declaration."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name.rsplit("::", 1)[-1]) or "object"


def _owner_type(actor: Actor) -> str:
    """The variable's type: its own where known, else the lock's when the lock is all of it."""
    if actor.owner_type and actor.owner_type not in _NAMELESS:
        return actor.owner_type
    return actor.type_name if actor.span == actor.owner_span else ""
