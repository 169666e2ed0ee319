"""Rust programs: readable names, threads that are handed closures, remedies that rustc accepts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.debug.demangle import demangle
from elfscan.debug.rustnames import readable_rust, told_apart
from elfscan.image import read_images
from sharing.knowledge.names import rust_path
from sharing.model.finding import Severity
from tests.languages.conftest import audited

# Two words in one structure.
TOGETHER = """
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
#[repr(align(128))]
struct Stats { produced: AtomicU64, consumed: AtomicU64 }
static STATS: Stats = Stats { produced: AtomicU64::new(0), consumed: AtomicU64::new(0) };
static STOP: AtomicBool = AtomicBool::new(false);
fn produce() { while !STOP.load(Relaxed) { STATS.produced.fetch_add(1, Relaxed); } }
fn consume() { while !STOP.load(Relaxed) { STATS.consumed.fetch_add(1, Relaxed); } }
fn main() {
    let threads = (thread::spawn(produce), thread::spawn(consume));
    thread::sleep(std::time::Duration::from_millis(1));
    STOP.store(true, Relaxed);
    threads.0.join().unwrap();
    threads.1.join().unwrap();
    println!("{} {}", STATS.produced.load(Relaxed), STATS.consumed.load(Relaxed));
}
"""
# The line of the edit that is a member: its name, what it is now, and what it was.
MEMBER = re.compile(r"^(\w+): (Line<(.+)>),  // in together::Stats; the value is \.0$", re.M)


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("_RNvCs5DfYVIzbyry_4pair5STATS", "pair::STATS"),
        ("_RNvCs5DfYVIzbyry_4pair4STOP.0", "pair::STOP.0"),
        ("_RNvMsn_NtCslNYArtu3iFV_5alloc4syncNtB5_3Arc9drop_slow.llvm.123", "<alloc::sync::Arc>::drop_slow"),
        ("_ZN4pair5STATS17hed41c55027a24e96E", "pair::STATS"),
        (
            "_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE.llvm.77",
            "core::ops::function::FnOnce::call_once",
        ),
        (
            "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h0123456789abcdefE",
            "<T as core::convert::Into<U>>::into",
        ),
        ("_ZN2ns1C1xE", "ns::C::x"),  # C++
        ("_ZN3foo17h0123456789abcdeE", "_ZN3foo17h0123456789abcdeE"),  # a digit short, and cut
        ("_ZN9999a17h0123456789abcdefE", "_ZN9999a17h0123456789abcdefE"),
        ("_R", "_R"),
        ("_RNv" + "C" * 5000, "_RNv" + "C" * 5000),
    ],
)
def test_names(name: str, readable: str) -> None:
    assert demangle([name]) == [readable]


def test_a_long_hostile_name_is_read_once_from_end_to_end() -> None:
    """Lengths that fit in many ways are no reason to try them all."""
    names = ["_ZN" + "1a" * 50_000, "_ZN" + "11" * 50_000 + "E", "_ZN" + "3abc" * 900 + "17h0123456789abcdeg"]
    assert readable_rust(names) == names


def test_copies_of_one_function_keep_names_of_their_own() -> None:
    assert told_apart(["a::b", "c", "a::b", "c", "a::b"]) == ["a::b", "c", "a::b #2", "c", "a::b #3"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("std::rt::lang_start", "std::rt::lang_start"),
        ("std::a::b::<x::c, (Vec<u8>, fn() -> i32)>", "std::a::b"),
        ("<a::B<u8> as c::D<E>>::e::<F> #2", "a::B::e"),
        ("<a::B<fn(u8) -> u8>>::e", "a::B::e"),
        ("<unclosed", "unclosed"),
    ],
)
def test_paths_without_type_arguments(name: str, path: str) -> None:
    assert rust_path(name) == path


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with programs ``together`` and ``apart``, with symbols, and ``-stripped`` and ``-v0`` of both.

    The last have debug information as well.
    ``apart`` is ``together`` after the edit that is printed where there is debug information.
    """
    if shutil.which("rustc") is None:
        pytest.skip("no rustc: Debian's package is called rustc")
    folder = tmp_path_factory.mktemp("rust")

    def build(name: str, text: str) -> None:
        (folder / f"{name}.rs").write_text(text)
        for suffix, flags in (("", ()), ("-v0", ("-g", "-Csymbol-mangling-version=v0"))):
            command = ["rustc", "-O", *flags, "-o", f"{name}{suffix}", f"{name}.rs"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"{done.stderr}\n{text}"
        subprocess.run(["strip", "-o", f"{name}-stripped", name], cwd=folder, check=True)

    build("together", TOGETHER)
    build("apart", edited(TOGETHER, audited(folder / "together-v0")[0].remedies[0].edit))
    return folder


def edited(text: str, edit: str) -> str:
    """The words of an edit in the place of the declaration, and at its uses what they say of the value."""
    found = MEMBER.search(edit)
    assert found is not None, edit
    name, now, before = found.groups()
    text = text.replace(f"{name}: {before},", f"{name}: {now},", 1)
    text = text.replace(f"{name}: {before}::new(0)", f"{name}: Line({before}::new(0))")
    return edit[: found.start()] + text.replace(f".{name}.", f".{name}.0.")


@pytest.mark.parametrize("form", ["", "-v0"])
class TestPair:
    def test_two_words_of_a_static_structure_are_the_only_finding(self, rust: Path, form: str) -> None:
        (found,) = audited(rust / f"together{form}")
        assert found.rule == "independent-writers"
        assert found.severity.rank >= Severity.MEDIUM.rank
        assert all(p.full_name.startswith("together::STATS") for p in found.participants[:2])
        assert found.remedies[0].language == "Rust"
        assert "#[repr(align(64))]\nstruct Line<T>(T);" in found.remedies[0].edit

    def test_after_the_printed_edit_nothing_is_left(self, rust: Path, form: str) -> None:
        assert audited(rust / f"apart{form}") == []


class TestStripped:
    """Neither names nor types tell what panics: it is known by what the compiler puts behind the calls, nothing."""

    def test_the_two_words_come_first(self, rust: Path) -> None:
        symbols = next(read_images(str(rust / "together"), types=False, access=False))
        stats = next(v for v in symbols.variables if "STATS" in symbols.names[v["name"]])
        first = audited(rust / "together-stripped")[0]
        assert first.rule == "independent-writers"
        assert first.severity.rank >= Severity.MEDIUM.rank
        assert int(first.line.address, 16) == int(stats["address"])
        assert [p.bytes for p in first.participants[:2]] == [((0, 8),), ((8, 16),)]

    def test_their_edit_is_one_of_rust_as_the_compilers_comment_tells(self, rust: Path) -> None:
        (remedy, *_) = audited(rust / "together-stripped")[0].remedies
        assert remedy.language == "Rust"
        assert "#[repr(align(64))]" in remedy.edit
        subprocess.run(["strip", "-R", ".comment", "-o", "uncommented", "together-stripped"], cwd=rust, check=True)
        (remedy, *_) = audited(rust / "uncommented")[0].remedies
        assert remedy.language == "C/C++"

    def test_apart_nothing_is_found(self, rust: Path) -> None:
        assert audited(rust / "apart-stripped") == []


COLLECTIONS = """
use std::sync::Mutex;
pub struct Global;
pub struct Own<T, A>(T, A);
static QUEUE: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static OWN: Mutex<Own<u64, Global>> = Mutex::new(Own(0, Global));
fn main() { QUEUE.lock().unwrap().push(1); OWN.lock().unwrap().0 += 1; }
"""


def test_types_are_named_as_they_are_written(tmp_path: Path) -> None:
    """Without the allocator that collections have where a program names none; another type of that name stays."""
    if shutil.which("rustc") is None:
        pytest.skip("no rustc: Debian's package is called rustc")
    (tmp_path / "main.rs").write_text(COLLECTIONS)
    subprocess.run(["rustc", "-g", "main.rs"], cwd=tmp_path, check=True, capture_output=True)
    image = next(read_images(str(tmp_path / "main"), access=False))
    kinds = {image.variable_name(row): image.types.name(int(v["type"])) for row, v in enumerate(image.variables)}
    assert kinds["main::QUEUE"].endswith("Mutex<alloc::vec::Vec<u64>>")
    assert kinds["main::OWN"].endswith("Mutex<main::Own<u64, main::Global>>")
