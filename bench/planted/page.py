"""The page of the planted programs: how many counted pairs are found in each kind of build, and what is wrong.

Owns the words of ``docs/accuracy-planted.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bench.planted.judge import Judged, Rating
from bench.planted.truth import Program
from sharing.model.finding import Finding, Severity

HEAD = """# Planted programs

Sixty-three programs of 330 to 1,180 lines in the style of servers and libraries, by thirteen who did not know how
linemate judges, each with several pairs of things that share a line and as many that only look so: seldom counters,
configuration that is written at the start, elements that are aligned, errors that never come. Which pairs threads used
on one line was counted (callgrind for how often, builds that tell addresses for which bytes; of the last 48 a trace
of every access by a tool of valgrind) and written down with the names that a report may give them, before linemate was
run: a pair is one where two threads that ran at the same time used different bytes of a line, one of them wrote, and
both did so at least 100 times per million of their instructions.
By `python -m bench.planted --page`, of `bench/planted`; `bench/planted/truth.json` has the pairs and their counts.

A finding is *true* where it names both sides of a pair, *plausible* where it names what the author thought that a
reader may accept, and else *other*. Pairs of static storage count where a build puts them on one line. What the first
runs missed has mended the model since, so that only these say how linemate does on programs that it was not mended by.
Without symbols most places on the heap have no name that a pattern knows: what is said of these counts as neither,
though it may be of a counted pair.
"""
FIRST_RUNS = {
    "first": """At the first run, 16 of 36 pairs were found with gcc -O2, 14 of 35 with clang -O2, 15 and 13 of 36
at -O0, 9 without symbols, and 20 in the source; 10 of 20 findings at high were true, and the ten others were one lock
in six builds, which is taken where a checksum is wrong.
""",
    "second": """At the first run, as its author rated it, 24 of 40 pairs were found with gcc -O2, 21 of 38 with
clang -O2, 21 and 14 of 39 at -O0, 15 of 40 without symbols, and 32 of 40 in the source; of 44 findings at high 38 were
true and 6 plausible. Its author also accepted places without a name by the code that uses them, which the table below
does not.
""",
    "third": """At the first run, as its author rated it after mending four patterns of names, 23 of 43 pairs were found
with gcc -O2, 24 of 46 with clang -O2, 14 of 43 and 17 of 47 at -O0, 12 of 43 without symbols, and 27 of 43 in the
source; of 25 findings at high 23 were true and 2 plausible, of 52 at medium 47 and 5. A tree that was mended by the
first ten alone, which raised what is found of these from 232 to 282 of 451, found 24, 24, 13, 14, 12 and 26 of these
before anybody read them: what helps in programs that were looked at helps elsewhere little.
""",
    "fourth": """At the first run 23 of 51 pairs were found with gcc -O2, 24 of 49 with clang -O2, 21 of 51 and 18 of 49
at -O0, 16 of 51 without symbols, and 33 of 51 in the source; of 22 findings at high 14 were true and 8 neither, of 96
at medium 84 and 7. A tree that was mended by the others and by the small programs of [shapes](accuracy-shapes.md)
found 25, 26, 24, 20, 17 and 35 of these before anybody read them, and of 33 findings at high 26 were true and 7
neither: four of these were threads that are started one after another in a loop that the compiler unrolled, which are
told apart since, and three a table that threads write in turns between barriers. The author also accepted more than
the table below does.
""",
    "fifth": """At the first run 31 of 55 pairs were found with gcc -O2, 32 of 55 with clang -O2, 31 of 56 and 28 of 52
at -O0, 13 of 55 without symbols, and 38 of 55 in the source; of 57 findings at high 55 were true, 1 plausible and 1
neither, of 76 at medium 67, 8 and 1. A tree that was mended by 72 further small programs of another author, and by
what was missed in the older ones, found 32, 33, 33, 30, 14 and 38 of these before anybody read them.
""",
    "sixth": """At the first run 19 of 59 pairs were found with gcc -O2, 17 of 57 with clang -O2, 12 of 59 and 10 of 58
at -O0, 3 of 59 without symbols, and 26 of 59 in the source; but for stripped files, 7 of 8 findings at high were true
and 1 neither, of 67 at medium 61 and 6 plausible, of 32 at low 23 and 9; without symbols 3 of 15 true, 2 plausible.
These are the hardest so far: pools that are handed functions start the threads, most data is in records on the heap,
often two pointers away. Two of the five (tilerender and latchtree) were read then, and what was missed in them mended:
20 more pairs of these two are found, and of the other three, which nobody had read, none.
""",
    "seventh": """At the first run 22 of 65 pairs were found with gcc -O2, 24 of 64 with clang -O2, 27 of 65 and 21 of
63 at -O0, 9 of 65 without symbols, and 36 of 65 in the source; but for stripped files, 27 of 30 findings at high were
true and 3 plausible, of 70 at medium 57 and 11, of 62 at low 45 and 16; without symbols 9 of 25 true, 5 plausible. A
tree that was mended by what small programs of other shapes showed, before anybody read these, found 23, 22, 27, 21, 9
and 36: of 40 at high 36 true and 4 plausible, of 86 at medium 70 and 14.
""",
    "eighth": """At the first run 46 of 74 pairs were found with gcc -O2, 38 of 72 with clang -O2, 34 of 66 and 24 of 68
at -O0, 16 of 74 without symbols, and 42 of 74 in the source; of the pairs that both sides used 1,000 times per million
instructions 40 of 60, 33 of 61, 23 of 43, 20 of 46, 14 of 60 and 38 of 60. But for stripped files, 36 of 43 findings at
high were true and 7 plausible, of 107 at medium 90 and 13, of 43 at low 30 and 8; without symbols 18 of 42 true and 13
plausible.
""",
    "ninth": """At the first run 28 of 82 pairs were found with gcc -O2, 29 of 85 with clang -O2, 24 of 81 and 24 of 81
at -O0, 9 of 82 without symbols, and 49 of 82 in the source; of the pairs that both sides used 1,000 times per million
instructions 23 of 56, 21 of 49, 8 of 23, 8 of 21, 8 of 56 and 38 of 57. But for stripped files, 23 of 34 findings at
high were true, of 94 at medium 77, of 67 at low 47; without symbols 8 of 31. Of the 11 that were high and false 7
told of counts of failures or of the lock of messages that are kept in memory, which are taken for seldom since; the
other four are the slots that two threads fill before the first barrier. Another set of an author before this one,
which is not here, first gave 41 of 82, 40 of 81, 26 of 75, 30 of 74, 19 of 82 and 46 of 82.
""",
    "tenth": """At the first run 14 of 133 pairs were found with gcc -O2, 23 of 134 with clang -O2, 15 of 127 and 18 of
132 at -O0, 8 of 133 without symbols, and 28 of 133 in the source; of the pairs that both sides used 1,000 times per
million instructions 13 of 114, 21 of 113, 9 of 53, 11 of 55, 8 of 114 and 26 of 114. But for stripped files, two
findings were high, and true; of 21 at medium 20, of 71 at low 55. Nearly all was a note: the threads of all five nap
for microseconds where they find nothing to do, and were taken to rest, which they no longer are. Threads of classes
with a virtual function, and such as one function makes and another starts, are known in code since as well.
""",
    "eleventh": """At the first run 57 of 129 pairs were found with gcc -O2, 56 of 130 with clang -O2, 53 of 125 and 56
of 125 at -O0, 21 of 129 without symbols, and 51 of 129 in the source; of the pairs that both sides used 1,000 times per
million instructions 45 of 107, 50 of 113, 29 of 58, 29 of 61, 18 of 107 and 45 of 113. But for stripped files, 73 of 79
findings at high were true, of 144 at medium 114, of 91 at low 57; without symbols 22 of 45. Of the 129 pairs 12 are
neighbours that an allocator puts side by side, of different types, which code does not tell; 22 to 24 more were notes.
What every finding left unsaid of its line is said since, records that are handed to threads one each are low, and what
a thread uses alone is low at least: by what the older fifty showed of notes, but for the records.
""",
    "twelfth": """At the first run 37 of 127 pairs were found with gcc -O2, 40 of 134 with clang -O2, 39 of 122 and 42
of 127 at -O0, 19 of 127 without symbols, and 62 of 127 in the source; of the pairs that both sides used 1,000 times per
million instructions 28 of 106, 32 of 108, 13 of 55, 20 of 58, 15 of 106 and 53 of 107. But for stripped files, 41 of 49
findings at high were true, of 87 at medium 78, of 87 at low 58; without symbols 14 of 26. Two of the four run what they
do through pointers that code did not lead to: handlers that a function puts into an array, which are known since, and
threads that a table of functions starts, with what they run in a part of a larger record, which are not. In code each
check in front of the work halves how often that is done, as long as nothing tells which way is usual.
""",
    "thirteenth": """At the first run 78 of 136 pairs were found with gcc -O2, 82 of 138 with clang -O2, 64 of 129 and
70 of 132 at -O0, 36 of 136 without symbols, and 82 of 136 in the source; of the pairs that both sides used 1,000 times
per million instructions 57 of 103, 60 of 106, 17 of 34, 22 of 39, 32 of 103 and 68 of 112. But for stripped files, 54
of 58 findings at high were true and one plausible, of 92 at medium 86, of 140 at low 107; without symbols 8 of 9 at
high. What is missed is above all in records on the heap: what runs on one of several threads by turns (strands), small
records side by side, and a third thread's member in a record that two others have at one time.
""",
}
_MANY = {4: "four", 5: "five"}
UPPER = (Severity.HIGH, Severity.CRITICAL)


def page(programs: dict[str, Program], judged: Iterable[Judged]) -> str:
    """The page of the documentation; ``judged`` has every program in every kind of build."""
    rows = list(judged)
    lines = [HEAD]
    for part in dict.fromkeys(program.part for program in programs.values()):
        own = [one for one in rows if programs[one.name].part == part]
        many = _MANY[len({one.name for one in own})]
        lines += [f"## The {part} {many}", "", FIRST_RUNS[part], *_table(own), ""]
    lines += [
        "## Pairs",
        "",
        "Uses per million instructions of the thread that used a side most, and the builds in which the pair is found;",
        "where a build does not put both on a line it is left out.",
        "",
        "| program | pair | uses | found | missed |",
        "|---|---|---|---|---|",
        *(row for name, program in programs.items() for row in _pair_rows(name, program, rows)),
        "",
        "## Findings at medium and high that are neither",
        "",
        *_others(rows),
        "",
    ]
    return "\n".join(lines)


def _table(rows: list[Judged]) -> Iterator[str]:
    yield "| build | pairs found | high: true, plausible, other | medium | low |"
    yield "|---|---|---|---|---|"
    for kind in dict.fromkeys(one.kind for one in rows):
        yield _kind_row(kind, [one for one in rows if one.kind == kind])


def _kind_row(kind: str, rows: list[Judged]) -> str:
    found, wanted = sum(len(one.found) for one in rows), sum(len(one.wanted) for one in rows)
    cells = (_ratings(rows, *severities) for severities in (UPPER, (Severity.MEDIUM,), (Severity.LOW,)))
    return f"| {kind} | {found} of {wanted} | {' | '.join(cells)} |"


def _ratings(rows: list[Judged], *severities: Severity) -> str:
    return ", ".join(str(sum(one.count(rating, *severities) for one in rows)) for rating in Rating)


def _pair_rows(name: str, program: Program, rows: list[Judged]) -> Iterable[str]:
    own = [one for one in rows if one.name == name]
    for pair in program.pairs:
        found = ", ".join(one.kind for one in own if pair.name in one.found)
        missed = ", ".join(one.kind for one in own if pair.name in one.wanted and pair.name not in one.found)
        uses = f"{pair.a.per_million} and {pair.b.per_million}"
        yield f"| {name} | {pair.name}: {pair.kind} | {uses} | {found or '–'} | {missed or '–'} |"


def _others(rows: list[Judged]) -> list[str]:
    said: dict[str, list[str]] = {}
    for one in rows:
        for rated in one.rated:
            if rated.rating is Rating.OTHER and rated.finding.severity.rank >= Severity.MEDIUM.rank:
                said.setdefault(said_of(one.name, rated.finding), []).append(one.kind)
    return listed(said)


def said_of(name: str, finding: Finding) -> str:
    """A finding of a program in a line."""
    names = " / ".join(part.full_name for part in finding.participants[:2])
    return f"{name}: {finding.severity} `{finding.rule}`, `{names}`"


def listed(said: dict[str, list[str]]) -> list[str]:
    """Such lines with the builds in which they are said."""
    return [f"- {text} ({', '.join(kinds)})" for text, kinds in sorted(said.items())] or ["None."]
