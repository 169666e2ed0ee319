"""What code says of a thread that was sampled in a function: not what stands in another loop, to which no way leads."""

from __future__ import annotations

import pytest

from sharing.model.attribution import Module, Region
from sharing.model.image import AccessKind, Image
from sharing.sampled.attribution.statictouches import ImageCode
from tests.builders.image import Builder
from tests.builders.recorded import One, Recorded, attribution, ticks

IN, OUT = 0, 1  # threads


def ring(*, loops: bool) -> Image:
    """`start` runs the loop of the side that its thread is: they are arms of a branch, or two arms in one loop."""
    b = Builder()
    b.variable("head", 8)
    b.variable("tail", 8)
    start = b.function("start")
    start.load("head", loop=1, order=1).store("head", loop=1, order=1)
    start.load("tail", loop=1, order=2).store("tail", loop=1, order=2)
    b.arms["start"] = (1, 2)
    b.loops["start"] = (1, 2) if loops else (1,)
    return b.image()


def who_may_store(image: Image, samples: dict[int, tuple[str, int]]) -> dict[str, set[int]]:
    """By variable the threads that code may speak of; ``samples`` of each thread: at the load of what, and how many."""
    recorded = Recorded()
    ips = {"head": int(image.sites["ip"][0]), "tail": int(image.sites["ip"][2])}
    for thread, (name, count) in samples.items():
        for time in ticks(count, shift=thread * 90_000):
            recorded.samples.append(One(thread, time, function="start", region=Region.STATIC, ip=ips[name]))
    placed = attribution(recorded, modules=(Module("/bin/x", target=True),))
    code, found = ImageCode(image, placed), {}
    for name, at in zip(("head", "tail"), image.variables["address"].tolist(), strict=True):
        (elsewhere,) = (apart for *_, kind, _, apart in code.touches(at, 64) if kind is AccessKind.STORE)
        found[name] = set(samples) - elsewhere
    return found


def test_threads_in_the_loops_of_two_arms_store_what_their_own_loop_does() -> None:
    found = who_may_store(ring(loops=True), {IN: ("head", 40), OUT: ("tail", 40)})
    assert found == {"head": {IN}, "tail": {OUT}}


@pytest.mark.parametrize(
    ("loops", "samples"),
    [
        (False, 40),  # a loop may take its arms by turns
        (True, 4),  # too few to tell
    ],
)
def test_a_thread_is_not_told_apart_where_it_may_have_come_there(loops: bool, samples: int) -> None:
    found = who_may_store(ring(loops=loops), {IN: ("head", samples), OUT: ("tail", samples)})
    assert found == {"head": {IN, OUT}, "tail": {IN, OUT}}
