"""A repository whose configuration names programs: none of them runs, and the answers stay right."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from linemate.checking import gitbase, gitborrowed
from linemate.checking.gitbase import Repository, base_tree, find_repository
from sharing.model import LinemateError
from sharing.model.process import children
from tests.check.repositories import Project


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that passes its input on, as a filter does, and leaves a trace."""
    script = tmp_path / "trap"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexec cat\n")
    script.chmod(0o755)
    return script


def has_run(trap: Path) -> bool:
    return (trap.parent / "ran").exists()


def repository_of(project: Project) -> Repository:
    found = find_repository(str(project.top))
    assert found is not None
    return found


def ask_everything(repository: Repository, revision: str, cache: Path) -> gitbase.Changes:
    """Every question that ``check --base`` asks."""
    commit = repository.resolve(revision)
    changes = repository.changes(commit)
    repository.tracked()
    repository.untracked(ignored=True)
    repository.untracked(ignored=False)
    with base_tree(repository, commit, cache):
        pass
    return changes


# (settings, attributes of every file): each pair has git run the program when it compares or writes files.
PROGRAMS = {
    "clean filter": ({"filter.x.clean": "{}"}, "* filter=x"),
    "smudge filter": ({"filter.x.smudge": "{}"}, "* filter=x"),
    "process filter": ({"filter.x.process": "{}"}, "* filter=x"),
    "required filter": ({"filter.x.clean": "{}", "filter.x.required": "true"}, "* filter=x"),
    "textconv": ({"diff.x.textconv": "{}"}, "* diff=x"),
    "diff command": ({"diff.x.command": "{}"}, "* diff=x"),
    "external diff": ({"diff.external": "{}"}, ""),
    "merge driver": ({"merge.x.driver": "{}"}, "* merge=x"),
    "monitor": ({"core.fsmonitor": "{}"}, ""),
    "pager": ({"core.pager": "{}", "pager.diff": "{}"}, ""),
    "editor": ({"core.editor": "{}", "sequence.editor": "{}"}, ""),
    "signatures": ({"gpg.program": "{}", "log.showSignature": "true"}, ""),
    "ask for a password": ({"core.askPass": "{}", "credential.helper": "{}"}, ""),
    "alias": ({"alias.diff": "!{}", "alias.ls-files": "!{}", "alias.rev-parse": "!{}"}, ""),
    "alternate references": ({"core.alternateRefsCommand": "{}"}, ""),
    "upload hook": ({"uploadpack.packObjectsHook": "{}"}, ""),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_no_program_of_the_configuration_runs(project: Project, trap: Path, own_environment: Path, what: str) -> None:
    settings, attributes = PROGRAMS[what]
    project.commit({"a.c": "int a;\n", "b.c": "int b;\n", ".gitattributes": f"{attributes}\n"})
    for name, value in settings.items():
        project.git("config", name, value.format(trap))
    project.write({"a.c": "int changed;\n"})
    os.utime(project.top / "b.c", (1, 1))  # git has to read it to know that it did not change
    changes = ask_everything(repository_of(project), "HEAD", own_environment)
    assert not has_run(trap)
    assert changes.changed == {"a.c"}


def test_the_trap_snaps_where_the_user_trusts_the_repository(
    project: Project, trap: Path, own_environment: Path
) -> None:
    """The near miss of the test above: the same filter does run when it is asked for, so the trap works."""
    project.commit({"a.c": "int a;\n", ".gitattributes": "* filter=x\n"})
    project.git("config", "filter.x.clean", str(trap))
    os.utime(project.top / "a.c", (1, 1))
    trusted = replace(repository_of(project), trusted=True)
    assert ask_everything(trusted, "HEAD", own_environment).changed == frozenset()
    assert has_run(trap)


def lack_an_object(project: Project, remote: dict[str, str]) -> str:
    """Make a partial clone of which a file of the last commit is missing; git would fetch it by ``remote``."""
    commit = project.commit({"a.c": "int a;\n"})
    blob = project.git("rev-parse", "HEAD:a.c")
    (project.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    project.git("config", "core.repositoryformatversion", "1")
    project.git("config", "extensions.partialClone", "origin")
    project.git("config", "remote.origin.promisor", "true")
    for name, value in remote.items():
        project.git("config", name, value)
    # What marks a pack as fetched with a filter.
    (project.top / ".git/objects/pack").mkdir(exist_ok=True)
    (project.top / ".git/objects/pack/pack-0.promisor").touch()
    return commit


@pytest.mark.parametrize(
    "remote",
    [
        {"remote.origin.url": "ext::{}", "protocol.ext.allow": "always", "protocol.allow": "always"},
        {"remote.origin.url": "ssh://localhost/x", "core.sshCommand": "{}"},
        {"remote.origin.url": "git://localhost/x", "core.gitProxy": "{}"},
        {"remote.origin.url": ".", "remote.origin.uploadpack": "{}"},
        {"remote.origin.url": "x", "remote.origin.vcs": "ext", "protocol.ext.allow": "always"},
    ],
    ids=["ext", "ssh", "proxy", "upload-pack", "helper"],
)
def test_what_a_partial_clone_lacks_is_not_fetched(
    project: Project, trap: Path, own_environment: Path, remote: dict[str, str]
) -> None:
    commit = lack_an_object(project, {name: value.format(trap) for name, value in remote.items()})
    with pytest.raises(LinemateError, match=r"^--base: git .*a partial clone: --trust-repository lets git fetch"):
        ask_everything(repository_of(project), commit, own_environment)
    assert not has_run(trap)


@pytest.mark.parametrize("missing", ["HEAD", "0" * 40])
def test_a_missing_commit_is_not_fetched_either(project: Project, trap: Path, missing: str) -> None:
    lack_an_object(project, {"remote.origin.url": f"ext::{trap}", "protocol.ext.allow": "always"})
    (project.top / ".git/refs/heads/main").write_text("1" * 40 + "\n")
    with pytest.raises(LinemateError, match="git knows no commit"):
        repository_of(project).resolve(missing)
    assert not has_run(trap)


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "deep/down/.gitignore", ".git/index"])
def test_a_file_that_git_would_wait_for_is_refused_at_once(project: Project, name: str) -> None:
    commit = project.commit({"a.c": "int a;\n"})
    path = project.top / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    started = time.monotonic()
    with pytest.raises(LinemateError, match=f"{name}: not a regular file"):
        repository_of(project).changes(commit)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", ["config", "HEAD", "packed-refs", "objects/info/commit-graph", "a tree", "a device"])
def test_a_file_of_git_that_would_wait_is_refused_before_git_is_asked(project: Project, name: str) -> None:
    commit = project.commit({"a.c": "int a;\n"})
    tree = project.git("rev-parse", f"{commit}^{{tree}}")
    path = project.top / ".git" / (f"objects/{tree[:2]}/{tree[2:]}" if name == "a tree" else name)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if name == "a device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    started = time.monotonic()
    with pytest.raises(LinemateError, match="not a regular file"):
        find_repository(str(project.top))
    assert time.monotonic() - started < 5


def test_a_file_of_git_that_would_wait_is_found_from_a_linked_worktree(project: Project, tmp_path: Path) -> None:
    project.commit({"a.c": "int a;\n"})
    project.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert find_repository(str(tmp_path / "linked")) is not None
    os.mkfifo(project.top / ".git" / "packed-refs")
    with pytest.raises(LinemateError, match="not a regular file"):
        find_repository(str(tmp_path / "linked"))


def borrow_objects(project: Project, tmp_path: Path, how: str) -> Path:
    """Move the objects out of the repository, to where it finds them all the same."""
    there = tmp_path / 'elsewhere "quoted"'
    own = project.top / ".git" / "objects"
    if how == "linked":
        shutil.move(own, there)
        own.symlink_to(there)
        return there
    shutil.move(own, there)
    (own / "info").mkdir(parents=True)
    line = str(there) if how == "named" else '"' + str(there).replace('"', '\\"') + '"'
    (own / "info" / "alternates").write_text(f"# borrowed\n{line}\n")
    return there


@pytest.mark.parametrize("how", ["named", "quoted", "linked"])
def test_objects_of_another_folder_are_looked_through_as_well(project: Project, tmp_path: Path, how: str) -> None:
    commit = project.commit({"a.c": "int a;\n"})
    tree = project.git("rev-parse", f"{commit}^{{tree}}")
    there = borrow_objects(project, tmp_path, how)
    (there / "no objects").mkdir()
    if how == "named":  # git reads a borrowed folder only where objects can be
        os.mkfifo(there / "no objects" / "fifo")
    assert repository_of(project).changes(commit).changed == frozenset()
    path = there / tree[:2] / tree[2:]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LinemateError, match=f"{tree[2:]}: not a regular file"):
        find_repository(str(project.top))


def test_what_git_keeps_is_not_looked_through_for_ever(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.commit({"a.c": "int a;\n"})
    (project.top / ".git" / "refs" / "all").symlink_to("/usr")
    monkeypatch.setattr(gitborrowed, "LOOK_S", 0.05)
    with pytest.raises(LinemateError, match="more files than can be looked through"):
        find_repository(str(project.top))


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main"])
def test_a_repository_below_is_looked_through_as_well(project: Project, name: str) -> None:
    commit = project.commit({"a.c": "int a;\n"})
    project.git("clone", "--quiet", ".", "below")
    assert repository_of(project).untracked(ignored=False) == ["below/"]
    path = project.top / "below" / ".git" / name
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LinemateError, match=f"{name}: not a regular file"):
        repository_of(project).changes(commit)


def test_what_a_revision_stands_for_is_bounded(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few hundred bytes of objects can stand for any number of files of any size."""
    commit = project.commit({"a.c": "int a;\n"})

    def writes_much(*_: object, limits: dict[int, int], **more: object) -> subprocess.CompletedProcess[bytes]:
        assert limits.keys() == {resource.RLIMIT_DATA, resource.RLIMIT_FSIZE}
        small = limits | {resource.RLIMIT_FSIZE: 512}
        return run(
            ["sh", "-c", "sleep 0.1; exec head -c 9999 /dev/zero >zeros"], cwd=tmp_path, timeout_s=9, limits=small
        )

    repository, run = repository_of(project), children.run
    monkeypatch.setattr(children, "run", writes_much)
    with pytest.raises(LinemateError, match="a file of more than 1,073,741,824 bytes"):
        repository.changes(commit)
    assert (tmp_path / "zeros").stat().st_size == 512


def test_a_socket_and_a_link_to_nothing_among_the_files_of_git_do_no_harm(project: Project) -> None:
    project.commit({"a.c": "int a;\n"})
    (project.top / ".git" / "description").unlink(missing_ok=True)
    (project.top / ".git" / "description").symlink_to("/dev/null")
    (project.top / ".git" / "gone").symlink_to("nowhere")
    # git's own monitor of files leaves one.
    os.mknod(project.top / ".git" / "fsmonitor--daemon.ipc", stat.S_IFSOCK | 0o600)
    assert find_repository(str(project.top)) is not None


def test_settings_that_say_how_files_compare_are_kept(project: Project) -> None:
    commit = project.commit({"a.c": "int a;\nint b;\n"})
    project.write({"a.c": "int a;\r\nint b;\r\n"})
    assert repository_of(project).changes(commit).changed == {"a.c"}
    project.git("config", "core.autocrlf", "true")
    assert repository_of(project).changes(commit).changed == frozenset()
    (project.top / "a.c").chmod(0o755)
    assert repository_of(project).changes(commit).changed == {"a.c"}
    project.git("config", "core.fileMode", "no")
    assert repository_of(project).changes(commit).changed == frozenset()


def test_what_the_user_ignores_everywhere_is_no_new_file(project: Project, tmp_path: Path) -> None:
    project.commit({"a.c": "int a;\n"})
    project.write({"own.c": "", "notes.c": ""})
    (tmp_path / "ignored").write_text("notes.c\n")
    project.git("config", "core.excludesFile", str(tmp_path / "ignored"))
    assert repository_of(project).untracked(ignored=False) == ["own.c"]
    (project.top / ".git/info/exclude").write_text("own.c\n")
    assert repository_of(project).untracked(ignored=False) == []


def test_a_list_of_attributes_that_the_kernel_makes_up_is_left_out(
    project: Project, tmp_path: Path, own_environment: Path
) -> None:
    """A read of /proc/kmsg ends with the kernel's next message."""
    (tmp_path / "link").symlink_to("/proc/kmsg")
    project.commit({"a.c": "int a;\n"})
    for path in ("/proc/kmsg", str(tmp_path / "link")):
        project.git("config", "core.attributesFile", path)
        assert not ask_everything(repository_of(project), "HEAD", own_environment).changed


def test_patterns_that_git_compares_for_ever_are_given_up(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitbase, "LOOK_TIMEOUT_S", 1)
    deep = "/".join(["a"] * 60)
    project.commit({"a.c": "int a;\n", ".gitignore": "**/a/" * 20 + "**/b\n"})
    project.write({f"{deep}/new.c": "int b;\n"})
    with pytest.raises(LinemateError, match="took longer than 1 s"):
        repository_of(project).untracked(ignored=False)


def test_a_list_of_ignored_files_that_is_a_fifo_is_left_out(project: Project, tmp_path: Path) -> None:
    project.commit({"a.c": "int a;\n"})
    project.write({"own.c": ""})
    os.mkfifo(tmp_path / "ignored")
    project.git("config", "core.excludesFile", str(tmp_path / "ignored"))
    assert repository_of(project).untracked(ignored=False) == ["own.c"]


@pytest.mark.parametrize("shape", ["sha256", "split index", "linked worktree", 'quo"ted', "borrowing clone"])
def test_repositories_of_every_shape_are_read(tmp_path: Path, own_environment: Path, shape: str) -> None:
    top = tmp_path / (shape if '"' in shape else "project")
    top.mkdir()
    project = Project(top)
    project.git("init", "--quiet", *(["--object-format=sha256"] if shape == "sha256" else []))
    project.git("config", "user.email", "a@example.org")
    project.git("config", "user.name", "a")
    commit = project.commit({"a.c": "int a;\n", "b.c": "int b;\n"})
    if shape == "split index":
        project.git("update-index", "--split-index")
        assert list((top / ".git").glob("sharedindex.*"))
    if shape == "linked worktree":
        project.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
        project = Project(tmp_path / "linked")
    if shape == "borrowing clone":
        project.git("clone", "--quiet", "--shared", str(top), str(tmp_path / "clone"))
        project = Project(tmp_path / "clone")
    project.write({"a.c": "int changed;\n"})
    repository = repository_of(project)
    assert repository.changes(commit).changed == {"a.c"}
    assert repository.tracked() == {"a.c", "b.c"}
    with base_tree(repository, commit, own_environment) as tree:
        assert (tree / "a.c").read_text() == "int a;\n"
