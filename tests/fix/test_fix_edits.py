"""Edits: after them everything compiles without a warning, and the variable has whole lines of its own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sharing.fix.edits import apply_edits, attach_edits, plan_finding
from sharing.fix.plan import Planner
from sharing.fix.style import FixOptions
from sharing.model.facts import VariableBits
from sharing.model.finding import Finding
from sharing.model.types import TypeKind
from tests.fix.conftest import Build
from tests.fix.program import LONG, POINTER, ProgramBuilder, array, finding, read

LINE = 64
UNNAMED = "long long : 64, : 64, : 64, : 64, : 64, : 64, : 64, : 64;"


def test_a_report_shows_what_fix_writes(tmp_path: Path) -> None:
    builder = ProgramBuilder(tmp_path)
    unit = builder.unit(builder.file("a.c", "static long hits = 3;\nlong f(void) { return hits; }\n"))
    identity = unit.variable("static long hits = 3", "hits", internal=True)
    wanted = finding(identity)
    (planned,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    (remedy,) = attach_edits(wanted, builder.program(), read).remedies
    assert planned.plan is not None
    assert remedy.text == f"hits: {planned.plan.how}"
    assert remedy.edit.startswith(planned.plan.edits[0].replacement.strip())
    assert remedy.breaks_abi == planned.plan.breaks_abi
    # Asked again, as by fix of a saved report, it is the same plan.
    asked = msgspec.structs.replace(wanted, remedies=(remedy,))
    assert plan_finding(asked, Planner(builder.program(), read, FixOptions()))[0].plan == planned.plan


def edited(builder: ProgramBuilder, wanted: Finding, options: FixOptions | None = None) -> dict[str, str]:
    """Apply the edits of the only remedy; the new text of each file by its name."""
    program = builder.program()
    (remedy,) = attach_edits(wanted, program, read, options).remedies
    assert remedy.edits, plan_finding(wanted, Planner(program, read, options or FixOptions()))[0].reason
    for path in {edit.file for edit in remedy.edits}:
        new = apply_edits(read(path), [edit for edit in remedy.edits if edit.file == path])
        Path(path).write_bytes(new)
    return {path.name: path.read_text() for path in builder.folder.iterdir() if path.suffix in (".c", ".cc", ".h")}


def refusal(builder: ProgramBuilder, wanted: Finding, options: FixOptions | None = None) -> str:
    (planned,) = plan_finding(wanted, Planner(builder.program(), read, options or FixOptions()))
    assert planned.plan is None
    return planned.reason


def owns_its_lines(place: tuple[int, int]) -> bool:
    address, size = place
    return address % LINE == 0 and size % LINE == 0


def test_a_static_of_c_is_wrapped_and_every_use_follows(builder: ProgramBuilder, build: Build) -> None:
    path = builder.file(
        "counters.c",
        "static long hits = 3, misses;\n"
        "struct view { long hits; };\n"
        "#define COUNT() (hits++)\n"
        "long seen(struct view *v, long other) {\n"
        "  COUNT();\n"
        "  misses += v->hits * hits;\n"
        "  { long hits = other; misses += hits; }\n"
        "  return sizeof(hits) + *&hits;\n"
        "}\n"
        "long own(long hits) { return hits + misses; }\n",
    )
    unit = builder.unit(path)
    hits = unit.variable("static long hits = 3", "hits")
    unit.variable("static long hits = 3, misses", "misses", internal=True)
    text = edited(builder, finding(hits))["counters.c"]
    assert text == (
        "static struct { _Alignas(64) long value; } hits = { 3 };\n"
        "static long misses;\n"
        "struct view { long hits; };\n"
        "#define COUNT() (hits.value++)\n"
        "long seen(struct view *v, long other) {\n"
        "  COUNT();\n"
        "  misses += v->hits * hits.value;\n"
        "  { long hits = other; misses += hits; }\n"
        "  return sizeof(hits.value) + *&hits.value;\n"
        "}\n"
        "long own(long hits) { return hits + misses; }\n"
    )
    assert owns_its_lines(build(path)["hits"])


def test_before_c11_the_attribute_is_used(builder: ProgramBuilder, build: Build) -> None:
    path = builder.file("old.c", "static long hits;\nlong *where(void) { return &hits; }\n")
    unit = builder.unit(path, standard="gnu99")
    text = edited(builder, finding(unit.variable("static long hits", "hits")))["old.c"]
    assert text.startswith("static struct { long value __attribute__((aligned(64))); } hits;\n")
    assert owns_its_lines(build(path, flags="-std=c90 -pedantic")["hits"])


def test_a_variable_of_several_units_takes_its_wrapper_into_the_header(builder: ProgramBuilder, build: Build) -> None:
    header = builder.file("lock.h", "#pragma once\n#include <pthread.h>\nextern pthread_mutex_t big_lock;\n")
    home = builder.file("lock.c", '#include "lock.h"\npthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;\n')
    user = builder.file("user.c", '#include "lock.h"\nint f(void) { return pthread_mutex_lock(&big_lock); }\n')
    kind = LONG
    first = builder.unit(home, header)
    lock = first.variable(
        "pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER",
        "big_lock",
        kind,
        also=("extern pthread_mutex_t big_lock",),
    )
    builder.unit(user, header).declared("extern pthread_mutex_t big_lock", "big_lock", kind)
    texts = edited(builder, finding(lock))
    assert "extern struct big_lock_line big_lock;" in texts["lock.h"]
    assert texts["lock.c"].endswith("struct big_lock_line big_lock = { PTHREAD_MUTEX_INITIALIZER };\n")
    assert "pthread_mutex_lock(&big_lock.value)" in texts["user.c"]
    assert owns_its_lines(build(home, user)["big_lock"])


def test_a_static_of_cxx_keeps_its_name_in_an_anonymous_union(builder: ProgramBuilder, build: Build) -> None:
    text = (
        "#include <atomic>\n"
        "static std::atomic<long> hits{0};\n"
        "static long table[] = {1, 2};\n"
        "long f() { static long calls = 0; return ++calls + hits++ + table[1]++; }\n"
    )
    path = builder.file("hits.cc", text)
    unit = builder.unit(path, language="C++", standard="c++17")
    atomic = unit.of_record(unit.record("std::atomic<long> hits{0}", "std::atomic<long>", bits=16))
    hits = unit.variable("static std::atomic<long> hits{0}", "hits", atomic)
    table = unit.variable("static long table[] = {1, 2}", "table", array(LONG, 2))
    calls = unit.variable("static long calls = 0", "calls", scope="f")
    program = builder.program()
    planner = Planner(program, read, FixOptions())
    plans = [plan_finding(finding(identity), planner)[0].plan for identity in (hits, table, calls)]
    assert all(plans)
    edits = [edit for plan in plans if plan for edit in plan.edits]
    Path(path).write_bytes(apply_edits(read(path), edits))
    assert "return ++calls + hits++ + table[1]++; }" in Path(path).read_text()
    found = build(path, compiler="g++")
    ours = {name: place for name, place in found.items() if any(n in name for n in ("hits", "table", "calls"))}
    assert len(ours) == 3
    assert all(owns_its_lines(place) for place in ours.values())


def test_clang_is_kept_from_dropping_the_padding_of_a_static(builder: ProgramBuilder, build: Build) -> None:
    text = (
        "struct Head { long n; };\nstatic Head head;\nstatic long hits = 1;\nlong f() { return head.n++ + hits++; }\n"
    )
    path = builder.file("hits.cc", text)
    unit = builder.unit(path, language="C++", standard="c++17", compiler="clang")
    record = unit.record("struct Head { long n; }", "Head", (("long n", "n", LONG),))
    head = unit.variable("static Head head", "head", unit.of_record(record))
    hits = unit.variable("static long hits = 1", "hits")
    planner = Planner(builder.program(), read, FixOptions())
    plans = [plan_finding(finding(identity), planner)[0].plan for identity in (head, hits)]
    Path(path).write_bytes(apply_edits(read(path), [edit for plan in plans if plan for edit in plan.edits]))
    found = build(path, compiler="clang++-19")
    assert owns_its_lines(found["head"])
    assert owns_its_lines(found["hits"])
    # What the attribute is for: without it, the tail is free.
    Path(path).write_text(Path(path).read_text().replace("__attribute__((used))", ""))
    (size,) = (place[1] for name, place in build(path, compiler="clang++-19").items() if "hits" in name)
    assert size == 8


def test_what_a_constructor_makes_is_made_in_place(builder: ProgramBuilder, build: Build) -> None:
    text = (
        "struct Var { Var(const char *, int); Var(const Var &) = delete; int get(); int v; };\n"
        'Var limit("limit", 3), other("other", 4);\nint f() { return limit.get() + other.get(); }\n'
    )
    path = builder.file("vars.cc", text)
    unit = builder.unit(path, language="C++", standard="gnu++17")
    record = unit.record(text[: text.index("};") + 1], "Var")
    limit = unit.variable('Var limit("limit", 3)', "limit", unit.of_record(record))
    unit.variable('Var limit("limit", 3), other("other", 4)', "other", unit.of_record(record))
    result = edited(builder, finding(limit))["vars.cc"]
    assert 'limit_line limit = { Var("limit", 3) };\nVar other("other", 4);\nint f()' in result
    assert "return limit.value.get() + other.get(); }" in result
    assert owns_its_lines(build(path, compiler="g++", flags="-std=c++17 -O2")["limit"])


def test_a_type_of_one_variable_is_aligned_itself(builder: ProgramBuilder, build: Build) -> None:
    path = builder.file(
        "head.cc", "struct List {\n  long *first;\n};\nList unused;\nlong *f() { return unused.first; }\n"
    )
    unit = builder.unit(path, language="C++", standard="c++17")
    record = unit.record("struct List {\n  long *first;\n}", "List", (("long *first", "first", POINTER),))
    unused = unit.variable("List unused", "unused", unit.of_record(record))
    # What a report shows is what is written, not the wrapper that a type of somebody else would need.
    (remedy,) = attach_edits(finding(unused), builder.program(), read).remedies
    assert remedy.edit == "struct alignas(64) List {"
    assert remedy.text.startswith("unused: align List to 64 bytes")
    assert edited(builder, finding(unused))["head.cc"].startswith("struct alignas(64) List {\n  long *first;\n};")
    assert owns_its_lines(build(path, compiler="g++")["unused"])


def test_a_type_of_several_variables_is_left_alone(builder: ProgramBuilder, build: Build) -> None:
    path = builder.file(
        "head.c", "struct list { long *first; };\nstruct list a, b;\nlong *f(void) { return a.first + *b.first; }\n"
    )
    unit = builder.unit(path)
    record = unit.record("struct list { long *first; }", "list", (("long *first", "first", POINTER),))
    first = unit.variable("struct list a", "a", unit.of_record(record))
    unit.variable("struct list a, b", "b", unit.of_record(record))
    text = edited(builder, finding(first))["head.c"]
    assert "};\nstruct a_line { _Alignas(64) struct list value; };\nstruct a_line a;\nstruct list b;\n" in text
    assert "return a.value.first + *b.first;" in text
    assert owns_its_lines(build(path)["a"])


def test_the_projects_own_macro_is_used_where_it_is_defined(builder: ProgramBuilder, build: Build) -> None:
    text = "#define OWN_LINE __attribute__((aligned(64)))\nstatic long hits;\nlong *where(void) { return &hits; }\n"
    path = builder.file("own.c", text)
    unit = builder.unit(path)
    hits = unit.variable("static long hits", "hits")
    assert "an_own_line is not defined in" in refusal(builder, finding(hits), FixOptions(macro="an_own_line"))
    assert "{ OWN_LINE long value; } hits;" in edited(builder, finding(hits), FixOptions(macro="OWN_LINE"))["own.c"]
    assert owns_its_lines(build(path)["hits"])


def test_the_standards_constant_is_used_where_the_project_uses_it(builder: ProgramBuilder, build: Build) -> None:
    text = (
        "#include <new>\n"
        "struct alignas(std::hardware_destructive_interference_size) Other { long n; };\n"
        "Other other;\nstatic long hits;\nlong *where() { return &hits; }\n"
    )
    path = builder.file("own.cc", text)
    unit = builder.unit(path, builder.file("new", ""), language="C++", standard="c++17")
    result = edited(builder, finding(unit.variable("static long hits", "hits")))["own.cc"]
    assert "union alignas(std::hardware_destructive_interference_size) { long hits; };" in result
    assert any(owns_its_lines(p) for n, p in build(path, compiler="g++", flags="-std=c++17 -O2").items() if "hits" in n)


def test_kernel_code_uses_the_kernels_section(builder: ProgramBuilder) -> None:
    header = builder.file("cache.h", "")
    kernel = builder.folder / "include/linux"
    kernel.mkdir(parents=True)
    (kernel / "cache.h").write_text("")
    path = builder.file("fork.c", "static int total = 1;\nstatic DEFINE_SPINLOCK(map_lock);\n")
    unit = builder.unit(path, header)
    unit.files = (path, str(kernel / "cache.h"))
    unit.texts[str(kernel / "cache.h")] = ""
    total = unit.variable("static int total = 1", "total")
    lock = unit.variable("static DEFINE_SPINLOCK(map_lock)", "map_lock")
    assert "static int total __cacheline_aligned_in_smp = 1;" in edited(builder, finding(total))["fork.c"]
    builder.file("fork.c", "static int total = 1;\nstatic DEFINE_SPINLOCK(map_lock);\n")
    assert "static __cacheline_aligned_in_smp DEFINE_SPINLOCK(map_lock);" in edited(builder, finding(lock))["fork.c"]


def test_elements_of_an_array_are_rounded_up_not_the_array(builder: ProgramBuilder, build: Build) -> None:
    text = (
        "static long slots[8] = {0};\n"
        "void bump(int i) { slots[i]++; }\n"
        "unsigned long count(void) { return sizeof(slots) / sizeof(slots[0]); }\n"
    )
    path = builder.file("slots.c", text)
    unit = builder.unit(path)
    slots = unit.variable("static long slots[8] = {0}", "slots", array(LONG, 8))
    assert edited(builder, finding(slots, kind="pad-element"))["slots.c"] == (
        "static struct { _Alignas(64) long value; } slots[8] = {{ 0 }};\n"
        "void bump(int i) { slots[i].value++; }\n"
        "unsigned long count(void) { return sizeof(slots) / sizeof(slots[0]); }\n"
    )
    assert build(path)["slots"][1] == 8 * LINE


def test_a_member_and_the_one_behind_it_are_aligned(builder: ProgramBuilder, build: Build) -> None:
    text = "struct server {\n  long flags;\n  long clock;\n  long port, users;\n};\nstruct server server;\n"
    path = builder.file("server.c", text)
    unit = builder.unit(path)
    members = (
        ("long flags", "flags", LONG),
        ("long clock", "clock", LONG),
        ("long port", "port", LONG),
        ("long port, users", "users", LONG),
    )
    record = unit.record(text[: text.index("};") + 1], "server", members)
    server = unit.variable("struct server server", "server", unit.of_record(record))
    result = edited(builder, finding(server, kind="align-member", member="clock"))["server.c"]
    assert "  long flags;\n  _Alignas(64) long clock;\n  long port __attribute__((aligned(64))), users;\n" in result
    assert build(path)["server"][1] == 3 * LINE


def test_a_member_of_what_malloc_returns_is_padded_instead(builder: ProgramBuilder) -> None:
    text = "struct job {\n  long state;\n  long clock;\n};\nstruct job *job;\n"
    path = builder.file("job.c", text)
    unit = builder.unit(path)
    members = (("long state", "state", LONG), ("long clock", "clock", LONG))
    unit.allocation(unit.record(text[: text.index("};") + 1], "job", members))
    wanted = finding("key-job", kind="align-member", member="clock")
    result = edited(builder, wanted)["job.c"]
    assert f"  long state;\n  {UNNAMED}\n  long clock;\n  {UNNAMED}\n}};" in result


@pytest.mark.parametrize(("align", "allocated", "padded"), [(64, "", False), (64, "malloc", True), (8, "", True)])
def test_a_member_of_a_type_that_asks_for_the_line_is_aligned_unless_its_allocation_was_seen_not_to(
    builder: ProgramBuilder, align: int, allocated: str, padded: bool
) -> None:
    """Objects of a std::vector, say, whose allocation is no code of the project."""
    text = "struct alignas(64) tally {\n  long own;\n  long foreign;\n};\nvoid use(tally &);\n"
    unit = builder.unit(builder.file("tally.cc", text), language="C++", standard="gnu++17")
    members = (("long own", "own", LONG), ("long foreign", "foreign", LONG))
    record = unit.record(text[: text.index("};") + 1], "tally", members, size=64, align=align, declared_align=align)
    if allocated:
        unit.allocation(record, allocated)
    result = edited(builder, finding("key-tally", kind="align-member", member="foreign"))["tally.cc"]
    assert (UNNAMED in result) is padded
    assert ("  alignas(64) long foreign;\n" in result) is not padded


@pytest.mark.parametrize(
    ("text", "declaration", "why"),
    [
        ("DECLARE(hits);\n", "DECLARE(hits)", "a macro, DECLARE, declares it: no edit keeps what the macro writes"),
        ("static DEFINE(hits);\n", "static DEFINE(hits)", "a macro, DEFINE, declares it"),
        ("static DEFINE(long, (hits));\n", "static DEFINE(long, (hits))", "a macro, DEFINE, declares it"),
        ("LOCAL long hits;\n", "LOCAL long hits", "a macro gives it its storage class"),
        ("static long hits;\n#define NAME hits_ ## x, #hits\n", "static long hits", "a macro builds names from it"),
        ("static long hits;\n#define GET(hits) (hits)\n", "static long hits", "a macro or its parameter has this name"),
        ("static long hits;\n#define STR() x(a ## hits)\n", "static long hits", "a macro builds names from it"),
        ("static void *hits = &hits;\n", "static void *hits = &hits", "refers to itself"),
        ("static long\n#ifdef X\n#endif\n  hits;\n", "static long\n#ifdef X\n#endif\n  hits", "directive"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_its_reason(
    builder: ProgramBuilder, text: str, declaration: str, why: str
) -> None:
    unit = builder.unit(builder.file("odd.c", text))
    assert why in refusal(builder, finding(unit.variable(declaration, "hits", internal=True)))


@pytest.mark.parametrize(
    ("text", "by_macro"),
    [("static DEFINE(hits);\n", True), ("static void *hits = &hits;\n", False)],
    ids=["a macro", "a declaration that refers to itself"],
)
def test_a_report_shows_no_declaration_in_the_place_of_a_macros(
    builder: ProgramBuilder, text: str, *, by_macro: bool
) -> None:
    """What the macro writes besides, such as an initialiser, would be lost with it."""
    unit = builder.unit(builder.file("odd.c", text))
    wanted = finding(unit.variable(text.rstrip(";\n"), "hits", internal=True))
    shown = msgspec.structs.replace(wanted.remedies[0], edit="static struct line_hits hits;")
    (remedy,) = attach_edits(msgspec.structs.replace(wanted, remedies=(shown,)), builder.program(), read).remedies
    assert remedy.edits == ()
    if by_macro:
        assert remedy.edit == ""
        assert remedy.text.startswith("hits: a macro, DEFINE, declares it")
    else:
        assert remedy == shown


def test_alignment_of_the_variable_alone_becomes_that_of_the_wrapper(builder: ProgramBuilder, build: Build) -> None:
    path = builder.file("naive.cc", "alignas(64) long hits = 1;\nlong f() { return hits; }\n")
    unit = builder.unit(path, language="C++", standard="c++17")
    result = edited(builder, finding(unit.variable("alignas(64) long hits = 1", "hits")))["naive.cc"]
    assert result.startswith("struct alignas(64) hits_line { long value; };\nhits_line hits = { 1 };\n")
    assert owns_its_lines(build(path, compiler="g++")["hits"])


def test_what_has_whole_lines_needs_nothing(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("own.c", "static struct own hits;\n"))
    kind = LONG.__class__(TypeKind.STRUCT, "own", LINE, LINE)
    assert refusal(builder, finding(unit.variable("static struct own hits", "hits", kind))) == (
        "it has whole lines to itself already"
    )


def test_a_thread_local_needs_nothing(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("tls.c", "static _Thread_local long hits;\n"))
    hits = unit.variable("static _Thread_local long hits", "hits", bits=VariableBits.THREAD)
    assert refusal(builder, finding(hits)) == "each thread has its own"


def test_a_file_that_changed_since_is_not_edited(builder: ProgramBuilder) -> None:
    path = builder.file("hits.c", "static long hits;\n")
    unit = builder.unit(path)
    hits = unit.variable("static long hits", "hits")
    program = builder.program()
    Path(path).write_text("\nstatic long hits;\n")
    (planned,) = plan_finding(finding(hits), Planner(program, read, FixOptions()))
    assert planned.reason == f"{path} changed since it was analysed"


def test_a_pointer_to_functions_is_wrapped_as_one(builder: ProgramBuilder, build: Build) -> None:
    path = builder.file(
        "hook.c", "static void (*hook)(int);\nvoid set(void (*f)(int)) { hook = f; if (hook) hook(1); }\n"
    )
    unit = builder.unit(path)
    kind = TypeKind.POINTER
    hook = unit.variable("static void (*hook)(int)", "hook", POINTER.__class__(kind, "void (*)(int)", 8, 8))
    text = edited(builder, finding(hook))["hook.c"]
    assert "{ _Alignas(64) void (*value)(int); } hook;" in text
    assert "hook.value = f; if (hook.value) hook.value(1);" in text
    assert owns_its_lines(build(path, flags="-O0")["hook"])


def test_a_member_of_a_member_of_what_malloc_returns_is_padded_too(builder: ProgramBuilder) -> None:
    """Alignment inside would be asked of the whole, which malloc does not know of."""
    text = "struct stats {\n  long reads;\n  long writes;\n};\nstruct job { struct stats stats; };\n"
    unit = builder.unit(builder.file("job.c", text))
    members = (("long reads", "reads", LONG), ("long writes", "writes", LONG))
    stats = unit.record(text[: text.index("};") + 1], "stats", members)
    inner = (("struct stats stats", "stats", unit.of_record(stats)),)
    unit.allocation(unit.record("struct job { struct stats stats; }", "job", inner))
    wanted = finding("key-job", kind="align-member", member="stats.writes")
    assert f"  {UNNAMED}\n  long writes;\n  {UNNAMED}\n" in edited(builder, wanted)["job.c"]


def test_padding_is_no_cure_for_a_split_access(builder: ProgramBuilder) -> None:
    text = "struct job {\n  long state;\n  long clock;\n};\n"
    unit = builder.unit(builder.file("job.c", text))
    members = (("long state", "state", LONG), ("long clock", "clock", LONG))
    unit.allocation(unit.record(text[: text.index("};") + 1], "job", members))
    wanted = finding("key-job", kind="align-member", member="clock", rule="split-access")
    assert refusal(builder, wanted).endswith("allocates it without alignment: use aligned_alloc there first")


def test_the_constant_for_keeping_together_is_replaced(builder: ProgramBuilder) -> None:
    text = "alignas(std::hardware_constructive_interference_size) long hits;\n"
    unit = builder.unit(builder.file("new.cc", text), language="C++", standard="c++17")
    hits = unit.variable(text[:-2], "hits")
    result = edited(builder, finding(hits, kind="destructive-size"))["new.cc"]
    assert result == "alignas(std::hardware_destructive_interference_size) long hits;\n"


def test_a_remedy_that_only_a_person_can_do_says_what_it_is(builder: ProgramBuilder) -> None:
    unit = builder.unit(builder.file("a.c", "long hits;\n"))
    hits = unit.variable("long hits", "hits")
    assert refusal(builder, finding(hits, kind="aligned-allocation")) == "a change by hand: move hits"


@pytest.mark.parametrize(
    "shown",
    ["Gauges::get::one.hits", "one.hits", "(anonymous namespace)::Gauges::get::one.hits", "Gauges::get(int)::one.hits"],
)
def test_a_member_of_a_static_of_a_function_is_found_by_the_name_that_a_report_gives_it(
    builder: ProgramBuilder, shown: str
) -> None:
    definition = "struct Gauges {\n  long on;\n  long hits;\n  static Gauges &get(int);\n}"
    path = builder.file("get.cc", f"{definition};\nGauges &Gauges::get(int) {{ static Gauges one; return one; }}\n")
    unit = builder.unit(path, language="C++", standard="gnu++17")
    record = unit.record(definition, "Gauges", (("long on", "on", LONG), ("long hits", "hits", LONG)))
    one = unit.variable("static Gauges one", "one", unit.of_record(record), scope="Gauges::get")
    wanted = finding(one, kind="align-member")
    who = msgspec.structs.replace(wanted.participants[0], name=shown)
    remedy = msgspec.structs.replace(wanted.remedies[0], text=f"move {shown}")
    text = edited(builder, msgspec.structs.replace(wanted, participants=(who,), remedies=(remedy,)))["get.cc"]
    assert "  long on;\n  alignas(64) long hits;\n" in text


def test_another_static_of_a_like_name_is_not_edited(builder: ProgramBuilder) -> None:
    definition = "struct Gauges {\n  long on;\n  long hits;\n}"
    path = builder.file("get.cc", f"{definition};\nGauges &get() {{ static Gauges one; return one; }}\n")
    unit = builder.unit(path, language="C++", standard="gnu++17")
    record = unit.record(definition, "Gauges", (("long on", "on", LONG), ("long hits", "hits", LONG)))
    wanted = finding(
        unit.variable("static Gauges one", "one", unit.of_record(record), scope="get"), kind="align-member"
    )
    who = msgspec.structs.replace(wanted.participants[0], name="get::none.hits")
    assert refusal(builder, msgspec.structs.replace(wanted, participants=(who,)))


@pytest.mark.parametrize("name", ["first", "middle", "last"])
def test_of_a_declaration_of_several_its_own_is_shown_alone(builder: ProgramBuilder, name: str) -> None:
    text = "static volatile long first,\n    middle, last"
    path = builder.file("a.c", f"{text};\nlong f(void) {{ return first + middle + last; }}\n")
    unit = builder.unit(path)
    known = {each: unit.variable(text, each) for each in ("first", "middle", "last")}
    (remedy,) = attach_edits(finding(known[name]), builder.program(), read).remedies
    shown = f"static struct {{ _Alignas(64) volatile long value; }} {name};"
    assert remedy.edit.splitlines() == [shown, "/* and 1 more place */"]


def test_what_stands_before_in_the_same_statement_is_shown(builder: ProgramBuilder) -> None:
    text = "static struct box { long n; } one, other"
    path = builder.file("a.c", f"{text};\nlong f(void) {{ return one.n + other.n; }}\n")
    unit = builder.unit(path)
    box = unit.record("struct box { long n; }", "box", (("long n;", "n", LONG),))
    identity = unit.variable(text, "one", unit.of_record(box))
    unit.variable(text, "other", unit.of_record(box))
    (remedy,) = attach_edits(finding(identity), builder.program(), read).remedies
    assert remedy.edit.splitlines()[:2] == [
        "struct box { long n; };",
        "static struct { _Alignas(64) struct box value; } one;",
    ]
