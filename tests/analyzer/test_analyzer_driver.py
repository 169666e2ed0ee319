"""Which units are read, with which flags, and what is said of those that cannot be.

Owns compile databases and isolation; what is said of a unit that can be read is tested beside this.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sharing.model.facts import FactsEnd, FactsHeader
from tests.analyzer.units import KNOWLEDGE, database, entry, facts, run, tool, variables
from tests.nativetools import not_with_sanitizers

not_sanitized = not_with_sanitizers("a tool has no limit on memory, and reports a crash itself")


def test_the_order_of_the_stream_is_that_of_the_database(tmp_path: Path) -> None:
    names = [f"u{i}.c" for i in (7, 3, 9, 1, 4, 8)]
    for i, name in enumerate(names):
        (tmp_path / name).write_text(f"int v{i};\n" * (200 if i == 0 else 1))
    path = database(tmp_path, *(entry(tmp_path, name) for name in names))
    answer = run("-p", path, "-j2", cwd=tmp_path)
    assert [Path(u.path).name for u in answer.units] == names
    assert isinstance(answer.lines[0], FactsHeader)
    assert isinstance(answer.lines[-1], FactsEnd)
    assert run("-p", path, "-j1", cwd=tmp_path).raw == answer.raw


def test_command_strings_are_split_as_a_shell_does(tmp_path: Path) -> None:
    (tmp_path / "with space.c").write_text("int a[N]; char t[] = TEXT;\n")
    command = r"""cc -DN=3 '-DTEXT="x\y"' -D"UNUSED=a b" -o out\ put.o -c "with space.c" """
    path = database(tmp_path, {"directory": str(tmp_path), "file": "with space.c", "command": command})
    found = variables(run("-p", path, cwd=tmp_path).unit)
    assert (found["a"].size, found["t"].size) == (12, 3)  # \y is one character and the end


def test_kernel_style_databases_have_relative_files_and_flags_of_gcc(tmp_path: Path) -> None:
    (tmp_path / "kernel").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "config.h").write_text("#define CONFIGURED 5\n")
    (tmp_path / "kernel" / "fork.c").write_text("int slots[CONFIGURED];\n")
    command = (
        "gcc -Wp,-MMD,kernel/.fork.o.d -nostdinc -I./include -include ./include/config.h -D__KERNEL__ -std=gnu11 "
        "-fno-PIE -fconserve-stack -mrecord-mcount -fplugin=./evil.so -fno-var-tracking-assignments -Wno-format-zero "
        "-mindirect-branch=thunk-extern -DKBUILD_MODFILE='\"kernel/fork\"' -O2 -c -o kernel/fork.o kernel/fork.c"
    )
    path = database(tmp_path, {"directory": str(tmp_path), "file": "kernel/fork.c", "command": command})
    answer = run("-p", path, cwd=tmp_path)
    assert not answer.failures
    assert not answer.unit.errors
    assert variables(answer.unit)["slots"].size == 20
    assert not answer.unit.options.pic
    for flag in ("-fconserve-stack", "-mrecord-mcount", "-fplugin", "-mindirect-branch"):
        assert sum(flag in note for note in answer.notes) == 1, flag
    assert not list(tmp_path.rglob("*.d"))


def test_a_flag_is_noted_once_for_all_units(tmp_path: Path) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int x;\n")
    path = database(tmp_path, *(entry(tmp_path, n, "-fconserve-stack") for n in ("a.c", "b.c")))
    assert run("-p", path, cwd=tmp_path).notes == ["flags left out: -fconserve-stack (2 units)"]


def test_equal_entries_count_once_and_different_ones_both(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x[N];\n")
    three = entry(tmp_path, "a.c", "-DN=3")
    path = database(tmp_path, three, three, {**three, "output": "other.o"}, entry(tmp_path, "a.c", "-DN=4"))
    assert [variables(u)["x"].size for u in run("-p", path, cwd=tmp_path).units] == [12, 16]


def test_response_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "flags.rsp").write_text("-DN=6 @more.rsp")
    (tmp_path / "more.rsp").write_text("-DM=2")
    (tmp_path / "a.c").write_text("char x[N * M];\n")
    path = database(tmp_path, entry(tmp_path, "a.c", "@flags.rsp"))
    assert variables(run("-p", path, cwd=tmp_path).unit)["x"].size == 12


def test_dead_paths_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.c").write_text("int x;\n")
    gone = {"directory": str(tmp_path / "nowhere"), "file": "far.c", "command": "cc -c far.c"}
    path = database(tmp_path, entry(tmp_path, "gone.c"), gone, entry(tmp_path, "good.c"))
    answer = run("-p", path, cwd=tmp_path)
    assert set(answer.failures) == {"gone.c", "far.c"}
    assert variables(answer.unit).keys() == {"x"}
    assert (answer.end.units, answer.end.failed) == (3, 2)


def test_sources_choose_from_the_database(tmp_path: Path) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int x;\n")
    path = database(tmp_path, *(entry(tmp_path, n) for n in ("a.c", "b.c")))
    answer = run("-p", path, "b.c", "other.c", cwd=tmp_path)
    assert Path(answer.unit.path).name == "b.c"
    assert answer.failures == {"other.c": "not in the compile database"}


def test_assembler_is_left_out_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.S").write_text("nop\n")
    answer = run("-p", database(tmp_path, entry(tmp_path, "a.S")), cwd=tmp_path)
    assert (answer.end.units, answer.notes) == (0, ["1 commands compile neither C nor C++ for a processor"])


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", '[{"file": "a.c"}]', '[{"file": "a.c", "arguments": [1]}]', "[" * 9999]
)
def test_a_broken_database_is_one_line_of_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    process = subprocess.run([tool(), "--knowledge", KNOWLEDGE, "-p", tmp_path], capture_output=True, text=True)
    assert process.returncode == 2
    assert process.stderr.count("\n") == 1
    assert "compile_commands.json" in process.stderr


def test_broken_code_gives_what_can_be_had(tmp_path: Path) -> None:
    unit = facts(
        tmp_path,
        '#include "not there.h"\nint before;\nint f(void) { return nothing + ; }\n'
        "struct s { nosuch t; int u; };\nint after;\n",
    )
    assert {"before", "after"} <= variables(unit).keys()
    assert any("'not there.h' file not found" in e and "unit.c:1:10" in e for e in unit.errors)
    assert any("unit.c:4:" in e for e in unit.errors)


def test_sound_code_has_no_errors(tmp_path: Path) -> None:
    assert not facts(tmp_path, '#include <stdio.h>\nint main(void) { return puts("x"); }\n').errors


def test_a_module_in_the_source_is_not_built(tmp_path: Path) -> None:
    source = """int before;
#pragma clang module build inner
module inner {}
#pragma clang module contents
#pragma clang module begin inner
int inside;
#pragma clang module end
#pragma clang module endbuild
#pragma clang module import inner
int after;
"""
    (tmp_path / "a.c").write_text(source)
    first, second = (run("-p", database(tmp_path, entry(tmp_path, "a.c")), cwd=tmp_path) for _ in range(2))
    assert {"before", "after"} <= set(variables(first.unit))
    assert [error.endswith("module 'inner' not found") for error in first.unit.errors] == [True]
    assert first.raw == second.raw  # a file that was written would have a name of its own each time


@not_sanitized
def test_a_crash_costs_one_unit(tmp_path: Path) -> None:
    nested = 200_000
    (tmp_path / "deep.c").write_text(f"int x = {'(' * nested}1{')' * nested};\n")
    (tmp_path / "fine.c").write_text("int y;\n")
    deep = entry(tmp_path, "deep.c", f"-fbracket-depth={nested * 2}")
    answer = run("-p", database(tmp_path, deep, entry(tmp_path, "fine.c")), cwd=tmp_path)
    assert "crashed" in answer.failures["deep.c"]
    assert variables(answer.unit).keys() == {"y"}


def test_a_hang_costs_one_unit_and_its_time(tmp_path: Path) -> None:
    (tmp_path / "hang.cc").write_text(
        "constexpr unsigned f() { unsigned n = 0; while (true) ++n; return n; }\nconstexpr unsigned v = f();\n"
    )
    (tmp_path / "fine.cc").write_text("int y;\n")
    hang = entry(tmp_path, "hang.cc", "-std=c++17", "-fconstexpr-steps=2147483647")
    answer = run("--timeout", "1", "-p", database(tmp_path, hang, entry(tmp_path, "fine.cc")), cwd=tmp_path)
    assert "no answer in 1 s" in answer.failures["hang.cc"]
    assert variables(answer.unit).keys() == {"y"}


@not_sanitized
def test_memory_is_bounded_and_a_unit_of_100000_lines_fits(tmp_path: Path) -> None:
    lines = "\n".join(f"int f{i}(int a) {{ return a + v; }}" for i in range(100_000))
    (tmp_path / "large.c").write_text(f"int v;\n{lines}\n")
    assert "100 MB" in run("--memory", "100", "large.c", "--", cwd=tmp_path).failures["large.c"]
    assert len(run("large.c", "--", cwd=tmp_path).unit.functions) == 100_000
