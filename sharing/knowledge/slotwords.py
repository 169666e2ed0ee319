"""Does the name of an array say that each thread, or each processor, has an element of its own?

Owns those words.  Long ones count wherever they stand, as in ``mythreads``; short ones only as a word of the name:
``cpus_chosen`` and ``cpuset`` are sets of processors, whose words no thread owns.
"""

from __future__ import annotations

from sharing.knowledge.namewords import words_of

ANYWHERE = ("thread", "worker", "percpu", "shard")
ALONE = frozenset(("cpu", "slot", "slots", "tid"))


def names_slots(name: str) -> bool:
    """Of the name as programs write it: ``hits_per_cpu``, ``threadHits``, ``ns::slots``."""
    lower = name.lower()
    return any(word in lower for word in ANYWHERE) or any(word in ALONE for word in words_of(name))
