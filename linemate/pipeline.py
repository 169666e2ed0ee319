"""Audit and check as tables of contents: read, judge, filter, report.

Owns the joining of the stages.  Formats, rules and rendering are elsewhere.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from elfscan.image import read_images
from elfscan.tools import Starter, ToolJob
from linemate.auditing.image import (
    AuditedImage,
    OnImage,
    Runs,
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
from sharing.model.linkage import as_written
from sharing.model.profile import Heat
from sharing.model.project import ProjectConfig
from sharing.static.roots import Elsewhere

if TYPE_CHECKING:  # of check alone
    from sharing.model.image import Image
    from sharing.source.program import Program


def audit(
    options: AuditOptions,
    say: Callable[[str], None] = lambda how_far: None,
    *,
    starter: Starter = ToolJob,
    on_image: OnImage | None = None,
) -> Report:
    """Analyse one binary (each member of an archive) and report what is wrong with its lines.

    ``say`` is told how many members are done; ``starter`` starts the helpers of a file that is no archive.
    ``on_image`` is called with each image; then all are audited by this process.
    """
    runs = Runs.of(options)
    knowledge = vocabulary(options.project)
    out = _Collected()
    guarded: set[str] = set()
    for part in _audited(options, knowledge, runs, starter, on_image):
        out.take(part)
        guarded.update(part.guarded)
        if part.target.member:
            say(f"{len(out.targets)} members")
    if options.guards:
        from linemate.guardfile import missing

        gone = missing(options.guards, guarded)
        out.notes += [f"guards: no variable '{name}': its pairs were not checked" for name in gone]
        out.incomplete |= bool(gone)
        out.counts["guarded_pairs"] = len(options.guards)
    return out.report("audit", options)


def _audited(
    options: AuditOptions, knowledge: Knowledge, runs: Runs, starter: Starter, on_image: OnImage | None
) -> Iterator[AuditedImage]:
    """Each image of the file, in order: by several processes where that pays."""
    if options.spread and not runs.given and on_image is None:
        from linemate.auditing.workers import audited_members

        if (parts := audited_members(options, knowledge)) is not None:
            yield from parts
            return
    for image in read_images(options.binary, debug_file=options.debug_file, starter=starter):
        yield audit_image(image, options, knowledge, runs, on_image)


def check_program(program: Program, options: CheckOptions) -> Report:
    """Report what is wrong with the lines that source will be laid out on.

    1. each executable as an image; 2. the rules of lines; 3. the rules of declarations.
    """
    from sharing.judge.declarations import said_once

    knowledge = vocabulary(options.project)
    out = _Collected(counts=dict(program.counts), notes=list(program.notes))
    judged = _judge_executables(program, options, knowledge, out)
    out.findings = said_once(out.findings + _on_declarations(program, options, knowledge, judged, out.findings))
    out.counts["executables_with_threads"] = len(out.targets)
    out.incomplete |= bool(program.failed) or any(u.errors for u in program.units)
    return out.report("check", options)


class _Executables(msgspec.Struct):
    """The executables of a program, judged: of each its addresses by identity.  Sizes are those of the last one."""

    line_size: int
    pair_size: int
    judged: list[tuple[dict[str, int], Judgement]] = msgspec.field(default_factory=list)

    def heat(self, identity: str, offset: int) -> Heat:
        """The most that these bytes of a variable are used in any of them."""
        return max((r.heat(at[identity], offset) for at, r in self.judged if identity in at), default=Heat.COLD)

    def changed_by_threads(self, identity: str, offset: int) -> bool:
        """Do several threads of any of them write a byte of a variable?"""
        return any(r.changed_by_threads(at[identity], offset) for at, r in self.judged if identity in at)

    def contested(self, identity: str, offset: int, size: int) -> bool:
        """Do threads of any of them surely meet in these bytes of a variable, often?"""
        return any(r.contested(at[identity], offset, size) for at, r in self.judged if identity in at)

    def alone(self, identity: str, offset: int, size: int) -> bool:
        """Do all of them that have a variable know who uses these bytes of it, and that no two threads do at once?"""
        asked = [r.alone(at[identity], offset, size) for at, r in self.judged if identity in at]
        return bool(asked) and all(asked)

    def changed_at_once(self, identity: str, offset: int) -> bool:
        """Do threads of any of them, main among them, write a byte of objects of their own at the same time?"""
        return any(r.changed_at_once(at[identity], offset) for at, r in self.judged if identity in at)

    def idle(self, identity: str, offset: int, function: str) -> bool:
        """Is a function known in one of them to use a byte of a variable, and in none while threads work?"""
        asked = [r.idle(at[identity], offset, function) for at, r in self.judged if identity in at]
        return bool(asked) and all(asked)

    def often(self, function: str) -> bool:
        """Do several threads of any of them run a function at once and often?"""
        return any(function in r.often() for _, r in self.judged)


def _program_target(part: Program, image: Image, line_size: int) -> Target:
    """A program by the source that has its main, which stands for all of them, or by their folder or linked file."""
    target = target_of(image, line_size)
    named = any(part.units[one].path == image.path for one in part.members)
    return msgspec.structs.replace(target, others=len(part.members) - 1) if named else target


def _judge_executables(program: Program, options: CheckOptions, knowledge: Knowledge, out: _Collected) -> _Executables:
    """Adds what is found on lines; of what is found in several executables, the most severe."""
    from linemate.source import images

    found: dict[str, Finding] = {}
    size = options.line_size or DEFAULT_LINE_SIZE
    executables = _Executables(size, size)
    look = functools.partial(_starts_elsewhere, options.binary, knowledge) if options.binary else None
    for part, image in images(program, options, knowledge):
        size, pair = line_sizes(options.line_size, image)
        executables.line_size, executables.pair_size = size, pair
        result = judge(image, judge_options(size, pair, options), knowledge, look)
        executables.judged.append(({name: address for address, name in image.identities.items()}, result))
        for finding in result.findings:
            known = found.get(finding.id)
            if known is None or finding.severity.rank > known.severity.rank:
                found[finding.id] = finding
        out.targets.append(_program_target(part, image, size))
        out.hidden += result.hidden
        out.incomplete |= result.threads_unknown
        add_counts(out.counts, counts_of(image, result))
        name = f"{os.path.basename(image.path)}: " if len(part.members) < len(program.members) else ""
        out.notes.extend(name + note for note in (*image.notes, *result.notes))
    if not out.targets:
        from linemate.checking.unseenstarts import unseen_starts

        note, unknown = unseen_starts(program, options, knowledge)
        out.notes.append(note)
        out.incomplete |= unknown
    out.findings.extend(found.values())
    return executables


def _starts_elsewhere(binary: str, knowledge: Knowledge, image: Image) -> Elsewhere:
    """What libraries do with functions of the linked file, which hands them over as its source does."""
    from linemate.auditing.neededlibraries import starts_elsewhere

    linked = next(read_images(binary, types=False), None)
    return starts_elsewhere(linked, knowledge) if linked is not None else Elsewhere()


def _on_declarations(
    program: Program,
    options: CheckOptions,
    knowledge: Knowledge,
    executables: _Executables,
    on_lines: Sequence[Finding],
) -> list[Finding]:
    """Findings of the rules of declarations that ``on_lines`` does not have."""
    from sharing.judge.declarations import run_source_rules, source_context

    macro = options.project.fix.align_macro or ""
    context = source_context(program, knowledge, executables.line_size, executables.pair_size, macro)
    asked = functools.cache  # of a record of hundreds of members rules ask the same for each of thousands of uses
    context = dataclasses.replace(
        context,
        heat=asked(executables.heat),
        contested=asked(executables.contested),
        alone=asked(executables.alone),
        changed_by_threads=asked(executables.changed_by_threads),
        changed_at_once=asked(executables.changed_at_once),
        often=asked(executables.often),
        idle=asked(executables.idle),
    )
    found = {finding.id: finding for finding in on_lines}
    for finding in run_source_rules(program, context, rules=options.rules, judged=list(on_lines)):
        found.setdefault(finding.id, finding)
    return list(found.values())[len(on_lines) :]


class _Collected(msgspec.Struct):
    """What the images of a run add up to."""

    targets: list[Target] = msgspec.field(default_factory=list)
    findings: list[Finding] = msgspec.field(default_factory=list)
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    notes: list[str] = msgspec.field(default_factory=list)
    hidden: int = 0
    incomplete: bool = False

    def take(self, part: AuditedImage) -> None:
        self.targets.append(part.target)
        self.findings.extend(of_target(part.findings, target_name(part.target) if part.target.member else ""))
        add_counts(self.counts, part.counts)
        self.notes[:0] = part.trust
        self.notes.extend(part.notes)
        self.hidden += part.hidden
        self.incomplete |= part.incomplete

    def report(self, command: str, options: AuditOptions | CheckOptions) -> Report:
        """Findings in order, without those not asked for, accepted by the project, or below the asked level."""
        # What was sampled comes before what was counted, and that before what code alone says: scores differ in unit.
        found = sorted(
            self.findings, key=lambda f: (-f.severity.rank, -_layer(f), -f.score, f.line.address, f.rule, f.id)
        )
        kept = list(_selected(found, options))
        accepted = [f for f in kept if not suppressed(f, options.project)]
        severe = [f for f in accepted if f.severity.rank >= options.min_severity.rank]
        shown = [f for f in severe if f.confidence.rank >= options.min_confidence.rank]
        return Report(
            schema=SCHEMA,
            command=command,
            targets=tuple(self.targets),
            coverage=Coverage(dict(sorted(self.counts.items())), tuple(self.notes)),
            findings=tuple(shown),
            suppressed=len(kept) - len(accepted),
            hidden=self.hidden + len(accepted) - len(shown),
            incomplete=self.incomplete,
            unsure=len(severe) - len(shown),
        )


def _layer(finding: Finding) -> int:
    return min(max(finding.confidence.rank, Confidence.STATIC.rank), Confidence.DERIVED.rank)


def vocabulary(project: ProjectConfig) -> Knowledge:
    """The built-in tables with the project's rows in front."""
    return Knowledge(project) if project.has_rows else default_knowledge()


def suppressed(finding: Finding, project: ProjectConfig) -> bool:
    return any(
        fnmatch.fnmatchcase(finding.rule, row.rule)
        and any(fnmatch.fnmatchcase(p.name, as_written(row.symbol)) for p in finding.participants)
        for row in project.suppress
    )


def _selected(findings: Iterable[Finding], options: AuditOptions | CheckOptions) -> Iterator[Finding]:
    """Findings about the symbols asked for; rules were chosen before judging."""
    symbols = [as_written(symbol) for symbol in options.symbols]
    for finding in findings:
        names = [p.name for p in finding.participants]
        if not symbols or any(fnmatch.fnmatchcase(n, s) for n in names for s in symbols):
            yield finding
