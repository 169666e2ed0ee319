"""Goroutines that call through interfaces, and pools that run functions from a channel: what they count is found.

What both ways have in common is that no call names the function; padded apart, and counted by one kind only, the same
programs stay silent.
"""

from __future__ import annotations

import pytest

from sharing.model.finding import Severity
from tests.languages.conftest import GoBuild, audited

TOGETHER = "_ [64]byte\none, two uint64\n_ [64]byte"
APART = "_ [64]byte\none uint64\n_ [64]byte\ntwo uint64\n_ [64]byte"
PROGRAM = """
package main
import ("fmt"; "sync"; "sync/atomic")
var words struct {
WORDS
}
"""
INTERFACE = """
type worker interface { name() string; work(rounds int) }
type hasher struct { state uint64 }
type sorter struct { values []int }
func (h *hasher) name() string { return "hasher" }
func (s *sorter) name() string { return "sorter" }
func (h *hasher) work(rounds int) {
    for i := 0; i < rounds; i++ { h.state = h.state*31 ^ uint64(i); atomic.AddUint64(&words.one, 1) }
}
func (s *sorter) work(rounds int) {
    for i := 0; i < rounds; i++ {
        j := i % (len(s.values) - 1)
        if s.values[j] > s.values[j+1] { s.values[j], s.values[j+1] = s.values[j+1], s.values[j] }
        atomic.AddUint64(&words.SECOND, 1)
    }
}
func main() {
    var all sync.WaitGroup
    for _, w := range []worker{&hasher{state: 7}, &sorter{values: make([]int, 64)}} {
        all.Add(1)
        go func(w worker) { defer all.Done(); w.work(20000); fmt.Println(w.name()) }(w)
    }
    all.Wait()
    fmt.Println(words.one, words.two)
}
"""
CHANNEL = """
type pool struct { tasks chan func(); all sync.WaitGroup }
func (p *pool) loop() { defer p.all.Done(); for task := range p.tasks { task() } }
func render(n int) { for i := 0; i < n; i++ { if i*n&5 != 0 { atomic.AddUint64(&words.one, 1) } } }
func upload(n int) { for i := 0; i < n; i++ { if i*n&3 != 0 { atomic.AddUint64(&words.SECOND, 1) } } }
func main() {
    p := &pool{tasks: make(chan func(), 8)}
    for i := 0; i < 4; i++ { p.all.Add(1); go p.loop() }
    for i := 0; i < 200; i++ {
        n := 1000 + i
        if i%2 == 0 { p.tasks <- func() { render(n) } } else { p.tasks <- func() { upload(n) } }
    }
    close(p.tasks)
    p.all.Wait()
    fmt.Println(words.one, words.two)
}
"""
BOTH = pytest.mark.parametrize("body", [INTERFACE, CHANNEL], ids=["interface", "channel"])
FORMS = pytest.mark.parametrize("flags", ["", "-ldflags=-s -w"], ids=["symbols", "stripped"])


def program(body: str, words: str = TOGETHER, second: str = "two") -> str:
    return (PROGRAM + body).replace("WORDS", words).replace("SECOND", second)


@BOTH
@FORMS
def test_two_words_that_are_counted_through_pointers_come_first(go_build: GoBuild, body: str, flags: str) -> None:
    (found, *_) = audited(go_build("pointers", program(body), *filter(None, [flags])))
    assert (found.rule, found.severity) == ("independent-writers", Severity.MEDIUM)
    first, second = found.participants[:2]
    assert first.size == second.size == 8
    assert not set(first.writers) & set(second.writers)


@BOTH
@FORMS
def test_padded_apart_they_are_silent(go_build: GoBuild, body: str, flags: str) -> None:
    assert audited(go_build("pointers", program(body, APART), *filter(None, [flags]))) == []


@BOTH
def test_one_word_that_both_count_shares_its_line_with_nobody(go_build: GoBuild, body: str) -> None:
    assert audited(go_build("pointers", program(body, second="one"))) == []
