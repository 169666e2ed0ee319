"""Atomics in code that no thread reaches say nothing about how many threads use an object.

A library offers an atomic and a plain way to count; the program that calls the plain one alone does so from one thread.
"""

from __future__ import annotations

import pytest

from sharing.model.profile import Access, Actor, Role


@pytest.mark.parametrize(("roots", "expected"), [(0b11, True), (0, False)])
def test_only_reached_atomics_make_an_object_shared(roots: int, expected: bool) -> None:
    plain = Access("record", 100.0, 0b11, True, True, False, False)
    atomic = Access("record_atomic", 1.0, roots, True, True, True, False)
    actor = Actor("total", "histogram", (0, 8), (0, 8), ((0, 8),), Role.COUNTER, accesses=(plain, atomic))
    assert actor.synchronised is expected
