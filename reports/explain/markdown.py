"""The comparison for a pull-request comment: causes best first, what they rest on folded.

Owns the choice and order of what a comment holds; escaping is that of the other Markdown report.
"""

from __future__ import annotations

from collections.abc import Sequence

from reports.escape import names_cut, sentence, shorten, visible
from reports.explain import wording
from reports.markdown import MAX_CHARACTERS, block, code, fold, prose, prose_with_code
from reports.options import RenderOptions
from reports.wording import target_name, target_text
from sharing.model.comparison import Cause, Comparison, LineMates
from sharing.model.plural import named

NAME_WIDTH = 72
TEXT_WIDTH = 2000
NOTES_SHOWN = 12


def render(comparison: Comparison, options: RenderOptions) -> str:
    """GitHub-flavoured Markdown; without ``options.summary`` the causes only.

    At most ``MAX_CHARACTERS``: causes and details that do not fit are counted.
    """
    parts = [[_headline(comparison)]] if options.summary else []
    parts += [_cause(comparison, number, cause) for number, cause in enumerate(comparison.causes, 1)]
    if options.summary:
        parts += _details(comparison)
    blocks: list[str] = []
    left = MAX_CHARACTERS
    for number, part in enumerate(parts):
        left -= sum(len(text) + 2 for text in part)
        if left < 0:
            blocks.append(f"{len(parts) - number} more parts: see another format of the report.")
            break
        blocks += part
    return "\n\n".join(blocks) + "\n"


def _headline(comparison: Comparison) -> str:
    told = [*wording.verdict(comparison), *wording.following(comparison)]
    told = told or [(text, "") for text in wording.measured_first(comparison)]
    state = " (incomplete: a part of the input failed)" if comparison.incomplete else ""
    old, new = (code(shorten(visible(target_name(t)), NAME_WIDTH)) for t in comparison.targets)
    nothing = "\n".join(f"- {_text(text)}{f': {code(visible(command))}' if command else ''}" for text, command in told)
    nothing = f"{nothing}\n\n" if nothing else ""
    heading = f"### linemate: {wording.heading(comparison)}{state}"
    return f"{heading}\n\n{nothing}{old} against {new}: {prose(wording.matched(comparison))}."


def _cause(comparison: Comparison, number: int, cause: Cause) -> list[str]:
    out = [f"#### {number}. {cause.kind.value}: {wording.title(cause)}", _text(sentence(cause.summary))]
    for lead, pairs in wording.pairs_of(cause):
        rows = [f"- {lead}: {_text(wording.pair(mates))}{_functions(mates)}" for mates in pairs[: wording.PAIRS_SHOWN]]
        if more := len(pairs) - len(rows):
            rows.append(f"- {wording.shown_pairs(more, len(pairs), wording.pairs_in_all(comparison, cause))}")
        out += _list(rows, len(rows), "pair")
    checks = [
        line
        for lead, steps in (("confirm", cause.confirm), ("refute", cause.refute))
        if steps
        for line in (f"- {lead}:", *(f"  {number}. {_text(step)}" for number, step in enumerate(steps, 1)))
    ]
    out += ["\n".join(checks)] if checks else []
    moved = [
        f"- {code(shorten(visible(m.name), NAME_WIDTH))}: {m.old} to {m.new}, by {m.shift}"
        for m in cause.moved[: wording.MOVED_SHOWN]
    ]
    full = [f"- in full: {code(shorten(visible(name), TEXT_WIDTH))}" for name in names_cut(cause.summary)]
    evidence = [f"- {_text(text)}" for text in cause.evidence[: wording.EVIDENCE_SHOWN]]
    out += fold(
        "Evidence",
        [
            *_list(moved, len(cause.moved), "moved variable"),
            *_list(full, len(full), "name"),
            *_list(evidence, len(cause.evidence), "piece"),
        ],
    )
    return out


def _functions(mates: LineMates) -> str:
    if not mates.functions:
        return ""
    shown = [code(shorten(visible(name), NAME_WIDTH)) for name in mates.functions[:4]]
    return "; used by the functions " + named(shown, 4, max(len(mates.functions), mates.users))


def _details(comparison: Comparison) -> list[list[str]]:
    ruled = [f"- {r.kind.value}: {_text(r.why)}" for r in comparison.ruled_out]
    shares = [
        f"- {code(shorten(visible(f.function), NAME_WIDTH))} ({prose(f.event)}): {prose(wording.share(f))}"
        for f in comparison.profile[: wording.MEASURED_SHOWN]
    ]
    places = [
        f"- {code(shorten(visible(p.name), NAME_WIDTH))} ({prose(p.event)}): {prose(wording.share(p))}"
        for p in comparison.places[: wording.MEASURED_SHOWN]
    ]
    measured = [
        f"- {prose(wording.conditions(m))}: {prose(wording.measured(m))}"
        for m in comparison.measurements[: wording.MEASURED_SHOWN]
    ]
    sensitive = [
        f"- {code(shorten(visible(s.first), NAME_WIDTH))} and {code(shorten(visible(s.second), NAME_WIDTH))}: "
        f"{prose(wording.sensitive(s))}"
        for s in comparison.sensitivity
    ]
    changes = [
        f"- {c.kind.value}: {code(shorten(visible(c.name), NAME_WIDTH))}, {_text(wording.change(c))}"
        + (f" ({_text(c.source)})" if c.source else "")
        for c in comparison.changes[: wording.CHANGES_SHOWN]
    ]
    counts = comparison.coverage.counts
    out = [["**Ruled out**", "\n".join(ruled)]] if ruled else []
    if still := [f"- {r.kind.value}: {_text(r.why)}" for r in comparison.not_ruled_out]:
        out.append(["**Not ruled out**", "\n".join(still)])
    out += [
        fold(summary, _list(rows, total, noun))
        for summary, rows, total, noun in (
            ("Functions whose share of samples changed", shares, len(comparison.profile), "function"),
            ("Variables and lines whose share of samples changed", places, len(comparison.places), "variable"),
            ("Measured", measured, len(comparison.measurements), "measurement"),
            ("What an insertion elsewhere would do", sensitive, len(sensitive), "pair"),
            ("Variables that changed", changes, counts.get("changes", 0), "change"),
        )
        if rows
    ]
    runs = wording.moved_runs(comparison)
    rows = [wording.run(run) for run in runs[: wording.RUNS_SHOWN]]
    if rows:
        more = _list([], wording.number_of_runs(comparison) - len(rows), "run")
        out.append(
            fold(
                "Ranges that moved by the same distance",
                [block([visible(row) for row in rows], "text"), *more],
            )
        )
    targets = [f"- {code(target_name(t))}: {prose(target_text(t))}" for t in comparison.targets]
    notes = [f"- note: {_text(note)}" for note in comparison.coverage.notes[:NOTES_SHOWN]]
    out.append(fold("What was compared", ["\n".join(targets), *_list(notes, len(comparison.coverage.notes), "note")]))
    return out


def _text(text: str) -> str:
    """Prose in which what stands between backticks is code."""
    return prose_with_code(shorten(visible(text), TEXT_WIDTH))


def _list(rows: Sequence[str], total: int, noun: str) -> list[str]:
    """The rows as one block, with how many more there are."""
    more = total - len(rows)
    if more > 0:
        rows = [*rows, f"- and {more:,} more {noun}{'' if more == 1 else 's'}"]
    return ["\n".join(rows)] if rows else []
