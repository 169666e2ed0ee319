"""Two images, one comparison: the passes of ``explain`` in order.

Owns the order of the passes and the document.  Each pass is a module of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import numpy as np

from sharing.basics.naming import Demangle
from sharing.basics.target import target_of
from sharing.explain import blame, identity
from sharing.explain.activity import Activity, observe
from sharing.explain.behind import Behind, nothing_behind, with_behind
from sharing.explain.causes import SUSPECTS
from sharing.explain.causes.base import Builds, is_file, ranked
from sharing.explain.causes.layout import moved_harmlessly
from sharing.explain.causes.linkedin import without_libraries
from sharing.explain.causes.run import alternated, processes, said_of_servers
from sharing.explain.causes.toolchain import same_compiler
from sharing.explain.changes import Changes, changes
from sharing.explain.elements import element_pairs
from sharing.explain.findings import new_findings
from sharing.explain.linepairs import BuildView, LinePairs, line_pairs, view_of, with_more
from sharing.explain.match import MatchBasis, Matching, match_functions, match_variables
from sharing.explain.reported import newly_reported, reports, says
from sharing.explain.same import same_build, what_differs
from sharing.explain.samecode import code_numbers
from sharing.explain.sections import section_shifts
from sharing.explain.shifts import account_for
from sharing.explain.unrelated import doubt, own, two_programs, unrelated
from sharing.explain.uses import with_uses
from sharing.knowledge import Knowledge
from sharing.model.comparison import (
    EXPLAIN_SCHEMA,
    Cause,
    CauseKind,
    Comparison,
    FileTraits,
    MatchSummary,
    RuledOut,
    ShiftRun,
)
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Coverage
from sharing.model.image import Image

MAX_RUNS = 200
MAX_CHANGES = 400


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """``line_size`` and ``pair_size`` in bytes."""

    line_size: int = 64
    pair_size: int = 128
    demangle: Demangle = lambda names: names


@dataclass(frozen=True, slots=True)
class Side:
    """A build as it was read, what its code does, and what its file says of how it was made."""

    image: Image
    activity: Activity
    traits: FileTraits


def side(image: Image, traits: FileTraits, knowledge: Knowledge, options: ExplainOptions) -> Side:
    """Who touches what in one build for itself."""
    activity = observe(image, knowledge, options.line_size, options.pair_size, options.demangle)
    return Side(image, activity, traits)


def explain(
    old: Image,
    new: Image,
    knowledge: Knowledge,
    options: ExplainOptions,
    old_traits: FileTraits | None = None,
    new_traits: FileTraits | None = None,
) -> Comparison:
    """Why ``new`` may run at another speed than ``old``.  Raises LinemateError for two architectures."""
    return document(compare(old, new, knowledge, options, old_traits, new_traits))


def compare(
    old: Image,
    new: Image,
    knowledge: Knowledge,
    options: ExplainOptions,
    old_traits: FileTraits | None = None,
    new_traits: FileTraits | None = None,
) -> Builds:
    """Both builds for themselves, then ``joined``."""
    builds = ((old, old_traits or FileTraits()), (new, new_traits or FileTraits()))
    before, after = (side(image, traits, knowledge, options) for image, traits in builds)
    return joined(before, after, options)


def joined(old_side: Side, new_side: Side, options: ExplainOptions) -> Builds:
    """The tables behind ``explain``: matching, shifts, meetings.  Raises LinemateError for two architectures."""
    old, new = old_side.image, new_side.image
    if is_file(old) and is_file(new) and _machine(old) != _machine(new):
        raise LinemateError(
            f"{old.path} is for {old.arch.name} and {new.path} for {new.arch.name}: their layouts cannot be compared"
        )
    before, after = old_side.activity, new_side.activity
    # 1. Which is which.
    words = identity.Vocabulary()
    functions = match_functions(
        identity.functions(before.image, words),
        identity.functions(after.image, words),
        (partial(code_numbers, before.image, old_side.traits), partial(code_numbers, after.image, new_side.traits)),
    )
    variables = match_variables(
        identity.variables(before.image, words), identity.variables(after.image, words), functions
    )
    # 2. How far all moved, and why.
    same = same_compiler(old, old_side.traits, new, new_side.traits)
    shifts = account_for(variables, section_shifts(before.image, after.image, words), same_compiler=same)
    # 3. Who meets, who parts: on a line, and on a pair of lines.
    size, wide = options.line_size, options.pair_size
    views = {of_new: view_of(variables, after if of_new else before, size, new_side=of_new) for of_new in (True, False)}
    met = _met_on_lines(variables, views)
    far = met if wide == size else {of_new: line_pairs(replace(one, line_size=wide)) for of_new, one in views.items()}
    builds = Builds(
        before,
        after,
        old_side.traits,
        new_side.traits,
        variables,
        functions,
        shifts,
        met[True],
        met[False],
        far[True],
        far[False],
        options.line_size,
        options.demangle,
    )
    return with_uses(without_libraries(builds), views[True])


def _met_on_lines(variables: Matching, views: dict[bool, BuildView]) -> dict[bool, LinePairs]:
    """What meets on a line of the new build (True) and of the old one: moved, of one array, and newly reported."""
    met = {of_new: line_pairs(one) for of_new, one in views.items()}
    for of_new, one in views.items():
        other = views[not of_new].activity
        found = element_pairs(variables, one.activity, other, one.line_size, new_side=of_new)
        met[of_new] = with_more(met[of_new], found)
    if all(one.activity.context is not None and one.activity.threaded for one in views.values()):
        told = {of_new: reports(one.activity) for of_new, one in views.items()}
        for of_new, one in views.items():
            others = says(views[not of_new].activity, told[not of_new])
            more = newly_reported(one, told[of_new], others, met[of_new].pairs)
            met[of_new] = with_more(met[of_new], more)
    return met


def _machine(image: Image) -> tuple[str, int, str]:
    return image.arch.name, image.arch.bits, image.arch.byteorder


def document(builds: Builds, macro: str = "", read_behind: Callable[[Builds], Behind] = nothing_behind) -> Comparison:
    """The comparison for a report: causes best first, then changes, runs and straddles.

    ``macro`` is the project's alignment macro, for the edits of findings; ``read_behind`` compares what is behind
    pointers.
    """
    same = same_build(builds.old.image, builds.old_traits, builds.new.image, builds.new_traits)
    others = "" if same else unrelated(builds)
    verdicts = [] if same or others else [suspect.ask(builds) for suspect in SUSPECTS]
    if verdicts:
        verdicts = with_behind(verdicts, read_behind(builds))
    reach = frozenset(kind for v in verdicts for kind in v.reach)
    causes = ranked(_with_root(c, reach) for v in verdicts for c in v.causes)
    ruled_out = tuple(r for v in verdicts for r in v.ruled_out)
    not_ruled_out = tuple(r for v in verdicts for r in v.not_ruled_out)
    if same:
        causes = (_one_build(builds),)
        why = what_differs(builds.old.image, builds.new.image)
        ruled_out = tuple(
            RuledOut(kind, why) for kind in CauseKind if kind not in (CauseKind.NONE, CauseKind.CONTENTION)
        )
    elif others:
        causes = (two_programs(builds, others),)
    elif not causes:
        causes = (_nothing(builds, ruled_out, not_ruled_out),)
    found = Changes()
    if not same and not others:
        found = changes(builds.variables, builds.shifts, builds.new, MAX_CHANGES)
    return Comparison(
        schema=EXPLAIN_SCHEMA,
        command="explain",
        targets=(target_of(builds.old.image, builds.line_size), target_of(builds.new.image, builds.line_size)),
        coverage=Coverage(
            {} if others else _counts(builds, found),
            (
                *_notes(builds, two=bool(others)),
                *(n for v in verdicts for n in v.notes),
                *(() if same or others or causes[0].kind is CauseKind.NONE else said_of_servers(builds.runs)),
            ),
        ),
        findings=() if same or others else new_findings(builds, macro),
        variables=_summary(builds.variables),
        functions=_summary(builds.functions),
        causes=causes,
        ruled_out=ruled_out,
        changes=found.shown,
        runs=() if others else _runs(builds),
        straddles=() if others else (*builds.gained.straddles, *builds.lost.straddles),
        incomplete=builds.old.image.incomplete or builds.new.image.incomplete,
        not_ruled_out=not_ruled_out,
        processes=processes(builds.runs),
        section_moves=found.between,
    )


def _with_root(cause: Cause, reach: frozenset[CauseKind]) -> Cause:
    """The cause; a root of its own, unless it is of a kind that the toolchain's changes reach.

    What is known of code by its place alone is reached by what moves things.
    """
    kind = CauseKind.LAYOUT if cause.confidence is Confidence.LAYOUT else cause.kind
    if cause.follows is None or kind in reach:
        return cause
    return msgspec.structs.replace(cause, follows=None)


def _counts(builds: Builds, found: Changes) -> dict[str, int]:
    """What the lists of the document were cut from."""
    return {
        "changes": found.total,
        "changes_of_class_tables": found.tables,
        "runs": len(builds.shifts.runs),
        "runs_moved": int((builds.shifts.runs["shift"] != 0).sum()),
        "variables_moved": int((builds.shifts.shift != 0).sum()),
        "line_mates_gained": builds.gained.total,
        "line_mates_lost": builds.lost.total,
    }


def _one_build(builds: Builds) -> Cause:
    """No cause: the two files run the same instructions on the same layout."""
    old, new = builds.old.image, builds.new.image
    number = f", build-id {new.build_id}" if new.build_id and old.build_id == new.build_id else ""
    return Cause(
        kind=CauseKind.NONE,
        confidence=Confidence.STATIC,
        strength=0.0,
        summary=f"{what_differs(old, new)}: all that runs is the same, byte for byte{number}",
        confirm=alternated(*builds.runs),
        refute=("a difference that stays when the two files are run in alternation on one machine",),
    )


def _nothing(builds: Builds, ruled_out: tuple[RuledOut, ...], not_ruled_out: tuple[RuledOut, ...]) -> Cause:
    """No cause: what moved the variables all the same, so that nobody has to ask."""
    kinds = ", ".join(r.kind.value for r in ruled_out)
    out = f" (ruled out: {kinds})" if kinds else ""
    out += "".join(f"; not ruled out: {r.kind.value}, {r.why}" for r in not_ruled_out)
    listing = not (is_file(builds.old.image) and is_file(builds.new.image))
    if listing:
        out += "; a listing does not show instructions, the compiler or libraries: they were not compared"
    moved = moved_harmlessly(builds) if any(r.kind is CauseKind.LAYOUT for r in ruled_out) else ""
    return Cause(
        kind=CauseKind.NONE,
        confidence=Confidence.STATIC if builds.old.known and builds.new.known else Confidence.LAYOUT,
        strength=0.0,
        summary=f"{moved}nothing that differs between the two files explains another speed{out}",
        confirm=("linemate explain on the files that the listings are of: compares what listings do not show",)
        if listing
        else alternated(*builds.runs),
        refute=("a difference that stays when the two files are run in alternation on one machine",),
    )


def _runs(builds: Builds) -> tuple[ShiftRun, ...]:
    """The runs that moved, in order; where there are too many, those with the most variables."""
    table = builds.shifts.runs
    rows = np.flatnonzero((table["shift"] != 0) | (table["jump"] != 0))
    if len(rows) > MAX_RUNS:
        rows = np.sort(rows[np.argsort(-table["count"][rows], kind="stable")[:MAX_RUNS]])
    return tuple(blame.describe_run(builds.shifts, int(row)) for row in rows)


def _summary(matching: Matching) -> MatchSummary:
    many = np.bincount(matching.pairs["how"], minlength=max(MatchBasis) + 1)
    how = {one.name.lower(): int(many[one]) for one in sorted(MatchBasis, key=lambda one: one.name) if many[one]}
    return MatchSummary(own(matching.old), own(matching.new), len(matching.pairs), how)


def _notes(builds: Builds, *, two: bool) -> list[str]:
    out: list[str] = []
    said: list[tuple[str, str]] = []
    for label, activity, objects in (
        ("old", builds.old, builds.variables.old),
        ("new", builds.new, builds.variables.new),
    ):
        said += [(label, note) for note in activity.image.notes]
        if activity.known and not objects.complete:
            said.append(
                (
                    label,
                    "stripped: variables without a name are known by the code that touches them alone, "
                    "and what came or went among them is not listed",
                )
            )
        if not activity.known:
            said.append((label, "accesses are not known; pairs are judged by their addresses alone"))
    for note in dict.fromkeys(note for _, note in said):
        labels = [label for label, other in said if other == note]
        out.append(f"{' and '.join(dict.fromkeys(labels))}: {note}")
    if not two and (doubted := doubt(builds)):
        return [doubted, *out]
    return out
