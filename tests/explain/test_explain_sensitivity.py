"""Which pairs another insertion would join or part: table_cache's own, in each of its layouts."""

from __future__ import annotations

from pathlib import Path

from sharing.explain.activity import observe
from sharing.explain.sensitivity import sensitivities
from sharing.knowledge import default_knowledge
from sharing.model.comparison import Sensitivity
from tests.explain.conftest import BuildTableCache, read


def of(program: Path, line_size: int = 64) -> dict[tuple[str, str], Sensitivity]:
    activity = observe(read(program), default_knowledge(), line_size, 2 * line_size, lambda names: names)
    return {(s.first, s.second): s for s in sensitivities(activity, line_size)}


PAIR = ("LOCK_open.m_mutex", "unused_tables.first")


def test_the_fast_layout_is_one_insertion_from_the_slow_one(table_cache: BuildTableCache) -> None:
    """gcc aligns to 32: of two places in a line the pair is apart at one, and 32 more bytes join it."""
    found = of(table_cache())[PAIR]
    assert (found.together, found.possible, found.step, found.now, found.next_shift) == (1, 2, 32, False, 32)
    assert found.hot


def test_the_slow_layout_is_one_insertion_from_the_fast_one(table_cache: BuildTableCache) -> None:
    found = of(table_cache("-DEXTRA_SYSVAR"))[PAIR]
    assert (found.together, found.possible, found.now, found.next_shift) == (1, 2, True, 32)


def test_no_insertion_joins_the_padded_pair(table_cache: BuildTableCache) -> None:
    assert PAIR not in of(table_cache("-DEXTRA_SYSVAR", "-DPADDED"))
