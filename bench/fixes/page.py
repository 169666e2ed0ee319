"""The page of the documentation on repairs: one row a commit, and the sums.  Owns the words, no judgement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.fixes.outcome import Outcome, Side

_HEAD = """# Commits that repaired sharing

Commits of public projects that separated data on lines, by alignment, padding or order, judged by `linemate check`
on the units that they concern, at the commit before and at the commit itself. *Before* is the worst finding that names
what was repaired, *after* the same of what came of it. Where other bytes of the same records share lines as well, only
rules count that can speak of what was repaired. A row counts as flagged from medium on, as clean when nothing
of it is said to share a line, from low on; what is only fragile (a tail that others may fill) shares none today. By
`python -m bench.fixes --clones FOLDER --keep --page` of what was kept; the table is `bench/fixes/commits.json`.
"""


def page(outcomes: Sequence[Outcome], remarks: Mapping[str, str] | None = None) -> str:
    """The page for these outcomes; ``remarks`` are on the first judgement of a batch."""
    apart = _no_sharing([one for one in outcomes if not one.fix.shares])
    outcomes = [one for one in outcomes if one.fix.shares]
    flagged = [one for one in outcomes if one.flagged]
    whole = [one for one in outcomes if one.before.parses and one.after.parses]
    clean = sum(one.clean for one in flagged)
    lines = [
        _HEAD,
        f"Of {len(outcomes)} commits {len(whole)} parse whole on both sides; {len(flagged)} are flagged before, "
        f"{clean} of those are clean after.{_separating(outcomes)}{apart}",
        "",
        *_other_questions(outcomes),
        *_unseen(outcomes, remarks or {}),
        "| commit | what shared a line | kind | before | after |",
        "|---|---|---|---|---|",
    ]
    for one in outcomes:
        fix = one.fix
        commit = f"{fix.project} {fix.commit[:10]}"
        lines.append(f"| {commit} | {fix.what} | {fix.kind} | {_cell(one.before)} | {_cell(one.after)} |")
    lines += [
        "",
        "## What is missed, and where",
        "",
        "Of each commit that is not flagged before, or not clean after it, the step that loses it.",
        "",
        "| commit | flagged | why |",
        "|---|---|---|",
    ]
    for one in outcomes:
        if not (one.flagged and one.clean):
            flag, why = "yes" if one.flagged else "no", one.fix.lost or "not known"
            lines.append(f"| {one.fix.project} {one.fix.commit[:10]} | {flag} | {why} |")
    lines += _sums("kind of repair", outcomes, lambda one: one.fix.kind)
    separating = [one for one in outcomes if one.fix.separates and not one.fix.true_sharing]
    lines += _sums("project, of what source can show", separating, lambda one: one.fix.project)
    return "\n".join(lines) + "\n"


def _sums(title: str, outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> list[str]:
    lines = ["", f"| {title} | commits | flagged before | of those clean after |", "|---|---|---|---|"]
    for name in sorted({key(one) for one in outcomes}):
        own = [one for one in outcomes if key(one) == name]
        said = [one for one in own if one.flagged]
        lines.append(f"| {name} | {len(own)} | {len(said)} | {sum(one.clean for one in said)} |")
    return lines


def _separating(outcomes: Sequence[Outcome]) -> str:
    """The same sums without the commits that separate nothing that source can show."""
    own = [one for one in outcomes if one.fix.separates and not one.fix.true_sharing]
    if len(own) == len(outcomes):
        return ""
    flagged = [one for one in own if one.flagged]
    return (
        f" {len(outcomes) - len(own)} of them separate nothing that source can show: the threads change the same data, "
        f"each touches fewer lines, or all was right before. Of the other {len(own)} {_are(len(flagged))} flagged "
        f"before, {sum(one.clean for one in flagged)} of those clean after."
    )


def _no_sharing(outcomes: Sequence[Outcome]) -> str:
    """What is said of commits that part nothing of several threads, whatever their messages speak of."""
    if not outcomes:
        return ""
    flagged = sum(one.flagged for one in outcomes)
    return (
        f" {len(outcomes)} more of the table are not below: they speak of lines, and part nothing of several threads "
        f"that was on one; {_are(flagged)} flagged before."
    )


def _other_questions(outcomes: Sequence[Outcome]) -> list[str]:
    """Which rows were asked otherwise: with longer lines, or for the note on true sharing."""
    lines = []
    for size in sorted({one.fix.line_size for one in outcomes if one.fix.line_size}):
        own = [one for one in outcomes if one.fix.line_size == size]
        lines += [
            f"{len(own)} repairs are about lines that processors fetch in pairs: these are judged with "
            f"`check --line-size {size}`; {_are(sum(one.flagged for one in own))} flagged before. With the "
            "architecture's lines nothing is said of them.",
            "",
        ]
    true = [one for one in outcomes if one.fix.true_sharing]
    if true:
        lines += [
            f"Of {len(true)} the threads changed the repaired data itself (true sharing), which padding does not cure: "
            f"these count as not flagged. A note says so of {sum(one.told for one in true)} before, and of none of the "
            "repaired data after.",
            "",
        ]
    return lines


def _unseen(outcomes: Sequence[Outcome], remarks: Mapping[str, str]) -> list[str]:
    """What came out for those that were chosen by their messages alone, when they were judged for the first time."""
    lines = []
    for batch in sorted({one.fix.batch for one in outcomes if one.fix.first}):
        own = [one for one in outcomes if one.fix.first and one.fix.batch == batch]
        first = [one.fix.first for one in own]
        clean = first.count("clean")
        chosen = "were chosen" if batch == 1 else "more were chosen"
        remark = remarks.get(str(batch), "")
        lines += [
            f"{len(first)} {chosen} by what their messages or changes say, and listed before one was judged: at the "
            f"first run {_were(clean + first.count('flagged'))} flagged before, {clean} of those clean after; today "
            f"{_are(sum(one.flagged for one in own))} flagged.{' ' if remark else ''}{remark}",
            "",
        ]
    return [*lines, "The others are from work on the rules.", ""] if lines else []


def _were(number: int) -> str:
    return f"{number} {'was' if number == 1 else 'were'}"


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def _cell(side: Side) -> str:
    said = f"{side.worst} `{side.about[0][1]}`" if side.about else "nothing"
    return said if side.parses else f"{said} (in part)"
