"""In an array of records with a lock, what is not the lock is not counted as the lock."""

from __future__ import annotations

from tests.builders.image import Builder, threads
from tests.sharing.test_sharing_profiles import actors, profiler, table


def test_a_member_of_an_element_has_its_index() -> None:
    b = Builder()
    threads(b, "worker")
    b.function("worker").rmw("ts+0x80", 8, loop=1).call("pthread_mutex_lock", "ts+0xc0", loop=1)
    start = b.variable("ts", 512, type=b.array(table(b), 4))
    assert set(actors(b)) == {"ts[1].hits", "ts[1].lock"}
    assert profiler(b).name_of(start + 0xC0) == "ts[1].lock"
    assert profiler(b).name_of(start + 0x80) == "ts+0x80"
