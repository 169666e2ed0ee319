"""Findings that were shown before and that a check of the sources does not have by itself.

Owns where they are looked for, among the reports that were kept, and what to type where there is none: an audit of a
linked program finds more than its sources tell, a profile too, and a review moves what came by the change.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from linemate import lastreport
from linemate.byid import with_id
from linemate.commands import common
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Report

if TYPE_CHECKING:
    from linemate.options import CheckOptions
    from sharing.source.program import Program

_SAMPLED = "sampled-"  # how ids of findings begin that only a profile has
_AUDIT = "audit"
_SAME_SHOWN = 3


def reviewed(ids: Sequence[str]) -> frozenset[tuple[str, str]]:
    """What the last review that has one of these moves first: its edit is what is asked for."""
    from sharing.basics.naming import as_declared  # with numpy, which answers to small questions do without

    found: set[tuple[str, str]] = set()
    for wanted in ids:
        with contextlib.suppress(LinemateError):
            reports = (report for report, _ in lastreport.last_reports((wanted,)))
            last = next((with_id(report.findings, wanted) for report in reports if report.baseline), [])
            found |= {(one.identity, as_declared(one.moves)) for each in last[:1] for one in each.remedies[:1]}
    return frozenset(found)


def of_earlier(wanted: str, program: Program, findings: Sequence[Finding], options: CheckOptions) -> Finding:
    """A finding that a report of late has, on the source's own declarations.

    Raises LinemateError where none has it, or these sources do not declare what it is about: with what to type, or the
    findings of ``check`` that concern the same records or variables.
    """
    from sharing.fix.seen import in_source

    kept = _kept(wanted)
    if kept is None:
        raise LinemateError(_no_samples(wanted) if wanted.startswith(_SAMPLED) else _none_such(wanted, options))
    one, report = kept
    found = in_source(one, program)
    if found is not None:
        if report.command == _AUDIT and not one.id.startswith(_SAMPLED):
            common.say(f"{one.id}: as the last audit of {report.targets[0].path if report.targets else '?'} has it")
        return found
    names = {_owner(who.name) for who in one.participants}
    same = [other.id for other in findings if any(_owner(who.name) in names for who in other.participants)]
    of = "a finding of samples" if one.id.startswith(_SAMPLED) else "a finding"
    text = f"{wanted} is {of} on nothing that these sources declare: no edit is known for it"
    if same:
        text = f"{text}; on the same data `linemate check` has {', '.join(same[:_SAME_SHOWN])}: linemate fix {same[0]}"
    raise LinemateError(text)


def _kept(wanted: str) -> tuple[Finding, Report] | None:
    """The finding that is meant in the last report that has it, and that report; None where several are."""
    with contextlib.suppress(LinemateError):
        for report, _ in lastreport.last_reports((wanted,)):
            found = with_id(report.findings, wanted)
            if found:
                return (found[0], report) if len({one.id for one in found}) == 1 else None
    return None


def _none_such(wanted: str, options: CheckOptions) -> str:
    """Which commands have ids, and how each is handed to this one."""
    linked = "" if options.binary else f"; of what was audited: linemate fix {wanted} --binary FILE, the audited file"
    return (
        f"no finding {wanted}: `linemate check` lists those of source{linked}; one that audit alone has, as from "
        f"--counts, is in its report: audit with -o REPORT.json, then fix --in REPORT.json"
    )


def _no_samples(wanted: str) -> str:
    return (
        f"{wanted} is a finding of samples that no report of late has: audit again, or fix what `linemate check` finds"
    )


def _owner(name: str) -> str:
    """The record or variable of a participant: ``stats`` of ``stats[0].hits`` and of ``struct stats.hits``."""
    return re.split(r"[.\[+]", re.sub(r"^(struct|union|class) ", "", name), maxsplit=1)[0]
