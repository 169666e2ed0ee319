"""Line rules on a layout that is only known up to where its parts start.

Owns the evaluation at every possible start: from source alone, a contribution of a unit starts at some multiple of
its alignment, and a record from the heap at some multiple of the allocator's.  A pair is judged by the share of those
positions at which it meets, and a pair of two units, whose distance the linker decides, as merely possible.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Iterable, Iterator

import msgspec

from sharing.basics.geometry import lines_of
from sharing.basics.positions import steps_lost
from sharing.judge import numbers
from sharing.judge.severitylimit import limited
from sharing.model.finding import OF_SHARING, Finding, Severity, Verdict
from sharing.model.image import ALLOCATED, Image, Section, SectionKind
from sharing.model.profile import Actor, Heat, LineProfile, Role
from sharing.rules import LINE_RULES
from sharing.rules.ends import one_takes
from sharing.rules.line.base import Context, Draft, LineRule, Span
from sharing.rules.line.table import OF_WHOLE_ARRAYS
from sharing.static import correlate
from sharing.static.profiles import Profiler

Key = tuple[str, ...]
_AT_SOME = " offsets at which "
_ACROSS = "they are defined in different translation units"
_UNIT = "this unit's part of "


class _Met(msgspec.Struct):
    """One pair at all positions: the worst draft, and at which it was found."""

    rule: LineRule
    draft: Draft
    shifts: set[int]


class Positions:
    """Where each movable section of an image may start, relative to where it was laid."""

    def __init__(self, image: Image, line_size: int) -> None:
        self._line_size = line_size
        self._image = image
        self._sections = {s.index: s for s in image.sections}
        writable = [s for s in image.sections if s.kind is SectionKind.WRITABLE and s.size]
        self._starts = sorted((s.address, s.index) for s in writable)
        self.movable = image.phases.keys()
        steps = {self.step(s) for s in writable}
        self.shifts = sorted({shift for step in steps for shift in range(0, line_size, step)} | {0})

    def step(self, section: Section) -> int:
        """Distance in bytes between possible starts that differ for lines; a line where the start is fixed."""
        return min(max(self._image.phases.get(section.index, self._line_size), numbers.SMALLEST_STEP), self._line_size)

    def section_at(self, address: int) -> Section | None:
        """The writable section that holds an address."""
        at = bisect.bisect_right(self._starts, address, key=lambda s: s[0]) - 1
        section = self._sections[self._starts[at][1]] if at >= 0 else None
        return section if section is not None and address < section.end else None

    def sections_on(self, start: int, end: int) -> list[Section]:
        """The sections with bytes in [start, end), which may be all of a small one, in order of address."""
        first = bisect.bisect_right(self._starts, start, key=lambda s: s[0])
        last = bisect.bisect_left(self._starts, end, key=lambda s: s[0])
        near = [self._sections[index] for _, index in self._starts[max(first - 1, 0) : last]]
        return [s for s in near if s.address < end and start < s.end]

    def of(self, actor: Actor) -> Section | None:
        return self.section_at(actor.span[0])

    def label(self, section: Section) -> str:
        """A line of it, in words."""
        if section.name == ALLOCATED:
            return "a line"
        return f"a line of {section.name}"


def run(
    profiler: Profiler,
    accesses: correlate.Accesses,
    table: correlate.Slots,
    context: Context,
    rules: Iterable[LineRule],
    *,
    limits: bool,
    every_pair: bool = False,
) -> list[Draft]:
    """Rules of single lines at every position; pairs that meet nowhere but across sections are merely possible.

    ``limits``: of findings about one object the worst is the one by what is known of the threads (``severitylimit``).
    ``every_pair``: those that the same edit would part are kept, each at the positions where it meets.
    """
    positions = Positions(profiler.image, context.line_size)
    rules = [r for r in rules if r.span is Span.LINE]
    met: dict[Key, _Met] = {}
    for shift in positions.shifts:
        for line_address in correlate.lines_of_interest(accesses, table, context.line_size, shift):
            sections = positions.sections_on(line_address, line_address + context.line_size)
            if not any(shift % positions.step(s) == 0 for s in sections):
                continue
            line = profiler.profile(line_address, context.line_size)
            if not line.actors:
                continue
            if sections[0].index in positions.movable:
                line = msgspec.structs.replace(line, place=positions.label(sections[0]))
            for rule in rules:
                for draft in rule.check(line, context):
                    # Of a pair of two units each part has to be able to start there.
                    homes = [positions.of(actor) for actor in draft.actors[:2]]
                    if any(home is None or shift % positions.step(home) for home in homes):
                        continue
                    key = (rule.id, *sorted(a.name for a in draft.actors[:2]))
                    known = met.get(key)
                    if known is None:
                        met[key] = _Met(rule, draft, {shift})
                        continue
                    known.shifts.add(shift)
                    if (draft.severity.rank, draft.score) > (known.draft.severity.rank, known.draft.score):
                        known.draft = draft
    graded = [d for m in met.values() if (d := _graded(m, positions, context)) is not None]
    return _one_per_object(limited(graded, context) if limits else graded, context.line_size, every_pair=every_pair)


def alone(profiler: Profiler, context: Context) -> Callable[[LineRule, Draft], Draft | None]:
    """How bad a pair of one part is of which one rule says that it meets somewhere: by all positions."""
    positions = Positions(profiler.image, context.line_size)

    def graded(rule: LineRule, draft: Draft) -> Draft | None:
        homes = [positions.of(actor) for actor in draft.actors[:2]]
        if len({home.index if home is not None else None for home in homes}) > 1:
            return None  # the linker decides
        return _graded(_Met(rule, draft, set()), positions, context)

    return graded


def of_one(
    profiler: Profiler, lines: Iterable[int], context: Context, rules: Iterable[LineRule], known: Iterable[Draft]
) -> Iterator[Draft]:
    """What is said of a variable that is perhaps alone on its line: where its part starts makes no difference.

    ``lines`` are those of the image as it was laid; nothing that is known is said again.
    """
    rules = [r for r in rules if r.of_one]
    said = {(draft.rule, draft.actors[0].name) for draft in known}
    for address in lines if rules else ():
        line = profiler.profile(address, context.line_size)
        for rule in rules:
            yield from (draft for draft in rule.check(line, context) if (rule.id, draft.actors[0].name) not in said)


def _graded(met: _Met, positions: Positions, context: Context) -> Draft | None:
    """Severity by share of positions; across sections LOW, as fragile, or a note where it is not high."""
    draft = met.draft
    homes = [positions.of(a) for a in draft.actors[:2]]
    first = homes[0]
    if first is None or any(h is None for h in homes):
        return None
    if len({h.index for h in homes if h is not None}) > 1:
        if draft.severity.rank < Severity.MEDIUM.rank or any(h is not None and h.name == ALLOCATED for h in homes):
            return None
        return dataclasses.replace(
            draft,
            severity=Severity.LOW if draft.severity.rank >= Severity.HIGH.rank else Severity.NOTE,
            verdict=Verdict.FRAGILE,
            evidence=(
                *draft.evidence,
                f"{_ACROSS}: whether they share a line depends on the order of the object files at link time, here "
                "assumed to be that of the compile commands",
            ),
        )
    if first.index not in positions.movable or draft.verdict in (Verdict.TRUE_SHARING, Verdict.INCONCLUSIVE):
        return draft
    line_size = context.line_size
    possible = line_size // positions.step(first)
    others = [shift for shift in range(0, line_size, positions.step(first)) if shift not in met.shifts]
    shifts = met.shifts.union(_meeting(met, others, context))
    share = len(shifts) / possible
    steps = steps_lost(share)
    elements = draft.verdict is Verdict.FALSE_SHARING and len(draft.actors) == 1  # of one array, for each thread
    if first.name == ALLOCATED and not elements and not object_shared_by_intent(draft.actors[:2]):
        steps += 1  # there may be an object for each thread
    if draft.verdict is Verdict.SPLIT_ACCESS and share < 1:
        steps += 1  # nothing here is known to straddle
    evidence = f"on one line at {len(shifts)} of the {possible} offsets in a line at which {_what(first)} can start"
    if possible == 1:
        evidence = f"{_what(first)} is aligned to the line: they always share a line"
    at = f"; they do so at {len(shifts)} of the {possible}{_AT_SOME}{_what(first)} can start"
    return dataclasses.replace(
        draft,
        severity=draft.severity.lowered(steps),
        message=f"{draft.message}{at}" if share < 1 else draft.message,
        evidence=(*draft.evidence, f"{evidence} ({100 * share:.0f}%)" if possible > 1 else evidence),
        score=draft.score * len(met.shifts or shifts) / possible,  # first comes what a rule names at most of them
    )


def _meeting(met: _Met, shifts: Iterable[int], context: Context) -> Iterator[int]:
    """Those positions at which the two that are named are on a line, by the rule if nothing else were there.

    A rule names one pair a line: where a busier neighbour is on the line as well it speaks of that one, and these two
    share the line all the same.
    """
    pair, size = met.draft.actors[:2], context.line_size
    if met.draft.verdict not in OF_SHARING or len(pair) < 2:
        return
    alone = tuple(sorted(pair, key=lambda actor: (actor.span, actor.name)))
    for shift in shifts:
        lines = {at for begin, end in pair[0].hot for at in lines_of(begin + shift, end - begin, size)}
        drafts = (d for at in lines for d in met.rule.check(LineProfile(at - shift, size, alone), context))
        if any(set(draft.actors[:2]) == set(pair) for draft in drafts):
            yield shift


def meets_at_some(finding: Finding) -> bool:
    """Was this predicted for a pair in static storage that meets at some starts of its unit's part, not at all?"""
    return f"{_AT_SOME}{_UNIT}" in finding.message


def if_they_meet(finding: Finding) -> Severity | None:
    """How severe a pair of two units is if the linker puts their parts so that it meets; None for other findings."""
    if not any(one.text.startswith(_ACROSS) for one in finding.evidence):
        return None
    return Severity.MEDIUM if finding.severity is Severity.NOTE else Severity.HIGH


def object_shared_by_intent(pair: tuple[Actor, ...]) -> bool:
    """Both are, or one is only read, which needs no synchronisation, beside an atomic or a lock of the same object.

    Or they are the ends of a queue, of which one thread alone moves the one.
    """
    if all(is_synchronised(a) or a.is_volatile for a in pair) or (len(pair) > 1 and one_takes(*pair)):
        return True
    return any(map(is_synchronised, pair)) and all(is_synchronised(a) or a.write_heat is Heat.COLD for a in pair)


def is_synchronised(actor: Actor) -> bool:
    return actor.is_lock or actor.role is Role.ATOMIC or any(a.atomic for a in actor.accesses)


def _what(section: Section) -> str:
    return "the object" if section.name == ALLOCATED else f"{_UNIT}{section.name}"


def _end_of(actor: Actor, draft: Draft, line_size: int) -> str:
    """The object, and of a lock longer than a line which end the finding is about: each end has neighbours of its own.

    Of an array, the other thing that is so long, what is said of its elements holds for both.
    """
    begin, end = actor.span
    if not actor.is_lock or end - begin <= line_size:
        return actor.name
    before = any(other.span[1] <= begin for other in draft.actors[:2] if other is not actor)
    behind = any(other.span[0] >= end for other in draft.actors[:2] if other is not actor)
    return f"{actor.name} {'begin' if before else ''} {'end' if behind else ''}"


def _one_per_object(drafts: list[Draft], line_size: int, *, every_pair: bool) -> list[Draft]:
    """Of pairs with an object in common the worst: separating that object mends the others, too.

    What elements of an array do to each other says nothing of what they do to another object on their line, unless that
    is found for how the array is declared, and the other way round: parted from all else they still share a line.
    Where ``every_pair`` stands for itself, a pair is left out only if a finding about more objects has both.
    """
    drafts.sort(key=lambda d: (-d.severity.rank, -d.score, d.line.address, d.rule))
    declared = {rule.id for rule in LINE_RULES if rule.specific}
    taken: set[tuple[str, str]] = set()
    elements: set[tuple[str, str]] = set()
    kept: list[Draft] = []
    possible = 0
    for draft in drafts:
        if draft.verdict is Verdict.FRAGILE:
            possible += 1
            if possible > numbers.MAX_POSSIBLE:
                continue
        blamed = {(draft.rule, _end_of(a, draft, line_size)) for a in (draft.separate or draft.actors)[:2]}
        everywhere = {("", _end_of(a, draft, line_size)) for a in draft.actors[:1]}
        pair = {a.name for a in draft.actors[:2]}
        two = len({a.owner for a in draft.actors[:2]}) > 1 and draft.rule not in declared
        of_one = len(draft.actors) == 1 and draft.rule in OF_WHOLE_ARRAYS
        mends = elements if of_one else taken if two else taken | elements
        mended = not every_pair and (blamed | everywhere) & mends
        if mended or (not of_one and any(pair <= {a.name for a in k.actors} for k in kept)):
            continue
        (elements if len(draft.actors) == 1 else taken).update(blamed | everywhere)
        kept.append(draft)
    return kept
