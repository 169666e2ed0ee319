"""The audit of one image: its passes, their judgement, and what source, counts and profiles add to it.

Owns the order of these stages, and what is left of an image for the report.  Which images there are, and the report of
all of them, are ``linemate.pipeline``'s.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self

import msgspec

from elfscan.debug.demangle import demangle
from linemate.auditing.pointermoves import read_pointer_moves
from linemate.auditing.receivers import with_receivers
from linemate.auditing.recordplaces import read_places
from linemate.auditing.recordtypes import read_records
from linemate.options import AuditOptions, CheckOptions
from sharing.basics.target import target_of
from sharing.judge.passes import Passes, run_passes
from sharing.judge.static import Judgement, JudgeOptions, judge, judge_passes
from sharing.knowledge import Knowledge
from sharing.model.finding import Finding, Severity, Target
from sharing.model.image import Image
from sharing.model.memorymap import SampledMapLine
from sharing.static import behindpointers
from sharing.static.roots import Elsewhere

if TYPE_CHECKING:
    from linemate.sampled.reading import Profiles
    from linemate.sampled.run import SampledFindings
    from sharing.model.executions import Executions
    from sharing.source.program import Program


class Runs(msgspec.Struct, frozen=True):
    """What the options name beside the binary, read: source, profiles and exact counts of it."""

    program: Program | None = None
    profiles: Profiles | None = None
    executions: Executions | None = None

    @classmethod
    def of(cls, options: AuditOptions) -> Self:
        program = profiles = executions = None
        if options.facts:
            from linemate.source import read_streams

            program = read_streams(options.facts)
        if options.samples:
            from linemate.sampled.reading import Profiles

            profiles = Profiles(options.samples)
        if options.counts:
            from linemate.auditing.counts import read_counts

            executions = read_counts(options.counts)
        return cls(program, profiles, executions)

    @property
    def given(self) -> bool:
        return self.program is not None or self.profiles is not None or self.executions is not None


class AuditedImage(msgspec.Struct, frozen=True):
    """What the report takes of one image.

    ``hidden`` are findings below the asked severity, ``trust`` notes on how far the rest can be trusted.  ``guarded``
    are the names of guards that the image has, ``sampled`` its lines in the profiles.
    """

    target: Target
    findings: tuple[Finding, ...]
    counts: dict[str, int]
    notes: tuple[str, ...]
    trust: tuple[str, ...]
    hidden: int
    incomplete: bool
    guarded: tuple[str, ...] = ()
    sampled: tuple[SampledMapLine, ...] = ()


OnImage = Callable[[Passes, AuditedImage], None]


def audit_image(
    image: Image, options: AuditOptions, knowledge: Knowledge, runs: Runs, on_image: OnImage | None = None
) -> AuditedImage:
    """Judge one image by the lines that its variables are on; ``on_image`` is called with what that was judged from."""
    size, pair = line_sizes(options.line_size, image)
    how = judge_options(size, pair, options)
    if runs.profiles is not None or runs.executions is not None:
        how = dataclasses.replace(how, min_severity=Severity.NOTE)  # a run may raise what code alone calls a note
    counts: dict[str, int] = {}
    notes: list[str] = []
    trust: list[str] = []
    behind = len(image.behind.elsewhere) > 0
    how = dataclasses.replace(
        how,
        read_records=functools.partial(read_records, image, options.debug_file),
        read_places=functools.partial(read_places, image) if behind and image.debug_source else None,
        read_moves=functools.partial(read_pointer_moves, image) if behind and not image.debug_source else None,
    )
    look = functools.partial(_starts_elsewhere, knowledge)
    image = with_receivers(image)
    passes = run_passes(image, knowledge, how.demangle, assume_threads=how.assume_threads, look_elsewhere=look)
    result = judge_passes(passes, how)
    if runs.executions is not None:
        result = _with_counts(runs.executions, passes, result, how, counts, notes)
    findings = list(result.findings)
    sampled_lines: list[SampledMapLine] = []
    if runs.program is not None:
        findings = _with_source(result, image, runs.program, options, knowledge, counts)
    add_counts(counts, counts_of(image, result))
    prefix = f"{image.member}: " if image.member else ""
    notes.extend(prefix + note for note in (*image.notes, *result.notes))
    if runs.profiles is not None:
        sampled = _with_samples(findings, runs.profiles, result, image, options, knowledge)
        findings, sampled_lines = sampled.findings, sampled.lines
        add_counts(counts, sampled.counts)
        trust += sampled.notes
    guarded: tuple[str, ...] = ()
    if options.guards:
        from linemate.guardfile import hold, with_guards

        held = hold(result.image, options.guards)
        findings = with_guards(findings, held.findings)
        guarded = tuple(sorted(held.names))
    if not findings and not runs.given and behindpointers.used_by_threads(passes.image, passes.calls):
        notes.append(prefix + behindpointers.NOTE)
    target = target_of(image, size)
    # A run shows the threads that the code does not.
    unknown = result.threads_unknown and runs.executions is None and runs.profiles is None
    incomplete = image.incomplete or unknown
    audited = AuditedImage(
        target,
        tuple(findings),
        counts,
        tuple(notes),
        tuple(trust),
        result.hidden,
        incomplete,
        guarded,
        tuple(sampled_lines),
    )
    if on_image is not None:
        on_image(passes, audited)
    return audited


def _starts_elsewhere(knowledge: Knowledge, image: Image) -> Elsewhere:
    """As of ``starts_elsewhere``, which few images ask for."""
    from linemate.auditing.neededlibraries import starts_elsewhere

    return starts_elsewhere(image, knowledge)


def _with_counts(
    executions: Executions,
    passes: Passes,
    result: Judgement,
    how: JudgeOptions,
    counts: dict[str, int],
    notes: list[str],
) -> Judgement:
    """The judgement of a binary with what exact counts of it say."""
    from linemate.auditing.counts import with_counts

    counted = with_counts(executions, passes, result, how)
    add_counts(counts, counted.counts)
    notes += counted.notes
    return dataclasses.replace(result, findings=tuple(counted.findings))


def _with_source(
    result: Judgement,
    image: Image,
    program: Program,
    options: AuditOptions,
    knowledge: Knowledge,
    counts: dict[str, int],
) -> list[Finding]:
    """The findings about a binary with what facts from its source add."""
    from linemate.source import at_link_addresses
    from sharing.judge.origins import annotate

    facts = at_link_addresses(program, image, knowledge)
    source = judge(facts, judge_options(*line_sizes(options.line_size, image), options), knowledge)
    findings, joined = annotate(result.findings, source)
    counts["participants_in_source"] = counts.get("participants_in_source", 0) + joined
    return findings


def _with_samples(
    findings: list[Finding],
    profiles: Profiles,
    result: Judgement,
    image: Image,
    options: AuditOptions,
    knowledge: Knowledge,
) -> SampledFindings:
    """The findings about a binary with what profiles of it say."""
    from linemate.sampled.run import SampledOptions, with_samples

    size, _ = line_sizes(options.line_size, image)
    wanted = SampledOptions(options.samples, size, options.project.fix.align_macro or "", options.rules)
    return with_samples(wanted, profiles, image, result, findings, knowledge)


def line_sizes(asked: int | None, *images: Image) -> tuple[int, int]:
    """Bytes of a line, and of the lines that move together; ``asked`` None leaves the line to the architectures."""
    size = asked or max(image.arch.line_size for image in images)
    return size, max(2 * size if asked else size, *(image.arch.pair_size for image in images))


def judge_options(size: int, pair: int, options: AuditOptions | CheckOptions) -> JudgeOptions:
    return JudgeOptions(
        line_size=size,
        pair_size=pair,
        rules=options.rules,
        macro=options.project.fix.align_macro or "",
        min_severity=options.min_severity,
        demangle=demangle,
        assume_threads=options.assume_threads,
        edits=not isinstance(options, CheckOptions) or options.edits,
        every_pair=options.every_pair,
        heat=options.heat,
        newcomers=options.newcomers,
    )


def counts_of(image: Image, result: Judgement) -> dict[str, int]:
    """What was seen in an image, by name."""
    return {**image.counts, **result.image.counts, **result.counts}


def add_counts(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for name, value in more.items():
        counts[name] = counts.get(name, 0) + value
