"""Where in source the accesses of a sampled finding are: read from the few line programs that speak of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from elfscan.debug.linetable import LineTable, read_lines
from elfscan.fileformat.elf import ElfFile, map_file
from linemate.sampled.sources import own_places_of, places_of, sources_of
from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.model.image import AccessKind, ImageKind
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import Site
from tests.builders.recorded import attribution
from tests.sampled.test_sampled_verdicts import pair

ADD = "long total;\nlong add(long x) {\n  total += x;\n  return total;\n}\n"
MAIN = "long add(long);\nint main(int argc, char **argv) {\n  return add(argc) == 7;\n}\n"


@pytest.fixture(scope="module", params=["4", "5"])
def program(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Two units, with line programs of one version."""
    where = tmp_path_factory.mktemp("lines")
    (where / "add.c").write_text(ADD)
    (where / "main.c").write_text(MAIN)
    subprocess.run(
        ["gcc", "-O1", f"-gdwarf-{request.param}", "add.c", "main.c", "-o", "program"], check=True, cwd=where
    )
    return where / "program"


def lines_of(program: Path, *wanted: int) -> LineTable:
    return read_lines(ElfFile(str(program), map_file(str(program))), np.array(wanted, np.uint64) if wanted else None)


def of_file(table: LineTable, name: str) -> list[int]:
    """Addresses of the instructions of one file."""
    rows = table.rows[[table.files[f].endswith(name) for f in table.rows["file"].tolist()]]
    return [int(a) for a in rows["address"]]


def test_only_the_programs_that_speak_of_an_address_are_read(program: Path) -> None:
    whole = lines_of(program)
    assert of_file(whole, "add.c")
    assert of_file(whole, "main.c")
    # The first unit of the text has none below it that could hold its addresses.
    first, other = sorted(("add.c", "main.c"), key=lambda name: min(of_file(whole, name)))
    inside = of_file(whole, first)[0]
    few = lines_of(program, inside)
    assert (of_file(few, first), of_file(few, other)) == (of_file(whole, first), [])
    assert lines_of(program, 1).rows.size == 0


def test_every_instruction_has_the_place_that_the_whole_table_gives_it(program: Path) -> None:
    whole = lines_of(program)
    for row in whole.rows:
        few = lines_of(program, int(row["address"]))
        (at,) = few.at(np.array([row["address"]], np.uint64)).tolist()
        (known,) = whole.at(np.array([row["address"]], np.uint64)).tolist()
        for name in ("line", "column"):
            assert few.rows[at][name] == whole.rows[known][name]


def test_an_instruction_is_said_with_file_line_and_column(program: Path) -> None:
    whole = lines_of(program)
    rows = whole.rows[whole.rows["line"] == ADD.splitlines().index("  total += x;") + 1]
    ip = int(rows["address"][0])
    told = sources_of([Site(str(program), ip, "add", 0, 8, AccessKind.RMW, 1)])
    assert told[str(program), ip].endswith(f"add.c:3:{ADD.splitlines()[2].index('+=') + 1}")


def test_what_cannot_be_read_has_no_place(program: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for path in (str(tmp_path / "gone"), str(tmp_path / "text")):
        assert sources_of([Site(path, 0x1000, "f", 0, 8, AccessKind.LOAD, 1)]) == {}
    assert sources_of([Site(str(program), 1, "f", 0, 8, AccessKind.LOAD, 1)]) == {}


def test_a_finding_tells_the_places_of_each_participant() -> None:
    run = profile_lines(attribution(pair()), 64)
    verdicts = judge_lines(run, Names(), 64)

    def sources(sites: object) -> dict[tuple[str, int], str]:
        assert isinstance(sites, list)
        assert {s.function for s in sites} == {"count_in", "count_out"}
        return {(s.module, s.ip): "/src/pair.c:7:3" for s in sites}

    (finding,) = findings_of(verdicts, run.totals, Style(64, ImageKind.PIE), sources=sources)
    told = [(one.name, one.function, one.verb, one.source) for one in finding.related]
    for at, function in (("0–7", "count_in"), ("8–15", "count_out")):
        for verb in ("reads", "writes"):
            assert (f"heap 0x5000 bytes {at}", function, verb, "/src/pair.c:7:3") in told
    assert len(told) == len(set(told)) == 4


OWN_H = "inline void bump(long &at) {\n  at += 3;\n}\n"
INLINED = """\
#include <atomic>
#include "own.h"
std::atomic<long> ticks;
long plain;
void tick() {
  ticks.fetch_add(1);
}
void add() { bump(plain); }
int main() { tick(); add(); }
"""


def test_what_a_library_s_header_inlined_is_where_the_program_calls_it(tmp_path: Path) -> None:
    """An own header's code stays where it was written, though it is inlined as well."""
    (tmp_path / "own.h").write_text(OWN_H)
    (tmp_path / "main.cc").write_text(INLINED)
    subprocess.run(["g++", "-O2", "-g", "-fno-inline-small-functions", "main.cc", "-o", "p"], check=True, cwd=tmp_path)
    path = str(tmp_path / "p")
    table = read_lines(ElfFile(path, map_file(path)))
    inlined = {
        name: [int(row["address"]) for row in table.rows if table.files[row["file"]].endswith(name)]
        for name in ("bits/atomic_base.h", "own.h")
    }
    assert all(inlined.values())
    for name, place in (("bits/atomic_base.h", "main.cc:6"), ("own.h", "own.h:2")):
        told = {of.rpartition(":")[0] for of in own_places_of([(path, ip) for ip in inlined[name]]).values()}
        assert {one.rpartition("/")[2] for one in told} == {place}
    as_tabled = places_of([(path, ip) for ip in inlined["bits/atomic_base.h"]])
    assert all("bits/atomic_base.h:" in one for one in as_tabled.values())
