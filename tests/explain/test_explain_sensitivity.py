"""Which pairs another insertion would join or part: table_cache's own, in each of its layouts."""

from __future__ import annotations

from pathlib import Path

from reports.explain.wording import sensitive
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


def test_a_move_that_an_alignment_may_absorb_is_a_guess(table_cache: BuildTableCache) -> None:
    """A lock at a multiple of 64 may have to be there; one at an odd multiple of 32 has not."""
    slow = table_cache("-DEXTRA_SYSVAR")
    for program in (table_cache(), slow):
        image, found = read(program), of(program)[PAIR]
        lock = next(v for v in image.variables if image.names[v["name"]] == "LOCK_open")
        assert found.guessed == (int(lock["address"]) % 64 == 0)
        assert ("could" in sensitive(found)) == found.guessed
