"""The ways in which programs of Go start goroutines: each is seen, and what is padded apart stays silent.

Every way has a pair of words of its own, one of which it counts; a plain goroutine counts the other one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sharing.model.finding import Severity
from tests.languages.conftest import GoBuild, audited

TOGETHER = "_ [64]byte\none, two uint64\n_ [64]byte"
APART = "_ [64]byte\none uint64\n_ [64]byte\ntwo uint64\n_ [64]byte"
PROGRAM = """
package main
import ("context"; "sync"; "sync/atomic"; "time")
type pair struct {
WORDS
}
var named, sent, closed, wrapped, grouped, late, ended pair
var stop uint32
func count(word *uint64) { for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(word, 1) } }
func first() { for atomic.LoadUint32(&stop) == 0 {
    atomic.AddUint64(&named.one, 1); atomic.AddUint64(&sent.one, 1); atomic.AddUint64(&closed.one, 1)
    atomic.AddUint64(&wrapped.one, 1)
    atomic.AddUint64(&grouped.one, 1); atomic.AddUint64(&late.one, 1); atomic.AddUint64(&ended.one, 1) } }
func expired() { for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&late.two, 1) } }
func worker(id int, all *sync.WaitGroup) {
    defer all.Done()
    for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&named.two, 1) }
}
func consumer(work chan int) { for range work { atomic.AddUint64(&sent.two, 1) } }
func main() {
    var all sync.WaitGroup
    work := make(chan int)
    go first()
    for i := 0; i < 3; i++ { all.Add(1); go worker(i, &all) }
    for i := 0; i < 3; i++ { go consumer(work) }
    for i := 0; i < 3; i++ {
        all.Add(1)
        go func() { defer all.Done(); for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&closed.two, 1) } }()
    }
    for i := 0; i < 3; i++ {
        all.Add(1)
        go func(step int) {
            defer all.Done()
            for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&wrapped.two, uint64(step)) }
        }(i)
    }
    GROUP(func() { for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&grouped.two, 1) } })
    time.AfterFunc(time.Second, expired)
    ctx, end := context.WithCancel(context.Background())
    context.AfterFunc(ctx, func() { for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&ended.two, 1) } })
    end()
    _ = ctx.Err()
    for i := 0; i < 9; i++ { work <- i }
    all.Wait()
}
"""
# What the standard library gained later is left out of a program for an older Go.
SINCE = {"GROUP": ("grouped", "all.Go", 25), "context.AfterFunc": ("ended", "context.AfterFunc", 21)}
PAIRS = {"named", "sent", "closed", "wrapped", "grouped", "late", "ended"}


@pytest.fixture(scope="module")
def found(go_build: GoBuild) -> tuple[Path, set[str]]:
    """A program with all ways that this Go has, and the names of their pairs."""
    version = _version(go_build)
    return go_build("starts", _program(TOGETHER, version)), PAIRS - _later(version)


def test_each_way_to_start_a_goroutine_is_seen(found: tuple[Path, set[str]]) -> None:
    program, pairs = found
    findings = audited(program)
    assert {f.participants[0].full_name.split(".")[1] for f in findings} == pairs
    assert {(f.rule, f.severity) for f in findings} == {("independent-writers", Severity.HIGH)}


def test_what_is_padded_apart_is_silent(go_build: GoBuild) -> None:
    assert audited(go_build("starts-apart", _program(APART, _version(go_build)))) == []


def _version(go_build: GoBuild) -> int:
    """The 26 of Go 1.26."""
    about = go_build("about", "package main\nfunc main() {}\n").read_bytes()
    said = re.search(rb"go1\.(\d+)", about)
    assert said is not None
    return int(said[1])


def _later(version: int) -> set[str]:
    return {pair for pair, _, since in SINCE.values() if version < since}


def _program(words: str, version: int) -> str:
    text = PROGRAM.replace("WORDS", words)
    for placeholder, (_, call, since) in SINCE.items():
        text = text.replace(f"    {placeholder}(", f"    {call}(" if version >= since else "    _ = (")
    return text
