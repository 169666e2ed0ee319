"""Where the estimates of one program are wrong, with what they were made of.

Owns the listing for whoever works on the judgement: the busiest variables that are not called hot, those called hot
that nobody used, wrong findings, shared lines without a finding; for each the functions and the chain of estimated
frequencies that led there, beside what was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bench.truth.score import Checked, Score, Used, places
from bench.truth.subject import Judged
from bench.truth.truth import Truth
from sharing.basics.costs import PER_MILLION, busy_rate
from sharing.counted.shareduse import SharedUse
from sharing.model.finding import OF_SHARING, Severity
from sharing.model.profile import Actor, Heat
from sharing.static.callees import function_name

LISTED = 15  # of each kind
FUNCTIONS = 3  # that use a variable
CHAIN = 5  # callers up


def misses(one: Judged, truth: Truth, scored: Score) -> Iterator[str]:
    """The listing, line by line."""
    told = _Told(one, truth)
    limits = one.passes.profiled().limits
    yield f"# {one.passes.image.path}: {one.variant}"
    yield f"hot from: log10(1 + weight) + 0.5 log2(1 + functions) >= {limits.write:.2f} written, {limits.read:.2f} read"
    used = [u for u in scored.used if u.rate][:30]
    missed = [u for u in used if u.actor.told_heat is not Heat.HOT]
    yield from _part("used by several threads, not hot", missed, told.used)
    idle = [u for u in scored.used if u.actor.told_heat is Heat.HOT and not u.uses]
    idle.sort(key=lambda u: -u.actor.weight)
    yield from _part("hot, and used by nobody", idle, told.used)
    alone = [u for u in scored.used if u.actor.told_heat is Heat.HOT and u.uses and not u.rate]
    yield from _part("hot, and used by one thread alone or too seldom", alone, told.used)
    wrong = [c for c in scored.checked if c.decided and not c.true and c.finding.severity is not Severity.NOTE]
    yield from _part("wrong findings", wrong, told.finding)
    lost = sorted(scored.lines.keys() - scored.found, key=lambda line: -scored.lines[line].share)
    yield from _part("shared lines without a true finding", lost, lambda line: told.line(line, scored))


def _part(title: str, things: Sequence[object], tell: object) -> Iterator[str]:
    assert callable(tell)
    yield f"\n## {title}: {len(things)}"
    for thing in things[:LISTED]:
        yield from tell(thing)
    if len(things) > LISTED:
        yield f"… and {len(things) - LISTED} more"


class _Told:
    """Wording; holds what is looked up again and again."""

    def __init__(self, one: Judged, truth: Truth) -> None:
        self.one, self.truth = one, truth
        image = one.passes.image
        self.row_of: dict[str, int] = {}
        shown = one.passes.demangle([function_name(image, at) for at in range(len(image.functions))])
        for at, name in enumerate(shown):
            self.row_of.setdefault(name, at)
        self.names = shown
        self.runs = truth.counted.at(truth.image.functions["address"]).sum(axis=1)
        self.counted_row = {function_name(truth.image, at): at for at in range(len(truth.image.functions))}

    def used(self, used: Used) -> Iterator[str]:
        actor, met = used.actor, used.met
        by = ""
        if met is not None:
            writer, user = self.labels(met)
            by = f", {writer} writes {met.write_rate:,.1f}, {user} uses {met.use_rate:,.1f}"
        yield (
            f"- {actor.name} ({actor.role.value}, {actor.heat.name}; weight {actor.weight:,.1f}, written "
            f"{actor.write_weight:,.1f}): used {used.uses:,.0f} times{by}"
        )
        yield from self.functions(actor)

    def functions(self, actor: Actor) -> Iterator[str]:
        for access in actor.accesses[:FUNCTIONS]:
            what = "locks" if access.locks else "writes" if access.writes else "reads"
            threads = "/".join(self.one.passes.calls.root_names(access.mask)) or "no thread"
            cold = ", cold" if access.cold else ""
            yield (
                f"    {access.weight:10,.1f} {what} in {self.chain(access.function)}"
                f" [loops {access.loop_depth}, {access.sites} sites{cold}; {threads[:90]}]"
            )

    def chain(self, name: str) -> str:
        """A function with its estimate and its counted runs, and the heaviest caller of each above it."""
        calls, row = self.one.passes.calls, self.row_of.get(name, -1)
        out: list[str] = []
        seen: set[int] = set()
        while row >= 0 and row not in seen and len(out) < CHAIN:
            seen.add(row)
            entered = " entered" if calls.entered[row] else ""
            out.append(f"{self.names[row][:50]} ({calls.frequency[row]:.3g}, ran {self.run(row)}{entered})")
            callers = calls.callers(row)
            row = max(callers, key=lambda c: float(calls.frequency[c])) if callers else -1
        return " < ".join(out) or name

    def run(self, row: int) -> str:
        at = row if self.one.own else self.counted_row.get(function_name(self.one.passes.image, row), -1)
        return f"{self.runs[at]:,.0f}" if at >= 0 else "inlined"

    def finding(self, checked: Checked) -> Iterator[str]:
        finding, met = checked.finding, checked.met
        yield f"- {finding.severity.value} {finding.rule} at {finding.line.address}: {_why(checked)}"
        rates = PER_MILLION / np.maximum(self.truth.counted.instructions, 1.0)
        for participant, place in zip(finding.participants, places(finding), strict=True):
            wrote, used = (uses * rates for uses in self.truth.uses(place.span))
            busiest = sorted(range(len(used)), key=lambda t: -used[t])[:3]
            threads = ", ".join(
                f"{self.truth.counted.threads[t].label} {wrote[t]:,.1f} written {used[t]:,.1f} used"
                for t in busiest
                if used[t]
            )
            yield f"    {place.name} ({participant.role}): {threads or 'not used'}"
            actor = next((a for a in self.one.actors if a.span[0] < place.span[1] and place.span[0] < a.span[1]), None)
            if actor is not None:
                yield from (f"    {text}" for text in self.functions(actor))
        if met is not None:
            yield f"    at most {100 * met.share:.2g} % of the run"

    def line(self, line: int, scored: Score) -> Iterator[str]:
        met = scored.lines[line]
        writer, user = self.labels(met)
        yield (
            f"- line {line:#x}: {writer} writes {self.named(met.written.span[0])} {met.write_rate:,.0f}, "
            f"{user} uses {self.named(met.used.span[0])} {met.use_rate:,.0f} per million; "
            f"at most {100 * met.share:.2g} % of the run"
        )
        size = self.one.line_size
        for actor in self.one.actors:
            if actor.touched_on(line, line + size):
                yield f"    {actor.name}: {actor.role.value}, {actor.heat.name}"
                yield from (f"    {text}" for text in self.functions(actor))
        for c in scored.checked:
            if int(c.finding.line.address, 16) == line and c.finding.verdict in OF_SHARING:
                what = "true" if c.true else _why(c) if c.decided else "of one thing, not decided"
                yield f"    has: {c.finding.severity.value} {c.finding.rule}, {what}"

    def labels(self, met: SharedUse) -> tuple[str, str]:
        threads = self.truth.counted.threads
        return threads[met.writer].label, threads[met.user].label

    def named(self, address: int) -> str:
        for actor in self.one.actors:
            if actor.span[0] <= address < actor.span[1]:
                return actor.name
        return f"{address:#x}"


def _why(checked: Checked) -> str:
    met = checked.met
    if met is None:
        return "no two threads met"
    if met.rate < busy_rate():
        return f"too seldom, {met.rate:,.2f} per million"
    return f"costs too little, {met.transfers:,.0f} transfers"
