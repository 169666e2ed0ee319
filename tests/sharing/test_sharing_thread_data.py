"""What a starting call hands a thread: the entry's accesses through it are accesses to that object, on that thread."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, SiteFlag
from sharing.model.image import Table
from sharing.static.flow import through_starts
from tests.builders.image import Argument, Builder, Element


def started(*arguments: Argument, creator: str = "pthread_create") -> tuple[Table, dict[str, int]]:
    b = Builder()
    b.function("main").call(creator, *arguments)
    b.function("work").through(0, 8, AccessKind.RMW, loop=1).through(1, 0, AccessKind.STORE)
    b.function("other").through(0, 16, AccessKind.STORE)
    slots = b.variable("slots", 256)
    image = b.image()
    rows = {image.names[f["name"]]: i for i, f in enumerate(image.functions)}
    return through_starts(image, default_knowledge()), {**rows, "slots": slots}


def test_an_object_is_touched_where_the_entry_touches_its_parameter() -> None:
    (site,), at = started(None, None, "work", "slots")
    assert (site["function"], site["target"], site["kind"]) == (at["work"], at["slots"] + 8, AccessKind.RMW)
    assert (site["loop_depth"], site["stride"], site["flags"] & SiteFlag.INDEXED) == (1, 0, 0)


def test_an_element_at_a_computed_index_is_another_for_each_thread() -> None:
    (site,), at = started(None, None, "work", Element("slots", 32))
    assert (site["target"], site["stride"]) == (at["slots"] + 8, 32)
    assert site["flags"] & SiteFlag.INDEXED


@pytest.mark.parametrize(("rarity", "stated"), [(40, 40), (36, 0), (8, 0)])
def test_what_an_entry_next_to_never_does_is_as_rare_for_the_object(rarity: int, stated: int) -> None:
    """As where errors are told; how the arms of its branches are likely is not asked."""
    b = Builder()
    b.function("main").call("pthread_create", None, None, "work", "slots")
    b.function("work").through(0, 8, AccessKind.RMW, loop=1, rarity=rarity)
    b.variable("slots", 256)
    (site,) = through_starts(b.image(), default_knowledge())
    assert site["rarity"] == stated


def handed(*places: str) -> Table:
    """What the entry does to the object of which it is handed these places, one a call."""
    b = Builder()
    body = b.function("main")
    for place in places:
        body.call("pthread_create", None, None, "work", place)
    b.function("work").through(0, 8, AccessKind.RMW, loop=1)
    b.variable("slots", 256)
    b.variable("apart", 8)
    return through_starts(b.image(), default_knowledge())


def test_places_of_one_object_are_elements_as_of_a_loop_that_was_unrolled() -> None:
    sites = handed("slots", "slots+0x28", "slots+0x50")
    assert set(sites["stride"].tolist()) == {0x28}
    assert all(flags & SiteFlag.INDEXED and flags & SiteFlag.OWN for flags in sites["flags"].tolist())


@pytest.mark.parametrize("places", [("slots", "slots"), ("slots", "apart")], ids=["one", "two objects"])
def test_not_one_place_or_two_objects(places: tuple[str, str]) -> None:
    assert set(handed(*places)["stride"].tolist()) == {0}


@pytest.mark.parametrize(
    "arguments",
    [(None, None, "work", None), (None, None, None, "slots"), (None, None, "work"), (None, "slots", "work", None)],
    ids=["nothing known", "entry not known", "nothing handed on", "the attributes"],
)
def test_nothing_is_guessed(arguments: tuple[Argument, ...]) -> None:
    sites, _ = started(*arguments)
    assert not len(sites)


def test_some_creators_take_the_data_elsewhere() -> None:
    (site,), at = started(None, "slots", "work", None, creator="uv_queue_work")
    assert site["target"] == at["slots"] + 8
    sites, _ = started(None, None, "work", "slots", creator="uv_queue_work")
    assert not len(sites)


def test_calls_that_start_no_thread_are_left_to_their_own_pass() -> None:
    sites, _ = started(None, None, "work", "slots", creator="qsort")
    assert not len(sites)


def test_addresses_of_a_kernel_have_the_top_bit() -> None:
    b = Builder()
    b.function("main").call("kthread_run", "work", "state")
    b.function("work").through(0, 4, AccessKind.STORE)
    b.variable("state", 64)
    image = b.image()
    high = np.uint64(0xFFFF_FFFF_8000_0000)
    image.functions["address"] += high
    for name in ("value", "callee"):
        addresses = image.args[name].astype(np.uint64)
        image.args[name] = np.where(image.args["kind"] == 1, addresses + high, addresses).astype(image.args[name].dtype)
    image.args["callee"] -= high  # the import stays where it is
    (site,) = through_starts(image, default_knowledge())
    assert int(site["target"]) == int(image.variables["address"][0]) + int(high) + 4
