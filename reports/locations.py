"""Where something is, as emitters say it: source positions, lines by address or by a model's place, chosen accesses.

Owns reading ``file:line:column`` and the choice of the few accesses that are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from reports.escape import name_list, shorten, visible
from sharing.model import Finding, LinePicture, LineRef, Related, Report
from sharing.model.plural import count

_SOURCE = re.compile(r"(.+?):(\d{1,9})(?::(\d{1,9}))?", re.DOTALL)
LOCKS_SHOWN = 2
_PER_SUBJECT = 2  # accesses of one kind to one variable: the next ones say nothing new


class Position(msgspec.Struct, frozen=True):
    """``line`` and ``column`` count from 1; ``column`` 0 is unknown."""

    path: str
    line: int
    column: int = 0


def position(source: str) -> Position | None:
    """``file:line`` or ``file:line:column`` in parts, None for anything else."""
    found = _SOURCE.fullmatch(source)
    if not found or int(found[2]) == 0:
        return None
    return Position(found[1], int(found[2]), int(found[3] or 0))


def relative(report: Report, root: str) -> Report:
    """The report with targets, source positions and paths in sentences below ``root`` relative to it, for people."""
    if not root:
        return report
    prefix = _prefix(root)
    targets = tuple(msgspec.structs.replace(target, path=target.path.removeprefix(prefix)) for target in report.targets)
    notes = tuple(_sentence(note, root) for note in report.coverage.notes)
    return msgspec.structs.replace(
        report,
        targets=targets,
        coverage=msgspec.structs.replace(report.coverage, notes=notes),
        findings=tuple(relative_finding(finding, root) for finding in report.findings),
    )


def relative_finding(finding: Finding, root: str) -> Finding:
    """The same of one finding."""
    if not root:
        return finding
    prefix = _prefix(root)
    return msgspec.structs.replace(
        finding,
        target=finding.target.removeprefix(prefix),
        message=_sentence(finding.message, root),
        evidence=tuple(msgspec.structs.replace(each, text=_sentence(each.text, root)) for each in finding.evidence),
        remedies=tuple(msgspec.structs.replace(each, text=_sentence(each.text, root)) for each in finding.remedies),
        participants=tuple(
            msgspec.structs.replace(who, source=who.source.removeprefix(prefix)) for who in finding.participants
        ),
        related=tuple(
            msgspec.structs.replace(access, source=access.source.removeprefix(prefix)) for access in finding.related
        ),
    )


def _prefix(root: str) -> str:
    return root.rstrip("/") + "/"


def _sentence(text: str, root: str) -> str:
    """A path within a longer one, or within a word, is another path."""
    prefix = _prefix(root)
    if prefix == "/" or prefix not in text:
        return text
    return re.sub(rf"(?<![\w./~+-]){re.escape(prefix)}(?=[\w.])", "", text)


def line_name(line: LineRef) -> str:
    """The place in words where the address is only a model's, else the address."""
    return line.place or line.address


def line_title(line: LineRef) -> str:
    """``line 0x4600``, or the place in words."""
    return line.place or f"line {line.address}"


def finding_title(finding: Finding) -> str:
    """The line, and the file where the report is of several."""
    return f"{line_title(finding.line)} of {finding.target}" if finding.target else line_title(finding.line)


def picture_title(finding: Finding, picture: LinePicture) -> str:
    """Names one of several pictures: by address, or by its distance from the first where addresses mean nothing."""
    if not finding.line.place:
        return f"line {picture.address}"
    distance = int(picture.address, 16) - int(finding.picture[0].address, 16)
    return f"the line {count(distance, 'byte')} on" if distance else finding.line.place


def few(related: Sequence[Related], most: int) -> list[Related]:
    """At most ``most`` accesses in their order, of each variable and verb the first ones."""
    seen: dict[tuple[str, str], int] = {}
    chosen: list[Related] = []
    for access in related:
        subject = (access.name, access.verb)
        seen[subject] = seen.get(subject, 0) + 1
        if seen[subject] <= _PER_SUBJECT and len(chosen) < most:
            chosen.append(access)
    return chosen


def held(access: Related) -> tuple[str, ...]:
    """The locks held at an access, without the one that is just taken there."""
    return tuple(lock for lock in access.under if access.verb != "locks" or lock != access.name)


def access_rows(related: Sequence[Related], most: int, width: int) -> Iterator[tuple[str, str, str, str, str]]:
    """(variable, verb, function, place, locks) of the chosen accesses, visible, names at most ``width`` long."""
    for access in few(related, most):
        locks = held(access)
        under = f"under {name_list(locks, LOCKS_SHOWN, width)}" if locks else ""
        yield (
            shorten(visible(access.name), width),
            visible(access.verb),
            shorten(visible(access.function), width),
            visible(access.source),
            under,
        )
