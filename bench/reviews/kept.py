"""What came of the commits of each project, and its table in the documentation."""

from __future__ import annotations

from pathlib import Path

import msgspec

from bench.places import REPOSITORY

KEPT = Path(__file__).with_name("outcomes.json")
PAGE = REPOSITORY / "docs" / "accuracy-reviews.md"
_HEAD = "| project | until | commits checked | new at low and above | analysed in part | median s | most s |"
_RULE = "|---" * _HEAD.count(" | ") + "|---|"


class Reviewed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sums of one project: ``until`` is the last commit, ``new`` counts findings from low on.

    Seconds are of processors.  ``incomplete`` is None where it was not noted.
    """

    until: str
    commits: int
    new: int
    incomplete: int | None
    median_s: float
    most_s: float


def kept() -> dict[str, Reviewed]:
    """By project."""
    return msgspec.json.decode(KEPT.read_bytes(), type=dict[str, Reviewed]) if KEPT.exists() else {}


def keep(project: str, reviewed: Reviewed) -> None:
    """Put it in the place of what was kept of that project."""
    rows = {**kept(), project: reviewed}
    KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(dict(sorted(rows.items()))), indent=1) + b"\n")


def write_table() -> None:
    """Put the table of all that is kept in the place of the one that the page has."""
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith("| project |"))
    after = next(at for at in range(first, len(lines)) if not lines[at].startswith("|"))
    rows = [
        f"| {project} | {r.until} | {r.commits} | {r.new} | {'–' if r.incomplete is None else r.incomplete} | "
        f"{r.median_s:.1f} | {r.most_s:.1f} |"
        for project, r in kept().items()
    ]
    lines[first:after] = [_HEAD, _RULE, *rows]
    PAGE.write_text("\n".join(lines), encoding="utf-8")
