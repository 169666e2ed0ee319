"""How an edit writes alignment: as the project does, where that is certain, else in the words of the language."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fix.conftest import Build
from tests.fix.program import ProgramBuilder, finding
from tests.fix.test_fix_edits import edited, owns_its_lines

CONSTANT = "std::hardware_destructive_interference_size"
USE = "static long hits = 3;\nlong *where(void) { return &hits; }\n"


def compiled(build: Build, path: str, flags: str) -> None:
    """Both compilers take it without a warning, and the variable has its lines."""
    for compiler in ("g++", "clang++-19") if path.endswith("cc") else ("gcc", "clang-19"):
        found = [place for name, place in build(path, compiler=compiler, flags=flags).items() if "hits" in name]
        assert found
        assert all(owns_its_lines(place) for place in found)


@pytest.mark.parametrize(
    ("definition", "written"),
    [
        ("#define OWN_LINE __attribute__((aligned(64)))\n", "OWN_LINE"),
        ("#define OWN_LINE __attribute__((__aligned__(64)))\n", "OWN_LINE"),
        ("#define LINE_BYTES 64\n#define OWN_LINE __attribute__((aligned(LINE_BYTES)))\n", "OWN_LINE"),
        ("#define LINE_BYTES (64)\n#define OWN_LINE _Alignas(LINE_BYTES)\n", "OWN_LINE"),
        ("#define OWN_ALIGNED(bytes) __attribute__((aligned(bytes)))\n", "OWN_ALIGNED(64)"),
        ("#define LINE_SHIFT 6\n#define OWN_LINE __attribute__((aligned(1U << LINE_SHIFT)))\n", "OWN_LINE"),
        ("#define WORDS 8\n#define OWN_LINE _Alignas((WORDS) * 8)\n", "OWN_LINE"),
        ("enum { HALF = 32, LINE_BYTES = 0x40 };\n#define OWN_LINE _Alignas(LINE_BYTES)\n", "OWN_LINE"),
        (
            "#ifdef __GNUC__\n#define OWN_LINE __attribute__((aligned(64)))\n#else\n#define OWN_LINE\n#endif\n",
            "OWN_LINE",
        ),
    ],
)
def test_the_projects_macro_is_found(builder: ProgramBuilder, build: Build, definition: str, written: str) -> None:
    header = builder.file("align.h", definition)
    path = builder.file("own.c", f'#include "align.h"\n{USE}')
    unit = builder.unit(path, header, standard="gnu11")
    text = edited(builder, finding(unit.variable("static long hits = 3", "hits")))["own.c"]
    assert f"{{ {written} long value; }} hits" in text
    compiled(build, path, "-std=gnu11")


@pytest.mark.parametrize(
    ("definition", "found"),
    [
        ("constexpr int line = 64;\n#define OWN_LINE alignas(line)\n", True),
        ("namespace base {\ninline constexpr unsigned line{64};\n}\n#define OWN_LINE alignas(base::line)\n", True),
        ("struct Sizes {\n  enum { small = 32, line = 64 };\n};\n#define OWN_LINE alignas(Sizes::line)\n", True),
        ("namespace base {\nconstexpr int line = 64;\n}\n#define OWN_LINE alignas(line)\n", False),
        ("namespace base {\nconstexpr int line = 32;\n}\n#define OWN_LINE alignas(base::line)\n", False),
        ("constexpr int size();\n#define OWN_LINE alignas(size())\n", False),
        ("extern const int line;\n#define OWN_LINE alignas(line)\n", False),
    ],
    ids=["a constant", "of a namespace", "of a class", "that is not visible", "smaller", "a call", "not known"],
)
def test_a_macro_may_take_its_size_from_a_constant(builder: ProgramBuilder, definition: str, found: bool) -> None:
    header = builder.file("align.h", definition)
    path = builder.file("own.cc", f'#include "align.h"\n{USE}')
    unit = builder.unit(path, header, language="C++", standard="gnu++17")
    text = edited(builder, finding(unit.variable("static long hits = 3", "hits", internal=True)))["own.cc"]
    assert f"union {'OWN_LINE' if found else 'alignas(64)'} {{ long hits = 3; }};" in text


@pytest.mark.parametrize(
    ("first", "written"),
    [("", "OWN_LINE"), ("extern int other;\n", "_Alignas(64)")],
    ids=["in front of all that is declared", "behind something"],
)
def test_a_macro_of_the_file_alone_counts_where_it_is_known_everywhere(
    builder: ProgramBuilder, build: Build, first: str, written: str
) -> None:
    macro = "#define OWN_LINE __attribute__((aligned(64)))\n"
    path = builder.file(
        "own.c", f"{first}{macro}static OWN_LINE long late;\nlong *its(void) {{ return &late; }}\n{USE}"
    )
    unit = builder.unit(path, standard="gnu11")
    text = edited(builder, finding(unit.variable("static long hits = 3", "hits")))["own.c"]
    assert f"{{ {written} long value; }} hits" in text
    compiled(build, path, "-std=gnu11")


@pytest.mark.parametrize(
    "definition",
    [
        "#define OWN_LINE __attribute__((aligned(32)))\n",
        "#define OWN_LINE __attribute__((aligned(64), packed))\n",
        "#define OWN_LINE(name) long name __attribute__((aligned(64)))\n",
        "/* #define OWN_LINE __attribute__((aligned(64))) */\n",
        "#define OWN_LINE __attribute__((aligned(LINE_BYTES)))\n",
        "#ifdef OWN_LINES\n#define OWN_LINE __attribute__((aligned(64)))\n#else\n#define OWN_LINE\n#endif\n",
        "#ifndef __GNUC__\n#define OWN_LINE __attribute__((aligned(64)))\n#else\n#define OWN_LINE\n#endif\n",
        "#ifdef BIG\n#define OWN_LINE __attribute__((aligned(128)))\n#else\n"
        "#define OWN_LINE __attribute__((aligned(64)))\n#endif\n",
    ],
    ids=[
        "smaller",
        "more than that",
        "declares",
        "a comment",
        "of unknown size",
        "nothing here",
        "nothing for us",
        "of two sizes",
    ],
)
def test_what_does_not_align_to_a_line_is_no_such_macro(builder: ProgramBuilder, definition: str) -> None:
    path = builder.file("own.c", f"{definition}{USE}")
    unit = builder.unit(path, standard="gnu11")
    text = edited(builder, finding(unit.variable("static long hits = 3", "hits")))["own.c"]
    assert "{ _Alignas(64) long value; } hits" in text


def test_a_header_takes_only_a_macro_that_it_knows(builder: ProgramBuilder) -> None:
    """What defines the macro may be included behind it."""
    macro = builder.file("align.h", "#define OWN_LINE __attribute__((aligned(64)))\n")
    header = builder.file("hits.h", "extern long hits;\n")
    path = builder.file("own.c", '#include "hits.h"\n#include "align.h"\nlong hits;\n')
    unit = builder.unit(path, header, macro, standard="gnu11")
    text = edited(builder, finding(unit.variable("long hits", "hits", also=("extern long hits",))))["hits.h"]
    assert "OWN_LINE" not in text


def test_the_most_used_of_several_macros_is_taken(builder: ProgramBuilder) -> None:
    text = (
        "#define RARE __attribute__((aligned(64)))\n#define USUAL __attribute__((aligned(64)))\n"
        "long a USUAL;\nlong b USUAL;\n"
    )
    path = builder.file("own.c", f"{text}{USE}")
    unit = builder.unit(path)
    assert "{ USUAL long value; }" in edited(builder, finding(unit.variable("static long hits = 3", "hits")))["own.c"]


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        (f"// as {CONSTANT} would be\n", "c++17"),
        (f'const char *text = "{CONSTANT}";\n', "c++17"),
        (f"#ifdef __cpp_lib_hardware_interference_size\nstruct alignas({CONSTANT}) Other {{}};\n#endif\n", "c++17"),
        (f"namespace own {{ struct alignas({CONSTANT}) Other {{}}; }}\n", "c++14"),
        ("constexpr unsigned hardware_destructive_interference_size = 64;\n", "c++17"),
    ],
    ids=["comment", "string", "asked for", "older than it", "own"],
)
def test_the_standards_constant_is_not_taken_where_code_does_not_rely_on_it(
    builder: ProgramBuilder, text: str, standard: str
) -> None:
    path = builder.file("own.cc", f"#include <new>\n{text}{USE}")
    unit = builder.unit(path, builder.file("new", ""), language="C++", standard=standard)
    assert "alignas(64)" in edited(builder, finding(unit.variable("static long hits = 3", "hits")))["own.cc"]


def test_nor_without_its_header(builder: ProgramBuilder) -> None:
    path = builder.file("own.cc", f"struct alignas({CONSTANT}) Other {{}};\n{USE}")
    unit = builder.unit(path, language="C++", standard="c++17")
    assert "alignas(64)" in edited(builder, finding(unit.variable("static long hits = 3", "hits")))["own.cc"]


@pytest.mark.parametrize(
    ("macro", "declared", "kept"),
    [
        ('#define OWN __attribute__((section(".data.own")))\n', "OWN static long hits = 3", "OWN static struct"),
        ('#define OWN __attribute__((section(".data.own")))\n', "static OWN long hits = 3", "OWN static struct"),
        ('#define OWN(name) __attribute__((section(".data." #name)))\n', "static OWN(x) long hits = 3", "OWN(x) s"),
        ("#define OWN __attribute__((used, unused))\n", "static OWN long hits = 3", "OWN static struct"),
        ("", '__attribute__((section(".x"))) static long hits = 3', '__attribute__((section(".x"))) static'),
        ("#define OWN\n", "static OWN long hits = 3", "OWN static struct"),
        ("#define OWN __attribute__((aligned(16)))\n", "static OWN long hits = 3", "static struct"),
        ("#define OWN __attribute__((aligned(16)))\n", "static long hits OWN = 3", "static struct"),
        ("#define OWN volatile\n", "static OWN long hits = 3", "static struct { _Alignas(64) OWN long value; }"),
        ("#define OWN __attribute__((mode(DI)))\n", "static OWN long hits = 3", "{ _Alignas(64) OWN long value; }"),
    ],
    ids=["section first", "section", "with arguments", "used", "written out", "nothing", "aligned", "aligned behind",
         "a qualifier", "of the type"],
)  # fmt: skip
def test_attributes_of_a_variable_stay_with_it(
    builder: ProgramBuilder, build: Build, macro: str, declared: str, kept: str
) -> None:
    """A member cannot have a section; what belongs to the type goes into the wrapper with it."""
    use = "volatile long *where(void) { return &hits; }\n"
    path = builder.file("own.c", f"{macro}{declared};\n{use}")
    unit = builder.unit(path, standard="gnu11")
    text = edited(builder, finding(unit.variable(declared, "hits", internal=True)))["own.c"]
    assert kept in text
    assert ("OWN" in text.split("\n", 1)[1]) == ("OWN" in kept)
    compiled(build, path, "-std=gnu11")


def test_an_initialiser_in_parentheses_gets_no_attribute(builder: ProgramBuilder, tmp_path: Path) -> None:
    text = (
        '#define OWN __attribute__((section(".data.own")))\n'
        "struct number { constexpr number(long n) : n(n) {} ~number() {} long n; };\n"
        "OWN number hits(3);\nlong where() { return hits.n; }\n"
    )
    path = builder.file("own.cc", text)
    unit = builder.unit(path, language="C++", standard="c++17")
    record = unit.record("struct number { constexpr number(long n) : n(n) {} ~number() {} long n; }", "number")
    other = unit.of_record(record)
    unit.declared("struct number {", "number", other)  # another user of the type: the variable is wrapped
    result = edited(builder, finding(unit.variable("OWN number hits(3)", "hits", other, internal=False)))["own.cc"]
    assert "OWN hits_line hits = { number(3) };" in result
    for compiler in ("g++", "clang++-19"):
        subprocess.run([compiler, "-std=c++17", "-Werror", "-c", "-o", str(tmp_path / "own.o"), path], check=True)
