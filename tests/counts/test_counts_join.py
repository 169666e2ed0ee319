"""One finding of the code and one of the counts about the same thing are one, under the id of the code."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.counted.join import join
from sharing.counted.weigh import Counted as CountedImage
from sharing.counted.weigh import Weighed
from sharing.model.executions import EXECUTION_DTYPE, CountedThread
from sharing.model.finding import Confidence, Finding, LineRef, Participant, Severity, Verdict
from tests.counts.conftest import Counted

UNCOUNTED = cast(Weighed, SimpleNamespace(uncounted=lambda span: True))


@pytest.mark.parametrize("flags", [("-g",), (), ("-s",)], ids=["debug", "symbols", "stripped"])
def test_slots_whose_busiest_member_the_counts_know_better_stay_one_finding(
    counted: Counted, flags: tuple[str, ...]
) -> None:
    run = counted("elements.c", *flags)
    options = AuditOptions(str(run.binary), min_severity=Severity.NOTE)
    code = [f for f in audit(options).findings if f.rule == "packed-thread-slots"]
    ran = audit(replace(options, counts=(str(run.counts),))).findings
    ran_slots = [f for f in ran if f.rule == "packed-thread-slots"]
    assert [f.id for f in ran_slots] == [f.id for f in code]
    assert [f.confidence for f in ran_slots] == [Confidence.COUNTED]
    if flags == ("-g",):
        assert [f.participants[0].full_name for f in (*code, *ran_slots)] == ["slots[0].seldom", "slots[0].often"]


def _slots(identity: str, name: str, member: str, confidence: Confidence = Confidence.STATIC) -> Finding:
    one = Participant(name, "0x4080", 8, ((0, 8),), "atomic", "", member=member)
    verdict = Verdict.FALSE_SHARING
    where = LineRef("0x4080", 64)
    return Finding(identity, "packed-thread-slots", Severity.LOW, confidence, verdict, where, (one,), "", (), ())


@pytest.mark.parametrize(
    ("static", "counted", "one"),
    [
        (("slots", "[0].lines"), ("slots", "[0].words"), True),
        (("server", "slots[0].lines"), ("server", "slots[0].words"), True),
        (("bss+0x40", ""), ("bss+0x40", "+0x8"), True),
        (("server", "slots[0].lines"), ("server", "spare[0].lines"), False),
        (("slots", "[0].lines"), ("spare", "[0].lines"), False),
        (("bss+0x40", ""), ("bss+0x48", ""), False),
    ],
)
def test_one_array_is_one_finding_and_two_are_two(static: tuple[str, str], counted: tuple[str, str], one: bool) -> None:
    findings, counts = join([_slots("a", *static)], [_slots("b", *counted, Confidence.COUNTED)], UNCOUNTED)
    assert [f.id for f in findings] == (["a"] if one else ["a", "b"])
    assert counts["counted_added"] == (not one)


def test_what_has_the_very_id_is_not_taken_for_another_finding() -> None:
    """An array whose two members the code names under two ids, the second of which the counts have."""
    code = [_slots("a", "slots", "[0].lines"), _slots("b", "slots", "[0].words")]
    ran = [_slots("b", "slots", "[0].words", Confidence.COUNTED)]
    findings, _ = join(code, ran, UNCOUNTED)
    assert [(f.id, f.confidence) for f in findings] == [("a", Confidence.STATIC), ("b", Confidence.COUNTED)]


@pytest.mark.parametrize(("members", "said"), [(("",), "its threads use it often"), (("a", "b"), "use both often")])
def test_of_one_variable_it_is_not_said_that_both_are_used(members: tuple[str, ...], said: str) -> None:
    """Busy by the counts, and lowered because the rules do not speak of it when they have them."""
    often = np.array([1e6, 1e6])
    threads = (CountedThread(0, 1, 10_000_000), CountedThread(0, 2, 10_000_000))
    counted = CountedImage(np.zeros(0, EXECUTION_DTYPE), threads)
    weighed = SimpleNamespace(
        uncounted=lambda span: False,
        behind_pointers=lambda span: False,
        holds=lambda span: True,
        uses=lambda span: (often, often),
        counted=counted,
    )
    who = tuple(
        Participant("stats", f"{0x4080 + 8 * i:#x}", 8, ((8 * i, 8 * i + 8),), "counter", "", member=m)
        for i, m in enumerate(members)
    )
    where = LineRef("0x4080", 64)
    code = Finding("a", "r", Severity.HIGH, Confidence.STATIC, Verdict.FALSE_SHARING, where, who, "", (), ())
    ((found,), _) = join([code], [], cast(Weighed, weighed))
    assert found.severity is Severity.LOW
    assert said in found.evidence[-1].text
    assert ("both" in found.evidence[-1].text) == (len(members) > 1)


def test_what_the_sentence_is_about_is_shown_before_a_busier_neighbour() -> None:
    """A lock and what another thread counts beside it; who takes the lock uses a list under it far more often."""
    lock, counter, items = (0x4080, 0x4084), (0x4088, 0x4090), (0x4090, 0x4098)
    none = np.zeros(2)
    used = {lock: np.array([1e5, 0.0]), counter: np.array([0.0, 1e4]), items: np.array([1e5, 9e4])}
    weighed = SimpleNamespace(
        uncounted=lambda span: False,
        behind_pointers=lambda span: True,
        holds=lambda span: True,
        uses=lambda span: (used.get(span, none), used.get(span, none)),
        counted=CountedImage(
            np.zeros(0, EXECUTION_DTYPE), (CountedThread(0, 1, 10_000_000), CountedThread(0, 2, 10_000_000))
        ),
    )
    who = tuple(
        Participant(name, hex(a), b - a, ((a - 0x4080, b - 0x4080),), "", "")
        for name, (a, b) in (("lock", lock), ("counter", counter), ("items", items))
    )
    where = LineRef("0x4080", 64)
    code = Finding("a", "r", Severity.HIGH, Confidence.STATIC, Verdict.FALSE_SHARING, where, who, "", (), ())
    ((found,), _) = join([code], [], cast(Weighed, weighed))
    said = " ".join(one.text for one in found.evidence)
    assert found.confidence is Confidence.COUNTED
    assert "wrote lock 10,000 times" in said
    assert "wrote counter 1,000 times" in said
