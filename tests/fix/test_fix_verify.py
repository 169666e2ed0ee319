"""Verification on table_cache: the edit that holds is shown to hold, the naive one is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from elfscan.image import read_images
from linemate.fixing.addresses import element_bytes, find
from linemate.fixing.bench import Benchmark, Measured, compare
from linemate.fixing.verify import Fixed, Verified, VerifyOptions, verify
from linemate.fixing.write import changed_files
from sharing.fix.edits import Planned, plan_finding
from sharing.fix.plan import Plan, Planner
from sharing.fix.style import FixOptions
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Participant, SourceEdit
from tests.fix.program import LONG, ProgramBuilder, array, finding, read

BUILD = "make -s OUT=out CXXFLAGS='-O2 -g' out/slow"
SOURCE = "table_cache.cc"


@pytest.fixture
def tree(repository: Path, tmp_path: Path) -> Path:
    """A copy of the program, so that nothing can touch the one under test."""
    for tool in ("make", "g++"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    return Path(shutil.copytree(repository / "testdata/programs/table_cache", tmp_path / "table_cache"))


@pytest.fixture
def planned(tree: Path) -> tuple[Finding, Planned]:
    """The finding about LOCK_open and unused_tables, and what the planner makes of it."""
    builder = ProgramBuilder(tree)
    unit = builder.unit(builder.file(SOURCE, (tree / SOURCE).read_text()), language="C++", standard="c++17")
    lock_type = unit.record("struct OWN_LINE Open_mutex : instr_mutex_t {}", "Open_mutex")
    head_type = unit.record("struct OWN_LINE Table_list {\n  Table *first;\n}", "Table_list")
    lock = unit.variable("Open_mutex LOCK_open = {INSTR_MUTEX_INITIALIZER}", "LOCK_open", unit.of_record(lock_type))
    head = unit.variable("Table_list unused_tables", "unused_tables", unit.of_record(head_type))
    wanted = finding(lock, head)
    (made,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    assert made.plan is not None
    return wanted, made


def run(tree: Path, fixed: Fixed, **more: object) -> Verified:
    edits = [edit for _, plans in fixed for one in plans if one.plan for edit in one.plan.edits]
    options = dataclasses.replace(VerifyOptions(BUILD, tree), **more)  # type: ignore[arg-type]
    return verify(changed_files(edits), fixed, options, lambda _: None)


def test_the_edit_separates_lock_and_list_head(tree: Path, planned: tuple[Finding, Planned]) -> None:
    wanted, made = planned
    before = (tree / SOURCE).read_bytes()
    result = run(tree, [(wanted, [made])])
    assert result.holds
    (check,) = [c for c in result.checks if c.holds]
    assert check.text == "out/slow: LOCK_open shared a line with unused_tables; now it has its lines to itself"
    assert (tree / SOURCE).read_bytes() == before
    assert not (tree / "out").exists()


def naive(tree: Path, made: Planned, replacement: str) -> Planned:
    """Alignment on the variable alone: its size stays 48 bytes."""
    path = tree / SOURCE
    data = path.read_bytes()
    begin = data.index(b"Open_mutex LOCK_open")
    edit = SourceEdit(str(path), begin, begin, replacement, sha256=hashlib.sha256(data).hexdigest())
    return dataclasses.replace(made, plan=Plan((edit,), "align LOCK_open"))


def test_alignment_that_leaves_the_tail_to_the_list_head_is_refused(
    tree: Path, planned: tuple[Finding, Planned]
) -> None:
    wanted, made = planned
    result = run(tree, [(wanted, [naive(tree, made, "alignas(64) ")])])
    assert not result.holds
    assert any("LOCK_open still shares a line with unused_tables" in c.text for c in result.checks)


def test_alignment_whose_tail_is_free_by_luck_is_refused(tree: Path, planned: tuple[Finding, Planned]) -> None:
    """The list head is sent elsewhere; what comes next may still land behind the lock."""
    wanted, made = planned
    unit = tree / SOURCE
    text = unit.read_text().replace("Table_list unused_tables;", "alignas(64) Table_list unused_tables;")
    unit.write_text(text)
    result = run(tree, [(wanted, [naive(tree, made, "alignas(64) ")])])
    assert not result.holds


def slots(folder: Path) -> tuple[Finding, Planned]:
    """An array of counters, one a thread, and the edit that gives each element a line."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    folder.mkdir()
    builder = ProgramBuilder(folder)
    text = "static volatile long hits[8];\nint main(int n, char **v) { (void)v; hits[n & 7]++; return 0; }\n"
    unit = builder.unit(builder.file("slots.c", text))
    kind = array(LONG, 8)
    wanted = finding(unit.variable("static volatile long hits[8]", "hits", kind), kind="pad-element", member="[0]")
    (made,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    assert made.plan is not None
    return wanted, made


def test_elements_that_shared_with_each_other_are_said_to_have(tmp_path: Path) -> None:
    wanted, made = slots(tmp_path / "slots")
    result = run(tmp_path / "slots", [(wanted, [made])], build="gcc -O1 -g -o slots slots.c")
    assert result.holds
    (check,) = [c for c in result.checks if c.holds]
    assert check.text == (
        "slots: elements of hits (8 bytes) shared lines with each other; now each is on lines of its own (64 bytes)"
    )


def test_an_array_that_is_aligned_as_a_whole_still_shares(tmp_path: Path) -> None:
    wanted, made = slots(tmp_path / "slots")
    path = tmp_path / "slots/slots.c"
    data = path.read_bytes()
    at = data.index(b" long hits")
    aligned = SourceEdit(str(path), at, at, " _Alignas(64)", sha256=hashlib.sha256(data).hexdigest())
    wrong = dataclasses.replace(made, plan=Plan((aligned,), "align hits"))
    result = run(tmp_path / "slots", [(wanted, [wrong])], build="gcc -O1 -g -o slots slots.c")
    assert not result.holds
    assert any("elements of hits are 8 bytes each: they still share lines" in c.text for c in result.checks)


OBJECTS = """struct Stat { long hits; long misses; };
static Stat *stats;
int main(int n, char **) { stats = new Stat[2]; stats[n & 1].hits++; return 0; }
"""
OBJECTS_BUILD = "g++ -std=c++17 -g -o objects objects.cc && g++ -g -o other other.cc"


def objects(folder: Path, written: str = "alignas(64) ", before: str = "Stat {") -> tuple[Finding, Planned]:
    """A type whose objects are on the heap alone, and the edit that writes something in its definition."""
    if not shutil.which("g++"):
        pytest.skip("no g++")
    folder.mkdir()
    (folder / "other.cc").write_text("int main() { return 0; }\n")
    builder = ProgramBuilder(folder)
    unit = builder.unit(builder.file("objects.cc", OBJECTS), language="C++", standard="c++17")
    members = (("long hits", "hits", LONG), ("long misses", "misses", LONG))
    kind = unit.record("struct Stat { long hits; long misses; }", "Stat", members)
    unit.allocation(kind, "new[]")
    wanted = finding("key-Stat", member="hits")
    (made,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    assert made.plan is not None, made.reason
    assert made.record == "Stat"
    at = OBJECTS.index(before)
    digest = hashlib.sha256(OBJECTS.encode()).hexdigest()
    edit = SourceEdit(str(folder / "objects.cc"), at, at, written, sha256=digest)
    return wanted, dataclasses.replace(made, plan=dataclasses.replace(made.plan, edits=(edit,)))


def test_objects_on_the_heap_are_judged_by_their_type_in_the_binary_that_has_it(tmp_path: Path) -> None:
    wanted, made = objects(tmp_path / "heap")
    result = run(tmp_path / "heap", [(wanted, [made])], build=OBJECTS_BUILD)
    assert result.holds
    (check,) = [c for c in result.checks if c.holds]
    assert check.text.startswith(
        "objects: Stat was 16 bytes, aligned to 8, where objects of Stat could share lines; now 64 bytes, aligned to 64"
    )
    assert "objects on the heap are not in the binary" in check.text
    assert not any(c.text.startswith("other") for c in result.checks)


@pytest.mark.parametrize("written", ["alignas(32) ", "alignas(128) Other { long x; };\nstruct "])
def test_a_type_whose_objects_still_meet_is_refused(tmp_path: Path, written: str) -> None:
    wanted, made = objects(tmp_path / "heap", written)
    result = run(tmp_path / "heap", [(wanted, [made])], build=OBJECTS_BUILD)
    assert not result.holds
    assert any(c.holds is False and "objects of Stat may still share lines" in c.text for c in result.checks)


def test_a_type_of_whole_lines_that_may_start_within_one_is_refused(tmp_path: Path) -> None:
    wanted, made = objects(tmp_path / "heap", "long pad[6]; ", before="long hits")
    result = run(tmp_path / "heap", [(wanted, [made])], build=OBJECTS_BUILD)
    assert not result.holds
    assert any("Stat (64 bytes, aligned to 8)" in c.text for c in result.checks)


BITS = "long long : 64, : 64, : 64, : 64, : 64, : 64, : 64, : 64;"
PAIRED = {
    "cc": """#include <atomic>
#include <memory>
struct Pair { long id; std::atomic<long> a{0}; std::atomic<long> b{0}; };
int main() { auto pair = std::make_unique<Pair>(); pair->a++; return int(pair->b++); }
""",
    "c": """#include <pthread.h>
#include <stdlib.h>
struct Pair { long id; pthread_mutex_t a; long b; long tail; };
int main(void) { struct Pair *pair = calloc(1, sizeof *pair); pthread_mutex_lock(&pair->a); return (int)pair->b++; }
""",
    "slots.cc": """struct Slot { long a; long b; };
struct Pair { long id; Slot slots[4]; };
int main(int n, char **) { auto *pair = new Pair(); pair->slots[n & 3].a++; return int(pair->slots[0].b); }
""",
}


def members(
    folder: Path, kind: str, written: str, before: str, inside: str = "", names: str = "ba"
) -> tuple[Finding, Planned, str]:
    """A pair in a record whose objects are on the heap, as findings name it, what is written, and the build."""
    compiler = "gcc" if kind == "c" else "g++ -std=c++17"
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"no {compiler}")
    folder.mkdir()
    text = PAIRED[kind]
    source = folder / f"pair.{kind}"
    source.write_text(text)
    base = finding("Pair", "Pair", kind="align-member")
    tag = "struct " if kind == "c" else ""
    both = tuple(
        msgspec.structs.replace(who, name=f"{tag}Pair.{inside}{name}")
        for who, name in zip(base.participants, names, strict=True)
    )
    wanted = msgspec.structs.replace(base, participants=both)
    found, digest = re.finditer(re.escape(before), text), hashlib.sha256(text.encode()).hexdigest()
    edits = tuple(SourceEdit(str(source), at.start(), at.start(), written, sha256=digest) for at in found)
    plan = Plan(edits, "part them", rounds=False)
    return wanted, Planned(wanted.remedies[0], both[0], plan, record="Pair"), f"{compiler} -g -o pair {source.name}"


@pytest.mark.parametrize(
    ("kind", "written", "before", "inside"),
    [
        ("cc", "alignas(64) ", "std::atomic<long> b", ""),
        ("c", f"{BITS} ", "long b", ""),
        ("slots.cc", f"long a; {BITS} long b; {BITS} }}; struct Was {{ ", "long a; long b; }", "slots[2]."),
    ],
)
@pytest.mark.parametrize("names", ["ab", "ba"])
def test_members_of_objects_on_the_heap_that_are_parted_hold(
    tmp_path: Path, kind: str, written: str, before: str, inside: str, names: str
) -> None:
    """Padding of a line parts them wherever an object starts, alignment wherever one of that alignment does."""
    wanted, made, build = members(tmp_path / "heap", kind, written, before, inside, names)
    result = run(tmp_path / "heap", [(wanted, [made])], build=build)
    assert result.holds, result.checks
    (check,) = [c for c in result.checks if c.holds]
    first, second = (f"{inside.replace('2', '')}{name}" for name in names)
    assert f"where {second} could share lines with {first}; now" in check.text
    assert f"{first} apart from the others" in check.text


@pytest.mark.parametrize(
    ("kind", "written", "before", "inside"),
    [
        ("cc", "alignas(64) ", "Pair {", ""),  # the object, with both in it
        ("cc", "alignas(64) ", "std::atomic<long> a", ""),
        ("cc", "long pad[6]; ", "std::atomic<long> b", ""),  # less than a line, and it may start anywhere
        ("c", f"{BITS} ", "long tail", ""),
        ("c", f"{BITS} ", "pthread_mutex_t a", ""),
        ("c", "long long : 64, : 64; ", "long b", ""),
        ("slots.cc", f"{BITS} ", "long b; }", "slots[2]."),  # the next element's is behind it
    ],
)
@pytest.mark.parametrize("names", ["ab", "ba"])
def test_members_of_objects_on_the_heap_that_still_meet_are_refused(
    tmp_path: Path, kind: str, written: str, before: str, inside: str, names: str
) -> None:
    wanted, made, build = members(tmp_path / "heap", kind, written, before, inside, names)
    result = run(tmp_path / "heap", [(wanted, [made])], build=build)
    assert not result.holds
    first, second = (f"{inside.replace('2', '')}{name}" for name in names)
    assert any(c.holds is False and f"{second} may still share lines with {first}" in c.text for c in result.checks)


@pytest.mark.parametrize(("ratio", "holds"), [(2, True), (1, False)])
def test_without_debug_information_the_benchmark_decides_of_heap_objects(
    tmp_path: Path, ratio: int, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, made = objects(tmp_path / "heap")
    measured = Measured((1000.0,) * 5, (1000.0 * ratio,) * 5, "ops", 0, 0)
    monkeypatch.setattr("linemate.fixing.verify.compare", lambda *_: measured)
    build = OBJECTS_BUILD.replace("-g ", "")
    more = {"build": build, "binaries": ("objects",), "bench": Benchmark("true")}
    result = run(tmp_path / "heap", [(wanted, [made])], **more)
    assert result.holds is holds
    assert result.reason == ("" if holds else "nothing shows that it separates")
    assert any("no debug information that describes Stat" in c.text and c.unknown for c in result.checks)


def test_a_slower_benchmark_refuses_what_the_type_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, made = objects(tmp_path / "heap")
    measured = Measured((1000.0,) * 5, (500.0,) * 5, "ops", 0, 0)
    monkeypatch.setattr("linemate.fixing.verify.compare", lambda *_: measured)
    result = run(tmp_path / "heap", [(wanted, [made])], build=OBJECTS_BUILD, bench=Benchmark("true"))
    assert not result.holds
    assert any(c.text == "the benchmark is slower after the edit" for c in result.checks)


def test_an_edit_that_does_not_compile_is_an_error_with_the_compilers_words(
    tree: Path, planned: tuple[Finding, Planned]
) -> None:
    wanted, made = planned
    with pytest.raises(LinemateError, match=r"the edited tree does not build: .*error: .*no_such_thing"):
        run(tree, [(wanted, [naive(tree, made, "no_such_thing ")])])


def test_a_build_that_makes_nothing_of_it_is_an_error(tree: Path, planned: tuple[Finding, Planned]) -> None:
    wanted, made = planned
    with pytest.raises(LinemateError, match="name it with --binary"):
        run(tree, [(wanted, [made])], build="true")


def test_a_build_that_hangs_is_ended(tree: Path, planned: tuple[Finding, Planned]) -> None:
    wanted, made = planned
    with pytest.raises(LinemateError, match="did not end within 1 s"):
        run(tree, [(wanted, [made])], build="sleep 60 & sleep 60", timeout_s=1.0)


def test_a_benchmark_is_compared_round_by_round(tmp_path: Path) -> None:
    for name, figure in (("before", "1,000"), ("after", "2500")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "figure").write_text(f"warm-up 3\nops_per_s {figure}\n")
    measured = compare(Benchmark("cat figure", "ops_per_s", 3), tmp_path / "before", tmp_path / "after")
    assert measured.ratios == (2.5, 2.5, 2.5)
    assert "2.50 times as fast (from 2.50 to 2.50): faster; 1,000 → 2,500 ops_per_s" in measured.text()


def test_figures_and_ratio_are_of_one_estimate() -> None:
    """Of these the medians of both sides are alike, and the rounds' ratios are not."""
    measured = Measured((0.22, 0.30, 0.21), (0.22, 0.20, 1.0), "s", 0, 0)
    assert "1.00 times as fast (from 0.21 to 1.50): no clear difference; 0.22 → 0.22 s in the middle" in measured.text()
    faster = Measured((0.2, 0.3, 0.25), (0.1, 0.2, 0.22), "s", 0, 0)
    assert "1.50 times as fast (from 1.14 to 2.00): faster; 0.3 → 0.2 s in the middle one of 3" in faster.text()


@pytest.mark.parametrize(("build", "hint"), [("cmake --build build", True), ("false", False),
                                             ("cmake -B build && cmake --build build", False)])  # fmt: skip
def test_a_build_without_its_configure_step_says_so(
    tree: Path, planned: tuple[Finding, Planned], build: str, hint: bool
) -> None:
    (tree / "build").mkdir()
    (tree / "build/CMakeCache.txt").write_text("")
    wanted, made = planned
    with pytest.raises(LinemateError, match="does not build") as caught:
        run(tree, [(wanted, [made])], build=build)
    said = "give the configure step too: 'cmake -B build && cmake --build build'"
    assert (said in str(caught.value)) == hint


def test_seconds_are_compared_the_other_way_round(tmp_path: Path) -> None:
    # So far apart that what starting a shell takes on a busy machine does not reverse them.
    for name, seconds in (("before", "1.0"), ("after", "0.1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run").write_text(f"sleep {seconds}\n")
    measured = compare(Benchmark("sh run", "", 2), tmp_path / "before", tmp_path / "after")
    assert measured.median > 1


@pytest.mark.parametrize(
    ("command", "why"),
    [("echo none", "prints no number behind 'ops'"), ("echo ops 0", "is not above 0"), ("exit 7", "ended with 7")],
)
def test_a_benchmark_without_a_figure_is_an_error(tmp_path: Path, command: str, why: str) -> None:
    with pytest.raises(LinemateError, match=why):
        compare(Benchmark(command, "ops", 1), tmp_path, tmp_path)


def test_a_member_in_a_build_without_debug_information_asks_for_it(
    tree: Path, planned: tuple[Finding, Planned]
) -> None:
    """The symbol is there, and says nothing of what is in it: no "has no such variable"."""
    wanted, made = planned
    part = dataclasses.replace(made, participant=msgspec.structs.replace(made.participant, member="m_mutex"))
    result = run(tree, [(wanted, [part])], build="make -s OUT=out CXXFLAGS=-O2 out/slow")
    texts = [check.text for check in result.checks]
    assert any("out/slow has no debug information" in text and "build it with -g" in text for text in texts)
    assert not any("has no LOCK_open" in text for text in texts)


@pytest.mark.parametrize(
    ("name", "member", "size"),
    [("all", "slots[0].n", 24), ("all.slots[0].n", "", 24), ("all", "slots", 24), ("all", "words[1]", 8),
     ("all", "n", 0), ("all", "gone[0]", 0), ("alone[1]", "n", 24), ("none", "slots[0]", 0)],
)  # fmt: skip
def test_elements_of_an_array_in_a_variable_are_measured_too(name: str, member: str, size: int, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    source, made = tmp_path / "a.c", tmp_path / "a"
    source.write_text(
        "struct slot { long n, sum, max; } alone[2];\n"
        "struct { int n; struct slot slots[4]; long words[8]; } all;\nint main(void) { return all.n + alone[1].n; }\n"
    )
    subprocess.run(["gcc", "-g", "-o", str(made), str(source)], check=True)
    image = next(iter(read_images(str(made), access=False)))
    who = Participant(name, "0x0", 8, ((0, 8),), "counter", "", member=member, identity=re.split(r"[.\[]", name)[0])
    assert element_bytes(image, who) == size


@pytest.mark.parametrize(
    ("name", "member"),
    [("kv::stats.out", ""), ("kv::stats", "out"), ("kv::stats.out", "value")],
)
def test_a_member_is_found_however_its_finding_parts_the_name(name: str, member: str, tmp_path: Path) -> None:
    """A finding about two members of a variable has them in its names, in a namespace or not."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    source, made = tmp_path / "a.cc", tmp_path / "a"
    source.write_text(
        "struct Own { long value; };\nnamespace kv { struct Stats { Own in, out; } stats; }\n"
        "long in, out;\nint main() { return int(kv::stats.out.value++ + in + out); }\n"
    )
    subprocess.run(["g++", "-g", "-o", str(made), str(source)], check=True)
    image = next(iter(read_images(str(made), access=False)))
    who = Participant(name, "0x0", 8, ((0, 8),), "counter", "", member=member, identity="_ZN2kv5statsE")
    whole = find(image, msgspec.structs.replace(who, name="kv::stats", member=""))
    place = find(image, who)
    assert whole is not None
    assert place is not None
    assert (place.start, place.end) == (whole.start + 8, whole.start + 16)
    assert find(image, msgspec.structs.replace(who, name="kv::stats.gone", member="")) is None
