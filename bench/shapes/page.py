"""The page of the programs of one shape each: which are found in each kind of build, and what is said of innocent ones.

Owns the words of ``docs/accuracy-shapes.md``.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from bench.planted.page import listed, said_of
from bench.shapes.judge import Judged
from bench.shapes.truth import Shape

HEAD = """# Programs of one shape

110 programs of 27 to 84 lines, each of one way in which threads come to share a line: 80 in which two do, and 30 twins
in which they do not: members are aligned, threads run one after the other or under one lock, sums are kept in locals.
They were written by somebody who did not know linemate, to be of as many shapes as can be: how threads are started,
where the data is, how the code gets there, and what tells threads which element is theirs. Their author checked the
pairs by running builds of `-fsanitize=thread` in which other hooks take the place of the sanitizer's functions and see
the address of each access: all 80 show a pair of threads that touch different bytes of a line in the program's run, 79
of them at least 200 times each while the other one does (033 writes each byte once; 021 shows it if its threads happen
to run on several processors of one line). Of the twins two do so, under one lock (106, 113). What the sides may be
called was written down before linemate was run. By `python -m bench.shapes --page`, of `bench/shapes`;
`bench/shapes/truth.json` has the sides.

A shape is *found* where a finding from low on names both sides; where both are slots of one array or objects of one
type, one name is enough, and of elements that meet at their ends (`thread-elements-meet`) the name of their type. Any
finding from low on counts against a twin. Stripped files are left out: members have no names there, and the truth does
not know which place of a section is which. What the first run missed has mended the model since, so that only the
figures of that run say how linemate does on programs that it was not mended by. It was scored by the same names, but
counted as missed what names the type of elements that meet alone.
"""
# Of 80 and of 30, by kind of build.
FIRST_RUN = {"gcc -O2": (40, 3), "clang -O2": (38, 2), "gcc -O0": (36, 3), "source": (45, 5)}


def page(shapes: dict[str, Shape], judged: Iterable[Judged]) -> str:
    """The page of the documentation; ``judged`` has every program in every kind of build."""
    rows = list(judged)
    positive, negative = ({n: s for n, s in shapes.items() if s.kind == k} for k in ("positive", "negative"))
    doubts = {name: shape.doubt for name, shape in shapes.items() if shape.doubt}
    lines = [
        HEAD,
        *_table(rows, positive, negative),
        "",
        "## Shapes",
        "",
        "How threads start / where the data is / how code gets there / what tells threads which is theirs.",
        "",
        "| program | shape | found | missed |",
        "|---|---|---|---|",
        *(_row(name, shape, rows) for name, shape in positive.items()),
        "",
        "## Twins that share nothing",
        "",
        "| program | why not | finding in |",
        "|---|---|---|",
        *(f"| {name} | {_text(s.why)} | {_builds(name, rows, said=True)} |" for name, s in negative.items()),
        "",
        "What is said of them:",
        "",
        *_said([one for one in rows if one.name in negative]),
        "",
        "## What the author was not sure of",
        "",
        *(f"- {name}: {_text(doubt)}" for name, doubt in doubts.items()),
        "",
    ]
    return "\n".join(lines)


def _table(rows: list[Judged], positive: dict[str, Shape], negative: dict[str, Shape]) -> Iterator[str]:
    yield "| build | shapes found | at the first run | twins with a finding | at the first run |"
    yield "|---|---|---|---|---|"
    for kind, (found_first, said_first) in FIRST_RUN.items():
        found = sum(one.found for one in rows if one.kind == kind and one.name in positive)
        said = sum(bool(one.said) for one in rows if one.kind == kind and one.name in negative)
        of_all = f"{found} of {len(positive)} | {found_first} | {said} of {len(negative)} | {said_first}"
        yield f"| {kind} | {of_all} |"


def _row(name: str, shape: Shape, rows: list[Judged]) -> str:
    found, missed = (_builds(name, rows, found=found) for found in (True, False))
    return f"| {name} | {_text(shape.shape)} | {found} | {missed} |"


def _builds(name: str, rows: list[Judged], found: bool | None = None, said: bool | None = None) -> str:
    """The builds of a program in which its shape is found or not, or in which something is said of it."""
    own = [one for one in rows if one.name == name and found in (None, one.found) and said in (None, bool(one.said))]
    return ", ".join(one.kind for one in own) or "–"


def _said(rows: list[Judged]) -> list[str]:
    said: dict[str, list[str]] = {}
    for one in rows:
        for finding in one.said:
            said.setdefault(said_of(one.name, finding), []).append(one.kind)
    return listed(said)


def _text(words: str) -> str:
    """Types of C++ as text, not as tags."""
    return html.escape(words, quote=False)
