"""``linemate explain`` as a table of contents: read both builds, compare, add what was sampled and measured.

Owns the joining of the stages and what is refused.  Comparing is ``sharing.explain``'s, reading each reader's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from elfscan.debug.demangle import demangle
from linemate.auditing.image import line_sizes
from linemate.explaining.behind import read_behind
from linemate.explaining.builds import BuildRequest, both
from linemate.explaining.inputs import measurements_of, profiles_of
from linemate.pipeline import vocabulary
from sharing.explain.behind import nothing_behind
from sharing.explain.causes.layout import severity_of
from sharing.explain.compare import ExplainOptions, document, joined
from sharing.explain.numbers import MATTERS
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity
from sharing.model.project import ProjectConfig

MAX_SENSITIVE = 20  # pairs


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What ``explain`` is asked.  Files are paths; ``samples`` and ``bench`` may end in ``#PART`` to choose a part.

    ``line_size`` is in bytes, None the architecture's.  ``matters`` is the loss that is worth a search: 0.03 is 3 %.
    """

    old: str
    new: str
    samples_old: tuple[str, ...] = ()
    samples_new: tuple[str, ...] = ()
    bench_old: tuple[str, ...] = ()
    bench_new: tuple[str, ...] = ()
    debug_old: str | None = None
    debug_new: str | None = None
    sensitivity: bool = False
    matters: float = MATTERS
    line_size: int | None = None
    project: ProjectConfig = field(default_factory=ProjectConfig)


def explain(request: ExplainRequest) -> Comparison:
    """Why NEW may run at another speed than OLD.

    1. both builds; 2. what differs and what it means; 3. profiles; 4. measurements; 5. what is next.
    Raises LinemateError for what cannot be read or compared, one line each.
    """
    if bool(request.samples_old) != bool(request.samples_new):
        raise LinemateError("--samples-old and --samples-new belong together: one profile of each build")
    if bool(request.bench_old) != bool(request.bench_new):
        raise LinemateError("--bench-old and --bench-new belong together: measurements of each build")
    # Profiles and tables first: they are small, and a typing error should not cost the reading of two servers.
    before, after, taken = measurements_of(request.bench_old, request.bench_new)
    old_side, new_side = both(
        BuildRequest.of(request.old, request.debug_old, request.line_size, request.project),
        BuildRequest.of(request.new, request.debug_new, request.line_size, request.project),
    )
    old, new = old_side.image, new_side.image
    profiles = profiles_of(request.samples_old, request.samples_new, old, new) if request.samples_old else None
    size, pair = line_sizes(request.line_size, old, new)
    options = ExplainOptions(size, pair, demangle)
    builds = joined(old_side, new_side, options)
    profiled = None
    notes: list[str] = []
    if profiles is not None:
        from linemate.explaining.samples import judged, sorted_out, with_samples

        profiled, notes = judged(builds, (old, new), profiles[:2], vocabulary(request.project))
        builds = sorted_out(builds, profiles, profiled)
    # What profiles see of memory behind pointers is better than what code says of it.
    found = document(builds, request.project.fix.align_macro or "", nothing_behind if profiled else read_behind)
    if profiles is not None:
        from sharing.explain.bench import pace_of

        pace = pace_of(before, after) if request.bench_old else None
        found = _noted(with_samples(found, builds, profiles, profiled, pace), tuple(notes))
    if request.bench_old:
        from sharing.explain.bench import with_measurements

        found = _noted(with_measurements(found, before, after, request.matters), taken)
    if request.sensitivity:
        from sharing.explain.sensitivity import sensitivities

        found = msgspec.structs.replace(found, sensitivity=sensitivities(builds.new, size, MAX_SENSITIVE))
    return _said(msgspec.structs.replace(found, given=_given(request)))


def of_pair_between(request: ExplainRequest, names: tuple[str, str], *, parted: bool) -> str:
    """Why these two variables came onto one line in NEW, or ``parted``; "" where nothing that is known says so."""
    from sharing.explain.causes.ofpair import of_pair

    sides = both(
        BuildRequest.of(request.old, None, request.line_size, request.project),
        BuildRequest.of(request.new, None, request.line_size, request.project),
    )
    size, pair = line_sizes(request.line_size, *(side.image for side in sides))
    return of_pair(joined(*sides, ExplainOptions(size, pair, demangle)), names, parted=parted)


def _given(request: ExplainRequest) -> tuple[str, ...]:
    """What else than files and profiles the comparison was made of, as options that a command to go on repeats."""
    sides = (("--bench-old", request.bench_old), ("--bench-new", request.bench_new))
    named = [word for option, files in sides for file in files for word in (option, file)]
    debug = (("--debug-old", request.debug_old), ("--debug-new", request.debug_new))
    return (*named, *(word for option, file in debug if file is not None for word in (option, file)))


def _said(comparison: Comparison) -> Comparison:
    """With what a person should check first: the order of the arguments."""
    first = comparison.causes[0]
    if first.kind is not CauseKind.LAYOUT or not first.improves:
        return comparison
    return _noted(
        comparison,
        ("the new build is the better laid out of the two; if it is the slower one, OLD and NEW may be swapped",),
    )


def _noted(comparison: Comparison, notes: tuple[str, ...]) -> Comparison:
    coverage = msgspec.structs.replace(comparison.coverage, notes=(*comparison.coverage.notes, *notes))
    return msgspec.structs.replace(comparison, coverage=coverage)


def failing(comparison: Comparison, limit: Severity | None) -> bool:
    """Whether the layout of NEW explains a slowdown at or above the limit."""
    return limit is not None and any(
        cause.kind is CauseKind.LAYOUT and not cause.improves and severity_of(cause.strength).rank >= limit.rank
        for cause in comparison.causes
    )
