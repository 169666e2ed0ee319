"""Programs whose accesses are counted by their addresses: counts, transfers of lines, findings held against them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analyzer.run import run_facts
from bench.truth import accessfile, subject
from bench.truth.accessfile import Accesses, Moved, Site
from bench.truth.corpus import KEPT, Compared
from bench.truth.exact import Exact
from bench.truth.instrument import compile_counter, wrapper
from bench.truth.members import Places
from bench.truth.page import page
from bench.truth.score import Score, score
from bench.truth.store import Made
from bench.truth.subject import judged
from bench.truth.truth import truth_of
from elfscan.image import read_images
from linemate.options import FactsRequest
from linemate.source import read_streams
from pmu.counts import read_executions
from sharing.counted.weigh import Counted as Threads
from sharing.model.executions import EXECUTION_DTYPE, CountedThread
from sharing.model.image import AccessKind
from tests.builders.image import Builder
from tests.counts.conftest import PROGRAMS, Counted

MADE = Made("server", "counted/server", "package", "1.0", "", "server --now", "counter.c")
TURNS, ONCE = 3000, 100
# What a line's first thread wrote is known by its bytes alone, and what comes of the last transfer is open at the end.
MOVED = TURNS - 2
COMPILERS = ("gcc", "clang-19")
Seen = Callable[..., Accesses]


@pytest.fixture(scope="session")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """``seen("gcc", "-DPAD")`` is what was counted in one run of turns.c."""
    counter = compile_counter(tmp_path_factory.mktemp("counter"))
    known: dict[tuple[str, ...], Accesses] = {}

    def run(compiler: str, *flags: str) -> Accesses:
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler}")
        if (compiler, *flags) not in known:
            where = tmp_path_factory.mktemp("seen")
            counting = wrapper(where / "cc", compiler, where, counter)
            build = [str(counting), "-O1", "-g", "-pthread", *flags, "-c", str(PROGRAMS / "turns.c"), "-o", "turns.o"]
            subprocess.run(build, check=True, cwd=where)
            subprocess.run([str(counting), "turns.o", "-o", "turns"], check=True, cwd=where)
            environment = {**os.environ, "COUNTER_OUT": str(where / "out")}
            subprocess.run([str(where / "turns")], check=True, timeout=60, env=environment)
            (image,) = read_images(str(where / "turns"))
            known[compiler, *flags] = accessfile.read(where / "out", image, MADE)
        return known[compiler, *flags]

    return run


def made(of: Accesses, function: str, kind: AccessKind, size: int) -> list[dict[int, int]]:
    return [s.made for s in of.sites if (s.function, s.kind, s.size) == (function, kind, size)]


def between(of: Accesses, used: str, wrote: str) -> list[tuple[int, int, int]]:
    """How far apart, how often needed and in vain, of what one function used and another one had written."""
    names = [s.function for s in of.sites]
    return [
        (m.distance, m.needed, m.vain)
        for m in of.moved
        if m.wrote >= 0 and (names[m.use], names[m.wrote]) == (used, wrote)
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
class TestCounts:
    def test_each_access_counts_on_its_thread(self, seen: Seen, compiler: str) -> None:
        found = seen(compiler)
        assert found.threads == 3
        assert made(found, "write_counter", AccessKind.STORE, 8) == [{2: TURNS}]
        assert sum(len(m) for m in made(found, "read_limit", AccessKind.LOAD, 8)) == 1
        assert {3: TURNS} in made(found, "read_limit", AccessKind.LOAD, 8)
        assert {3: TURNS} in made(found, "read_limit", AccessKind.STORE, 8)  # total

    def test_atomics_locks_and_copies_count(self, seen: Seen, compiler: str) -> None:
        found = seen(compiler)
        assert made(found, "alone", AccessKind.RMW, 4) == [{1: ONCE}]
        assert made(found, "alone", AccessKind.RMW, 20) == [{1: ONCE}, {1: ONCE}]  # lock and unlock
        assert made(found, "alone", AccessKind.STORE, 16) == [{1: ONCE}]
        assert made(found, "alone", AccessKind.LOAD, 16) == [{1: ONCE}]

    def test_a_line_that_comes_for_other_bytes_comes_in_vain(self, seen: Seen, compiler: str) -> None:
        assert between(seen(compiler), "read_limit", "write_counter") == [(-8, 0, MOVED)]
        assert between(seen(compiler), "write_counter", "read_limit") == []  # what is only read takes no line

    def test_a_line_whose_new_bytes_are_used_is_needed(self, seen: Seen, compiler: str) -> None:
        found = between(seen(compiler, "-DBOTH"), "read_limit", "write_counter")
        assert sorted(found) == [(-8, MOVED, 0), (0, MOVED, 0)]

    @pytest.mark.parametrize("flag", ["-DPAD", "-DFRESH"])
    def test_other_lines_and_new_objects_do_not_meet(self, seen: Seen, compiler: str, flag: str) -> None:
        assert between(seen(compiler, flag), "read_limit", "write_counter") == []


def test_what_is_kept_is_what_was_counted(seen: Seen, tmp_path: Path) -> None:
    found = seen("gcc")
    accessfile.save(tmp_path / "kept", found, 1)
    assert accessfile.load(tmp_path / "kept") == found
    accessfile.save(tmp_path / "kept", found, TURNS)
    assert accessfile.load(tmp_path / "kept").moved == ()
    (tmp_path / "kept").write_bytes((KEPT / "zstd-built.json.xz").read_bytes())
    with pytest.raises(ValueError, match="is not of the format"):
        accessfile.load(tmp_path / "kept")


@pytest.fixture
def scored(counted: Counted, seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Score]:
    """The findings of the source of turns.c, held against a run."""
    monkeypatch.setattr(subject, "DECODED", tmp_path / "decoded")

    def of(accesses: Accesses, *flags: str) -> Score:
        run = counted("turns.c", "-g", *flags)
        request = FactsRequest(sources=(str(PROGRAMS / "turns.c"),), flags=("-O1", "-pthread"))
        run.binary.with_name("program.facts").write_bytes(run_facts(request).read_bytes())
        executions = read_executions([run.counts])
        (module,) = [i for i, name in enumerate(executions.modules) if name == str(run.binary)]
        executions = replace(executions, table=executions.of_module([module]))
        counted_file, *_, by_source = judged(run.binary, run.binary.with_name("program.facts"))
        return score(by_source, truth_of(counted_file.passes, executions, accesses))

    return of


@pytest.mark.parametrize(("flags", "confirmed"), [((), True), (("-DBOTH",), False)])
def test_a_finding_about_a_record_is_true_where_its_line_moved_in_vain(
    seen: Seen, scored: Callable[..., Score], flags: tuple[str, ...], confirmed: bool
) -> None:
    found = scored(seen("gcc", *flags))
    (one,) = [
        c for c in found.checked if c.exact and {"counter", "limit"} <= {_member(p) for p in c.finding.participants}
    ]
    assert one.confirmed is confirmed
    names = [(m.used, m.wrote) for m in found.members]
    assert (("shared.limit", "shared.counter") in names) is confirmed
    said = page([Compared(MADE, (found,))]).partition("**By their addresses.**")[2]
    assert (f"| {int(confirmed)} of {sum(c.exact for c in found.checked)} |" in said) is True


def _member(participant: object) -> str:
    return str(getattr(participant, "full_name", "")).rpartition(".")[2]


class TestNames:
    """Accesses of one run, at lines that the source says more of."""

    def exact(self, *moved: Moved) -> Exact:
        lines = (PROGRAMS / "turns.c").read_text().splitlines()
        counter, limit = (1 + next(n for n, text in enumerate(lines) if part in text) for part in COUNTER_LIMIT)
        made = {1: 10**6, 2: 10**6}
        sites = tuple(
            Site(str(PROGRAMS / "turns.c"), line, 0, "f", kind, size, made)
            for line, kind, size in (
                (counter, AccessKind.STORE, 8),
                (limit, AccessKind.LOAD, 8),
                (limit, AccessKind.LOAD, 16),
            )
        )
        request = FactsRequest(sources=(str(PROGRAMS / "turns.c"),), flags=("-O1", "-pthread"))
        threads = Threads(np.zeros(0, EXECUTION_DTYPE), tuple(CountedThread(1, n, 10**7) for n in (1, 2)))
        return Exact(read_streams([run_facts(request)]), Accesses(MADE, 2, 0, sites, moved), threads)

    @pytest.mark.parametrize(
        ("use", "distance", "same", "named"),
        [
            (1, -8, True, True),
            (1, -8, False, False),  # another object
            (1, 8, True, False),  # what is there is behind the record's end
            (2, -8, True, True),  # joined with its neighbour
            (2, 8, True, True),  # with the one before
            (2, 32, True, False),  # before the record is nothing
            (1, 16, True, True),  # of the next element, 24 bytes on
            (1, -16, True, False),  # no member that the lines name
        ],
    )
    def test_members_are_those_that_are_so_far_apart(self, use: int, distance: int, same: bool, named: bool) -> None:
        exact = self.exact(Moved(use, 0, distance, same, 0, 5000, "main"))
        assert bool(exact.members()) is named
        assert bool(exact.unnamed) is not named

    def test_elements_meet_in_one_member_and_not_in_two_of_one_object(self) -> None:
        (owner,) = {m.owner for m in self.exact(Moved(1, 0, -8, True, 0, 5000, "")).members()}
        neighbours = self.exact(Moved(1, 0, 16, True, 0, 5000, ""))
        assert [m.elements for m in neighbours.members()] == [True]
        (two, one) = (neighbours.shared(owner, spans) for spans in ([(8, 16), (16, 24)], [(8, 24)]))
        assert two is not None
        assert one is not None
        assert (two.transfers, one.transfers) == (0, 5000)
        same = self.exact(Moved(1, 0, -8, True, 0, 5000, "")).shared(owner, [(8, 16), (16, 24)])
        assert same is not None
        assert same.transfers == 5000

    @pytest.mark.parametrize(
        ("name", "offset"),
        [
            ("struct shared.counter", 8),
            ("shared.limit", 16),
            ("struct once.text[2]", 44),  # the array; which element a finding's bytes say
            ("struct shared.other", None),
            ("struct absent.counter", None),
            ("turn", None),
        ],
    )
    def test_a_member_is_found_by_its_name_alone(self, name: str, offset: int | None) -> None:
        request = FactsRequest(sources=(str(PROGRAMS / "turns.c"),), flags=("-O1", "-pthread"))
        key, found = Places(read_streams([run_facts(request)]), Builder().image()).by_name(name)
        assert (found if key else None) == offset

    def test_what_moved_too_seldom_costs_nothing(self) -> None:
        assert [m.vain for m in self.exact(Moved(1, 0, -8, True, 0, 5000, "")).members()] == [5000]
        assert self.exact(Moved(1, 0, -8, True, 0, 20, "")).members() == []


COUNTER_LIMIT = ("at->counter = at->counter + 1", "total = at->limit")


@pytest.mark.parametrize("path", sorted(KEPT.glob(f"*{accessfile.SUFFIX}")), ids=lambda p: p.name.partition(".")[0])
def test_each_kept_run_can_be_read_and_is_small(path: Path) -> None:
    assert path.stat().st_size < 300_000
    found = accessfile.load(path)
    assert found.sites
    assert f"{found.made.program}{accessfile.SUFFIX}" == path.name
