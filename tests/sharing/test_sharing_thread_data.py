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
