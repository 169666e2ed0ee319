"""``linemate lines``: the lines around symbols or addresses, or a summary of what is crowded.

Owns finding what the user named and how much to show; the map itself is ``sharing.static.linemap``'s.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

import numpy as np
from msgspec import structs

from elfscan.debug.demangle import demangle
from elfscan.image import read_images
from linemate.byname import by_ending, candidates, member_span, rows_by_name, split_member
from linemate.distribution import where_names_are
from linemate.pipeline import vocabulary
from linemate.recordquery import Extent, Read, names_of_records, record_excerpts, similar_records
from sharing.basics.geometry import line_start, lines_of
from sharing.basics.naming import readable_names
from sharing.basics.target import target_of
from sharing.knowledge import Knowledge
from sharing.model.arrays import picked
from sharing.model.errors import LinemateError
from sharing.model.image import Image, SectionKind
from sharing.model.linemap import LINES_SCHEMA, Excerpt, Layout, LayoutMember, LayoutObject, LayoutReport, LayoutSpan
from sharing.model.plural import named
from sharing.model.project import ProjectConfig
from sharing.static.correlate import all_sites
from sharing.static.flow import INIT, LOCK_DTYPE, lock_events
from sharing.static.linemap import LineMap, names_locals
from sharing.static.recover import recover

Accessed = TypeVar("Accessed", LayoutObject, LayoutSpan, LayoutMember)

CROWDED_SHOWN = 10
SUGGESTIONS = 3
ENDINGS_SHOWN = 10  # of names that end in the one that was asked for
MAX_COMPARED = 20_000  # names that a misspelt one is compared with: the rest differ too much in length

_MANGLED = ("_Z", "_R")  # what has such a name has a readable one as well
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,16}$")


@dataclass(frozen=True, slots=True)
class LinesOptions:
    """``symbols`` are names, ``name.member``, names of records or addresses; none asks for the summary.

    ``context`` is how many lines to show on each side, ``max_lines`` how many per symbol; ``line_size`` in bytes,
    None is the architecture's.
    """

    binary: str
    symbols: tuple[str, ...] = ()
    line_size: int | None = None
    context: int = 1
    max_lines: int = 64
    debug_file: str | None = None
    project: ProjectConfig = field(default_factory=ProjectConfig)


def lines(options: LinesOptions) -> LayoutReport:
    """The map of the lines that were asked for.  Raises LinemateError where no image has one of the symbols."""
    layouts: list[Layout] = []
    missing: dict[str, list[str]] = {}
    several: dict[str, list[str]] = {}
    found: set[str] = set()
    bare = False
    knowledge = vocabulary(options.project)
    for read in _images(options, knowledge):
        image = read.image
        size = options.line_size or image.arch.line_size
        target = target_of(image, size)
        bare |= not target.debug
        if not options.symbols:
            plain = LineMap(image, size)
            sections, crowded = tuple(plain.summaries()), tuple(plain.crowded(CROWDED_SHOWN))
            layouts.append(Layout(target, (), sections, crowded, image.notes))
            continue
        extent = Extent(size, options.max_lines, options.context)
        names = rows_by_name(image, candidates(options.symbols))
        every: dict[str, list[int]] = {}
        excerpts: list[Excerpt] = []
        taken: list[str] = []
        for symbol in options.symbols:
            here = list(_excerpts(read, names, symbol, size, options))
            here = here or list(record_excerpts(read, symbol, extent))
            if not here and symbol not in found:
                every = every or rows_by_name(image)
                ending = by_ending(every, symbol)
                if len(ending) == 1:
                    here = list(_excerpts(read, every, ending[0], size, options))
                    taken += [f"{symbol} is taken for {ending[0]}, the one name that ends in it"] * bool(here)
                several.setdefault(symbol, []).extend(ending if len(ending) > 1 else [])
            if here:
                found.add(symbol)
                excerpts.extend(here)
            else:
                every = every or rows_by_name(image)
                missing.setdefault(symbol, []).extend(_similar(image, symbol, every))
        if excerpts:
            layouts.append(Layout(target, tuple(excerpts), notes=(*taken, *image.notes)))
    for symbol, similar in missing.items():
        if symbol not in found:
            if several.get(symbol):
                raise LinemateError(_ambiguous(options.binary, symbol, several[symbol]))
            raise LinemateError(_not_found(options, symbol, similar, bare=bare))
    return _with_readable_names(LayoutReport(LINES_SCHEMA, "lines", tuple(layouts)))


def _with_readable_names(report: LayoutReport) -> LayoutReport:
    """The report with C++ functions as people write them; all names are read in one go, since each go costs."""
    excerpts = [excerpt for layout in report.layouts for excerpt in layout.excerpts]
    spans = [span for excerpt in excerpts for line in excerpt.lines for span in line.spans]
    accessed: list[LayoutObject | LayoutSpan | LayoutMember] = [e.object for e in excerpts if e.object is not None]
    accessed += spans
    accessed += [member for span in spans for member in span.members]
    known = {name for thing in accessed for names in _accessors(thing).values() for name in names}
    readable = readable_names(sorted(known), demangle)

    def renamed(thing: Accessed) -> Accessed:
        fields = {
            field: tuple(dict.fromkeys(readable[name] for name in names)) for field, names in _accessors(thing).items()
        }
        return structs.replace(thing, **fields) if any(fields.values()) else thing

    def span_renamed(span: LayoutSpan) -> LayoutSpan:
        members = tuple(map(renamed, span.members))
        return structs.replace(renamed(span), members=members) if members else renamed(span)

    def excerpt_renamed(excerpt: Excerpt) -> Excerpt:
        lines = [structs.replace(line, spans=tuple(map(span_renamed, line.spans))) for line in excerpt.lines]
        return structs.replace(excerpt, object=excerpt.object and renamed(excerpt.object), lines=tuple(lines))

    layouts = [structs.replace(one, excerpts=tuple(map(excerpt_renamed, one.excerpts))) for one in report.layouts]
    return structs.replace(report, layouts=tuple(layouts))


def _accessors(thing: LayoutObject | LayoutSpan | LayoutMember) -> dict[str, tuple[str, ...]]:
    fields = {"lockers": thing.lockers, "readers": thing.readers, "writers": thing.writers}
    if isinstance(thing, LayoutSpan):
        fields["updaters"] = thing.updaters
    return fields | {"takers": thing.takers} if isinstance(thing, LayoutObject) else fields


def _images(options: LinesOptions, knowledge: Knowledge) -> Iterator[Read]:
    """Images with the objects that only code names, and the lock operations seen.

    Code is read where accessors are to be shown or where symbols are too few to say what is on a line.
    """
    done = 0
    if not options.symbols:
        for image in read_images(options.binary, debug_file=options.debug_file, access=False):
            if not names_locals(image):
                break
            done += 1
            yield Read(image, np.zeros(0, LOCK_DTYPE), knowledge)
        else:
            return
    records = tuple(
        name for symbol in options.symbols if not _ADDRESS.match(symbol) for name in names_of_records(symbol)
    )
    for image in islice(read_images(options.binary, debug_file=options.debug_file, records=records), done, None):
        yield _with_accesses(image, knowledge)


def _with_accesses(image: Image, knowledge: Knowledge) -> Read:
    locks = lock_events(image, knowledge)
    sites = all_sites(image, knowledge)
    found = replace(recover(image, sites, locks, knowledge), sites=sites)
    return Read(found, picked(locks, locks["effect"] != INIT), knowledge)


def _excerpts(
    read: Read, names: dict[str, list[int]], symbol: str, line_size: int, options: LinesOptions
) -> Iterator[Excerpt]:
    image, locks = read.image, read.locks
    if _ADDRESS.match(symbol):
        address = int(symbol, 16)
        if any(s.kind is not SectionKind.TLS and s.address <= address < s.end for s in image.sections):
            yield _excerpt(LineMap(image, line_size, locks=locks), symbol, None, (address, 1), options)
        return
    rows, member = split_member(names, symbol)
    for row in dict.fromkeys(rows):
        variable = image.variables[row]
        section = int(variable["section"])
        kind = next((s.kind for s in image.sections if s.index == section), SectionKind.OTHER)
        span = (int(variable["address"]), max(int(variable["size"]), 1))
        if member:
            inner = member_span(image, row, member)
            if inner is None:
                continue
            span = (span[0] + inner[0], inner[1])
        line_map = LineMap(image, line_size, locks=locks, thread_local=kind is SectionKind.TLS)
        yield _excerpt(line_map, symbol, row, span, options, member=bool(member))


def _excerpt(
    line_map: LineMap,
    wanted: str,
    row: int | None,
    span: tuple[int, int],
    options: LinesOptions,
    *,
    member: bool = False,
) -> Excerpt:
    size = line_map.line_size
    own = lines_of(span[0], span[1], size)
    first = max(line_start(span[0], size) - options.context * size, 0)
    last = min(own[-1] + options.context * size, 2**64 - size)
    wished = range(first, last + size, size)
    shown = wished[: options.max_lines]
    described = line_map.describe(row, (wanted, *span) if member else None) if row is not None else None
    return Excerpt(wanted, described, tuple(line_map.lines(shown)), len(wished) - len(shown))


def _similar(image: Image, symbol: str, names: dict[str, list[int]]) -> list[str]:
    """Names close to a misspelt one: members where the variable is right, else variables that look like it."""
    rows, member = split_member(names, symbol)
    if rows:
        base = symbol[: len(symbol) - len(member)]
        paths = [m.path for m in image.types.flatten(int(image.variables["type"][rows[0]])) if m.path]
        close = difflib.get_close_matches(member, paths[:MAX_COMPARED], n=SUGGESTIONS, cutoff=0.6)
        return [base + path for path in close]
    templates = similar_records(image.types, symbol)
    if templates:
        return templates[:SUGGESTIONS]
    folded = symbol.casefold()
    readable = [name for name in names if not name.startswith(_MANGLED) or symbol.startswith(_MANGLED)]
    holding = sorted((name for name in readable if folded in name.casefold()), key=lambda name: (len(name), name))
    slack = max(2, len(symbol) // 3)
    alike = [name for name in readable if abs(len(name) - len(symbol)) <= slack and name[:1].casefold() == folded[:1]]
    close = difflib.get_close_matches(symbol, alike[:MAX_COMPARED], n=SUGGESTIONS, cutoff=0.6)
    return list(dict.fromkeys([*close, *holding[:SUGGESTIONS]]))[:SUGGESTIONS]


def _ambiguous(binary: str, symbol: str, names: list[str]) -> str:
    each = list(dict.fromkeys(names))
    return f"{binary}: several names end in '{symbol}', name one whole: {named(each, ENDINGS_SHOWN)}"


def _not_found(options: LinesOptions, symbol: str, similar: list[str], *, bare: bool) -> str:
    binary = options.binary
    if _ADDRESS.match(symbol):
        return f"{binary}: address {symbol} is in no section"
    nearest = list(dict.fromkeys(similar))[:SUGGESTIONS]
    hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
    text = f"{binary}: no variable '{symbol}', nor a type of that name{hint}"
    return f"{text}; {_names_wanted(binary, symbol)}" if bare else text


def _names_wanted(binary: str, symbol: str) -> str:
    """What to do about a file that has no types, and perhaps no names, to look in."""
    again = shlex.join(["linemate", "lines", "--debuginfod", binary, symbol])
    known = where_names_are(binary, again=again)
    return f"{known or f'no debug information: a build with -g has it, `{again}` asks servers'}; or --debug-file FILE"
