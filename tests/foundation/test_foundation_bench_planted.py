"""When a finding of a planted program counts as true, and what its truth says of its source."""

from __future__ import annotations

import re

import msgspec
import pytest

from bench.planted.build import Symbols
from bench.planted.gains import table
from bench.planted.judge import Rating, rate, shares
from bench.planted.truth import PROGRAMS, Pair, Program, Side, read
from sharing.model.finding import Finding
from tests.builders.report import REPORT

LINE = 64
HITS = Side((r"\bstats\.hits",), (), 500, (("stats", 0, 8),))
LIMIT = Side((r"\bconf\.limit",), (), 500, (("conf", 8, 4),))
PAIR = Pair("P1", "counter beside configuration", False, HITS, LIMIT)
SLOTS = Pair("P2", "thread slots", True, Side((r"^slots",), (), 500), Side((r"^slots",), (), 500))
PROGRAM = Program("a server", "first", "gnu11", 1, (PAIR, SLOTS), ((r"^stats\.seen$", "^log"),), ())
WHERE = Symbols({"stats": (0x1000, 16), "conf": (0x1010, 16)}, {"bss": 0x1000})


def finding(*names: str) -> Finding:
    """One that names these: variable, or variable and member."""
    made = REPORT.findings[0]
    parts = [
        msgspec.structs.replace(made.participants[0], name=name.partition(".")[0], member=name.partition(".")[2])
        for name in names
    ]
    return msgspec.structs.replace(made, participants=tuple(parts))


@pytest.mark.parametrize(
    ("names", "rating", "pairs"),
    [
        (("stats.hits", "conf.limit"), Rating.TRUE, ("P1",)),
        (("conf.limit", "stats.hits"), Rating.TRUE, ("P1",)),
        (("stats.hits", "conf.name"), Rating.OTHER, ()),
        (("stats.hits",), Rating.OTHER, ()),  # one side alone tells of no pair
        (("stats.seen", "log"), Rating.PLAUSIBLE, ()),
        (("slots",), Rating.TRUE, ("P2",)),
        (("slots[0]", "slots[1]"), Rating.TRUE, ("P2",)),
        (("slots", "conf.name"), Rating.OTHER, ()),
    ],
)
def test_a_finding_is_true_that_names_both_sides(
    names: tuple[str, ...], rating: Rating, pairs: tuple[str, ...]
) -> None:
    found = rate(finding(*names), PROGRAM, None)
    assert (found.rating, found.pairs) == (rating, pairs)


def test_without_symbols_places_are_looked_up_in_the_file_that_has_them() -> None:
    assert WHERE.named("bss+0x18") == "conf+0x8"
    assert rate(finding("bss+0x0", "bss+0x18"), PROGRAM, WHERE).pairs == ("P1",)
    assert rate(finding("bss+0x0", "bss+0x1c"), PROGRAM, WHERE).rating is Rating.OTHER
    assert rate(finding("bss+0x0", "bss+0x18"), PROGRAM, None).rating is Rating.OTHER


def test_a_pair_counts_where_the_build_puts_both_on_one_line() -> None:
    assert shares(PAIR, WHERE)
    assert not shares(PAIR, Symbols({"stats": (0x1000, 16), "conf": (0x1038, 16)}, {}))
    assert shares(SLOTS, WHERE)  # not of static storage: the counts say so


@pytest.mark.parametrize("name", sorted(read()))
def test_each_side_is_a_line_of_the_source(name: str) -> None:
    """A pattern that no line matches would have been counted nowhere."""
    for pair in read()[name].pairs:
        for side in (pair.a, pair.b):
            assert side.per_million >= 100
            for file, _, pattern in (line.partition(":") for line in side.lines):
                assert re.search(pattern, (PROGRAMS / name / file).read_text()), (pair.name, pattern)


def test_runs_in_turns_make_a_row_of_medians() -> None:
    runs = [f"ring {build} {wall} {busy} 0" for build, wall, busy in (
        ("before", 2.0, 6.0), ("after", 1.0, 4.0), ("before", 3.0, 6.0), ("after", 1.0, 4.0), ("before", 2.0, 9.0),
    )]  # fmt: skip
    assert table(runs)[-1] == "| ring | 2 | 2.00 s | 1.00 s | 2.00 | 1.50 |"


def test_a_run_that_failed_is_in_no_table() -> None:
    with pytest.raises(SystemExit, match=r"ring\.after ended with -6"):
        table(["ring before 2.0 6.0 0", "ring after 0.0 0.0 -6"])
