"""Which findings are about a pair that met before, though another of its members was named.

Owns what counts as the same pair in two layouts: an edit elsewhere slides a record over the lines, and with it goes
which of its members a finding names, while the same two still meet.
"""

from __future__ import annotations

from reports.fingerprint import PAIR, fingerprint
from sharing.basics.naming import as_declared
from sharing.model.finding import Finding, Participant, Report, Severity, Verdict
from sharing.rules import LINE_RULES

ON_LINE_RULES = frozenset(rule.id for rule in LINE_RULES)
_APART = frozenset({Verdict.FRAGILE, Verdict.ADJACENT_PAIR, Verdict.LOST_COLOCATION})  # the pair is on no common line


def met_before(report: Report, before: Report) -> dict[str, Severity]:
    """Fingerprints of findings that ``before`` does not have, but others of the same pair on a common line, each with
    the worst severity of those.

    Both sides are said there, or one is and the other lay beside it as busy as now: that an edit made a neighbour busy
    is news.
    """
    old = [one for one in before.findings if one.rule in ON_LINE_RULES]
    said = {fingerprint(one) for one in old}
    known: dict[str, Severity] = {}
    for finding in report.findings:
        key = fingerprint(finding)
        if key in said or finding.rule not in ON_LINE_RULES or len(finding.participants) < PAIR:
            continue
        was = [one.severity for one in old if _alike(one, finding) and _has_pair_of(finding, one)]
        if was:
            known[key] = max(was, key=lambda severity: severity.rank)
    return known


def _alike(was: Finding, now: Finding) -> bool:
    """Whether both say that a pair meets, or the same of one that does not."""
    return was.verdict is now.verdict or _APART.isdisjoint((was.verdict, now.verdict))


def _has_pair_of(now: Finding, was: Finding) -> bool:
    pair = [thing(who) for who in now.participants[:PAIR]]
    if pair[0] == pair[1]:  # within one thing: that it meets another is another matter
        return [thing(who) for who in was.participants[:PAIR]] == pair
    said = {thing(who) for who in was.participants}
    if said.issuperset(pair):
        return True
    return not said.isdisjoint(pair) and all(_lay_there(was, now, who) for who in now.participants[:PAIR])


def thing(who: Participant) -> tuple[str, str]:
    """What the program declares: the variable or its member, all elements of an array as one."""
    return who.identity, as_declared(who.full_name)


def _lay_there(was: Finding, now: Finding, who: Participant) -> bool:
    """Whether the line of ``was`` has bytes of the participant, and busy ones if it has such in ``now``."""
    old, new = _busy(was, who), _busy(now, who)
    return bool(old) and (any(old) or not any(new))


def _busy(finding: Finding, who: Participant) -> list[bool]:
    return [one.hot for picture in finding.picture for one in picture.slices if one.owner == who.full_name]
