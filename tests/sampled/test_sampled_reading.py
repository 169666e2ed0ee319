"""Profiles are read while the binary is judged, and say what is wrong with them when their turn comes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from linemate.sampled import reading
from linemate.sampled.reading import Profiles
from sharing.model.errors import LinemateError

TABLE = "address,ip,tid\n0x5000,0x1000,7\n"


def test_a_profile_is_read_once_and_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    read, threads = reading.read_samples, []

    def noted(path: str, most: int) -> object:
        threads.append(threading.current_thread())
        return read(path, most=most)

    monkeypatch.setattr(reading, "read_samples", noted)
    path = str(tmp_path / "a.csv")
    profiles = Profiles([path, path])
    assert profiles.read(path) is profiles.read(path)
    assert len(profiles.read(path).samples) == 1
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()
    (tmp_path / "b.csv").write_text(TABLE)
    assert len(profiles.read(str(tmp_path / "b.csv")).samples) == 1, "one that nobody announced"
    assert threads[1:] == [threading.current_thread()]


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize(("text", "why"), [(None, "No such file"), ("address,ip,tid\n", "holds no samples")])
def test_what_is_wrong_with_a_profile_is_said_when_it_is_asked_for(
    tmp_path: Path, text: str | None, why: str, announced: bool
) -> None:
    path, fine = tmp_path / "a.csv", tmp_path / "fine.csv"
    fine.write_text(TABLE)
    if text is not None:
        path.write_text(text)
    profiles = Profiles([str(path), str(fine)] if announced else [])
    assert len(profiles.read(str(fine)).samples) == 1
    with pytest.raises(LinemateError, match=why):
        profiles.read(str(path))
