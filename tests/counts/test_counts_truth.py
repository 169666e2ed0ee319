"""The corpus of counted programs: what is kept is what was counted, and the scores say what a run shows."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analyzer.run import run_facts
from bench.truth import subject
from bench.truth.apart import Places
from bench.truth.build import same_everywhere, wrapper
from bench.truth.corpus import Compared
from bench.truth.misses import misses
from bench.truth.page import page
from bench.truth.score import Score, Share, Within, score
from bench.truth.store import Made, load, save
from bench.truth.subject import Judged, judged
from bench.truth.truth import Truth, truth_of
from bench.truth.ways import RUNS, WaysScore, ways_score
from linemate.options import FactsRequest
from pmu.counts import read_executions
from sharing.knowledge import default_knowledge
from sharing.model.executions import EXECUTION_DTYPE, CountedThread, Executions
from sharing.model.ways import Points
from sharing.rules.numbers import NEAR_BYTES
from sharing.static import callgraph
from tests.builders.callgrind import Out
from tests.builders.image import Builder
from tests.counts.conftest import PROGRAMS, Counted, Run

MADE = Made("server", "/bin/server", "package", "1.0", "ab" * 20, "server --now", "callgrind-3.19.0")
KEPT = sorted((Path(__file__).parents[2] / "testdata" / "truth").glob("*.json.xz"))


def of_program(run: Run) -> Executions:
    executions = read_executions([run.counts])
    (module,) = [i for i, name in enumerate(executions.modules) if name == str(run.binary)]
    return replace(executions, table=executions.of_module([module]))


def test_what_is_kept_is_what_was_counted_in_that_file(tmp_path: Path) -> None:
    for thread, counts in ((1, (7, 7, 5, 0)), (2, (0, 9, 9, 9))):
        out = Out(thread=thread).ob("/lib/other.so").cost(0x40, 1000).ob("/bin/server")
        for at, count in enumerate(counts):
            out.cost(0x1000 + 0x10 * at * at, count)
        (tmp_path / f"counts-{thread:02}").write_text(out.text())
    whole = read_executions([tmp_path / "counts"])
    module = whole.modules.index("/bin/server")
    save(tmp_path / "kept", MADE, whole, [module])
    made, kept = load(tmp_path / "kept")
    assert made == MADE
    assert kept.threads == whole.threads
    columns = ["address", "thread", "executions"]
    assert kept.table[columns].tolist() == whole.of_module([module])[columns].tolist()
    assert len(kept.table) == 6


@pytest.fixture(autouse=True)
def decoded_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "DECODED", tmp_path / "decoded")


def judged_run(run: Run) -> list[tuple[Judged, Truth]]:
    ways = list(judged(run.binary, run.binary.with_name("program.facts")))
    truth = truth_of(ways[0].passes, of_program(run))
    return [(one, truth) for one in ways]


def scored(run: Run) -> list[Score]:
    return [score(one, truth) for one, truth in judged_run(run)]


def test_a_run_that_shares_a_line_has_one_shared_line(counted: Counted) -> None:
    (found,) = scored(counted("pair.c", "-fPIE", "-pie"))
    assert len(found.lines) == 1
    assert [c.finding.rule for c in found.checked if c.true] == ["written-beside-read-mostly"]
    assert found.entries == Share(2, 2)
    assert found.reached.part == found.reached.whole > 3


def test_one_array_that_threads_share_is_not_decided(counted: Counted) -> None:
    (found,) = scored(counted("slots.c"))
    assert found.lines == {}
    assert found.undecided == 1
    assert [u.actor.name for u in found.used if u.rate][:1] == ["hits"]


@pytest.mark.parametrize(("flags", "arguments"), [(("-DPAD",), ()), (("-fPIE", "-pie"), ("alone",))])
def test_a_run_that_shares_none_has_none(counted: Counted, flags: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    (found,) = scored(counted("pair.c", *flags, arguments=arguments))
    assert found.recall == Share(0, 0)
    assert sum(share.part for share in found.precision.values()) == 0


def test_what_each_thread_uses_with_the_other_thing_separate_lines_would_not_spare(counted: Counted) -> None:
    ((one, truth),) = judged_run(counted("both.c", "-fPIE", "-pie"))
    found = score(one, truth)
    both = {u.actor.name for u in found.used if u.uses > 1000}
    assert both >= {"shared", "shared+0x8"}  # as often as in the program that shares a line
    assert found.lines == {}


class TestUsesApart:
    """Of ten uses by each of two threads, those made without the other thing."""

    @staticmethod
    def apart(order: int, mirror: int, ip: int, function: int = 0) -> list[float]:
        """Uses of a place at (1, 1, 0) without one here, which the second thread makes four times."""
        at = Points(np.array([1, order]), np.array([1, mirror]), np.array([0, ip]))
        places = Places(np.array([0, function]), at, np.array([[10.0, 10.0], [10.0, 4.0]]))
        return list(places.apart(np.array([0]), np.array([1])))

    def test_the_same_way_counts_as_often_as_both_were_made(self) -> None:
        assert self.apart(2, 2, 8) == [0.0, 6.0]

    def test_the_other_arm_of_a_branch_does_not(self) -> None:
        assert self.apart(2, 0, 8) == [10.0, 10.0]

    def test_far_away_in_the_function_does_not(self) -> None:
        assert self.apart(2, 2, NEAR_BYTES) == [0.0, 6.0]
        assert self.apart(2, 2, NEAR_BYTES + 1) == [10.0, 10.0]

    def test_another_function_does_not(self) -> None:
        assert self.apart(2, 2, 8, function=1) == [10.0, 10.0]


class TestWays:
    """A function that reads one variable always, one in a loop, and one on a way that is seldom taken."""

    def score(self, *counted: int) -> WaysScore | None:
        b = Builder()
        for name in ("always", "looped", "seldom"):
            b.variable(name, 8)
        b.function("serve").load("always").load("looped", loop=1).load("seldom", rarity=8)
        image = b.image()
        rows = dict(zip(image.sites["ip"].tolist(), counted, strict=True))  # the function begins with the first
        table = np.zeros(len(rows), EXECUTION_DTYPE)
        table["address"], table["executions"] = sorted(rows), [rows[at] for at in sorted(rows)]
        return ways_score(image, Executions(table, ("/bin/server",), (CountedThread(1, 1, 1000),), (), "", ""))

    def test_the_order_of_the_counts_is_the_estimated_one(self) -> None:
        found = self.score(RUNS, RUNS * 10, RUNS // 4)
        assert found is not None
        assert (found.places, found.correlation) == (3, 1.0)

    def test_the_other_way_round_it_is_not(self) -> None:
        found, right = self.score(RUNS, 1, RUNS * 10), self.score(RUNS, RUNS * 10, RUNS // 4)
        assert found is not None
        assert right is not None
        assert found.correlation == -1.0
        assert found.off > right.off

    def test_a_function_that_hardly_ran_tells_nothing(self) -> None:
        assert self.score(RUNS - 1, RUNS * 10, RUNS // 4) is None


def test_what_is_true_does_not_depend_on_how_a_file_is_seen(counted: Counted) -> None:
    run = counted("pair.c", "-g", "-fPIE", "-pie")
    bare = run.binary.with_name("program.stripped")
    subprocess.run(["strip", str(run.binary), "-o", str(bare)], check=True)
    (named, _), (stripped, _) = ways = judged_run(run)
    assert (named.variant, stripped.variant) == ("symbols", "stripped")
    lines = [score(one, truth).lines for one, truth in ways]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 1


def test_source_is_held_against_the_counts_of_the_binary(counted: Counted) -> None:
    run = counted("pair.c", "-g")
    request = FactsRequest(sources=(str(PROGRAMS / "pair.c"),), flags=("-O1", "-pthread"))
    run.binary.with_name("program.facts").write_bytes(run_facts(request).read_bytes())
    by_source = scored(run)[-1]
    assert by_source.variant == "source"
    assert len(by_source.lines) == 1
    assert by_source.entries == Share(2, 2)


@pytest.mark.parametrize(("arguments", "possible"), [((), True), (("alone",), False)])
def test_members_of_a_record_can_meet_where_two_threads_ran_their_lines(
    counted: Counted, arguments: tuple[str, ...], possible: bool
) -> None:
    run = counted("record.c", "-g", arguments=arguments)
    request = FactsRequest(sources=(str(PROGRAMS / "record.c"),), flags=("-O1", "-pthread"))
    run.binary.with_name("program.facts").write_bytes(run_facts(request).read_bytes())
    by_source = scored(run)[-1]
    (one,) = [c for c in by_source.checked if not c.decided]
    assert {p.full_name for p in one.finding.participants} >= {"struct shared.counter", "struct shared.limit"}
    assert one.possible is possible
    if possible:
        assert one.most is not None
        assert one.most.written.name == "struct shared.counter"
        assert round(one.most.transfers, -3) == 20_000  # as often as the rarer of the two, the limit, was read
    _, _, said = page([Compared(MADE, (by_source,))]).partition("## Records and arrays")
    assert f"| {int(possible)} of 1 |" in said.partition("## Threads")[0]


def test_a_file_is_decoded_once(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    before = scored(run)
    monkeypatch.delattr(subject, "read_images")
    assert [s.precision for s in scored(run)] == [s.precision for s in before]
    os.utime(run.binary, (1, 1))
    with pytest.raises(NameError):
        scored(run)


def test_misses_are_told_with_what_they_were_made_of(counted: Counted) -> None:
    ((one, truth),) = judged_run(counted("pair.c", "-DPAD"))
    text = "\n".join(misses(one, truth, score(one, truth)))
    assert "## wrong findings" in text
    assert "## shared lines without a true finding: 0" in text


def test_the_page_names_the_program_and_its_misses(counted: Counted) -> None:
    (one,) = scored(counted("pair.c", "-fPIE", "-pie"))
    assert "shared, and not found" not in page([Compared(MADE, (one,))])
    assert "1 of 1 have a true finding" in " ".join(page([Compared(MADE, (one,))]).split())
    missed = replace(one, found=frozenset(), recall=Share(0, 1))
    text = page([Compared(MADE, (missed,)), Compared(MADE, why_not="other: is another build here")])
    assert "| server |" in text
    assert "0 of 1 have a true finding" in " ".join(text.split())
    assert "`line 0x4080: shared / shared+0x8" in text
    assert "- other: is another build here" in text


def test_what_two_loads_of_a_file_come_to_is_said_once(counted: Counted) -> None:
    (one,) = scored(counted("pair.c", "-fPIE", "-pie"))
    idle = replace(one, found=frozenset(), checked=tuple(replace(c, met=None) for c in one.checked))
    loads = [Compared(MADE, (one,)), Compared(replace(MADE, program="server-idle"), (idle,))]
    said = " ".join(page(loads).split())
    assert "of 1 findings, each counted once, 1 were true under a load at least, and of 1 lines 1 have" in said
    elsewhere = Compared(replace(MADE, build_id="cd" * 20), (idle,))
    assert "of 2 findings, each counted once, 1 were true" in " ".join(page([loads[0], elsewhere]).split())


def test_each_program_counts_alike_in_the_mean_of_what_is_hot(counted: Counted) -> None:
    (one,) = scored(counted("pair.c", "-fPIE", "-pie"))
    hot, half = (replace(one, hot_of_most_used=share) for share in (Share(10, 10), Share(1, 2)))
    loads = [Compared(replace(MADE, program=name), (half,)) for name in ("server-a", "server-b")]
    said = " ".join(page([Compared(replace(MADE, program="other"), (hot,)), *loads]).split())
    assert "12 of 14 variables that threads used most together are called hot; of programs" in said
    assert "the mean is 75 %, and 1 of 2 have two thirds" in said


def test_the_compiler_that_writes_the_database_compiles(tmp_path: Path) -> None:
    source, database = tmp_path / "a.c", tmp_path / "rows"
    source.write_text("int main(void) { return 0; }\n")
    gcc = wrapper(tmp_path / "gcc", "gcc", database)
    subprocess.run([gcc, "-O1", "-c", "a.c"], check=True, cwd=tmp_path)
    subprocess.run([gcc, "a.o", "-o", "a"], check=True, cwd=tmp_path)
    (row,) = [json.loads(line) for line in database.read_text().splitlines()]
    assert row == {"directory": str(tmp_path), "arguments": ["gcc", "-O1", "-c", "a.c"], "file": str(source)}
    assert subprocess.run([tmp_path / "a"], check=False).returncode == 0


def test_the_git_repository_around_is_not_that_of_what_is_built(tmp_path: Path) -> None:
    def top(environment: dict[str, str]) -> str:
        command = ["git", "rev-parse", "--show-toplevel"]
        return subprocess.run(
            command, cwd=source, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        ).stdout.strip()

    source = tmp_path / "built" / "source"
    source.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert top({}) == str(tmp_path)
    assert top(same_everywhere(source.parent)) == ""


class TestThreadsThatWereInTheirLoopsBeforeTheCounting:
    """``serve`` is the loop of a worker's life, ``handle`` is called in it."""

    def entered(self, *ran: str, other: str = "") -> set[str]:
        b = Builder()
        b.function("main").call("pthread_create", None, None, "worker").call("pthread_create", None, None, "second")
        b.function("worker").call("serve")
        b.function("second").call(other or "elsewhere")
        b.function("serve").call("handle", loop=1)
        b.function("handle")
        b.function("elsewhere")
        image = b.image()
        roots = callgraph.build(image, default_knowledge()).roots
        return Within(image, roots)(np.array([image.names[f["name"]] in ran for f in image.functions]))

    def test_they_are_in_the_entry_that_alone_runs_once_what_they_were_in(self) -> None:
        assert self.entered("serve", "handle") == {"worker"}

    def test_what_the_loop_calls_tells_nothing(self) -> None:
        assert self.entered("handle") == set()

    def test_what_two_entries_run_tells_nothing(self) -> None:
        assert self.entered("serve", "handle", other="serve") == set()

    def test_what_they_called_in_the_loop_is_not_where_they_were(self) -> None:
        assert self.entered("serve", "elsewhere") == {"worker", "second"}
        assert self.entered("handle", "main") == set()


@pytest.mark.parametrize("path", KEPT, ids=[p.name.partition(".")[0] for p in KEPT])
def test_each_kept_program_can_be_read_and_is_small(path: Path) -> None:
    made, executions = load(path)
    assert path.stat().st_size < 300_000
    assert len(executions.table) > 100
    assert made.build_id
    assert executions.threads
