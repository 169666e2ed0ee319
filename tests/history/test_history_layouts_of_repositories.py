"""Repositories as people have them: with submodules, cut off, built elsewhere, with several programs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from sharing.model.errors import LinemateError
from sharing.model.history import RevisionState
from tests.history.conftest import COPY, Repository, RunHistory, builds_made, repository_at

READS = 'cat lib/answer lib/deep/word >> "$BUILDS" && cp "$PROGRAM" server'


@pytest.fixture
def nested(tmp_path: Path) -> Repository:
    """Two commits; the second takes another commit of the submodule ``lib``, which has the submodule ``deep``."""
    deep = repository_at(tmp_path / "deep.git")
    deep.commit("Begin", word="deep\n")
    lib = repository_at(tmp_path / "lib.git")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    lib.commit("Begin", answer="41\n")
    lib.git(*add, str(deep.path), "deep")
    lib.commit("Depend")
    made = repository_at(tmp_path / "main")
    made.commit("Begin", note="0\n")
    made.git(*add, "--name", "the library", str(lib.path), "lib")
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
    made.commit("Depend")
    lib.commit("Know it", answer="42\n")
    inside = Repository(made.path / "lib")
    inside.git("fetch", "--quiet")
    inside.git("checkout", "--quiet", "origin/main")
    made.commit("Take the new library")
    return made


def test_submodules_are_as_each_revision_has_them(run_history: RunHistory, nested: Repository) -> None:
    before = nested.state()
    found = run_history(nested, "HEAD~1..HEAD", build=READS)
    assert [r.state for r in found.revisions] == [RevisionState.BUILT] * 2
    assert Path(os.environ["BUILDS"]).read_text().split() == ["41", "deep", "42", "deep"]
    assert nested.state() == before


def test_a_submodule_that_is_not_at_hand_is_named_where_the_build_fails(
    run_history: RunHistory, nested: Repository
) -> None:
    shutil.rmtree(nested.path / ".git/modules/the library/modules")
    why = [r.why for r in run_history(nested, "HEAD~1..HEAD", build=READS).revisions]
    assert all("submodules that the repository does not hold: lib/deep at " in text for text in why)
    # The near miss: a build that does without is none of its matter.
    found = run_history(nested, "HEAD~1..HEAD", build=f"cat lib/answer; {COPY}")
    assert not found.incomplete


def test_a_name_that_leads_elsewhere_is_no_submodule(run_history: RunHistory, nested: Repository) -> None:
    modules = nested.path / ".gitmodules"
    modules.write_text(modules.read_text().replace("the library", "../../elsewhere"))
    nested.commit("Point elsewhere")
    why = run_history(nested, "HEAD~1..HEAD", build="cat lib/answer").revisions[-1].why
    assert why.startswith("the build ended with")


def test_a_shallow_clone_is_built_as_far_as_it_goes(
    run_history: RunHistory, copies: Repository, tmp_path: Path
) -> None:
    copies.git("clone", "--quiet", "--depth", "3", f"file://{copies.path}", str(tmp_path / "shallow"))
    shallow = Repository(tmp_path / "shallow")
    assert not run_history(shallow, "HEAD~2..HEAD").incomplete
    for revisions in ("HEAD~5..HEAD", f"{copies.git('rev-parse', 'HEAD~5').strip()}..HEAD"):
        with pytest.raises(LinemateError, match="this clone is shallow, git fetch --unshallow gets the rest"):
            run_history(shallow, revisions)
    with pytest.raises(LinemateError, match=r"git knows no commit 'nope'$"):
        run_history(copies, "nope..HEAD")


def test_a_build_in_a_folder_of_its_own_is_found_below_the_copy(run_history: RunHistory, copies: Repository) -> None:
    found = run_history(
        copies, "HEAD~1..HEAD", build=f"mkdir -p out/bin && {COPY} && mv server out/bin", binary="out/bin/server"
    )
    assert not found.incomplete


def test_a_build_outside_of_the_copy_is_told_to_copy(
    run_history: RunHistory, copies: Repository, tmp_path: Path
) -> None:
    outside = f'mkdir -p {tmp_path}/out && cp "$PROGRAM" {tmp_path}/out/server && ln -s {tmp_path}/out/server server'
    found = run_history(copies, "HEAD~1..HEAD", build=outside)
    assert {r.why for r in found.revisions} == {
        f"server leads out of the copy that was built: let --build copy {tmp_path}/out/server there"
    }
    with pytest.raises(LinemateError, match="below the top of the repository; a build elsewhere copies it there"):
        run_history(copies, "HEAD~1..HEAD", binary=f"{tmp_path}/out/server")


def test_several_binaries_take_one_build(run_history: RunHistory, copies: Repository) -> None:
    build = f"{COPY} && cp server client"
    assert not run_history(copies, "HEAD~2..HEAD", build=build, others=("client", "nothing")).incomplete
    made = builds_made()
    assert not run_history(copies, "HEAD~2..HEAD", build=build, binary="client").incomplete
    found = run_history(copies, "HEAD~2..HEAD", build=build, binary="nothing")
    assert {r.why for r in found.revisions} == {"the build made no nothing"}
    assert builds_made() == made


def test_bisection_measures_no_build_that_loads_what_an_end_loads(
    run_history: RunHistory, copies: Repository, tmp_path: Path
) -> None:
    """Of eight commits the sixth changes a name that is loaded, and is slower; others change a note in the file."""
    for number in (6, 7):
        copies.commit(f"Note {number}", note=f"{number}\n")
    measured = tmp_path / "measured"
    other = "sed -i s/__libc_start_main/__libc_start_mail/ server"
    build = f'cp "$PROGRAM" server && if test $(cat note) -ge 5; then {other}; fi'
    build += " && objcopy --add-section .comment.of=note server"
    bench = f"cat note >> {measured}; if test $(cat note) -ge 5; then echo qps 90; else echo qps 100; fi"
    found = run_history(copies, "HEAD~7..HEAD", bisect=True, build=build, bench=bench, metric="qps", rounds=4)
    assert found.bisection is not None
    assert found.revisions[found.bisection.suspects[0]].subject == "Note 5"
    assert set(measured.read_text().split()) == {"0", "7"}
    assert any(words == "loads the same bytes as the old end" for _, words in found.bisection.tested)


@pytest.mark.parametrize(("bench", "words"), [
    ("echo qps 100", "; both load the same bytes"),
    ("echo qps $((100 - $(cat note)))", "which load the same bytes: what differs is outside of server"),
])  # fmt: skip
def test_ends_that_load_the_same_bytes_are_said_to(
    run_history: RunHistory, copies: Repository, bench: str, words: str
) -> None:
    found = run_history(copies, "HEAD~5..HEAD", bisect=True, bench=bench, metric="qps", rounds=4)
    assert found.bisection is not None
    assert found.bisection.words.endswith(words)
