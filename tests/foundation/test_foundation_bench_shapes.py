"""When a finding tells of a program of one shape, and what its truth says of its source."""

from __future__ import annotations

import re

import msgspec
import pytest

from bench.shapes.judge import KINDS, OF_A_TYPE, Judged, names
from bench.shapes.page import FIRST_RUN, page
from bench.shapes.truth import PROGRAMS, Shape, flags, read, sources
from tests.foundation.test_foundation_bench_planted import finding

MEMBERS = Shape("positive", "two", "why", (r"\bconf\b.*\bhits\b", r"(^|[.>:\]])hits\b"), (r"\bconf\b.*\blimit\b",))
SLOTS = Shape("positive", "one", "why", (r"\bslot\b.*\bn\b", r"\bslots\b"))
WORDS = re.compile(r"\w{3,}")


@pytest.mark.parametrize(
    ("shape", "said", "is_told"),
    [
        (MEMBERS, ("conf.hits", "conf.limit"), True),
        (MEMBERS, ("struct conf.limit", "struct conf.hits"), True),
        (MEMBERS, ("conf.hits", "conf.name"), False),
        (MEMBERS, ("conf.hits",), False),
        (SLOTS, ("slots",), True),
        (SLOTS, ("slots[0]", "slots[1]"), True),
        (SLOTS, ("slots", "other"), True),
        (SLOTS, ("struct slot.m", "other"), False),
    ],
)
def test_a_finding_tells_of_a_shape_whose_sides_it_names(shape: Shape, said: tuple[str, ...], is_told: bool) -> None:
    assert names(finding(*said), shape) is is_told


def test_elements_that_meet_at_their_ends_are_named_by_their_type() -> None:
    meeting = msgspec.structs.replace(finding("struct slot.a", "struct slot.b"), rule=OF_A_TYPE)
    assert names(meeting, SLOTS)
    assert not names(finding("struct slot.a", "struct slot.b"), SLOTS)
    assert not names(msgspec.structs.replace(finding("struct conf.a", "struct conf.b"), rule=OF_A_TYPE), MEMBERS)


def test_a_page_counts_shapes_and_twins_apart() -> None:
    shapes = {"p": SLOTS, "n": Shape("negative", "one", "why", doubt="a <b>")}
    rows = [Judged(name, kind, True, (finding("slots"),)) for kind in KINDS for name in shapes]
    text = page(shapes, rows)
    assert "| gcc -O2 | 1 of 1 | 40 | 1 of 1 | 3 |" in text
    assert f"| p | one | {', '.join(KINDS)} | – |" in text
    assert f"| n | why | {', '.join(KINDS)} |" in text
    assert "- n: a &lt;b&gt;" in text
    assert tuple(FIRST_RUN) == KINDS


def test_every_source_is_of_a_program() -> None:
    named = {path for name in read() for path in sources(name)}
    assert {path for path in PROGRAMS.rglob("*.c*") if path.is_file()} == named


@pytest.mark.parametrize("name", sorted(read()))
def test_each_side_is_named_in_the_source(name: str) -> None:
    """A pattern without a word of the source would match nothing; of a library's types the other patterns are."""
    shape, files = read()[name], sources(name)
    headers = [path for folder in {path.parent for path in files} for path in folder.glob("*.h")]
    words = {word for path in files + headers for word in WORDS.findall(path.read_text())}
    assert words
    assert bool(shape.a) is (shape.kind == "positive")
    for side in filter(None, (shape.a, shape.b)):
        assert any(set(WORDS.findall(pattern.replace("\\b", " "))) <= words for pattern in side)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("001-rx-tx-globals", ()),
        ("045-lambda-ref", ("-std=c++20",)),
        ("007-omp-for-hist", ("-fopenmp",)),
        ("065-omp-vector-slot", ("-std=c++20", "-fopenmp")),
    ],
)
def test_compilers_are_told_the_standard_and_openmp(name: str, told: tuple[str, ...]) -> None:
    assert flags(sources(name)) == told
