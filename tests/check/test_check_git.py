"""Git is asked, never changed: revisions, what differs, and the cached copy of a base tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linemate.checking import gitbase
from linemate.checking.gitbase import Repository, base_tree, find_repository, link_into
from sharing.model import LinemateError
from tests.check.repositories import Project, make_project


@pytest.fixture
def repository(project: Project) -> Repository:
    project.commit({"a.c": "int a;\n", "sub/b.h": "int b;\n", "gone.c": "int gone;\n"})
    found = find_repository(str(project.top))
    assert found is not None
    return found


def test_a_repository_is_found_from_any_folder_in_it(project: Project, repository: Repository) -> None:
    assert repository.top == str(project.top)
    assert find_repository(str(project.top / "sub")) == repository
    assert find_repository("/") is None


@pytest.mark.parametrize("revision", ["HEAD", "main", "HEAD^{commit}", "main@{0}"])
def test_every_name_of_a_commit_is_understood(project: Project, repository: Repository, revision: str) -> None:
    assert repository.resolve(revision) == project.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "revision",
    [
        "",
        "nope",
        "--help",
        "-p",
        "--output=/tmp/x",
        "HEAD:a.c",
        "HEAD..main",
        "a b",
        "$(x)",
        "HEAD\n",
        "x\0y",
        "\udc80",
    ],
    ids=ascii,
)
def test_what_names_no_commit_is_refused_in_one_line(repository: Repository, revision: str) -> None:
    with pytest.raises(LinemateError, match=r"(?s)^--base: ") as refused:
        repository.resolve(revision)
    assert "Traceback" not in str(refused.value)


def test_what_differs_is_seen_committed_or_not(project: Project, repository: Repository) -> None:
    base = repository.resolve("HEAD")
    assert repository.changes(base) == gitbase.Changes(frozenset(), frozenset(), {})
    project.commit({"sub/b.h": "int b2;\n", "new.c": "int other;\n"})
    project.write({"a.c": "int a2;\n"})
    project.git("rm", "-q", "gone.c")
    changes = repository.changes(base)
    assert changes.changed == {"sub/b.h", "new.c", "a.c"}
    assert changes.deleted == {"gone.c"}


def test_a_change_of_equal_length_in_the_same_second_is_seen(project: Project, repository: Repository) -> None:
    """Size and time of the file are those of its entry; git tells it by the time of the index, which is no later."""
    second = (1_700_000_000, 1_700_000_000)
    project.git("config", "core.trustctime", "false")
    project.write({"a.c": "int a1;\n"})
    os.utime(project.top / "a.c", second)
    base = project.commit()
    project.write({"a.c": "int a2;\n"})
    os.utime(project.top / "a.c", second)
    os.utime(project.top / ".git" / "index", second)
    assert repository.changes(base).changed == {"a.c"}


def test_a_renamed_file_is_both_names(project: Project, repository: Repository) -> None:
    base = repository.resolve("HEAD")
    project.git("mv", "a.c", "z.c")
    changes = repository.changes(base)
    assert changes.renamed == {"z.c": "a.c"}
    assert changes.changed == {"z.c"}
    assert changes.deleted == {"a.c"}


@pytest.mark.parametrize(
    "name", ["with space.c", "new\nline.c", "umlaut-ü.c", "tab\t.c", '"quoted".c', "bytes-\udcff.c"]
)
def test_names_of_any_bytes_are_read_back(project: Project, repository: Repository, name: str) -> None:
    base = repository.resolve("HEAD")
    Path(os.fsdecode(os.fsencode(str(project.top / name)))).write_text("int x;\n")
    project.git("add", "--all")
    assert repository.changes(base).changed == {name}


@pytest.mark.parametrize("setting", [("diff.relative", "true"), ("diff.noprefix", "true"), ("diff.external", "false")])
def test_the_users_settings_of_diff_do_not_matter(
    project: Project, repository: Repository, setting: tuple[str, str]
) -> None:
    base = repository.resolve("HEAD")
    project.write({"sub/b.h": "int b2;\n"})
    project.git("config", *setting)
    assert repository.changes(base).changed == {"sub/b.h"}


def test_the_base_tree_is_as_it_was(project: Project, repository: Repository, own_environment: Path) -> None:
    base = repository.resolve("HEAD")
    project.commit({"a.c": "int a2;\n"})
    with base_tree(repository, base, own_environment) as tree:
        assert (tree / "a.c").read_text() == "int a;\n"
        assert (tree / "sub" / "b.h").read_text() == "int b;\n"
        assert not (tree / ".git").exists()
    with base_tree(repository, base, None) as other:
        assert (other / "a.c").read_text() == "int a;\n"
    assert not other.exists()


def test_nothing_of_the_users_repository_changes(
    project: Project, repository: Repository, own_environment: Path
) -> None:
    base = repository.resolve("HEAD")
    project.write({"a.c": "int a2;\n", "untracked.c": ""})
    os.utime(project.top / "sub" / "b.h")  # git would like to refresh its index now
    before = project.state()
    repository.changes(base)
    repository.tracked()
    repository.untracked(ignored=True)
    with base_tree(repository, base, own_environment) as tree:
        link_into(tree, repository.top, ["untracked.c"])
    assert project.state() == before


def test_no_program_that_the_repository_names_is_run(
    project: Project, repository: Repository, own_environment: Path, tmp_path: Path
) -> None:
    base = repository.resolve("HEAD")
    trap = tmp_path / "ran"
    script = tmp_path / "trap"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    hooks = project.top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-checkout").write_text(script.read_text())
    (hooks / "post-checkout").chmod(0o755)
    project.git("config", "core.fsmonitor", str(script))
    project.git("config", "diff.external", str(script))
    project.git("config", "core.pager", str(script))
    repository.changes(base)
    with base_tree(repository, base, own_environment):
        pass
    assert not trap.exists()


def test_a_tree_is_made_once_and_the_oldest_are_dropped(
    project: Project, repository: Repository, own_environment: Path
) -> None:
    commits = [project.commit({"a.c": f"int a{number};\n"}) for number in range(gitbase.KEPT_TREES + 2)]
    places = []
    for age, commit in enumerate(commits):
        with base_tree(repository, commit, own_environment) as tree:
            (tree / "mark").write_text("made before")
            places.append(tree)
        lock = tree.with_name(f"{commit}.lock")
        os.utime(lock, (1_000_000 + age, 1_000_000 + age))
    with base_tree(repository, commits[-1], own_environment) as tree:
        assert (tree / "mark").exists()
    assert [place.exists() for place in places] == [False, False] + [True] * gitbase.KEPT_TREES


def test_two_repositories_do_not_share_a_tree(repository: Repository, tmp_path: Path, own_environment: Path) -> None:
    other = make_project(tmp_path / "other")
    other.commit({"a.c": "int other;\n"})
    twin = find_repository(str(other.top))
    assert twin is not None
    with (
        base_tree(repository, repository.resolve("HEAD"), own_environment) as first,
        base_tree(twin, twin.resolve("HEAD"), own_environment) as second,
    ):
        assert (first / "a.c").read_text() != (second / "a.c").read_text()


def test_a_tree_that_could_not_be_made_leaves_nothing(
    repository: Repository, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LinemateError("disk full")

    monkeypatch.setattr(Repository, "export", fail)
    with (
        pytest.raises(LinemateError, match="disk full"),
        base_tree(repository, repository.resolve("HEAD"), own_environment),
    ):
        pass
    left = [path for path in own_environment.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert left == []
    assert not list(own_environment.rglob("making-*"))


def test_links_show_generated_files_and_go_away_again(
    project: Project, repository: Repository, own_environment: Path
) -> None:
    project.write({"build/config.h": "#define X 1\n", "build/old.h": ""})
    with base_tree(repository, repository.resolve("HEAD"), own_environment) as tree:
        link_into(tree, repository.top, ["build/config.h", "build/old.h", "a.c"])
        assert (tree / "build" / "config.h").read_text() == "#define X 1\n"
        assert not (tree / "a.c").is_symlink()
        link_into(tree, repository.top, ["build/config.h"])
        assert (tree / "build" / "config.h").is_symlink()
        assert not (tree / "build" / "old.h").is_symlink()


def test_a_link_in_the_base_leads_no_write_out_of_it(project: Project, own_environment: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project.top / "out").symlink_to(outside)
    project.commit({"file": "x"})
    repository = find_repository(str(project.top))
    assert repository is not None
    with base_tree(repository, repository.resolve("HEAD"), own_environment) as tree:
        link_into(tree, repository.top, ["out/x.h", "out/deep/x.h", "file/x.h", "ok/x.h"])
        assert (tree / "ok" / "x.h").is_symlink()
    assert list(outside.iterdir()) == []


def test_without_git_it_says_so(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LinemateError, match="--base needs git"):
        repository.resolve("HEAD")
