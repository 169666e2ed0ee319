"""What the rules say of new line mates, as findings of the new build.

Owns the choice: only pairs that met, each finding once.  Making a finding is the judge's.
"""

from __future__ import annotations

from sharing.explain.causes.base import Builds
from sharing.explain.linepairs import LinePair
from sharing.judge.findings import finding_of
from sharing.judge.remedy import Style
from sharing.model.finding import Finding, Severity
from sharing.rules.line.base import Draft

MAX_FINDINGS = 20


def new_findings(builds: Builds, macro: str = "") -> tuple[Finding, ...]:
    """The findings of pairs that are on one line in the new build only, worst first; notes are left out."""
    activity = builds.new
    if activity.profiler is None or activity.context is None:
        return ()
    style = Style(builds.line_size, activity.image.kind, macro)
    found: dict[str, Finding] = {}
    for pair in builds.gained.pairs:
        if pair.severity is None or pair.severity is Severity.NOTE:
            continue
        names = {pair.mates.first, pair.mates.second}
        drafts = activity.drafts(int(pair.mates.line, 16))
        draft = next((d for d in drafts if d.rule == pair.mates.finding and names <= {a.name for a in d.actors}), None)
        draft = draft or _of_elements(builds, pair)
        if draft is not None:
            made = finding_of(draft, activity.profiler, activity.context, style, activity.image)
            found.setdefault(made.id, made)
        if len(found) == MAX_FINDINGS:
            break
    return tuple(sorted(found.values(), key=lambda f: (-f.severity.rank, -f.score, f.line.address, f.rule)))


def _of_elements(builds: Builds, pair: LinePair) -> Draft | None:
    """What a rule says of the elements of an array, at the line that it begins on."""
    activity = builds.new
    if pair.rows[0] != pair.rows[1]:
        return None
    start = int(activity.image.variables["address"][pair.rows[0]])
    drafts = activity.drafts(start - start % builds.line_size)
    return next((d for d in drafts if d.rule == pair.mates.finding and len(d.actors) == 1), None)
