"""Barriers that rounds of a loop pass several times: how far a thread is in a round, at each place of its entry.

Owns which rounds these are: as many stages as a round has barriers, on one arm or another.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from sharing.basics.ways import Mirrors, points
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, Table
from sharing.model.meetings import waits_for_all
from sharing.model.ways import Points, longest
from sharing.static.callees import names_of_callees
from sharing.static.executions import each_time, in_loop
from sharing.static.howfar import NO_ROUND, loops_around, on_ways
from sharing.static.meetingpoints import MeetingPoint

MAX_PARTS = 8  # of one thread; a longer row of barriers is a loop that was unrolled
MAX_CALLS = 64  # at barriers of one entry; of more, which are compared with each other, nothing is said


class Round(msgspec.Struct, frozen=True):
    """Barriers in a loop, of which each round passes ``number``, on one arm or another, and the number of that loop.

    Between the arrival and the wait at one, where these are two calls, others may be a stage behind or not.
    """

    arrivals: Points
    waits: Points
    loop: int
    number: int

    def passed(self, image: Image, rows: Table) -> list[tuple[int, int]]:
        """How many of them a thread has passed since the last of a round, at each of these places."""
        places = points(image, rows)
        (made, sure), (arrived, also) = (on_ways(calls, places) for calls in (self.waits, self.arrivals))
        known = sure & also & (made == arrived) & (loops_around(image, rows) == self.loop)
        return [(int(n), 0) if told else NO_ROUND for n, told in zip(made % self.number, known, strict=True)]


class Stages(msgspec.Struct, frozen=True):
    """Barriers that an entry passes, and of how many of them in a row the place of each block is known."""

    function: int
    barriers: Table
    number: int

    def passed(self, image: Image, rows: Table) -> list[tuple[int, int]]:
        """How many a thread has passed of a round at each of these places of the entry."""
        stages, stage = Mirrors(image).stages(rows["function"], rows["order"])
        order, ip = rows["order"][:, None], rows["ip"][:, None]
        here = (order == self.barriers["order"]) & (ip > self.barriers["ip"])
        made = (stage + here.sum(axis=1)) % self.number
        return [(int(n), 0) if told else NO_ROUND for n, told in zip(made, stages > 0, strict=True)]


def rounds_of(
    image: Image, function: int, objects: list[tuple[int, MeetingPoint]], kinds: dict[tuple[int, ...], int]
) -> Iterator[tuple[int, Round | Stages]]:
    """The loop whose every round passes these barriers, several times in all, with a number below zero.

    The number is the same where another entry passes the same ones as often in a round.
    """
    told = _stages_told(image, function, [one for _, one in objects])
    if told is not None:
        number = max((n for n in range(2, MAX_PARTS + 1) if told.number % n == 0), default=0)
        kind = (-number, *(number for number, _ in objects))
        if number:
            yield kinds.setdefault(kind, -1 - len(kinds)), msgspec.structs.replace(told, number=number)
        return
    objects = [(number, one) for number, one in objects if in_loop(one.depths).all()]
    if not objects:
        return
    arrivals, waits = (
        np.concatenate([picked(rows, rows["function"] == function) for rows in of_all])
        for of_all in zip(*((one.arrivals, one.waits) for _, one in objects), strict=True)
    )
    passed = _passes_a_round(image, arrivals), _passes_a_round(image, waits)
    if passed[0] == passed[1] and 1 < passed[1][1] <= MAX_PARTS:
        loop, each = passed[1]
        kind = (each, *(number for number, _ in objects))
        places = points(image, arrivals), points(image, waits)
        yield kinds.setdefault(kind, -1 - len(kinds)), Round(*places, loop, each)


def _passes_a_round(image: Image, calls: Table) -> tuple[int, int]:
    """The loop in which all of these are, and how many of them each round makes; none where rounds differ in that."""
    if not 1 < len(calls) <= MAX_CALLS or (calls["loop_depth"] != 1).any():
        return NO_ROUND
    # Beside each other: a round that leaves out all of them stays where it is, and one with long inner loops is rare.
    if not each_time(calls["rarity"] - calls["rarity"].min()).all():
        return NO_ROUND
    places, loops = points(image, calls), loops_around(image, calls)
    behind = places.behind(places)
    on_way = longest(behind) + longest(behind.T) - 1  # of a round that passes this one how many it passes
    alike = (on_way == on_way[0]).all() and (loops == loops[0]).all()
    return (int(loops[0]), int(on_way[0])) if alike else NO_ROUND


def _stages_told(image: Image, function: int, objects: list[MeetingPoint]) -> Stages | None:
    """The stages of these barriers, where the function passes no others, and they were counted: 1 if it has none."""
    calls = picked(image.calls, image.calls["function"] == function)
    callees = distinct(calls["callee"])
    counted = callees[[waits_for_all(name) for name in names_of_callees(image, callees)]]
    rows = calls[among(calls["callee"], counted)]
    waits = {ip for one in objects for ip in one.waits["ip"][one.waits["function"] == function].tolist()}
    if not 1 < len(rows) <= MAX_CALLS or waits != set(rows["ip"].tolist()):
        return None
    number = int(Mirrors(image).stages(rows["function"], rows["order"])[0].max())
    return Stages(function, rows, number) if number else None
