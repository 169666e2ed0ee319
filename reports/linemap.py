"""The map of ``linemate lines`` for a terminal, in the manner of pahole: bytes, members, holes, boundaries.

Owns the columns of that view; pictures and colours are those of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from reports.escape import name_list, shorten, visible
from reports.options import MAX_PROSE_WIDTH, RenderOptions
from reports.picture import HOLE, UNKNOWN, marks
from reports.styled import INDENT, MIN_WIDTH, NAME_WIDTH, Line, paint, picture_rows, wrapped
from reports.text import NAMES_SHOWN, target_lines
from sharing.model import LinePicture, Slice
from sharing.model.linemap import (
    Excerpt,
    Layout,
    LayoutLine,
    LayoutMember,
    LayoutObject,
    LayoutReport,
    LayoutSpan,
    RecordFacts,
    SpanKind,
)
from sharing.model.plural import count, named

TYPE_WIDTH = 28
PLACE_WIDTH = 16  # columns of letter, offset and size
REMARK_WIDTH = 36  # columns that are left to who uses a member, however long names are
# How many functions, and how much of each name, are shown of a member: the first that the width has room for.
_ACCESSORS = ((6, 60), (4, NAME_WIDTH), (3, NAME_WIDTH), (2, NAME_WIDTH), (2, TYPE_WIDTH))
_KEY = (
    "pictures: a character a byte, a letter a variable, or a member where one variable fills the line; UPPER CASE: "
    "some function writes or locks it; '-' hole, '.' padding, '?' unknown; behind a member l: locked by, w: written "
    "by, r: read by, wr: both by the same"
)
MANY = 4  # functions that read a member for each that writes it, from which on it counts as read
OF_A_SIDE = 3  # members of a line that are named together
CROWD_SHOWN = 4
MOST_USED = 5
FOLDED_FROM = 3  # lines that look alike, from which on the first stands for all
_MEMBER = re.compile(r"(\[[^\]]*\])*\.?[^.\[]+")  # with the index of an array's element in front
_INDEX = re.compile(r"\[\d+(\.\.\d+)?\]")  # of one element, or of those on a line
_OWNERS = {SpanKind.PADDING: "", SpanKind.UNKNOWN: UNKNOWN, SpanKind.HOLE: HOLE}


def render(report: LayoutReport, options: RenderOptions) -> str:
    """The map as text.  Upper case letters in pictures mark bytes that code of this file writes.

    Names have as many columns as there are; prose is wrapped before it gets hard to read.
    """
    width = max(options.width, MIN_WIDTH)
    lines: list[Line] = []
    for layout in report.layouts:
        if lines:
            lines.append([])
        lines.extend(_layout(layout, width, summary=options.summary))
    return paint(lines, color=options.color)


def _layout(layout: Layout, width: int, *, summary: bool) -> Iterator[Line]:
    prose = min(width, MAX_PROSE_WIDTH)
    if summary:
        yield from target_lines(layout.target, prose)
        for note in layout.notes:
            yield from wrapped(f"note: {visible(note)}", prose, INDENT, hang=6, style="yellow")
        if layout.excerpts:
            yield from wrapped(_KEY, prose, INDENT, hang=10, style="dim")
    if layout.sections:
        yield []
        yield from _sections(layout)
    for excerpt in layout.excerpts:
        yield []
        yield from _excerpt(excerpt, width)


def _sections(layout: Layout) -> Iterator[Line]:
    rows = [("section", "address", "bytes", "lines", "objects", "lines with 2+", "straddling")]
    rows += [
        (
            visible(row.name),
            row.address,
            f"{row.size:,}",
            f"{row.lines:,}",
            f"{row.objects:,}",
            f"{row.shared_lines:,}",
            f"{row.straddling:,}",
        )
        for row in layout.sections
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        fields = [f"{row[0]:<{widths[0]}}", *(f"{row[at]:>{widths[at]}}" for at in range(1, len(row)))]
        yield [(INDENT + "  ".join(fields), "" if number else "dim")]
    if layout.crowded:
        yield []
        yield [(f"{INDENT}most crowded lines (sharing a line is the norm; linemate audit says where it hurts)", "dim")]
    for line in layout.crowded:
        names = name_list(line.objects, CROWD_SHOWN, TYPE_WIDTH)
        yield [(f"{INDENT}{line.address} {visible(line.section)}  {count(len(line.objects), 'object')}: {names}", "")]


def _excerpt(excerpt: Excerpt, width: int) -> Iterator[Line]:
    yield [(visible(excerpt.wanted), "bold")]
    prose = min(width, MAX_PROSE_WIDTH)
    if excerpt.object is not None:
        yield from _record(excerpt, prose) if excerpt.record else _object(excerpt.object, excerpt.wanted, prose)
    wanted = "" if excerpt.object is None or excerpt.record else excerpt.object.name
    number = 0
    for alike in _runs(excerpt, wanted):
        shown = alike if len(alike) < FOLDED_FROM else alike[:1]
        for line in shown:
            yield from _boundary(line, record=excerpt.record) if number else ([],)
            number += 1
            start = int(line.address, 16)
            name = f"bytes {start} to {start + line.size - 1}" if excerpt.record else f"line {line.address}"
            yield from _line(line, wanted, name, width)
            if excerpt.record:
                yield from wrapped(_mixed(line, excerpt.object), prose, INDENT, hang=4, style="bold")
        if rest := alike[len(shown) :]:
            yield from wrapped(_folded(rest, record=excerpt.record), prose, INDENT, hang=4, style="dim")
    if excerpt.omitted:
        yield [(f"{INDENT}... {count(excerpt.omitted, 'more line')}, see --max-lines", "dim")]


def _boundary(line: LayoutLine, *, record: bool) -> Iterator[Line]:
    yield [(f"{INDENT}-- cacheline boundary, {_begin(line, record=record)} --", "dim")]


def _begin(line: LayoutLine, *, record: bool) -> str:
    return f"byte {int(line.address, 16)}" if record else line.address


def _runs(excerpt: Excerpt, wanted: str) -> list[list[LayoutLine]]:
    """Lines that follow each other and differ in nothing but which elements of an array they hold."""
    runs: list[tuple[object, list[LayoutLine]]] = []
    for line in excerpt.lines:
        owner = excerpt.object if excerpt.record else None
        key = (line.section, line.size, tuple(_shape(span, wanted) for span in line.spans), _mixed(line, owner))
        if runs and runs[-1][0] == key:
            runs[-1][1].append(line)
        else:
            runs.append((key, [line]))
    return [lines for _, lines in runs]


def _shape(span: LayoutSpan, wanted: str) -> object:
    """All that is shown of a span but its place in the array."""
    inner = tuple((part.offset - span.offset, part.size, _unnumbered(part.name), part.type) for part in span.members)
    users = tuple((part.lockers, part.readers, part.writers) for part in _parts(span))
    name = (_unnumbered(span.name), span.object, span.type, span.split, _is_of(span, wanted))
    return (span.start, span.end, span.kind, name, inner, users)


def _unnumbered(name: str) -> str:
    return _INDEX.sub("[]", name)


def _folded(lines: Sequence[LayoutLine], *, record: bool) -> str:
    """How many lines look like the one before, and what is on them."""
    first, last = (next((visible(s.name) for s in spans if s.name), "") for spans in
                   (lines[0].spans, lines[-1].spans[::-1]))  # fmt: skip
    what = f": {first}{f' to {last}' if last != first else ''}" if first else ""
    begins = " to ".join(_begin(line, record=record) for line in (lines[0], lines[-1]))
    return f"... {count(len(lines), 'more line')} like this one, {begins}{what}"


def _record(excerpt: Excerpt, width: int) -> Iterator[Line]:
    """A type: its size as of an object that begins a line, and where its objects in static storage really begin."""
    described = excerpt.object
    assert described is not None
    size = f"{count(described.size, 'byte')}, on {count(described.lines, 'line')} where it begins one"
    yield from wrapped(", ".join(filter(None, (size, visible(described.source)))), width, INDENT)
    for text in (*_whole(excerpt), _accesses_shown(excerpt)):
        yield from wrapped(text, width, INDENT)
    for instance in excerpt.instances:
        at = "begins a line" if instance.line_offset == 0 else f"begins at byte {instance.line_offset} of a line"
        yield from wrapped(f"{visible(instance.name)} at {instance.address}, {at}", width, INDENT, hang=4)
    if excerpt.instances_omitted:
        yield [(f"{INDENT}... {count(excerpt.instances_omitted, 'more object')}", "dim")]


def _whole(excerpt: Excerpt) -> Iterator[str]:
    """Of a record: what of it is no member, and which members functions use most."""
    facts, described = excerpt.facts, excerpt.object
    if facts is None or described is None:
        return
    holes = f"{count(facts.holes, 'hole')} of {count(facts.hole_bytes, 'byte')} in all" if facts.holes else "no holes"
    yield f"{holes}, {count(facts.tail_bytes, 'byte')} behind the last member"
    if facts.empty:
        yield "without bytes: " + ", ".join(f"{visible(one.name)} at byte {one.offset}" for one in facts.empty)
    parts = dict.fromkeys(part for line in excerpt.lines for span in line.spans for part in _parts(span))
    users = {part: len({*part.lockers, *part.readers, *part.writers}) for part in parts}
    spans = sorted((part for part in parts if users[part]), key=lambda part: -users[part])
    mixed = [str(int(line.address, 16)) for line in excerpt.lines if _mixed(line, described)]
    if mixed:
        yield (
            f"read by many beside what is locked or changed atomically: see mixed: in the "
            f"{count(len(mixed), 'line')} at byte {', '.join(mixed)}"
        )
    if len(spans) > 1:
        used = [f"{_inner(span, described.name)} ({_users(span)})" for span in spans[:MOST_USED]]
        yield f"used by most functions: {', '.join(used)}"


def _mixed(line: LayoutLine, record: LayoutObject | None) -> str:
    """What many functions read beside what is locked or changed atomically, which is made for several threads.

    Not other words of the same lock: only who takes it reads them.
    """
    owner = record.name if record is not None else ""
    changed: dict[str, int] = {}
    read: dict[str, int] = {}
    members = [span for span in line.spans if span.kind is SpanKind.MEMBER]
    of_locks = {_outermost(span, owner) for span in members if span.users[0]}
    for span in members:
        lockers, readers, writers = span.users
        if by := lockers or span.updaters:
            changed[f"{_inner(span, owner)} ({'locked' if lockers else 'updated'}"] = len(by)
        elif len(readers) >= MANY * max(len(writers), 1) and _outermost(span, owner) not in of_locks:
            read[f"{_inner(span, owner)} (read"] = len(readers)
    return f"mixed: {_most_used(changed)} beside {_most_used(read)}" if changed and read else ""


def _most_used(side: dict[str, int]) -> str:
    most = sorted(side.items(), key=lambda one: -one[1])
    return named([f"{lead} by {by})" for lead, by in most], OF_A_SIDE)


def _inner(span: LayoutSpan | LayoutMember, owner: str) -> str:
    return visible(span.name.removeprefix(owner).lstrip(".") or span.name)


def _outermost(span: LayoutSpan | LayoutMember, owner: str) -> str:
    """The member of the record that a leaf is of."""
    return _inner(span, owner).partition(".")[0].partition("[")[0]


def _users(span: LayoutSpan | LayoutMember) -> str:
    done = (("locked", span.lockers), ("written", span.writers), ("read", span.readers))
    parts = [f"{verb} by {len(them)}" for verb, them in done if them]
    return ", ".join(parts)


def _accesses_shown(excerpt: Excerpt) -> str:
    """Whose accesses stand at the members of a record."""
    facts = excerpt.facts or RecordFacts()
    ways = []
    if excerpt.instances:
        one = len(excerpt.instances) + excerpt.instances_omitted == 1
        ways.append(f"of {'this object' if one else 'these objects'} in static storage")
    if facts.handed:
        ways.append(
            f"of {count(facts.handed, 'function')} that {'are' if facts.handed != 1 else 'is'} handed a pointer to one"
        )
    if facts.pointers:
        ways.append(f"through {name_list(facts.pointers, NAMES_SHOWN, NAME_WIDTH)}")
    shown = f"accesses are those {' and '.join(ways)}; what goes through other pointers is not shown"
    if excerpt.instances:
        return shown
    if ways:
        return f"no object of it has static storage; {shown}"
    return (
        "who accesses its members is not known: no object of it has static storage, and no function's argument and no "
        "static pointer has this type. What code does behind other pointers, as behind the void * of a thread, "
        "`linemate audit` looks at"
    )


def _object(described: LayoutObject, wanted: str, width: int) -> Iterator[Line]:
    size = count(described.size, "byte") + (" (inferred)" if described.size_inferred else "")
    where = f"{size} at {described.address} in {visible(described.section) or 'no section'}"
    parts = [visible(described.type), where, f"on {count(described.lines, 'line')}", visible(described.source)]
    if described.name != wanted:
        parts.insert(0, visible(described.name))
    yield from wrapped(", ".join(part for part in parts if part), width, INDENT)
    if described.aliases:
        yield from wrapped(f"also {name_list(described.aliases, NAMES_SHOWN, NAME_WIDTH)}", width, INDENT, hang=5)
    done = (
        ("locked", described.lockers),
        ("written", described.writers),
        ("read", described.readers),
        ("address taken", described.takers),
    )
    for verbs, functions in _joined(done):
        text = f"{', '.join(verbs) + ' by':<16} {name_list(functions, NAMES_SHOWN, NAME_WIDTH)}"
        yield from wrapped(text, width, INDENT, hang=17)


def _joined(done: Iterable[tuple[str, tuple[str, ...]]]) -> list[tuple[list[str], tuple[str, ...]]]:
    """What is done, and who does it: things that the same functions do are said once."""
    found: dict[tuple[str, ...], list[str]] = {}
    for verb, functions in done:
        if functions:
            found.setdefault(functions, []).append(verb)
    return [(verbs, functions) for functions, verbs in found.items()]


def _line(line: LayoutLine, wanted: str, title: str, width: int) -> Iterator[Line]:
    owners = _owners(line.spans)
    picture = LinePicture(
        line.address,
        line.size,
        tuple(
            Slice(owner, span.start, span.end, bool(span.users[0] or span.users[2]), "")
            for span, owner in zip(line.spans, owners, strict=True)
        ),
    )
    letters = {owner: mark for (owner, _), mark in marks(picture).items()}
    yield [(f"{INDENT}{title}", "bold"), (f"  {visible(line.section)}".rstrip(), "")]
    yield from picture_rows(picture)
    rows = [(span, owner, part) for span, owner in zip(line.spans, owners, strict=True) for part in _parts(span)]
    types = [shorten(visible(part.type), TYPE_WIDTH) for _, _, part in rows]
    type_width = max(map(len, types))
    room = width - PLACE_WIDTH - type_width - 2 * len("  ")
    names = [shorten(_name(part), max(room - REMARK_WIDTH, NAME_WIDTH)) for _, _, part in rows]
    name_width = max(map(len, names))
    for (span, owner, part), name, type_name in zip(rows, names, types, strict=True):
        mark, start, size = letters.get(owner) or {"": "."}.get(owner, owner), span.start, span.end - span.start
        if isinstance(part, LayoutMember):
            first = span.start + part.offset - span.offset
            mark, start, size = "|", max(first, 0), min(first + part.size, line.size) - max(first, 0)
        place = f"{INDENT}{mark}  {start:>4} {size:>4}  "
        rest = f"  {type_name:<{type_width}}  {_remarks(part, room - name_width)}".rstrip()
        style = "bold" if _is_of(span, wanted) else "dim" if not span.name or owner == HOLE else ""
        yield [(place, ""), (f"{name:<{name_width}}", style), (rest, "")]


def _parts(span: LayoutSpan) -> tuple[LayoutSpan | LayoutMember, ...]:
    """A span, and behind a union its members."""
    return (span, *span.members)


def _owners(spans: Sequence[LayoutSpan]) -> list[str]:
    """To whom the picture gives each span: the variable, and where there is one alone its members."""
    alone = len({span.object for span in spans if span.object}) == 1
    return [
        _OWNERS.get(span.kind) or ("" if span.kind in _OWNERS else _member(span) if alone else span.object)
        for span in spans
    ]


def _member(span: LayoutSpan) -> str:
    """The member of the variable that a span is, or is a part of."""
    inner = span.name[len(span.object) :]
    found = _MEMBER.match(inner) if span.name.startswith(span.object) else None
    return span.object + (found[0] if found else inner)


def _is_of(span: LayoutSpan, wanted: str) -> bool:
    """Whether a span is the variable or member that was asked for, or a part of it."""
    if not wanted or not span.name:
        return False
    return span.object == wanted or (span.name.startswith(wanted) and span.name[len(wanted) :][:1] in ("", ".", "["))


def _name(span: LayoutSpan | LayoutMember) -> str:
    if isinstance(span, LayoutMember):
        return f"  {visible(span.name)}"
    if span.kind in (SpanKind.PADDING, SpanKind.UNKNOWN):
        return span.kind.value
    return f"hole in {visible(span.object)}" if span.kind is SpanKind.HOLE else visible(span.name)


def _remarks(span: LayoutSpan | LayoutMember, room: int) -> str:
    """Whether it lies on two lines, and who uses it: as many functions as ``room`` columns hold, two at least."""
    split = ["straddles the line"] if isinstance(span, LayoutSpan) and span.split else []
    done = _joined((("l", span.lockers), ("w", span.writers), ("r", span.readers)))
    text = ""
    for shown, width in _ACCESSORS:
        parts = [f"{''.join(verbs)}: {name_list(functions, shown, width)}" for verbs, functions in done]
        text = "; ".join((*split, *parts))
        if len(text) <= room:
            break
    return text
