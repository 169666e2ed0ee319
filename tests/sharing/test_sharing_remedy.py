"""Remedies: the edit compiles in its language, starts a line and leaves the tail of the line to nobody else."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from linemate import api
from reports.wording import terms
from sharing.judge.remedies.choice import Conflict, choose
from sharing.judge.remedies.editedlayout import Edit, Kind, Layout
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedy import Style, language_of, remedy
from sharing.model import ImageKind, Remedy
from sharing.model.image import ALLOCATED
from sharing.model.profile import Access, Actor, Role
from tests.cpp import compiler
from tests.sharing.conftest import Compile

BASE = 0x10000
USER = Style(64, ImageKind.EXECUTABLE)
KERNEL = Style(64, ImageKind.KERNEL)


def actor(
    name: str = "table_lock",
    size: int = 40,
    *,
    language: str = "C11",
    type_name: str = "pthread_mutex_t",
    owner: str = "",
    owner_size: int = 0,
    owner_type: str = "",
    role: Role = Role.LOCK,
    sized: bool = True,
    stride: int = 0,
    count: int = 1,
    at: int = 0,
) -> Actor:
    span = (BASE + at, BASE + at + size)
    return Actor(
        name=name,
        owner=owner or name,
        owner_span=(BASE, BASE + (owner_size or size)),
        span=span,
        hot=(span,),
        role=role,
        type_name=type_name,
        owner_type=owner_type,
        language=language,
        sized=sized,
        accesses=(Access("f", 1.0, 1, True, True, False, False, stride=stride),),
        stride=stride,
        count=count,
    )


def whole(one: Actor) -> Edit:
    return Edit(Kind.WHOLE, one)


def check(tool: str, suffix: str, text: str, folder: Path) -> None:
    """The text compiles, static assertions and all."""
    source = folder / f"edit.{suffix}"
    source.write_text(text)
    command = [compiler(tool), "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}\n{done.stderr}"


ONE = [
    actor("table_lock", 40),
    actor("counter", 8, type_name="long", role=Role.COUNTER),
    actor("shard", 64, type_name="shard_t", owner_type="shard_t"),
    actor("big", 65, type_name="", owner_type="", role=Role.WRITTEN),
    actor("ns::table_lock", 40, language="C++14"),
    actor("counter", 8, language="C++17", type_name="long", role=Role.COUNTER),
    actor("big", 100, language="C++17", type_name="", role=Role.WRITTEN),
]
TYPES = {
    "pthread_mutex_t": "typedef struct { long words[5]; } pthread_mutex_t;\n",
    "shard_t": "typedef struct { char bytes[64]; } shard_t;\n",
    "long": "",
}


@pytest.mark.parametrize("language", ["C11", "C++17"])
@pytest.mark.parametrize("array", [False, True], ids=["one", "array"])
def test_a_variable_with_a_value_keeps_it(language: str, array: bool, tmp_path: Path) -> None:
    """Of .bss there is none to keep."""
    one = actor("limit", 8, language=language, type_name="long", stride=8 if array else 0, count=4 if array else 1)
    kind = Kind.ELEMENTS if array else Kind.WHOLE
    with_value = remedy(Edit(kind, replace(one, section=".data")), USER).edit
    words = "its values, each in braces" if array else "its initialiser"
    assert f"= {{ /* {words} */ }};" in with_value
    value = "{1}" if array else "7"
    name = "g++" if "++" in language else "gcc"
    typed = "typedef long T;\n" + with_value.replace(f"/* {words} */", value)
    check(name, "cc" if "++" in language else "c", typed, tmp_path)
    assert "=" not in remedy(Edit(kind, replace(one, section=".bss")), USER).edit


@pytest.mark.parametrize("section", [".data", ".data..percpu"])
def test_of_a_kernel_what_is_one_for_each_processor_has_no_value_to_keep(section: str) -> None:
    one = replace(actor("level", 8, type_name="long", role=Role.WRITTEN), section=section)
    assert ("= /* its initialiser */;" in remedy(whole(one), KERNEL).edit) is (section == ".data")


@pytest.mark.parametrize("line", [64, 128])
@pytest.mark.parametrize("one", ONE, ids=lambda a: f"{a.language} {a.name} {a.span[1] - a.span[0]}")
def test_a_variable_gets_a_type_of_whole_lines(one: Actor, line: int, tmp_path: Path) -> None:
    found = remedy(Edit(Kind.WHOLE, one), Style(line, ImageKind.PIE))
    size = one.span[1] - one.span[0]
    name = one.name.rsplit("::", 1)[-1]
    unknown = f"typedef struct {{ char bytes[{size}]; }} T;\n"
    cplusplus = "++" in one.language
    rounded = -(-size // line) * line
    word = "static_assert" if cplusplus else "_Static_assert"
    alignof = "alignof" if cplusplus else "_Alignof"
    tail = f'\n{word}(sizeof({name}) == {rounded}, "size");\n'
    tail += f'{word}({alignof}({"Line_" if cplusplus else "struct line_"}{name}) == {line}, "alignment");\n'
    check(
        "g++" if cplusplus else "gcc",
        "cc" if cplusplus else "c",
        TYPES.get(one.type_name, unknown) + found.edit + tail,
        tmp_path,
    )
    assert (found.kind, found.language, found.protects_tail) == ("pad-type", "C++" if cplusplus else "C", True)
    assert f"sizeof is {rounded}" in found.edit
    assert rounded - size <= found.cost_bytes <= rounded - size + line - 1


@pytest.mark.parametrize("language", ["C11", "C++17"])
@pytest.mark.parametrize("stride", [1, 8, 40, 64, 72])
def test_an_array_is_rounded_by_element(language: str, stride: int, tmp_path: Path) -> None:
    """Alignment on the array would move its first element only."""
    found = remedy(
        Edit(Kind.ELEMENTS, actor("slots", stride, language=language, owner_size=8 * stride, stride=stride, count=8)),
        USER,
    )
    cplusplus = "++" in language
    rounded = -(-stride // 64) * 64
    word = "static_assert" if cplusplus else "_Static_assert"
    text = f"typedef struct {{ char bytes[{stride}]; }} T;\n{found.edit}\n"
    text += f'{word}(sizeof(slots) == 8 * {rounded}, "size");\n{word}(sizeof(slots[0]) % 64 == 0, "element");\n'
    check("g++" if cplusplus else "gcc", "cc" if cplusplus else "c", text, tmp_path)
    assert (found.kind, found.protects_tail) == ("pad-element", True)
    assert found.text.endswith(", and write .value behind its index")
    assert found.cost_bytes == 8 * (rounded - stride) + 63


@pytest.mark.parametrize("language", ["C11", "C++17"])
def test_a_member_starts_a_line_and_so_does_the_next(language: str, tmp_path: Path) -> None:
    one = actor("server.clock", 8, owner="server", owner_size=400, at=24, language=language, type_name="long")
    found = remedy(Edit(Kind.MEMBER, one), USER)
    cplusplus = "++" in language
    record = (
        "#include <stddef.h>\ntypedef long T;\nstruct server { char before[24];\n"
        f"{found.edit}\n{found.edit.split()[0]} int next; }};\n"
    )
    word = "static_assert" if cplusplus else "_Static_assert"
    record += f'{word}(offsetof(struct server, clock) % 64 == 0, "front");\n'
    record += f'{word}(offsetof(struct server, next) == offsetof(struct server, clock) + 64, "tail");\n'
    record += f'{word}(sizeof(struct server) % 64 == 0, "whole");\n'
    check("g++" if cplusplus else "gcc", "cc" if cplusplus else "c", record, tmp_path)
    assert (found.kind, found.breaks_abi, found.protects_tail) == ("align-member", True, True)
    assert "clock of server" in found.text


class TestKernel:
    def test_its_own_section_keeps_the_tail(self) -> None:
        found = remedy(whole(actor("tasklist_lock", 8, type_name="rwlock_t", owner_type="rwlock_t")), KERNEL)
        defined, _, plain = found.edit.partition("  ")
        # Most locks are defined and initialised by a macro, which the edit must not drop.
        assert defined == "__cacheline_aligned_in_smp DEFINE_RWLOCK(tasklist_lock);"
        written_out = "rwlock_t tasklist_lock __cacheline_aligned_in_smp;"
        assert plain == f"/* or, where its declaration is written out: {written_out} */"
        count = remedy(whole(actor("nr_files", 8, type_name="long", owner_type="long")), KERNEL)
        assert count.edit == "long nr_files __cacheline_aligned_in_smp;"
        queue = remedy(whole(actor("wait", 24, type_name="wait_queue_head_t", owner_type="wait_queue_head_t")), KERNEL)
        assert queue.edit.startswith("__cacheline_aligned_in_smp DECLARE_WAIT_QUEUE_HEAD(wait);")
        assert (found.kind, found.language, found.protects_tail) == ("section", "C (kernel)", True)
        assert "tail" in found.text

    def test_what_is_only_read_moves_to_where_such_data_is(self) -> None:
        one = actor("sysctl_limit", 4, type_name="int", owner_type="int", role=Role.READ_MOSTLY)
        found = remedy(whole(one), KERNEL)
        assert (found.edit, found.cost_bytes) == ("int sysctl_limit __read_mostly;", 0)
        assert found.text == "move sysctl_limit to the section of read-mostly data"
        declared = remedy(whole(replace(one, source="kernel/sysctl.c:12")), KERNEL)
        assert declared.text == "move sysctl_limit (sysctl.c:12) to the section of read-mostly data"

    def test_a_place_in_a_variable_without_a_type_is_no_variable(self) -> None:
        one = actor("mysql_bin_log+0x5e0", 20, owner="mysql_bin_log", owner_size=2048, at=0x5E0, language="")
        found = remedy(Edit(Kind.MEMBER, one), USER)
        assert found.edit == "alignas(64) T member;  // at +0x5e0, in the type of mysql_bin_log; in C _Alignas(64)"
        assert (found.language, found.breaks_abi) == ("C/C++", True)
        assert found.text.startswith("start +0x5e0 of mysql_bin_log on a line of its own")
        of_heap = remedy(Edit(Kind.MEMBER, replace(one, section=ALLOCATED)), USER)
        assert of_heap.text == f"{found.text}; its objects have to be allocated with an alignment of 64 bytes"
        # With debug information of the record the member has its name.
        named = actor("server.clock", 8, owner="server", owner_size=256, at=64)
        assert "clock" in remedy(Edit(Kind.MEMBER, named), USER).edit

    def test_a_member_starts_a_line_and_the_next_one_too(self) -> None:
        one = actor("zone.lock", 4, owner="zone", owner_size=256, at=8, type_name="spinlock_t")
        found = remedy(Edit(Kind.MEMBER, one), KERNEL)
        assert "lock ____cacheline_aligned_in_smp;" in found.edit
        assert "the member behind it likewise" in found.edit
        assert found.breaks_abi

    def test_modules_are_kernel_code(self) -> None:
        assert remedy(whole(actor()), Style(64, ImageKind.MODULE)).language == "C (kernel)"


class TestUnnamed:
    def test_says_that_the_definition_is_to_be_found(self) -> None:
        found = remedy(whole(actor("bss+0x40 (mutex)", 40, sized=False, language="")), USER)
        assert "let debug information name bss+0x40 (mutex)" in found.text
        assert found.protects_tail

    def test_a_place_may_be_a_variable_or_a_member_and_each_has_its_edit(self) -> None:
        found = remedy(whole(actor("bss+0x40", 8, sized=False, language="")), USER)
        assert "pad the variable's type to whole 64-byte lines, or start the member on a line of its own" in found.text
        assert "alignas(64) T member;" in found.edit
        assert "ABI unchanged if it is a variable" in terms(found)
        known = remedy(whole(actor("LOCK_open", 8, language="C++")), USER)
        assert "member" not in known.text
        assert "if it is a variable" not in terms(known)

    @pytest.mark.parametrize(("tool", "suffix"), [("g++", "cc")])
    def test_its_edit_compiles_as_well(self, tool: str, suffix: str, tmp_path: Path) -> None:
        found = remedy(whole(actor("bss+0x40", 40, sized=False, language="")), USER)
        text = f"typedef struct {{ char bytes[40]; }} T;\n{found.edit}\nstatic_assert(sizeof(line_T) == 64);\n"
        check(tool, suffix, text, tmp_path)

    @pytest.mark.parametrize("kind", [Kind.WHOLE, Kind.MEMBER, Kind.ELEMENTS])
    def test_of_rust_it_is_an_edit_of_rust(self, kind: Kind) -> None:
        found = remedy(Edit(kind, actor("bss+0x40", 8, sized=False, language="Rust")), USER)
        assert found.language == "Rust"
        assert "let debug information name bss+0x40 (strip = false and debug = 1" in found.text
        assert "#[repr(align(64))]" in found.edit
        assert "alignas" not in found.text + found.edit


class TestUnnamedSlots:
    """Of packed slots a stripped file shows the step from one element to the next, and no array around them."""

    SLOTS = actor("bss+0x40", 8, sized=False, language="", stride=8)
    ONE = actor("bss+0x40", 8, sized=False, language="")

    @pytest.mark.parametrize(
        ("language", "says"),
        [
            ("", "round the element type up to 64 bytes (the element, not the array)"),
            ("Rust", "wrap the element type in a type that is aligned"),
            ("Go", "make it 64 bytes long"),
        ],
    )
    def test_each_element_gets_a_line_in_the_words_of_its_language(self, language: str, says: str) -> None:
        slots = replace(self.SLOTS, language=language)
        (edit,) = choose(Conflict((slots,), (slots,)), shared_slots(slots), Paths(None), 64)
        found = remedy(edit, USER)
        assert found.text.startswith("elements of 8 bytes: ")
        assert "give each element a line of its own" in found.text
        assert says in found.text
        assert (found.cost_bytes, found.each_bytes, found.objects) == (56, 56, 0)

    def test_their_edit_compiles_and_separates(self, tmp_path: Path) -> None:
        found = remedy(Edit(Kind.ELEMENTS, self.SLOTS), USER)
        text = f"typedef long T;\n{found.edit}\nline_T array[4];\nstatic_assert(sizeof(array) == 256);\n"
        check("g++", "cc", text, tmp_path)

    @pytest.mark.parametrize("language", ["", "Rust", "Go"])
    def test_one_object_without_elements_is_moved_as_a_whole(self, language: str) -> None:
        found = remedy(whole(replace(self.ONE, language=language)), USER)
        assert "element" not in found.text + found.edit
        assert found.objects == 1

    def test_objects_of_a_row_on_the_heap_are_moved_as_wholes(self) -> None:
        row = replace(self.SLOTS, section=ALLOCATED)
        (edit,) = choose(Conflict((row,), (row,)), shared_slots(row), Paths(None), 64)
        assert edit.kind is Kind.WHOLE


def shared_slots(slots: Actor) -> Callable[[Layout, int], list[Conflict]]:
    """Elements closer to each other than a line are a conflict."""
    return lambda layout, enough: [Conflict((slots,), (slots,))] if layout.after(slots).stride % 64 else []


class TestMacro:
    @pytest.mark.parametrize("language", ["C11", "C++17"])
    @pytest.mark.parametrize("form", ["variable", "array", "member"])
    def test_a_projects_own_macro_is_used_everywhere(self, language: str, form: str) -> None:
        style = Style(64, ImageKind.PIE, "MY_ALIGNED")
        one = {
            "variable": whole(actor(language=language)),
            "array": Edit(Kind.ELEMENTS, actor("slots", 8, language=language, owner_size=64, stride=8, count=8)),
            "member": Edit(Kind.MEMBER, actor("s.a", 8, language=language, owner="s", owner_size=64)),
        }[form]
        edit = remedy(one, style).edit
        assert "MY_ALIGNED" in edit
        assert "alignas" not in edit
        assert "aligned(" not in edit


@pytest.mark.parametrize(
    ("language", "owner", "kind", "expected"),
    [
        ("C11", "x", ImageKind.PIE, "C"),
        ("C++17", "x", ImageKind.PIE, "C++"),
        ("c_plus_plus_14", "x", ImageKind.PIE, "C++"),
        ("", "ns::x", ImageKind.PIE, "C++"),
        ("", "_ZN2ns1xE", ImageKind.PIE, "C++"),
        ("", "x", ImageKind.PIE, "C"),
        ("C11", "x", ImageKind.KERNEL, "C (kernel)"),
    ],
)
def test_language(language: str, owner: str, kind: ImageKind, expected: str) -> None:
    assert language_of(actor(owner, language=language), kind) == expected


def every_remedy() -> list[Remedy]:
    forms = [
        actor(),
        actor(language="C++17"),
        actor(sized=False),
        actor("slots", 8, owner_size=64, stride=8, count=8),
        actor("s.a", 8, owner="s", owner_size=64),
        actor("fn::x", 8, owner_type="", type_name=""),
        actor("odd[3].m", 8, owner="odd", owner_size=64, at=8, count=4, stride=16),
    ]
    styles = [USER, KERNEL, Style(128, ImageKind.SHARED, "ALIGNED")]
    return [
        remedy(Edit(kind, a), s) for a in forms for s in styles for kind in (Kind.WHOLE, Kind.MEMBER, Kind.ELEMENTS)
    ]


def test_no_remedy_leaves_the_tail_to_the_next_variable() -> None:
    assert all(r.protects_tail and r.text and r.edit and r.cost_bytes >= 0 for r in every_remedy())


def test_declarations_elsewhere_are_mentioned() -> None:
    assert "change its extern declarations alike" in remedy(whole(actor()), USER).text


def test_what_a_header_declares_is_said_to_be_abi_where_only_the_linked_file_is_known(compiled: Compile) -> None:
    """``check`` sees the header and says that the ABI changes; a static has no declaration elsewhere."""
    text = """
#include <pthread.h>
{}_Atomic long ticks; {}_Atomic int stop;
static void *run(void *a) {{ while (!stop) ticks++; return a; }}
static void *look(void *a) {{ while (!stop) __asm__ volatile("pause"); return a; }}
int main(void) {{
  pthread_t t[3];
  pthread_create(&t[0], 0, run, 0);
  for (int i = 1; i < 3; i++) pthread_create(&t[i], 0, look, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}}
"""
    for storage, declared in (("", True), ("static ", False)):
        report = api.audit(compiled("gcc", "c", text.format(storage, storage), "-O2", "-g"), config=False)
        (found,) = [f for f in report.findings if f.rule == "written-beside-read-mostly"]
        said = found.remedies[0].text
        assert ("change its extern declarations alike" in said) == declared
        assert ("one in a header is ABI" in said) == declared


def test_elements_of_a_type_without_a_name_get_no_name_that_is_none() -> None:
    one = actor("r[0].v", 8, owner="r", owner_size=16, owner_type="struct[2]", stride=8, count=2)
    found = remedy(Edit(Kind.ELEMENTS, one), USER)
    assert "{ T value; }" in found.edit


@pytest.mark.parametrize(
    ("owner_type", "step", "elements", "element"),
    [
        ("double[8]", 16, "[8];", "double value"),  # two at a time, as vectorised code does: still eight
        ("double[2][4]", 32, "[2];", "double value[4]"),  # a row is what one thread has
        ("double[2][4]", 8, "[2][4];", "double value"),
        ("double[4][2]", 32, "[2];", "T value"),  # no row of it
        ("", 16, "[4];", "T value"),  # without a type the step is all that is known
    ],
)
def test_elements_are_counted_by_their_type_and_not_by_the_step_of_a_vector(
    owner_type: str, step: int, elements: str, element: str
) -> None:
    sums = actor("partial", 64, owner_type=owner_type, type_name="double", role=Role.WRITTEN, stride=8, count=8)
    sums = replace(sums, accesses=(Access("f", 1.0, 1, True, True, False, False, stride=step),))
    edit = remedy(Edit(Kind.ELEMENTS, sums), USER).edit
    assert f"partial{elements}" in edit
    assert f"{{ {element}; }}" in edit
