"""Do the names of two things, or of the functions that move them, say that they are the two ends of a queue?

Owns those words.  A name is weak evidence: it counts beside what the code does to both.  Functions that change a number
of references are named in the same words, ``get`` and ``put``: there each end has both.
"""

from __future__ import annotations

from collections.abc import Iterable

from sharing.knowledge.namewords import words_of

IN = frozenset(("push", "put", "enqueue", "enq", "append", "post", "send", "produce", "offer", "submit", "publish"))
OUT = frozenset(("pop", "get", "dequeue", "deq", "take", "receive", "recv", "consume", "poll", "drain", "fetch"))
ENDS = (
    ("head", "tail"),
    ("front", "back"),
    ("front", "rear"),
    ("first", "last"),
    ("top", "bottom"),
    ("in", "out"),
    ("enqueue", "dequeue"),
    ("push", "pop"),
    ("write", "read"),
    ("producer", "consumer"),
    ("prod", "cons"),
)


def name_ends(one: str, other: str) -> bool:
    """Of two members: ``q.head`` and ``q.tail``, ``writePos`` and ``readPos``."""
    here, there = (frozenset(words_of(name.rpartition(".")[2])) for name in (one, other))
    return any((a in here and b in there) or (b in here and a in there) for a, b in ENDS)


def put_and_take(movers: Iterable[str], others: Iterable[str]) -> bool:
    """Of functions: do all that move the one thing put something in, and all that move the other take it out?"""
    here, there = ([_words(name) for name in names] for names in (movers, others))
    if not here or not there:
        return False
    return any(
        all(a & words and not b & words for words in here) and all(b & words and not a & words for words in there)
        for a, b in ((IN, OUT), (OUT, IN))
    )


def _words(function: str) -> frozenset[str]:
    """Of its own name, without its class and arguments: ``lock_free::Queue<T>::push`` pushes."""
    return frozenset(words_of(function.partition("(")[0].rpartition("::")[2]))
