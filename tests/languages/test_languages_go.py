"""Go programs, made by Go: goroutines, locks, stripped files, and padding that keeps words apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharing.model.finding import Severity
from tests.languages.conftest import GoBuild, audited

# Of three words in a row two are on one line, wherever the linker puts them.
PROGRAM = """
package main
import ("sync"; "sync/atomic")
type Stats struct {
produced uint64
consumed atomic.Uint64
skipped uint64
}
var stats Stats
var table struct {
sync.Mutex
entries [4]int
}
var stop uint32
type Group struct{ all sync.WaitGroup }
func (g *Group) Go(f func()) { g.all.Add(1); go func() { defer g.all.Done(); f() }() }
func produce() { for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&stats.produced, 1) } }
func insert(n int) { for i := 0; i < n; i++ { table.Lock(); table.entries[i&3]++; table.Unlock() } }
func main() {
    var g Group
    go produce()
    g.Go(func() { for atomic.LoadUint32(&stop) == 0 { stats.consumed.Add(1) } })
    go func(step uint64) { for atomic.LoadUint32(&stop) == 0 { atomic.AddUint64(&stats.skipped, step) } }(2)
    for i := 0; i < 3; i++ { g.Go(func() { insert(1000) }) }
    atomic.StoreUint32(&stop, 1)
    g.all.Wait()
    println(stats.produced, stats.consumed.Load(), stats.skipped, table.entries[0])
}
"""
ROUNDS = 3  # a pair, what is beside it then, and the build after the last edit


@pytest.fixture(scope="module")
def go(go_build: GoBuild) -> Path:
    """Folder with the programs ``together`` and ``apart``, and ``-stripped`` of both.

    ``apart`` is ``together`` after the printed edits, put in as they are until an audit has none.
    """
    folder = go_build("together", PROGRAM).parent
    apart = PROGRAM
    for _ in range(ROUNDS):
        for finding in audited(go_build("apart", apart)):
            apart = edited(apart, finding.remedies[0].edit)
    for name, text in (("together", PROGRAM), ("apart", apart)):
        go_build(f"{name}-stripped", text, "-ldflags=-s -w")
    return folder


def edited(text: str, edit: str) -> str:
    """The lines of an edit in the place of the declaration that they are about: the one with a name."""
    (declared,) = (line for line in edit.splitlines() if not line.startswith("_ "))
    assert f"\n{declared}\n" in text
    return text.replace(f"\n{declared}\n", f"\n{edit}\n", 1)


def test_words_of_goroutines_come_first_with_an_edit_in_go(go: Path) -> None:
    first, *others = audited(go / "together")
    assert (first.rule, first.severity) == ("independent-writers", Severity.HIGH)
    assert {p.full_name.split(".")[1] for p in first.participants[:2]} == {"stats"}
    assert first.remedies[0].language == "Go"
    # Which two are on one line is the linker's choice; each may be set apart, a plain word and an atomic type alike.
    fields = ("produced uint64", "consumed atomic.Uint64", "skipped uint64")
    edits = {remedy.edit for finding in (first, *others) for remedy in finding.remedies}
    assert edits & {f"_ [56]byte\n{field}\n_ [56]byte" for field in fields}
    assert {f.participants[0].full_name for f in others} <= {"main.table.Mutex", "main.stats.consumed.v"}


def test_without_symbols_threads_are_known_by_their_names_and_variables_by_place(go: Path) -> None:
    first = audited(go / "together-stripped")[0]
    assert (first.rule, first.severity) == ("independent-writers", Severity.HIGH)
    assert all(p.full_name.startswith("noptrbss+0x") for p in first.participants[:2])
    assert any("main.produce" in evidence or "main.main.func" in evidence for evidence in map(str, first.participants))


def test_after_the_printed_edits_no_line_is_shared(go: Path) -> None:
    assert audited(go / "apart") == []


def test_without_symbols_only_a_lock_and_its_own_data_may_be_two_variables(go: Path) -> None:
    for finding in audited(go / "apart-stripped"):
        assert finding.rule == "hot-lock-shares-line"
        assert {function for p in finding.participants for function in (*p.writers, *p.lockers)} == {"main.insert"}
