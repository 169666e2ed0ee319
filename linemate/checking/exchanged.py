"""Pairs in which one variable left its old neighbour and met another one: moved by the change, and not made.

Owns which finding of the base such a pair takes the place of, one for one, and the words for both.  What joins a line,
as something that the change adds, is ``newcomers``'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from linemate.checking.metbefore import thing
from linemate.checking.newcomers import declares, holds, is_of_line
from reports.fingerprint import PAIR, fingerprint
from sharing.basics.naming import as_declared
from sharing.model.finding import Finding, Participant, Report, Severity
from sharing.model.plural import count
from sharing.source.program import Program

MAX_NOTES = 3


class Exchange(msgspec.Struct, frozen=True):
    """``who`` met ``left`` before, as the finding ``was`` of the base says, and meets ``met`` now."""

    who: Participant
    left: Participant
    met: Participant
    was: Finding


def exchanges(
    report: Report, before: Report, old: Program, known: Mapping[str, Severity], busy: Collection[str]
) -> dict[str, Exchange]:
    """By fingerprint of what is not ``known``: the finding of the base whose place it took.

    Each of those counts once, for the worst that it is as bad as.  What the change declares is new wherever it lies, so
    is what it made busy: ``busy`` are the names of what was so before.
    """
    now = [one for one in report.findings if is_of_line(one)]
    fresh = [one for one in now if fingerprint(one) not in known and all(declares(old, who) for who in _pair(one))]
    fresh = [one for one in fresh if all(as_declared(who.full_name) in busy for who in _pair(one))]
    gone = [one for one in before.findings if is_of_line(one) and not _together(_pair(one), now)] if fresh else []
    found: dict[str, Exchange] = {}
    for raised in (False, True):
        for finding in sorted(fresh, key=lambda one: -one.severity.rank):
            if fingerprint(finding) in found:
                continue
            fits = [one for one in _of(finding, gone) if raised or one.was.severity.rank >= finding.severity.rank]
            if fits:
                best = min(fits, key=lambda one: (one.was.severity.rank, one.was.id))
                found[fingerprint(finding)] = best
                gone = [one for one in gone if one is not best.was]
    return found


def _of(finding: Finding, gone: Sequence[Finding]) -> Iterator[Exchange]:
    """What of the base it may take the place of: where one of its two did the same, in the role that it has."""
    for was in gone:
        if was.verdict is not finding.verdict or len(_pair(was)) < PAIR or len(_pair(finding)) < PAIR:
            continue
        for at, who in enumerate(_pair(finding)):
            met = _pair(finding)[1 - at]
            for place, one in enumerate(_pair(was)):
                # A neighbour that lay there all the time and became busy is news.
                if thing(one) == thing(who) and one.role == who.role and not holds(was, met):
                    yield Exchange(who, _pair(was)[1 - place], met, was)


def _together(pair: Sequence[Participant], findings: Sequence[Finding]) -> bool:
    return any(all(holds(one, who) for who in pair) for one in findings)


def _pair(finding: Finding) -> tuple[Participant, ...]:
    return finding.participants[:PAIR]


def told(findings: Sequence[Finding], found: Mapping[str, Exchange]) -> tuple[Finding, ...]:
    """The findings; of those that are worse than what they took the place of the message begins with it."""
    out = []
    for finding in findings:
        one = found.get(fingerprint(finding))
        if one is not None:
            text = f"{_words(one)} ({one.was.severity} before): {finding.message}"
            finding = msgspec.structs.replace(finding, message=text)
        out.append(finding)
    return tuple(out)


def notes(report: Report, found: Mapping[str, Exchange], least: Severity) -> tuple[str, ...]:
    """What moved and is no worse than before, so that it is not listed."""
    moved = [
        f"moved: {_words(one)} ({one.was.severity} before, {finding.severity} now): {finding.id} does not count as new"
        for finding in report.findings
        if (one := found.get(fingerprint(finding))) is not None
        and least.rank <= finding.severity.rank <= one.was.severity.rank
    ]
    more = (f"moved: {count(len(moved) - MAX_NOTES, 'pair')} more",) if len(moved) > MAX_NOTES else ()
    return (*moved[:MAX_NOTES], *more)


def _words(one: Exchange) -> str:
    return f"{one.who.full_name} shared a line with {one.left.full_name} and now does with {one.met.full_name}"
