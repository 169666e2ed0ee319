"""Alignment below the line.

What it does: finds declarations whose alignment speaks of cache lines (`CACHE_LINE_SIZE`, `cacheline_aligned`) and is
smaller than a line of the target.

Why is this bad?  The constant was right for another machine, or is the default of a configuration script that did not
know this one.  Everything built on it looks separated and shares lines.

Example:

    #define CACHE_LINE_SIZE 32
    struct stats {
      _Alignas(CACHE_LINE_SIZE) atomic_long received;
      _Alignas(CACHE_LINE_SIZE) atomic_long sent;      // the same 64-byte line
    };

Use instead: the line of the target; 128 where the machine fetches lines in pairs.

    #define CACHE_LINE_SIZE 64

Members that the program never uses, while it uses others of the record, are padding themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Remedy, Severity, Verdict
from sharing.model.plural import named
from sharing.rules.declaration.base import DeclarationRule, SourceContext, SourceDraft, SourceParticipant, raised
from sharing.source.aligned import Aligned, Declared, aligned
from sharing.source.declarations import language, line_words, speaks_of_lines
from sharing.source.program import Program

MAX_NAMED = 5


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. alignments below a line; 2. whose words speak of cache lines; 3. one finding for each such word."""
    found: dict[tuple[str, int], list[Aligned]] = {}
    for declared in aligned(program):
        texts = (declared.text, *declared.macros)
        if not 1 < declared.asked < ctx.line_size or not speaks_of_lines(*texts):
            continue
        if declared.what is Declared.RECORD and declared.size >= ctx.line_size and declared.size % ctx.line_size == 0:
            continue  # padded to the line by other means
        if declared.what is Declared.MEMBER and _is_padding(declared, ctx):
            continue
        words = line_words(*declared.macros) or line_words(declared.text) or (declared.text,)
        found.setdefault((words[0], declared.asked), []).append(declared)
    for (spoken, asked), places in found.items():
        yield _draft(program, ctx, spoken, asked, places)


def _is_padding(member: Aligned, ctx: SourceContext) -> bool:
    """Does the program use other members of the record and never this one, a guard of bytes between others?"""
    uses = ctx.uses.of_record(member.identity)
    return bool(uses) and not any(u.offset < member.at + member.size and member.at < u.offset + u.size for u in uses)


def _draft(program: Program, ctx: SourceContext, word: str, asked: int, places: list[Aligned]) -> SourceDraft:
    first = places[0]
    names = [p.name for p in places]
    heat = max(ctx.heat(p.identity, p.at) for p in places)
    return SourceDraft(
        rule=RULE.id,
        severity=raised(Severity.MEDIUM, heat),
        verdict=Verdict.FRAGILE,
        participants=tuple(
            SourceParticipant(p.name, p.at, p.size, p.what.value, p.source, p.identity, p.type)
            for p in places[:MAX_NAMED]
        ),
        line_at=first.at - first.at % ctx.line_size,
        message=(
            f"{word} aligns {named(names, MAX_NAMED)} to {asked} bytes, but a line of the target has "
            f"{ctx.line_size}: what it was to keep apart can share a line: make it {ctx.line_size}"
        ),
        evidence=(f"alignment as written: {first.text}", f"{len(places)} declarations use it"),
        remedies=(
            Remedy(
                kind="line-constant",
                text=f"make {word} the line of the target, {ctx.line_size} bytes",
                edit=f"alignas({ctx.line_size})"
                if language(program, first.unit) == "C++"
                else f"{word}  /* {ctx.line_size} */",
                language=language(program, first.unit),
                cost_bytes=sum(-p.size % ctx.line_size for p in places),
                breaks_abi=any(p.what is not Declared.VARIABLE for p in places),
                protects_tail=all(p.what is Declared.RECORD for p in places),
            ),
        ),
        score=float(len(places)),
    )


RULE = DeclarationRule(
    id="alignment-below-line",
    name="Alignment below the line",
    summary="An alignment that is meant to be a cache line is smaller than a line of the target.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
)
