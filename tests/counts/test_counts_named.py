"""Counts that name lines or functions instead of addresses, as compilers and profilers write them of real programs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from elfscan.debug.linetable import read_lines
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.image import read_images
from linemate.auditing.countplacement import placed
from linemate.options import AuditOptions
from linemate.pipeline import audit
from pmu.counts import read_executions
from sharing.judge.passes import Passes, run_passes
from sharing.knowledge import default_knowledge
from sharing.model.errors import LinemateError
from sharing.model.executions import NamedCounts
from sharing.model.finding import Confidence, Report, Severity
from tests.counts.conftest import PROGRAMS

WRITES, READS = 30000, 20000
BUILD = ("gcc", "-O1", "-g", "-pthread", "-fPIE", "-pie")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("named") / "program"
    subprocess.run([*BUILD, str(PROGRAMS / "pair.c"), "-o", str(where)], check=True)
    return where


@pytest.fixture(scope="module")
def gcov_json(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What gcov says of a run of the same source, which another build of it made."""
    where = tmp_path_factory.mktemp("gcov")
    subprocess.run([*BUILD, "--coverage", "-c", str(PROGRAMS / "pair.c"), "-o", "pair.o"], check=True, cwd=where)
    subprocess.run(["gcc", "--coverage", "-pthread", "-pie", "pair.o", "-o", "pair"], check=True, cwd=where)
    subprocess.run(["./pair"], check=True, cwd=where, timeout=60)
    subprocess.run(["gcov", "--json-format", "pair.gcda"], check=True, cwd=where, stdout=subprocess.DEVNULL)
    return where / "pair.gcov.json.gz"


def line_of(text: str) -> int:
    """The line of the program's source with this text."""
    lines = (PROGRAMS / "pair.c").read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


def passes_of(program: Path) -> Passes:
    (image,) = read_images(str(program))
    return run_passes(image, default_knowledge(), lambda names: names)


def executions(program: Path, named: NamedCounts) -> dict[str, int]:
    """Executions of each function's accesses to ``shared``, by function; -1 where nothing counted it."""
    passes = passes_of(program)
    image, sites = passes.image, passes.accesses.sites
    found = placed(named, passes)
    count = dict(zip(found.table["address"].tolist(), found.table["executions"].tolist(), strict=True))
    unknown = set(found.unknown.tolist())
    (shared,) = [v for v in image.variables if v["name"] >= 0 and image.names[v["name"]] == "shared"]
    of_shared = sites[(sites["target"] >= shared["address"]) & (sites["target"] < shared["address"] + shared["size"])]
    functions = image.functions
    return {
        image.names[functions[s["function"]]["name"]]: -1 if s["ip"] in unknown else count.get(int(s["ip"]), 0)
        for s in of_shared
    }


def report(program: Path, counts: Path) -> Report:
    return audit(AuditOptions(str(program), counts=(str(counts),), min_severity=Severity.NOTE))


def test_lines_of_gcov_are_executions_of_their_instructions(program: Path, gcov_json: Path) -> None:
    assert executions(program, read_executions([gcov_json]).named) == {"writer": WRITES, "read_limit": READS}


def test_findings_have_the_counts_of_all_threads(program: Path, gcov_json: Path) -> None:
    found = report(program, gcov_json)
    (finding,) = [f for f in found.findings if {p.full_name for p in f.participants} >= {"shared.counter"}]
    assert finding.confidence is Confidence.COUNTED
    rates, limit, *_ = [e.text for e in finding.evidence if e.kind is Confidence.COUNTED]
    wrote, read = (float(n.replace(",", "")) for n in re.findall(r"([\d,]+) times", rates))
    assert wrote / read == pytest.approx(WRITES / READS, rel=0.01)
    assert "all threads were counted together" in limit
    assert any("by lines of source, from gcov" in note for note in found.coverage.notes)


def test_a_file_that_no_count_covers_is_unknown_and_not_idle(program: Path) -> None:
    named = NamedCounts(lines={("/elsewhere/other.c", 1): 5})
    with pytest.raises(LinemateError, match="none of the counted files in its line table"):
        executions(program, named)


def test_two_files_of_one_name_are_told_apart_by_their_folders(program: Path) -> None:
    line = line_of("shared.counter = i")
    mine = str(PROGRAMS / "pair.c")
    assert executions(program, NamedCounts(lines={(mine, line): 7, ("/x/pair.c", line): 9}))["writer"] == 7
    moved = {("/build/counts/programs/pair.c", line): 7, ("/build/pair.c", line): 9}
    assert executions(program, NamedCounts(lines=moved))["writer"] == 7


def test_lines_need_a_line_table(program: Path, gcov_json: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-g", str(program), "-o", str(bare)], check=True)
    counts = read_executions([gcov_json]).named
    with pytest.raises(LinemateError, match="has no line table: build it with -g"):
        executions(bare, NamedCounts(lines=counts.lines))
    # What gcov says of functions is still of use: within them the estimates stay.
    assert executions(bare, counts)["writer"] == 10


LLVM_COV = """{"version": "2.0.1", "type": "llvm.coverage.json.export", "data": [{"files": [{"filename": "PATH",
"segments": [[%d, 30, 1, true, true, false], [%d, 3, 20001, true, true, false], [%d, 5, 20000, true, true, false],
[%d, 60, 1, true, false, false], [%d, 2, 0, false, false, false]]}], "functions": [{"name": "pair.c:writer", "count": 1,
"regions": [], "filenames": ["PATH"]}]}]}"""


def test_regions_of_llvm_cov_become_lines(program: Path, tmp_path: Path) -> None:
    begin = line_of("read_limit(void)")
    text = LLVM_COV % (begin, begin + 1, begin + 2, begin + 2, begin + 3)
    (tmp_path / "counts").write_text(text.replace("PATH", str(PROGRAMS / "pair.c")))
    named = read_executions([tmp_path / "counts"]).named
    lines = {line - begin: count for (_, line), count in named.lines.items()}
    assert lines == {0: 1, 1: 20001, 2: 20000, 3: 1}
    assert executions(program, named)["read_limit"] == READS


PROFDATA = """Counters:
  main:
    Hash: 0x1
    Counters: 2
    Function count: 1
    Block counts: [3, 5]
  pair.c;read_limit:
    Hash: 0x2
    Counters: 2
    Function count: 40
    Block counts: [20000]
  pair.c:reader:
    Hash: 0x3
    Counters: 1
    Block counts: [7]
Instrumentation level: Front-end
Functions shown: 3
Total functions: 3
"""


def test_functions_of_llvm_profdata_scale_what_is_estimated_within_them(program: Path, tmp_path: Path) -> None:
    (tmp_path / "counts").write_text(PROFDATA)
    named = read_executions([tmp_path / "counts"]).named
    assert named.runs == {"main": 1, "read_limit": 40, "reader": 7}
    assert executions(program, named) == {"writer": -1, "read_limit": 400}  # a loop is taken for ten turns


def test_functions_entered_once_lower_no_finding_but_those_never_entered_do(program: Path, tmp_path: Path) -> None:
    before = {f.id: f.severity for f in audit(AuditOptions(str(program), min_severity=Severity.NOTE)).findings}
    (tmp_path / "counts").write_text(PROFDATA.replace("main", "writer"))
    after = report(program, tmp_path / "counts")
    assert {f.id: f.severity for f in after.findings} == before
    (tmp_path / "idle").write_text(re.sub(r"(count: |\[)\d+", r"\g<1>0", PROFDATA))
    with pytest.raises(LinemateError, match="no executed code of it"):
        report(program, tmp_path / "idle")


def branch_of(program: Path, function: str) -> tuple[int, int]:
    """Offsets of a function's first branch backwards, and of where it goes."""
    text = subprocess.run(["objdump", "-d", str(program)], check=True, capture_output=True, text=True).stdout
    body = text.partition(f"<{function}>:\n")[2].partition("\n\n")[0]
    start = int(body.split(":")[0], 16)
    for at, target in re.findall(r"^\s*([0-9a-f]+):.*\sj\w+\s+([0-9a-f]+) <", body, re.MULTILINE):
        if int(target, 16) < int(at, 16):
            return int(at, 16) - start, int(target, 16) - start
    raise AssertionError(f"{function} has no loop")


def test_branches_of_bolt_are_followed_to_the_next_one(program: Path, tmp_path: Path) -> None:
    write, read = branch_of(program, "writer"), branch_of(program, "read_limit")
    rows = [
        "0 [unknown] 0 1 writer 0 0 1",
        f"1 writer {write[0]:x} 1 writer {write[1]:x} 3 {WRITES - 1}",
        "1 reader/pair.c/1 10 1 read_limit 0 0 1",
        f"1 read_limit {read[0]:x} 1 read_limit {read[1]:x} 0 {READS - 1}",
        "4 shared 0 4 other 8 2",
    ]
    (tmp_path / "perf.fdata").write_text("\n".join(rows) + "\n")
    named = read_executions([tmp_path / "perf.fdata"]).named
    assert executions(program, named) == {"writer": WRITES, "read_limit": READS}


def test_samples_of_bolt_without_branches_are_of_functions(program: Path, tmp_path: Path) -> None:
    (tmp_path / "perf.fdata").write_text("no_lbr cycles:u:\n1 writer 12 300\n1 writer 18 100\n0 [unknown] 0 9\n")
    named = read_executions([tmp_path / "perf.fdata"]).named
    assert named.hits == {("writer", 0x12): 300, ("writer", 0x18): 100}
    found = executions(program, named)
    assert found["writer"] > 0
    assert found["read_limit"] == 0


def test_lines_of_autofdo_are_counted_from_the_function(program: Path, tmp_path: Path) -> None:
    write = line_of("shared.counter = i") - line_of("static void *writer")
    read = line_of("total = shared.limit") - line_of("read_limit(void)")
    rows = f"writer:50000:1\n {write}: 29000\n {write}.2: {WRITES}\n {write + 2}: 1 reader:1\n !CFGChecksum: 5\n"
    rows += f"reader:9:1\n 3: read_limit:20000\n  {read}: 12000\n  1: 3\nread_limit:9:0\n {read}: 8000\n"
    (tmp_path / "profile").write_text(rows)
    counts = read_executions([tmp_path / "profile"])
    assert counts.named.sampled
    assert counts.named.relative[("read_limit", read)] == READS  # inlined and not
    assert executions(program, counts.named) == {"writer": WRITES, "read_limit": READS}


def test_kinds_of_counts_do_not_mix(program: Path, gcov_json: Path, tmp_path: Path) -> None:
    (tmp_path / "threads").write_text(
        "# callgrind format\npid: 1\nthread: 1\npositions: instr\nevents: Ir\nob=/bin/a\n0x10 1\ntotals: 1\n"
    )
    with pytest.raises(LinemateError, match="give one kind at a time"):
        read_executions([tmp_path / "threads", gcov_json])


def test_units_add_up(gcov_json: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    again.write_bytes(gcov_json.read_bytes())
    once, twice = (read_executions(files).named for files in ([gcov_json], [gcov_json, again]))
    assert {key: 2 * count for key, count in once.lines.items()} == twice.lines


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("flags", [("-gdwarf-2",), ("-gdwarf-4",), ("-gdwarf-5",), ("-g", "-gz=zlib")], ids=" ".join)
def test_the_line_table_says_what_binutils_say(compiler: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    binary = tmp_path / "program"
    source = tmp_path / "two.c"
    source.write_text('#include "part.h"\nint main(int c, char **v) {\n  return part(c) + (v == 0);\n}\n')
    (tmp_path / "part.h").write_text("static inline int part(int n) {\n  while (n > 9)\n    n /= 2;\n  return n;\n}\n")
    subprocess.run([compiler, "-O2", *flags, str(source), "-o", str(binary)], check=True)
    lines = read_lines(ElfFile(str(binary), map_file(str(binary))))
    addresses = lines.rows["address"]
    asked = ["addr2line", "-e", str(binary), *(hex(a) for a in addresses.tolist())]
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split("\n")[: len(addresses)]
    mine = [f"{lines.files[r['file']].rpartition('/')[2]}:{r['line']}" for r in lines.rows[lines.at(addresses)]]
    theirs = [re.sub(r" \(.*", "", t).rpartition("/")[2].replace(":?", ":0") for t in told]
    assert mine == theirs
    assert {"two.c", "part.h"} <= {m.partition(":")[0] for m in mine}
    assert lines.lost == 0
    before = addresses.min() - 1
    assert lines.at(addresses[:1] * 0 + before).tolist() == [-1]
