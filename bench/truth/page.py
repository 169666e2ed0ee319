"""The scores of all programs as docs/accuracy.md.

Owns the wording of the page.  Every figure and every name on it comes from the scores, but for what programs showed
when they were judged for the first time, which cannot be made again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from pathlib import Path

import msgspec

from bench.places import REPOSITORY
from bench.truth.corpus import Compared, project_of
from bench.truth.records import records
from bench.truth.score import FIRST, MOST_USED, Score, Share, on_line
from bench.truth.subject import VARIANTS
from sharing.basics.costs import busy_rate
from sharing.basics.numbers import INSTRUCTION_NS, TRANSFER_NS
from sharing.counted.numbers import NEGLIGIBLE
from sharing.counted.weigh import faint_rate
from sharing.model.finding import Severity
from sharing.model.profile import Actor, Heat

NAMED = 6  # of each kind of miss
SHORT = Path(__file__).parent / "short.json"
TWO_THIRDS = 20 / 30  # of the most used: what is aimed at
SEVERITIES = ("critical", "high", "medium", "low", "note")
Row = tuple[Compared, Score]
HEAD = f"""# How far the estimates of the code can be trusted

Without a run, `linemate audit` estimates what is executed how often and on which threads. Here these estimates are held
against exact counts of real programs: callgrind counted each instruction of each thread under a load
(`bench/truth/programs`), and `testdata/truth` keeps what it counted. `.venv/bin/python -m bench.truth score` judges
the same files by their code alone, compares, and writes this whole page, so that all of it is of one tree.
`misses NAME` lists what is wrong and why. Programs are Debian's (DuckDB's library is PyPI's), without symbols, but for
those that were built here.

**What is true.** A line is shared when two threads use bytes of different things on it, one of them writes, both at
least {busy_rate():.0f} times per million of their instructions, and it can cost {100 * NEGLIGIBLE:.1g} % of the run
([why](counts.md): a line that another core has written takes {TRANSFER_NS:.0f} ns, an instruction {INSTRUCTION_NS} ns).
Only what is used without the other thing in that run of its function counts, and is written without writing it: who
needs both fetches the line anyway, and separate lines would spare nobody anything.
Counts begin when a server is warm, or when a thread has started the last of its threads: threads that run then are
taken to run at the same time, although callgrind lets them run in turns.
One load is one load: what another one would share is not in these figures. Both sides know only what instructions name
in static storage: what is reached through pointers in memory is in neither. Names that agree up to the first hyphen are
of one project: what is fitted on one of them is not judged by another.

**Seen for the first time.** varnishd, squid, tor, murmurd, nfs-ganesha, pulseaudio, DuckDB, ld.gold and aria2c were
judged before their counts changed anything: 53 of the 72 variables that threads used most together were hot, none of 9
findings above a note (all low) was true, and neither of 2 shared lines was found. By what they showed all of these 9
are notes today, so that the tables below say less of how linemate does on programs that it was not mended by.
"""


def page(compared: Sequence[Compared]) -> str:
    """Tables of all programs, then the misses of each."""
    rows = [(one, score) for one in compared for score in one.scores]
    parts = [
        HEAD,
        *_in_short(rows),
        *_ways(compared),
        *_heat(rows),
        *_short(rows),
        *_findings(rows),
        *records(rows),
        *_reach(rows),
        "## Misses",
        "",
    ]
    for one, score in rows:
        listed = [f"- {what}: {_some(names)}" for what, names in _misses(score).items() if names]
        listed += [f"- shared, and not found: `{_meeting(score, at)}`: {lost_by(score, at)}" for at in _lost(score)]
        parts += [f"### {_name(one, score)}", "", *(listed or ["- none"]), ""]
    parts += ["## Counted", "", "| program | package | file | command |", "|---|---|---|---|"]
    for m in (one.made for one in compared if one.scores):
        parts.append(f"| {m.program} | {m.package} {m.version} | `{m.path}` {m.build_id[:12]} | `{m.command}` |")
    left_out = [one.why_not for one in compared if one.why_not]
    if left_out:
        parts += ["", "Not compared:", "", *(f"- {reason}".replace(f"{REPOSITORY}/", "") for reason in left_out)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _in_short(rows: Sequence[Row]) -> list[str]:
    """What the tables come to, in sentences."""
    bare = _stripped(rows)
    said = [_sum(bare, _precision(name)) for name in SEVERITIES[:4]]
    lines, hot = _sum(bare, lambda s: s.recall), _sum(bare, lambda s: s.hot_of_most_used)
    severities = ", ".join(
        f"{share.part} of {share.whole} at {name}" for name, share in zip(SEVERITIES, said, strict=False) if share.whole
    )
    once, apart = _by_file(rows)
    text = (
        "**In short.** Of the lines of static storage that threads shared under these loads in Debian's programs, "
        f"{_of(lines)} have a true finding. Of {reduce(add, said).whole} findings above a note "
        f"{reduce(add, said).part} were true ({severities or 'none'}). Some programs were counted under several loads: "
        f"of {once.whole} findings, each counted once, {once.part} were true under a load at least, and of "
        f"{apart.whole} lines {apart.part} have a true finding. {_of(hot)} variables that threads used most "
        f"together are called hot; of programs, the loads of one taken together, {_by_project(rows)}. Where few lines "
        "are shared, single findings decide a share; and what is false here may be true under a load that runs the "
        "code more often, which the code alone cannot tell."
    )
    return [*textwrap.wrap(text, width=120), ""]


def _by_file(rows: Sequence[Row]) -> tuple[Share, Share]:
    """Findings above a note and shared lines, each counted once however many loads of its file were counted."""
    true: dict[tuple[str, str], bool] = {}
    found: dict[tuple[str, int], bool] = {}
    for one, score in rows:
        if len(one.scores) > 1:
            continue
        for c in score.checked:
            if c.decided and c.finding.severity is not Severity.NOTE:
                key = one.made.build_id, c.finding.id
                true[key] = true.get(key, False) or c.true
        for line in score.lines:
            at = one.made.build_id, line
            found[at] = found.get(at, False) or line in score.found
    return Share(sum(true.values()), len(true)), Share(sum(found.values()), len(found))


def _by_project(rows: Sequence[Row]) -> str:
    """What the most used variables that are hot come to where each program counts alike."""
    hot: dict[str, Share] = {}
    for one, score in rows:
        if len(one.scores) == 1 and score.hot_of_most_used.whole:
            project = project_of(one.made.program)
            hot[project] = hot.get(project, Share()) + score.hot_of_most_used
    shares = [share.part / share.whole for share in hot.values()]
    enough = sum(share >= TWO_THIRDS for share in shares)
    return f"the mean is {100 * sum(shares) / max(len(shares), 1):.0f} %, and {enough} of {len(shares)} have two thirds"


def _name(one: Compared, score: Score) -> str:
    return one.made.program if len(one.scores) == 1 else f"{one.made.program} ({score.variant})"


def _ways(compared: Sequence[Compared]) -> list[str]:
    """The same programs and counts, by source, with symbols and stripped."""
    built = [one for one in compared if len(one.scores) > 1]
    if not built:
        return []
    of = {v: [s for one in built for s in one.scores if s.variant == v] for v in VARIANTS}
    names = ", ".join(one.made.program for one in built)
    measures: tuple[tuple[str, Callable[[Score], Share]], ...] = (
        (f"most used {MOST_USED} that are hot", lambda s: s.hot_of_most_used),
        ("hot that are used", lambda s: s.used_of_hot),
        (f"first {FIRST} findings that are true", lambda s: s.precision["first"]),
        *((f"{name} that are true", _precision(name)) for name in SEVERITIES[:4]),
        ("shared lines found", lambda s: s.recall),
        ("functions reached", lambda s: s.reached),
    )
    table = [f"| {what} | {' | '.join(_of(_sum(of[v], get)) for v in VARIANTS)} |" for what, get in measures]
    return [
        "## Source, symbols, stripped\n",
        *textwrap.wrap(
            f"The same counts of the programs that were built here ({names}), held against what the source says, what "
            "the binary with debug information says, and what it says without.",
            width=120,
        ),
        "",
        f"| | {' | '.join(VARIANTS)} |",
        "|---|---|---|---|",
        *table,
        "",
    ]


def _precision(name: str) -> Callable[[Score], Share]:
    return lambda score: score.precision[name]


def _heat(rows: Sequence[Row]) -> list[str]:
    out = [
        "## Hot\n",
        f"Of the {MOST_USED} variables (members, ranges) that two threads used most, one of them writing and",
        f"both at least {faint_rate():.2g} times per million of their instructions, how many the code calls hot; of",
        "those that it calls hot, how many were used at all, and how many by two threads; rank correlation of weight",
        "as estimated and uses, of all that code names.",
        "",
        "| program | most used that are hot | hot that are used | hot that are shared | rank correlation |",
        "|---|---|---|---|---|",
    ]
    for one, s in rows:
        out.append(
            f"| {_name(one, s)} | {_of(s.hot_of_most_used)} | {_of(s.used_of_hot)} | {_of(s.shared_of_hot)} | "
            f"{s.rank_correlation:.2f} |"
        )
    bare = _stripped(rows)
    gets: tuple[Callable[[Score], Share], ...] = (
        lambda s: s.hot_of_most_used,
        lambda s: s.used_of_hot,
        lambda s: s.shared_of_hot,
    )
    mean = sum(s.rank_correlation for s in bare) / max(len(bare), 1)
    return [*out, f"| **all Debian's** | {' | '.join(_of(_sum(bare, g)) for g in gets)} | {mean:.2f} (mean) |", ""]


def _short(rows: Sequence[Row]) -> list[str]:
    """Programs of whose most used variables less than two thirds are hot, and why; ``SHORT`` is read by people."""
    short = [(_name(one, s), s.hot_of_most_used) for one, s in rows]
    short = [(name, share) for name, share in short if share.part < TWO_THIRDS * share.whole]
    why = msgspec.json.decode(SHORT.read_bytes(), type=dict[str, str])
    return [
        "Where less than two thirds are hot, and why:",
        "",
        *(f"- {name}, {_of(share)}: {why.get(name, 'not known.')}" for name, share in short),
        "",
    ]


def _findings(rows: Sequence[Row]) -> list[str]:
    columns = ("first", *SEVERITIES)
    undecided = sum(s.undecided for _, s in rows)
    out = [
        "## Findings\n",
        f"Of the findings that say that threads share a line, for how many that was so: of the first {FIRST} of a",
        "report, and by severity; and of the lines that were shared, how many have a true finding of low or more.",
        f"Left out are {undecided} findings about records on the heap, which instructions do not name, or about one",
        "array or record that several threads used: which bytes of it",
        "each of them used is not counted. The section behind this one is about them.",
        "",
        f"| program | first {FIRST} | {' | '.join(SEVERITIES)} | shared lines found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one, s in rows:
        out.append(f"| {_name(one, s)} | {' | '.join(_of(s.precision[c]) for c in columns)} | {_of(s.recall)} |")
    bare = _stripped(rows)
    totals = [_sum(bare, _precision(c)) for c in columns]
    found = _of(_sum(bare, lambda s: s.recall))
    return [*out, f"| **all Debian's** | {' | '.join(map(_of, totals))} | {found} |", ""]


def _reach(rows: Sequence[Row]) -> list[str]:
    out = [
        "## Threads\n",
        "Thread entries that the code names and a thread was in; threads that were in none of them (they begin in",
        "another file, or through a pointer); of the functions that ran on a thread, those that its entry reaches.",
        "",
        "| program | threads | without a known entry | entries seen | functions reached |",
        "|---|---|---|---|---|",
    ]
    for one, s in rows:
        out.append(f"| {_name(one, s)} | {s.threads} | {s.unknown_threads} | {_of(s.entries)} | {_of(s.reached)} |")
    bare = _stripped(rows)
    threads, unknown = sum(s.threads for s in bare), sum(s.unknown_threads for s in bare)
    entries, reached = _sum(bare, lambda s: s.entries), _sum(bare, lambda s: s.reached)
    return [*out, f"| **all Debian's** | {threads} | {unknown} | {_of(entries)} | {_of(reached)} |", ""]


def _misses(score: Score) -> dict[str, list[str]]:
    most = [u for u in score.used if u.rate][:MOST_USED]
    said = [c for c in score.checked if c.decided and c.finding.severity is not Severity.NOTE]
    return {
        "used by several threads, not hot": [
            f"{u.actor.name} ({u.rate:,.0f})" for u in most if u.actor.told_heat is not Heat.HOT
        ],
        "hot, and not used": [u.actor.name for u in score.used if u.actor.told_heat is Heat.HOT and not u.uses],
        "among the first ten, and not so": [
            f"{c.finding.severity.value} {c.finding.rule}: "
            f"{' / '.join(p.full_name for p in c.finding.participants[:2])}"
            for c in said[:FIRST]
            if not c.true
        ],
        "ran on a thread that does not reach it": list(score.unreached),
        "an entry that no thread was in": list(score.idle_entries),
    }


def _lost(score: Score) -> list[int]:
    return sorted(score.lines.keys() - score.found, key=lambda line: -score.lines[line].share)


def _meeting(score: Score, line: int) -> str:
    met = score.lines[line]
    actors = (_at(score, met.written.span[0]), _at(score, met.used.span[0]))
    names = [
        actor.name if actor else f"{span.span[0]:#x}"
        for actor, span in zip(actors, (met.written, met.used), strict=True)
    ]
    return f"line {line:#x}: {names[0]} / {names[1]} ({met.rate:,.0f})"


def _at(score: Score, address: int) -> Actor | None:
    return next((u.actor for u in score.used if u.actor.span[0] <= address < u.actor.span[1]), None)


def lost_by(score: Score, line: int) -> str:
    """The step of the judgement that kept a shared line from being a finding of low or more."""
    met = score.lines[line]
    here = [c for c in score.checked if on_line(c.finding, line)]
    for checked in here:
        if checked.true:
            why = next(
                (e.text for e in checked.finding.evidence if " at most: " in e.text), "by what its rule takes off"
            )
            return f"a note of {checked.finding.rule}, {why.removeprefix('note at most: ')}"
    writer, user = _at(score, met.written.span[0]), _at(score, met.used.span[0])
    if writer is None or user is None:
        return "no code that names one of the two was seen"
    cold = [a.name for a, heat in ((writer, writer.write_heat), (user, user.heat)) if heat is Heat.COLD]
    if cold:
        return f"`{'` and `'.join(cold)}` taken for seldom used"
    if here:
        return f"{here[0].finding.severity.value} {here[0].finding.rule} names another pair"
    if Heat.HOT not in (writer.write_heat, user.heat):
        return "neither is among the busiest"
    if writer.span == user.span:
        return "both are one thing to the code"
    return "used together, or by one thread as far as the code shows"


def _stripped(rows: Sequence[Row]) -> list[Score]:
    """Without programs that were built here: they are Debian's once more."""
    return [score for one, score in rows if len(one.scores) == 1]


def _sum(scores: Sequence[Score], get: Callable[[Score], Share]) -> Share:
    return reduce(add, map(get, scores), Share())


def _of(share: Share) -> str:
    return f"{share.part} of {share.whole}" if share.whole else "–"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
