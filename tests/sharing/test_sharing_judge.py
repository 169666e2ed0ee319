"""The judgement as a whole: what is found in hand-made and in compiled programs, named, ordered and filtered."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import AuditOptions
from linemate.pipeline import audit, suppressed, vocabulary
from sharing.judge import merging, static
from sharing.judge.static import Judgement, JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import (
    Finding,
    FunctionFlag,
    ImageKind,
    LinemateError,
    LockAbi,
    LockRow,
    ProjectConfig,
    Report,
    SectionKind,
    Severity,
    SiteFlag,
    SuppressRow,
    ThreadRow,
    Verdict,
)
from sharing.model.profile import Role
from sharing.rules import LINE_RULES, RULES
from sharing.rules.line.base import LineRule, Span
from tests.builders.image import BSS, Address, Builder, threads
from tests.sharing.conftest import Compile

EXCLUSIVE = {rule.id for rule in LINE_RULES if rule.exclusive}


def judged(b: Builder, *rules: str, line_size: int = 64) -> Judgement:
    return judge(b.image(), JudgeOptions(line_size, 2 * line_size, rules), default_knowledge())


def found(result: Judgement) -> dict[str, set[str]]:
    """rule: full names of the participants of its findings."""
    out: dict[str, set[str]] = {}
    for finding in result.findings:
        out.setdefault(finding.rule, set()).update(p.full_name for p in finding.participants)
    return out


def keep_rules(monkeypatch: pytest.MonkeyPatch, *rules: LineRule) -> None:
    """These rules alone, in their order."""
    for module in (static, merging):
        monkeypatch.setattr(module, "LINE_RULES", rules)


def two_counters(apart: int = 8) -> Builder:
    """Two threads, each with a counter of its own."""
    b = Builder()
    threads(b, "left", "right")
    b.function("left").rmw("left_hits", loop=1, flags=SiteFlag.ATOMIC)
    b.function("right").rmw("right_hits", loop=1, flags=SiteFlag.ATOMIC)
    b.variable("left_hits", 8, BSS)
    b.variable("right_hits", 8, BSS + apart)
    return b


def lock_and_head(apart: int = 40) -> Builder:
    """One thread takes a lock, another writes a list head next to it."""
    b = Builder()
    threads(b, "taker", "walker")
    b.function("taker").call("pthread_mutex_lock", "lock", loop=1).call("pthread_mutex_unlock", "lock", loop=1)
    b.function("walker").rmw("head", loop=1, flags=SiteFlag.ATOMIC)
    b.variable("lock", 40, BSS)
    b.variable("head", 8, BSS + apart)
    return b


class TestFindings:
    def test_two_counters_on_a_line(self) -> None:
        (finding,) = judged(two_counters()).findings
        assert (finding.rule, finding.verdict) == ("independent-writers", Verdict.FALSE_SHARING)
        assert {p.name for p in finding.participants} == {"left_hits", "right_hits"}
        for word in ("left_hits", "right_hits", "left", "right", f"{BSS:#x}", "bytes 0-7", "bytes 8-15"):
            assert word in finding.message

    def test_on_two_lines_they_are_at_most_a_pair(self) -> None:
        assert set(found(judged(two_counters(64)))) <= {"adjacent-line-pair"}
        assert found(judged(two_counters(128))) == {}

    def test_a_longer_line_brings_them_together_again(self) -> None:
        assert "independent-writers" in found(judged(two_counters(64), line_size=128))

    def test_a_lock_and_a_list_head(self) -> None:
        (finding,) = judged(lock_and_head()).findings
        assert {p.name: p.hot for p in finding.participants} == {"lock": ((0, 16), (16, 20)), "head": ((40, 48),)}
        assert [p.role for p in finding.participants if p.name == "lock"] == ["mutex"]

    def test_a_lock_of_a_stripped_program(self) -> None:
        b = Builder()
        threads(b, "taker", "walker")
        b.function("taker").call("pthread_mutex_lock", Address(BSS), loop=1)
        b.function("walker").rmw(BSS + 40, loop=1, flags=SiteFlag.ATOMIC)
        (finding,) = judged(b).findings
        assert {p.name for p in finding.participants} == {"bss+0x0 (mutex)", "bss+0x28"}

    def test_one_thread_does_not_disturb_itself(self) -> None:
        b = Builder()
        b.function("main").rmw("left_hits", loop=1).rmw("right_hits", loop=1)
        b.variable("left_hits", 8, BSS), b.variable("right_hits", 8, BSS + 8)
        result = judged(b)
        assert result.findings == ()
        assert result.notes == ("threads: nothing in this image starts a thread",)

    def test_thread_local_data_is_not_shared(self) -> None:
        b = two_counters()
        b.section(".tbss", SectionKind.TLS, 0x50000, 0x100)
        b.variables["left_hits"]["address"], b.variables["right_hits"]["address"] = 0x50000, 0x50008
        assert judged(b).findings == ()

    def test_data_that_is_read_only_while_threads_run_is_not_judged(self) -> None:
        b = two_counters()
        b.section(".data.rel.ro", SectionKind.RELRO, 0x50000, 0x100)
        b.variables["left_hits"]["address"], b.variables["right_hits"]["address"] = 0x50000, 0x50008
        assert judged(b).findings == ()

    def test_remedies_pictures_and_evidence_are_there(self) -> None:
        (finding,) = judged(lock_and_head()).findings
        assert finding.remedies
        assert all(r.protects_tail for r in finding.remedies)
        assert finding.evidence[0].kind == "layout"
        (picture,) = finding.picture
        edges = [(s.start, s.end) for s in picture.slices]
        assert (edges[0][0], edges[-1][1]) == (0, 64)
        assert all(a[1] == b[0] for a, b in itertools.pairwise(edges))

    def test_padding_inside_of_a_record_is_drawn_as_a_hole(self) -> None:
        b = lock_and_head()
        number = b.base("int", 4)
        pair = b.struct("pair", 16, ("key", 0, number), ("value", 8, number))
        b.variable("inside", 16, BSS + 48, type=pair)
        (finding,) = judged(b).findings
        (picture,) = finding.picture
        drawn = [(s.owner, s.start, s.end, s.mark) for s in picture.slices if s.start >= 48]
        assert drawn[1::2] == [("-", 52, 56, "-"), ("-", 60, 64, "-")]
        assert {drawn[0][0], drawn[2][0]} == {"inside"}

    def test_a_kernel_is_given_kernel_remedies(self) -> None:
        b = Builder(ImageKind.KERNEL)
        b.function("sys_a").call("mutex_lock", "a_lock", loop=1)
        b.function("sys_b").call("mutex_lock", "b_lock", loop=1)
        b.variable("a_lock", 32, BSS), b.variable("b_lock", 32, BSS + 32)
        (finding,) = judged(b).findings
        assert finding.rule == "two-locks-one-line"
        assert {r.language for r in finding.remedies} == {"C (kernel)"}


@pytest.mark.parametrize(("loop", "severity"), [(2, "low"), (0, "note")])
def test_what_a_kernel_calls_at_all_is_not_busy(loop: int, severity: str) -> None:
    """Of code whose rates nobody knows a pair is low where both are among the busiest of the file."""
    b = Builder(ImageKind.KERNEL)
    for number in range(40):  # so many are busier than what is called without a loop
        b.function(f"busy{number}", FunctionFlag.ADDRESS_TAKEN).call("mutex_lock", f"lock{number}", loop=2)
        b.variable(f"lock{number}", 64, BSS + 0x1000 + 256 * number)
    b.function("sys_a", FunctionFlag.ADDRESS_TAKEN).call("mutex_lock", "a_lock", loop=2)
    b.function("sys_b", FunctionFlag.ADDRESS_TAKEN).call("mutex_lock", "b_lock", loop=loop)
    b.variable("a_lock", 32, BSS), b.variable("b_lock", 32, BSS + 32)
    found = {finding.rule: finding.severity.value for finding in judged(b).findings}
    assert found["two-locks-one-line"] == severity


def crowd() -> Builder:
    """Many lines with many pairs: what merging, ordering and naming must keep apart."""
    b = Builder()
    entries = [f"worker{i}" for i in range(6)]
    threads(b, *entries)
    for i, name in enumerate(entries):
        body = b.function(name)
        for line in range(12):
            body.rmw(f"count{line}_{i}", loop=1 + (line + i) % 3, flags=SiteFlag.ATOMIC if i % 2 else 0)
        for line in range(12, 16):
            body.call("pthread_mutex_lock", f"lock{line}_{i % 3}", loop=1 + i % 2)
            body.load(f"limit{line}", loop=2)
    for line in range(12):
        for i in range(6):
            b.variable(f"count{line}_{i}", 8, BSS + 64 * line + 8 * i)
    for line in range(12, 16):
        for i in range(3):
            b.variable(f"lock{line}_{i}", 40, BSS + 0x1000 + 0x100 * line + 40 * i)
        b.variable(f"limit{line}", 8, BSS + 0x1000 + 0x100 * line + 120)
    return b


class TestProperties:
    def test_two_runs_find_the_same_in_the_same_order(self) -> None:
        first, second = judged(crowd()), judged(crowd())
        assert first.findings
        assert (first.findings, first.counts, first.notes) == (second.findings, second.counts, second.notes)

    def test_order_of_declaration_changes_nothing(self) -> None:
        b = crowd()
        b.variables = dict(reversed(b.variables.items()))
        assert judged(b).findings == judged(crowd()).findings

    def test_a_line_has_one_finding_of_rules_that_exclude_each_other(self) -> None:
        times = Counter(f.line.address for f in judged(crowd()).findings if f.rule in EXCLUSIVE)
        assert times
        assert set(times.values()) == {1}

    def test_where_several_of_them_apply_the_line_still_has_one(self) -> None:
        """Two locks, counters and read-mostly data on one line: more than one rule would speak."""

        def line() -> Builder:
            b = Builder()
            threads(b, "one", "two", "three")
            b.function("one").call("pthread_spin_lock", "first", loop=2).load("limit", 4, loop=2)
            b.function("two").call("pthread_spin_lock", "second", loop=2).load("limit", 4, loop=2)
            b.function("three").rmw("hits", loop=2, flags=SiteFlag.ATOMIC).load("limit", 4, loop=2)
            for name, size, at in (("first", 4, 0), ("second", 4, 8), ("hits", 8, 16), ("limit", 4, 24)):
                b.variable(name, size, BSS + at)
            return b

        alone = [rule for rule in sorted(EXCLUSIVE) if judged(line(), rule).findings]
        assert len(alone) >= 2
        (finding,) = (f for f in judged(line()).findings if f.rule in EXCLUSIVE)
        assert finding.severity.rank == max(judged(line(), rule).findings[0].severity.rank for rule in alone)

    @pytest.mark.parametrize(("at_most", "expected"), [(0, 4), (3, 3), (1, 1)])
    def test_a_rule_makes_as_many_findings_as_its_row_says(
        self, monkeypatch: pytest.MonkeyPatch, at_most: int, expected: int
    ) -> None:
        b = Builder()
        threads(b, "left", "right")
        for at, function in enumerate(("left", "right")):
            body = b.function(function)
            for number in range(4):
                body.rmw(f"{function}_{number}", loop=1, flags=SiteFlag.ATOMIC)
                b.variable(f"{function}_{number}", 8, BSS + 256 * number + 8 * at)
        (rule,) = (r for r in LINE_RULES if r.id == "independent-writers")
        keep_rules(monkeypatch, dataclasses.replace(rule, at_most=at_most))
        assert len(judged(b).findings) == expected

    def test_what_is_one_too_many_leaves_its_line_to_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A pair on each of two lines, and beside the second one a limit that a third thread reads."""
        b = Builder()
        threads(b, "left", "right", "third")
        for at, function in enumerate(("left", "right")):
            body = b.function(function)
            for number in range(2):
                body.rmw(f"{function}_{number}", loop=1, flags=SiteFlag.ATOMIC)
                b.variable(f"{function}_{number}", 8, BSS + 256 * number + 8 * at)
        b.function("third").load("limit", loop=1)
        b.variable("limit", 8, BSS + 256 + 32)
        both = [r for r in LINE_RULES if r.id in ("independent-writers", "written-beside-read-mostly")]
        rows = tuple(dataclasses.replace(r, at_most=1) if r.id == "independent-writers" else r for r in both)
        assert [r.exclusive for r in rows] == [True, True]
        keep_rules(monkeypatch, *rows)
        assert [f.rule for f in judged(b).findings] == ["independent-writers", "written-beside-read-mostly"]

    def test_identities_are_unique_and_do_not_depend_on_addresses(self) -> None:
        ids = [f.id for f in judged(crowd()).findings]
        assert len(ids) == len(set(ids))
        moved = two_counters()
        for fields in moved.variables.values():
            fields["address"] += 0x400
        assert [f.id for f in judged(moved).findings] == [f.id for f in judged(two_counters()).findings]

    def test_worst_first(self) -> None:
        ranks = [(f.severity.rank, f.score) for f in judged(crowd()).findings]
        assert ranks == sorted(ranks, reverse=True)

    def test_among_equals_the_busier_comes_first_whatever_its_rule(self) -> None:
        """Rules stand in the order of the registry: two locks before two counters."""
        b = two_counters()
        for name in ("left", "right"):
            b.functions[name].call("pthread_spin_lock", f"{name}_lock", loop=1)
            b.functions[name].rmw(f"{name}_hits", loop=3, flags=SiteFlag.ATOMIC)
        b.variable("left_lock", 4, BSS + 0x400), b.variable("right_lock", 4, BSS + 0x408)
        assert [f.rule for f in judged(b).findings] == ["independent-writers", "two-locks-one-line"]
        assert len({f.severity for f in judged(b).findings}) == 1

    @pytest.mark.parametrize("rule", [rule.id for rule in RULES])
    def test_a_chosen_rule_runs_alone(self, rule: str) -> None:
        assert {f.rule for f in judged(crowd(), rule).findings} <= {rule}

    def test_bytes_of_participants_are_offsets_within_the_line(self) -> None:
        for finding in judged(crowd(), *(rule.id for rule in LINE_RULES if rule.span is not Span.WINDOW)).findings:
            line = int(finding.line.address, 16)
            for participant in finding.participants:
                ((start, end),) = participant.bytes
                address = int(participant.address, 16)
                assert line + start == max(address, line)
                assert line + end == min(address + participant.size, line + finding.line.size)
                assert all(start <= a < b <= end for a, b in participant.hot)


class TestSuppression:
    def finding(self) -> Finding:
        (finding,) = judged(two_counters()).findings
        return finding

    @pytest.mark.parametrize(
        ("rule", "symbol", "expected"),
        [
            ("*", "*", True),
            ("independent-writers", "left_hits", True),
            ("independent-*", "right_*", True),
            ("independent-writers", "hits", False),
            ("two-locks-one-line", "left_hits", False),
        ],
    )
    def test_by_rule_and_symbol(self, rule: str, symbol: str, expected: bool) -> None:
        project = ProjectConfig(suppress=(SuppressRow("accepted", rule, symbol),))
        assert suppressed(self.finding(), project) is expected

    def test_nothing_is_suppressed_by_default(self) -> None:
        assert not suppressed(self.finding(), ProjectConfig())


def test_a_projects_rows_become_vocabulary() -> None:
    latch = LockRow("Latch", hot=((0, 4),), lock=("enter",), unlock=("leave",))
    project = ProjectConfig(lock=(latch,), thread=(ThreadRow("go", 1),))
    knowledge = vocabulary(project)
    row = knowledge.lock_types.find("Latch")
    assert knowledge.lock_abi(row, Builder().image()) == LockAbi(4, ((0, 4),))
    assert knowledge.lock_calls("enter") == [(0, row, "lock")]
    assert knowledge.thread_start("go") == ThreadRow("go", 1)
    assert vocabulary(ProjectConfig()) is default_knowledge()


PROGRAM = r"""
#include <pthread.h>
static struct { _Atomic long left, right; char rest[48]; } pair __attribute__((aligned(64)));
_Atomic long mine __attribute__((aligned(64)));
_Atomic long yours;
static char rest[48] __attribute__((used));
static void *one(void *arg) { for (;;) { pair.left++; mine++; } return arg; }
static void *two(void *arg) { for (;;) { pair.right++; yours++; } return arg; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


@pytest.fixture(scope="module")
def native() -> None:
    for name in ("linemate-dwarf", "linemate-access"):
        try:
            tool_path(name)
        except LinemateError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="module")
def program(native: None, compiled: Compile) -> str:
    return str(compiled("gcc", "c", PROGRAM, "-O2", "-g", "-fno-toplevel-reorder"))


def names(report: Report) -> set[frozenset[str]]:
    return {frozenset(p.full_name for p in f.participants) for f in report.findings}


class TestPipeline:
    def test_both_pairs_are_found(self, program: str) -> None:
        report = audit(AuditOptions(program))
        assert names(report) >= {frozenset({"pair.left", "pair.right"}), frozenset({"mine", "yours"})}
        assert not report.incomplete

    def test_the_report_is_the_same_twice(self, program: str) -> None:
        assert audit(AuditOptions(program)) == audit(AuditOptions(program))

    def test_symbols_choose(self, program: str) -> None:
        assert names(audit(AuditOptions(program, symbols=("your*",)))) == {frozenset({"mine", "yours"})}
        assert audit(AuditOptions(program, symbols=("nobody",))).findings == ()

    def test_rules_choose(self, program: str) -> None:
        assert {f.rule for f in audit(AuditOptions(program, rules=("independent-writers",))).findings} == {
            "independent-writers"
        }
        assert audit(AuditOptions(program, rules=("two-locks-one-line",))).findings == ()

    def test_accepted_findings_are_counted(self, program: str) -> None:
        everything = audit(AuditOptions(program, min_severity=Severity.NOTE))
        project = ProjectConfig(suppress=(SuppressRow("measured: no effect", symbol="mine"),))
        report = audit(AuditOptions(program, min_severity=Severity.NOTE, project=project))
        assert report.suppressed >= 1
        assert len(report.findings) + report.suppressed == len(everything.findings)
        assert all(p.name != "mine" for f in report.findings for p in f.participants)

    def test_findings_below_the_asked_severity_are_counted(self, program: str) -> None:
        everything = audit(AuditOptions(program, min_severity=Severity.NOTE))
        report = audit(AuditOptions(program, min_severity=Severity.CRITICAL))
        assert report.findings == ()
        assert (everything.hidden, report.hidden) == (0, len(everything.findings))

    def test_what_does_not_exist_is_an_error_in_words(self, tmp_path: Path) -> None:
        with pytest.raises((LinemateError, OSError), match="nowhere"):
            audit(AuditOptions(str(tmp_path / "nowhere")))


@pytest.fixture(scope="module")
def table_cache(native: None, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """Reports about the three builds of testdata/programs/table_cache."""
    missing = [tool for tool in ("g++", "make") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"no {', '.join(missing)}")
    out = tmp_path_factory.mktemp("table_cache")
    source = repository / "testdata/programs/table_cache"
    subprocess.run(["make", "-s", "-j2", "-C", str(source), f"OUT={out}", "CXX=g++", "CXXFLAGS=-O2 -g"], check=True)
    return lambda name: audit(AuditOptions(str(out / name), min_severity=Severity.NOTE))


PAIR = {"LOCK_open", "unused_tables"}


def about_the_pair(report: Report) -> dict[str, str]:
    """rule: message of the findings that name lock and list head."""
    return {f.rule: f.message for f in report.findings if {p.name for p in f.participants} >= PAIR}


class TestTableCache:
    def test_slow_shares_a_line(self, table_cache: Callable[[str], Report]) -> None:
        report = table_cache("slow")
        shared = [f for f in report.findings if {p.name for p in f.participants} >= PAIR and f.rule in EXCLUSIVE]
        assert [f.severity.rank >= Severity.MEDIUM.rank for f in shared] == [True]

    def test_fast_is_safe_by_luck_at_one_of_two_positions(self, table_cache: Callable[[str], Report]) -> None:
        messages = about_the_pair(table_cache("fast"))
        assert EXCLUSIVE.isdisjoint(messages)
        assert "at 1 of the 2 positions (50%)" in messages["safe-by-luck"]

    def test_padded_is_clean_and_stays_so(self, table_cache: Callable[[str], Report]) -> None:
        messages = about_the_pair(table_cache("padded"))
        assert EXCLUSIVE.isdisjoint(messages)
        assert "safe-by-luck" not in messages


@pytest.mark.parametrize(
    ("callee", "role"),
    [("__cxa_guard_acquire", Role.READ_MOSTLY), ("__cxa_atexit", Role.CONSTANT)],
)
def test_what_a_call_sets_up_is_not_called_never_written(callee: str, role: Role) -> None:
    b = Builder()
    threads(b, "writer", "reader")
    b.function("writer").rmw("hits", loop=2, flags=SiteFlag.ATOMIC)
    b.function("reader").load("ready", 1, loop=2).call(callee, Address(BSS + 16))
    b.variable("hits", 8, BSS), b.variable("ready", 8, BSS + 16)
    ready = [p for f in judged(b, "written-beside-read-mostly").findings for p in f.participants if p.name == "ready"]
    assert {p.role for p in ready} == {str(role)}
