"""What an object is to its program, where one thread polls what another one writes."""

from __future__ import annotations

import pytest

from sharing.basics.numbers import SELDOM
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from tests.builders.image import BSS, Builder


def polled(rarity: int) -> Builder:
    """A queue: who fills it looks at its head many times more often than who empties it moves that on."""
    b = Builder()
    main = b.function("main")
    for entry in ("fill", "empty"):
        main.call("pthread_create", None, None, entry)
    b.variable("head", 8, BSS)
    b.variable("tail", 8, BSS + 8)
    b.function("fill").call("push", loop=1).call("push", loop=2)
    b.function("push").load("tail").load("head").store("tail", rarity=4)
    b.function("empty").call("pop", loop=1)
    b.function("pop").load("head").load("tail").store("head", rarity=rarity)
    return b


@pytest.mark.parametrize(
    ("rarity", "role"),
    [(4, "written data"), (SELDOM, "read-mostly data")],
)
def test_what_a_thread_writes_each_time_around_is_not_read_mostly(rarity: int, role: str) -> None:
    findings = judge(polled(rarity).image(), JudgeOptions(64, 128, edits=False), default_knowledge()).findings
    roles = {p.full_name: str(p.role) for f in findings for p in f.participants}
    assert roles["head"] == role
    assert roles["tail"] == "written data"
