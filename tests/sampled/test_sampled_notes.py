"""What a report says of its profiles: what they lack comes first, and what they showed is always said."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from linemate.sampled.notes import profile_notes
from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.model.attribution import Basis, Reason, TouchFlag
from sharing.model.finding import Report, Severity
from sharing.model.image import ImageKind
from sharing.model.samples import Event, Field, Recording
from sharing.sampled.lineuse.lines import profile_lines
from tests.builders.recorded import One, Recorded, attribution, ticks
from tests.sampled.conftest import PERIOD_NS, PROGRAMS, Audit, needs, report

BARE = Event("cpu-clock", Field.IP | Field.TIME, 1, 0)
WITH_REGISTERS = replace(BARE, regs_intr_mask=0xFF0FFF)


def notes(recorded: Recorded, event: Event = WITH_REGISTERS, made: str = "perf.data") -> list[str]:
    one = attribution(recorded, events=(event,))
    one = replace(one, samples=replace(one.samples, recording=Recording(made)))
    run = profile_lines(one, 64)
    verdicts = judge_lines(run, Names(), 64)
    findings = findings_of(verdicts, run.totals, Style(64, ImageKind.PIE))
    return profile_notes(["p.data"], [one], run.totals, verdicts, findings)


def pair(second: int, count: int = 600) -> Recorded:
    one = Recorded().loop(0, ticks(count), at=0, function="a")
    return one.loop(1, ticks(count, shift=90_000), at=second, function="b")


def test_what_was_found_is_one_sentence() -> None:
    (shown,) = notes(pair(8))
    assert shown == (
        "from the profile: 1,200 samples, 100 % placed on bytes; 1 line with samples of several threads; "
        "false sharing in 1 finding"
    )


def test_nothing_found_is_said_with_its_limit() -> None:
    (shown,) = notes(pair(64))
    assert shown.endswith("; 0 lines with samples of several threads; no false sharing above 2 % of CPU time found")


def test_loops_that_only_wait_for_another_thread_are_named() -> None:
    recorded = pair(64)
    waits = [One(0, t, flags=TouchFlag.SPIN_WAITS, function="spin") for t in ticks(400, start=400)]
    recorded.samples += waits[:40]
    assert not any("in loops that wait" in note for note in notes(recorded)), "3 %"
    recorded.samples += waits[40:]
    (told,) = (note for note in notes(recorded) if "in loops that wait" in note)
    assert told.startswith("25 % of the samples are in loops that wait until another thread has written (spin)")


def test_what_has_no_place_limits_that() -> None:
    recorded = pair(64)
    lost = [One(0, t, basis=Basis.NONE, reason=Reason.OVERWRITTEN) for t in ticks(400, start=400)]
    recorded.samples += lost
    assert any(n.endswith("found, though 25 % could not be placed and may belong to any line") for n in notes(recorded))


@pytest.mark.parametrize(
    ("reason", "fields", "advised"),
    [
        (Reason.OVERWRITTEN, WITH_REGISTERS.fields, True),
        (Reason.OVERWRITTEN, WITH_REGISTERS.fields | Field.STACK_USER, False),
        (Reason.KERNEL, WITH_REGISTERS.fields, False),
    ],
)
def test_stacks_are_advised_where_they_would_tell(reason: Reason, fields: Field, advised: bool) -> None:
    recorded = Recorded([One(0, t, basis=Basis.NONE, reason=reason) for t in ticks(900, start=400)])
    recorded.loop(0, ticks(600), at=0)
    said = notes(recorded, replace(WITH_REGISTERS, fields=fields))
    assert any("record --stacks" in note for note in said) == advised


def test_missing_registers_are_said_first() -> None:
    first, *_ = notes(pair(8), BARE)
    assert first.startswith("p.data: RECORDED WITHOUT REGISTERS")
    assert "linemate record" in first
    for event in (WITH_REGISTERS, replace(BARE, fields=BARE.fields | Field.ADDR)):
        assert not any("REGISTERS" in note for note in notes(pair(8), event))


def test_text_is_to_be_replaced_by_the_file_it_was_made_of() -> None:
    first, *_ = notes(pair(8), BARE, "perf script")
    assert "give the perf.data file itself" in first


@pytest.mark.parametrize(("count", "few"), [(499, True), (500, False)])
def test_few_samples_are_said_to_clear_nothing(count: int, few: bool) -> None:
    said = [note for note in notes(pair(8, count)) if "--frequency" in note]
    assert bool(said) == few
    assert not few or said[0].startswith("998 samples are few")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, seen: Audit) -> Report:
    """The counters of a struct, recorded as plain ``perf record`` does."""
    needs("gcc", "perf")
    where = tmp_path_factory.mktemp("bare")
    subprocess.run(["gcc", "-O2", "-g", "-pthread", str(PROGRAMS / "pairs.c"), "-o", str(where / "pairs")], check=True)
    command = ["perf", "record", "-q", "-e", "cpu-clock:ppp", "-c", str(PERIOD_NS), "-o", str(where / "perf.data")]
    done = subprocess.run([*command, "--", str(where / "pairs"), "global"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"perf record: {done.stderr.strip()[-200:]}")
    return report(where / "pairs", where / "perf.data")


def test_a_profile_without_registers_lowers_nothing(bare: Report, seen: Audit) -> None:
    assert "RECORDED WITHOUT REGISTERS" in bare.coverage.notes[0]
    known = {f.id for f in seen("pairs.c", "global").findings if f.severity is not Severity.NOTE}
    kept = {f.id for f in bare.findings if f.severity is not Severity.NOTE}
    assert known & kept, "the pair that the good profile confirms is still a finding"
    assert bare.coverage.counts["sampled_cleared"] == 0


def test_where_the_samples_without_a_place_are_is_in_the_same_sentence() -> None:
    recorded = pair(64)  # 1,200 samples with a place
    for number, (reason, many) in enumerate(((Reason.KERNEL, 200), (Reason.NO_ACCESS, 180), (Reason.OVERWRITTEN, 20))):
        recorded.samples += [One(0, t, basis=Basis.NONE, reason=reason) for t in ticks(many, start=400 * (number + 1))]
    (shown,) = [note for note in notes(recorded) if note.startswith("from the profile")]
    assert "1,600 samples, 75 % placed on bytes (the others: 12 % in the kernel, 11 % not at an access, 1 % " in shown
