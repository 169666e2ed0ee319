"""From an image to findings: rules on chosen lines, drafts merged and worded.

Owns the choice of lines and the merging of drafts into findings.  The passes before are in ``sharing.judge.passes``,
the patterns in ``sharing.rules``, the edits in ``sharing.judge.remedy``.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from sharing.basics import geometry
from sharing.basics.naming import Demangle
from sharing.judge import positions
from sharing.judge.passes import Passes, run_passes
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedies.rejudge import edits_for
from sharing.judge.remedy import Style, remedy
from sharing.judge.severitylimit import limited
from sharing.knowledge import Knowledge
from sharing.model.finding import (
    MAX_PARTICIPANTS,
    Confidence,
    Evidence,
    Finding,
    LinePicture,
    LineRef,
    Participant,
    Related,
    Remedy,
    Severity,
)
from sharing.model.image import ALLOCATED, Image
from sharing.model.plural import count
from sharing.model.profile import Actor, Heat, LineProfile
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, LineRule, Span, by_threads
from sharing.static import callgraph, correlate, flow
from sharing.static.profiles import Profiler

MAX_THREAD_NAMES = 6
MAX_RELATED = 3  # places in source a participant


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """``line_size`` in bytes; ``rules`` are ids, empty for all; ``macro`` is the project's alignment macro.

    ``assume_threads``: functions that may be entered run on several threads where no start of one is seen.
    ``edits``: look for edits, which takes longer than everything else where types are known.
    """

    line_size: int
    pair_size: int
    rules: tuple[str, ...] = ()
    macro: str = ""
    min_severity: Severity = Severity.NOTE  # findings below are counted, not made
    demangle: Demangle = lambda names: names
    assume_threads: bool = False
    edits: bool = True


@dataclass(frozen=True, slots=True)
class Judgement:
    """Findings, worst first, the image with recovered objects, and what was counted on the way.

    ``threads_unknown``: the image can run threads that were not seen to start, so that no finding proves nothing.
    """

    findings: tuple[Finding, ...]
    image: Image
    counts: dict[str, int]
    notes: tuple[str, ...]
    hidden: int = 0  # drafts below the asked severity
    actors: Callable[[int, int], tuple[Actor, ...]] = lambda start, size: ()  # all with bytes in a range of addresses
    context: Context | None = None  # None where nothing was judged
    threads_unknown: bool = False

    def heat(self, address: int, offset: int) -> Heat:
        """How busy the byte at an offset of an object is."""
        return max((a.heat for a in self.actors(address + offset, 1)), default=Heat.COLD)

    def changed_by_threads(self, address: int, offset: int) -> bool:
        """Is the byte at an offset of an object written under no lock by threads of which several run at once?"""
        ctx = self.context
        return ctx is not None and any(
            a.writers and not a.write_guards and by_threads(a, ctx) for a in self.actors(address + offset, 1)
        )


Grade = Callable[[list[Draft]], list[Draft]]


def judge(image: Image, options: JudgeOptions, knowledge: Knowledge) -> Judgement:
    """Who touches what (``run_passes``), then what is wrong."""
    return judge_passes(run_passes(image, knowledge, options.demangle, assume_threads=options.assume_threads), options)


def judge_passes(passes: Passes, options: JudgeOptions, grade: Grade | None = None) -> Judgement:
    """Busy lines, their profiles, rules and findings; ``grade`` has a say on what the rules found."""
    image, calls, accesses = passes.image, passes.calls, passes.accesses
    counts = {
        "access_sites": len(passes.sites),
        "lock_calls": int(np.count_nonzero(passes.events["effect"] == flow.LOCK)),
        "thread_entries": sum(r.name != "main" for r in calls.roots),
    }
    notes = [f"threads: {_threads_text(calls)}"]
    if not image.arch.decodes:
        notes.append(f"access sites are not decoded for {image.arch.name}: the layout is shown, nothing is judged")
    if not calls.threaded or not len(accesses.sites):
        return Judgement((), image, counts, tuple(notes), threads_unknown=bool(calls.unknown))
    profiled = passes.profiled()
    profiler, table = profiled.profiler, profiled.table
    context = profiled.context(options.line_size, options.pair_size)
    rules = [r for r in LINE_RULES if not options.rules or r.id in options.rules]
    near = correlate.hottest_lines(table, profiled.limits, options.line_size)
    if image.phases:
        # Neighbouring lines are only known where a linked file fixes them.
        fixed = [a for a in near if any(s.address <= a < s.end and s.index not in image.phases for s in image.sections)]
        drafts = positions.run(profiler, accesses, table, context, rules)
        drafts += _run(profiler, [], fixed, context, rules)
    else:
        lines = correlate.lines_of_interest(accesses, table, options.line_size)
        counts["lines_profiled"] = len(lines)
        drafts = _run(profiler, lines, near, context, rules)
    if grade is None:
        drafts = limited(drafts, context)
    style = Style(options.line_size, image.kind, options.macro)
    merged = _merge(drafts if grade is None else grade(drafts))
    made = [d for d in merged if d.severity.rank >= options.min_severity.rank]
    findings = [finding_of(d, profiler, context, style, image, edits=options.edits) for d in made]
    findings.sort(key=lambda f: (-f.severity.rank, -f.score, f.line.address, f.rule))
    findings = _distinct(findings)
    hidden = len(merged) - len(made)
    unknown = bool(calls.unknown)
    return Judgement(tuple(findings), image, counts, tuple(notes), hidden, profiler.within, context, unknown)


def _threads_text(calls: callgraph.CallGraph) -> str:
    """The thread entries by name, those that are started several times marked; else how concurrency was inferred."""
    entries = [r for r in calls.roots if r.function >= 0 and r.name != "main"]
    if not entries:
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


def _most_specific(drafts: list[Draft]) -> list[Draft]:
    """Of findings about one pair on a line those of a specific rule, as severe as the worst of them."""
    rules = {rule.id: rule for rule in LINE_RULES}

    def pair(draft: Draft) -> tuple[int, frozenset[str]]:
        return draft.line.address, frozenset(a.owner for a in draft.actors[:2])

    kept = {pair(d): d for d in drafts if rules[d.rule].specific}
    if not kept:
        return drafts
    rest: list[Draft] = []
    for draft in drafts:
        better = kept.get(pair(draft))
        if better is None or not rules[draft.rule].exclusive:
            rest.append(draft)
        elif draft.severity.rank > better.severity.rank:
            kept[pair(draft)] = dataclasses.replace(better, severity=draft.severity)
    return [*kept.values(), *rest]


def _merge(drafts: list[Draft]) -> list[Draft]:
    """One finding a line among rules that exclude each other, and of each rule no more than its row allows."""
    order = {rule.id: i for i, rule in enumerate(LINE_RULES)}
    drafts = sorted(_most_specific(drafts), key=lambda d: (-d.severity.rank, order[d.rule], -d.score, d.line.address))
    kept: list[Draft] = []
    taken: set[int] = set()
    pairs: set[tuple[str, ...]] = set()
    made: Counter[str] = Counter()
    inside: Counter[tuple[str, str]] = Counter()
    for draft in drafts:
        rule = LINE_RULES[order[draft.rule]]
        key = (draft.rule, *sorted({a.owner for a in draft.actors[:2]}), str(len(draft.actors[:2])))
        owners = {a.owner for a in draft.actors}
        if rule.exclusive and draft.line.address in taken:
            continue
        if (rule.at_most and made[rule.id] >= rule.at_most) or (rule.once_a_pair and key in pairs):
            continue
        spot = (rule.id, next(iter(owners))) if len(owners) == 1 else None
        if spot is not None and inside[spot] >= rule.per_object:
            continue
        # Only what is said stands in the way of others.
        if rule.exclusive:
            taken.add(draft.line.address)
        if spot is not None:
            inside[spot] += 1
        made[rule.id] += 1
        pairs.add(key)
        kept.append(draft)
    return kept


def _distinct(findings: list[Finding]) -> list[Finding]:
    """Statics of one name in several units give one identity: later ones are numbered, by address."""
    seen: dict[str, int] = {}
    numbered: dict[int, str] = {}
    for at in sorted(range(len(findings)), key=lambda i: int(findings[i].line.address, 16)):
        name = findings[at].id
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            numbered[at] = f"{name}-{seen[name]}"
    return [msgspec.structs.replace(f, id=numbered[i]) if i in numbered else f for i, f in enumerate(findings)]


def finding_of(
    draft: Draft, profiler: Profiler, context: Context, style: Style, image: Image, *, edits: bool = True
) -> Finding:
    actors = draft.actors[:MAX_PARTICIPANTS]
    ref = _line_ref(draft, style.line_size)
    shown = LineProfile(int(ref.address, 16), ref.size, ())
    # By name, so that it survives moves; statics of one name in two units are told apart by their source.
    identity = "|".join([draft.rule, *sorted(f"{a.name}@{a.file}" for a in actors[:2])])
    return Finding(
        id=f"{draft.rule}-{hashlib.sha256(identity.encode()).hexdigest()[:10]}",
        rule=draft.rule,
        severity=draft.severity,
        confidence=Confidence.COUNTED if draft.counted else Confidence.STATIC,
        verdict=draft.verdict,
        line=ref,
        participants=tuple(_participant(a, shown, whole=len({x.owner for x in actors}) == len(actors)) for a in actors),
        message=draft.message,
        evidence=(
            *(Evidence(Confidence.COUNTED, text) for text in draft.counted),
            _layout_evidence(draft, image),
            *(Evidence(Confidence.STATIC, text) for text in (*draft.evidence, *guard_evidence(actors))),
        ),
        related=tuple(place for a in actors for place in related(a)),
        remedies=_remedies(draft, profiler, context, style, image) if edits else (),
        picture=_pictures(draft, profiler, style.line_size, image),
        score=round(draft.score, 3),
    )


def _remedies(draft: Draft, profiler: Profiler, context: Context, style: Style, image: Image) -> tuple[Remedy, ...]:
    """The edits after which the line, judged again, has nothing of the finding left; none where none are known."""
    paths = Paths(image)
    if draft.line.size == context.pair_size > context.line_size:
        style = replace(style, line_size=context.pair_size)  # a line of its own may be the other half of the pair
    edits = edits_for(draft, profiler, context, paths, style.line_size)
    return tuple(dict.fromkeys(remedy(edit, style, paths) for edit in edits))


def _line_ref(draft: Draft, line_size: int) -> LineRef:
    """The span that was judged; of a window, the line of the first actor."""
    if draft.line.size <= 2 * line_size:
        return LineRef(f"{draft.line.address:#x}", draft.line.size, draft.line.place)
    start = draft.actors[0].hot[0][0]
    return LineRef(f"{start - start % line_size:#x}", line_size)


def _layout_evidence(draft: Draft, image: Image) -> Evidence:
    """Where the actors are: by address, or (predicted) by offset in the section contribution or the record."""
    parts = []
    for a in draft.actors[:MAX_PARTICIPANTS]:
        where = f"{a.span[0]:#x}"
        if image.phases:
            home = next((s for s in image.sections if s.address <= a.span[0] < s.end and s.index in image.phases), None)
            if home is not None:
                where = f"offset {a.span[0] - home.address} of {_contribution(a, image)}"
        parts.append(f"{a.name} at {where}, {count(a.span[1] - a.span[0], 'byte')}")
    return Evidence(Confidence.LAYOUT, "; ".join(parts))


def _contribution(actor: Actor, image: Image) -> str:
    section = actor.section
    if section == ALLOCATED:
        return f"the {count(actor.owner_span[1] - actor.owner_span[0], 'byte')} of {actor.owner}"
    return f"{section} of {image.units[actor.unit].name.rpartition('/')[2]}" if actor.unit >= 0 else section


def guard_evidence(actors: tuple[Actor, ...]) -> list[str]:
    """Which locks the accesses to an actor are under, with the support for it."""
    return [
        f"{a.name}: {k} of {n} accesses under {lock}" for a in actors if not a.is_lock for lock, k, n in a.support[:2]
    ]


def related(actor: Actor) -> list[Related]:
    """The busiest places in source that touch an actor."""
    out = []
    for access in [a for a in actor.accesses if a.source and a.weight > 0][:MAX_RELATED]:
        verb = "locks" if access.locks else "updates" if access.reads and access.writes else "reads"
        if access.writes and not access.reads:
            verb = "writes"
        out.append(Related(actor.name, access.function, verb, access.source, access.under))
    return out


def _participant(actor: Actor, line: LineProfile, *, whole: bool) -> Participant:
    """The variable, or (``whole`` False: several members of one variable take part) the member, on the line."""
    span, name, kind = actor.span, actor.name, actor.type_name
    if whole:
        span, name, kind = actor.owner_span, actor.owner, actor.owner_type or actor.type_name
    start, end = max(span[0], line.address), min(span[1], line.end)
    hot = tuple((a - line.address, b - line.address) for a, b in actor.touched_on(line.address, line.end))
    return Participant(
        name=name,
        member=actor.name[len(actor.owner) :].lstrip(".") if whole else "",
        address=f"{span[0]:#x}",
        size=span[1] - span[0],
        bytes=((start - line.address, max(end, start) - line.address),),
        role=actor.kind or actor.role.value,
        source=actor.source,
        hot=hot,
        type=kind,
        readers=tuple(dict.fromkeys(a.function for a in actor.readers)),
        writers=tuple(dict.fromkeys(a.function for a in actor.accesses if a.writes)),
        lockers=tuple(dict.fromkeys(a.function for a in actor.lockers)),
        identity=actor.identity,
    )


def _pictures(draft: Draft, profiler: Profiler, line_size: int, image: Image) -> tuple[LinePicture, ...]:
    """The lines that hold the actors' hot bytes, each byte owned once."""
    wanted: dict[int, None] = {}
    for actor in draft.actors[:2]:
        for start, _ in actor.touched_on(draft.line.address, draft.line.end):
            wanted[start - (start - draft.line.address) % line_size] = None
    pictures = []
    for address in sorted(wanted)[:3]:
        extents = [geometry.Extent(a.name, a.span[0], a.span[1], _painted(a)) for a in draft.line.actors]
        covered = {(a.span[0], a.span[1]) for a in draft.line.actors}
        extents += [
            geometry.Extent(n.name, n.span[0], n.span[1])
            for n in profiler.profile(address, line_size).neighbours
            if n.span not in covered
        ]
        known = _known_ranges(image)
        pictures.append(LinePicture(f"{address:#x}", line_size, geometry.own_bytes(address, line_size, extents, known)))
    return tuple(pictures)


def _painted(actor: Actor) -> tuple[tuple[int, int], ...]:
    """Hot bytes as offsets in the object; none of an object that nothing busy touches."""
    if actor.heat is Heat.COLD:
        return ()
    return tuple((x - actor.span[0], y - actor.span[0]) for x, y in sorted(actor.hot + actor.read_hot))


def _known_ranges(image: Image) -> list[tuple[int, int]]:
    """Sections whose objects are all named: those of images with a symbol table or debug information."""
    if not image.counts.get("symtab_symbols", 0) and not image.debug_source:
        return []
    return [(s.address, s.end) for s in image.sections if s.size]
