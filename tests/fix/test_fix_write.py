"""Edits as texts: a diff that patch takes, YAML that clang-apply-replacements takes, contents of unchanged files."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.fixing.write import changed_files, folder_of_diff, refuse_links_out, replacements_yaml, unified_diff
from sharing.model.errors import LinemateError
from sharing.model.finding import SourceEdit

ODD = b"int a;\x0c\r\nint \xe9 = 1;\nint last;"


def edit(path: Path, old: bytes, new: str) -> SourceEdit:
    data = path.read_bytes()
    begin = data.index(old)
    return SourceEdit(str(path), begin, begin + len(old), new, sha256=hashlib.sha256(data).hexdigest())


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd file.c"
    path.write_bytes(ODD)
    return path


def test_the_diff_is_what_patch_needs(odd: Path, tmp_path: Path) -> None:
    edits = [edit(odd, b"a;", "first;"), edit(odd, b"last", "ende")]
    text = unified_diff(changed_files(edits), tmp_path, for_terminal=False)
    assert odd.read_bytes() == ODD
    if not shutil.which("git"):
        pytest.skip("no git")
    done = subprocess.run(
        ["git", "apply", "-p1", "-"], cwd=tmp_path, input=text.encode("utf-8", "surrogateescape"), capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert odd.read_bytes() == b"int first;\x0c\r\nint \xe9 = 1;\nint ende;"


@pytest.mark.parametrize(
    ("asked_in", "repository", "applied_in"),
    [
        ("tree/build", "tree", "tree"),
        ("tree/build", "", "tree"),
        ("tree/build", ".", "."),
        ("tree", ".", "tree"),  # all files are below
        ("tree/src", "tree", "tree/src"),
    ],
)
def test_no_name_in_a_diff_leads_upwards(tmp_path: Path, asked_in: str, repository: str, applied_in: str) -> None:
    (tmp_path / "tree/src").mkdir(parents=True)
    (tmp_path / "tree/build").mkdir()
    if repository:
        (tmp_path / repository / ".git").mkdir()
    source = tmp_path / "tree/src/a.c"
    source.write_text("int a;\n")
    named = tmp_path / "tree/build/../src/a.c"  # as in the database of a build folder
    files = changed_files([edit(source, b"a", "b")])
    folder = folder_of_diff([named], tmp_path / asked_in)
    assert folder == (tmp_path / applied_in).resolve()
    assert ".." not in unified_diff({named: files[source]}, folder, for_terminal=False)


def test_a_terminal_gets_no_control_characters(odd: Path, tmp_path: Path) -> None:
    text = unified_diff(changed_files([edit(odd, b"a;", "\x1b[31m;")]), tmp_path, for_terminal=True)
    assert "\x1b" not in text
    assert "\x0c" not in text
    assert "\\x1b[31m" in text


def test_yaml_is_what_clang_apply_replacements_takes(tmp_path: Path) -> None:
    tool = shutil.which("clang-apply-replacements-19") or shutil.which("clang-apply-replacements")
    if not tool:
        pytest.skip("no clang-apply-replacements")
    source, fixes = tmp_path / "a.c", tmp_path / "fixes"
    source.write_text('char *s = "äöü";\nint a;\n')
    fixes.mkdir()
    edits = [edit(source, b"int a", 'int\t"q" \\ü'), edit(source, b"char", "const\nchar")]
    (fixes / "all.yaml").write_text(replacements_yaml(edits))
    subprocess.run([tool, str(fixes)], check=True)
    assert source.read_text() == 'const\nchar *s = "äöü";\nint\t"q" \\ü;\n'


def test_a_file_that_changed_since_the_analysis_is_refused(odd: Path) -> None:
    old = edit(odd, b"a;", "b;")
    odd.write_bytes(ODD + b"\n")
    with pytest.raises(LinemateError, match="changed since it was analysed; nothing was written"):
        changed_files([old])


def test_an_edit_outside_of_its_file_is_refused(odd: Path) -> None:
    digest = hashlib.sha256(ODD).hexdigest()
    with pytest.raises(LinemateError, match="outside of the file"):
        changed_files([SourceEdit(str(odd), 5, 5000, "", sha256=digest)])


def test_a_link_out_of_the_tree_is_no_way_to_a_file_elsewhere(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    (tree / ".git").mkdir(parents=True)
    (tree / "sub").mkdir()
    outside.mkdir()
    for place in (tree / "a.c", outside / "b.c"):
        place.write_text("int x;\n")
    (tree / "sub" / "within.c").symlink_to("../a.c")
    (tree / "out.c").symlink_to("../outside/b.c")
    (tree / "folder").symlink_to("../outside")
    refuse_links_out([tree / "a.c", tree / "sub" / "within.c", outside / "b.c"], tmp_path)
    for name in ("out.c", "folder/b.c", "sub/../out.c"):
        with pytest.raises(LinemateError, match=r"by a link .*/outside/b.c, outside of .*/tree; nothing was written"):
            refuse_links_out([tree / name], tmp_path)


def test_without_a_repository_the_folder_counts(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "b.c").write_text("int x;\n")
    (tmp_path / "here" / "out.c").symlink_to("../b.c")
    refuse_links_out([tmp_path / "b.c"], tmp_path / "here")
    with pytest.raises(LinemateError, match="outside of"):
        refuse_links_out([tmp_path / "here" / "out.c"], tmp_path / "here")
