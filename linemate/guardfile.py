"""Pairs of variables that must stay on different lines: the file that names them, and a binary held against it.

Padding is lost in later edits.  Owns the guard file (schema ``linemate-guards-1``), the pairs that findings make, the
findings for pairs that meet, and ``static_assert``s for members of one record.  Does not own how names are looked up
(``linemate.byname``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path

import msgspec

from linemate.byname import is_by_address, parts_of, spans_of
from linemate.pairguard import RULE, PairGuard
from linemate.tomlfile import MAX_BYTES, read_toml
from sharing.basics.geometry import lines_of
from sharing.model.errors import LinemateError, Malformed
from sharing.model.finding import (
    Confidence,
    Evidence,
    Finding,
    LineRef,
    Participant,
    Remedy,
    Report,
    Severity,
    Verdict,
)
from sharing.model.image import Image

SCHEMA = "linemate-guards-1"
MAX_PARTS = 32  # of a name: each beginning of it that ends at one is looked up
MAX_VARIABLES = 64  # statics of one name in several units
MAX_MEETINGS = 64  # of one pair, each of whose names several variables have
LINE_SIZES = (32, 64, 128, 256)

_IDENTIFIER = r"[A-Za-z_]\w*"
_VARIABLE = re.compile(rf"{_IDENTIFIER}(?:::{_IDENTIFIER})*")
_ID = re.compile(r"[\w.-]+")
_MEMBER = re.compile(rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    apart: tuple[PairGuard, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """One image held against guards: the pairs that meet, and which names it has."""

    findings: tuple[Finding, ...]
    names: frozenset[str]


def read_guards(path: str) -> tuple[PairGuard, ...]:
    """The pairs of a file.  Raises LinemateError where it cannot be read or is no such file."""
    try:
        found = msgspec.convert(read_toml(path, "a file of guards"), _File)
    except msgspec.ValidationError as error:
        raise Malformed(path, None, f"not a file of guards: {error}") from error
    if found.schema != SCHEMA:
        raise Malformed(path, None, f"schema {found.schema[:80]!r}, this version reads {SCHEMA!r}")
    pairs: dict[tuple[frozenset[str], int], PairGuard] = {}
    for number, pair in enumerate(found.apart):
        if pair.line_size not in LINE_SIZES:
            raise Malformed(path, None, f"apart[{number}].line_size: {pair.line_size} is not one of {LINE_SIZES}")
        if pair.names[0] == pair.names[1] or not all(pair.names):
            raise Malformed(path, None, f"apart[{number}].names: name two different variables")
        if any(parts_of(name) > MAX_PARTS for name in pair.names):
            raise Malformed(path, None, f"apart[{number}].names: a name of more than {MAX_PARTS} parts")
        pairs.setdefault((frozenset(pair.names), pair.line_size), pair)
    return tuple(pairs.values())


def pairs_of(findings: Iterable[Finding], line_size: int) -> tuple[list[PairGuard], list[str]]:
    """Guards for each finding about several things, and notes for those that cannot be guarded.

    The pair that the finding is about comes first; of the others each two that no function uses both of, since what is
    used together belongs on one line.
    """
    pairs: dict[frozenset[str], PairGuard] = {}
    notes: list[str] = []
    for finding in findings:
        if len({who.full_name for who in finding.participants}) < 2:
            notes.append(f"{finding.id}: is about one object, whose elements a guard cannot name")
        for names in _kept_apart(finding):
            if any(is_by_address(name) for name in names):
                notes.append(f"{finding.id}: {' / '.join(names)}: without symbols the next build has other names")
            elif any(parts_of(name) > MAX_PARTS for name in names):
                notes.append(f"{finding.id}: {' / '.join(names)}: a name of more than {MAX_PARTS} parts")
            else:
                pairs.setdefault(frozenset(names), PairGuard(names, line_size, finding.id))
    return list(pairs.values()), notes


def _kept_apart(finding: Finding) -> Iterator[tuple[str, str]]:
    """Names of the pair that the finding is about, then of each two of its others that no function uses both of."""
    people = {who.full_name: who for who in reversed(finding.participants)}
    people = {name: people[name] for name in reversed(people)}
    for number, (one, other) in enumerate(combinations(people.items(), 2)):
        if not number or not _used_by(one[1]) & _used_by(other[1]):
            yield one[0], other[0]


def _used_by(who: Participant) -> frozenset[str]:
    return frozenset((*who.readers, *who.writers, *who.lockers))


def guard_file(pairs: Sequence[PairGuard]) -> str:
    """The file's text; the same pairs give the same bytes.  Raises LinemateError for more than it can be read with."""
    rows = [
        "# Pairs of variables that must not share a cache line.  After each link:",
        "#   linemate audit BINARY --guards THIS_FILE",
        f"schema = {_toml(SCHEMA)}",
    ]
    for pair in sorted(pairs, key=lambda pair: pair.names):
        rows += ["", "[[apart]]", f"names = [{', '.join(map(_toml, pair.names))}]", f"line_size = {pair.line_size}"]
        rows += [f"why = {_toml(pair.why)}"] * bool(pair.why)
    text = "\n".join(rows) + "\n"
    if len(text.encode()) > MAX_BYTES:
        raise LinemateError(f"{len(pairs):,} pairs are more than a file of guards can have: choose fewer, see --above")
    return text


def _toml(text: str) -> str:
    """A basic string of TOML, whose escapes are those of JSON but for the one character that JSON leaves as it is."""
    return json.dumps(text.encode("utf-8", "backslashreplace").decode()).replace("\x7f", "\\u007f")


def asserts_of(findings: Iterable[Finding], line_size: int) -> tuple[str, list[str]]:
    """``static_assert``s for the pairs of findings that are two members of one variable, and notes for the others."""
    rows: dict[str, None] = {}
    notes: list[str] = []
    for finding in findings:
        pairs = [(_Member.of(one), _Member.of(other)) for one, other in _kept_apart(finding)]
        pairs = [(one, other) for one, other in pairs if one.variable == other.variable and one.path and other.path]
        if not pairs:
            notes.append(f"{finding.id}: is not about two members of one variable")
        for one, other in pairs:
            # The id is of a saved report, which anybody may have written.
            if one.can_be_written and other.can_be_written and _ID.fullmatch(finding.id):
                rows.update(dict.fromkeys([_assertion(one, other, line_size, finding.id)]))
            else:
                notes.append(f"{finding.id}: {one.name}: cannot be named in an assertion")
    head = (
        "/* Members that must not share a cache line.  Include this behind the declarations of the variables.\n"
        "   For C11 and C++11 of gcc and clang. */\n"
        "#include <stddef.h>\n#ifndef __cplusplus\n#include <assert.h>\n#endif\n"
    )
    return (head + "".join(f"\n{row}\n" for row in rows)) if rows else "", notes


@dataclass(frozen=True, slots=True)
class _Member:
    """A name of a report, ``server.in.b``, as the variable and the path in it; findings part them in several ways."""

    name: str
    variable: str
    path: str

    @classmethod
    def of(cls, name: str) -> _Member:
        variable, _, path = name.partition(".")
        return cls(name, variable, path)

    @property
    def can_be_written(self) -> bool:
        return bool(_VARIABLE.fullmatch(self.variable) and _MEMBER.fullmatch(self.path))


def _assertion(first: _Member, second: _Member, line_size: int, why: str) -> str:
    lines = [f"offsetof(__typeof__({first.variable}), {who.path}) / {line_size}" for who in (first, second)]
    return (
        f"static_assert(__alignof__({first.variable}) % {line_size} == 0 && {lines[0]}\n"
        f"                  != {lines[1]},\n"
        f'              "{first.name} and {second.name} must not share a cache line ({why})");'
    )


def hold(image: Image, guards: Sequence[PairGuard]) -> Held:
    """The guarded pairs that share a line in ``image``.  A name that several variables have means each of them."""
    wanted = dict.fromkeys(name for guard in guards for name in guard.names)
    spans = spans_of(image, wanted)
    findings: list[Finding] = []
    known: set[str] = set()
    for guard in guards:
        found = [spans[name][:MAX_VARIABLES] for name in guard.names]
        known.update(name for name, of in zip(guard.names, found, strict=True) if of)
        # Two members that are no more: both would be their record.
        if found[0] != found[1]:
            findings.extend(islice(_meetings(guard, *found), MAX_MEETINGS))
    return Held(tuple(findings), frozenset(known))


def _meetings(
    guard: PairGuard, first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]
) -> Iterator[Finding]:
    for one in first:
        for other in second:
            lines = [lines_of(address, size, guard.line_size) for address, size in (one, other)]
            line = max(own[0] for own in lines)
            if line <= min(own[-1] for own in lines):
                yield _finding(guard, one, other, line)


def _finding(guard: PairGuard, first: tuple[int, int], second: tuple[int, int], line: int) -> Finding:
    size = guard.line_size

    def participant(name: str, span: tuple[int, int]) -> Participant:
        start, end = max(span[0] - line, 0), min(span[0] + span[1] - line, size)
        return Participant(name, hex(span[0]), span[1], ((start, end),), "guarded", "")

    who = tuple(participant(name, span) for name, span in zip(guard.names, (first, second), strict=True))
    identity = hashlib.sha256("|".join(sorted(guard.names)).encode("utf-8", "surrogatepass")).hexdigest()[:10]
    because = f", which the guard file keeps apart ({guard.why})" if guard.why else ", which the guard file keeps apart"
    return Finding(
        id=f"{RULE.id}-{identity}",
        rule=RULE.id,
        severity=RULE.severity,
        confidence=Confidence.LAYOUT,
        verdict=Verdict.FALSE_SHARING,
        line=LineRef(hex(line), size),
        participants=who,
        message=f"{guard.names[0]} and {guard.names[1]}{because}, share line {line:#x}: "
        "restore what kept them apart, or take the pair out of the file",
        evidence=(Evidence(Confidence.LAYOUT, "; ".join(f"{p.name} at {p.address}, {p.size} bytes" for p in who)),),
        remedies=(),
    )


def with_guards(others: Sequence[Finding], held: Iterable[Finding]) -> list[Finding]:
    """The rules' findings and the guards': of a pair that both tell of on one line the guard's, with all that is known.

    A pair that was separated on purpose is one thing to mend, whatever else can be said of it.
    """
    # Of several rules' findings the first, which is the worst.
    known = {_place(one): one for one in reversed(others) if one.verdict is not Verdict.FRAGILE}
    told: list[Finding] = []
    out = []
    for finding in held:
        other = known.get(_place(finding))
        if other is not None:
            told.append(other)
            finding = _told(finding, other)
        out.append(finding)
    return [*(one for one in others if not any(one is each for each in told)), *out]


def _place(finding: Finding) -> tuple[str, frozenset[str]]:
    return finding.line.address, frozenset(who.full_name for who in finding.participants[:2])


def _told(guarded: Finding, other: Finding) -> Finding:
    """The guard's finding with what a rule says of its pair, by whose id ``fix`` knows the edit of source."""
    return msgspec.structs.replace(
        other,
        id=guarded.id,
        rule=guarded.rule,
        severity=max(guarded.severity, other.severity, key=lambda severity: severity.rank),
        message=guarded.message,
        evidence=(Evidence(other.confidence, f"{other.id}: {other.message}"), *other.evidence, *guarded.evidence),
        remedies=_borrowed(other),
    )


def _borrowed(other: Finding) -> tuple[Remedy, ...]:
    return tuple(
        msgspec.structs.replace(one, edits=(), text=f"{one.text} (linemate fix {other.id} shows it as a diff)")
        if one.edits
        else one
        for one in other.remedies
    )


def missing(guards: Sequence[PairGuard], names: Iterable[str]) -> list[str]:
    """Names that no image has: a pair that cannot be checked is not known to be apart."""
    known = set(names)
    return [name for name in dict.fromkeys(n for guard in guards for n in guard.names) if name not in known]


def chosen(report: Report, ids: Sequence[str], above: Severity, path: str) -> list[Finding]:
    """The findings of these ids, else all of ``above`` and worse.  Raises LinemateError for an id that it lacks."""
    if not ids:
        return [finding for finding in report.findings if finding.severity.rank >= above.rank]
    from linemate.saved import named

    return [finding for wanted in ids for finding in named(report, wanted, path)]


def check_target(path: str | None) -> None:
    """Raise LinemateError where a header is to be written to something that is not one."""
    if path is not None and Path(path).suffix not in (".h", ".hh", ".hpp", ".hxx", ".inc"):
        raise LinemateError(f"{path}: --asserts writes a header: name it .h or .hpp")
