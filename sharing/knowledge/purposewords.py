"""Words in names that say what a variable counts: references, the order of events, or what happened how often.

And words of flags that end or begin a thread's work.  Owns the table ``purposes.json``.  A name is weak evidence: it
says which kind of counter it is only of what code changes as a counter, and that it is a flag of what loops read.
"""

from __future__ import annotations

import functools
from itertools import pairwise

import msgspec

from sharing.knowledge import read_table
from sharing.knowledge.namewords import words_of

COUNTS = frozenset(("count", "counter", "cnt"))  # behind one of ``counted_uses``: ``use_count``, ``reference_counter``


class _Words(msgspec.Struct, frozen=True):
    """In lower case.  A word of one of the lists is enough, but for ``counted_uses``.

    ``failure_prefixes`` stand before what went wrong, without a mark between: ``badcmd``; ``failure_prefix_words`` only
    begin so.  In a record that is named after ``failure_owners`` each member counts what went wrong.
    """

    references: frozenset[str]
    counted_uses: frozenset[str]
    sequences: frozenset[str]
    statistics: frozenset[str]
    failures: frozenset[str]
    failure_prefixes: frozenset[str]
    failure_owners: frozenset[str]
    failure_prefix_words: frozenset[str]
    stops: frozenset[str]


@functools.cache
def _known() -> _Words:
    return read_table("purposes.json", _Words)


def counts_references(name: str) -> bool:
    words, known = _words(name), _known()
    return not known.references.isdisjoint(words) or any(
        one in known.counted_uses and other in COUNTS for one, other in pairwise(words)
    )


def counts_events(name: str) -> bool:
    """A number by which others know what came before what: a sequence, a generation, a ticket."""
    return not _known().sequences.isdisjoint(_words(name))


def counts_statistics(name: str) -> bool:
    return not _known().statistics.isdisjoint(_words(name))


def counts_failures(name: str) -> bool:
    """How often something went wrong: ``parse_errors``, ``rejected``.  Programs are written for what goes right."""
    words, known = _words(name), _known()
    begins = tuple(known.failure_prefixes)
    return (
        not known.failures.isdisjoint(words)
        or any(word.startswith(begins) and word not in known.failure_prefix_words for word in words)
        or _names_failures(name.rpartition(".")[0])
    )


def _names_failures(owner: str) -> bool:
    """Is a record named after them, by its last word or the one before "counters": ``read_errors``, ``err_stats``?"""
    known = _known()
    words = _words(owner)
    while len(words) > 1 and words[-1] in known.statistics and words[-1] not in known.failure_owners:
        words.pop()
    return bool(words) and words[-1] in known.failure_owners


def tells_to_stop(name: str) -> bool:
    """A flag that says whether a thread goes on: ``stop``, ``running``, ``request_close``."""
    return not _known().stops.isdisjoint(_words(name))


def _words(name: str) -> list[str]:
    """Of the member: ``pool.refs`` counts references, and ``refs.next`` is one of a table's."""
    return words_of(name.rpartition(".")[2])
