"""Saved documents read back: equal to what was written, or refused in one line that says where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linemate.saved import read_report, read_saved
from reports.options import RenderOptions
from sharing.model.errors import LinemateError, Malformed
from tests.saved.documents import changed, leaves, texts

TEXTS = texts()
DOCUMENTS = {kind: json.loads(text) for kind, text in TEXTS.items()}
FINDING = ("findings", 0)
PICTURE = (*FINDING, "picture", 0)
ODD = st.sampled_from([-1, 0, 10**30, 1e300, "", "zz", "0x10", None, [], {}, True, [0, 10**9], [1, 0]])


def read(where: Path, text: str) -> Any:
    path = where / "saved.json"
    path.write_text(text)
    return read_saved(str(path))


@pytest.mark.parametrize("kind", TEXTS)
def test_what_was_written_is_written_again(tmp_path: Path, kind: str) -> None:
    document, found = read(tmp_path, TEXTS[kind])
    assert found.emitters["json"].render(document) == TEXTS[kind]


@pytest.mark.parametrize(
    ("kind", "path", "value", "why"),
    [
        (
            "findings",
            ("schema",),
            "linemate-report-9",
            "schema 'linemate-report-9', this version reads linemate-report-1",
        ),
        ("findings", ("schema",), None, "not a saved report: Expected `str`, got `null` - at `$.schema`"),
        ("findings", (*FINDING, "severity"), "bad", "Invalid enum value 'bad'"),
        ("findings", (*FINDING, "participants"), [], "findings[0].participants is empty"),
        ("findings", (*FINDING, "line", "address"), "12", "findings[0].line.address is no address: '12'"),
        ("findings", (*FINDING, "line", "size"), 1 << 40, "findings[0].line.size is 1099511627776"),
        ("findings", (*FINDING, "participants", 0, "bytes"), [[8, 4]], "has the range 8 to 4"),
        ("findings", (*PICTURE, "size"), 1 << 40, "findings[0].picture[0].size is 1099511627776"),
        ("findings", (*PICTURE, "size"), 65, "findings[0].picture[0].slices end at 256 of 65"),
        ("findings", (*PICTURE, "slices", 0, "end"), 1 << 15, "leave a gap or overlap at"),
        ("findings", ("hidden",), 1 << 70, "hidden does not fit into 64 bits"),
        ("comparison", ("causes",), [], "causes is empty"),
        ("comparison", ("changes", 0, "new_address"), "8", "changes[0].new_address is no address: '8'"),
        ("comparison", ("causes", 0, "moved", 0, "shift"), "8", "causes[0].moved[0].shift is no address: '8'"),
        ("history", ("steps", 0, "between"), [1, 4], "steps[0] names revision 4 of 4"),
        ("history", ("series", 0, "values"), [], "series[0].values has 0 of 4 revisions"),
        ("history", ("bisection", "suspects"), [-1], "bisection names revision -1 of 4"),
    ],
)
def test_what_rendering_could_not_take_is_refused(
    tmp_path: Path, kind: str, path: tuple[str | int, ...], value: object, why: str
) -> None:
    with pytest.raises(Malformed) as refused:
        read(tmp_path, json.dumps(changed(DOCUMENTS[kind], path, value)))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", '{"schema": 1}', "[" * 100_000, '{"schema": "\udcff"}'.encode("utf-8", "replace").decode()],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(LinemateError, match=r"saved\.json: "):
        read(tmp_path, text)


def test_only_findings_have_findings(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(TEXTS["history"])
    with pytest.raises(Malformed, match="is of schema 'linemate-history-1', expected findings"):
        read_report(str(path))


@pytest.mark.parametrize("kind", TEXTS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_odd_value_is_refused_or_shown(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(leaves(DOCUMENTS[kind])))
    text = json.dumps(changed(DOCUMENTS[kind], path, data.draw(ODD)))
    try:
        document, found = read(tmp_path, text)
    except LinemateError:
        return
    for emitter in found.emitters.values():
        assert emitter.render(document, RenderOptions()).endswith("\n")


def test_a_comparison_of_an_earlier_version_has_one_text_to_confirm_a_cause(tmp_path: Path) -> None:
    kind = next(kind for kind, document in DOCUMENTS.items() if document["schema"] == "linemate-explain-1")
    old = json.loads(TEXTS[kind])
    old["causes"][0]["confirm"], old["causes"][0]["refute"] = "perf c2c record; perf c2c report", ""
    document, found = read(tmp_path, json.dumps(old))
    assert document.causes[0].confirm == ("perf c2c record; perf c2c report",)
    assert document.causes[0].refute == ()
    assert "perf c2c record; perf c2c report" in found.emitters["text"].render(document, RenderOptions())
    old["causes"][0]["confirm"] = 7
    with pytest.raises(Malformed, match="confirm"):
        read(tmp_path, json.dumps(old))
