"""Members that go to another place of their record: the text of it, and what keeps members where they are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sharing.fix.edits import apply_edits
from sharing.fix.moves import move_member
from sharing.fix.plan import Planner
from sharing.fix.style import FixOptions
from sharing.fix.tokens import Refused
from sharing.model.facts import RecordBits, TypeTree
from sharing.model.types import TypeKind
from tests.fix.program import LONG, ProgramBuilder, array, read

CHAR = TypeTree(TypeKind.BASE, "char", 1, 1)
BODY = "  long refs;\n  long hits; // of one thread\n  char name[80];\n"
MEMBERS = (("long refs", "refs", LONG), ("long hits", "hits", LONG), ("char name[80]", "name", array(CHAR, 80)))
COMPILERS = {"c": ("gcc", "clang-19"), "cc": ("g++", "clang++-19")}


def moved(tmp_path: Path, text: str, *, name: str = "a.c", body: str = BODY, bits: int = 0, main: bool = True) -> str:
    """The file with ``hits`` behind ``name``; ``text`` is what stands behind the record.  It compiles afterwards."""
    builder = ProgramBuilder(tmp_path)
    record = f"struct item {{\n{body}}}"
    path = builder.file(name, f"{record};\n{text}\n")
    language, standard = ("C++", "c++17") if name.endswith(".cc") else ("C", "gnu17")
    source = builder.file("main.c", f'#include "{name}"\n') if name.endswith(".h") else path
    unit = builder.unit(source, *((path,) if source != path else ()), language=language, standard=standard)
    members = tuple(sorted((each for each in MEMBERS if each[0] in body), key=lambda each: body.index(each[0])))
    unit.record(record, "item", members, bits=bits)
    if main:
        unit.defines("main")
    program = builder.program()
    planner = Planner(program, read, FixOptions())
    plan = move_member(planner, program.records["key-item"], "hits", "name")
    assert plan.grows == 0
    Path(path).write_bytes(apply_edits(read(path), plan.edits))
    for tool in COMPILERS.get(source.rpartition(".")[2], ()):
        if shutil.which(tool):
            subprocess.run([tool, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source], check=True)
    return Path(path).read_text()


def test_it_takes_its_line_and_comments_along(tmp_path: Path) -> None:
    body = "  long refs;\n  /* how often */\n  long hits; // of one thread\n  char name[80]; // of a peer\n"
    after = "  long refs;\n  char name[80]; // of a peer\n  /* how often */\n  long hits; // of one thread\n"
    whole = moved(tmp_path, "long of(struct item *i) { return i->hits; }", body=body)
    assert whole.startswith(f"struct item {{\n{after}}};\n")


def test_members_of_one_line_stay_on_it(tmp_path: Path) -> None:
    body = "long refs; long hits; char name[80]; "
    assert "{\nlong refs; char name[80]; long hits; };" in moved(tmp_path, "struct item *all;", body=body)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", 'struct item one = { .refs = 1, .name = "x" };'),
        ("a.c", "struct item one = { 0 }; struct item many[4] = { { 0 } };"),
        ("a.c", "struct item many[4] = { [1] = { .hits = 1 } };"),
        ("a.c", "long of(struct item *i) { int n[2] = { 1, 2 }; return i->hits + n[1]; }"),
        ("a.c", "typedef struct item item_t; item_t one; void set(void) { one = (item_t){ .refs = 2 }; }"),
        ("a.cc", "item one{}; long of(const item &i) { return i.hits; }"),
        ("a.h", "extern struct item one;"),
    ],
)
def test_where_nothing_depends_on_the_order(tmp_path: Path, name: str, text: str) -> None:
    after = moved(tmp_path, text, name=name)
    assert after.index("name[80]") < after.index("hits;")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.c", "struct item one = { 1, 2, {0} };", "a.c:6 gives its members values in order"),
        ("a.c", "struct item many[4] = { { 1, 2, {0} } };", "values in order"),
        ("a.c", "struct item many[4] = { [1] = { 1, 2, {0} } };", "values in order"),
        ("a.c", "typedef struct item item_t;\nitem_t one = { 1, 2, {0} };", "a.c:7 gives"),
        ("a.c", "void set(struct item *i) { *i = (struct item){ 1, 2, {0} }; }", "values in order"),
        ("a.c", "#define EMPTY ((struct item){ 1, 2, {0} })", "values in order"),
        ("a.c", "unsigned long at = __builtin_offsetof(struct item, hits);", "asks for the offset"),
        ("a.c", '_Static_assert(sizeof(struct item) == 96, "kept");', "passes the bytes"),
        ("a.c", "void put(struct item *i) { write(1, i, sizeof(struct item)); }", "passes the bytes"),
        ("a.cc", "item make() { return { 1, 2, {} }; }", "values in order"),
        ("a.cc", "item one{1, 2, {}};", "values in order"),
        ("a.cc", "long of(item i) { auto [a, b, c] = i; return a + b + c[0]; }", "bind its members"),
    ],
)
def test_what_counts_on_the_order_keeps_it(tmp_path: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        moved(tmp_path, text, name=name)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("  long refs;\n#ifdef A\n  long hits;\n#endif\n  char name[80];\n", "directive"),
        ("  item() : refs(0), hits(0) {}\n  long refs;\n  long hits;\n  char name[80];\n", "in their order"),
        ("  long refs;\nprivate:\n  long hits;\n  char name[80];\n", "not understood"),
        ("  long refs;\n  long hits;\n  char name[80];\n  long twice = hits;\n", "in their order"),
    ],
)
def test_a_record_that_is_more_than_its_members(tmp_path: Path, body: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        moved(tmp_path, "item *all;", name="a.cc", body=body)
    assert reason in str(refused.value)


def test_a_header_of_a_library_keeps_its_order(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="a header of a library"):
        moved(tmp_path, "extern struct item one;", name="a.h", main=False)


@pytest.mark.parametrize("bits", [RecordBits.PACKED, RecordBits.UNION, RecordBits.TEMPLATE])
def test_what_has_its_order_on_purpose_keeps_it(tmp_path: Path, bits: int) -> None:
    with pytest.raises(Refused, match="on purpose"):
        moved(tmp_path, "struct item *all;", bits=bits)


def test_what_comes_first_stays_first(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="hits comes first in item"):
        moved(tmp_path, "struct item *all;", body="  long hits;\n  long refs;\n  char name[80];\n")
