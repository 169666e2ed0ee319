"""Files: `record` loses none that it did not write, and a recording is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmu import read_samples
from pmu.profilefile import digest, replacing
from pmu.sidecar import read_sidecar, sidecar_of, solo_of
from sharing.model.errors import LinemateError

Run = Callable[..., tuple[int, str, str]]
CLOCK = {"type": 1, "config": 0, "samples": 3, "regs": True}


@pytest.fixture
def out(tmp_path: Path, fake_perf: Any) -> Path:
    """Where to record to, in a folder of its own, with a perf that has a clock."""
    fake_perf.says({"cpu-clock": CLOCK, "cpu-clock:u": CLOCK})
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / "profile"


def names(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir())


def test_a_recording_is_a_profile_and_its_sidecar_and_nothing_else(out: Path, linemate: Run) -> None:
    code, _, said = linemate("record", "-o", out, "--", "true")
    assert code == 0, said
    assert names(out) == ["profile", "profile.json"]
    row = read_sidecar(sidecar_of(out)).profiles[0]
    assert (row.file, row.samples, row.sha256) == ("profile", 3, digest(out))
    assert len(read_samples(out).samples) == 3


def test_a_recording_replaces_an_earlier_one_of_its_own(out: Path, linemate: Run, fake_perf: Any) -> None:
    assert linemate("record", "-o", out, "--", "true")[0] == 0
    fake_perf.says({"cpu-clock": CLOCK | {"samples": 5}})
    assert linemate("record", "-o", out, "--", "true")[0] == 0
    assert read_sidecar(sidecar_of(out)).profiles[0].samples == 5


def test_what_is_no_profile_stays(out: Path, linemate: Run, tmp_path: Path) -> None:
    out.write_text("notes")
    code, _, said = linemate("record", "-o", out, "--", "touch", tmp_path / "ran")
    assert code == 2
    assert "not a profile" in said
    assert out.read_text() == "notes"
    assert names(out) == ["profile"]
    assert not (tmp_path / "ran").exists(), "refused before the command runs"


def test_a_profile_of_someone_else_stays(out: Path, linemate: Run) -> None:
    linemate("record", "-o", out, "--", "true")
    sidecar_of(out).unlink()
    before = out.read_bytes()
    code, _, said = linemate("record", "-o", out, "--", "true")
    assert code == 2
    assert "a profile, and not as linemate record wrote it" in said
    assert out.read_bytes() == before


@pytest.mark.parametrize("change", [lambda data: data + b"x", lambda data: data[:-1] + b"x"])
def test_a_recording_that_was_changed_since_stays(out: Path, linemate: Run, change: Callable[[bytes], bytes]) -> None:
    linemate("record", "-o", out, "--", "true")
    changed = change(out.read_bytes())
    out.write_bytes(changed)
    assert linemate("record", "-o", out, "--", "true")[0] == 2
    assert out.read_bytes() == changed


def test_a_file_where_the_sidecar_goes_stays(out: Path, linemate: Run) -> None:
    sidecar_of(out).write_text('{"mine": 1}')
    code, _, said = linemate("record", "-o", out, "--", "true")
    assert code == 2
    assert "profile.json: not written by linemate record" in said
    assert sidecar_of(out).read_text() == '{"mine": 1}'
    assert names(out) == ["profile.json"]


def test_a_file_where_the_solo_profile_goes_stays(out: Path, linemate: Run) -> None:
    solo_of(out).write_text("mine")
    assert linemate("record", "-o", out, "--solo", "--", "true")[0] == 2
    assert solo_of(out).read_text() == "mine"


def test_but_is_not_in_the_way_of_a_recording_without_one(out: Path, linemate: Run) -> None:
    solo_of(out).write_text("mine")
    assert linemate("record", "-o", out, "--", "true")[0] == 0
    assert solo_of(out).read_text() == "mine"


def test_a_solo_profile_goes_with_the_recording_that_it_belongs_to(out: Path, linemate: Run) -> None:
    assert linemate("record", "-o", out, "--solo", "--", "true")[0] == 0
    assert names(out) == ["profile", "profile.json", "profile.solo"]
    assert linemate("record", "-o", out, "--", "true")[0] == 0
    assert names(out) == ["profile", "profile.json"]


def test_a_link_is_not_followed(out: Path, linemate: Run, tmp_path: Path) -> None:
    target = tmp_path / "target"
    out.symlink_to(target)
    assert linemate("record", "-o", out, "--", "true")[0] == 2
    assert out.is_symlink()
    assert not target.exists()


@pytest.mark.parametrize("where", ["", "nowhere/profile"])
def test_a_place_that_cannot_be_written_is_said_before_the_command_runs(
    out: Path, linemate: Run, tmp_path: Path, where: str
) -> None:
    code, _, said = linemate("record", "-o", out.parent / where, "--", "touch", tmp_path / "ran")
    assert code == 2
    assert "director" in said
    assert not (tmp_path / "ran").exists()


def test_a_file_that_may_not_be_written_is_named_itself(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with (
        pytest.raises(LinemateError, match=f"^{out}: cannot be written here: Permission denied$"),
        replacing(out, solo=False),
    ):
        pass


@pytest.mark.parametrize("fault", ["dies", "fails_to_attach"])
def test_a_recording_that_fails_leaves_the_earlier_one(out: Path, linemate: Run, fake_perf: Any, fault: str) -> None:
    linemate("record", "-o", out, "--", "true")
    before = {path.name: path.read_bytes() for path in out.parent.iterdir()}
    fake_perf.says({"cpu-clock": CLOCK | {fault: True}})
    code, _, said = linemate("record", "-o", out, "--", "true")
    assert code == 2
    assert ("No space left" if fault == "dies" else "Too many events") in said
    assert {path.name: path.read_bytes() for path in out.parent.iterdir()} == before


def test_a_command_that_does_not_start_leaves_nothing(out: Path, linemate: Run, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("no interpreter line\n")
    script.chmod(0o755)
    code, _, said = linemate("record", "-o", out, "--", script)
    assert code == 2
    assert "could not be started: Exec format error" in said
    assert names(out) == []


def test_perf_leaves_nothing_in_the_home_folder_and_build_ids_in_the_file(
    out: Path, linemate: Run, fake_perf: Any
) -> None:
    linemate("record", "-o", out, "--", "true")
    assert {"-N", "--buildid-mmap"} <= set(fake_perf.recordings()[-1])
    fake_perf.says({"cpu-clock": CLOCK}, buildid_mmap=False)
    linemate("record", "-o", out, "--", "true")
    options = fake_perf.recordings()[-1]
    assert "-N" in options
    assert not {"-B", "--buildid-mmap"} & set(options), "an old kernel: the header has the build-ids"
