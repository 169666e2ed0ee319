"""Padding that misses the line.

What it does: finds padding members that compute their size from the size of a line (`char pad[64 - sizeof(long)]`)
and do not end where a line ends, counted from the first member that they are to fill up.

Why is this bad?  The arithmetic was right when it was written.  Then a member was added in front of the padding and
not subtracted: the record grew over the line, its elements in an array drift over line boundaries, and two of them
meet.  Where too much is subtracted, the next member moves into the line that was to be kept free.

Example:

    struct slot {
      long hits;
      long misses;                       // added later
      char pad[64 - sizeof(long)];       // sizeof(struct slot) is 72
    };

Use instead: alignment, which needs no arithmetic and follows every edit.

    struct slot {
      long hits;
      long misses;
    } __attribute__((aligned(64)));
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sharing.model.facts import MemberFact, RecordBits, RecordFacts
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.rules.declaration.base import (
    DeclarationRule,
    SourceContext,
    SourceDraft,
    SourceParticipant,
    aligned_record,
    raised,
)
from sharing.source.declarations import (
    is_bytes,
    is_pad_name,
    language,
    member_size,
    shown_name,
    source_position,
    speaks_of_lines,
)
from sharing.source.program import Defined, Program

_MINUEND = re.compile(r"(?<![\w.])(\d+)[uUlL]*\s*-")
_SIZEOF = re.compile(r"\bsizeof\b")


@dataclass(frozen=True, slots=True)
class _Pad:
    """A padding member and the run of members that it fills up.  ``start`` and ``end`` are bytes of the record."""

    member: MemberFact
    run: tuple[MemberFact, ...]
    start: int
    end: int


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. computed padding; 2. the members since the last padding and it are not a multiple of a line."""
    for record in program.records.values():
        facts = record.facts
        if facts.bits & (RecordBits.UNION | RecordBits.SYSTEM):
            continue
        for pad in _pads(facts, ctx):
            excess = (pad.end - pad.start) % ctx.line_size
            if excess and pad.end % ctx.line_size and pad.run and not _filled_by_compiler(facts, ctx, pad):
                yield _draft(program, ctx, record, pad, excess)


def _pads(facts: RecordFacts, ctx: SourceContext) -> Iterator[_Pad]:
    start = 0
    run: list[MemberFact] = []
    for member in facts.members:
        at = member.offset_bits // 8
        if member.declared_align >= ctx.line_size:
            start, run = at, []  # a new line is begun by declaration
        if is_bytes(member.type) and is_pad_name(member.name):
            end = at + member_size(member)
            if _counts_lines(member, ctx):
                yield _Pad(member, tuple(run), start, end)
            start, run = end, []
        else:
            run.append(member)


def _filled_by_compiler(facts: RecordFacts, ctx: SourceContext, pad: _Pad) -> bool:
    """Does what the compiler adds behind the padding end with a line?

    The arithmetic takes the sizeof of a type with the same members, which is rounded up: so much behind the padding the
    next member begins, by its own alignment.  Or the sizeof of a base class; the padding begins within that, where the
    base has bytes left, and the size of the whole is rounded up.  A record that is aligned to lines is always rounded
    up, to a whole line where the padding is too long.
    """
    last = pad.member is facts.members[-1]
    follower = None if last else facts.members[facts.members.index(pad.member) + 1]
    if follower is not None and follower.offset_bits >= 0:
        return (follower.offset_bits // 8 - pad.start) % ctx.line_size == 0
    return last and facts.declared_align < ctx.line_size and (facts.size - pad.start) % ctx.line_size == 0


def _counts_lines(member: MemberFact, ctx: SourceContext) -> bool:
    """Is its size the rest of a line?  Fixed sizes and the rest of a sector or a page are formats, not padding."""
    if not _SIZEOF.search(member.text):
        return False
    if speaks_of_lines(member.text, *member.macros):
        return True
    numbers = [int(n) for n in _MINUEND.findall(member.text)]
    return any(n in (ctx.line_size, ctx.pair_size) for n in numbers)


def _forgotten(pad: _Pad, excess: int) -> tuple[MemberFact, ...]:
    """Members of the run that the arithmetic does not mention and that explain the excess."""
    said = set(re.findall(r"\w+", pad.member.text))
    silent = [m for m in pad.run if m.name not in said]
    exact = [m for m in silent if member_size(m) == excess]
    return (exact[-1],) if exact else tuple(silent[1:])


def _why(facts: RecordFacts, ctx: SourceContext, pad: _Pad, excess: int, forgotten: Sequence[MemberFact]) -> str:
    """What the padding does instead of filling the line."""
    name, length = shown_name(facts), pad.end - pad.start
    last = pad.end >= facts.size or pad.member is facts.members[-1]
    if length < ctx.line_size:
        follower = f"the next {name} of an array" if last else "the member behind it"
        return f"is {ctx.line_size - length} bytes short: {follower} starts on the same line"
    missed = f"it does not subtract {' and '.join(m.name for m in forgotten)}" if forgotten else "it is too long"
    drift = f"the {name}s of an array drift over the lines" if last else "the member behind it starts inside a line"
    why = f"ends {excess} bytes behind a line ({missed}): {drift}"
    if facts.declared_align >= ctx.line_size and last:
        why += f", and alignment rounds {name} up to {facts.size} bytes"
    return why


def _draft(program: Program, ctx: SourceContext, record: Defined[RecordFacts], pad: _Pad, excess: int) -> SourceDraft:
    facts = record.facts
    name = shown_name(facts)
    length = pad.end - pad.start
    short = length < ctx.line_size
    forgotten = _forgotten(pad, excess) if not short else ()
    spoken = language(program, record.unit)
    why = _why(facts, ctx, pad, excess, forgotten)
    blamed = SourceParticipant(
        f"{name}.{pad.member.name}",
        pad.end - member_size(pad.member),
        member_size(pad.member),
        "padding",
        source_position(program, record.unit, pad.member),
        facts.key,
        pad.member.type.name,
    )
    others = tuple(
        SourceParticipant(
            f"{name}.{m.name}",
            m.offset_bits // 8,
            member_size(m),
            "member that the padding forgets",
            source_position(program, record.unit, m),
            facts.key,
            m.type.name,
            tuple(u for u in ctx.uses.of_record(facts.key) if u.offset == m.offset_bits // 8),
        )
        for m in forgotten[:3]
    )
    return SourceDraft(
        rule=RULE.id,
        severity=raised(Severity.MEDIUM if short else Severity.LOW, ctx.heat(facts.key, pad.start)),
        verdict=Verdict.FALSE_SHARING if short else Verdict.FRAGILE,
        participants=(blamed, *others),
        line_at=pad.end - pad.end % ctx.line_size,
        message=(
            f"{name}.{pad.member.name} is to fill a line of {ctx.line_size} bytes but {why}: declare the alignment "
            f"instead of computing the padding"
        ),
        evidence=(
            f"members from byte {pad.start} and padding up to byte {pad.end} are {length} bytes: {pad.member.text}",
            f"sizeof {name} is {facts.size}",
        ),
        remedies=(
            Remedy(
                kind="pad-type",
                text=f"remove {pad.member.name} and align {name} to {ctx.line_size} bytes, which rounds its size up",
                edit=aligned_record(name, spoken, ctx),
                language=spoken,
                cost_bytes=-facts.size % ctx.line_size,
                breaks_abi=True,
                protects_tail=True,
            ),
        ),
        score=float(len(pad.run)),
    )


RULE = DeclarationRule(
    id="pad-misses-line",
    name="Padding that misses the line",
    summary="Padding computed from the size of a line does not end where a line ends: a member was forgotten.",
    severity=Severity.LOW,
    page=__doc__,
    check=check,
)
