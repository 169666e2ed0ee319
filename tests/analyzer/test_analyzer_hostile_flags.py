"""No flag of a compile database makes the analyzer run a program or write a file, and those that matter still count.

Owns both: strace tells what was tried, and programs that leave traces whether anything ran.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from analyzer.stream import read_facts
from tests.analyzer.hostile_flags import PROGRAMS, RUNS, flag_sets
from tests.analyzer.units import KNOWLEDGE, Answer, database, entry, run, tool, variables

CALLS = "execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,socket"
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|^\S*\s*(creat|rename|mkdir|unlink|socket)")


class Tried:
    """What came of all sets in one run: a set has its own folders."""

    def __init__(self, folder: Path, answer: Answer, calls: list[str]) -> None:
        self.folder = folder
        self.answer = answer
        self.calls = calls


def evil_folder(folder: Path) -> Path:
    """Programs that leave ``ran`` behind when one of them runs, and the files that name them."""
    evil = folder / "evil"
    evil.mkdir(parents=True)
    for name in PROGRAMS:
        (evil / name).write_text(f"#!/bin/sh\necho gfx900; touch {shlex.quote(str(folder / 'ran'))}\n")
        (evil / name).chmod(0o755)
    (evil / "evil.so").write_bytes(b"\x7fELF")
    (evil / "evil.specs").write_text(f"*cc1:\n{evil}/cc1\n")
    for name in ("evil.cfg", "evil.rsp"):
        line = next(line for line in RUNS.splitlines() if line)
        (evil / name).write_text(line.replace("@EVIL", str(evil)))
    return evil


def words(line: str, folder: Path) -> list[str]:
    return shlex.split(line.replace("@EVIL", str(folder / "evil")).replace("@OUT", str(folder / "out")))


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace: scripts/test installs it")
    folder = tmp_path_factory.mktemp("flags")
    entries = []
    for number, line in enumerate(flag_sets()):
        own = folder / str(number)
        evil_folder(own)
        (own / "out").mkdir()
        (own / "work").mkdir()
        (own / "work" / "unit.c").write_text(f"int v{number};\n")
        entries.append(entry(own / "work", "unit.c", *words(line, own)))
    path = database(folder, *entries)
    log = folder / "log"
    command = [
        strace,
        "-f",
        "-qq",
        "-o",
        log,
        "-e",
        f"trace={CALLS}",
        tool(),
        "--knowledge",
        KNOWLEDGE,
        "-j2",
        "-p",
        path,
    ]
    done = subprocess.run(command, capture_output=True, cwd=folder)
    if not log.exists() or b"PTRACE" in done.stderr:
        pytest.skip("this machine lets no process trace another")
    assert done.returncode == 0, done.stderr
    return Tried(folder, Answer(tuple(read_facts(done.stdout)), done.stdout), log.read_text().splitlines())


def test_there_are_many(tried: Tried) -> None:
    assert len(flag_sets()) >= 60
    lines = tried.answer.end
    assert lines.units + len([n for n in tried.answer.notes if "neither C nor C++" in n]) > 60


def test_no_set_makes_the_analyzer_try_to_run_anything(tried: Tried) -> None:
    runs = [line for line in tried.calls if "exec" in line]
    assert len(runs) == 1, runs  # strace starting the tool
    assert "linemate-facts" in runs[0]


def test_no_set_makes_the_analyzer_try_to_write_or_connect(tried: Tried) -> None:
    assert [line for line in tried.calls if WRITES.search(line)] == []


@pytest.mark.parametrize("number", range(len(flag_sets())), ids=flag_sets())
def test_a_set_leaves_nothing_behind(tried: Tried, number: int) -> None:
    own = tried.folder / str(number)
    assert not (own / "ran").exists()
    assert list((own / "out").iterdir()) == []
    assert {path.name for path in (own / "work").iterdir()} == {"unit.c"}
    assert {path.name for path in own.iterdir()} == {"evil", "out", "work"}


def test_the_traces_would_show(tmp_path: Path) -> None:
    """The near miss: the compiler itself runs the first program and writes the first file."""
    clang = shutil.which("clang-19")
    if clang is None:
        pytest.skip("no clang-19: scripts/test installs it")
    evil_folder(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "unit.c").write_text("int v;\n")
    for line in (
        "--target=amdgcn-amd-amdhsa -mcpu=native --amdgpu-arch-tool=@EVIL/amdgpu-arch -nogpulib",
        "-MJ @OUT/x.json",
    ):
        subprocess.run([clang, "-fsyntax-only", *words(line, tmp_path), "unit.c"], cwd=tmp_path, capture_output=True)
    assert (tmp_path / "ran").exists()
    assert (tmp_path / "out" / "x.json").exists()


def test_what_is_left_out_is_counted_and_named_in_one_line(tmp_path: Path) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int x;\n")
    flags = ("-fplugin=./x.so", "-B/x", "-Wall", "-MD", "-MF", "x.d", "-o", "x.o")
    path = database(tmp_path, entry(tmp_path, "a.c", *flags, "-fodd\n\x1b[31m"), entry(tmp_path, "b.c", *flags, *flags))
    assert run("-p", path, cwd=tmp_path).notes == [
        "flags left out: -fplugin= (2 units), -B (2 units), -fodd\\x0a\\x1b[31m (1 unit)"
    ]


def test_the_note_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    many = [f"-fodd-{i}{'x' * 500}" for i in range(3000)]
    (note,) = run("-p", database(tmp_path, entry(tmp_path, "a.c", *many)), cwd=tmp_path).notes
    assert len(note) < 4000
    assert note.endswith("others")


EFFECTIVE = {
    "-DN=3": ("char x[N];", 3),
    "-D N=3": ("char x[N];", 3),
    "-DN=3 -UN -DN=4": ("char x[N];", 4),
    "-Wp,-DN=5,-DM": ("#ifdef M\nchar x[N];\n#endif", 5),
    "-Xpreprocessor -DN=6": ("char x[N];", 6),
    "-include n.h": ("char x[FROM_N];", 7),
    "-imacros n.h": ("char x[FROM_N];", 7),
    "-Iheaders": ("#include <in.h>\nchar x[FROM_IN];", 9),
    "-isystem headers": ("#include <in.h>\nchar x[FROM_IN];", 9),
    "-iquote headers": ('#include "in.h"\nchar x[FROM_IN];', 9),
    "-idirafter headers": ("#include <in.h>\nchar x[FROM_IN];", 9),
    "--sysroot=root": ("#include <in.h>\nchar x[FROM_IN];", 11),
    "-m32": ("long x;", 4),
    "-mx32": ("void *x;", 4),
    "--target=aarch64-linux-gnu": ("long double x;", 16),
    "-target i386-linux-gnu": ("long x;", 4),
    "-march=haswell": ("char x[__AVX2__ + 1];", 2),
    "-mavx512f": ("char x[__AVX512F__ + 1];", 2),
    "-mlong-double-64": ("long double x;", 8),
    "-fshort-enums": ("enum e {A} x;", 1),
    "-fshort-wchar": ("__WCHAR_TYPE__ x;", 2),
    "-fpack-struct": ("struct {char a; long b;} x;", 9),
    "-fpack-struct=2": ("struct {char a; long b;} x;", 10),
    "-funsigned-char": ("char x[(char)-1 > 0 ? 5 : 6];", 5),
    "-fms-extensions": ("struct a {int i;}; struct {struct a; int k;} x;", 8),
    "-std=c89": ("#ifndef __STDC_VERSION__\nchar x[3];\n#endif", 3),
    "-ansi": ("char x[__STRICT_ANSI__ + 1];", 2),
    "-O2": ("char x[__OPTIMIZE__ + 1];", 2),
    "-Os": ("char x[__OPTIMIZE_SIZE__ + 1];", 2),
    "-fPIC": ("char x[__PIC__ + 1];", 3),
    "-fpie": ("char x[__PIE__ + 1];", 2),
    "-pthread": ("char x[_REENTRANT + 1];", 2),
    "-fopenmp": ("#ifdef _OPENMP\nchar x[3];\n#endif", 3),
    "-fsanitize=address": ("char x[__has_feature(address_sanitizer) + 1];", 2),
    "-x c++ -fno-exceptions": ("#ifndef __EXCEPTIONS\nchar x[3];\n#endif", 3),
    "-x c++ -fno-rtti": ("#ifndef __GXX_RTTI\nchar x[3];\n#endif", 3),
    "-x c++ -std=c++20": ("char x[__cplusplus > 201703L ? 3 : 4];", 3),
    "-fvisibility=hidden -falign-functions=64 -ftls-model=initial-exec": ("char x[3];", 3),
    "@in.rsp": ("char x[N];", 12),
}


@pytest.fixture(scope="module")
def effective(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    folder = tmp_path_factory.mktemp("effective")
    (folder / "headers").mkdir()
    (folder / "headers" / "in.h").write_text("#define FROM_IN 9\n")
    (folder / "root" / "usr" / "include").mkdir(parents=True)
    (folder / "root" / "usr" / "include" / "in.h").write_text("#define FROM_IN 11\n")
    (folder / "n.h").write_text("#define FROM_N 7\n")
    (folder / "in.rsp").write_text("-DN=12\n")
    entries = []
    for number, (line, (text, _)) in enumerate(EFFECTIVE.items()):
        (folder / f"u{number}.c").write_text(text + "\n")
        entries.append(entry(folder, f"u{number}.c", *shlex.split(line)))
    return run("-p", database(folder, *entries), cwd=folder)


@pytest.mark.parametrize(("number", "line"), list(enumerate(EFFECTIVE)), ids=list(EFFECTIVE))
def test_a_flag_that_matters_still_counts(effective: Answer, number: int, line: str) -> None:
    (unit,) = (u for u in effective.units if Path(u.path).name == f"u{number}.c")
    assert unit.errors == ()
    assert variables(unit)["x"].size == EFFECTIVE[line][1]
    assert effective.notes == []
