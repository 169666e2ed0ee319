"""Audit and check as tables of contents: read, judge, filter, report.

Owns the joining of the stages.  Formats, rules and rendering are elsewhere.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
from collections.abc import Callable, Iterable, Iterator

from elfscan.image import read_images
from elfscan.tools import Starter, ToolJob
from linemate.auditing.image import (
    AuditedImage,
    Runs,
    Seen,
    add_counts,
    audit_image,
    counts_of,
    judge_options,
    line_sizes,
)
from linemate.auditing.targets import of_target
from linemate.options import DEFAULT_LINE_SIZE, AuditOptions, CheckOptions
from reports.wording import target_name
from sharing.basics.target import target_of
from sharing.judge.static import Judgement, judge
from sharing.knowledge import Knowledge, default_knowledge
from sharing.model.finding import SCHEMA, Confidence, Coverage, Finding, Report, Target
from sharing.model.profile import Heat
from sharing.model.project import ProjectConfig
from sharing.source.program import Program


def audit(
    options: AuditOptions,
    say: Callable[[str], None] = lambda how_far: None,
    *,
    starter: Starter = ToolJob,
    seen: Seen | None = None,
) -> Report:
    """Analyse one binary (each member of an archive) and report what is wrong with its lines.

    ``say`` is told how many members are done; ``starter`` starts the helpers of a file that is no archive.
    ``seen`` is shown each image; then all are audited by this process.
    """
    runs = Runs.of(options)
    knowledge = vocabulary(options.project)
    targets: list[Target] = []
    found: list[Finding] = []
    counts: dict[str, int] = {}
    notes: list[str] = []
    incomplete = False
    hidden = 0
    guarded: set[str] = set()
    for part in _audited(options, knowledge, runs, starter, seen):
        targets.append(part.target)
        found.extend(of_target(part.findings, target_name(part.target) if part.target.member else ""))
        add_counts(counts, part.counts)
        notes[:0] = part.trust
        notes.extend(part.notes)
        hidden += part.hidden
        incomplete |= part.incomplete
        guarded.update(part.guarded)
        if part.target.member:
            say(f"{len(targets)} members")
    if options.guards:
        from linemate.guardfile import missing

        gone = missing(options.guards, guarded)
        notes += [f"guards: no variable '{name}': its pairs were not checked" for name in gone]
        incomplete |= bool(gone)
        counts["guarded_pairs"] = len(options.guards)
    return _report(
        "audit", found, options, targets, Coverage(dict(sorted(counts.items())), tuple(notes)), hidden, incomplete
    )


def _audited(
    options: AuditOptions, knowledge: Knowledge, runs: Runs, starter: Starter, seen: Seen | None
) -> Iterator[AuditedImage]:
    """Each image of the file, in order: by several processes where that pays."""
    if options.spread and not runs.given and seen is None:
        from linemate.auditing.workers import audited_members

        if (parts := audited_members(options, knowledge)) is not None:
            yield from parts
            return
    for image in read_images(options.binary, debug_file=options.debug_file, starter=starter):
        yield audit_image(image, options, knowledge, runs, seen)


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
    unknown = False
    heats: list[tuple[dict[str, int], Judgement]] = []
    size = pair = options.line_size or DEFAULT_LINE_SIZE
    for part, image in images(program, options, knowledge):
        size, pair = line_sizes(options.line_size, image)
        result = judge(image, judge_options(size, pair, options), knowledge)
        hidden += result.hidden
        unknown |= result.threads_unknown
        targets.append(target_of(image, size))
        heats.append(({name: address for address, name in image.identities.items()}, result))
        for finding in result.findings:
            known = found.get(finding.id)
            if known is None or finding.severity.rank > known.severity.rank:
                found[finding.id] = finding
        add_counts(counts, counts_of(image, result))
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
        unknown or bool(program.failed) or any(u.errors for u in program.units),
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
    return Knowledge(project) if project.has_rows else default_knowledge()


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
