"""What would make a finding surer is something that can be done with this file."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reports import EMITTERS
from reports.options import RenderOptions
from sharing.model.finding import ADVICE, Confidence, Evidence, LineRef
from tests.builders.report import REPORT


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("kernel", "a profile decides: linemate record --duration 30 on a machine that runs it"),
        ("executable", "a profile decides: linemate record -- COMMAND (or --pid"),
        ("kernel module", "perf c2c on a machine that runs it decides"),
    ],
)
def test_a_kernel_is_recorded_where_it_runs_and_a_module_is_not(kind: str, told: str) -> None:
    one = replace(REPORT.findings[0], rule="hot-lock-shares-line", confidence=Confidence.STATIC)
    report = replace(REPORT, targets=(replace(REPORT.targets[0], kind=kind),), findings=(one,))
    text = EMITTERS["text"].render(report, RenderOptions(color=False, width=300, details=False, summary=False))
    assert told in text


def test_what_would_help_is_what_to_do_where_no_edit_is_proposed() -> None:
    advice = Evidence(Confidence.STATIC, f"{ADVICE}count in each thread")
    one = replace(REPORT.findings[0], remedies=(), evidence=(*REPORT.findings[0].evidence, advice))
    options = RenderOptions(color=False, width=300, details=False, summary=False)
    text = EMITTERS["text"].render(replace(REPORT, findings=(one,)), options)
    assert "do   count in each thread" in text
    assert text.count("count in each thread") == 1
    plain = EMITTERS["text"].render(replace(REPORT, findings=(replace(one, evidence=()),)), options)
    assert "do   no edit is proposed" in plain


def test_of_a_pair_that_is_apart_no_profile_is_asked_for() -> None:
    """Of what it would cost together a profile of this build knows nothing."""
    meets = replace(REPORT.findings[0], rule="hot-lock-shares-line", confidence=Confidence.STATIC)
    apart = replace(meets, rule="safe-by-luck", line=LineRef("0x990000", 64), id="safe-by-luck-0123456789")
    options = RenderOptions(color=False, width=300, details=False, summary=False)
    for findings in ((apart,), (meets, apart)):
        text = EMITTERS["text"].render(replace(REPORT, findings=findings), options)
        assert text.count("no profile of this build shows") == 1
        assert text.count("a profile decides") == len(findings) - 1
