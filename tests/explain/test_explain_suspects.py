"""Suspects other than the layout: an allocator that appeared, other libraries, compilers, flags, masked code."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from pathlib import Path

import msgspec
import numpy as np
import pytest

from elfscan.code.query import read_instructions
from elfscan.traits import read_traits
from reports.explain import EXPLAIN_EMITTERS
from reports.options import RenderOptions
from sharing.explain.bench import with_measurements
from sharing.explain.causes.dependency import allocator_of_library
from sharing.explain.causes.toolchain import parse_producer
from sharing.explain.code import (
    Code,
    CodeChange,
    addresses_of,
    codes_of,
    compare_code,
    differing,
    loop_heads,
    read_code,
)
from sharing.explain.compare import ExplainOptions, explain
from sharing.explain.tables import read_measurements
from sharing.knowledge import default_knowledge
from sharing.model import Image
from sharing.model.comparison import CauseKind, Comparison, FileTraits, SegmentTrait
from sharing.model.errors import LinemateError
from sharing.model.image import Unit
from tests.builders.image import Builder
from tests.explain.conftest import BuildTableCache, Explain, read
from tests.explain.layouts import Var, laid

DATA = Path(__file__).parent / "data"

# An allocator of four functions: enough for a program to be linked with it.
ALLOCATOR = """\
#include <stddef.h>
#include <string.h>
static char arena[1 << 20];
static size_t used;
void *malloc(size_t n) { void *p = arena + used; used += (n + 15) & ~(size_t)15; return p; }
void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }
void free(void *p) { (void)p; }
"""


@pytest.fixture(scope="module")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the name and interface of tcmalloc."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("allocator")
    (folder / "allocator.c").write_text(ALLOCATOR)
    command = ["gcc", "-O2", "-shared", "-fPIC", "-fno-builtin", "-Wl,-soname,libtcmalloc.so.0"]
    subprocess.run([*command, "-o", str(folder / "libtcmalloc.so"), str(folder / "allocator.c")], check=True)
    return folder


def kinds(comparison: Comparison) -> set[CauseKind]:
    return {r.kind for r in comparison.ruled_out}


def test_an_allocator_that_appeared_comes_first_and_the_layout_is_ruled_out(
    table_cache: BuildTableCache, explained: Explain, allocator: Path
) -> None:
    """The builds differ in one library; what it moved came onto no line with anything."""
    found = explained(table_cache(), table_cache(link=f"-L{allocator} -ltcmalloc"))
    first = found.causes[0]
    assert (first.kind, first.symbols) == (CauseKind.DEPENDENCY, ("libtcmalloc.so.0",))
    assert "the new build is linked with `libtcmalloc.so.0`" in first.summary
    assert "brings tcmalloc: every allocation goes through it" in first.summary
    assert "patchelf --remove-needed libtcmalloc.so.0" in "\n".join(first.confirm)
    assert kinds(found) >= {CauseKind.LAYOUT, CauseKind.TOOLCHAIN}


def test_the_measured_table_stands_with_the_allocator_and_not_with_a_line(
    table_cache: BuildTableCache, explained: Explain, allocator: Path
) -> None:
    """The published table of transactions and vmstat, with two builds that differ in the library alone."""
    table = read_measurements((DATA / "two_machines.txt").read_text(), "two_machines.txt")
    old, new = (
        [
            dataclasses.replace(m, labels=tuple(label for label in m.labels if label[0] != "build"))
            for m in table
            if of in m.labels
        ]
        for of in (("build", "1-mysql"), ("build", "1-drizzle"))
    )
    found = with_measurements(explained(table_cache(), table_cache(link=f"-L{allocator} -ltcmalloc")), old, new)
    first = found.causes[0]
    assert first.kind is CauseKind.DEPENDENCY
    assert "threads sleep" in first.evidence[0]
    assert "interrupts 110,000 to 6,000/s" in first.evidence[0]
    tps = next(m for m in found.measurements if m.metric == "TPS" and "under" not in m.labels)
    assert (tps.old, tps.new) == (2434, 1335)
    lines = EXPLAIN_EMITTERS["text"].render(found, RenderOptions()).splitlines()
    assert lines[0].startswith("slower, but measured once: TPS by under: -45.2% without, ")
    at = next(number for number, line in enumerate(lines) if line.startswith("1  DEPENDENCY"))
    assert "libtcmalloc.so.0" in lines[at + 1]
    assert any(line.startswith("ruled out: ") and "layout" in line for line in lines[:6])


@pytest.mark.parametrize(
    ("before", "after", "command"),
    [
        ("libtcmalloc.so.4", "libjemalloc.so.2", "patchelf --replace-needed libjemalloc.so.2 libtcmalloc.so.4 "),
        ("libextra.so.3", "libjemalloc.so.2", "patchelf --remove-needed libjemalloc.so.2 "),
        ("libtcmalloc.so.4", "libextra.so.3", "perf report --sort dso: time in libextra.so.3 "),
    ],
)
def test_the_command_gives_back_the_allocator_or_looks_for_time_in_a_library(
    before: str, after: str, command: str
) -> None:
    """Without a library whose functions it calls a program does not run."""
    one = laid({".bss": [Var("lock", 40)]}, path="cache")
    old, new = (dataclasses.replace(one, needed=(name,)) for name in (before, after))
    (cause,) = explain(old, new, default_knowledge(), ExplainOptions()).causes
    assert command in "\n".join(cause.confirm)
    away = [text for text in cause.evidence if "took tcmalloc away" in text]
    assert all(("through libc again" in text) is (after == "libextra.so.3") for text in away)


def test_an_allocator_that_went_is_said_so(table_cache: BuildTableCache, explained: Explain, allocator: Path) -> None:
    first = explained(table_cache(link=f"-L{allocator} -ltcmalloc"), table_cache()).causes[0]
    assert first.kind is CauseKind.DEPENDENCY
    assert "`libtcmalloc.so.0` is no longer linked" in first.summary


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("libtcmalloc.so.0", "tcmalloc"),
        ("libtcmalloc_minimal.so.4", "tcmalloc"),
        ("libjemalloc.so.2", "jemalloc"),
        ("libmimalloc.so.2.1", "mimalloc"),
        ("libc.so.6", ""),
        ("libmallocator.so", ""),
    ],
)
def test_allocators_are_known_by_the_names_of_their_libraries(library: str, name: str) -> None:
    assert allocator_of_library(library) == name


def needing(*libraries: str, units: tuple[str, ...] = ()) -> Image:
    b = Builder(needed=libraries)
    b.function("main")
    b.variable("hits", 8)
    image = b.image()
    made = [dataclasses.replace(u, producer=p) for p in units for u in [_unit()]]
    return dataclasses.replace(image, units=tuple(made))


def _unit() -> Unit:
    return Unit("a.c", "/src", "", "C99")


def asked(old: Image, new: Image, old_traits: FileTraits, new_traits: FileTraits) -> Comparison:
    return explain(old, new, default_knowledge(), ExplainOptions(), old_traits, new_traits)


def test_another_version_of_a_library_is_one_change_and_not_two() -> None:
    found = asked(
        needing("libssl.so.1.1", "libc.so.6"), needing("libssl.so.3", "libc.so.6"), FileTraits(), FileTraits()
    )
    first = found.causes[0]
    assert (first.kind, first.summary) == (CauseKind.DEPENDENCY, "`libssl.so.1.1` became `libssl.so.3`")


def test_symbol_versions_and_the_loader_are_compared() -> None:
    old = FileTraits(versions=("libc.so.6:GLIBC_2.17",), interpreter="/lib64/ld-linux-x86-64.so.2")
    new = FileTraits(versions=("libc.so.6:GLIBC_2.17", "libc.so.6:GLIBC_2.34"), interpreter="/lib/ld-musl-x86_64.so.1")
    evidence = asked(needing("libc.so.6"), needing("libc.so.6"), old, new).causes[0].evidence
    assert evidence == (
        "symbol version libc.so.6:GLIBC_2.34: needed by the new build only",
        "program interpreter: /lib64/ld-linux-x86-64.so.2, now /lib/ld-musl-x86_64.so.1",
    )


@pytest.mark.parametrize(
    ("text", "family", "version", "level", "flags"),
    [
        ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2 -std=c17", "gcc", "12.2.0", "-O2",
         {"-mtune=generic", "-march=x86-64", "-std=c17"}),
        ("GNU C++17 12.2.0 -O1 -g -O3 -flto", "gcc", "12.2.0", "-O3", {"-flto"}),
        ("GNU C17 12.2.0 -mtune=generic -g", "gcc", "12.2.0", "-O0", {"-mtune=generic"}),
        ("Debian clang version 19.1.7 (3)", "clang", "19.1.7", "", set()),
        ("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc", "12.2.0", "", set()),
        ("rustc version 1.70.0 (90c541806 2023-05-31)", "rustc", "1.70.0", "", set()),
    ],
)  # fmt: skip
def test_producers_are_taken_apart(text: str, family: str, version: str, level: str, flags: set[str]) -> None:
    found = parse_producer(text)
    assert (found.family, found.version, found.level, set(found.flags)) == (family, version, level, flags)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("GNU C17 11.4.0 -O2", "GNU C17 12.2.0 -O2", "compiler: gcc 11.4.0, now 12.2.0"),
        ("GNU C17 12.2.0 -O2", "GNU C17 12.2.0 -O3", "optimisation level: -O2, now -O3"),
        ("GNU C17 12.2.0 -O2", "GNU C17 12.2.0 -O2 -flto", "flag -flto: only the new build has it"),
        ("GNU C17 12.2.0 -O2 -march=native", "GNU C17 12.2.0 -O2", "flag -march=native: only the old build has it"),
        ("GNU C17 12.2.0 -O2", "clang version 19.1.7", "compiler: gcc 12.2.0, now clang 19.1.7"),
    ],
)
def test_what_differs_in_the_toolchain_is_said(old: str, new: str, words: str) -> None:
    found = asked(needing(units=(old,)), needing(units=(new,)), FileTraits(), FileTraits())
    assert (found.causes[0].kind, found.causes[0].summary) == (CauseKind.TOOLCHAIN, words)


def test_flags_that_change_no_code_are_no_difference() -> None:
    old, new = "GNU C17 12.2.0 -O2 -g -Wall", "GNU C17 12.2.0 -O2 -ggdb3 -ffile-prefix-map=a=b"
    linked = FileTraits(linker="GNU ld", modes={"position": "PIE"})
    found = asked(needing(units=(old,)), needing(units=(new,)), linked, linked)
    assert CauseKind.TOOLCHAIN in kinds(found)


def test_linkers_and_segments_are_compared() -> None:
    old = FileTraits(comments=("GCC: 12.2.0",), segments=(SegmentTrait("RW", 0x4000, 100, 0x1000),), linker="GNU ld")
    new = FileTraits(
        comments=("GCC: 12.2.0",), segments=(SegmentTrait("RW", 0x4000, 100, 0x200000),), linker="LLD 19.1.7"
    )
    found = asked(needing(), needing(), old, new).causes[0]
    assert found.evidence == ("linker: GNU ld, now LLD 19.1.7", "alignment of the RW segment: 0x1000, now 0x200000")


def test_equal_flags_rule_nothing_out_where_the_linker_is_not_known() -> None:
    made = "GNU C17 12.2.0 -O2"
    for old, new in ((FileTraits(), FileTraits(linker="GNU ld")), (FileTraits(), FileTraits())):
        found = asked(needing(units=(made,)), needing(units=(made,)), old, new)
        assert CauseKind.TOOLCHAIN not in kinds(found)
        assert any("with the same flags; which linker wrote them is not known" in n for n in found.coverage.notes)


def test_another_way_of_linking_is_not_the_same_toolchain() -> None:
    made = "GNU C17 12.2.0 -O2"
    old, new = (FileTraits(linker="GNU ld", modes={"relro": relro, "hash style": "gnu"}) for relro in ("full", "none"))
    found = asked(needing(units=(made,)), needing(units=(made,)), old, new)
    assert (found.causes[0].kind, found.causes[0].summary) == (CauseKind.TOOLCHAIN, "relro: full, now none")
    assert CauseKind.TOOLCHAIN not in kinds(found)


def test_files_that_do_not_say_what_built_them_rule_nothing_out() -> None:
    found = asked(needing(), needing(), FileTraits(), FileTraits())
    assert CauseKind.TOOLCHAIN not in kinds(found)
    assert any(note.startswith("toolchain: nothing in") for note in found.coverage.notes)


@pytest.fixture(scope="module")
def image(table_cache: BuildTableCache) -> Image:
    return read(table_cache())


# call; mov of a variable relative to rip; add of a constant; jump back to the start; ret
CODE = "e8 00 01 00 00  48 8b 05 00 20 00 00  48 83 c0 08  eb ee  c3"


def code(image: Image, text: str, at: int = 0x1200) -> Code:
    data = bytes.fromhex(text)
    (instructions,) = read_instructions(image.arch, [(at, data)], addresses_of(image)) or [None]
    return Code(data, at, instructions)


@pytest.mark.parametrize(
    ("other", "change"),
    [
        (CODE, CodeChange.SAME),
        (CODE.replace("00 01 00 00", "40 01 00 00"), CodeChange.RELOCATED),  # another callee's place
        (CODE.replace("00 20 00 00", "e0 20 00 00"), CodeChange.RELOCATED),  # the variable moved
        (CODE.replace("c0 08", "c0 10"), CodeChange.CHANGED),  # another constant
        (CODE.replace("eb ee", "eb f3"), CodeChange.CHANGED),  # a loop from elsewhere
        (CODE.replace("48 8b 05", "48 89 05"), CodeChange.CHANGED),  # a store for the load
        (CODE + " 90", CodeChange.CHANGED),
    ],
)
def test_operands_that_a_linker_sets_are_no_change(image: Image, other: str, change: CodeChange) -> None:
    assert compare_code(code(image, CODE), code(image, other)) is change


def test_the_same_code_at_another_address_is_the_same_code(image: Image) -> None:
    there = CODE.replace("00 01 00 00", "80 00 00 00").replace("00 20 00 00", "80 1f 00 00")
    assert compare_code(code(image, CODE), code(image, there, 0x1280)) is CodeChange.RELOCATED


def test_loops_are_where_jumps_lead_back_to(image: Image) -> None:
    assert loop_heads(code(image, CODE)) == [0]
    assert loop_heads(code(image, "90 90 eb 00 c3")) == []


@pytest.mark.parametrize(
    "jump",
    ["ff 25 42 a6 00 00", "ff 24 25 00 10 40 00", "ff 24 c5 00 10 40 00", "ff e0", "f2 ff 25 00 00 00 00"],
    ids=["rip-relative", "absolute", "table", "register", "prefixed"],
)
def test_an_indirect_jump_leads_to_no_loop_head(image: Image, jump: str) -> None:
    assert loop_heads(code(image, f"90 {jump} c3")) == []
    back = 256 - len(f"90 {jump} eb 00".split())
    assert loop_heads(code(image, f"90 {jump} eb {back:02x}")) == [0]  # the direct jump behind it does


def test_without_bytes_nothing_is_said(image: Image) -> None:
    assert codes_of(image, memoryview(b""), [0]) == [None]
    assert compare_code(None, code(image, CODE)) is CodeChange.UNKNOWN


def test_bytes_that_differ_and_were_not_decoded_are_not_compared(image: Image) -> None:
    one, other = (
        dataclasses.replace(code(image, text), instructions=None) for text in (CODE, CODE.replace("08", "10"))
    )
    assert compare_code(one, other) is CodeChange.UNKNOWN
    assert compare_code(one, one) is CodeChange.SAME
    assert loop_heads(one) is None


def test_a_decoder_that_fails_is_a_note(image: Image, table_cache: BuildTableCache) -> None:
    def failing(*_: object) -> None:
        raise LinemateError("linemate-access: crashed (SIGSEGV); the file is probably damaged")

    traits = msgspec.structs.replace(read_traits(str(table_cache())), instructions=failing)
    found, notes = read_code(image, traits, [0, 1])
    assert all(one is None or one.instructions is None for one in found)
    assert notes == (f"code: {image.path}: linemate-access: crashed (SIGSEGV); the file is probably damaged",)


# A function that calls itself, and loops, before and behind another one of another size.
RECURSIVE = """int counter, other_counter;
__attribute__((noipa)) int g(int n) { %s return n + other_counter; }
__attribute__((noipa)) int f(int n) {
  while (counter < n) counter += g(n);
  return n > 9 ? n : f(n + 1) * f(n + g(n));
}
int main(int argc, char **argv) { return f(argc); }
"""


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc"])
def test_code_that_only_moved_is_the_same_and_a_call_is_no_loop(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    codes = []
    for name, more in (("old", ""), ("new", "for (int i = 0; i < n; i++) other_counter ^= i * n;")):
        (tmp_path / f"{name}.c").write_text(RECURSIVE % more)
        line = [compiler, "-O1", "-fno-inline", "-o", str(tmp_path / name), str(tmp_path / f"{name}.c")]
        subprocess.run(line, check=True, capture_output=True)
        built, traits = read(tmp_path / name), read_traits(str(tmp_path / name))
        rows = {built.names[int(f["name"])]: row for row, f in enumerate(built.functions) if f["name"] >= 0}
        found, notes = read_code(built, traits, [rows["f"], rows["g"]])
        assert notes == ()
        codes.append(found)
    (old_f, old_g), (new_f, new_g) = codes
    assert old_f is not None
    assert new_f is not None
    assert compare_code(old_f, new_f) is CodeChange.RELOCATED
    assert compare_code(old_g, new_g) is CodeChange.CHANGED
    heads = loop_heads(new_f)
    assert heads
    assert heads[0] > 0  # where it begins, and where its calls of itself lead


def test_stretches_differ_where_any_of_their_own_bytes_does() -> None:
    """Of two runs, each as far away as its neighbours, one byte inside of a stretch differs and one between two."""
    old, new = bytearray(range(64)), bytearray(8) + bytearray(range(24)) + bytearray(4) + bytearray(range(24, 64))
    new[8 + 11] ^= 1
    new[8 + 12 + 30] ^= 1
    at, size = np.array([0, 10, 18, 30, 43]), np.array([10, 4, 6, 12, 21])
    there = at + np.where(at < 24, 8, 12)
    for order in (np.arange(5), np.array([4, 1, 0, 3, 2])):
        found = differing(memoryview(old), at[order], memoryview(new), there[order], size[order])
        assert found.tolist() == [at in (10, 30) for at in at[order].tolist()]
    none = np.zeros(0, np.int64)
    assert not differing(memoryview(b""), none, memoryview(b""), none, none).any()
