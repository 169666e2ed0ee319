"""``audit --counts`` on programs that were run here: exact counts, and the findings that follow."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from elfscan.image import read_images
from linemate.options import AuditOptions
from linemate.pipeline import audit
from pmu.counts import read_executions
from sharing.counted.join import EVERY_OBJECT
from sharing.counted.weigh import Counted as CountedImage
from sharing.counted.weigh import Weighed, weigh
from sharing.judge.passes import run_passes
from sharing.knowledge import default_knowledge
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Finding, Report, Severity
from tests.counts.conftest import Counted, Run

WRITES, READS = 30000, 20000


def report(run: Run, *, counts: bool = True, least: Severity = Severity.LOW) -> Report:
    given = (str(run.counts),) if counts else ()
    return audit(AuditOptions(str(run.binary), counts=given, min_severity=least))


def findings(run: Run, least: Severity = Severity.LOW) -> tuple[Finding, ...]:
    return report(run, least=least).findings


def findings_of_code(run: Run) -> tuple[Finding, ...]:
    return report(run, counts=False).findings


def weighed(run: Run) -> Weighed:
    (image,) = read_images(str(run.binary))
    executions = read_executions([run.counts])
    (module,) = [i for i, name in enumerate(executions.modules) if name == str(run.binary)]
    passes = run_passes(image, default_knowledge(), lambda names: names)
    return weigh(passes, CountedImage(executions.of_module([module]), executions.threads))


def uses(found: Weighed, name: str, offset: int = 0, size: int = 8) -> dict[str, tuple[int, int]]:
    """(writes, all uses) of some bytes by the function that a thread began in."""
    image = found.passes.image
    (row,) = [r for r in image.variables if r["name"] >= 0 and image.names[r["name"]] == name]
    start = int(row["address"]) + offset
    writes, touches = found.uses((start, start + size))
    assert found.counted.entries
    names = ["+".join(e) for e in found.counted.entries]
    return {n: (int(w), int(t)) for n, w, t in zip(names, writes, touches, strict=True) if t}


@pytest.mark.parametrize("position", ["-fPIE", "-no-pie"])
def test_uses_are_counted_by_variable_and_thread(counted: Counted, position: str) -> None:
    flags = ("-fPIE", "-pie") if position == "-fPIE" else ("-fno-pie", "-no-pie")
    found = weighed(counted("pair.c", *flags))
    assert uses(found, "shared", 0) == {"writer": (WRITES, WRITES)}
    assert uses(found, "shared", 8) == {"reader": (0, READS)}
    assert uses(found, "total") == {"reader": (READS, READS)}


def test_a_counter_that_disturbs_another_threads_limit_is_found(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    (finding,) = findings(run)
    assert (finding.severity, finding.confidence) == (Severity.HIGH, Confidence.COUNTED)
    assert [p.full_name for p in finding.participants] == ["shared", "shared+0x8"]
    told = [e.text for e in finding.evidence if e.kind is Confidence.COUNTED]
    assert "(writer) wrote shared" in told[0]
    assert "(reader) read shared+0x8" in told[0]
    assert "not whether two threads do so at the same time" in told[1]


def test_the_finding_keeps_the_id_that_the_code_gives_it(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    assert findings(run)[0].id in {f.id for f in report(run, counts=False, least=Severity.NOTE).findings}


def test_a_stripped_program_gives_the_same(counted: Counted) -> None:
    whole, bare = (findings(counted("pair.c", "-fPIE", "-pie", strip=strip))[0] for strip in (False, True))
    assert (bare.line, bare.severity, bare.rule) == (whole.line, whole.severity, whole.rule)
    assert [p.address for p in bare.participants] == [p.address for p in whole.participants]
    share = "at most"
    told = [[e.text for e in f.evidence if e.kind is Confidence.COUNTED and share in e.text] for f in (whole, bare)]
    assert told[0] == told[1]


def test_on_lines_of_their_own_nothing_is_found(counted: Counted) -> None:
    assert findings(counted("pair.c", "-DPAD")) == ()


def test_one_thread_that_uses_both_clears_what_the_code_says(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie", arguments=("alone",))
    code = report(run, counts=False, least=Severity.NOTE).findings
    (said,) = [f for f in code if f.participants[0].name == "shared"]
    assert findings(run) == ()
    (cleared,) = [f for f in findings(run, Severity.NOTE) if f.id == said.id]
    assert cleared.confidence is Confidence.STATIC
    assert any("(writer) alone used the line" in e.text for e in cleared.evidence if e.kind is Confidence.COUNTED)


def test_what_the_code_takes_for_busy_is_cleared_where_it_ran_seldom(counted: Counted) -> None:
    """A barrier that is passed twice, beside the total."""
    run = counted("pair.c", "-fPIE", "-pie")
    said = {f.id for f in report(run, counts=False, least=Severity.NOTE).findings}
    rare = [f for f in findings(run, Severity.NOTE) if any("too rare: thread" in e.text for e in f.evidence)]
    assert [(f.id in said, f.severity, f.participants[0].name) for f in rare] == [(True, Severity.NOTE, "start")]


def test_what_is_written_once_disturbs_nobody(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    found = weighed(run)
    assert uses(found, "rare", 0) == {"writer": (1, 1)}
    assert uses(found, "rare", 8) == {"reader": (0, READS)}
    assert not [f for f in findings(run) if "rare" in {p.name for p in f.participants}]


def test_slots_of_threads_are_found_and_their_elements_left_open(counted: Counted) -> None:
    (finding,) = findings(counted("slots.c"))
    assert (finding.rule, finding.severity) == ("packed-thread-slots", Severity.MEDIUM)
    told = [e.text for e in finding.evidence if e.kind is Confidence.COUNTED]
    assert told[2].startswith("medium and not high, as that share allows: counts name the array as a whole")


def test_a_member_of_long_elements_is_on_one_line_of_each(counted: Counted) -> None:
    run, adds = counted("rings.c", "-g"), 20000
    found = weighed(run)
    assert uses(found, "rings", 0) == {"producer": (adds // 2, adds)}  # head: loaded, and stored
    assert uses(found, "rings", 8) == {"consumer": (adds // 2, adds)}
    lines = 2 * 2048 // 64  # of slots, and of words, which may be on any
    assert uses(found, "rings", 16) == {"producer": (adds // lines, adds // lines)}
    assert uses(found, "table") == {"consumer": (adds // 512, adds // 512)}
    (finding,) = findings(run)
    assert {"rings[0].head", "rings[0].tail"} <= {p.name for p in finding.participants}


def of_the_ring(run: Run) -> tuple[Finding, Finding]:
    """What code says of the ring on the heap, and what it says with the counts."""
    (code,) = [f for f in findings_of_code(run) if f.participants[0].name == "struct ring.head"]
    (ran,) = [f for f in findings(run, least=Severity.NOTE) if f.id == code.id]
    return code, ran


def test_of_a_record_on_the_heap_the_instructions_count_that_reach_it(counted: Counted) -> None:
    code, ran = of_the_ring(counted("heap.c", "-g"))
    assert code.severity.rank >= Severity.MEDIUM.rank
    assert (ran.severity, ran.confidence, ran.message) == (code.severity, Confidence.COUNTED, code.message)
    said = [e.text for e in ran.evidence if e.kind is Confidence.COUNTED]
    assert EVERY_OBJECT in said
    assert re.search(r"wrote struct ring\.(head|tail) [\d,]+ times per million instructions, thread", said[0])


def test_a_record_on_the_heap_that_threads_hardly_use_is_a_note(counted: Counted) -> None:
    """The near miss: the same code, and a run in which it does little."""
    code, ran = of_the_ring(counted("heap.c", "-g", "-DITEMS=3"))
    assert code.severity.rank >= Severity.MEDIUM.rank
    assert (ran.severity, ran.confidence) == (Severity.NOTE, Confidence.STATIC)
    assert any("too rare" in e.text for e in ran.evidence if e.kind is Confidence.COUNTED)


def test_static_counters_whose_threads_did_not_run_are_lowered(counted: Counted) -> None:
    """The same pair by name, of which counts do know that it was not used."""
    run = counted("heap.c", "-g")
    (code,) = [f for f in findings_of_code(run) if f.participants[0].name == "spare.sent"]
    (idle,) = [f for f in findings(run) if f.id == code.id]
    assert code.severity.rank > idle.severity.rank
    assert idle.severity is Severity.LOW
    assert "not in this run: no instruction that names spare.sent and spare.received was executed" in idle.message


def test_counts_of_another_build_are_refused(counted: Counted) -> None:
    pie, plain = counted("pair.c", "-fPIE", "-pie"), counted("pair.c", "-O0")
    with pytest.raises(LinemateError, match=r"are of another build: .* counted addresses"):
        report(replace(pie, counts=plain.counts))


def test_counts_of_another_program_are_refused(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    other = run.binary.with_name("other")
    if not other.exists():
        other.symlink_to("/usr/bin/env")
    with pytest.raises(LinemateError, match=r"the counts do not cover it; they have .*/program"):
        report(replace(run, binary=other))


def test_counts_hold_for_a_copy_with_the_same_build_id(counted: Counted, tmp_path: Path) -> None:
    run = counted("pair.c", "-fPIE", "-pie", "-Wl,--build-id")
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-o", str(bare), str(run.binary)], check=True)
    assert [(f.line, f.severity) for f in findings(replace(run, binary=bare))] == [
        (f.line, f.severity) for f in findings(run)
    ]
    other = counted("pair.c", "-O0", "-Wl,--build-id")
    renamed = tmp_path / "renamed"
    shutil.copy(other.binary, renamed)
    with pytest.raises(LinemateError, match=r"the counts do not cover it; .*the same build-id"):
        report(replace(run, binary=renamed))


def test_a_run_of_one_thread_says_so(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    main = run.counts.with_name("counts-01")
    notes = audit(AuditOptions(str(run.binary), counts=(str(main),))).coverage.notes
    assert any("the counts have one thread" in note for note in notes)
