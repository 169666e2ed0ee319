"""The sidecar: it comes back as it was written, and a hostile one is refused in one line."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmu.sidecar import read_sidecar, write_sidecar
from sharing.model.errors import LinemateError, Malformed, Unrecognized
from sharing.model.recorded import SCHEMA, Recording

SHA = "0" * 64


def document() -> dict[str, Any]:
    """A recording of two levels with a metric and its overhead."""
    run = {
        "cpus": [0, 1],
        "wall_s": 1.0,
        "user_s": 0.5,
        "system_s": 0.1,
        "background_s": 0.0,
        "status": 0,
        "metric": 5.0,
    }
    profile = {"size_bytes": 10, "sha256": SHA, "samples": 3, "lost_samples": 0, "cpus_seen": [0]}
    return {
        "schema": SCHEMA,
        "linemate": "0.1.0",
        "perf": "6.1.0",
        "kernel": "6.12",
        "architecture": "x86_64",
        "line_bytes": 64,
        "target": "command",
        "command": ["./bench"],
        "pid": None,
        "wall_s": 1.0,
        "interrupted": False,
        "event": {
            "name": "cpu-clock",
            "events": ["cpu-clock"],
            "addresses": "derived",
            "shows": "s",
            "cannot_show": "h",
            "frequency_hz": 499,
            "period": 0,
            "modes": "both",
        },
        "refused": [{"name": "amd-ibs", "why": "no"}],
        "profiles": [
            profile | {"level": "spread", "file": "p", "run": 0},
            profile | {"level": "solo", "file": "p.solo", "run": 1},
        ],
        "metric": "ops",
        "runs": [run | {"level": "spread"}, run | {"level": "solo", "cpus": [1]}],
        "overhead": [
            {
                "figure": "ops",
                "more_is_better": True,
                "without": [5.0],
                "with_perf": [4.9],
                "cost": 0.02,
                "low": 0.02,
                "high": 0.02,
                "repeated": 0,
                "disturbed": 0,
            }
        ],
        "heap": {"file": "p.heap", "size_bytes": 64, "sha256": SHA, "noted": 2, "left_out": 0},
    }


def read(tmp_path: Path, value: Any) -> Recording:
    path = tmp_path / "p.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return read_sidecar(path)


def put(value: Any, path: str, new: Any) -> Any:
    *parents, last = path.split(".")
    inner = value
    for name in parents:
        inner = inner[int(name)] if name.isdecimal() else inner[name]
    inner[last] = new
    return value


def test_it_comes_back_as_it_was_written(tmp_path: Path) -> None:
    recording = read(tmp_path, document())
    write_sidecar(tmp_path / "again.json", recording)
    assert read_sidecar(tmp_path / "again.json") == recording
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "p.json"]
    solo = recording.profile("solo")
    assert solo is not None
    assert solo.file == "p.solo"
    assert recording.runs[solo.run].cpus == (1,)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("target", "cluster"),
        ("line_bytes", 63),
        ("line_bytes", -64),
        ("line_bytes", 1 << 70),
        ("wall_s", -1),
        ("wall_s", "1"),
        ("event.addresses", "guessed"),
        ("event.modes", "idle"),
        ("event.frequency_hz", -1),
        ("profiles.0.level", "other"),
        ("profiles.0.level", "solo"),
        ("profiles.0.file", "../p"),
        ("profiles.0.file", "/etc/passwd"),
        ("profiles.0.file", ".."),
        ("profiles.0.file", ""),
        ("profiles.0.file", "a\0b"),
        ("profiles.0.sha256", "0" * 63 + "G"),
        ("profiles.0.samples", -1),
        ("profiles.0.run", 2),
        ("profiles.0.run", 1),
        ("runs.0.level", "duo"),
        ("runs.0.user_s", -0.1),
        ("runs.0.metric", "many"),
        ("runs.0.transfer_ns", [0]),
        ("runs.0.transfer_ns", 25.0),
        ("transfers_ns", [-1.0, 25.0]),
        ("metric", ""),
        ("overhead.0.with_perf", []),
        ("overhead.0.low", 0.5),
        ("heap.file", "../p.heap"),
        ("heap.sha256", ""),
        ("heap.noted", -1),
        ("heap", {"file": "p.heap"}),
        ("unknown", 1),
        ("command", None),
    ],
)
def test_a_value_that_cannot_be_is_malformed(tmp_path: Path, path: str, value: Any) -> None:
    with pytest.raises(Malformed):
        read(tmp_path, put(document(), path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("target", "machine"),
        ("line_bytes", 0),
        ("line_bytes", 128),
        ("event.addresses", "measured"),
        ("profiles.0.file", "a name with spaces\n"),
        ("runs.0.metric", None),
        ("runs.0.status", -11),
        ("runs.0.transfer_ns", [25.5, 150.25]),
        ("transfers_ns", [25.5, 150.25]),
        ("overhead", []),
        ("heap", None),
    ],
)
def test_and_one_that_can_be_is_not(tmp_path: Path, path: str, value: Any) -> None:
    assert read(tmp_path, put(document(), path, value)).schema == SCHEMA


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b'{"schema": "linemate-recording-9"}',
        b'{"schema": 1}',
        b"[" * 100_000,
        b"1" * 5000,
    ],
)
def test_what_is_no_sidecar_is_not_recognized(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Unrecognized):
        read(tmp_path, data)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "p.json").open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(Unrecognized, match="at most"):
        read_sidecar(tmp_path / "p.json")


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_broken_bytes_raise_nothing_else(tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(json.dumps(document()).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(LinemateError):
        assert isinstance(read(tmp_path, bytes(raw)), Recording)
