"""Findings on objects of the heap that threads share: a static pointer leads to it, or their argument.

Owns the passes on the image of these objects (``sharing.static.heapimage``), and what is said of them besides what the
rules of lines say: an object on the heap is at an address of which only the alignment is known.
"""

from __future__ import annotations

import dataclasses

import msgspec

from sharing.judge import positions
from sharing.judge.passes import Profiled
from sharing.model.finding import OF_SHARING, Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.rules.line.base import Context, Draft, LineRule
from sharing.static import correlate, flow
from sharing.static.handedobjects import told_apart
from sharing.static.heapimage import ReadRecords, heap_image
from sharing.static.heaprecords import HeapRecord, heap_records

MOST = Severity.MEDIUM  # who else has the pointer is not known


class OnHeap(msgspec.Struct, frozen=True):
    """Drafts on such objects, and from what they are made."""

    drafts: list[Draft]
    profiled: Profiled
    context: Context


def on_heap(profiled: Profiled, rules: list[LineRule], lines: tuple[int, int], read: ReadRecords) -> OnHeap | None:
    """What the rules say of them; None where the image has none.  ``lines``: bytes of a line, and of a pair of them."""
    passes = profiled.passes
    entries = [root.function for root in passes.calls.roots if root.function >= 0 and root.name != "main"]
    told = told_apart(passes.image, passes.knowledge, entries)
    records = heap_records(told, passes.calls, passes.demangle)
    if not records:
        return None
    image, by_name = heap_image(told, records, read)
    if not by_name:
        return None
    locks = flow.lock_calls(image, passes.knowledge)
    sites = correlate.all_sites(image, passes.knowledge)
    every = correlate.collect_accesses(image, passes.calls, sites, locks.events)
    first = len(passes.image.variables)
    mine = every.take(every.variable >= first)
    heap = dataclasses.replace(passes, image=image, locks=locks, sites=sites, accesses=mine, limits=profiled.limits)
    if not len(mine.sites):
        return None
    joined = heap.profiled()
    context = joined.context(*lines)
    drafts = positions.run(joined.profiler, mine, joined.table, context, rules, limits=True)
    drafts = [_worded(d, by_name) for d in drafts if _is_of_members(d) or _is_of_elements(d)]
    return OnHeap(drafts, joined, context)


def _is_of_members(draft: Draft) -> bool:
    """Whether it says that two members of one object disturb each other."""
    pair = draft.actors[:2]
    return (
        draft.verdict in OF_SHARING
        and len(pair) == 2
        and all(actor.section == ALLOCATED for actor in pair)
        and pair[0].owner == pair[1].owner
    )


def _is_of_elements(draft: Draft) -> bool:
    """Whether it says that threads disturb each other, each in an element of its own of one array."""
    (first, *more) = draft.actors
    return draft.verdict is Verdict.FALSE_SHARING and not more and first.section == ALLOCATED


def _worded(draft: Draft, by_name: dict[str, HeapRecord]) -> Draft:
    record = by_name[draft.actors[0].owner]
    return dataclasses.replace(
        draft,
        severity=min(draft.severity, MOST, key=lambda severity: severity.rank),
        evidence=(*draft.evidence, f"the object is {record.where}"),
    )
