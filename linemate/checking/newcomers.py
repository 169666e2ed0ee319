"""What joined a line that was reported before.

Owns when a new finding is about a newcomer on such a line, and the words for it: whoever reviews a change has to see
that the line is known and what of it is not.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from linemate.checking.metbefore import ON_LINE_RULES, thing
from reports.fingerprint import PAIR
from sharing.model.finding import OF_MEETING, Finding, Participant, Report, Severity


def with_newcomers(findings: Sequence[Finding], before: Report, least: Severity) -> tuple[Finding, ...]:
    """The findings, the message of those with a newcomer beginning with it; ``least`` is what was reported at all."""
    old = [one for one in before.findings if one.rule in ON_LINE_RULES and one.verdict in OF_MEETING]
    old.sort(key=lambda one: -one.severity.rank)
    return tuple(_told(finding, old, least) for finding in findings)


def _told(finding: Finding, old: Sequence[Finding], least: Severity) -> Finding:
    pair = finding.participants[:PAIR]
    if finding.rule not in ON_LINE_RULES or finding.verdict not in OF_MEETING or len(pair) < PAIR:
        return finding
    first, second = pair
    around = [one for one in old if _names(one, first) or _names(one, second)]
    if any(_holds(one, first) and _holds(one, second) for one in around):
        return finding  # what they do there changed, not that they are
    for one in around:
        if one.severity.rank >= least.rank:
            newcomer = second if _names(one, first) else first
            line = " and ".join(who.full_name for who in one.participants[:PAIR])
            text = f"{newcomer.full_name} joins the line of {line}, which was reported before: {finding.message}"
            return msgspec.structs.replace(finding, message=text)
    return finding


def _names(finding: Finding, who: Participant) -> bool:
    return thing(who) in {thing(one) for one in finding.participants[:PAIR]}


def _holds(finding: Finding, who: Participant) -> bool:
    """Whether it is on the line, named or not."""
    if thing(who) in {thing(one) for one in finding.participants}:
        return True
    return any(part.owner == who.full_name for picture in finding.picture for part in picture.slices)
