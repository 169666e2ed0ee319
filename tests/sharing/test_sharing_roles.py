"""What an object is to its program, where one thread polls what another one writes."""

from __future__ import annotations

import pytest

from sharing.basics.numbers import SELDOM
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model.profile import Access, Actor, Role
from sharing.model.types import Member
from sharing.static.roles import role_of
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


def access(weight: float, *, writes: bool = False, reads: bool = False, atomic: bool = True) -> Access:
    return Access("f", weight, 1, writes=writes, reads=reads, atomic=atomic, locks=False)


@pytest.mark.parametrize(
    ("of", "changes", "reads", "role"),
    [
        pytest.param("node *", access(10, writes=True), 300, Role.READ_MOSTLY, id="stored for readers to find"),
        pytest.param("node *", access(10, writes=True), 100, Role.ATOMIC, id="stored for one of ten reads"),
        pytest.param("node *", access(10, writes=True, reads=True), 300, Role.ATOMIC, id="exchanged"),
        pytest.param("bool", access(10, writes=True), 300, Role.ATOMIC, id="a flag, for which somebody waits"),
    ],
)
def test_a_pointer_that_is_stored_atomically_and_read_far_more_often_is_read_mostly(
    of: str, changes: Access, reads: float, role: Role
) -> None:
    leaf = Member("head", 0, 8, of, 0)
    assert role_of(leaf, (changes, access(reads, reads=True)), default_knowledge()) is role


@pytest.mark.parametrize("atomic", [True, False])
def test_who_loads_atomically_expects_others_to_store(atomic: bool) -> None:
    accesses = (access(10, writes=True, atomic=False), access(10, reads=True, atomic=atomic))
    one = Actor("a", "a", (0, 8), (0, 8), ((0, 8),), Role.WRITTEN, accesses=accesses)
    assert one.synchronised is atomic
