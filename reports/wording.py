"""What every format says in the same words: targets, counts, accesses, terms of a fix.

Owns phrases, not markup: names in them are as they were read, and each emitter makes them safe in its own way.
"""

from __future__ import annotations

from reports.order import by_severity
from sharing.model import Participant, Remedy, Report, Target
from sharing.model.finding import GUARDED, IN_A_HEADER, OR_A_MEMBER
from sharing.model.plural import count, percent

GUARDS_SHOWN = 3  # by name in one sentence
FROM_SOURCE = "the source"  # Target.debug where types come from there


def target_name(target: Target) -> str:
    """The path, and in parentheses the member of an archive, as ``ar`` and linkers write it."""
    return f"{target.path}({target.member})" if target.member else target.path


def target_title(target: Target) -> str:
    """The name, and how many sources it stands for besides itself: ``main.c and 2 more sources``."""
    more = f" and {count(target.others, 'more source')}" if target.others else ""
    return f"{target_name(target)}{more}"


def target_text(target: Target) -> str:
    """Architecture, kind, line size and debug information in one line."""
    parts = [f"{target.arch} {target.kind}".strip(), f"{target.line_size}-byte lines"]
    if target.debug == FROM_SOURCE:
        parts.append("read from source")
    else:
        parts.append(f"debug information: {target.debug}" if target.debug else "no debug information")
    if target.build_id:
        parts.append(f"build-id {target.build_id}")
    return ", ".join(parts)


def accesses(participant: Participant) -> list[tuple[str, tuple[str, ...]]]:
    """(``locked by``, functions) and so on, only where there are functions."""
    verbs = (
        ("locked by", participant.lockers),
        ("written by", participant.writers),
        ("read by", participant.readers),
    )
    return [(verb, functions) for verb, functions in verbs if functions]


def terms(remedy: Remedy) -> str:
    """What an edit costs and keeps: ``+64 bytes, ABI unchanged, protects the tail``."""
    cost = f"{remedy.cost_bytes:+,} bytes" if remedy.cost_bytes else "no added bytes"
    if remedy.each_bytes and remedy.objects:
        start = remedy.cost_bytes - remedy.each_bytes * remedy.objects
        more = f", up to {start:,} before the first" if start > 0 else ""
        cost += f" ({remedy.each_bytes:,} × {remedy.objects:,} objects{more})"
    elif remedy.each_bytes:
        cost += " in each element" if remedy.kind == "pad-element" else " in each object that is allocated"
    abi = "changes the ABI" if remedy.breaks_abi else "ABI unchanged"
    if not remedy.breaks_abi and IN_A_HEADER in remedy.text:
        abi = f"{abi} unless a header declares it"
    elif not remedy.breaks_abi and OR_A_MEMBER in remedy.text:
        abi = f"{abi} if it is a variable"
    tail = "protects the tail" if remedy.protects_tail else "leaves the tail open"
    return f"{cost}, {abi}, {tail}"


def tally(report: Report, lines: int = 0) -> str:
    """``4 findings: 1 critical, 3 high; 12 more below --min-severity, 1 below --min-confidence; 2 suppressed``.

    Guards that are broken come first, by the names of their pairs.  ``lines`` is how many lines of memory they are told
    by, 0 where each is told.
    """
    noun = "new finding" if report.baseline else "finding"
    parts = [count(len(report.findings), noun) if report.findings else f"no {noun}s"]
    if report.findings:
        if 0 < lines < len(report.findings):
            parts[0] += f" on {count(lines, 'line')}"
        parts[0] += ": " + ", ".join(f"{number:,} {severity}" for severity, number in by_severity(report.findings))
    if broken := _broken_guards(report):
        parts.insert(0, broken)
    if report.baseline:
        # Milder ones are not counted: that there was nothing would be wrong.
        if report.known:
            were = "were" if report.known > 1 else "was"
            parts.append(f"{count(report.known, 'finding')} {were} there before ({report.baseline})")
        else:
            parts.append(f"none that was there before ({report.baseline}), not counting any below --min-severity")
    if report.hidden:
        limits = (("--min-severity", report.hidden - report.unsure), ("--min-confidence", report.unsure))
        below = [f"{number:,} below {limit}" for limit, number in limits if number > 0]
        parts.append(", ".join(below).replace(" below", " more below", 1))
    if report.suppressed:
        parts.append(f"{report.suppressed:,} suppressed by the project")
    return "; ".join(parts)


def _broken_guards(report: Report) -> str:
    """``1 guard is broken: stopping / jobs``, "" where none is."""
    broken = [finding for finding in report.findings if finding.rule == GUARDED]
    if not broken:
        return ""
    pairs = [" / ".join(who.full_name for who in finding.participants) for finding in broken[:GUARDS_SHOWN]]
    more = [f"{len(broken) - GUARDS_SHOWN:,} more"] * (len(broken) > GUARDS_SHOWN)
    return f"{count(len(broken), 'guard')} {'is' if len(broken) == 1 else 'are'} broken: {', '.join((*pairs, *more))}"


# What a reader needs to know how far to trust the report; the JSON document has every count.
_FACTS = {
    "files": ("file", "files"),
    "units": ("unit", "units"),
    "lines_profiled": ("busy line", "busy lines"),
    "variables": ("variable", "variables"),
    "variables_typed": ("with a type", "with a type"),
    "objects_recovered": ("object recovered", "objects recovered"),
    "access_sites": ("access site", "access sites"),
    "lock_calls": ("lock call", "lock calls"),
    "functions": ("function", "functions"),
    "thread_entries": ("thread entry", "thread entries"),
}


def facts(report: Report) -> str:
    """The coverage counts in one sentence: ``18,311 variables, 231,112 access sites``; without the ones that are 0."""
    counts = report.coverage.counts
    parts = [count(counts[name], *words) for name, words in _FACTS.items() if counts.get(name)]
    if whole := counts.get("executable_bytes", 0):
        share = percent(counts.get("decoded_bytes", 0), whole)
        parts.append(f"{share} of {count(whole, 'byte')} of code decoded")
    return ", ".join(parts)
