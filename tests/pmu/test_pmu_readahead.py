"""Stretches of a file that are read ahead: the bytes of the file, whatever is asked for next."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pmu.readahead as ahead
from pmu.readahead import ReadAhead

MOST = 400


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(-300, 300), st.integers(0, MOST)), max_size=30),
    st.integers(0, 3000),
    st.sampled_from([0, 8, 64, 1000]),
)
def test_every_stretch_is_what_the_file_has_there(
    tmp_path: Path, steps: list[tuple[int, int]], end: int, overlap: int
) -> None:
    content = bytes(n * 7 % 251 + 1 for n in range(3000))
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "OVERLAP_BYTES", overlap)
        with ReadAhead(path, MOST, end) as file:
            at = 0
            for step, size in steps:
                at = min(max(at + step, 0), end)
                size = min(size, end - at)
                assert bytes(file.read(at, size)) == content[at : at + size]
                at += size


def test_a_file_that_becomes_shorter_ends_in_zeros(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1000)
    with ReadAhead(path, MOST, 1000) as file:
        file.read(0, MOST)
        with path.open("r+b") as other:
            other.truncate(500)
        file.read(MOST, MOST)
        assert bytes(file.read(2 * MOST, 200)) == bytes(200)
