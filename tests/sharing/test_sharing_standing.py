"""Which of equally severe findings comes first: what is known of threads before what is estimated of loops."""

from __future__ import annotations

import pytest

from reports import EMITTERS, RenderOptions
from sharing.judge.standing import standing_of
from sharing.judge.static import Judgement, JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import Coverage, ImageKind, Report, Severity, Target, Verdict
from sharing.model.finding import SCHEMA
from sharing.model.profile import FrequentUse, LineProfile
from sharing.model.standing import MOST_USERS, Standing
from sharing.rules.line.base import Draft
from tests.builders.image import BSS, Builder
from tests.sharing.test_sharing_certainty import CONTEXT, MANY, ONE, OTHER, actor

ALL = ONE | OTHER | MANY


def judged(b: Builder) -> Judgement:
    return judge(b.image(), JudgeOptions(64, 64, ("two-locks-one-line",)), default_knowledge())


def kernel(few: int, many: int, *, deep: int = 3) -> Builder:
    """Two lines with two locks: those of the first are taken deep in loops, by ``few`` functions each."""
    b = Builder(ImageKind.KERNEL)
    for line, (name, users, loop) in enumerate((("deep", few, deep), ("wide", many, 1))):
        for side in range(2):
            for number in range(users):
                b.function(f"sys_{name}_{side}_{number}").call("mutex_lock", f"{name}_{side}", loop=loop)
            b.variable(f"{name}_{side}", 32, BSS + 256 * line + 32 * side)
    return b


def first(b: Builder) -> str:
    found = judged(b).findings
    assert [f.severity for f in found] == [Severity.LOW] * 2
    return found[0].participants[0].name.partition("_")[0]


def test_in_a_kernel_what_more_functions_take_comes_first() -> None:
    assert first(kernel(1, 4)) == "wide"
    assert first(kernel(4, 4)) == "deep"  # the hotter of equals
    assert first(kernel(4, 1)) == "deep"


def test_the_less_used_side_counts() -> None:
    b = kernel(2, 1)
    for number in range(9):
        b.function(f"sys_more_{number}").call("mutex_lock", "wide_0", loop=1)
    assert first(b) == "deep"


def draft(first: FrequentUse | None, second: FrequentUse | None, *, score: float = 1.0, luck: bool = False) -> Draft:
    pair = (actor(first, by=ALL), actor(second, by=ALL))
    verdict = Verdict.FRAGILE if luck else Verdict.FALSE_SHARING
    return Draft("rule", Severity.LOW, verdict, LineProfile(0, 64, pair), pair, pair, "", (), score)


OFTEN = FrequentUse(ALL, ALL)
SURE = FrequentUse(ALL, ALL, ALL, ALL)
FAR = FrequentUse(ALL, ALL, far_writes=ALL, far_uses=ALL)


def test_a_sure_meeting_comes_before_an_estimated_one_and_that_before_luck() -> None:
    sure, one, guessed = (
        standing_of(draft(*pair, score=score), CONTEXT)
        for pair, score in (((SURE, SURE), 1.0), ((SURE, OFTEN), 1e3), ((FAR, FAR), 1e6))
    )
    luck = standing_of(draft(SURE, SURE, score=1e9, luck=True), CONTEXT)
    assert sure > one > guessed > Standing(0, MOST_USERS, 0.0)
    assert guessed.score > luck.score


def test_kinds_of_threads_that_surely_do_count_on_the_less_used_side() -> None:
    few = FrequentUse(MANY, MANY, MANY, MANY)
    assert standing_of(draft(SURE, SURE), CONTEXT).users == ALL.bit_count()
    assert standing_of(draft(SURE, few), CONTEXT).users == MANY.bit_count()
    assert standing_of(draft(SURE, OFTEN), CONTEXT).users == 0


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (Standing(2, 0, 0.0), Standing(1, 10**6, 1e300)),
        (Standing(1, 5, 0.0), Standing(1, 4, 1e300)),
        (Standing(1, 5, 1e8), Standing(1, 5, 0.9e8)),
        (Standing(1, MOST_USERS, 2.0), Standing(1, 10**6, 1.0)),
        (Standing(0, 0, 1.0), Standing(0, 0, 0.0)),
    ],
)
def test_the_number_has_the_order_of_what_it_is_made_of(more: Standing, less: Standing) -> None:
    assert more.score > less.score >= 0


def test_all_formats_have_the_order() -> None:
    b = kernel(1, 4)
    findings = tuple(reversed(judged(b).findings))
    report = Report(SCHEMA, "audit", (Target("k", "", "x86_64", "kernel", "", 64, ""),), Coverage({}, ()), findings)
    wide, deep = findings[1].id, findings[0].id
    for name in ("text", "markdown", "sarif", "html", "codequality", "junit"):
        text = EMITTERS[name].render(report, RenderOptions(details=True, top=5))
        assert text.index(wide) < text.index(deep), name
    assert [f.id for f in judged(b).findings] == [wide, deep]  # as in JSON
