"""Units that begin with the same #include are parsed from one fork: their facts are those of a parse of their own.

Owns what must not show of the shared beginning.  The parser goes on in a buffer that became another file, so each case
is something that a preprocessor or parser carries over that border, or finds at the end of the buffer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyzer.units import Answer, database, entry, run, variables

UNITS = 4  # fewer are no group
# A header has to be large enough to be worth a process.
FILL = "".join(f"/* {'-' * 900} {i} */\n" for i in range(350))

# What the header ends with, and what a unit goes on with behind its #include ({i} is its number).
BORDERS = {
    "a macro": ("#define WIDTH 7\n", "int v{i}[WIDTH];\n"),
    "a macro that units define anew": ("#define WIDTH 7\n", "#undef WIDTH\n#define WIDTH {i}1\nint v{i}[WIDTH];\n"),
    "no end of the last line": ("int last;", "int v{i};\n"),
    "the name of a macro whose arguments follow": ("#define MAKE(n) int made_##n;\nMAKE\n", "(v{i})\n"),
    "the same name behind a comment": ("#define MAKE(n) int made_##n;\nMAKE /* of */ // all\n", "(v{i})\n"),
    "the same name in a header of its own": ('#include "inner.h"\n', "(v{i})\n"),
    "the name of a macro without arguments": ("#define KIND int\nKIND\n", "(v{i});\n"),
    "an open macro call": ("#define MAKE(n) int n;\nMAKE(\n", "v{i})\n"),
    "a declaration that goes on": ("static struct pair {\n  int first;\n", "  int second{i}; }} v{i};\n"),
    "a counter": ("int before[__COUNTER__ + 1];\n", "int v{i}[__COUNTER__ + 1];\n"),
    "packing": ("#pragma pack(push, 1)\n", "struct s {{ char c; int i; }} v{i};\n"),
    "an open condition": ("#define HAS_IT\n#ifdef HAS_IT\n", "int v{i};\n#endif\n"),
    "a name of another file": ('#line 500 "elsewhere.c"\n', "char v{i}[] = __FILE__; int at[__LINE__];\n"),
    "nothing, and a line directive": (
        "",
        '#line {i}00 "made.y"\nint v{i}[__LINE__]; char f[] = __FILE__;\n',
    ),
    "nothing, and the depth of includes": ("", "int v{i}[__INCLUDE_LEVEL__ + 1];\n"),
    "#pragma once": ("#pragma once\n", '#include "shared.h"\nint v{i};\n'),
    "a guard": ("#ifndef SHARED\n#define SHARED\nint once = 1;\n#endif\n", '#include "shared.h"\nint v{i};\n'),
    "a condition of the next header": ("#define WIDE\n", '#include "inner.h"\nint v{i}[WIDTH];\n'),
    "nothing, and a function that never ends": ("", "int v{i};\nint f{i}(void) {{ return v{i};\n"),
    "nothing, and a record that never ends": ("", "struct s {{ int a; }} v{i};\nstruct t {{ int b;\n"),
    "nothing, and no end of the last line": ("", "int v{i}"),
    "nothing, and a joined line that is the last": ("", "int v{i};\nint w; \\"),
    "nothing, and blank lines up to the end": ("", "int v{i};\nint w = (\r\n\r\n"),
    "a line that is joined to the next": ("#define TWO \\\n  2\n", "int v\\\n{i}[TWO];\r\nint w;\r\n"),
}
# Clang does not look for arguments beyond the end of a file: errors at the end of the unit.
ERRORS_AT_THE_END = {
    "the name of a macro whose arguments follow",
    "the same name behind a comment",
    "the same name in a header of its own",
}
INNER = {
    "the same name in a header of its own": "#define MAKE(n) int made_##n;\nMAKE\n",
    "a condition of the next header": "#ifdef WIDE\n#define WIDTH 64\n#else\n#define WIDTH 8\n#endif\n",
}


def project(folder: Path, end: str, text: str, inner: str = "") -> Path:
    (folder / "shared.h").write_text(f"{FILL}{end}")
    (folder / "inner.h").write_text(inner)
    for i in range(UNITS):
        (folder / f"u{i}.c").write_text("/* * */\n" * i + f'#include "shared.h"\n{text.format(i=i)}', newline="")
    return database(folder, *(entry(folder, f"u{i}.c") for i in range(UNITS)))


def alone(path: Path) -> Answer:
    return run("-p", path, "-j1", "--no-shared-prefix", cwd=path.parent)


@pytest.mark.parametrize("border", BORDERS)
def test_what_crosses_the_border_is_as_in_a_parse_of_its_own(border: str, tmp_path: Path) -> None:
    path = project(tmp_path, *BORDERS[border], INNER.get(border, ""))
    shared = run("-p", path, "-j1", cwd=tmp_path)
    assert len(shared.units) == UNITS
    if border not in ERRORS_AT_THE_END:
        assert all(any(f"v{i}" in name for name in variables(u)) for i, u in enumerate(shared.units))
    assert shared.raw == alone(path).raw


def test_a_header_that_changed_between_runs_is_read_again(tmp_path: Path) -> None:
    path = project(tmp_path, "#define WIDTH 7\n", "char v{i}[WIDTH];\n")
    cache = ("--cache", tmp_path / "cache")
    first = run("-p", path, "-j1", *cache, cwd=tmp_path)
    (tmp_path / "shared.h").write_text(f"{FILL}#define WIDTH 9\n")
    second = run("-p", path, "-j1", *cache, cwd=tmp_path)
    assert [variables(a.units[1])["v1"].size for a in (first, second)] == [7, 9]
    assert second.raw == alone(path).raw


def test_units_that_begin_alike_are_read_as_if_alone(tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text(
        "#include <stdio.h>\nextern int common;\nstruct s { int a; };\nstatic int twice(int x) { return 2 * x; }\n"
        + "".join(f"/* {'-' * 900} {i} */\n" for i in range(400))
    )
    names = []
    newline = "\n"
    for i in range(6):
        names.append(f"u{i}.c")
        (tmp_path / names[-1]).write_text(
            f'/* {newline * i} */\n#include "shared.h" // all do\n'
            + f'static struct s mine{i};\nchar path[] = __FILE__;\nint at[__LINE__];\n#include "tail{i % 2}.h"\n'
            + f"int f{i}(void) {{ return twice(common) + mine{i}.a; }}\n"
            + ("int broken = nothing;\n" if i == 3 else "")
        )
    (tmp_path / "tail0.h").write_text("int zero;\n")
    (tmp_path / "tail1.h").write_text("int one;\n")
    path = database(tmp_path, *(entry(tmp_path, n) for n in names))
    shared = run("-p", path, "-j1", cwd=tmp_path)
    assert shared.raw == run("-p", path, "-j1", "--no-shared-prefix", cwd=tmp_path).raw
    assert [variables(u)["path"].size for u in shared.units] == [len(str(tmp_path / n)) + 1 for n in names]
    assert [bool(u.errors) for u in shared.units] == [False, False, False, True, False, False]


def test_a_crash_behind_a_shared_beginning_costs_one_unit(tmp_path: Path) -> None:
    nested = 200_000
    (tmp_path / "shared.h").write_text("extern int common;\n" + f"/* {'-' * 900} */\n" * 400)
    for i in range(5):
        deep = f"int x = {'(' * nested}1{')' * nested};\n" if i == 2 else ""
        (tmp_path / f"u{i}.c").write_text(f'#include "shared.h"\nint v{i};\n{deep}')
    path = database(tmp_path, *(entry(tmp_path, f"u{i}.c", f"-fbracket-depth={nested * 2}") for i in range(5)))
    answer = run("-p", path, cwd=tmp_path)
    assert answer.failures.keys() == {"u2.c"}
    assert [set(variables(u)) for u in answer.units] == [{"v0"}, {"v1"}, {"v3"}, {"v4"}]
