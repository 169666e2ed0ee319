"""Folders nested deeper than Python calls itself: walked, made and removed all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linemate.checking.gitbase import link_into
from linemate.checking.gitborrowed import refuse_waiting_files
from linemate.fixing.tree import MAX_TREE_LEVELS, scratch_copies
from sharing.model import LinemateError
from sharing.model.folders import walk
from sharing.model.process.scratch import remove

LEVELS = 1200  # more than Python's limit of 1000 calls, in a path of 2.4 KB


def nested(top: Path, levels: int, name: str) -> Path:
    """A file ``name`` below that many folders; its path."""
    folder = os.path.join(top, *["d"] * levels)
    os.mkdir(os.path.join(top, "d"))
    handle = os.open(os.path.join(top, "d"), os.O_RDONLY)
    for _ in range(levels - 1):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=handle))
    os.close(handle)
    return Path(folder, name)


def test_deep_folders_are_walked_to_their_end(tmp_path: Path) -> None:
    file = nested(tmp_path, LEVELS, "x.o")
    assert [Path(where, name) for where, _, names in walk(tmp_path) for name in names] == [file]
    remove(tmp_path / "d")


def test_a_walk_stays_out_of_links_and_of_what_is_taken_out(tmp_path: Path) -> None:
    for name in ("left/inner", "right"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "right" / "loop").symlink_to(tmp_path)
    seen = []
    for where, names, _ in walk(tmp_path):
        names[:] = sorted(name for name in names if name != "left")
        seen.append(where)
    assert seen == [str(tmp_path), str(tmp_path / "right")]


def test_deep_folders_are_removed_whole_and_nothing_behind_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("x")
    top = tmp_path / "top"
    top.mkdir()
    nested(top, LEVELS, "x")
    (top / "link").symlink_to(tmp_path)
    remove(top)
    assert list(tmp_path.iterdir()) == [kept]


def test_a_pipe_is_found_below_deep_folders(tmp_path: Path) -> None:
    place = nested(tmp_path, LEVELS, "x").parent
    refuse_waiting_files(str(tmp_path))
    os.mkfifo(place / ".gitattributes")
    with pytest.raises(LinemateError, match="not a regular file"):
        refuse_waiting_files(str(tmp_path))
    remove(tmp_path / "d")


def test_a_file_below_deep_folders_is_shown_to_the_base(tmp_path: Path) -> None:
    top, tree = tmp_path / "top", tmp_path / "tree"
    top.mkdir()
    tree.mkdir()
    file = nested(top, LEVELS, "x.h")
    link_into(tree, str(top), [str(file.relative_to(top))])
    assert os.readlink(tree / file.relative_to(top)) == str(file)
    remove(top)
    remove(tree)


def test_folders_too_deep_to_copy_are_refused(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    nested(top, MAX_TREE_LEVELS, "x")
    with scratch_copies(top, Path(".")) as trees:
        assert (trees.after / "d").is_dir()
    remove(top / "d")
    nested(top, MAX_TREE_LEVELS + 1, "x")
    with pytest.raises(LinemateError, match=f"deeper than {MAX_TREE_LEVELS} levels"), scratch_copies(top, Path(".")):
        pass
