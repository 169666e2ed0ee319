"""Several profiles of one binary as one: lines of its static storage joined by link-time address.

Owns the sums.  Threads of two runs are different threads, and what overlapped in time was found within each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharing.model.attribution import Basis
from sharing.sampled.lineuse.use import NEVER_TOGETHER, LineUse, Overlap, SampledRun, Totals


def merged(runs: Sequence[SampledRun]) -> SampledRun:
    """One run; lines that are no static storage stay apart."""
    if len(runs) == 1:
        return runs[0]
    joined: dict[tuple[str, int], LineUse] = {}
    rest: list[LineUse] = []
    for run in runs:
        for line in run.lines:
            key = (line.module, line.link)
            if line.link < 0:
                rest.append(line)
            elif key in joined:
                joined[key] = _both(joined[key], line)
            else:
                joined[key] = line
    lines = sorted([*joined.values(), *rest], key=lambda line: (-line.cost, -line.samples, line.link, line.address))
    return SampledRun(tuple(lines), _sum([run.totals for run in runs]))


def _sum(totals: Sequence[Totals]) -> Totals:
    measures = list(dict.fromkeys(t.measure for t in totals if t.timed))
    return Totals(
        samples=sum(t.samples for t in totals),
        attributed=sum(t.attributed for t in totals),
        timed=sum(t.timed for t in totals),
        timed_unplaced=sum(t.timed_unplaced for t in totals),
        measure=" and ".join(measures) or totals[0].measure,
        profiles=sum(t.profiles for t in totals),
    )


def _both(a: LineUse, b: LineUse) -> LineUse:
    """The second one's threads come behind the first one's."""
    shift = len(a.threads)
    bases: dict[Basis, int] = dict(a.bases)
    for basis, count in b.bases.items():
        bases[basis] = bases.get(basis, 0) + count
    overlaps: dict[tuple[int, int], Overlap] = dict(a.overlaps)
    overlaps |= {(i + shift, j + shift): o for (i, j), o in b.overlaps.items()}
    # Threads of two runs never meet.
    for i in range(shift):
        for j in range(len(b.threads)):
            overlaps[(i, j + shift)] = NEVER_TOGETHER
    moved = tuple(replace(s, threads=tuple(t + shift for t in s.threads)) for s in b.splits)
    return replace(
        a,
        touches=(*a.touches, *(replace(t, thread=t.thread + shift) for t in b.touches)),
        threads=(*a.threads, *b.threads),
        samples=a.samples + b.samples,
        cost=a.cost + b.cost,
        hitm=a.hitm + b.hitm,
        remote=a.remote + b.remote,
        cpus=max(a.cpus, b.cpus),
        bases=bases,
        overlaps=overlaps,
        splits=(*a.splits, *moved),
        moments=(*a.moments, *((thread + shift, time, cpu) for thread, time, cpu in b.moments)),
        sites=tuple(sorted((*a.sites, *b.sites), key=lambda site: -site.samples)),
        footprint=max(a.footprint, b.footprint),
        late={**a.late, **{(t + shift, function): cost for (t, function), cost in b.late.items()}},
        in_turn=a.in_turn | {thread + shift for thread in b.in_turn},
    )
