"""Rust programs whose words lie among data of std: the program's own come first, the padded twin is silent."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sharing.knowledge import default_knowledge
from sharing.model.finding import Severity
from tests.languages.conftest import audited

HEAD = """
#![allow(dead_code)]
use std::sync::{Mutex, atomic::{AtomicBool, AtomicU64, Ordering::*}};
use std::thread;
#[repr(align(ALIGNMENT))] struct Slot<T>(T);
"""
# Two words beside each other, and a word of std on the same line that is written once.
STATICS = """
static PRODUCED: Slot<AtomicU64> = Slot(AtomicU64::new(0));
static CONSUMED: Slot<AtomicU64> = Slot(AtomicU64::new(0));
#[inline(never)] fn produce(n: u64) { for i in 0..n { std::hint::black_box(i); PRODUCED.0.fetch_add(1, Release); } }
#[inline(never)] fn consume(n: u64) { for i in 0..n { std::hint::black_box(i); CONSUMED.0.fetch_add(1, Release); } }
fn main() {
    let p = thread::Builder::new().name("producer".into()).spawn(|| produce(100000)).unwrap();
    let c = thread::Builder::new().name("consumer".into()).spawn(|| consume(100000)).unwrap();
    p.join().unwrap();
    c.join().unwrap();
    println!("{}", PRODUCED.0.load(Acquire) + CONSUMED.0.load(Acquire));
}
"""
# A flag that is polled beside a word that is counted.
FLAG = """
static STOP: Slot<AtomicBool> = Slot(AtomicBool::new(false));
static DONE: Slot<AtomicU64> = Slot(AtomicU64::new(0));
fn counter() {
    let mut i = 0;
    while i < 10_000_000u64 { DONE.0.fetch_add(1, Relaxed); i += 1; }
    STOP.0.store(true, Release);
}
fn spinner() -> u64 {
    let mut k = 0u64;
    while !STOP.0.load(Acquire) { k = k.wrapping_mul(3) + 1; std::hint::black_box(k); }
    k
}
fn main() {
    let a = thread::spawn(counter);
    let s: Vec<_> = (0..3).map(|_| thread::spawn(spinner)).collect();
    a.join().unwrap();
    let t: u64 = s.into_iter().map(|h| h.join().unwrap() & 1).sum();
    println!("{} {}", DONE.0.load(Relaxed), t);
}
"""
# What a lock guards is behind the lock, and on the line of the next member.
QUEUE = """
#[repr(C, align(64))]
struct Server { before: [u64; 6], queue: Mutex<Vec<u64>>, requests: Slot<AtomicU64> }
static SERVER: Server = Server { before: [0; 6], queue: Mutex::new(Vec::new()), requests: Slot(AtomicU64::new(0)) };
fn acceptor(n: u64) { for i in 0..n { SERVER.requests.0.fetch_add(1, Relaxed); std::hint::black_box(i); } }
fn worker(n: u64) {
    for i in 0..n { let mut q = SERVER.queue.lock().unwrap(); q.push(i); if q.len() > 100 { q.clear(); } }
}
fn main() {
    let mut hs = vec![thread::spawn(|| acceptor(100000))];
    for _ in 0..3 { hs.push(thread::spawn(|| worker(100000))); }
    for h in hs { h.join().unwrap(); }
    println!("{} {} {}", SERVER.requests.0.load(Relaxed), SERVER.queue.lock().unwrap().len(), SERVER.before[0]);
}
"""
# Closures that come to the thread in a box of the caller's making, as crates of threads hand them over.
BOXED = (
    STATICS[: STATICS.index("fn main")]
    + """
#[inline(never)] fn start(job: Box<dyn FnOnce() + Send>) -> thread::JoinHandle<()> { thread::spawn(move || job()) }
#[inline(never)] fn both(n: u64) -> Vec<thread::JoinHandle<()>> {
    vec![start(Box::new(move || produce(n))), start(Box::new(move || consume(n + 1)))]
}
fn main() {
    for t in both(std::env::args().count() as u64 * 100000) { t.join().unwrap(); }
    println!("{}", PRODUCED.0.load(Acquire) + CONSUMED.0.load(Acquire));
}
"""
)
# An element for each thread, by the number that it was handed, behind a check and a test in its loop.
ELEMENTS = """
static PRIMES: [Slot<AtomicU64>; 4] = [const { Slot(AtomicU64::new(0)) }; 4];
fn is_prime(n: u64) -> bool {
    if n < 2 { return false; }
    let mut d = 2;
    while d * d <= n { if n % d == 0 { return false; } d += 1; }
    true
}
fn count(id: usize, limit: u64) {
    let mut n = id as u64;
    while n < limit { if is_prime(n) { PRIMES[id].0.fetch_add(1, Relaxed); } n += 4; }
}
fn main() {
    let limit = std::env::args().count() as u64 * 100000;
    let all: Vec<_> = (0..4).map(|id| thread::spawn(move || count(id, limit))).collect();
    for t in all { t.join().unwrap(); }
    println!("{}", PRIMES.iter().map(|p| p.0.load(Relaxed)).sum::<u64>());
}
"""
# Workers behind a trait, whose method a loop calls through the table that it loaded before.
TRAITS = (
    STATICS[: STATICS.index("#[inline(never)] fn produce")]
    + """
trait Stage: Send { fn name(&self) -> &str; fn step(&mut self, input: u64) -> u64; }
struct Parser(u64);
struct Encoder(u64);
impl Stage for Parser {
    fn name(&self) -> &str { "parser" }
    fn step(&mut self, input: u64) -> u64 {
        self.0 = self.0.rotate_left(7) ^ input;
        PRODUCED.0.fetch_add(1, Relaxed);
        self.0
    }
}
impl Stage for Encoder {
    fn name(&self) -> &str { "encoder" }
    fn step(&mut self, input: u64) -> u64 { CONSUMED.0.fetch_add(1, Relaxed); input.wrapping_mul(self.0) }
}
fn drive(mut stage: Box<dyn Stage>, rounds: u64) -> usize {
    let mut v = 1;
    for i in 0..rounds { v = stage.step(v ^ i); }
    std::hint::black_box(v);
    stage.name().len()
}
fn main() {
    let rounds = std::env::args().count() as u64 * 100000;
    let stages: Vec<Box<dyn Stage>> = vec![Box::new(Parser(3)), Box::new(Encoder(5))];
    let all: Vec<_> = stages.into_iter().map(|s| thread::spawn(move || drive(s, rounds))).collect();
    let names: usize = all.into_iter().map(|t| t.join().unwrap()).sum();
    println!("{} {}", names, PRODUCED.0.load(Acquire) + CONSUMED.0.load(Acquire));
}
"""
)
FORMS = {"symbols": ("-Cstrip=debuginfo",), "types": ("-g",), "stripped": ("-Cstrip=symbols",)}


def built(folder: Path, name: str, text: str, form: str, *, apart: bool) -> Path:
    if shutil.which("rustc") is None:
        pytest.skip("no rustc: Debian's package is called rustc")
    text = HEAD.replace("ALIGNMENT", "128" if apart else "1") + text
    (folder / f"{name}.rs").write_text(text)
    command = ["rustc", "-O", *FORMS[form], "-o", name, f"{name}.rs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / name


@pytest.mark.parametrize("form", list(FORMS))
class TestAmongDataOfStd:
    def test_two_words_come_first(self, tmp_path: Path, form: str) -> None:
        found = audited(built(tmp_path, "statics", STATICS, form, apart=False))[0]
        assert found.rule == "independent-writers"
        assert found.severity.rank >= Severity.MEDIUM.rank
        if form != "stripped":
            names = sorted(p.full_name.split("::")[1].split(".")[0] for p in found.participants[:2])
            assert names == ["CONSUMED", "PRODUCED"]

    def test_two_words_of_boxed_closures_come_first(self, tmp_path: Path, form: str) -> None:
        found = audited(built(tmp_path, "boxed", BOXED, form, apart=False))[0]
        assert found.rule == "independent-writers"
        assert found.severity.rank >= Severity.MEDIUM.rank

    def test_two_words_of_methods_behind_a_trait_come_first_where_names_tell_them_from_librarys(
        self, tmp_path: Path, form: str
    ) -> None:
        if form == "stripped":
            pytest.skip("nothing tells the program's methods from those of std")
        findings = audited(built(tmp_path, "traits", TRAITS, form, apart=False))
        assert findings[0].rule == "independent-writers"
        assert findings[0].severity is Severity.MEDIUM
        assert {w.split("::")[1].split(" ")[0] for p in findings[0].participants[:2] for w in p.writers} == {
            "Parser",
            "Encoder",
        }

    def test_elements_of_threads_come_first(self, tmp_path: Path, form: str) -> None:
        found = audited(built(tmp_path, "elements", ELEMENTS, form, apart=False))[0]
        assert found.rule == "packed-thread-slots"
        assert found.severity.rank >= Severity.MEDIUM.rank

    def test_a_flag_that_is_polled_beside_a_counted_word_is_found(self, tmp_path: Path, form: str) -> None:
        found = audited(built(tmp_path, "flag", FLAG, form, apart=False))[0]
        assert found.rule == "written-beside-read-mostly"
        if form != "stripped":
            assert [p.full_name.split("::")[1].split(".")[0] for p in found.participants[:2]] == ["DONE", "STOP"]

    def test_what_a_lock_guards_is_found_beside_the_next_member(self, tmp_path: Path, form: str) -> None:
        """A word of std that is written when the program ends is not what takes the line away."""
        found = audited(built(tmp_path, "queue", QUEUE, form, apart=False))[0]
        assert found.rule == "independent-writers"
        if form == "types":
            assert found.participants[0].full_name == "queue::SERVER.queue.data.value.len"
            assert found.participants[1].full_name.startswith("queue::SERVER.requests")

    @pytest.mark.parametrize("text", [STATICS, BOXED, TRAITS, ELEMENTS, FLAG, QUEUE])
    def test_apart_nothing_is_found(self, tmp_path: Path, form: str, text: str) -> None:
        assert audited(built(tmp_path, "apart", text, form, apart=True)) == []


@pytest.mark.parametrize(
    ("name", "of_library"),
    [
        ("parking_lot_core::parking_lot::HASHTABLE", True),
        ("memchr::arch::x86_64::memchr::memchr_raw::FN", True),
        ("<std::thread::ThreadId>::new::COUNTER", True),
        ("server::parking_lot_core::HASHTABLE", False),
        ("memchrs::FN", False),
    ],
)
def test_static_data_of_common_crates_is_a_librarys(name: str, of_library: bool) -> None:
    assert default_knowledge().is_library_data(name, "Rust") == of_library


@pytest.mark.parametrize("language", ["C++", ""])
@pytest.mark.parametrize(
    ("name", "of_library"),
    [("tracing::next_span_id", False), ("core::jobs", False), ("log::written", False), ("std::locale::_S_once", True)],
)
def test_a_namespace_of_cxx_with_a_crates_name_is_the_programs(name: str, language: str, of_library: bool) -> None:
    assert default_knowledge().is_library_data(name, language) == of_library


@pytest.mark.parametrize(
    ("name", "is_entry"),
    [
        ("<rayon_core::job::StackJob<L,F,R> as rayon_core::job::Job>::execute", True),
        ("<rayon_core::job::HeapJob<BODY> as rayon_core::job::Job>::execute", True),
        ("<rayon_core::job::StackJob<L,F,R>>::run_inline", False),
        ("<server::job::StackJob<L,F,R> as server::job::Job>::execute", False),
    ],
)
def test_jobs_of_rayon_run_on_threads(name: str, is_entry: bool) -> None:
    assert default_knowledge().is_thread_entry(name) == is_entry


POLL = ["tokio::runtime::task::raw::poll", "tokio::runtime::task::raw::poll #2"]


def test_tasks_of_tokio_run_on_threads_where_a_runtime_of_several_is_made() -> None:
    tasks = default_knowledge().pool_tasks
    names = [*POLL, "server::poll", "<tokio::runtime::builder::Builder>::new_multi_thread"]
    assert tasks(names) == [0, 1]
    assert tasks([*names[:3], "tokio::runtime::builder::Builder::new_current_thread"]) == []
    assert tasks(["server::task::raw::poll", names[3]]) == []
