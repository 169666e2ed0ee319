"""The page of installed programs and libraries: what is said of each, and how long audits take beside another tree's.

Owns the words of ``docs/accuracy-installed.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.installed.judge import Audited, Timed

INCOMPLETE = 3  # the exit status
SHOWN = 4  # threads of a file
SEVERITIES = ("critical", "high", "medium", "low")
HEAD = """# Programs and libraries as Debian installs them

What `linemate audit` says of files of Debian 12, at low and above. Nothing here tells what is true: most of these files
are known to share little, so that what is said of them is mostly noise, and a high finding is to be argued. By
`python -m bench.installed --page` of the list `bench/installed/files.json`; files that are not installed keep the row
that was made last. Exit status 3 is an analysis that is incomplete, whose report says of what.
"""
TIMES = """## Time

Seconds of processors in user mode of whole audits with debug information where the file has it, this tree and {other}
in turns on one machine. By `python -m bench.installed --against TREE PATH... --page`.
"""


def row(one: Audited) -> str:
    """For the terminal."""
    said = ", ".join(f"{one.severities[s]} {s}" for s in SEVERITIES if s in one.severities)
    return f"{one.path:55} exit {one.status}  {one.failed or said or 'nothing'}"


def page(audited: Iterable[Audited], timed: Iterable[Timed], other: str) -> str:
    rows, times = list(audited), list(timed)
    lines = [HEAD, *_summary(rows), "", *_table(rows)]
    named = [(one, text) for one in rows for text in one.named]
    if named:
        lines += ["", "## At medium and above", "", *(f"- {_name(one)}: {text}" for one, text in named)]
    if times:
        lines += ["", TIMES.format(other=other or "another tree"), *_times(times)]
    return "\n".join(lines) + "\n"


def _summary(rows: list[Audited]) -> Iterator[str]:
    yield "| group | files | with a high one | with a medium one | with a low one | with nothing | incomplete |"
    yield "|---|---|---|---|---|---|---|"
    for group in dict.fromkeys(one.group for one in rows):
        own = [one for one in rows if one.group == group]
        numbers = [
            len(own),
            sum("high" in one.severities or "critical" in one.severities for one in own),
            *(sum(s in one.severities for one in own) for s in ("medium", "low")),
            sum(not one.severities and not one.failed for one in own),
            sum(one.status == INCOMPLETE for one in own),
        ]
        yield f"| {group} | {' | '.join(map(str, numbers))} |"


def _table(rows: list[Audited]) -> Iterator[str]:
    yield f"| file | {' | '.join(SEVERITIES)} | exit | threads |"
    yield f"|---|{'---|' * len(SEVERITIES)}---|---|"
    for one in rows:
        said = " | ".join(str(one.severities.get(s, "–")) for s in SEVERITIES)
        yield f"| {_name(one)} | {said} | {one.status} | {one.failed or _threads(one)} |"


def _threads(one: Audited) -> str:
    """The words of the report; of a list of many threads the first."""
    names = one.threads.split(", ")
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (", ".join(names[:SHOWN]) + more).replace("|", "\\|")


def _times(times: list[Timed]) -> Iterator[str]:
    yield "| file | runs | least, median | the other: least, median | ratio of the least | ratio of the medians |"
    yield "|---|---|---|---|---|---|"
    for one in times:
        own, other = (f"{min(t):.2f}, {sorted(t)[len(t) // 2]:.2f}" for t in (one.own, one.other))
        ratios = f"{one.ratio:.2f} | {one.ratio_of_medians:.2f}"
        yield f"| {Path(one.path).name} | {len(one.own)} | {own} | {other} | {ratios} |"


def _name(one: Audited) -> str:
    return Path(one.path).name
