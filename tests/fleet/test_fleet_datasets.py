"""An audit into datasets: each content once, safely beside earlier runs, with the documented schema and queries."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from elfscan.tools import ToolJob
from linemate.auditing.asking import Answer, Task
from linemate.auditing.choosing import files_of
from linemate.fleet import storing
from linemate.fleet.run import Tally, store_files
from linemate.fleet.schema import DATASETS, VERSION
from linemate.fleet.store import identity_of
from linemate.fleet.storing import stored
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from tests.builders.elf import small_program

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install -r requirements-fleet.txt")
PAGE = Path(__file__).parents[2] / "docs" / "fleet.md"
OPTIONS = AuditOptions("")


def here(tasks: Sequence[Task]) -> Iterator[tuple[str, Answer]]:
    """An engine without processes."""
    for task in tasks:
        file = os.fsdecode(task.file)
        yield file, Answer(stored=stored(file, task.options, task.store, resume=task.resume, starter=ToolJob))


def run(tree: Path, folder: Path | str, *, resume: bool = False, options: AuditOptions = OPTIONS) -> Tally:
    return store_files(files_of([str(tree)]).files, options, str(folder), here, resume=resume)


@pytest.fixture(scope="module")
def results(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets") / "results"
    tally = run(tree, folder)
    assert (dict(tally.statuses), tally.known) == ({"audited": 4, "failed": 1}, 1)  # copy has the bytes of one
    return folder


def rows(folder: Path, dataset: str) -> list[dict[str, Any]]:
    """The rows of a dataset, with the column that the name of a folder is."""
    from pyarrow import parquet

    files = [(file, file.parent.name.partition("=")[2]) for file in sorted(folder.glob(f"{dataset}/*/*.parquet"))]
    return [
        {"build_id": build_id, **row}
        for file, build_id in files
        for row in parquet.ParquetFile(file).read().to_pylist()
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_each_path_has_a_row_and_each_content_is_there_once(tree: Path, results: Path) -> None:
    files = {Path(row["path"]).name: row for row in rows(results, "files")}
    assert {name: row["status"] for name, row in files.items()} == {
        "one": "audited",
        "two": "audited",
        "padded": "audited",
        "copy": "audited",
        "half": "failed",
    }
    assert files["half"]["error"].startswith("offset 0xbb8")  # the path has a column of its own
    assert files["copy"]["content"] == files["one"]["content"] != files["two"]["content"]
    images = rows(results, "images")
    assert len(images) == 3
    assert sum(image["variables"] for image in images) == len(rows(results, "variables"))
    for dataset in ("images", "variables", "lines", "accesses"):
        assert {row["build_id"] for row in rows(results, dataset)} == {
            files[name]["build_id"] for name in ("one", "two", "padded")
        }
        assert {row["content"] for row in rows(results, dataset)} <= {row["content"] for row in files.values()}


def test_what_is_done_to_the_lock_and_the_counter_is_told(tree: Path, results: Path) -> None:
    one = next(row for row in rows(results, "files") if row["path"] == str(tree / "one"))["content"]
    padded = next(row for row in rows(results, "files") if row["path"] == str(tree / "padded"))["content"]
    variables = {row["name"]: row for row in rows(results, "variables") if row["content"] == one}
    assert (variables["registry"]["lock"], variables["hits"]["lock"]) == ("mutex", "")
    assert variables["hits"]["writes"] > 0
    assert variables["registry"]["size"] == 40
    shared = {row["content"] for row in rows(results, "lines") if "registry" in row["names"]}
    assert one in shared
    assert padded not in shared
    found = [row for row in rows(results, "findings") if row["content"] == one]
    assert found
    assert {"registry", "hits"} <= {name for row in found for name in row["names"]}
    kinds = {(r["function"], r["variable"], r["kind"]) for r in rows(results, "accesses") if r["content"] == one}
    assert {("work", "registry", "lock"), ("main", "hits", "read")} <= kinds
    assert any(kind in ("write", "update") for _, variable, kind in kinds if variable == "hits")


def test_the_page_has_the_schema_and_the_files_keep_it(results: Path) -> None:
    from pyarrow import parquet

    page = PAGE.read_text()
    assert f"\nVersion {VERSION}." in page
    for dataset, columns in DATASETS.items():
        section = page.split(f"### {dataset}\n")[1].split("\n#")[0]
        _, *documented = re.findall(r"^\| (\w+) \| ([\w<>]+) \| ", section, re.MULTILINE)
        assert documented == [(column.name, column.type) for column in columns]
        for file in results.glob(f"{dataset}/*/*.parquet"):
            opened = parquet.ParquetFile(file)
            fields = [(field.name, str(field.type).replace("element: ", "")) for field in opened.schema_arrow]
            assert fields == [(name, kind) for name, kind in documented]
            assert opened.metadata.metadata[b"linemate_schema"] == str(VERSION).encode()


def test_a_second_run_reads_and_adds_nothing(tree: Path, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(results)
    audited: list[str] = []

    def again(options: AuditOptions, **how: Any) -> Report:
        audited.append(Path(options.binary).name)
        return audit(options, **how)

    monkeypatch.setattr(storing, "audit", again)
    assert run(tree, results).known == 4
    assert audited == ["half"]  # of which nothing is kept but the row
    monkeypatch.setattr(storing, "identity_of", None)
    tally = run(tree, results, resume=True)
    assert (tally.known, dict(tally.statuses)) == (5, {"audited": 4, "failed": 1})
    assert contents(results) == before


def test_a_run_that_was_ended_gives_the_same_in_the_end(tree: Path, results: Path, tmp_path: Path) -> None:
    """Whatever was written last: without ``images`` a content is not whole, without its row a path is not done."""
    whole = contents(results)
    for dropped in ("images", "files", "lines"):
        folder = tmp_path / dropped
        shutil.copytree(results, folder)
        for file in [file for file in folder.glob(f"{dropped}/*/*.parquet") if file.stem != "none"][:2]:
            file.unlink()
            if dropped == "lines":  # written before
                (folder / "images" / file.relative_to(folder / "lines")).unlink()
        run(tree, folder, resume=True)
        assert contents(folder) == whole


def test_what_was_damaged_is_made_anew(tree: Path, results: Path, tmp_path: Path) -> None:
    whole = contents(results)
    shutil.copytree(results, folder := tmp_path / "results")
    for dataset, data in (("images", b""), ("files", b"PAR1 and more PAR1")):
        for file in [file for file in folder.glob(f"{dataset}/*/*.parquet") if file.stem != "none"]:
            file.write_bytes(data or file.read_bytes()[:100])
    assert run(tree, folder, resume=True).known == 1  # the copy
    assert contents(folder) == whole


def test_a_file_of_holes_is_not_hashed(tmp_path: Path) -> None:
    (path := tmp_path / "program").write_bytes(small_program().bytes())
    identity_of(str(path))
    os.truncate(path, 1 << 40)
    with pytest.raises(LinemateError, match="1,099,511,627,776 bytes, and results are kept"):
        identity_of(str(path))


def test_a_file_that_changed_has_a_new_row_and_the_old_build_stays(tree: Path, tmp_path: Path) -> None:
    mine = tmp_path / "tree"
    mine.mkdir()
    shutil.copy(tree / "one", mine / "program")
    run(mine, tmp_path / "results")
    shutil.copy(tree / "padded", mine / "program")
    assert run(mine, tmp_path / "results", resume=True).known == 0
    assert (len(rows(tmp_path / "results", "files")), len(rows(tmp_path / "results", "images"))) == (1, 2)


def test_results_of_other_options_and_foreign_folders_are_refused(tree: Path, results: Path, tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="other options or another version"):
        run(tree, results, options=AuditOptions("", line_size=128))
    for mine in (b"mine", b'"\xff"'):
        (tmp_path / "linemate-dataset.json").write_bytes(mine)
        with pytest.raises(LinemateError, match="is not linemate's"):
            run(tree, tmp_path)


def test_a_lost_process_is_a_row_and_tried_again(tree: Path, tmp_path: Path) -> None:
    def lose(tasks: Sequence[Task]) -> Iterator[tuple[str, Answer]]:
        yield os.fsdecode(tasks[0].file), Answer(error=f"{tree}/one: the process that read it ended", lost=True)

    tally = store_files([str(tree / "one")], OPTIONS, str(tmp_path / "results"), lose, resume=True)
    assert (dict(tally.statuses), tally.incomplete) == ({"lost": 1}, True)
    assert f"not audited: {tree}/one: the process that read it ended" in tally.text("results")
    tally = store_files([str(tree / "one")], OPTIONS, str(tmp_path / "results"), here, resume=True)
    assert dict(tally.statuses) == {"audited": 1}
    assert [row["status"] for row in rows(tmp_path / "results", "files")] == ["audited"]


def test_urls_are_read_and_written_through_fsspec(tree: Path, results: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed: pip install -r requirements-fleet.txt")
    from linemate.fleet.folders import listed

    there = f"file://{tmp_path}/there"
    files = listed(f"file://{tree}")
    assert [Path(file).name for file in files] == ["half", "copy", "one", "padded", "text", "two"]
    tally = store_files(files, OPTIONS, there, here, resume=False)
    assert dict(tally.statuses) == {"audited": 4, "failed": 1, "left out": 1}
    for dataset in ("images", "findings", "variables", "lines", "accesses"):
        assert rows(tmp_path / "there", dataset) == rows(results, dataset)
    assert store_files(files, OPTIONS, there, here, resume=True).known == 6
    with pytest.raises(LinemateError, match="nothing is there"):
        listed(f"{there}/gone")
    with pytest.raises(LinemateError, match="gone://x: "):
        listed("gone://x")


@pytest.mark.parametrize("number", range(4))
def test_the_queries_of_the_page_run(results: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install -r requirements-fleet.txt")
    query = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]
    monkeypatch.chdir(results.parent)
    answer = duckdb.execute(query).fetchall()
    if number == 0:  # which lock shares a line in most binaries: one and two, and not the padded one
        assert [(lock, binaries) for lock, binaries, *_ in answer] == [("registry", 2)]
    elif number == 1:
        assert {Path(path).name for path, *_ in answer} == {"one", "copy", "two"}
    elif number == 2:
        files = {Path(row["path"]).name: row["content"] for row in rows(results, "files")}
        found = {content for content, lock, neighbour, *_ in answer if (lock, neighbour) == ("registry", "hits")}
        assert found == {files["one"], files["two"]}
    else:
        assert duckdb.sql("SELECT count(*) FROM 'lines.parquet'").fetchall() == [(len(rows(results, "lines")),)]
