"""Which way a metric is better, by the words and units of its name.

Owns the table ``metrics.json`` and how names are read by it: ``p99_ms``, ``ns/op``, ``requests per second``.
A name that says nothing is unknown: whoever asks says so, and never takes a side.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum

import msgspec

from sharing.knowledge import read_table

FEWEST_LETTERS = 4  # of a word that is known at the end of another, as in "cputime"
MAX_NAME = 400  # characters; a longer heading is no name
_WORD = re.compile(r"[A-Z]?[a-zµμ]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|\d+(?:\.\d+)?|/|%")
_PERCENTILE = re.compile(r"\bp(?:50|75|[89]\d(?:[._]?9+)?)(?![0-9a-z])|\b\d\d(?:\.\d+)?(?:th\b| ?%)", re.IGNORECASE)


class Kind(StrEnum):
    """What a metric measures.  Of ``WORK`` more is better, of all others that are known less."""

    WORK = "work done"
    TIME = "time taken"
    TAIL = "tail of a distribution of times"
    CYCLES = "cycles"
    FAILURES = "failures"
    RESOURCES = "what the work used beside time"
    UNKNOWN = "unknown"


class _Words(msgspec.Struct, frozen=True):
    """Words by what they say; ``shares`` are what a rate may be given for, which does not turn it over."""

    seconds: frozenset[str]
    denominators_of_time: frozenset[str]
    time: frozenset[str]
    tail: frozenset[str]
    failures: frozenset[str]
    work: frozenset[str]
    cycles: frozenset[str]
    resources: frozenset[str]
    units_of_work: frozenset[str]
    shares: frozenset[str]
    neutral: frozenset[str]


@functools.cache
def _words() -> _Words:
    return read_table("metrics.json", _Words)


@functools.cache
def _by_kind() -> tuple[tuple[Kind, frozenset[str]], ...]:
    """What decides first stands first: a "query time" is a time, and "memory bandwidth" work."""
    known = _words()
    return (
        (Kind.FAILURES, known.failures),
        (Kind.TAIL, known.tail),
        (Kind.TIME, known.time | known.seconds),
        (Kind.WORK, known.work),
        (Kind.CYCLES, known.cycles),
        (Kind.RESOURCES, known.resources),
    )


@functools.lru_cache(maxsize=4096)
def kind_of_metric(metric: str) -> Kind:
    """What a metric of this name measures."""
    metric = metric[:MAX_NAME]
    words = [word.lower() for word in _WORD.findall(metric)]
    found = _of_words(words)
    if _PERCENTILE.search(metric.replace("_", " ")) and found in (Kind.TIME, Kind.UNKNOWN):
        return Kind.TAIL
    return found


def is_less_better(metric: str) -> bool | None:
    """Whether less is better of a metric; None where its name does not say."""
    kind = kind_of_metric(metric)
    return None if kind is Kind.UNKNOWN else kind is not Kind.WORK


def _ratio(words: list[str]) -> tuple[list[str], str] | None:
    """The words in front of the last "per" that a known unit follows, and that unit."""
    known = _words()
    units = known.seconds | known.denominators_of_time | known.units_of_work | known.shares | {"cycle", "joule", "watt"}
    for at in range(len(words) - 2, -1, -1):
        if words[at] in ("/", "per") and words[at + 1] in units:
            return words[:at], words[at + 1]
    return None


def _of_ratio(words: list[str], unit: str) -> Kind:
    known = _words()
    found = _of_words(words)
    if unit in known.seconds | known.denominators_of_time:
        # What is counted for each second is work, but for failures, and for what hardware counts whatever is done.
        unclear = {Kind.CYCLES: Kind.UNKNOWN, Kind.RESOURCES: Kind.UNKNOWN, Kind.FAILURES: Kind.FAILURES}
        return unclear.get(found, Kind.WORK)
    if unit in known.units_of_work and found is Kind.UNKNOWN and set(words) & {"b", "bytes", "kb"}:
        return Kind.RESOURCES
    if unit in known.shares or unit in ("joule", "watt") or found not in (Kind.WORK, Kind.RESOURCES):
        return found
    # Work for each unit of work, or instructions for each cycle, may be better either way.
    return found if found is Kind.RESOURCES and unit in known.units_of_work else Kind.UNKNOWN


def _of_words(words: list[str]) -> Kind:
    parts = _ratio(words)
    if parts is not None:
        return _of_ratio(*parts)
    words = [word for word in words if word not in _words().neutral]
    for kind, known in _by_kind():
        if not known.isdisjoint(words):
            return kind
    for kind, known in _by_kind():
        ends = tuple(word for word in known if len(word) >= FEWEST_LETTERS)
        if any(word.endswith(ends) for word in words):
            return kind
    return Kind.UNKNOWN
