"""``linemate fix`` of a finding that only a profile has: its edit is made where source declares the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from linemate.cli import main
from sharing.model.finding import Confidence, Finding, LineRef, Participant, Remedy, Severity, Verdict

ID = "sampled-false-sharing-0123456789"
SOURCE = """#include <new>
struct Tally { long hits; long misses; };
struct Other { long hits; };
long total;
Tally *make() { return new Tally(); }
"""
Fix = Callable[..., tuple[int, str, str]]


def seen(kind: str, text: str, *names: str, source: str = "seen.cc:2") -> Finding:
    who = tuple(Participant(name, "0x5000", 8, ((0, 8),), "written data", source, type="long") for name in names)
    remedy = Remedy(kind, text, "", "C/C++", 48, breaks_abi=False, protects_tail=True)
    line = LineRef("0x5000", 64, "")
    return Finding(
        ID,
        "sampled-false-sharing",
        Severity.HIGH,
        Confidence.DERIVED,
        Verdict.FALSE_SHARING,
        line,
        who,
        "",
        (),
        (remedy,),
    )


@pytest.fixture
def fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fix:
    (tmp_path / "seen.cc").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))

    def run(*findings: Finding) -> tuple[int, str, str]:
        kept = SimpleNamespace(findings=findings, command="audit", baseline="", targets=())
        monkeypatch.setattr("linemate.lastreport.last_reports", lambda words: iter([(kept, "x")]))
        code = main(["fix", *(dict.fromkeys(one.id for one in findings) or [ID]), "seen.cc", "--", "-std=c++17"])
        return (code, *capfd.readouterr())

    return run


def added(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]


@pytest.mark.parametrize("place", ["seen.cc:2", "./seen.cc:2", "{}/seen.cc:2"])
def test_objects_of_a_type_that_shared_a_line_have_lines_of_their_own(fix: Fix, tmp_path: Path, place: str) -> None:
    text = "give each Tally (seen.cc:2) lines of its own"
    found = seen("pad-type", text, "Tally[0].hits", "Tally[3].hits", source=place.format(tmp_path))
    code, out, err = fix(found)
    assert code == 0, err
    assert added(out) == ["+struct alignas(64) Tally { long hits; long misses; };"]


def test_members_of_one_object_are_parted(fix: Fix) -> None:
    code, out, err = fix(
        seen("align-member", "give misses of Tally (seen.cc:2) lines", "Tally[1].hits", "Tally[1].misses")
    )
    assert code == 0, err
    assert added(out) == ["+struct Tally { long hits; alignas(64) long misses; };"]


def test_a_variable_is_known_by_its_name_and_place(fix: Fix) -> None:
    code, out, err = fix(seen("pad-type", "give total a type of its own", "total", source="seen.cc:4"))
    assert code == 0, err
    assert "value" in "".join(added(out)) or "union alignas(64)" in "".join(added(out))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("Tally.hits", "seen.cc:3"),  # another declaration is there
        ("Tally.hits", "nseen.cc:2"),
        ("Tally.hits", "/elsewhere/seen.cc:2"),
        ("Tal.hits", "seen.cc:2"),
        ("Tally.hits", ""),
    ],
)
def test_what_source_does_not_declare_there_is_not_edited(fix: Fix, name: str, source: str) -> None:
    code, out, err = fix(seen("pad-type", "give each Tally lines of its own", name, source=source))
    assert (code, out) == (2, "")
    assert f"{ID} is a finding of samples on nothing that these sources declare" in err


def test_an_id_that_no_report_has_is_an_error(fix: Fix) -> None:
    code, out, err = fix()
    assert (code, out) == (2, "")
    assert "audit again" in err


def test_so_is_one_that_an_audit_has_and_its_sources_do_not_show(fix: Fix) -> None:
    """An id that `audit` printed is enough: what the linked program showed is edited where source declares it."""
    audited = seen("pad-type", "align Tally to 64 bytes", "Tally.hits")
    audited = msgspec.structs.replace(
        audited, id="independent-writers-0123456789", rule="independent-writers", confidence=Confidence.STATIC
    )
    code, out, err = fix(audited)
    assert (code, len(added(out))) == (0, 1)
    assert "as the last audit of" in err


def test_of_what_no_source_declares_nothing_is_edited(fix: Fix) -> None:
    """The near miss."""
    audited = msgspec.structs.replace(
        seen("pad-type", "align", "hidden", source="other.cc:9"), id="two-locks-0123456789"
    )
    code, out, err = fix(audited)
    assert (code, out) == (2, "")
    assert "on nothing that these sources declare" in err
