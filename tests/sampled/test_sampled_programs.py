"""Programs that are built, run and recorded here: what shares is found, what does not is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.explaining.run import ExplainRequest, explain
from sharing.explain.causes.layout import severity_of
from sharing.model.comparison import CauseKind
from sharing.model.errors import LinemateError
from sharing.model.finding import NOT_EXERCISED, Confidence, Finding, Report, Severity, Verdict
from tests.sampled.conftest import PROGRAMS, Audit, Recorded, needs, record, report, sampled

ProfileOf = Callable[[str], Path]
FALSE = (Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED)


def false_sharing(found: Report) -> list[Finding]:
    """Worth fixing, that is above notes."""
    return [f for f in sampled(found) if f.verdict in FALSE and f.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("where", "first", "second"),
    [
        ("global", "traffic.in", "traffic.out"),
        ("heap", "pair.in", "pair.out"),
        ("stack", "pair.in", "pair.out"),
    ],
)
def test_two_counters_of_a_struct_share_a_line(seen: Audit, where: str, first: str, second: str) -> None:
    finding = false_sharing(seen("pairs.c", where))[0]
    assert all(any(p.full_name.endswith(name) for p in finding.participants) for name in (first, second))
    assert finding.confidence is Confidence.DERIVED
    assert {w for p in finding.participants for w in p.writers} == {"count_in", "count_out"}
    assert [p.bytes for p in sorted(finding.participants, key=lambda p: p.bytes)] == [((0, 8),), ((8, 16),)]
    assert len(finding.remedies) >= 1
    whose = rf"{where} of pairs-stack/\d+" if where == "stack" else where
    assert where == "global" or any(re.match(rf"{whose}: pair \(", e.text) for e in finding.evidence)
    source = (PROGRAMS / "pairs.c").read_text().splitlines()
    for function, member in (("count_in", "->in"), ("count_out", "->out")):
        lines = {int(one.source.split(":")[1]) for one in finding.related if one.function == function}
        assert lines, "accesses have their place in source"
        assert all(member in source[line - 1] for line in lines)


@pytest.mark.parametrize("where", ["global", "heap"])
def test_explain_says_of_a_profile_what_audit_says(recorded: Recorded, seen: Audit, where: str) -> None:
    (old, before), (new, after) = recorded("pairs.c", where, defines=("PAD",)), recorded("pairs.c", where)
    finding = false_sharing(seen("pairs.c", where))[0]
    request = ExplainRequest(str(old), str(new), samples_old=(str(before),), samples_new=(str(after),))
    cause = next(cause for cause in explain(request).causes if cause.kind is CauseKind.LAYOUT)
    assert finding.message in "\n".join([cause.summary, *cause.evidence])
    assert severity_of(cause.strength) is finding.severity


@pytest.mark.parametrize("where", ["global", "heap", "stack", "slots", "three"])
def test_on_lines_of_their_own_nothing_is_found(seen: Audit, where: str) -> None:
    assert sampled(seen("pairs.c", where, defines=("PAD",))) == []


def test_one_thread_alone_shares_nothing(seen: Audit) -> None:
    found = seen("pairs.c", "alone")
    assert sampled(found) == []
    assert found.coverage.counts["sampled_lines_one_thread"] >= 1


def test_threads_that_take_turns_are_no_finding(seen: Audit) -> None:
    found = seen("pairs.c", "turns")
    assert sampled(found) == []
    assert found.coverage.counts["sampled_lines_phased"] == 1


def test_a_counter_of_all_threads_is_true_sharing(seen: Audit) -> None:
    found = seen("pairs.c", "requests")
    (finding,) = [f for f in sampled(found) if f.severity is not Severity.NOTE]
    assert finding.verdict is Verdict.TRUE_SHARING
    assert finding.participants[0].name == "requests"
    assert finding.remedies == ()


def test_slots_of_threads_are_named_as_an_array(seen: Audit) -> None:
    finding = false_sharing(seen("pairs.c", "slots"))[0]
    assert "slots" in finding.rule
    assert "slots: 4 elements of 8 bytes" in finding.message
    assert finding.remedies[0].kind == "pad-element"


def test_slots_in_sixteen_bytes_are_slots_all_the_same(seen: Audit) -> None:
    finding = false_sharing(seen("small_slots.c"))[0]
    assert {p.full_name for p in finding.participants} >= {"progress[0]", "progress[1]"}
    assert finding.remedies[0].kind == "pad-element"


def test_one_slot_of_all_threads_is_true_sharing(seen: Audit) -> None:
    found = seen("small_slots.c", "one")
    assert false_sharing(found) == []
    assert [f.verdict for f in sampled(found)] == [Verdict.TRUE_SHARING]


def test_copies_after_a_fork_are_no_sharing(seen: Audit) -> None:
    found = seen("forked.c", "copies")
    assert sampled(found) == []
    assert found.coverage.counts["sampled_lines_one_thread"] >= 1


def test_processes_share_memory_that_they_map(seen: Audit) -> None:
    finding = false_sharing(seen("forked.c", "mapped"))[0]
    assert {p.bytes for p in finding.participants} == {((0, 8),), ((8, 16),)}
    assert any("shared memory" in e.text for e in finding.evidence) or "shared memory" in finding.message


def test_three_pairs_come_in_the_order_of_their_writes(seen: Audit) -> None:
    pairs = ["often", "seldom", "rarely"]
    for defines in ((), ("AGAIN",), ("ONCE_MORE",)):  # beside other load a recording may have too few samples of two
        names = [_variable(f) for f in false_sharing(seen("pairs.c", "three", defines=defines))]
        if names == pairs:
            break
    assert names
    assert names == pairs[: len(names)]
    if len(names) < len(pairs):
        pytest.skip(f"the machine is busy: samples show only {', '.join(names)} to be used at once")


def _variable(finding: Finding) -> str:
    return finding.participants[0].full_name.partition(".")[0]


def test_nodes_of_a_list_are_not_to_be_padded(seen: Audit) -> None:
    found = sampled(seen("pairs.c", "list"))
    assert found, "the nodes are shared"
    assert all(f.remedies == () for f in found)
    assert any("give each thread elements that lie side by side" in e.text for e in found[0].evidence)


def test_without_symbols_the_bytes_are_still_found(seen: Audit) -> None:
    finding = false_sharing(seen("pairs.c", "global", strip=True))[0]
    assert [p.bytes for p in sorted(finding.participants, key=lambda p: p.bytes)] == [((0, 8),), ((8, 16),)]


def test_a_run_that_did_not_come_there_does_not_clear_a_finding(seen: Audit) -> None:
    """The program's other pairs are findings of the code; the run counts in one of them only."""
    found = seen("pairs.c", "global")
    others = [f for f in found.findings if f.confidence is Confidence.STATIC and "often" in f.message]
    assert others
    assert not any(f.exercised for f in others)
    assert all(f.severity is Severity.LOW for f in others)
    assert [note for note in found.coverage.notes if note.startswith(NOT_EXERCISED)]


@pytest.fixture(scope="module")
def profile_of(layouts: Path, tmp_path_factory: pytest.TempPathFactory) -> ProfileOf:
    """A recording of one of the layouts, made once."""
    needs("perf")
    folder = tmp_path_factory.mktemp("profiles")

    def recorded(layout: str) -> Path:
        profile = folder / f"{layout}.data"
        return profile if profile.exists() else record(layouts / layout, "seconds=1.5", into=profile, least=4000)

    return recorded


class TestTableCache:
    def test_slow_names_the_lock_and_the_list_first(self, layouts: Path, profile_of: ProfileOf) -> None:
        first = report(layouts / "slow", profile_of("slow")).findings[0]
        assert first.verdict is Verdict.FALSE_SHARING
        assert first.confidence is Confidence.DERIVED
        assert {p.name for p in first.participants} == {"LOCK_open", "unused_tables"}
        assert {p.bytes for p in first.participants} == {((0, 20),), ((48, 56),)}

    @pytest.mark.parametrize("layout", ["fast", "padded"])
    def test_other_layouts_have_no_finding(self, layouts: Path, profile_of: ProfileOf, layout: str) -> None:
        found = false_sharing(report(layouts / layout, profile_of(layout)))
        names = {p.name for f in found for p in f.participants}
        assert not names & {"LOCK_open", "unused_tables"}
        # A share's reference count lies beside its key on the heap, which is some tenths of a percent of the time.
        assert all(f.severity is Severity.LOW for f in found)

    def test_two_profiles_are_joined_by_link_time_address(self, layouts: Path, profile_of: ProfileOf) -> None:
        profile = profile_of("slow")
        once, twice = report(layouts / "slow", profile), report(layouts / "slow", profile, profile)
        assert twice.findings[0].id == once.findings[0].id
        assert twice.findings[0].line == once.findings[0].line
        assert twice.coverage.counts["samples"] == 2 * once.coverage.counts["samples"]

    def test_every_sample_is_in_one_count(self, layouts: Path, profile_of: ProfileOf) -> None:
        counts = report(layouts / "slow", profile_of("slow")).coverage.counts
        parts = [n for name, n in counts.items() if name.startswith("unattributed_")]
        parts += [counts.get(f"samples_{basis}", 0) for basis in ("address", "derived", "awaited", "function")]
        assert sum(parts) == counts["samples"]

    def test_a_profile_of_another_build_is_refused(self, layouts: Path, profile_of: ProfileOf) -> None:
        with pytest.raises(LinemateError, match="no mapping of it"):
            report(layouts / "padded", profile_of("slow"))

    def test_a_profile_that_was_cut_says_what_is_missing(
        self, layouts: Path, profile_of: ProfileOf, tmp_path: Path
    ) -> None:
        whole = profile_of("slow").read_bytes()
        cut = tmp_path / "cut.data"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        found = report(layouts / "slow", cut)
        assert any("cut.data: the file was cut" in note for note in found.coverage.notes)
        assert not found.incomplete, "a loss of samples is a note"
