"""Tokens that semaphores hand on: who waited for the only one has it until he posts the next.

Owns which semaphores share one token, and the code in which a thread has it.  What they begin with is one in all, and
everybody posts only what he waited for, as a producer and a consumer do with a buffer of one slot: ``empty`` begins
with one, ``full`` with none.  Two that have the token never run at one time.  The line of what they use moves once a
turn, as that of the semaphores does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import those_having
from sharing.basics.ways import points
from sharing.model.arrays import picked
from sharing.model.image import ArgKind, Image, Table
from sharing.model.vocabulary import BarrierRow
from sharing.model.ways import Points
from sharing.static.executions import in_loop
from sharing.static.howfar import NO_ROUND, loops_around, on_ways
from sharing.static.semaphores import begins_with
from sharing.static.starts import Root

MAX_CALLS = 16  # at semaphores of one function; one with more hands several things on
ROUNDING = 1  # of rarities: what one run passes at times is rarer

Bools = npt.NDArray[np.bool_]


class Token(msgspec.Struct, frozen=True):
    """The waits and posts of one function, and the loop that all of them are in, or -1; ``number`` is the function's.

    ``word``: the lowest address of the semaphores.
    """

    word: int
    waits: Points
    posts: Points
    loop: int
    number: int

    def passed(self, image: Image, rows: Table) -> list[tuple[int, int]]:
        """The number, where a thread has the token at these places of the function."""
        places = points(image, rows)
        (got, sure), (given, also) = (on_ways(calls, places) for calls in (self.waits, self.posts))
        inside = (loops_around(image, rows) == self.loop) if self.loop != -1 else np.ones(len(rows), bool)
        holds = sure & also & (got == given + 1) & inside
        return [(self.number, 0) if one else NO_ROUND for one in holds.tolist()]


def tokens(
    image: Image, roots: Sequence[Root], entries: dict[int, int], known: dict[int, BarrierRow]
) -> Iterator[tuple[int, Token]]:
    """Entries of threads (rows of functions) that hand a token on; ``known``: by address functions of semaphores."""
    calls = those_having(image.calls, "callee", np.array(list(known), np.uint64))
    by_semaphore = _by_object(image, calls)
    if not by_semaphore:
        return
    begins = begins_with(image, list(known.values()), list(by_semaphore))
    for group in _groups(calls, by_semaphore):
        made = [begins.get(one, []) for one in group]
        if any(len(one) != 1 for one in made) or sorted(made) != [*[[0]] * (len(group) - 1), [1]]:
            continue
        rows = calls[np.sort([number for one in group for number in by_semaphore[one]])]
        functions = list(dict.fromkeys(rows["function"].tolist()))
        of = [entries.get(function, -1) for function in functions]
        if -1 in of or len(set(of)) != len(of) or len(of) < 2 or any(roots[at].many for at in of):
            continue
        found = [
            _in_turn(image, picked(rows, rows["function"] == function), known, min(group), number)
            for number, function in enumerate(functions)
        ]
        for function, token in zip(functions, found, strict=True):
            if token is not None and None not in found:
                yield function, token


def _by_object(image: Image, calls: Table) -> dict[int, list[int]]:
    """Numbers of the calls by semaphore; nothing where one is at a semaphore that nobody knows, which may be any."""
    given = picked(
        image.args, (image.args["arg"] == 0) & (image.args["kind"] == ArgKind.ADDRESS) & (image.args["source"] == 0)
    )
    ips, values = given["ip"], given["value"]
    address = dict(zip(ips.tolist(), values.tolist(), strict=True))
    found: dict[int, list[int]] = defaultdict(list)
    for number, ip in enumerate(calls["ip"].tolist()):
        if ip not in address:
            return {}
        found[address[ip]].append(number)
    return found


def _groups(calls: Table, by_semaphore: dict[int, list[int]]) -> list[list[int]]:
    """Semaphores that the same functions use, one behind the other."""
    group = {one: [one] for one in by_semaphore}
    first: dict[int, int] = {}
    for one, numbers in by_semaphore.items():
        for function in calls["function"][numbers].tolist():
            other = first.setdefault(function, one)
            if group[other] is not group[one]:
                group[other] += group[one]
                for joined in group[one]:
                    group[joined] = group[other]
    return list({id(one): one for one in group.values()}.values())


def _in_turn(image: Image, rows: Table, known: dict[int, BarrierRow], word: int, number: int) -> Token | None:
    """Where a function waits first and posts then, again and again, and passes none of them only at times."""
    waiting = np.array([known[callee].waits for callee in rows["callee"].tolist()])
    waits, posts = rows[waiting], rows[~waiting]
    loops = loops_around(image, rows)
    depths = np.unique(rows["loop_depth"])
    if len(rows) > MAX_CALLS or len(waits) != len(posts) or (loops != loops[0]).any() or len(depths) != 1:
        return None
    if np.ptp(rows["rarity"].astype(np.int64)) > ROUNDING:
        return None
    at_waits, at_posts = points(image, waits), points(image, posts)
    # A call is not behind itself: what a wait finds before it is given on, and a post gives on what was got.
    (before, _), (posted, also) = on_ways(at_waits, at_waits), on_ways(at_posts, at_waits)
    (given, _), (got, sure) = on_ways(at_posts, at_posts), on_ways(at_waits, at_posts)
    in_turn = (before == posted).all() and (got == given + 1).all() and also.all() and sure.all()
    loop = int(loops[0]) if in_loop(rows["loop_depth"]).all() else -1
    return Token(word, at_waits, at_posts, loop, number) if in_turn else None
