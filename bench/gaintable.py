"""The table of predicted and measured gains, and whether its limits are held.

Owns what a program's rounds come to.  Does not run anything: ``gain`` does.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.measure import Unavailable
from bench.report import limit

MEDIAN_LIMIT, WORST_LIMIT, INSIDE_LIMIT, RECALL_LIMIT = 0.10, 0.30, 0.85, 0.95
WORTH_FIXING = 1.02  # a finding whose interval ends below says that it is not
GAINS, GAINS_NOTHING = 1.15, 1.05  # from here on a finding of medium is asked for, below here there must be none
SEVERITIES = ("note", "low", "medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Throughput after over before.  ``proposed``: it is worth fixing; else nothing is, and 1.0 stands for that."""

    ratio: float = 1.0
    low: float = 1.0
    high: float = 1.0
    proposed: bool = False
    uncertain: bool = False  # it says so itself
    severity: str = "note"  # the worst of what samples show


@dataclass(frozen=True, slots=True)
class Round:
    """One round: wall seconds of both builds, and the prediction of the first one's profiles."""

    name: str
    before_s: tuple[float, ...]
    after_s: tuple[float, ...]
    estimate: Estimate | None  # none where nothing was recorded
    disturbed: bool
    changed: bool = False  # runs before and after the recording disagree
    profile: str = ""  # the recording's file, in the folder of the programs

    @property
    def gain(self) -> float:
        return statistics.median(self.before_s) / statistics.median(self.after_s)


@dataclass(frozen=True, slots=True)
class Row:
    """One program: medians over the rounds."""

    name: str
    rounds: tuple[Round, ...]

    @property
    def measured(self) -> float:
        """The gain of the usual round."""
        return statistics.median(r.gain for r in self.rounds)

    @property
    def proposing(self) -> list[tuple[Estimate, float]]:
        """What recordings predict that propose something, each with the gain of the runs around it."""
        return [(r.estimate, r.gain) for r in self.rounds if r.estimate is not None and r.estimate.proposed]

    @property
    def proposed(self) -> bool:
        return 2 * len(self.proposing) > len(self.rounds)

    @property
    def error(self) -> float:
        """Of the usual recording, against the runs around it."""
        return statistics.median(e.ratio / gain - 1 for e, gain in self.proposing)

    @property
    def single(self) -> float:
        """The same without its direction: errors of several recordings do not cancel."""
        return statistics.median(abs(e.ratio / gain - 1) for e, gain in self.proposing)

    @property
    def inside(self) -> int:
        """Recordings whose interval holds the gain.  It knows no loss: its 1.00 stands for "nothing, or less"."""
        return sum(e.low <= max(gain, 1.0) <= e.high for e, gain in self.proposing)

    @property
    def uncertain(self) -> bool:
        return 2 * sum(e.uncertain for e, _ in self.proposing) > len(self.proposing)

    def text(self, width: int) -> str:
        gains = [r.gain for r in self.rounds]
        measured = f"  {self.name:<{width}}  {self.measured:5.2f} ({min(gains):.2f}–{max(gains):.2f})"
        noisy, changed = (sum(getattr(r, what) for r in self.rounds) for what in ("disturbed", "changed"))
        note = f"{len(self.rounds)} rounds"
        note += (f", {noisy} disturbed" if noisy else "") + (
            f", {changed} on a machine that changed" if changed else ""
        )
        if not self.proposed:
            right = "right" if self.measured <= WORTH_FIXING else f"{self.measured - 1:.0%} missed"
            return f"{measured}  {right}  {note}"
        of = [e for e, _ in self.proposing]
        ratio, low, high = (statistics.median(getattr(e, what) for e in of) for what in ("ratio", "low", "high"))
        note += f", {self.inside} of {len(of)} inside" + (", said to be uncertain" if self.uncertain else "")
        return f"{measured}  {ratio:5.2f} ({low:.2f}–{high:.2f})  {self.error:+4.0%}  {self.single:3.0%}  {note}"


def rows_of(made: Sequence[Round]) -> list[Row]:
    """A row a program, of the rounds that others and the host left alone where there are any, else of all."""
    rows = []
    for name in dict.fromkeys(r.name for r in made):
        own = [r for r in made if r.name == name and r.estimate is not None]
        good = [r for r in own if not (r.disturbed or r.changed)]
        if own:
            rows.append(Row(name, tuple(good or own)))
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    """Programs for which something is proposed, which count for the limits, and those for which nothing is."""
    if not rows:
        raise Unavailable("there are no rounds")
    width = max(len(row.name) for row in rows)
    rows = sorted(rows, key=lambda row: -row.measured)
    proposed = [row for row in rows if row.proposed]
    rest = [row for row in rows if not row.proposed]
    out = []
    if proposed:
        errors = [abs(row.error) for row in proposed]
        unsaid = [abs(row.error) for row in proposed if not row.uncertain]
        inside, of = sum(row.inside for row in proposed), sum(len(row.proposing) for row in proposed)
        out += [
            f"  {'program':<{width}}  measured gain (rounds)  predicted (interval)  error, of one recording",
            *(row.text(width) for row in proposed),
            f"  {_share(inside, of, INSIDE_LIMIT, 'recordings whose interval holds the gain of the runs around them')}",
            limit(statistics.median(errors), MEDIAN_LIMIT, "median error"),
            limit(
                max(unsaid, default=0.0), WORST_LIMIT, "largest error of estimates that are not said to be uncertain"
            ),
            f"  largest error of all: {max(errors):.2f}",
        ]
    if rest:
        right = sum(row.measured <= WORTH_FIXING for row in rest)
        out += [
            f"  nothing is proposed, rightly where padding gives at most {WORTH_FIXING}: {right} of {len(rest)}",
            *(row.text(width) for row in rest),
        ]
    return out + _verdicts(rows)


def _verdicts(rows: Sequence[Row]) -> list[str]:
    """Of the recordings around which fixing gained something, or nothing, how many have a finding of medium."""
    of = [(row.name, r.gain, _is_medium(r)) for row in rows for r in row.rounds]
    gains, nothing = ([one for one in of if take(one[1])] for take in (GAINS.__le__, GAINS_NOTHING.__gt__))
    found = sum(medium for _, _, medium in gains)
    accused = sorted({name for name, _, medium in nothing if medium})
    missed = sorted({name for name, _, medium in gains if not medium})
    return [
        f"  {_share(found, len(gains), RECALL_LIMIT, f'recordings of gains of {GAINS} and more at medium or above')}"
        + (f" ({', '.join(missed)})" if missed else ""),
        f"  {sum(medium for _, _, medium in nothing)} of {len(nothing)} recordings of gains below {GAINS_NOTHING}"
        f" at medium or above: {'MISSED (' + ', '.join(accused) + ')' if accused else 'held'}",
    ]


def _is_medium(one: Round) -> bool:
    return one.estimate is not None and SEVERITIES.index(one.estimate.severity) >= SEVERITIES.index("medium")


def _share(part: int, of: int, least: float, what: str) -> str:
    return f"{part} of {of} {what}, at least {least:.0%}: {'held' if part >= least * of else 'MISSED'}"
