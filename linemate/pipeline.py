"""The audit as a table of contents: read, judge, filter, report.

Owns the joining of the stages.  Formats, rules and rendering are elsewhere.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator

from elfscan.demangle import demangle
from elfscan.image import read_images
from linemate.options import AuditOptions
from sharing.judge import Judgement, JudgeOptions, judge
from sharing.knowledge import Knowledge, LockAbi, LockRow, ThreadRow, default_knowledge
from sharing.model import LinemateError
from sharing.model.finding import SCHEMA, Coverage, Finding, Report, Target
from sharing.model.image import Image
from sharing.model.project import ProjectConfig


def audit(options: AuditOptions) -> Report:
    """Analyse one binary (each member of an archive) and report what is wrong with its lines."""
    unsupported = [*options.samples, *options.facts]
    if unsupported:
        raise LinemateError(f"{unsupported[0]}: profiles and facts are not read by this version")
    knowledge = vocabulary(options.project)
    targets: list[Target] = []
    found: list[Finding] = []
    counts: dict[str, int] = {}
    notes: list[str] = []
    incomplete = False
    hidden = 0
    for image in read_images(options.binary, debug_file=options.debug_file):
        size = options.line_size or image.arch.line_size
        pair = max(image.arch.pair_size, size) if options.line_size is None else max(2 * size, image.arch.pair_size)
        wanted = JudgeOptions(
            line_size=size,
            pair_size=pair,
            rules=options.rules,
            macro=options.project.fix.align_macro or "",
            min_severity=options.min_severity,
            demangle=demangle,
        )
        result = judge(image, wanted, knowledge)
        hidden += result.hidden
        targets.append(_target(image, size))
        found.extend(result.findings)
        _count(counts, image, result)
        prefix = f"{image.member}: " if image.member else ""
        notes.extend(prefix + note for note in (*image.notes, *result.notes))
        incomplete |= image.incomplete
    found.sort(key=lambda f: (-f.severity.rank, -f.score, f.line.address, f.rule))
    kept = list(_selected(found, options))
    accepted = [f for f in kept if not suppressed(f, options.project)]
    shown = [
        f
        for f in accepted
        if f.severity.rank >= options.min_severity.rank and f.confidence.rank >= options.min_confidence.rank
    ]
    return Report(
        schema=SCHEMA,
        command="audit",
        targets=tuple(targets),
        coverage=Coverage(dict(sorted(counts.items())), tuple(notes)),
        findings=tuple(shown),
        suppressed=len(kept) - len(accepted),
        hidden=hidden + len(accepted) - len(shown),
        incomplete=incomplete,
    )


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


def _selected(findings: Iterable[Finding], options: AuditOptions) -> Iterator[Finding]:
    """Findings about the symbols asked for; rules were chosen before judging."""
    for finding in findings:
        names = [p.name for p in finding.participants]
        if not options.symbols or any(fnmatch.fnmatchcase(n, s) for n in names for s in options.symbols):
            yield finding


def _target(image: Image, line_size: int) -> Target:
    return Target(
        path=image.path,
        member=image.member or "",
        arch=image.arch.name,
        kind=image.kind.value,
        build_id=image.build_id or "",
        line_size=line_size,
        debug=image.debug_source,
    )


def _count(counts: dict[str, int], image: Image, result: Judgement) -> None:
    for name, value in {**image.counts, **result.image.counts, **result.counts}.items():
        counts[name] = counts.get(name, 0) + value
