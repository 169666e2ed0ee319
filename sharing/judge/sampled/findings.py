"""Verdicts on sampled lines as findings of a report.

Owns participants, evidence, confidence and identity of sampled findings.  What is wrong is ``sharing.rules``', what
helps ``sharing.judge.sampled.remedies``'.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from sharing.basics import geometry
from sharing.basics.naming import by_any_compiler
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedy import Style
from sharing.judge.sampled.memorynames import REGION_WORDS
from sharing.judge.sampled.remedies import remedies
from sharing.judge.sampled.verdict import Verdicts
from sharing.model.attribution import Basis
from sharing.model.finding import (
    ADVICE,
    MAX_PARTICIPANTS,
    Confidence,
    Evidence,
    Finding,
    LinePicture,
    LineRef,
    Participant,
    Related,
)
from sharing.model.image import AccessKind, Image
from sharing.model.plural import count
from sharing.model.profile import Actor
from sharing.rules.sampled.base import SampledContext, SampledDraft, SampledLine, bytes_text, functions_of, threads_of
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import Concurrency, Provenance, Site, Totals

MAX_FUNCTIONS = 6
MAX_PLACES = 4  # in source, of one participant
_VERBS = {AccessKind.LOAD: "reads", AccessKind.STORE: "writes", AccessKind.RMW: "updates"}
Code = tuple[str, int]  # file, and link-time address of an instruction in it
Sources = Callable[[Sequence[Site]], Mapping[Code, str]]
_SEEN = {
    Provenance.SAMPLE: "sampled",
    Provenance.WITNESS: "near sampled instructions",
    Provenance.CODE: "in the code of sampled functions",
}


def no_sources(sites: Sequence[Site]) -> Mapping[Code, str]:
    """Nothing is known of where instructions come from."""
    return {}


@dataclass(frozen=True, slots=True)
class FindingContext:
    """What findings are made with; ``sources`` are ``file:line:column`` of instructions."""

    context: SampledContext
    style: Style
    paths: Paths
    sources: Mapping[Code, str]


def findings_of(
    verdicts: Verdicts, totals: Totals, style: Style, image: Image | None = None, sources: Sources = no_sources
) -> list[Finding]:
    """Worst first; of equal severity, by cost.  ``image`` is of the variables, for their types."""
    paths = Paths(image)
    sites = [site for judged in verdicts.judged if judged.drafts for site in judged.line.use.sites]
    told = FindingContext(SampledContext(style.line_size, totals), style, paths, sources(sites))
    out = [_finding(draft, judged.line, told) for judged in verdicts.judged for draft in judged.drafts]
    out.sort(key=lambda f: (-f.severity.rank, -f.score, f.line.address, f.rule))
    return _distinct(out)


def _distinct(findings: list[Finding]) -> list[Finding]:
    """Lines of one array or of one kind of object give one identity: later ones are numbered."""
    seen: dict[str, int] = {}
    out = []
    for finding in findings:
        seen[finding.id] = seen.get(finding.id, 0) + 1
        number = seen[finding.id]
        out.append(finding if number == 1 else msgspec.structs.replace(finding, id=f"{finding.id}-{number}"))
    return out


def confidence_of(line: SampledLine) -> Confidence:
    """Sampled addresses are stronger than addresses worked out from registers."""
    return Confidence.SAMPLED if line.use.basis is Basis.ADDRESS else Confidence.DERIVED


def _finding(draft: SampledDraft, line: SampledLine, told: FindingContext) -> Finding:
    ctx, use, how = told.context, line.use, confidence_of(line)
    numbers = draft.items[:MAX_PARTICIPANTS]
    base = use.link if use.link >= 0 else use.address
    place = "" if use.target or use.link < 0 else f"line {use.link:#x} of {use.module.rpartition('/')[2]}"
    whole = len({line.actors[i].owner for i in numbers}) == len(numbers)
    texts = (*draft.evidence, *_evidence(draft, line, ctx))
    if draft.alike:
        texts = (f"{draft.alike} more lines like this one; their time is included", *texts)
    advice = (f"{ADVICE}{draft.advice}",) if draft.advice else ()
    return Finding(
        id=_identity(draft, line),
        rule=draft.rule,
        severity=draft.severity,
        confidence=how,
        verdict=draft.verdict,
        line=LineRef(f"{base:#x}", use.size, place),
        participants=tuple(_participant(line.actors[i], line.items[i], base, whole=whole) for i in numbers),
        message=draft.message,
        evidence=tuple(Evidence(how, text) for text in (*texts, *advice)),
        remedies=remedies(draft, line, told.style, told.paths),
        picture=_picture(line, base),
        score=round(ctx.totals.score(draft.cost), 3),
        related=_related(draft, line, told.sources),
    )


def _related(draft: SampledDraft, line: SampledLine, sources: Mapping[Code, str]) -> tuple[Related, ...]:
    """Where in source the participants are accessed, of each the busiest first."""
    out: list[Related] = []
    for number in draft.items[:MAX_PARTICIPANTS]:
        item = line.items[number]
        seen: dict[Related, None] = {}
        for site in line.use.sites:
            source = sources.get((site.module, site.ip), "")
            if source and site.start < item.end and item.start < site.end:
                verb = "locks" if site.lock_call else _VERBS.get(site.kind, "uses")
                seen[Related(line.actors[number].name, site.function, verb, source)] = None
        out += list(seen)[:MAX_PLACES]
    return tuple(out)


def _identity(draft: SampledDraft, line: SampledLine) -> str:
    """By names, which survive moves; memory without a name by who uses it: its address is another in each run."""
    if line.use.link >= 0:
        # Which elements and members of a variable are seen most is another matter in each run.
        parts = sorted({f"{by_any_compiler(a.owner)}@{a.file}" for a in (line.actors[i] for i in draft.items[:2])})
    else:
        touches = tuple(t for i in draft.items[:2] for t in line.items[i].touches)
        parts = [line.use.region.name, *sorted(functions_of(touches, MAX_FUNCTIONS))]
    digest = hashlib.sha256("|".join([draft.rule, *parts]).encode()).hexdigest()[:10]
    return f"{draft.rule}-{digest}"


def _participant(actor: Actor, item: Item, base: int, *, whole: bool) -> Participant:
    named = whole and actor.sized
    span = actor.owner_span if named else actor.span
    member = actor.name[len(actor.owner) :].lstrip(".") if named and actor.name.startswith(actor.owner) else ""
    writes = tuple(t for t in item.touches if t.writes and not t.lock_call)
    reads = tuple(t for t in item.touches if t.reads and not t.writes and not t.lock_call)
    lockers = tuple(dict.fromkeys([a.function for a in actor.lockers]))
    calls = functions_of(tuple(t for t in item.touches if t.lock_call), MAX_FUNCTIONS)
    return Participant(
        name=actor.owner if named else actor.name,
        member=member,
        address=f"{span[0]:#x}",
        size=span[1] - span[0],
        bytes=((item.start, item.end),),
        role=actor.kind or actor.role.value,
        source=actor.source,
        hot=((item.start, item.end),),
        type=(actor.owner_type or actor.type_name) if named else actor.type_name,
        readers=functions_of(reads, MAX_FUNCTIONS),
        writers=functions_of(writes, MAX_FUNCTIONS),
        lockers=lockers or calls,
        identity=actor.identity,
    )


def _evidence(draft: SampledDraft, line: SampledLine, ctx: SampledContext) -> list[str]:
    """Counts, shares with intervals, threads, bytes, overlap, and what was not placed."""
    use, totals = line.use, ctx.totals
    several = len({t.thread for t in use.touches})
    cpus = f" on {use.cpus} CPUs" if use.cpus > 1 else ""
    hitm = f", {use.hitm} of them in a line that another core had modified" if use.hitm else ""
    remote = f", {use.remote} from another socket" if use.remote else ""
    out = [
        f"{count(use.samples, 'sample')} on the line, of {count(several, 'thread')}{cpus}: "
        f"{totals.share(use.cost).text} of {totals.measure}{hitm}{remote}"
    ]
    out += [_item_text(line.actors[i].name, line.items[i], line) for i in draft.items[:MAX_PARTICIPANTS]]
    blocks = [line.blocks[i] for i in draft.items[:MAX_PARTICIPANTS]] if line.blocks else []
    out += list(dict.fromkeys(f"allocated: {block.text}" for block in blocks if block is not None))
    objects = [line.objects[i] for i in draft.items[:MAX_PARTICIPANTS]] if line.objects else []
    where = REGION_WORDS.get(use.region, "memory")
    where = f"{where} of {use.owner.text}" if use.owner is not None else where
    out += list(dict.fromkeys(f"{where}: {seen.text}" for seen in objects if seen is not None))
    if use.owner is not None and not any(objects):
        out.append(f"on the {where}")
    out.append(_overlap_text(draft, line))
    how = ", ".join(f"{n} from {_BASIS[b]}" for b, n in sorted(use.bases.items(), reverse=True))
    unplaced = totals.share(totals.timed_unplaced).text
    out.append(f"addresses of its samples: {how}; of all samples, {unplaced} could not be placed")
    if use.footprint > 1:
        out.append(f"the instructions that access it access {use.footprint} lines")
    if line.gain is not None:
        out.append(line.gain.sentence)
    return out


_BASIS = {
    Basis.NONE: "nothing",
    Basis.FUNCTION: "the function alone",
    Basis.AWAITED: "a load whose value the instruction needs",
    Basis.DERIVED: "the instruction's operand",
    Basis.ADDRESS: "the sample",
}


def _item_text(name: str, item: Item, line: SampledLine) -> str:
    """``x: bytes 0–7, 512 samples; written (sampled) on a/1, read (sampled) on b/2``."""
    parts = []
    for verb, chosen in (
        ("written", tuple(t for t in item.touches if t.writes)),
        ("read", tuple(t for t in item.touches if t.reads and not t.writes)),
    ):
        for seen in sorted({t.provenance for t in chosen}, reverse=True):
            own = tuple(t for t in chosen if t.provenance is seen)
            parts.append(f"{verb} ({_SEEN[seen]}) on {threads_of(own, line)}")
    where = "" if name.endswith(bytes_text(item)) else f"{bytes_text(item)}, "
    return f"{name}: {where}{count(item.samples, 'sample')}; {', '.join(parts) or 'no access known'}"


def _overlap_text(draft: SampledDraft, line: SampledLine) -> str:
    """The best tested pair of the threads that disturb each other: others may take turns there."""
    users = {t.thread for i in draft.items for t in line.items[i].touches}
    tested = [
        o
        for (a, b), o in line.use.overlaps.items()
        if o.resolution_ns and a in users and b in users and not o.concurrency.apart
    ]
    if not tested:
        return "not known whether the threads use it at the same time: each has too few samples"
    best = max(tested, key=lambda o: (o.concurrency is Concurrency.CONCURRENT, sum(o.samples)))
    word = {
        Concurrency.CONCURRENT: "used at the same time",
        Concurrency.UNKNOWN: "possibly used at the same time",
    }.get(best.concurrency, "used in turns")
    return (
        f"{word}: {best.share.text} of {sum(best.samples)} samples of two threads fall into the other's use of the "
        f"line (uses less than {best.resolution_ns / 1e6:.3g} ms apart count as one)"
    )


def _picture(line: SampledLine, base: int) -> tuple[LinePicture, ...]:
    """The line byte by byte: what was touched is hot, nothing is known of the rest."""
    size = line.use.size
    extents = [
        geometry.Extent(a.name, base + i.start, base + i.end, ((0, i.end - i.start),))
        for a, i in zip(line.actors, line.items, strict=True)
    ]
    return (LinePicture(f"{base:#x}", size, geometry.own_bytes(base, size, extents, ())),)
