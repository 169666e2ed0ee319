"""What declarations alone say: the rules on declarations over a program, as findings.

Owns running them and the wording of drafts as findings.  Patterns are in ``sharing.rules``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from sharing.basics.naming import by_any_compiler
from sharing.basics.sourcepath import shortened
from sharing.knowledge import Knowledge
from sharing.model.finding import Confidence, Evidence, Finding, LineRef, Participant, Severity
from sharing.model.standing import Standing
from sharing.rules import DECLARATION_RULES
from sharing.rules.declaration.base import SourceContext, SourceDraft, SourceParticipant
from sharing.source.program import Program
from sharing.source.threadnumbers import numbered_functions
from sharing.source.uses import Uses


def source_context(
    program: Program, knowledge: Knowledge, line_size: int, pair_size: int, macro: str = ""
) -> SourceContext:
    """A context without heat; ``dataclasses.replace`` adds what a judgement of accesses knows."""
    uses = Uses(program, numbered_functions(program, knowledge))
    return SourceContext(line_size, pair_size, knowledge, uses, macro=macro)


def run_source_rules(
    program: Program,
    context: SourceContext,
    *,
    rules: Sequence[str] = (),
    judged: Iterable[Finding] = (),
    min_severity: Severity = Severity.NOTE,
) -> list[Finding]:
    """Findings, worst first.  ``rules`` are ids, empty for all; ``judged`` are findings about lines of this program.

    What these say of a variable, or of an array of such elements, as severe, is not said again.
    """
    said: dict[tuple[str, str], int] = {}
    for f in judged:
        for p in f.participants[:1]:
            for what in (p.identity, _element_type(p.type)):
                if what:
                    said[f.rule, what] = max(f.severity.rank, said.get((f.rule, what), 0))
    found: list[tuple[int, SourceDraft]] = []
    for order, rule in enumerate(DECLARATION_RULES):
        if rules and rule.id not in rules:
            continue
        for draft in rule.check(program, context):
            first = draft.participants[0]
            known = any(
                said.get((other, what), -1) >= draft.severity.rank
                for other in rule.said_by
                for what in (first.identity, first.type)
            )
            if draft.severity.rank >= min_severity.rank and not known:
                found.append((order, draft))
    found.sort(key=lambda d: (-d[1].severity.rank, d[0], -d[1].score, d[1].participants[0].source))
    findings: dict[str, Finding] = {}
    folders = tuple(dict.fromkeys(unit.directory for unit in program.units))
    for _, draft in found:
        finding = _finding(draft, context, folders)
        findings.setdefault(finding.id, finding)
    return list(findings.values())


def said_once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those on lines of which a declaration's says the same, as severe or more, of one variable.

    The declaration's names the cause.  A milder one of it goes: ``run_source_rules`` leaves it out from the start.
    """
    said_by = {rule.id: rule.said_by for rule in DECLARATION_RULES if rule.said_by}
    causes = [f for f in findings if f.rule in said_by]

    def is_same(one: Finding, cause: Finding) -> bool:
        mine, whole = one.participants[0], cause.participants[0]
        return (
            one.rule in said_by[cause.rule]
            and one.verdict is cause.verdict
            and (mine.identity == whole.identity if mine.identity else mine.name == whole.name)
        )

    def is_said(one: Finding) -> bool:
        if one.rule in said_by:
            return any(is_same(f, one) and f.severity.rank > one.severity.rank for f in findings)
        return any(is_same(one, cause) and cause.severity.rank >= one.severity.rank for cause in causes)

    return [one for one in findings if not is_said(one)]


def _element_type(type_: str) -> str:
    """The type that an array is made of, as it is written; "" of what is no array."""
    inner, bracket, _ = type_.partition("[")
    return inner.strip().removeprefix("struct ").removeprefix("union ") if bracket else ""


def _finding(draft: SourceDraft, context: SourceContext, folders: tuple[str, ...]) -> Finding:
    first = draft.participants[0]
    # By name and file, as findings about lines: the rest of the file may move it.
    names = sorted(
        f"{by_any_compiler(p.name)}@{shortened(p.source.rsplit(':', 2)[0], folders)}" for p in draft.participants[:2]
    )
    digest = hashlib.sha256("|".join([draft.rule, *names]).encode()).hexdigest()[:10]
    return Finding(
        id=f"{draft.rule}-{digest}",
        rule=draft.rule,
        severity=draft.severity,
        confidence=Confidence.STATIC,
        verdict=draft.verdict,
        line=LineRef(f"{draft.line_at:#x}", context.line_size, _place(first)),
        participants=tuple(_participant(p, draft, context) for p in draft.participants),
        message=draft.message,
        evidence=tuple(Evidence(Confidence.LAYOUT, text) for text in draft.evidence),
        remedies=draft.remedies,
        score=Standing(0, 0, draft.score).score,  # who meets there is not asked
        related=draft.related,
    )


def _place(first: SourceParticipant) -> str:
    """No address is known: the line is the object's, by where it is declared."""
    file, _, at = first.source.rpartition("/")[2].partition(":")
    return f"{first.name}, {file}:{at.partition(':')[0]}" if file else first.name


def _participant(p: SourceParticipant, draft: SourceDraft, context: SourceContext) -> Participant:
    start = min(max(p.at - draft.line_at, 0), context.line_size)
    end = min(max(p.at + p.size - draft.line_at, start), context.line_size)
    return Participant(
        name=p.name,
        address=f"{p.at:#x}",
        size=p.size,
        bytes=((start, end),),
        role=p.role,
        source=p.source,
        type=p.type,
        readers=_functions(p, writes=False),
        writers=_functions(p, writes=True),
        lockers=tuple(dict.fromkeys(u.function for u in p.uses if u.locks)),
        identity=p.identity,
    )


def _functions(p: SourceParticipant, *, writes: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(u.function for u in p.uses if not u.locks and u.writes is writes))
