"""How long a line takes between processors: measured by a helper, kept from one recording to the next."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from linemate.recording.transfers import seen_transfers
from pmu import transfers
from pmu.transfers import transfer_ns
from tests.builders.recordings import recording

BOOT = "0f0e0d0c-1111-2222-3333-444455556666\n"


@pytest.fixture
def boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that started, with an empty cache."""
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "boot_id"
    path.write_text(BOOT)
    return path


def seen(boot: Path, *taken_ns: float) -> tuple[float, ...]:
    return seen_transfers([msgspec.structs.replace(recording().runs[0], transfer_ns=taken_ns)], boot)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a line travels between two processors")
def test_a_line_takes_some_time_from_one_processor_to_another() -> None:
    own = sorted(os.sched_getaffinity(0))
    # Where others keep both busy the two may never run at one time.
    taken = [ns for _ in range(20) if (ns := transfer_ns(own)) > 0]
    assert taken, "never in twenty tries"
    assert all(1 < ns < 20_000 for ns in taken)


def test_one_processor_hands_nothing_over() -> None:
    assert transfer_ns([0]) == transfer_ns([]) == 0


def test_a_processor_that_is_not_ours_is_unknown() -> None:
    assert transfer_ns([0, 1023]) == 0


def test_where_the_helper_is_not_built_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "TOOL", "linemate-nothing")
    assert transfer_ns(sorted(os.sched_getaffinity(0))) == 0


def test_the_shortest_and_longest_of_all_recordings_since_the_machine_started_are_kept(boot: Path) -> None:
    assert seen(boot, 30.0, 25.0) == (25.0, 30.0)
    assert seen(boot, 150.0) == (25.0, 150.0)
    assert seen(boot, 31.0) == (25.0, 150.0)
    boot.write_text(BOOT.replace("0f", "1f"))
    assert seen(boot, 31.0) == (31.0, 31.0), "it may be another machine by now"


def test_nothing_is_said_of_a_recording_in_which_nothing_was_measured(boot: Path) -> None:
    seen(boot, 25.0)
    assert seen(boot) == ()


@pytest.mark.parametrize("kept", [b"", b"[1]", b"[0, -1]", b"[1e999, 2]", b"\xff", b"[" * 4000, b'{"a": 1}'])
def test_what_is_kept_and_cannot_be_is_left_aside(boot: Path, tmp_path: Path, kept: bytes) -> None:
    seen(boot, 25.0)
    (tmp_path / "cache" / "transfers" / BOOT.strip()).write_bytes(kept)
    assert seen(boot, 30.0) == (30.0, 30.0)
