"""Edits of Rust source in words and as text: a wrapper type that fills lines of its own.

Owns the wording only; which object is moved is chosen and tried on the layout elsewhere.  The compiler orders the
fields of a Rust structure as it likes, so that only a type that is aligned, and so large, keeps neighbours away.
"""

from __future__ import annotations

import enum
import re

from msgspec.structs import replace

from sharing.basics.geometry import round_up
from sharing.judge.remedies.editedlayout import Edit, Kind, stride_of
from sharing.judge.remedies.paths import Paths
from sharing.model.finding import Remedy

_PATH = re.compile(r"(?:\w+::)+")


class Wrapped(enum.Enum):
    """What of an object that a program allocates gets lines of its own."""

    FIELD = enum.auto()
    ELEMENTS = enum.auto()
    TYPE = enum.auto()


def rust_object(what: Wrapped, type_name: str, field: str, line_size: int, cost: Remedy) -> Remedy:
    """The same of a heap object: Rust's allocations are aligned as their type is, whoever makes them."""
    if what is Wrapped.TYPE:
        name = type_name.rsplit("::", 1)[-1]
        text = f"align {type_name}, of which several share a line, to {line_size} bytes; {_also(line_size)}"
        return replace(cost, text=text, edit=f"#[repr(align({line_size}))]\nstruct {name} {{ … }}", language="Rust")
    if what is Wrapped.ELEMENTS:
        text = f"wrap the elements of {field} of {type_name} in {_type(line_size)}; {_also(line_size)}"
        use = "// T: the type of its elements; the value is .0"
    else:
        text = f"wrap {field} of {type_name} in {_type(line_size)}; {_also(line_size)}"
        use = f"{field}: Line<T>,  // T: the type it has now; the value is .0"
    return _wrapped(cost, text, use, line_size)


def rust_memory(writers: str, line_size: int, cost: Remedy) -> Remedy:
    """The same of memory of which not even the type is known."""
    text = f"wrap what {writers} write there, the field or the element, in {_type(line_size)}; {_also(line_size)}"
    return _wrapped(cost, text, "// T: the field or element that one thread writes; the value is .0", line_size)


def rust_remedy(edit: Edit, paths: Paths, line_size: int, cost: Remedy) -> Remedy:
    """``cost`` is the same edit in another language, whose layout is the same."""
    also = _also(line_size)
    steps, owner = edit.steps, edit.actor.owner
    name = owner.rsplit("::", 1)[-1]
    if not edit.actor.sized:
        name_it = (
            f"let debug information name {owner} (strip = false and debug = 1 in the profile of Cargo.toml, or audit "
            f"--debug-file FILE)"
        )
        if edit.kind is Kind.ELEMENTS:
            stride = stride_of(edit.actor)
            what = f"give each element a line of its own: wrap the element type in {_type(line_size)}"
            text = f"elements of {stride} bytes: {name_it}, then {what}; {also}"
            size = round_up(max(stride, 1), line_size)
            use = f"// [T; N] becomes [Line<T>; N], {size} bytes each; the value is .0"
        else:
            text = f"{name_it}, then wrap it in {_type(line_size)}; {also}"
            use = "value: Line<T>,  // T: the type it has now; the value is .0"
    elif edit.kind is Kind.ELEMENTS:
        size = round_up(max(steps[-1].stride if steps else edit.actor.stride, 1), line_size)
        text = f"make the elements of {owner} whole lines: wrap the element type; {also}"
        use = f"// [T; N] becomes [Line<T>; N], {size} bytes each; the value is .0"
    elif edit.kind in (Kind.MEMBER, Kind.ELSEWHERE) and steps:
        kind = _PATH.sub("", paths.types.name(steps[-1].type)) or "T"
        holder = paths.types.name(steps[-1].holder) if steps[-1].holder >= 0 else ""
        field = steps[-1].name
        text = f"wrap {field} of {owner} in {_type(line_size)}; {also}"
        use = f"{field}: Line<{kind}>,{f'  // in {holder}' if holder else ''}; the value is .0"
    elif edit.kind is Kind.MEMBER:
        where = edit.actor.span[0] - edit.actor.owner_span[0]
        text = f"wrap the member at byte {where} of {owner} in {_type(line_size)}; {also}"
        use = "member: Line<T>,  // T: the type it has now; the value is .0"
    else:
        text = f"wrap {owner} in {_type(line_size)}; {also}"
        use = f"static {name}: Line<T> = Line(...);  // T: the type it has now; the value is .0"
    return _wrapped(cost, text, use, line_size)


def _wrapped(cost: Remedy, text: str, use: str, line_size: int) -> Remedy:
    """The edit that declares a type of whole lines, and uses it."""
    wrapper = f"#[repr(align({line_size}))]\nstruct Line<T>(T);"
    return replace(cost, text=text, edit=f"{wrapper}\n{use}", language="Rust")


def _also(line_size: int) -> str:
    return f"crossbeam_utils::CachePadded does the same for {max(line_size, 128)} bytes"


def _type(line_size: int) -> str:
    return f"a type that is aligned and rounded up to {line_size} bytes"
