"""Audit and check as tables of contents: read, judge, filter, report.

Owns the joining of the stages.  Formats, rules and rendering are elsewhere.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from elfscan.demangle import demangle
from elfscan.image import read_images
from linemate.options import DEFAULT_LINE_SIZE, AuditOptions, CheckOptions
from sharing.basics.target import target_of
from sharing.judge.passes import Passes, run_passes
from sharing.judge.static import Judgement, JudgeOptions, judge, judge_passes
from sharing.knowledge import Knowledge, LockAbi, LockRow, ThreadRow, default_knowledge
from sharing.model.finding import SCHEMA, Confidence, Coverage, Finding, Report, Severity, Target
from sharing.model.image import Image
from sharing.model.profile import Heat
from sharing.model.project import ProjectConfig
from sharing.source.program import Program

if TYPE_CHECKING:
    from linemate.sampled.reading import Profiles
    from sharing.model.executions import Executions


def audit(options: AuditOptions, say: Callable[[str], None] = lambda how_far: None) -> Report:
    """Analyse one binary (each member of an archive) and report what is wrong with its lines.

    ``say`` is told how many members are done.
    """
    program = None
    if options.facts:
        from linemate.source import read_streams

        program = read_streams(options.facts)
    profiles = None
    if options.samples:
        from linemate.sampled.reading import Profiles

        profiles = Profiles(options.samples)
    executions = None
    if options.counts:
        from linemate.counted import read_counts

        executions = read_counts(options.counts)
    knowledge = vocabulary(options.project)
    targets: list[Target] = []
    found: list[Finding] = []
    counts: dict[str, int] = {}
    notes: list[str] = []
    incomplete = False
    hidden = 0
    for image in read_images(options.binary, debug_file=options.debug_file):
        size, pair = line_sizes(options.line_size, image)
        how = _judge_options(size, pair, options)
        if profiles is not None or executions is not None:
            how = dataclasses.replace(how, min_severity=Severity.NOTE)  # a run may raise what code alone calls a note
        passes = run_passes(image, knowledge, how.demangle)
        result = judge_passes(passes, how)
        if executions is not None:
            result = _with_counts(executions, passes, result, how, counts, notes)
        hidden += result.hidden
        targets.append(target_of(image, size))
        findings = list(
            _with_source(result, image, program, options, counts) if program is not None else result.findings
        )
        _count(counts, image, result)
        prefix = f"{image.member}: " if image.member else ""
        notes.extend(prefix + note for note in (*image.notes, *result.notes))
        if profiles is not None:
            findings = _with_samples(findings, profiles, result, image, options, counts, notes)
        found.extend(findings)
        incomplete |= image.incomplete
        if image.member:
            say(f"{len(targets)} members")
    return _report(
        "audit", found, options, targets, Coverage(dict(sorted(counts.items())), tuple(notes)), hidden, incomplete
    )


def _with_counts(
    executions: Executions,
    passes: Passes,
    result: Judgement,
    how: JudgeOptions,
    counts: dict[str, int],
    notes: list[str],
) -> Judgement:
    """The judgement of a binary with what exact counts of it say."""
    from linemate.counted import with_counts

    counted = with_counts(executions, passes, result, how)
    for name, count in counted.counts.items():
        counts[name] = counts.get(name, 0) + count
    notes += counted.notes
    return dataclasses.replace(result, findings=tuple(counted.findings))


def _with_source(
    result: Judgement, image: Image, program: Program, options: AuditOptions, counts: dict[str, int]
) -> list[Finding]:
    """The findings about a binary with what facts from its source add."""
    from linemate.source import at_link_addresses
    from sharing.judge.origins import annotate

    knowledge = vocabulary(options.project)
    facts = at_link_addresses(program, image, knowledge)
    source = judge(facts, _judge_options(*line_sizes(options.line_size, image), options), knowledge)
    findings, joined = annotate(result.findings, source)
    counts["participants_in_source"] = counts.get("participants_in_source", 0) + joined
    return findings


def _with_samples(
    findings: list[Finding],
    profiles: Profiles,
    result: Judgement,
    image: Image,
    options: AuditOptions,
    counts: dict[str, int],
    notes: list[str],
) -> list[Finding]:
    """The findings about a binary with what profiles of it say."""
    from linemate.sampled.run import with_samples

    size, _ = line_sizes(options.line_size, image)
    macro = options.project.fix.align_macro or ""
    seen = with_samples(
        options.samples,
        profiles,
        image,
        result,
        findings,
        vocabulary(options.project),
        size,
        macro=macro,
        rules=options.rules,
    )
    for name, count in seen.counts.items():
        counts[name] = counts.get(name, 0) + count
    notes[:0] = seen.notes  # how far the rest can be trusted
    return seen.findings


def check_program(program: Program, options: CheckOptions) -> Report:
    """Report what is wrong with the lines that source will be laid out on.

    1. each executable as an image; 2. the rules of lines; 3. the rules of declarations.
    """
    from linemate.source import images
    from sharing.judge.declarations import run_source_rules, source_context

    knowledge = vocabulary(options.project)
    targets: list[Target] = []
    found: dict[str, Finding] = {}
    counts: dict[str, int] = dict(program.counts)
    notes = list(program.notes)
    hidden = 0
    heats: list[tuple[dict[str, int], Judgement]] = []
    size = pair = options.line_size or DEFAULT_LINE_SIZE
    for part, image in images(program, options, knowledge):
        size, pair = line_sizes(options.line_size, image)
        result = judge(image, _judge_options(size, pair, options), knowledge)
        hidden += result.hidden
        targets.append(target_of(image, size))
        heats.append(({name: address for address, name in image.identities.items()}, result))
        for finding in result.findings:
            known = found.get(finding.id)
            if known is None or finding.severity.rank > known.severity.rank:
                found[finding.id] = finding
        _count(counts, image, result)
        name = f"{os.path.basename(image.path)}: " if len(part.members) < len(program.members) else ""
        notes.extend(name + note for note in (*image.notes, *result.notes))

    counts["executables_with_threads"] = len(targets)
    if not targets:
        notes.append("no executable here starts a thread: only declarations were judged")

    def heat(identity: str, offset: int) -> Heat:
        return max((r.heat(at[identity], offset) for at, r in heats if identity in at), default=Heat.COLD)

    macro = options.project.fix.align_macro or ""
    context = dataclasses.replace(source_context(program, knowledge, size, pair, macro), heat=heat)
    judged = list(found.values())
    for finding in run_source_rules(program, context, rules=options.rules, judged=judged):
        found.setdefault(finding.id, finding)
    return _report(
        "check",
        list(found.values()),
        options,
        targets,
        Coverage(dict(sorted(counts.items())), tuple(notes)),
        hidden,
        bool(program.failed) or any(u.errors for u in program.units),
    )


def line_sizes(asked: int | None, *images: Image) -> tuple[int, int]:
    """Bytes of a line, and of the lines that move together; ``asked`` None leaves the line to the architectures."""
    size = asked or max(image.arch.line_size for image in images)
    return size, max(2 * size if asked else size, *(image.arch.pair_size for image in images))


def _judge_options(size: int, pair: int, options: AuditOptions | CheckOptions) -> JudgeOptions:
    return JudgeOptions(
        line_size=size,
        pair_size=pair,
        rules=options.rules,
        macro=options.project.fix.align_macro or "",
        min_severity=options.min_severity,
        demangle=demangle,
    )


def _report(
    command: str,
    found: list[Finding],
    options: AuditOptions | CheckOptions,
    targets: list[Target],
    coverage: Coverage,
    hidden: int,
    incomplete: bool,
) -> Report:
    """Findings in order, without those that were not asked for, accepted by the project, or below the asked level."""
    # What was sampled comes before what was counted, and that before what code alone says: scores differ in unit.
    found.sort(
        key=lambda f: (-f.severity.rank, -_layer(f), -f.score, f.line.address, f.rule, f.id),
    )
    kept = list(_selected(found, options))
    accepted = [f for f in kept if not suppressed(f, options.project)]
    shown = [
        f
        for f in accepted
        if f.severity.rank >= options.min_severity.rank and f.confidence.rank >= options.min_confidence.rank
    ]
    return Report(
        schema=SCHEMA,
        command=command,
        targets=tuple(targets),
        coverage=coverage,
        findings=tuple(shown),
        suppressed=len(kept) - len(accepted),
        hidden=hidden + len(accepted) - len(shown),
        incomplete=incomplete,
    )


def _layer(finding: Finding) -> int:
    return min(max(finding.confidence.rank, Confidence.STATIC.rank), Confidence.DERIVED.rank)


def vocabulary(project: ProjectConfig) -> Knowledge:
    """The built-in tables with the project's rows in front."""
    if not project.lock and not project.thread:
        return default_knowledge()
    locks = tuple(
        LockRow(
            name=row.type,
            kind="lock",
            types=(row.type,),
            abi={"any": LockAbi(max(end for _, end in row.hot), row.hot)} if row.hot else {},
            lock=tuple((name, 0) for name in row.lock),
            unlock=tuple((name, 0) for name in row.unlock),
            init=(),
            source=project.path,
        )
        for row in project.lock
    )
    threads = tuple(ThreadRow(row.function, row.entry_argument) for row in project.thread)
    return Knowledge(locks, threads)


def suppressed(finding: Finding, project: ProjectConfig) -> bool:
    return any(
        fnmatch.fnmatchcase(finding.rule, row.rule)
        and any(fnmatch.fnmatchcase(p.name, row.symbol) for p in finding.participants)
        for row in project.suppress
    )


def _selected(findings: Iterable[Finding], options: AuditOptions | CheckOptions) -> Iterator[Finding]:
    """Findings about the symbols asked for; rules were chosen before judging."""
    for finding in findings:
        names = [p.name for p in finding.participants]
        if not options.symbols or any(fnmatch.fnmatchcase(n, s) for n in names for s in options.symbols):
            yield finding


def _count(counts: dict[str, int], image: Image, result: Judgement) -> None:
    for name, value in {**image.counts, **result.image.counts, **result.counts}.items():
        counts[name] = counts.get(name, 0) + value
