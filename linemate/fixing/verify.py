"""``fix --verify``: build before and after, audit both, and say whether the edit did what it is for.

Owns the verdict.  An edit holds when each moved object has its lines to itself in the rebuilt program and no finding
appeared that is as severe as those that it removes.  Everything else is a failure, said as such.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elfscan.image import read_images
from linemate.fixing.addresses import element_bytes, find, lacks_types, line_sharing
from linemate.fixing.bench import Benchmark, Measured, compare, last_line
from linemate.fixing.child import run
from linemate.fixing.recordlines import has_record, record_lines
from linemate.fixing.tree import Trees, configured_folders, made_binaries, scratch_copies, tree_root
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.fix.edits import Planned
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Severity
from sharing.model.image import Image
from sharing.model.project import ProjectConfig

_MATES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """``build`` is a shell command; ``binaries`` are what it makes, found by itself where empty.

    ``folder`` is where commands run, ``line_size`` in bytes.
    """

    build: str
    folder: Path
    binaries: tuple[str, ...] = ()
    bench: Benchmark | None = None
    line_size: int = 64
    timeout_s: float = 1800.0
    project: ProjectConfig = field(default_factory=ProjectConfig)


@dataclass(frozen=True, slots=True)
class Check:
    """One statement about the edit.  ``holds`` None: nothing to object, nothing shown.

    ``measurable``: a benchmark can show what the binary cannot; ``unknown``: the binary does not say what was asked.
    """

    holds: bool | None
    text: str
    measurable: bool = False
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """All checks; the edit is done only where none fails and at least one holds."""

    checks: tuple[Check, ...]
    measured: Measured | None = None

    @property
    def holds(self) -> bool:
        faster = self.measured is not None and self.measured.verdict == "faster"
        shown = any(c.holds or (faster and c.measurable) for c in self.checks)
        return shown and all(c.holds is not False for c in self.checks)

    @property
    def reason(self) -> str:
        """Why it does not hold, "" where a check says it."""
        if self.holds or any(c.holds is False for c in self.checks):
            return ""
        return "nothing shows that it separates"


Fixed = Sequence[tuple[Finding, Sequence[Planned]]]


def verify(
    files: dict[Path, tuple[bytes, bytes]], fixed: Fixed, options: VerifyOptions, say: Callable[[str], None]
) -> Verified:
    """Build, audit and measure in scratch copies; ``files`` are contents before and after."""
    root = tree_root(options.folder.resolve(), [path.resolve() for path in files])
    with scratch_copies(root, options.folder.resolve().relative_to(root)) as trees:
        for path, (_, after) in files.items():
            trees.moved(path.resolve(), trees.after).write_bytes(after)
        made = {}
        for name, tree in (("before", trees.before), ("after", trees.after)):
            say(f"building {name}")
            made[name] = _build(tree, trees, options)
        checks: list[Check] = []
        say("auditing both")
        for relative in _relevant(made, trees, fixed, options):
            pair = (trees.before / relative, trees.after / relative)
            checks += _compare(pair, str(relative), fixed, options)
        if not checks:
            raise LinemateError("no program that the build made has these variables or types: name it with --binary")
        measured = None
        if options.bench is not None and all(c.holds is not False for c in checks):
            say("measuring both in turns")
            measured = compare(options.bench, trees.folder(trees.before), trees.folder(trees.after))
            if measured.verdict == "slower" and any(c.measurable for c in checks):
                checks.append(Check(False, "the benchmark is slower after the edit"))
        return Verified(tuple(checks), measured)


def _build(tree: Path, trees: Trees, options: VerifyOptions) -> list[Path]:
    """Run the build in a copy; the binaries it made or was said to make."""
    # File systems may keep times more coarsely than the clock.
    since_ns = time.time_ns() - 2_000_000_000
    ended = run(options.build, trees.folder(tree), options.timeout_s)
    if ended.code != 0:
        which = "the edited tree does not build" if tree == trees.after else "the tree does not build"
        why = f"{which}: `{options.build}` ended with {ended.code}: {_error_line(ended.output)}"
        raise LinemateError(f"{why}{_configure_too(trees, options)}")
    if not options.binaries:
        return made_binaries(tree, since_ns)
    named = [_in_copy(name, tree, trees, options) for name in options.binaries]
    missing = [str(path.relative_to(tree)) for path in named if not path.is_file()]
    if missing:
        raise LinemateError(f"`{options.build}` made no {missing[0]}")
    return named


def _configure_too(trees: Trees, options: VerifyOptions) -> str:
    """What to add to a build that fails for want of a configured folder, which copies do not have; "" elsewhere."""
    words = {os.path.normpath(word) for word in options.build.split()}
    for folder in configured_folders(trees.root):
        named = os.path.relpath(folder, trees.inside)
        if named in words and "-B" not in words:
            first = shlex.join(["cmake", "-B", named])
            return f"; the copies have no configured {named}, give the configure step too: '{first} && {options.build}'"
    return ""


def _error_line(output: str) -> str:
    """The first line that a compiler calls an error, else the last one."""
    return next((line.strip()[:300] for line in output.splitlines() if "error:" in line), last_line(output))


def _in_copy(name: str, tree: Path, trees: Trees, options: VerifyOptions) -> Path:
    path = (options.folder / name).resolve()
    if not path.is_relative_to(trees.root):
        raise LinemateError(f"{name} is outside of {trees.root}: the build has to make it in the tree")
    return trees.moved(path, tree)


def _relevant(made: dict[str, list[Path]], trees: Trees, fixed: Fixed, options: VerifyOptions) -> list[Path]:
    """What the build of the edited tree made, and the other has, with a moved object in it; relative to the tree."""
    moved = [planned for _, plans in fixed for planned in plans if planned.plan is not None]
    found = []
    for path in made["after"]:
        relative = path.relative_to(trees.after)
        # A build that was up to date makes nothing before the edit.
        if not (trees.before / relative).is_file():
            continue
        image = None if options.binaries else _image(trees.before / relative, _records(fixed))
        if options.binaries or (image is not None and any(_holds_it(image, planned) for planned in moved)):
            found.append(relative)
    return found


def _holds_it(image: Image, planned: Planned) -> bool:
    if planned.record:
        return has_record(image, planned)
    return find(image, planned.participant) is not None or lacks_types(image, planned.participant)


def _records(fixed: Fixed) -> tuple[str, ...]:
    """Types that the edits lay out, of which no variable needs to be."""
    return tuple(
        dict.fromkeys(one.record for _, plans in fixed for one in plans if one.plan is not None and one.record)
    )


def _image(path: Path, records: tuple[str, ...]) -> Image | None:
    try:
        return next(iter(read_images(str(path), access=False, records=records)), None)
    except LinemateError:
        return None


def _compare(pair: tuple[Path, Path], name: str, fixed: Fixed, options: VerifyOptions) -> list[Check]:
    """All checks of one binary."""
    before, after = (_image(path, _records(fixed)) for path in pair)
    if before is None or after is None:
        raise LinemateError(f"{name} could not be read")
    checks = []
    for finding, plans in fixed:
        for planned in plans:
            if planned.plan is not None:
                checks += _separated(before, after, finding, planned, name, options.line_size)
    old, new = (_findings(path, options) for path in pair)
    limit = _limit(fixed)
    appeared = [new[key] for key in sorted(new.keys() - old.keys())]
    for finding in appeared:
        fails = finding.severity.rank >= limit.rank
        what = "new" if fails else "new, but milder than what the edits are for"
        checks.append(Check(False if fails else None, f"{name}: {what}, {finding.severity}: {finding.message}"))
    if not appeared:
        checks.append(Check(None, f"{name}: no other finding appeared"))
    return checks


def _limit(fixed: Fixed) -> Severity:
    """An edit must not bring about what it removes, nor hot line mates of any kind."""
    removed = [finding.severity for finding, plans in fixed if any(one.plan is not None for one in plans)]
    lowest = min([Severity.HIGH, *removed], key=lambda severity: severity.rank)
    return max(lowest, Severity.MEDIUM, key=lambda severity: severity.rank)


def _findings(path: Path, options: VerifyOptions) -> dict[str, Finding]:
    """What an audit reports from medium on: what a new pair of hot line mates would be."""
    report = audit(
        AuditOptions(str(path), line_size=options.line_size, min_severity=Severity.MEDIUM, project=options.project)
    )
    return {finding.id: finding for finding in report.findings}


def _separated(
    before: Image, after: Image, finding: Finding, planned: Planned, name: str, line_size: int
) -> list[Check]:
    if planned.record:
        return [_objects(before, after, finding, planned, name, line_size)]
    who, whole = planned.participant, planned.plan is not None and planned.plan.rounds
    shown = who.name if whole else who.full_name
    was = line_sharing(before, finding, who, line_size, whole=whole)
    now = line_sharing(after, finding, who, line_size, whole=whole)
    if not was.where and lacks_types(before, who):
        return [
            Check(
                None,
                f"{name} has no debug information, so nothing tells where {shown} is: build it with -g",
                unknown=True,
            )
        ]
    if not was.where:
        return [Check(None, f"{name} has no {shown}", unknown=True)]
    if not now.where:
        return [Check(False, f"{name}: {shown} is not found after the edit")]
    if now.together:
        return [Check(False, f"{name}: {shown} still shares a line with {', '.join(now.together)} ({now.where})")]
    if whole and now.mates:
        mates = ", ".join(now.mates[:_MATES_SHOWN])
        return [Check(False, f"{name}: {mates} took the place in the tail of {shown} ({now.where})")]
    if whole and not now.whole_lines:
        return [Check(False, f"{name}: {now.where}: its lines are not filled, the next variable may land in its tail")]
    if was.together:
        others = ", ".join(was.together)
        return [Check(True, f"{name}: {shown} shared a line with {others}; now it has its lines to itself")]
    if planned.remedy.kind == "pad-element":
        return [_elements(before, after, planned, name, line_size)]
    apart = "was apart from the others already"
    return [Check(True, f"{name}: {shown} {apart}{'; now nothing else fits on its lines' if whole else ''}")]


def _objects(before: Image, after: Image, finding: Finding, planned: Planned, name: str, line_size: int) -> Check:
    """Of a type whose objects no symbol names: its size and alignment say how they lie."""
    kind = planned.record
    was = record_lines(before, finding, planned, line_size)
    now = record_lines(after, finding, planned, line_size)
    if was is None:
        text = f"{name} has no debug information that describes {kind}, whose objects no symbol names: build it with -g"
        return Check(None, text, measurable=True, unknown=True)
    if now is None:
        return Check(False, f"{name}: the type {kind} is not found after the edit")
    laid = f"{now.size} bytes, aligned to {now.align}" + (f", elements of {now.stride} bytes" if now.stride else "")
    beside = f" with {now.moved}" if now.moved else ""
    if now.together:
        met = ", ".join(now.together[:_MATES_SHOWN])
        return Check(False, f"{name}: {kind} ({laid}): {met} may still share lines{beside}")
    unseen = "objects on the heap are not in the binary: this is by the type, a benchmark shows what it gains"
    met = ", ".join(was.together[:_MATES_SHOWN]) or "nothing"
    before_it = f"{kind} was {was.size} bytes, aligned to {was.align}, where {met} could share lines{beside}"
    apart = f"{now.moved} apart from the others" if now.moved else "on lines of their own"
    return Check(True, f"{name}: {before_it}; now {laid}, and {apart} ({unseen})", measurable=True)


def _elements(before: Image, after: Image, planned: Planned, name: str, line_size: int) -> Check:
    """Of an array whose elements are to be apart from each other."""
    shown = planned.participant.name
    was, now = (element_bytes(image, planned.participant) for image in (before, after))
    if planned.plan is not None and planned.plan.tail and was and now - was >= line_size:
        return Check(True, f"{name}: elements of {shown} have a line between them, {now} bytes each after {was}")
    if not now or now % line_size:
        return Check(False, f"{name}: elements of {shown} are {now} bytes each: they still share lines")
    if not was or was % line_size == 0:
        return Check(True, f"{name}: each element of {shown} has whole lines, {now} bytes")
    each = f"each is on lines of its own ({now} bytes)"
    return Check(True, f"{name}: elements of {shown} ({was} bytes) shared lines with each other; now {each}")
