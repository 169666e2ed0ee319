"""Writing all files or none: whatever ends it at whatever step, the next start leaves all old or all new."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from linemate.fixing import journal as fix_journal
from sharing.model.errors import LinemateError
from tests.fix.journalled import Tree, failing_at

NO_SPACE = OSError(28, "No space left on device")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Three files in two folders."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Tree(tmp_path / "tree", tmp_path / "state" / "linemate" / "fix")
    made.folder.mkdir()
    for name in ("a.c", "inc/b.h", "z.c"):
        made.add(name)
    return made


def decided(tree: Tree) -> Tree:
    """The tree as a run left it that was killed between its renames: the first file new, the others old."""
    # The journal is renamed twice before.
    assert tree.crash(3, tree.write, ["rename"])
    contents = [path.read_bytes() for path in tree.files]
    assert contents == [b"new a.c", b"old inc/b.h", b"old z.c"]
    return tree


def test_a_write_changes_all_files_and_leaves_nothing_else(tree: Tree) -> None:
    tree.write()
    assert tree.is_new
    assert tree.is_tidy
    tree.recover()
    assert tree.said == []


def test_killed_at_any_step_all_are_old_or_all_are_new_after_the_next_start(tree: Tree) -> None:
    ends = {"old": 0, "new": 0, "half before": 0}
    for at in range(1000):
        crashed = tree.crash(at, tree.write)
        ends["half before"] += not (tree.is_old or tree.is_new)
        tree.recover()
        assert tree.is_old != tree.is_new, at
        assert tree.is_tidy, (at, tree.names)
        ends["new" if tree.is_new else "old"] += 1
        if not crashed:
            break
        for path, (before, _) in tree.files.items():
            path.write_bytes(before)
    else:
        raise AssertionError("the write never came to its end")
    assert min(ends.values()) >= 2, ends


def test_killed_at_any_step_of_the_recovery_the_next_one_ends_it(tree: Tree) -> None:
    for at in range(1000):
        decided(tree)
        crashed = tree.crash(at, tree.recover)
        tree.recover()
        assert tree.is_new, at
        assert tree.is_tidy, (at, tree.names)
        if not crashed:
            return
        for path, (before, _) in tree.files.items():
            path.write_bytes(before)
    raise AssertionError("the recovery never came to its end")


def test_a_step_that_fails_takes_everything_back(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = 0
    for at in range(1000):
        with monkeypatch.context() as patched:
            for name, step in failing_at(at, NO_SPACE).items():
                patched.setattr(os, name, step)
            try:
                tree.write()
                said = ""
            except LinemateError as error:
                said = str(error)
        failures += bool(said)
        assert not said or said.endswith("; nothing was written"), at
        assert tree.is_old if said else tree.is_new, at
        assert tree.is_tidy, (at, tree.names)
        if tree.is_new and failures > 20:
            return
        for path, (before, _) in tree.files.items():
            path.write_bytes(before)
    raise AssertionError("the write never came to its end")


def test_what_was_completed_is_said_in_one_line(tree: Tree) -> None:
    decided(tree).recover()
    assert tree.is_new
    assert tree.said == [f"completed an earlier fix --apply that was killed: 3 files in {tree.folder}"]


def test_without_the_new_contents_everything_is_taken_back(tree: Tree) -> None:
    decided(tree)
    for staged in tree.folder.rglob(".z.c.linemate-*-new"):
        staged.unlink()
    tree.recover()
    assert tree.is_old
    assert tree.is_tidy


def test_a_file_that_was_changed_meanwhile_is_kept_and_both_others_lie_beside_it(tree: Tree) -> None:
    decided(tree)
    _, changed, *_ = tree.files
    changed.write_bytes(b"mine")
    tree.recover()
    assert changed.read_bytes() == b"mine"
    beside = {path.name: path.read_bytes() for path in changed.parent.iterdir() if path != changed}
    # The second name is the old file's own, which was written to in place.
    assert beside == {"b.h.linemate-before": b"mine", "b.h.linemate-after": b"new inc/b.h"}
    assert all(path.read_bytes() == before for path, (before, _) in tree.files.items() if path != changed)
    assert tree.said[0].startswith("took back an earlier fix --apply that was killed (2 files in ")
    assert tree.said[1] == (
        f"{changed}: changed meanwhile, left as it is; beside it: b.h.linemate-before, b.h.linemate-after"
    )
    tree.recover()
    assert len(tree.said) == 2  # it is done with


def test_a_file_that_an_editor_replaced_meanwhile_keeps_its_old_content_beside_it(tree: Tree) -> None:
    decided(tree)
    first, *_ = tree.files
    (tree.folder / "editor").write_bytes(b"mine")
    (tree.folder / "editor").rename(first)
    (tree.folder / "a.c.linemate-before").write_bytes(b"somebody's")
    tree.recover()
    assert first.read_bytes() == b"mine"
    assert (tree.folder / "a.c.linemate-before").read_bytes() == b"somebody's"
    assert (tree.folder / "a.c.linemate-before-1").read_bytes() == b"old a.c"


def test_a_tree_that_is_not_there_today_is_left_for_later(tree: Tree, tmp_path: Path) -> None:
    decided(tree)
    tree.folder.rename(tmp_path / "away")
    tree.recover()
    assert tree.said == []
    (tmp_path / "away").rename(tree.folder)
    tree.recover()
    assert tree.is_new
    assert tree.is_tidy


def test_a_link_that_took_the_place_of_a_folder_leads_nowhere(tree: Tree, tmp_path: Path) -> None:
    """The tree's owner would have the recovery write elsewhere."""
    decided(tree)
    elsewhere = tmp_path / "elsewhere"
    (tree.folder / "inc").rename(elsewhere)
    (tree.folder / "inc").symlink_to(elsewhere)
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}
    tree.recover()
    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "../a.c"),
        ("name", ".."),
        ("new", "a.c"),
        ("old", "precious"),
        ("folder", "relative"),
        ("before", "0"),
        ("name", "\u4e00"),
    ],
)
def test_a_journal_that_says_what_none_says_is_removed(tree: Tree, field: str, value: str) -> None:
    decided(tree)
    (journal,) = tree.state.glob("*.commit")
    document = json.loads(journal.read_bytes())
    document["rows"][0][field] = value
    journal.write_text(json.dumps(document))
    before = {path: path.read_bytes() for path in tree.folder.rglob("*") if path.is_file()}
    tree.recover()
    assert tree.said == [f"{journal}: no journal of an edit, removed"]
    assert {path: path.read_bytes() for path in tree.folder.rglob("*") if path.is_file()} == before


def test_a_journal_writes_nothing_but_the_content_that_it_vouches_for(tree: Tree) -> None:
    decided(tree)
    for staged in tree.folder.rglob(".z.c.linemate-*-new"):
        staged.write_bytes(b"hostile")
    tree.recover()
    assert tree.is_old


def test_a_folder_of_journals_that_others_may_write_to_is_not_believed(tree: Tree) -> None:
    decided(tree)
    tree.state.chmod(0o777)
    tree.recover()
    assert not tree.is_new
    assert not tree.is_old
    tree.state.chmod(0o700)
    tree.recover()
    assert tree.is_new


def test_links_are_followed_and_the_mode_is_kept(tree: Tree) -> None:
    target = tree.folder / "a.c"
    target.chmod(0o754)
    link = tree.folder / "link.c"
    link.symlink_to("a.c")
    tree.files = {link: tree.files[target]}
    tree.write()
    assert link.is_symlink()
    assert target.read_bytes() == b"new a.c"
    assert stat.S_IMODE(target.stat().st_mode) == 0o754


def test_one_file_under_two_names_is_refused(tree: Tree) -> None:
    link = tree.folder / "link.c"
    link.symlink_to("a.c")
    tree.files[link] = tree.files[tree.folder / "a.c"]
    with pytest.raises(LinemateError, match=r"^two of the files are one under two names; nothing was written$"):
        tree.write()


def test_a_file_with_a_second_hard_link_is_refused(tree: Tree) -> None:
    os.link(tree.folder / "a.c", tree.folder / "same.c")
    with pytest.raises(LinemateError, match=r"a\.c: has 2 names \(hard links\).*; nothing was written$"):
        tree.write()
    assert tree.is_old


def test_the_owner_is_kept_or_the_write_refused(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid():
        pytest.skip("only root can give files away")
    first, *_ = tree.files
    os.chown(first, 12345, 23456)
    with monkeypatch.context() as patched:

        def refuse(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        patched.setattr(os, "fchown", refuse)
        with pytest.raises(LinemateError, match=r"a\.c: is another user's or group's.*; nothing was written$"):
            tree.write()
    assert tree.is_old
    assert tree.is_tidy
    tree.write()
    assert (first.stat().st_uid, first.stat().st_gid) == (12345, 23456)


def test_a_change_between_reading_and_writing_is_noticed(tree: Tree) -> None:
    *_, last = tree.files
    last.write_bytes(b"mine")
    with pytest.raises(LinemateError, match=r"z\.c: changed meanwhile; nothing was written$"):
        tree.write()
    assert last.read_bytes() == b"mine"
    assert (tree.folder / "a.c").read_bytes() == b"old a.c"
    assert tree.is_tidy


def test_a_file_system_without_links_gets_copies(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    tree.write()
    assert tree.is_new
    assert tree.is_tidy


WRITE = """
import sys
from pathlib import Path
from linemate.fixing.journal import write_all
from sharing.model.errors import LinemateError
files = {Path(p): (b"old " + p.encode(), sys.argv[1].encode()) for p in sys.argv[2:]}
try:
    write_all(files)
    print("wrote")
except LinemateError as error:
    print(error)
"""


def test_of_two_writes_at_once_one_is_whole_and_the_other_refused(tree: Tree, repository: Path) -> None:
    paths = [tree.folder / f"{number}.c" for number in range(20)]
    for path in paths:
        path.write_bytes(b"old " + str(path).encode())
    lines = [[sys.executable, "-c", WRITE, what, *map(str, paths)] for what in ("one", "two")]
    running = [subprocess.Popen(line, cwd=repository, stdout=subprocess.PIPE, text=True) for line in lines]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert sorted(text == "wrote\n" for text in said) == [False, True], said
    assert any("changed meanwhile; nothing was written" in text for text in said)
    assert len({path.read_bytes() for path in paths}) == 1


def test_a_lock_that_is_held_for_long_is_named(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fix_journal, "_PATIENCE_S", 0.1)
    tree.state.mkdir(parents=True)
    handle = os.open(tree.state, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(LinemateError, match="another fix --apply has been writing"):
            tree.write()
    finally:
        os.close(handle)
    assert tree.is_old


def test_without_a_folder_for_the_journal_nothing_is_written(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    monkeypatch.setattr("linemate.statedir._LASTING", "/proc")
    with pytest.raises(LinemateError, match=r"set XDG_STATE_HOME \(/proc/nowhere/.*\); nothing was written$"):
        tree.write()
    assert tree.is_old


def test_digests_are_those_of_the_contents(tree: Tree) -> None:
    decided(tree)
    (journal,) = tree.state.glob("*.commit")
    rows = json.loads(journal.read_bytes())["rows"]
    expected = [[hashlib.sha256(data).hexdigest() for data in both] for both in tree.files.values()]
    assert [[row["before"], row["after"]] for row in rows] == expected
