"""Edits of Go source in words and as text: padding on both sides of a value.

Owns the wording only; which object is moved is chosen and tried on the layout elsewhere.  Go aligns nothing to a line
and sorts package variables by size, so that only bytes before and behind a value, in one structure with it, keep
neighbours away.  As many are needed as a line has, less what the value's own alignment leaves no neighbour.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from sharing.basics.geometry import round_up
from sharing.judge.remedies.editedlayout import Edit, Kind, stride_of
from sharing.judge.remedies.paths import Paths
from sharing.model.finding import Remedy

_ALSO = "cpu.CacheLinePad of golang.org/x/sys/cpu on both sides does the same"
_WORD = 8  # the largest alignment of a type


def go_field(type_name: str, field: str, kind: str, line_size: int, cost: Remedy) -> Remedy:
    """Room on both sides of a field of a heap object: where the object starts on a line is the allocator's choice."""
    pad = f"_ [{line_size - _WORD}]byte"
    code = f"{pad}\n{field} {_in_source(kind)}\n{pad}"
    text = f"pad {field} of {type_name} on both sides; {_ALSO}"
    return replace(cost, text=text, edit=code, language="Go", cost_bytes=2 * (line_size - _WORD))


def go_objects(what: str, line_size: int, cost: Remedy) -> Remedy:
    """Room behind each of several objects that share a line: no word of one is then a line or less from the next."""
    pad = f"_ [{line_size - _WORD}]byte"
    text = f"keep {what} a line apart: end each with {line_size - _WORD} bytes of padding; {_ALSO}"
    return replace(
        cost, text=text, edit=f"{pad} // behind the other fields", language="Go", cost_bytes=line_size - _WORD
    )


def go_remedy(edit: Edit, paths: Paths, line_size: int, cost: Remedy) -> Remedy:
    """``cost`` is the same edit in another language, which keeps the same neighbours away."""
    steps, actor = edit.steps, edit.actor
    name = actor.owner.rpartition(".")[2]
    aligned = _alignment(actor.owner_span if edit.kind is Kind.WHOLE else actor.span)
    pad = f"_ [{line_size - aligned}]byte"
    size = 2 * (line_size - aligned)
    if edit.kind is Kind.ELEMENTS:
        stride = max(steps[-1].stride if steps else stride_of(actor), 1)
        behind = round_up(stride, line_size) - stride
        text = f"make the elements of {actor.owner} {stride + behind} bytes long; {_ALSO}"
        if not actor.sized:
            text = (
                f"elements of {stride} bytes: find the variable that is {actor.owner} in this file, and give each "
                f"element a line of its own: make it {stride + behind} bytes long; {_ALSO}"
            )
        code = f"type line struct {{\n\tvalue T // the type that the elements have now\n\t_     [{behind}]byte\n}}"
        return replace(cost, text=text, edit=code, language="Go", breaks_abi=False)
    if edit.kind is not Kind.WHOLE and steps:
        kind = _in_source(paths.types.name(steps[-1].type))
        field = steps[-1].name
        text = f"pad {field} of {actor.owner} on both sides; {_ALSO}"
        member = kind if kind.endswith(f".{field}") else f"{field} {kind}"  # embedded, or not
        code = f"{pad}\n{member}\n{pad}"
    elif edit.kind is not Kind.WHOLE or not actor.sized:
        what = f"the bytes {actor.span[0] - actor.owner_span[0]} and following of {actor.owner}"
        if not actor.sized:
            what = f"the variable that is {actor.owner} in this file"
        text = f"find {what}, and pad it on both sides, in one structure with it; {_ALSO}"
        code = f"{pad}\nvalue {_in_source('')}\n{pad}"
    else:
        text = f"put {actor.owner} into a structure with padding on both sides; {_ALSO}"
        value = f"\t{pad}\n\tvalue {_in_source(actor.owner_type)}\n\t{pad}\n"
        code = f"var {name} struct {{ // {name} becomes {name}.value\n{value}}}"
    return replace(cost, text=text, edit=code, language="Go", cost_bytes=size, breaks_abi=False)


def _in_source(kind: str) -> str:
    """A type as code of its program names it: without the path of its package."""
    return re.sub(r"(?:[\w.-]+/)+|\bmain\.", "", kind) or "T // the type it has now"


def _alignment(span: tuple[int, int]) -> int:
    """What a value of these addresses is surely aligned to, as it is as long as a multiple of that."""
    both = span[0] | (span[1] - span[0]) | _WORD
    return both & -both
