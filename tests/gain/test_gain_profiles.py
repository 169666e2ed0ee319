"""Which of the files beside a profile say what a line costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from linemate.sampled.gains import GainsOf, without_solo
from linemate.sampled.sidecars import sidecar_beside
from pmu.sidecar import sidecar_of, solo_of, write_sidecar
from sharing.model.attribution import Attribution
from sharing.model.errors import Malformed
from sharing.model.image import Image
from sharing.model.recorded import Recording
from sharing.sampled.lineuse.blame import items_of
from sharing.sampled.speedup.gain import Gain
from tests.builders.image import Builder
from tests.builders.levels import LINE, Spent, level, lines_of
from tests.builders.recordings import recording

SPREAD = [Spent(t, "f", 0x1000 + 16 * i, 0.25, i and LINE + 8 * t) for t in (0, 1) for i in (0, 1)]
ALONE = [Spent(t, "f", 0x1000 + 16 * i, 0.05 if i else 0.25, i and LINE + 8 * t) for t in (0, 1) for i in (0, 1)]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "p.data"
    path.touch()
    solo_of(path).touch()
    return path


def estimate(profile: Path, image: Image | None = None) -> tuple[Gain, list[str]]:
    """What the files around a profile say of its line, and the notes."""
    one = level(SPREAD).attribution
    run = lines_of(level(SPREAD))

    def place(path: str) -> Attribution:
        assert Path(path) == solo_of(profile)
        return level(ALONE, solo=True).attribution

    gains = GainsOf([sidecar_beside(str(profile))], [one], [run], place, image)
    gain = gains([(run.lines[0], items_of(run.lines[0]))])
    assert gain is not None
    return gain, gains.notes


def test_the_run_on_one_processor_is_found_beside_its_profile(profile: Path) -> None:
    write_sidecar(sidecar_of(profile), recording())
    gain, notes = estimate(profile)
    assert gain.ratio == pytest.approx(0.5 / 0.3, rel=0.02)
    assert notes == []


def test_runs_without_samples_say_how_long_a_level_takes(profile: Path) -> None:
    # Samples broke the step of the threads: in other runs they take three times as long.
    made = recording()
    slow = msgspec.structs.replace(made.runs[0], wall_s=1.5, user_s=3.0)
    runs = (*made.runs, slow, made.runs[1])
    write_sidecar(sidecar_of(profile), msgspec.structs.replace(made, runs=runs))
    gain, _ = estimate(profile)
    assert gain.ratio == pytest.approx(1.5 / 0.3, rel=0.02)


@pytest.mark.parametrize(("walls_s", "known"), [((0.5, 0.505, 0.497), False), ((0.5, 0.62, 0.44), True)])
def test_equal_times_of_two_runs_are_a_fixed_time_only_where_all_runs_take_it(
    profile: Path, walls_s: tuple[float, ...], known: bool
) -> None:
    made = recording()
    spread, solo = made.runs[0], msgspec.structs.replace(made.runs[1], wall_s=0.5, user_s=0.46)
    runs = spread, solo, *(msgspec.structs.replace(one, wall_s=s) for s in walls_s for one in (spread, solo))
    write_sidecar(sidecar_of(profile), msgspec.structs.replace(made, runs=runs))
    assert (estimate(profile)[0].ratio is not None) is known


@pytest.mark.parametrize(
    ("imports", "path", "known"),
    [
        ({"pthread_create"}, "/bin/p", True),
        ({"pthread_create", "clock_gettime"}, "/bin/p", False),
        ({"pthread_create"}, "/bin/started_by_a_script", False),  # which may say when to end
    ],
)
def test_equal_times_are_chance_where_the_program_cannot_end_by_time(
    profile: Path, imports: set[str], path: str, known: bool
) -> None:
    made = recording()
    spread, solo = made.runs[0], msgspec.structs.replace(made.runs[1], wall_s=0.5, user_s=0.46)
    write_sidecar(sidecar_of(profile), msgspec.structs.replace(made, runs=(spread, solo)))
    image = replace(Builder().image(), path=path, imports=frozenset(imports), needed=("libc.so.6",))
    assert (estimate(profile, image)[0].ratio is not None) is known


def test_a_profile_of_another_tool_gives_a_bound(profile: Path) -> None:
    assert estimate(profile)[0].ratio is None


def test_a_recording_of_one_level_gives_a_bound_without_a_note(profile: Path) -> None:
    write_sidecar(sidecar_of(profile), recording(solo=False))
    gain, notes = estimate(profile)
    assert (gain.ratio, notes) == (None, [])


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (recording(cpus=(0, 1)), "left it"),
        (recording(status=1), "failed"),
    ],
)
def test_a_run_that_is_no_comparison_is_refused_with_a_note(profile: Path, facts: Recording, why: str) -> None:
    write_sidecar(sidecar_of(profile), facts)
    gain, notes = estimate(profile)
    assert gain.ratio is None
    assert len(notes) == 1
    assert why in notes[0]


def test_a_run_that_was_kept_on_its_processor_counts_and_is_said(profile: Path) -> None:
    write_sidecar(sidecar_of(profile), msgspec.structs.replace(recording(), affinity_ignored=True))
    gain, notes = estimate(profile)
    assert gain.measured
    assert len(notes) == 1
    assert "binds its threads to was ignored" in notes[0]


def test_a_missing_run_on_one_processor_is_said(profile: Path) -> None:
    write_sidecar(sidecar_of(profile), recording())
    solo_of(profile).unlink()
    gain, notes = estimate(profile)
    assert gain.ratio is None
    assert "p.data.solo" in notes[0]


def test_the_sidecar_of_another_recording_is_refused_with_a_note(profile: Path) -> None:
    write_sidecar(sidecar_of(profile), recording())
    profile.write_bytes(b"recorded since")
    gain, notes = estimate(profile)
    assert gain.ratio is None
    assert "another recording" in notes[0]


def test_a_file_of_that_name_that_is_no_sidecar_is_left_alone(profile: Path) -> None:
    sidecar_of(profile).write_text("{}")
    gain, notes = estimate(profile)
    assert (gain.ratio, notes) == (None, [])


def test_a_broken_sidecar_is_refused(profile: Path) -> None:
    broken = msgspec.structs.replace(recording(), target="nobody")
    write_sidecar(sidecar_of(profile), broken)
    with pytest.raises(Malformed):
        estimate(profile)


def test_a_run_on_one_processor_is_not_searched_for_sharing(profile: Path) -> None:
    solo = str(solo_of(profile))
    assert without_solo([str(profile), solo]) == [str(profile), solo]  # no sidecar: nothing says what it is
    write_sidecar(sidecar_of(profile), recording())
    assert without_solo([str(profile), solo]) == [str(profile)]
    assert without_solo([solo]) == [solo]  # asked for alone, it is what the user wants to see


@pytest.mark.parametrize(("background_s", "crowded"), [(0.1, False), (0.4, True)])
def test_threads_that_others_left_too_little_had_to_take_turns(
    profile: Path, background_s: float, crowded: bool
) -> None:
    made = recording(solo=False)
    runs = (msgspec.structs.replace(made.runs[0], background_s=background_s),)
    write_sidecar(sidecar_of(profile), msgspec.structs.replace(made, runs=runs))
    assert sidecar_beside(str(profile)).crowded is crowded


def test_what_others_took_is_not_known_without_a_sidecar(profile: Path) -> None:
    assert not sidecar_beside(str(profile)).crowded
