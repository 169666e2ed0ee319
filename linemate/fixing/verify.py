"""``fix --verify``: build before and after, audit both, and say whether the edit did what it is for.

Owns the verdict.  An edit holds when each moved object has its lines to itself in the rebuilt program and no finding
appeared that is as severe as those that it removes.  Everything else is a failure, said as such.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elfscan.image import read_images
from linemate.fixing.addresses import element_bytes, find, lacks_types, line_sharing
from linemate.fixing.bench import Benchmark, Measured, compare, last_line
from linemate.fixing.child import run
from linemate.fixing.tree import Trees, made_binaries, scratch_copies, tree_root
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
    """One statement about the edit.  ``holds`` None: nothing to object, nothing shown."""

    holds: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Verified:
    """All checks; the edit is done only where none fails and at least one holds."""

    checks: tuple[Check, ...]
    measured: Measured | None = None

    @property
    def holds(self) -> bool:
        return any(c.holds for c in self.checks) and all(c.holds is not False for c in self.checks)


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
            raise LinemateError("no program that the build made has these variables: name it with --binary")
        measured = None
        if options.bench is not None and all(c.holds is not False for c in checks):
            say("measuring both in turns")
            measured = compare(options.bench, trees.folder(trees.before), trees.folder(trees.after))
        return Verified(tuple(checks), measured)


def _build(tree: Path, trees: Trees, options: VerifyOptions) -> list[Path]:
    """Run the build in a copy; the binaries it made or was said to make."""
    # File systems may keep times more coarsely than the clock.
    since_ns = time.time_ns() - 2_000_000_000
    ended = run(options.build, trees.folder(tree), options.timeout_s)
    if ended.code != 0:
        which = "the edited tree does not build" if tree == trees.after else "the tree does not build"
        raise LinemateError(f"{which}: `{options.build}` ended with {ended.code}: {_error_line(ended.output)}")
    if not options.binaries:
        return made_binaries(tree, since_ns)
    named = [_in_copy(name, tree, trees, options) for name in options.binaries]
    missing = [str(path.relative_to(tree)) for path in named if not path.is_file()]
    if missing:
        raise LinemateError(f"`{options.build}` made no {missing[0]}")
    return named


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
    moved = [planned.participant for _, plans in fixed for planned in plans if planned.plan is not None]
    found = []
    for path in made["after"]:
        relative = path.relative_to(trees.after)
        # A build that was up to date makes nothing before the edit.
        if not (trees.before / relative).is_file():
            continue
        image = _image(trees.before / relative)
        if options.binaries or (
            image is not None and any(find(image, who) is not None or lacks_types(image, who) for who in moved)
        ):
            found.append(relative)
    return found


def _image(path: Path) -> Image | None:
    try:
        return next(iter(read_images(str(path), access=False)), None)
    except LinemateError:
        return None


def _compare(pair: tuple[Path, Path], name: str, fixed: Fixed, options: VerifyOptions) -> list[Check]:
    """All checks of one binary."""
    before, after = _image(pair[0]), _image(pair[1])
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
        checks.append(Check(False if fails else None, f"{name}: new, {finding.severity}: {finding.message}"))
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
    who, whole = planned.participant, planned.plan is not None and planned.plan.rounds
    shown = who.name if whole else who.full_name
    was = line_sharing(before, finding, who, line_size, whole=whole)
    now = line_sharing(after, finding, who, line_size, whole=whole)
    if not was.where and lacks_types(before, who):
        return [Check(None, f"{name} has no debug information, so nothing tells where {shown} is: build it with -g")]
    if not was.where:
        return [Check(None, f"{name} has no {shown}")]
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


def _elements(before: Image, after: Image, planned: Planned, name: str, line_size: int) -> Check:
    """Of an array whose elements are to be apart from each other."""
    shown = planned.participant.name
    was, now = (element_bytes(image, planned.participant) for image in (before, after))
    if not now or now % line_size:
        return Check(False, f"{name}: elements of {shown} are {now} bytes each: they still share lines")
    if not was or was % line_size == 0:
        return Check(True, f"{name}: each element of {shown} has whole lines, {now} bytes")
    each = f"each is on lines of its own ({now} bytes)"
    return Check(True, f"{name}: elements of {shown} ({was} bytes) shared lines with each other; now {each}")
