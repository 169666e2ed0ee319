"""The words of an edit that separates an object from its line mates and keeps it separated.

Owns the wording of remedies per language; which edits are proposed is chosen in ``sharing.judge.remedies``.  Every edit
protects the front and the tail of the object: alignment on a type rounds the size up (C11 6.5.3.4 with 6.2.8;
[basic.align]), alignment on a variable does not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import msgspec

from sharing.basics.geometry import round_up
from sharing.judge.remedies.choice import cost_of
from sharing.judge.remedies.editedlayout import Edit, Kind, stride_of
from sharing.judge.remedies.go import go_remedy
from sharing.judge.remedies.paths import ARRAY_TEMPLATE, Paths, Step, begins_with, outside_array, path_text
from sharing.judge.remedies.rust import rust_remedy
from sharing.judge.remedies.spelling import spelled
from sharing.model.finding import ASK_SERVERS, IN_A_HEADER, OR_A_MEMBER, Remedy
from sharing.model.image import ALLOCATED, ImageKind
from sharing.model.linkage import is_cxx
from sharing.model.profile import Actor, Role

_NAMELESS = ("", "struct", "class", "union")
_INITIALISED = (".data", ".sdata", ".ldata")  # how sections begin whose variables have values in the file
_PER_CPU = ".data..percpu"  # of a kernel: mostly zeros, in a section of their own all the same
_UNKNOWN = "T: the type it has now"
_NO_TYPES = Paths(None)
# Macros of the kernel (linux/spinlock_types.h, rwlock_types.h, mutex.h, rwsem.h, seqlock.h, wait.h, list.h, idr.h) that
# define an object and initialise it.
_DEFINED_BY = {
    "spinlock_t": "DEFINE_SPINLOCK",
    "raw_spinlock_t": "DEFINE_RAW_SPINLOCK",
    "rwlock_t": "DEFINE_RWLOCK",
    "mutex": "DEFINE_MUTEX",
    "rw_semaphore": "DECLARE_RWSEM",
    "seqlock_t": "DEFINE_SEQLOCK",
    "wait_queue_head_t": "DECLARE_WAIT_QUEUE_HEAD",
    "wait_queue_head": "DECLARE_WAIT_QUEUE_HEAD",
    "list_head": "LIST_HEAD",
    "hlist_head": "HLIST_HEAD",
    "idr": "DEFINE_IDR",
    "ida": "DEFINE_IDA",
}


@dataclass(frozen=True, slots=True)
class Style:
    """What decides the form of an edit.  ``macro`` is the project's own alignment macro, "" for none."""

    line_size: int
    kind: ImageKind
    macro: str = ""

    @property
    def kernel(self) -> bool:
        return self.kind in (ImageKind.KERNEL, ImageKind.MODULE)


def remedy(edit: Edit, style: Style, paths: Paths = _NO_TYPES) -> Remedy:
    """The edit in words and as source text, and what it moves."""
    found = _in_c(edit, style, paths)
    language = language_of(edit.actor, style.kind, paths)
    if language == "Go":
        found = go_remedy(edit, paths, style.line_size, found)
    elif language == "Rust":
        found = rust_remedy(edit, paths, style.line_size, found)
    return msgspec.structs.replace(found, moves=edit.moved, identity=edit.actor.identity)


def _in_c(edit: Edit, style: Style, paths: Paths) -> Remedy:
    words = _Words(edit, style, paths)
    if not edit.actor.sized:
        return _unnamed(edit, style)
    if edit.kind is Kind.ELEMENTS:
        return words.elements()
    if edit.kind is Kind.MEMBER:
        return words.member()
    if edit.kind is Kind.ELSEWHERE:
        return words.elsewhere()
    if edit.actor.section == ALLOCATED:
        return words.record()
    return words.kernel_variable() if style.kernel else words.variable()


def language_of(actor: Actor, kind: ImageKind, paths: Paths = _NO_TYPES) -> str:
    """C, C++, Rust or Go, from debug information, else from the name, else from the type."""
    if kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return "C (kernel)"
    if actor.language in ("Rust", "Go"):
        return actor.language
    if actor.language:
        return "C++" if is_cxx(actor.language) else "C"
    if "::" in actor.owner or actor.owner.startswith("_Z"):
        return "C++"
    return "C++" if paths.in_cxx(actor) else "C"


def _unnamed(edit: Edit, style: Style) -> Remedy:
    actor = edit.actor
    if edit.kind is Kind.ELEMENTS:
        return _unnamed_elements(edit, style)
    return Remedy(
        kind="pad-type",
        text=(
            f"let debug information name {actor.owner} ({ASK_SERVERS}, or --debug-file FILE), which tells a variable "
            f"from a member of a record: then pad the variable's type to whole {style.line_size}-byte lines, or start "
            f"the member on a line of its own and the member behind it on the next, {OR_A_MEMBER}"
        ),
        edit=(
            f"struct {_align(style)} line_T {{ T value; }};  // a variable; C: {_attribute(style)} on the struct\n"
            f"{_align(style)} T member;  // a member, and the one behind it; C: {_alignas_c(style)}"
        ),
        language="C/C++",
        cost_bytes=style.line_size * 2 - 1 - (actor.span[1] - actor.span[0]) % style.line_size,
        breaks_abi=False,
        protects_tail=True,
    )


def _unnamed_elements(edit: Edit, style: Style) -> Remedy:
    """Of an array of which the step from one element to the next is known, and of their number what code shows."""
    name, stride, costs = edit.actor.owner, stride_of(edit.actor), cost_of(edit, style.line_size)
    counted = costs.objects > 1
    return Remedy(
        kind="pad-element",
        text=(
            f"elements of {stride} bytes: let debug information name {name} ({ASK_SERVERS}, or --debug-file "
            f"FILE), then give each element a line of its own: round the element type up to {style.line_size} bytes "
            f"(the element, not the array)"
        ),
        edit=(
            f"struct {_align(style)} line_T {{ T value; }};  // C: {_attribute(style)} on the struct\n"
            f"// T: the type of the elements; T array[N] becomes line_T array[N]"
        ),
        language="C/C++",
        cost_bytes=costs.total if counted else costs.each,
        breaks_abi=False,
        protects_tail=True,
        objects=costs.objects if counted else 0,
        each_bytes=costs.each,
    )


class _Words:
    """One edit, with what its forms have in common."""

    def __init__(self, edit: Edit, style: Style, paths: Paths) -> None:
        self._edit, self._style, self._paths = edit, style, paths
        self._actor = edit.actor
        self._name = _identifier(edit.actor.owner)
        self._language = language_of(edit.actor, style.kind, paths)
        self._cxx = self._language == "C++"
        self._home = paths.home(edit.actor)
        self._storage = "static " if self._home.local else ""
        self._unknown = False  # a type had to be left to the reader

    def variable(self) -> Remedy:
        """A type of its own around the variable."""
        name, line = self._name, self._style.line_size
        inner = self._of_variable("value")
        rounded = round_up(max(self._actor.owner_span[1] - self._actor.owner_span[0], 1), line)
        if self._cxx:
            edit = (
                f"struct {_align(self._style)} Line_{name} {{ {inner}; }};{self._note()}\n"
                f"{self._storage}Line_{name} {name}{self._value('{ {} }')};"
                f"  // sizeof is {rounded}: nothing else fits on its lines"
            )
        else:
            edit = (
                f"struct line_{name} {{ {inner}; }} {_attribute(self._style)};{self._note()}\n"
                f"{self._storage}struct line_{name} {name}{self._value('{ {} }')};"
                f"  /* sizeof is {rounded}: nothing else fits on its lines */"
            )
        text = (
            f"give {self._actor.owner} a type of its own that is aligned and rounded up to {line} bytes; keep scope "
            f"and storage class, put one more pair of braces around its initialiser{self._declarations()}, and write "
            f".value where it is used"
        )
        return self._made("pad-type", text, edit, breaks_abi=self._home.outside)  # it changes its size

    def _declarations(self) -> str:
        """What is done to declarations: a linked file does not tell whether a header has one, for others to see."""
        if self._home.local:
            return ""
        known = "" if self._home.outside else f" ({IN_A_HEADER}: what includes it is compiled again)"
        return f", change its extern declarations alike{known}"

    def record(self) -> Remedy:
        """Every object of a type that is allocated."""
        line = self._style.line_size
        if self._actor.owner.endswith("[]"):
            return self._plain_elements()
        name = _identifier(re.sub(r"^(struct|union|class) ", "", self._actor.owner))
        keyword = "union" if self._actor.owner.startswith("union ") else "struct"
        if self._cxx:
            edit = f"{keyword} {_align(self._style)} {name} {{\n    // its members as they are\n}};"
        else:
            edit = f"{keyword} {name} {{\n    /* its members as they are */\n}} {self._on_type()};"
        text = (
            f"align {self._actor.owner} to {line} bytes, which rounds its size up, and allocate its objects with that "
            f"alignment (aligned_alloc, an aligned operator new)"
        )
        return self._made("pad-type", text, edit, breaks_abi=True)

    def _plain_elements(self) -> Remedy:
        """Numbers that a variable or member leads to (``RecordBits.ELEMENTS``): there is no type to align."""
        holder, line = self._actor.owner.removesuffix("[]"), self._style.line_size
        name, remark = _identifier(holder), f"T: the type that the elements of {holder} have now"
        if self._cxx:
            edit = f"struct {_align(self._style)} Line_{name} {{ T value; }};  // {remark}"
        else:
            edit = f"struct line_{name} {{ T value; }} {self._on_type()};  /* {remark} */"
        text = (
            f"make the elements of {holder} a type that is aligned and rounded up to {line} bytes, allocate them with "
            f"that alignment (aligned_alloc, an aligned operator new), and write .value where they are used"
        )
        return self._made("pad-element", text, edit, breaks_abi=True)

    def kernel_variable(self) -> Remedy:
        """A section of the kernel, in which each object starts a line."""
        kind = self._of_variable(self._name)
        if self._actor.role in (Role.READ_MOSTLY, Role.CONSTANT):
            text = f"move {self._actor.owner}{self._declared()} to the section of read-mostly data"
            edit = f"{self._storage}{kind} __read_mostly{self._value()};{self._note()}"
            return self._made("section", text, edit, breaks_abi=False, cost=0)
        text = (
            f"move {self._actor.owner}{self._declared()} to .data..cacheline_aligned, where each object starts a line: "
            f"the next one cannot use its tail"
        )
        edit = f"{self._storage}{kind} __cacheline_aligned_in_smp{self._value()};{self._note()}"
        if defined := _DEFINED_BY.get(re.sub(r"^struct ", "", self._actor.owner_type)):
            # As kernel code writes it (fs/dcache.c has one): the attribute in front of the macro.
            defines = f"{self._storage}__cacheline_aligned_in_smp {defined}({self._name});"
            edit = f"{defines}  /* or, where its declaration is written out: {edit} */"
        return self._made("section", text, edit, breaks_abi=False)

    def _declared(self) -> str:
        """Where it is: of several files of a kernel the finding stands under one."""
        found = self._actor.source.rpartition("/")[2]
        return f" ({found})" if found else ""

    def elements(self) -> Remedy:
        """A type of whole lines for the elements of an array, a variable or a member."""
        steps, line = self._edit.steps, self._style.line_size
        actor, size = self._actor, self._actor.owner_span[1] - self._actor.owner_span[0]
        stride = steps[-1].stride if steps else stride_of(actor)
        outside = outside_array(steps)
        bounds = "".join(step.bounds for step in steps[len(outside) :])
        untyped, bounds = self._untyped_elements(max(size // stride, 1) if stride else actor.count, bounds)
        outside, template = self._within_template(outside)
        rounded = round_up(max(stride, 1), line)
        array = path_text(actor.owner, outside)
        whole = not outside
        name = self._name if whole else _identifier(outside[-1].name)
        inner = self._spelled(steps[-1].type, "value") if steps else untyped
        storage = self._storage if whole else ""
        where = "" if whole else self._inside(outside[-1])
        values = self._value("{ {} }", "its values, each in braces") if whole else ""
        if self._cxx:
            kind = f"{template}<Slot_{name}, {bounds[1:-1]}> {name}" if template else f"Slot_{name} {name}{bounds}"
            edit = (
                f"struct {_align(self._style)} Slot_{name} {{ {inner}; }};  // {rounded} bytes{self._note(', ')}\n"
                f"{storage}{kind}{values};{where}"
            )
        else:
            edit = (
                f"struct slot_{name} {{ {inner}; }} {self._on_type()};  /* sizeof is {rounded}{self._note(', ')} */\n"
                f"{storage}struct slot_{name} {name}{bounds}{values};{where}"
            )
        shown = actor.owner if whole else _in_words(actor.owner, array)
        declared = self._declarations() if whole else ""
        text = (
            f"round the element type of {shown} up to {line} bytes (the element, not the array){declared}, and write "
            ".value behind its index"
        )
        return self._made("pad-element", text, edit, breaks_abi=not whole or self._home.outside)

    def _within_template(self, outside: tuple[Step, ...]) -> tuple[tuple[Step, ...], str]:
        """The way to what is declared where a class of a library holds the array, and the name of its template."""
        holder = outside[-1].holder if outside else -1
        found = ARRAY_TEMPLATE.match(self._paths.types[holder].name) if holder >= 0 else None
        if found is None or (len(outside) > 1 and outside[-2].of_array):
            return outside, ""
        return outside[:-1], re.sub(r"::__\w+(?=::)", "", found[1])

    def member(self) -> Remedy:
        """Alignment on a member, and on the one behind it."""
        steps, actor = self._edit.steps, self._actor
        full = path_text(actor.owner, steps) if steps else actor.name
        row, first = begins_with(self._paths.types, steps[-1].type, steps[-1].name) if steps else (-1, "")
        full += f".{first}" if steps and not steps[-1].of_array and first != steps[-1].name else ""
        shown = _in_words(actor.owner, full)
        field = first if steps else _identifier(re.sub(r"[^A-Za-z0-9_].*$", "", full.rsplit(".", 1)[-1]))
        field = field if re.match(r"[A-Za-z_]", field) and full != actor.owner else "member"
        if full.startswith(f"{actor.owner}+"):  # the variable is known, its type is not: neither is the language
            return self._unknown_member(full)
        own = self._spelled(row, field) if steps else self._of_type("", field)
        lines = [self._aligned(own) + self._inside(steps[-1] if steps else None, also=self._note(", "))]
        behind = steps[-1].next if steps else None
        after, follows = begins_with(self._paths.types, behind.type, behind.name) if behind is not None else (-1, "")
        if behind is not None and follows and not behind.bit_size:
            self._unknown = False
            lines.append(self._aligned(self._spelled(after, follows)) + self._note())
            next_one = f" and {follows} behind it on the next"
        elif steps and behind is None:
            next_one = ""  # its size is rounded up
        else:
            lines.append(self._remark("the member behind it likewise").strip())
            next_one = " and the member behind it on the next"
        text = f"start {shown} on a line of its own{next_one}"
        text += self._allocated_so()
        kind = "section" if self._style.kernel else "align-member"
        return self._made(kind, text, "\n".join(lines), breaks_abi=True)

    def _allocated_so(self) -> str:
        """What else is to be done where the object is allocated."""
        if self._actor.section != ALLOCATED or self._actor.alignment >= self._style.line_size:
            return ""
        return f"; its objects have to be allocated with an alignment of {self._style.line_size} bytes"

    def _unknown_member(self, full: str) -> Remedy:
        """A member of which the place alone is known; its type, and the member behind it, are the reader's to find."""
        offset = full[len(self._actor.owner) :]
        text = (
            f"start {offset} of {self._actor.owner} on a line of its own and the member behind it "
            f"on the next (debug information names the two: {ASK_SERVERS}, or --debug-file FILE){self._allocated_so()}"
        )
        if self._style.kernel:
            edit = f"T member ____cacheline_aligned_in_smp;  /* at {offset}, in the type of {self._actor.owner} */"
            return self._made("section", text, edit, breaks_abi=True)
        self._language = "C/C++"
        edit = (
            f"{_align(self._style)} T member;  // at {offset}, in the type of {self._actor.owner}; in C "
            f"{_alignas_c(self._style)}"
        )
        return self._made("align-member", text, edit, breaks_abi=True)

    def elsewhere(self) -> Remedy:
        """A member in another place of its record: nothing grows."""
        edit, step = self._edit, self._edit.steps[-1]
        types = self._paths.types
        shown = _in_words(self._actor.owner, path_text(self._actor.owner, edit.steps))
        before = next(m for m in types[step.holder].members if m.name == edit.behind)
        first, second = self._spelled(before.type, before.name), self._spelled(step.type, step.name)
        text = (
            f"move {shown} behind {edit.behind}, a line away: no object grows; check initialisers that give values in "
            f"order"
        )
        return self._made("move-member", text, f"{first};\n{second};{self._inside(step)}", breaks_abi=True)

    def _made(self, kind: str, text: str, edit: str, *, breaks_abi: bool, cost: int | None = None) -> Remedy:
        costs = cost_of(self._edit, self._style.line_size)
        return Remedy(
            kind=kind,
            text=text,
            edit=edit,
            language=self._language,
            cost_bytes=costs.total if cost is None else cost,
            breaks_abi=breaks_abi,
            protects_tail=True,
            objects=costs.objects,
            each_bytes=costs.each if costs.objects != 1 else 0,
        )

    def _value(self, braces: str = "{}", what: str = "its initialiser") -> str:
        """Where the value stands that a variable of an initialised section has: nobody is to drop it."""
        section = self._actor.section
        if not section.startswith(_INITIALISED) or section.startswith(_PER_CPU):
            return ""
        return f" = {braces.replace('{}', f'/* {what} */')}"

    def _aligned(self, text: str) -> str:
        """A member's declaration that starts a line."""
        if self._style.kernel:
            return f"{text} ____cacheline_aligned_in_smp;"
        return f"{_align(self._style) if self._cxx else _alignas_c(self._style)} {text};"

    def _on_type(self) -> str:
        return "____cacheline_aligned_in_smp" if self._style.kernel else _attribute(self._style)

    def _of_variable(self, name: str) -> str:
        """The variable's type around a name: as declared where that is known, else the lock's that is all of it."""
        found = spelled(self._paths.types, self._home.type, name, self._language)
        if found:
            return found
        actor = self._actor
        known = actor.owner_type if actor.owner_type not in _NAMELESS else ""
        return self._of_type(known or (actor.type_name if actor.span == actor.owner_span else ""), name)

    def _of_type(self, kind: str, name: str) -> str:
        """A type that is known by name only around a name."""
        bounds = "".join(re.findall(r"\[\d+\]", kind))
        kind = re.sub(r"\[\d*\]", "", kind)
        if kind in _NAMELESS or not re.fullmatch(r"[\w:<>, *&]+", kind):
            self._unknown = True
            kind = "T"
        return f"{kind}{'' if kind.endswith('*') else ' '}{name}{bounds if kind != 'T' else ''}"

    def _spelled(self, row: int, name: str) -> str:
        found = spelled(self._paths.types, row, name, self._language)
        if not found:
            self._unknown = True
        return found or f"T {name}"

    def _untyped_elements(self, count: int, bounds: str) -> tuple[str, str]:
        """Of what is an array by its use: the element, and the bounds around ``count`` of them, where no type said."""
        if bounds:
            return "", bounds
        own = re.findall(r"\[\d+\]", self._actor.owner_type)
        kind = re.sub(r"\[\d*\]", "", self._actor.owner_type)
        for outer in range(1, len(own) + 1):  # a row may be what one thread has
            if math.prod(int(extent[1:-1]) for extent in own[:outer]) == count:
                return self._of_type(kind + "".join(own[outer:]), "value"), "".join(own[:outer])
        return self._of_type(kind if len(own) < 2 else "", "value"), f"[{count}]"

    def _inside(self, step: Step | None, also: str = "") -> str:
        """A comment that names the record."""
        name = self._paths.types[step.holder].name if step is not None and step.holder >= 0 else ""
        text = f"in {'' if self._cxx else 'struct '}{name}" if name else ""
        return self._remark(text + (also if text else also.removeprefix(", ")))

    def _note(self, lead: str = "") -> str:
        """What the reader fills in; ``lead``: within a comment."""
        if not self._unknown:
            return ""
        return f"{lead}{_UNKNOWN}" if lead else self._remark(_UNKNOWN)

    def _remark(self, text: str) -> str:
        if not text:
            return ""
        return f"  // {text}" if self._cxx else f"  /* {text} */"


def _in_words(owner: str, path: str) -> str:
    """``slots[0].op of ring`` for ``ring.slots[0].op``, ``op of ring[0]`` for ``ring[0].op``."""
    index = re.match(r"(\[\d+\])*", path[len(owner) :])
    end = len(owner) + (index.end() if index else 0)
    inner = path[end:].lstrip(".")
    return f"{inner} of {path[:end]}" if inner else path


def _align(style: Style) -> str:
    return style.macro or f"alignas({style.line_size})"


def _alignas_c(style: Style) -> str:
    return style.macro or f"_Alignas({style.line_size})"


def _attribute(style: Style) -> str:
    return style.macro or f"__attribute__((aligned({style.line_size})))"


def _identifier(name: str) -> str:
    """The last component of a qualified name, as it stands in the declaration."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name.rsplit("::", 1)[-1]) or "object"
