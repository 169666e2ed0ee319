"""Names that say that each thread has an element of its own, and names of sets of processors."""

from __future__ import annotations

import pytest

from sharing.knowledge.slotwords import names_slots


@pytest.mark.parametrize("name", ["hits_per_cpu", "cpu_pinned", "myThreadHits", "workerstats", "ns::slots"])
def test_each_thread_or_processor_has_an_element(name: str) -> None:
    assert names_slots(name)


@pytest.mark.parametrize("name", ["cpus_chosen", "cpuset_attach", "cpuhp_states", "identity", "timeslots"])
def test_a_set_of_processors_and_words_within_words_say_nothing(name: str) -> None:
    assert not names_slots(name)
