"""Which units of the base are parsed again, with what commands, and what the others become.

The analyzer is a stand-in that reads quoted includes; the facts of a unit are its files and their texts.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from linemate import database
from linemate.checking import basefacts
from linemate.checking.basefacts import BaseFacts, CurrentFacts, Folders, base_facts, find_repository
from linemate.options import FactsRequest
from sharing.model import LinemateError
from tests.check.repositories import Project, make_project


@dataclass
class Analyzer:
    """Writes a stream for a compile database; remembers which sources it was asked for."""

    scratch: Path
    asked: list[list[str]] = field(default_factory=list)
    commands: list[database.Entry] = field(default_factory=list)

    def __call__(self, request: FactsRequest) -> Path:
        entries = database.read_database(Path(request.database))
        self.asked.append([entry.path for entry in entries])
        self.commands = list(entries)

        def located(path: str) -> Path:
            top = next((top for top in request.tops if path.startswith(f"{top}/")), "")
            return Path(request.tree, os.path.relpath(path, top)) if top else Path(path)

        out = self.scratch / f"stream{len(list(self.scratch.glob('stream*')))}.jsonl"
        rows = [{"kind": "header"}, *(unit(entry, located) for entry in entries), {"kind": "end"}]
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return out


def unit(entry: database.Entry, located: Callable[[str], Path]) -> dict[str, Any]:
    assert [argument for argument in entry.arguments if entry.names_source(argument)], "no compiler gets the source"
    folders = [
        posixpath.normpath(posixpath.join(entry.directory, argument[2:]))
        for argument in entry.arguments
        if argument.startswith("-I")
    ]
    errors = []
    try:
        files = dict(included(entry.path, folders, located))
    except FileNotFoundError as error:
        if "// fatal" in located(entry.path).read_text():
            return {"kind": "failure", "path": entry.path, "reason": f"{error.filename} not found"}
        files, errors = {entry.path: located(entry.path).read_text()}, [f"{error.filename} not found"]
    return {
        "errors": errors,
        "kind": "unit",
        "path": entry.path,
        "directory": entry.directory,
        "files": list(files),
        "texts": list(files.values()),
        "statics": [f"s@{entry.path}"],
    }


def included(path: str, folders: list[str], located: Callable[[str], Path]) -> Iterator[tuple[str, str]]:
    text = located(path).read_text()
    yield path, text
    for name in re.findall(r'#include "(.+)"', text):
        tried = [posixpath.join(folder, name) for folder in (posixpath.dirname(path), *folders)]
        found = next((place for place in tried if located(place).exists()), tried[0])
        yield from included(posixpath.normpath(found), folders, located)


@dataclass
class Case:
    """A project with a base and a later state."""

    project: Project
    scratch: Path

    def units(
        self, base: str, path: Path, *, sources: tuple[str, ...] = ()
    ) -> tuple[Analyzer, BaseFacts, dict[str, Any]]:
        """The analyzer with what it was asked, the base's facts, and their units by path below the top."""
        request = FactsRequest(database=str(path), sources=sources, cache=str(self.scratch / "facts"))
        entries = database.read_database(path)
        analyzer = Analyzer(self.scratch)
        current = analyzer(request)
        analyzer.asked.clear()
        found = find_repository(entries, str(self.project.top))
        base_id = found.resolve(base)
        folders = Folders(self.scratch, self.scratch / "bases")
        made = base_facts(found, base_id, CurrentFacts(entries, request, current), folders, analyzer)
        lines = [json.loads(line) for line in made.stream.read_text().splitlines()]
        assert [lines[0]["kind"], lines[-1]["kind"]] == ["header", "end"]
        rows = [line for line in lines if line["kind"] == "unit"]
        return analyzer, made, {os.path.relpath(row["path"], self.project.top): row for row in rows}


@pytest.fixture
def case(project: Project, tmp_path: Path) -> Case:
    project.commit(
        {
            "a.c": '#include "a.h"\nint a;\n',
            "a.h": '#include "common.h"\n',
            "b.c": '#include "common.h"\nint b;\n',
            "c.c": "int c;\n",
            "common.h": "int common;\n",
        }
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Case(project, scratch)


def parsed(case: Case, analyzer: Analyzer) -> set[str]:
    """Sources that were parsed in the base tree, below its top."""
    return {os.path.relpath(os.path.realpath(path), case.project.top) for asked in analyzer.asked for path in asked}


def test_without_a_change_nothing_is_parsed_or_checked_out(case: Case) -> None:
    path = case.project.database("a.c", "b.c", "c.c")
    case.project.commit({"README": "x"})
    analyzer, made, units = case.units("HEAD~1", path)
    assert (analyzer.asked, made.parsed, set(units)) == ([], 0, {"a.c", "b.c", "c.c"})
    assert not (case.scratch / "bases").exists()


def test_a_changed_source_is_parsed_as_it_was(case: Case) -> None:
    path = case.project.database("a.c", "b.c", "c.c")
    case.project.write({"c.c": "int c2;\n"})
    analyzer, made, units = case.units("HEAD", path)
    assert (parsed(case, analyzer), made.parsed) == ({"c.c"}, 1)
    assert units["c.c"]["texts"] == ["int c;\n"]
    assert set(units) == {"a.c", "b.c", "c.c"}


def test_units_of_the_base_stand_in_todays_order(case: Case) -> None:
    """The order of units decides which variables the predicted layout puts side by side."""
    path = case.project.database("b.c", "a.c", "c.c")
    case.project.write({"b.c": '#include "common.h"\nint b; // a comment\n'})
    _, _, units = case.units("HEAD", path)
    assert list(units) == ["b.c", "a.c", "c.c"]


def test_renamed_and_failing_units_keep_their_place_and_deleted_ones_come_last(case: Case) -> None:
    path = case.project.database("b.c", "a.c", "new.c")
    case.project.git("mv", "c.c", "new.c")
    case.project.write({"a.c": '#include "gone.h" // fatal\n', "extra.c": ""})
    case.project.commit({"old.c": "int old;\n"})
    case.project.git("rm", "-q", "old.c")
    case.project.write({"b.c": '#include "common.h"\nint other;\n'})
    _, _, units = case.units("HEAD~1", path)
    assert list(units) == ["b.c", "a.c", "new.c"]
    case.project.write({"a.c": '#include "a.h"\n'})
    _, _, units = case.units("HEAD", path)
    assert list(units) == ["b.c", "new.c", "old.c"]


def test_a_changed_header_is_seen_by_those_that_read_it(case: Case) -> None:
    path = case.project.database("a.c", "b.c", "c.c")
    case.project.commit({"a.h": '#include "common.h"\nint more;\n'})
    analyzer, _, units = case.units("HEAD~1", path)
    assert parsed(case, analyzer) == {"a.c"}
    assert "more" not in "".join(units["a.c"]["texts"])
    case.project.commit({"common.h": "int common2;\n"})
    analyzer, _, units = case.units("HEAD~2", path)
    assert parsed(case, analyzer) == {"a.c", "b.c"}


def test_paths_are_those_of_the_working_tree(case: Case) -> None:
    path = case.project.database("a.c", "b.c", "c.c")
    case.project.write({"common.h": "int common2;\n"})
    _, made, units = case.units("HEAD", path)
    assert "bases" not in made.stream.read_text()
    assert units["b.c"]["files"] == [str(case.project.top / name) for name in ("b.c", "common.h")]
    assert units["b.c"]["statics"] == [f"s@{case.project.top}/b.c"]


def test_an_added_unit_is_not_in_the_base(case: Case) -> None:
    case.project.write({"new.c": "int new;\n"})
    path = case.project.database("a.c", "b.c", "c.c", "new.c")
    for _ in range(2):
        _, _, units = case.units("HEAD~1" if _ else "HEAD", path)
        assert set(units) == {"a.c", "b.c", "c.c"}
        case.project.commit()


def test_a_new_header_is_new_before_it_is_added(case: Case) -> None:
    case.project.write({"fresh.h": "int fresh;\n", "c.c": '#include "fresh.h"\nint c;\n'})
    analyzer, _, units = case.units("HEAD", case.project.database("c.c"))
    assert (parsed(case, analyzer), units["c.c"]["texts"]) == ({"c.c"}, ["int c;\n"])


@pytest.mark.parametrize("folder", ["build", "out"], ids=["ignored", "not ignored"])
def test_a_generated_source_is_todays(case: Case, folder: str) -> None:
    """What lies in a folder that is compiled in and holds nothing tracked was not written by a person."""
    path = case.project.database("a.c", f"{folder}/gen/made.c", folder=folder)
    case.project.write({f"{folder}/gen/made.c": '#include "../../common.h"\n', "common.h": "int common2;\n"})
    analyzer, _, units = case.units("HEAD", path)
    assert parsed(case, analyzer) == {"a.c", f"{folder}/gen/made.c"}
    assert units[f"{folder}/gen/made.c"]["texts"][1] == "int common;\n"


def test_a_deleted_unit_is_parsed_with_a_neighbours_command(case: Case) -> None:
    case.project.git("rm", "-q", "b.c")
    path = case.project.database("a.c", "c.c", flags=("-DX", "-O2"))
    analyzer, _, units = case.units("HEAD", path)
    assert parsed(case, analyzer) == {"b.c"}
    assert set(units) == {"a.c", "b.c", "c.c"}
    (command,) = analyzer.commands
    assert command.arguments[1:3] == ("-DX", "-O2")
    assert command.arguments[-1].endswith("/b.c")


def test_a_deleted_unit_that_cannot_be_parsed_is_not_missed(case: Case) -> None:
    case.project.commit({"odd.c": '#include "windows.h"  // fatal\n'})
    case.project.git("rm", "-q", "odd.c")
    path = case.project.database("a.c")
    _, made, units = case.units("HEAD", path)
    assert (set(units), made.notes) == ({"a.c"}, ())


def test_a_renamed_unit_keeps_its_new_name(case: Case) -> None:
    case.project.git("mv", "a.c", "z.c")
    path = case.project.database("z.c", "b.c", "c.c")
    analyzer, _, units = case.units("HEAD", path)
    assert parsed(case, analyzer) == {"a.c"}
    assert set(units) == {"z.c", "b.c", "c.c"}
    assert units["z.c"]["statics"] == [f"s@{case.project.top}/z.c"]


def test_a_command_that_names_its_source_from_the_folder_moves_too(case: Case) -> None:
    """As bear writes them: the file is absolute, the argument is not."""
    top = case.project.top
    case.project.git("mv", "a.c", "z.c")
    case.project.git("rm", "-q", "b.c")
    rows = [
        {"directory": str(top), "file": f"{top}/{name}", "arguments": ["gcc", "-I.", "-c", "-o", "x.o", name]}
        for name in ("z.c", "c.c")
    ]
    (top / database.FILE_NAME).write_text(json.dumps(rows))
    analyzer, _, units = case.units("HEAD", top / database.FILE_NAME)
    assert parsed(case, analyzer) == {"a.c", "b.c"}
    assert set(units) == {"z.c", "b.c", "c.c"}
    assert sorted(entry.arguments[-1].rpartition("/")[2] for entry in analyzer.commands) == ["a.c", "b.c"]


def test_two_files_that_swapped_names_are_not_mixed_up(case: Case) -> None:
    lines = "".join(f"int line{number};\n" for number in range(20))
    case.project.commit({"b.c": f"int b;\n{lines}", "c.c": f"double c;\n{lines.replace('line', 'other')}"})
    case.project.git("mv", "b.c", "d.c")
    case.project.git("mv", "c.c", "e.c")
    path = case.project.database("d.c", "e.c")
    _, _, units = case.units("HEAD", path)
    assert units["d.c"]["texts"][0].startswith("int b")
    assert units["e.c"]["texts"][0].startswith("double c")


def test_a_deleted_header_may_have_been_read_before(case: Case) -> None:
    """Today ``first/x.h`` is gone and ``second/x.h`` is read instead, by a unit that did not change itself."""
    case.project.commit({"u.c": '#include "x.h"\n', "first/x.h": "int first;\n", "second/x.h": "int second;\n"})
    case.project.git("rm", "-q", "first/x.h")
    top = case.project.top
    path = case.project.database("u.c", "c.c", flags=(f"-I{top}/first", f"-I{top}/second"))
    analyzer, _, units = case.units("HEAD", path)
    assert parsed(case, analyzer) == {"u.c"}
    assert units["u.c"]["texts"][1] == "int first;\n"


def test_generated_headers_are_todays(case: Case) -> None:
    case.project.commit({"g.c": '#include "config.h"\nint g;\n'})
    case.project.write({"build/gen/config.h": "#define CONFIG\n", "g.c": '#include "config.h"\nint g2;\n'})
    path = case.project.database("g.c", flags=("-Igen",))
    analyzer, made, units = case.units("HEAD", path)
    assert made.notes == ()
    assert units["g.c"]["texts"] == ['#include "config.h"\nint g;\n', "#define CONFIG\n"]
    assert units["g.c"]["files"][1] == str(case.project.top / "build/gen/config.h")
    assert parsed(case, analyzer) == {"g.c"}


def test_a_header_generated_beside_its_source_is_todays(case: Case) -> None:
    case.project.commit({".gitignore": "build\nrelease.h\n", "src/r.c": '#include "release.h"\nint r;\n'})
    case.project.write({"src/release.h": "#define R\n", "src/r.c": '#include "release.h"\nint r2;\n'})
    _, made, units = case.units("HEAD", case.project.database("src/r.c"))
    assert (made.notes, units["src/r.c"]["texts"][1]) == ((), "#define R\n")


def test_a_new_header_is_not_shown_to_the_base(case: Case) -> None:
    """A tracked header that the base lacks is not generated: the base's units cannot have read it."""
    case.project.commit({"a.c": '#include "added.h"\n#include "a.h"\nint a;\n', "added.h": "int added;\n"})
    _, made, units = case.units("HEAD~1", case.project.database("a.c"))
    assert len(units["a.c"]["files"]) == 3
    (tree,) = [place for place in (case.scratch / "bases").glob("*/*") if place.is_dir()]
    assert not os.path.lexists(tree / "added.h")
    assert made.notes == ()


@pytest.mark.parametrize("how", ["", "  // fatal"], ids=["in part", "wholly"])
def test_a_unit_that_fails_today_is_parsed_in_the_base(case: Case, how: str) -> None:
    case.project.write({"c.c": f'#include "gone.h"{how}\n'})
    analyzer, made, units = case.units("HEAD", case.project.database("a.c", "c.c"))
    assert parsed(case, analyzer) == {"c.c"}
    assert units["c.c"]["texts"] == ["int c;\n"]
    assert made.notes == ()


@pytest.mark.parametrize(("how", "left"), [("", {"a.c", "c.c"}), ("  // fatal", {"a.c"})], ids=["in part", "wholly"])
def test_a_unit_that_failed_in_the_base_is_named(case: Case, how: str, left: set[str]) -> None:
    case.project.commit({"c.c": f'#include "gone.h"{how}\n'})
    case.project.commit({"c.c": "int c;\n"})
    _, made, units = case.units("HEAD~1", case.project.database("a.c", "c.c"))
    assert set(units) == left
    assert made.notes == ("base: c.c could not be analysed there, what they contribute counts as new",)


def test_a_database_through_a_link_names_files_as_it_does(case: Case, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(case.project.top)
    path = Project(link).database("a.c", "b.c", "c.c")
    case.project.write({"common.h": "int common2;\n"})
    analyzer, made, _ = case.units("HEAD", path)
    assert parsed(case, analyzer) == {"a.c", "b.c"}
    rows = [json.loads(line) for line in made.stream.read_text().splitlines()[1:-1]]
    assert {row["path"] for row in rows} == {f"{link}/{name}" for name in ("a.c", "b.c", "c.c")}
    assert [row["texts"][-1] for row in rows if row["path"].endswith("b.c")] == ["int common;\n"]


def test_a_build_folder_elsewhere_reads_the_base(case: Case, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    above = os.path.relpath(case.project.top, elsewhere)
    case.project.commit({"src/s.c": '#include "lib.h"\n', "include/lib.h": "int lib;\n"})
    case.project.write({"include/lib.h": "int lib2;\n"})
    row = {
        "directory": str(elsewhere),
        "file": f"{above}/src/s.c",
        "arguments": ["cc", f"-I{above}/include", "-c", f"{above}/src/s.c"],
    }
    (elsewhere / database.FILE_NAME).write_text(json.dumps([row]))
    _, made, units = case.units("HEAD", elsewhere / database.FILE_NAME)
    assert units["src/s.c"]["texts"][1] == "int lib;\n"
    assert "bases" not in made.stream.read_text()


def test_a_unit_compiled_twice_is_parsed_twice(case: Case) -> None:
    path = case.project.database("c.c", "c.c", "a.c")
    case.project.write({"c.c": "int c2;\n"})
    _, made, _ = case.units("HEAD", path)
    rows = [json.loads(line)["path"] for line in made.stream.read_text().splitlines()[1:-1]]
    assert (made.parsed, len(rows)) == (2, 3)


def test_units_that_were_not_asked_for_are_not_in_the_base(case: Case) -> None:
    path = case.project.database("a.c")
    case.project.git("rm", "-q", "b.c")
    _, made, units = case.units("HEAD", path, sources=("a.c",))
    assert (set(units), made.parsed) == ({"a.c"}, 0)


def test_what_is_as_broken_as_today_is_not_named(case: Case) -> None:
    case.project.commit({"c.c": '#include "gone.h"\n'})
    case.project.write({"c.c": '#include "gone.h"\nint more;\n'})
    _, made, _ = case.units("HEAD", case.project.database("a.c", "c.c"))
    assert (made.parsed, made.notes) == (1, ())


def test_the_second_comparison_finds_the_tree_ready(case: Case) -> None:
    path = case.project.database("c.c")
    case.project.write({"c.c": "int c2;\n"})
    case.units("HEAD", path)
    (tree,) = [place for place in (case.scratch / "bases").glob("*/*") if place.is_dir()]
    (tree / "c.c").write_text("int cached;\n")
    (case.scratch / "base" / database.FILE_NAME).unlink()
    (case.scratch / "base").rmdir()
    assert case.units("HEAD", path)[2]["c.c"]["texts"] == ["int cached;\n"]


def test_a_cache_within_the_project_is_no_part_of_it(case: Case) -> None:
    """As continuous integration keeps it; two runs, since the second finds the first's tree there."""
    inside = Case(case.project, case.project.top / "cache")
    inside.scratch.mkdir()
    path = case.project.database("a.c", "b.c")
    for text in ("int common2;\n", "int common3;\n"):
        case.project.write({"common.h": text})
        _, made, units = inside.units("HEAD", path)
        assert units["b.c"]["texts"][1] == "int common;\n"
        assert made.notes == ()
    (tree,) = [place for place in (inside.scratch / "bases").glob("*/*") if place.is_dir()]
    assert not (tree / "cache").exists()


@pytest.mark.parametrize(("place", "named"), [(".cache-of-ours", False), ("elsewhere", True)])
def test_repositories_in_our_own_cache_are_no_submodules(
    case: Case, monkeypatch: pytest.MonkeyPatch, place: str, named: bool
) -> None:
    """Histories keep clones there, and a job keeps the cache in the tree."""
    case.project.commit({"c.c": "int c;\n"})
    monkeypatch.setenv("LINEMATE_CACHE", str(case.project.top / ".cache-of-ours"))
    clone = make_project(case.project.top / place / "clone")
    clone.commit({"lib.h": "int lib;\n"})
    case.project.write({"c.c": "int c2;\n"})
    _, made, _ = case.units("HEAD", case.project.database("c.c"))
    assert [f"base: {place}/clone" in note for note in made.notes] == [True] * named


def test_a_submodule_that_differs_is_named(case: Case, tmp_path: Path) -> None:
    library = make_project(tmp_path / "library")
    library.commit({"lib.h": "int lib;\n"})
    case.project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.top), "lib")
    case.project.commit({"c.c": '#include "lib/lib.h"\n'})
    inner = Project(case.project.top / "lib")
    inner.git("config", "user.email", "a@example.org")
    inner.git("config", "user.name", "a")
    inner.commit({"lib.h": "int lib2;\n"})
    case.project.write({"c.c": '#include "lib/lib.h"\nint c2;\n'})
    _, made, units = case.units("HEAD", case.project.database("c.c"))
    assert made.notes == ("base: lib is a submodule that differs, its current files are used",)
    assert units["c.c"]["texts"] == ['#include "lib/lib.h"\n', "int lib2;\n"]


def test_sources_outside_of_any_repository_are_refused(tmp_path: Path) -> None:
    entries = database.fixed_entries(["x.c"], [], str(tmp_path))
    with pytest.raises(LinemateError, match=r"neither .* nor the sources are in a git repository"):
        find_repository(entries, str(tmp_path))


def test_a_repository_of_another_user_is_named_with_what_lets_git_read_it(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = database.fixed_entries([str(case.project.top / "a.c")], [], str(tmp_path))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # as git's own tests do
    with pytest.raises(LinemateError, match=r"belongs to another user; .* safe\.directory"):
        find_repository(entries, str(tmp_path))


def test_the_repository_of_the_sources_counts_not_that_of_the_folder(case: Case, tmp_path: Path) -> None:
    entries = database.fixed_entries([str(case.project.top / "a.c")], [], str(tmp_path))
    assert find_repository(entries, str(tmp_path)).top == str(case.project.top)


def test_names_in_the_module_are_what_compilers_call_sources() -> None:
    assert {".c", ".cc", ".cpp", ".cxx"} <= basefacts.SOURCE_SUFFIXES
    assert not basefacts.SOURCE_SUFFIXES & basefacts.HEADER_SUFFIXES
