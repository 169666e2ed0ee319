"""From an image to findings: rules on chosen lines, drafts merged and worded.

Owns the choice of lines and the order of the stages.  The passes before are ``passes``'s, the patterns those of
``sharing.rules``; ``merging`` says which drafts become findings, ``findings`` what those say.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from sharing.basics.naming import Demangle
from sharing.judge import positions
from sharing.judge.comparedheat import ComparedHeat
from sharing.judge.elements import elements_meet
from sharing.judge.findings import Wanted, finding_of
from sharing.judge.heap import (
    OnHeap,
    Reading,
    described,
    handed_by,
    of_chosen_elements,
    of_locked_elements,
    of_many_records,
    of_own_records,
    of_records,
    on_heap,
    told_by,
    without_said,
)
from sharing.judge.mates import each_pair, telling
from sharing.judge.merging import distinct, merge
from sharing.judge.passes import Passes, Profiled, run_passes
from sharing.judge.remedies.rejudge import Newcomers
from sharing.judge.remedy import Style
from sharing.judge.samerecord import once_a_record
from sharing.judge.severitylimit import limited
from sharing.knowledge import Knowledge
from sharing.model.finding import Finding, Severity
from sharing.model.image import Image
from sharing.model.profile import Actor, Heat
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, LineRule, Span, by_threads
from sharing.rules.meeting import limit_of_pair
from sharing.static import callgraph, correlate, flow, numbers
from sharing.static.heapimage import ReadRecords
from sharing.static.profiles import Profiler
from sharing.static.recordobjects import reached_records
from sharing.static.recordplaces import ReadPlaces
from sharing.static.roots import LookElsewhere
from sharing.static.tracedobjects import ReadMoves

MAX_THREAD_NAMES = 6


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """``line_size`` in bytes; ``rules`` are ids, empty for all; ``macro`` is the project's alignment macro.

    ``assume_threads``: functions that may be entered run on several threads where no start of one is seen;
    ``presumed``: functions with these names do.
    ``edits``: look for edits, which takes longer than everything else where types are known.
    ``read_records``: debug information of records by name, for objects on the heap; ``read_places``: which records
    instructions reach; ``read_moves``: what functions do with pointers, where that is not known.
    ``every_pair``: pairs that one edit would part stand each for itself, where only positions are known, and so does
    each pair of a line.
    ``heat``: what is hot in the other revisions that this one is compared with; ``newcomers`` are what came to lines
    since the one that it is compared with, by identity and declared name.
    """

    line_size: int
    pair_size: int
    rules: tuple[str, ...] = ()
    macro: str = ""
    min_severity: Severity = Severity.NOTE  # findings below are counted, not made
    demangle: Demangle = lambda names: names
    assume_threads: bool = False
    presumed: frozenset[str] = frozenset()
    edits: bool = True
    read_records: ReadRecords | None = None  # None: objects on the heap are not judged
    read_places: ReadPlaces | None = None  # None: nor are they by the types of pointers
    read_moves: ReadMoves | None = None  # None: nor by what these are set to
    every_pair: bool = False
    heat: ComparedHeat | None = None
    newcomers: Newcomers = frozenset()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Findings, worst first, the image with recovered objects, and what was counted on the way.

    ``threads_unknown``: the image can run threads that were not seen to start, so that no finding proves nothing.
    ``behind``: by id of a finding on objects behind pointers, the passes on the image that these are laid out in.
    """

    findings: tuple[Finding, ...]
    image: Image
    counts: dict[str, int]
    notes: tuple[str, ...]
    hidden: int = 0  # drafts below the asked severity
    actors: Callable[[int, int], tuple[Actor, ...]] = lambda start, size: ()  # all with bytes in a range of addresses
    context: Context | None = None  # None where nothing was judged
    threads_unknown: bool = False
    often: Callable[[], frozenset[str]] = frozenset  # functions that several threads run at once and often
    behind: Mapping[str, Passes] = field(default_factory=dict)

    def heat(self, address: int, offset: int) -> Heat:
        """How busy the byte at an offset of an object is."""
        return max((a.heat for a in self.actors(address + offset, 1)), default=Heat.COLD)

    def changed_by_threads(self, address: int, offset: int) -> bool:
        """Is the byte at an offset of an object written under no lock by threads of which several run at once?"""
        ctx = self.context
        return ctx is not None and any(
            a.writers and not a.write_guards and by_threads(a, ctx) for a in self.actors(address + offset, 1)
        )

    def contested(self, address: int, offset: int, size: int) -> bool:
        """Do threads that surely run at once use what lies in these bytes of an object often, one of them writing?"""
        ctx, actors = self.context, self.actors(address + offset, size)
        return ctx is not None and any(
            limit_of_pair(a, b, ctx)[0].rank > Severity.MEDIUM.rank for i, a in enumerate(actors) for b in actors[i:]
        )

    def alone(self, address: int, offset: int, size: int) -> bool:
        """Are all threads known that use these bytes of an object, and does no other run while one writes there?"""
        ctx, actors = self.context, self.actors(address + offset, size)
        writers = [a for a in actors if a.writers]
        if ctx is None or self.threads_unknown or not writers:
            return False
        return not any(ctx.concurrent(one.mask(writers=True), other.mask()) for one in writers for other in actors)

    def idle(self, address: int, offset: int, function: str) -> bool:
        """Is it known of a function that it uses the byte at an offset of an object, but never while threads work?

        Of a library it is not: whoever starts threads calls what looks cold here.
        """
        if self.context is None or not self.context.thread_mask:
            return False
        uses = [use for a in self.actors(address + offset, 1) for use in a.accesses if use.function == function]
        return bool(uses) and all(use.cold or use.weight <= 0 for use in uses)

    def changed_at_once(self, address: int, offset: int) -> bool:
        """The same where it is known that each thread has an object of its own, so that main may have one as well."""
        ctx = self.context
        return ctx is not None and any(
            a.writers and not a.write_guards and ctx.concurrent(a.mask(writers=True), a.mask(writers=True))
            for a in self.actors(address + offset, 1)
        )


Grade = Callable[[list[Draft]], list[Draft]]


def judge(
    image: Image, options: JudgeOptions, knowledge: Knowledge, look_elsewhere: LookElsewhere | None = None
) -> Judgement:
    """Who touches what (``run_passes``), then what is wrong."""
    assume = options.assume_threads
    passes = run_passes(
        image,
        knowledge,
        options.demangle,
        assume_threads=assume,
        look_elsewhere=look_elsewhere,
        presumed=options.presumed,
    )
    return judge_passes(passes, options)


def judge_passes(passes: Passes, options: JudgeOptions, grade: Grade | None = None) -> Judgement:
    """Busy lines, their profiles, rules and findings; ``grade`` has a say on what the rules found."""
    image, calls, accesses = passes.image, passes.calls, passes.accesses
    counts = {
        "access_sites": len(passes.sites),
        "lock_calls": int(np.count_nonzero(passes.locks.events["effect"] == flow.LOCK)),
        "thread_entries": sum(r.name != "main" for r in calls.roots if not r.is_part),
    }
    notes = [f"threads: {_threads_text(calls)}"]
    if not image.arch.decodes:
        notes.append(f"access sites are not decoded for {image.arch.name}: the layout is shown, nothing is judged")
    if not calls.threaded or not len(accesses.sites):
        return Judgement((), image, counts, tuple(notes), threads_unknown=bool(calls.unknown))
    profiled = passes.profiled(options.heat)
    profiler, table = profiled.profiler, profiled.table
    context = profiled.context(options.line_size, options.pair_size)
    rules = [r for r in LINE_RULES if not options.rules or r.id in options.rules]
    near = correlate.hottest_lines(table, profiled.limits, options.line_size)
    if image.phases:
        # Neighbouring lines are only known where a linked file fixes them.
        fixed = [a for a in near if any(s.address <= a < s.end and s.index not in image.phases for s in image.sections)]
        drafts = positions.run(
            profiler, accesses, table, context, rules, limits=grade is None, every_pair=options.every_pair
        )
        drafts += positions.of_one(profiler, near, context, rules, drafts)
        drafts += _run(profiler, [], fixed, context, rules)
        drafts = once_a_record(drafts, image)
    else:
        lines = correlate.lines_of_interest(accesses, table, options.line_size)
        counts["lines_profiled"] = len(lines)
        drafts = _run(profiler, lines, near, context, rules)
    if grade is None:
        drafts = limited(drafts, context)
    style = Style(options.line_size, image.kind, options.macro)
    merged = merge(drafts if grade is None else grade(drafts), telling=not options.every_pair)
    graded = positions.alone(profiler, context) if image.phases else None
    if options.every_pair:
        merged += limited(each_pair(merged, rules, context, graded), context)
    elif grade is None:
        merged = telling(merged, rules, context, graded)
    made = [d for d in merged if d.severity.rank >= options.min_severity.rank]
    wanted = Wanted(edits=options.edits, newcomers=options.newcomers)
    findings = [finding_of(d, profiler, context, style, image, wanted) for d in made]
    hidden = len(merged) - len(made)
    behind: dict[str, Passes] = {}
    if grade is None and options.read_records is not None:
        ends = [d for d in elements_meet(profiled, context) if d.severity.rank >= options.min_severity.rank]
        findings += [finding_of(d, profiler, context, style, image, Wanted(edits=False)) for d in ends]
        for passes_behind, more, below in _on_heap(profiled, rules, options):
            findings += more
            hidden += below
            behind |= {finding.id: passes_behind for finding in more}
    findings.sort(key=lambda f: (-f.severity.rank, -f.score, f.line.address, f.rule))
    findings = distinct(findings)
    unknown = bool(calls.unknown)
    often = functools.cache(functools.partial(_often, passes))
    return Judgement(
        tuple(findings), image, counts, tuple(notes), hidden, profiler.within, context, unknown, often, behind
    )


def _often(passes: Passes) -> frozenset[str]:
    """Names of functions that several threads run at once, and so often that what they do each time is not cold."""
    calls, image = passes.calls, passes.image
    rows = np.flatnonzero((calls.frequency >= numbers.WARM_WEIGHT) & ~calls.cold)
    at_once = [row for row in rows.tolist() if calls.concurrent(int(calls.mask[row]), int(calls.mask[row]))]
    return frozenset(image.names[name] for name in image.functions["name"][at_once].tolist() if name >= 0)


def _on_heap(
    profiled: Profiled, rules: list[LineRule], options: JudgeOptions
) -> Iterator[tuple[Passes, list[Finding], int]]:
    """Findings on objects of the heap with the passes that they are from, and how many are below the asked severity."""
    assert options.read_records is not None
    lines = (options.line_size, options.pair_size)
    passes = profiled.passes
    read = options.read_places
    reached = reached_records(passes.image, passes.calls, passes.knowledge, read) if read is not None else None
    reading = Reading(options.read_records, reached, options.read_moves)
    told = told_by(passes)
    known = on_heap(profiled, rules, lines, reading, told)
    records = described(passes, reading, known)
    more = of_records(profiled, rules, lines, reading, told, known, records)
    locked = of_locked_elements(profiled, lines, reading)
    handed = handed_by(profiled, reading, told)
    own = of_own_records(profiled, lines, reading, handed, known)
    said = [heap for heap in (known, more, own) if heap is not None]
    chosen = of_chosen_elements(profiled, lines, reading, handed, said)
    said = [heap for heap in (*said, locked, chosen) if heap is not None]
    many = of_many_records(profiled, lines, reading, records, said)
    for heap in (without_said(known, more), more, locked, own, chosen, many):
        if heap is not None:
            merged = merge(heap.drafts, telling=not options.every_pair)
            if not options.every_pair:
                merged = telling(merged, rules, heap.context)
            made = [d for d in merged if d.severity.rank >= options.min_severity.rank]
            yield heap.profiled.passes, _findings_of(made, heap, options), len(merged) - len(made)


def _findings_of(drafts: list[Draft], heap: OnHeap, options: JudgeOptions) -> list[Finding]:
    profiler, image = heap.profiled.profiler, heap.profiled.passes.image
    style = Style(options.line_size, image.kind, options.macro)
    wanted = Wanted(edits=options.edits, newcomers=options.newcomers)
    return [finding_of(d, profiler, heap.context, style, image, wanted) for d in drafts]


def _threads_text(calls: callgraph.CallGraph) -> str:
    """The thread entries by name, those that are started several times marked; else how concurrency was inferred."""
    entries = [r for r in calls.roots if r.function >= 0 and r.name != "main" and not r.is_part]
    if not entries or calls.unknown:
        return calls.how
    names = [f"{r.name} (several)" if r.many else r.name for r in entries[:MAX_THREAD_NAMES]]
    more = f" and {len(entries) - MAX_THREAD_NAMES} more" if len(entries) > MAX_THREAD_NAMES else ""
    return f"main, {', '.join(names)}{more}"


def _run(
    profiler: Profiler, lines: list[int], near: list[int], context: Context, rules: Iterable[LineRule]
) -> list[Draft]:
    """Every rule on every line, or on the pair or window around each of the hottest (``near``); each span once."""
    rules = list(rules)
    drafts: list[Draft] = []
    spans: dict[Span, list[tuple[int, int]]] = {
        Span.LINE: [(line, context.line_size) for line in lines],
        Span.PAIR: [
            (line, context.pair_size)
            for line in dict.fromkeys(line - line % context.pair_size for line in near)
            if context.pair_size > context.line_size
        ],
        Span.WINDOW: [(line - context.line_size, 3 * context.line_size) for line in near if line],
    }
    for span, places in spans.items():
        chosen = [r for r in rules if r.span is span]
        if not chosen:
            continue
        for address, size in places:
            line = profiler.profile(address, size)
            if not line.actors:
                continue
            for rule in chosen:
                drafts.extend(rule.check(line, context))
    return drafts
