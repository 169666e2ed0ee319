"""Guards: findings become pairs that a file names, and a later build in which such a pair meets fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from linemate import guardfile
from linemate.cli import main
from linemate.guardfile import PairGuard, asserts_of, guard_file, pairs_of, read_guards
from reports import EMITTERS
from reports.brief import rows_of
from sharing.model.errors import LinemateError
from sharing.model.finding import GUARDED, Confidence, Finding, Participant, Severity, SourceEdit, Verdict
from tests.builders.report import REPORT

LOCK, HEAD = "struct lock { long words[4]; } lock", "long head"
APART = "__attribute__((aligned(64)))"
USES = "void f(void) { lock.words[0]++; head++; } int main(void) { f(); return 0; }"
FINDING = next(finding for finding in REPORT.findings if finding.severity is Severity.CRITICAL)


def program(folder: Path, name: str, *declarations: str) -> str:
    source = folder / f"{name}.c"
    source.write_text("".join(f"{text};\n" for text in declarations) + USES)
    subprocess.run(
        ["gcc", "-g", "-fno-common", "-fno-toplevel-reorder", str(source), "-o", str(folder / name)], check=True
    )
    return str(folder / name)


@pytest.fixture
def guards(tmp_path: Path) -> Path:
    path = tmp_path / "guards.toml"
    path.write_text(guard_file([PairGuard(("lock", "head"), 64, "hot-lock-shares-line-0123456789")]))
    return path


def audit(binary: str, guards: Path, out: Path) -> tuple[int, list[Finding]]:
    code = main(["audit", binary, "--guards", str(guards), "--format", "json", "-o", str(out)])
    return code, json.loads(out.read_text())["findings"]


class TestEnforcing:
    def test_a_pair_that_meets_is_a_finding(self, tmp_path: Path, guards: Path) -> None:
        binary = program(tmp_path, "together", f"{LOCK} {APART} = {{{{1}}}}", f"{HEAD} = 1")
        code, (finding,) = audit(binary, guards, tmp_path / "out.json")
        assert (code, finding["rule"], finding["severity"]) == (1, "guarded-pair-meets", "high")
        assert {who["name"] for who in finding["participants"]} == {"lock", "head"}
        assert "hot-lock-shares-line-0123456789" in finding["message"]

    def test_a_pair_of_which_a_rule_tells_is_one_finding(self) -> None:
        """The guard's, with what the rule says and its edit, by the id that ``fix`` knows."""
        import msgspec

        edit = msgspec.structs.replace(FINDING.remedies[0], edits=(SourceEdit("a.c", 0, 1, ""),))
        told = msgspec.structs.replace(FINDING, remedies=(edit, *FINDING.remedies[1:]))
        bare = [msgspec.structs.replace(who, readers=(), writers=(), lockers=()) for who in FINDING.participants[:2]]
        held = msgspec.structs.replace(
            FINDING,
            id="guarded-pair-meets-1",
            rule=GUARDED,
            severity=Severity.HIGH,
            confidence=Confidence.LAYOUT,
            message="kept apart",
            participants=tuple(bare),
            evidence=FINDING.evidence[:1],
            remedies=(),
        )
        (found,) = guardfile.with_guards([told], [held])
        assert (found.id, found.rule, found.message) == (held.id, GUARDED, "kept apart")
        assert (found.severity, found.confidence) == (FINDING.severity, FINDING.confidence)
        assert found.participants == FINDING.participants
        assert found.evidence[0].text == f"{FINDING.id}: {FINDING.message}"
        assert found.evidence[1:] == (*FINDING.evidence, *held.evidence)
        assert found.remedies[0].text == f"{edit.text} (linemate fix {FINDING.id} shows it as a diff)"
        assert (found.remedies[0].edit, found.remedies[0].edits) == (edit.edit, ())

    def test_what_is_said_of_another_pair_or_line_is_no_guards(self) -> None:
        import msgspec

        held = msgspec.structs.replace(FINDING, id="guarded-pair-meets-1", rule=GUARDED, remedies=())
        first = FINDING.participants[0]
        others = [
            msgspec.structs.replace(FINDING, id="a-1", participants=(first, first)),
            msgspec.structs.replace(FINDING, id="b-1", line=msgspec.structs.replace(FINDING.line, address="0x40")),
            msgspec.structs.replace(FINDING, id="c-1", verdict=Verdict.FRAGILE),
        ]
        assert guardfile.with_guards(others, [held]) == [*others, held]
        assert guardfile.with_guards([], [held]) == [held]
        assert guardfile.with_guards(others, []) == others

    def test_a_pair_on_neighbouring_lines_is_none(self, tmp_path: Path, guards: Path) -> None:
        binary = program(tmp_path, "apart", f"{LOCK} {APART} = {{{{1}}}}", f"{HEAD} {APART} = 1")
        assert audit(binary, guards, tmp_path / "out.json") == (0, [])

    def test_a_name_that_is_gone_makes_the_audit_incomplete(self, tmp_path: Path, guards: Path) -> None:
        guards.write_text(guard_file([PairGuard(("lock", "tail"))]))
        binary = program(tmp_path, "apart", f"{LOCK} = {{{{1}}}}", f"{HEAD} = 1")
        assert main(["audit", binary, "--guards", str(guards), "-o", str(tmp_path / "out.txt")]) == 3
        text = " ".join((tmp_path / "out.txt").read_text().split())
        assert "guards: no variable 'tail': its pairs were not checked" in text

    def test_names_of_many_variables_make_few_findings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spans = [(0x1000, 8)] * 1000
        monkeypatch.setattr(guardfile, "spans_of", lambda image, names: {"lock": spans, "head": [(0x1008, 8), *spans]})
        held = guardfile.hold(None, [PairGuard(("lock", "head"))])  # type: ignore[arg-type]
        assert len(held.findings) == guardfile.MAX_MEETINGS

    def test_a_member_that_moved_into_a_padded_type_is_its_variable(self, tmp_path: Path, guards: Path) -> None:
        guards.write_text(guard_file([PairGuard(("lock.mutex", "head"))]))
        together = program(tmp_path, "together", f"{LOCK} {APART} = {{{{1}}}}", f"{HEAD} = 1")
        apart = program(tmp_path, "apart", f"{LOCK} {APART} = {{{{1}}}}", f"{HEAD} {APART} = 1")
        assert [audit(binary, guards, tmp_path / "out.json")[0] for binary in (together, apart)] == [1, 0]


class TestWriting:
    def test_findings_of_an_earlier_build_guard_the_next(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("old.json").write_text(EMITTERS["json"].render(REPORT))
        assert main(["guard", "any", FINDING.id[:8], "--in", "old.json"]) == 0
        text = capsys.readouterr().out
        (pair,) = tomllib.loads(text)["apart"]
        assert (pair["names"], pair["why"]) == ([who.full_name for who in FINDING.participants[:2]], FINDING.id)
        Path("guards.toml").write_text(text)
        assert [guard.why for guard in read_guards("guards.toml")] == [FINDING.id]

    def test_what_cannot_be_named_next_time_is_said(self) -> None:
        import msgspec

        def about(*names: str) -> Finding:
            people = tuple(msgspec.structs.replace(FINDING.participants[0], name=name, member="") for name in names)
            return msgspec.structs.replace(FINDING, participants=people)

        pairs, notes = pairs_of([about("a", "b"), about("b", "a"), about("slots"), about("bss+0x40 (mutex)", "a")], 64)
        assert [pair.names for pair in pairs] == [("a", "b")]
        assert [note.partition(": ")[2] for note in notes] == [
            "is about one object, whose elements a guard cannot name",
            "bss+0x40 (mutex) / a: without symbols the next build has other names",
        ]

    def test_all_of_a_finding_stay_apart_but_what_is_used_together(self) -> None:
        import msgspec

        def used(name: str, *by: str) -> Participant:
            plain = FINDING.participants[0]
            return msgspec.structs.replace(plain, name=name, member="", readers=by, writers=by[:1], lockers=())

        people = (used("head", "pop"), used("bytes_out", "count", "main"), used("jobs_done", "count"))
        pairs, _ = pairs_of([msgspec.structs.replace(FINDING, participants=people)], 64)
        assert [pair.names for pair in pairs] == [("head", "bytes_out"), ("head", "jobs_done")]
        people = (used("head", "pop"), used("bytes_out", "count"), used("stop", "halt"))
        pairs, _ = pairs_of([msgspec.structs.replace(FINDING, participants=people)], 64)
        assert [pair.names for pair in pairs] == [("head", "bytes_out"), ("head", "stop"), ("bytes_out", "stop")]

    @pytest.mark.parametrize("name", ["a b", 'quote"', "back\\slash", "tab\t", "del\x7f", "\udcff", "ü", "\u2028"])
    def test_every_name_comes_back(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "guards.toml"
        path.write_text(guard_file([PairGuard((name, "other"))]))
        (guard,) = read_guards(str(path))
        assert guard.names == (name.encode("utf-8", "backslashreplace").decode(), "other")

    @pytest.mark.parametrize("compiler", ["gcc", "clang-19", "g++"])
    def test_assertions_hold_where_members_are_apart(self, tmp_path: Path, compiler: str) -> None:
        import msgspec

        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        who = [
            msgspec.structs.replace(FINDING.participants[0], name="server", member=member) for member in ("a", "in.b")
        ]
        finding = msgspec.structs.replace(FINDING, participants=tuple(who))
        text, notes = asserts_of([finding, finding, FINDING], 64)
        assert (text.count("static_assert"), len(notes)) == (1, 1)
        (tmp_path / "guards.h").write_text(text)
        injected = msgspec.structs.replace(finding, id='x)"); int more; //\n#include "other.h"\n')
        assert asserts_of([injected], 64) == ("", [f"{injected.id}: server.a: cannot be named in an assertion"])
        for layout, holds in (
            (f"long a; struct {{ long b; }} in {APART}", True),
            ("long a; struct { long b; } in", False),
        ):
            source = tmp_path / f"{holds}{'.cc' if compiler == 'g++' else '.c'}"
            source.write_text(
                f'struct server {{ {layout}; }} {APART};\nextern struct server server;\n#include "guards.h"\n'
            )
            done = subprocess.run([compiler, "-fsyntax-only", str(source)], capture_output=True, text=True)
            assert (done.returncode == 0) == holds, done.stderr
            assert holds or "must not share a cache line" in done.stderr


def test_a_pair_is_held_once(tmp_path: Path) -> None:
    path = tmp_path / "guards.toml"
    path.write_text(guard_file([PairGuard(("a", "b"), why="first"), PairGuard(("b", "a")), PairGuard(("a", "b"), 128)]))
    assert [(guard.why, guard.line_size) for guard in read_guards(str(path))] == [("first", 64), ("", 128)]


def test_no_file_is_written_that_could_not_be_read() -> None:
    with pytest.raises(LinemateError, match="2 pairs are more than a file of guards can have"):
        guard_file([PairGuard(("a", "b" * (1 << 20))), PairGuard(("a", "c"))])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "missing required field `schema`"),
        ('schema = "linemate-guards-2"', "this version reads 'linemate-guards-1'"),
        ('schema = "linemate-guards-1"\n[[apart]]\nnames = ["a"]', "apart[0].names"),
        ('schema = "linemate-guards-1"\n[[apart]]\nnames = ["a", "a"]', "apart[0].names: name two different variables"),
        (
            'schema = "linemate-guards-1"\n[[apart]]\nnames = ["a", "b"]\nline_size = 48',
            "apart[0].line_size: 48 is not one",
        ),
        ('schema = "linemate-guards-1"\nother = 1', "unknown field `other`"),
        ("[", "at end of document"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("a" + ".a" * 40 + " = 1", "a key of more than 32 parts"),
        ("#" * (1 << 20) + "#", "larger than 1 MiB: not a file of guards"),
        (guard_file([PairGuard(("a" + ".b" * 32, "b"))]), "apart[0].names: a name of more than 32 parts"),
        (guard_file([PairGuard(("a", "b" + "+" * 32))]), "apart[0].names: a name of more than 32 parts"),
        ("x = " + "6" * 5000, "a number has too many digits"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "guards.toml"
    path.write_text(text)
    with pytest.raises(LinemateError) as refused:
        read_guards(str(path))
    assert str(refused.value).startswith(str(path))
    assert why in str(refused.value)


class TestSaying:
    """A broken guard is what the run is about: a first sentence and a row of its own say so."""

    @pytest.fixture
    def broken(self) -> Finding:
        import msgspec

        return msgspec.structs.replace(
            FINDING, id="guarded-pair-meets-0123456789", rule=GUARDED, severity=Severity.HIGH, remedies=()
        )

    def test_it_has_its_own_row_beside_a_worse_finding_of_its_line(self, broken: Finding) -> None:
        assert broken.severity.rank < FINDING.severity.rank
        assert [row.worst.id for row in rows_of([FINDING, broken])] == [FINDING.id, broken.id]

    def test_others_of_one_line_stay_one_row(self) -> None:
        import msgspec

        other = msgspec.structs.replace(FINDING, id="other", severity=Severity.LOW)
        assert [row.others for row in rows_of([FINDING, other])] == [[other]]

    @pytest.mark.parametrize("format_name", ["text", "markdown"])
    def test_the_first_sentence_names_it(self, broken: Finding, format_name: str) -> None:
        import msgspec

        names = " / ".join(who.full_name for who in broken.participants)
        for findings, said in (((FINDING, broken), True), ((FINDING,), False)):
            report = msgspec.structs.replace(REPORT, findings=findings)
            text = " ".join(EMITTERS[format_name].render(report).replace("\\", "").replace("`", "").split())
            assert (f"1 guard is broken: {names}; {len(findings)} finding" in text) == said

    def test_names_of_it_cannot_write_to_the_terminal(self, broken: Finding) -> None:
        import msgspec

        who = msgspec.structs.replace(broken.participants[0], name="a\x1b[2J")
        report = msgspec.structs.replace(
            REPORT, findings=(msgspec.structs.replace(broken, participants=(who, *broken.participants[1:])),)
        )
        assert "\x1b[2J" not in EMITTERS["text"].render(report)


class TestAsserting:
    """A finding parts a name into variable and member as it has found it; an assertion takes the name whole."""

    @staticmethod
    def about(*names: tuple[str, str]) -> Finding:
        import msgspec

        plain = FINDING.participants[0]
        people = [
            msgspec.structs.replace(plain, name=name, member=member, readers=("lookup",), writers=(), lockers=())
            for name, member in names
        ]
        return msgspec.structs.replace(FINDING, participants=tuple(people))

    def test_members_are_known_by_their_whole_names(self) -> None:
        text, notes = asserts_of([self.about(("cache.lock", ""), ("cache", "hits"), ("cache.entries", ""))], 64)
        assert notes == []
        assert text.count("static_assert") == 1
        assert "offsetof(__typeof__(cache), lock) / 64" in text
        assert "offsetof(__typeof__(cache), hits) / 64" in text

    def test_a_pair_of_members_behind_a_pair_of_variables_is_asserted(self) -> None:
        import msgspec

        finding = self.about(("other", ""), ("cache.lock", ""), ("cache.hits", ""))
        users = ("a", "b", "c")
        people = zip(finding.participants, users, strict=True)
        apart = tuple(msgspec.structs.replace(who, readers=(user,)) for who, user in people)
        text, _ = asserts_of([msgspec.structs.replace(finding, participants=apart)], 64)
        assert text.count("static_assert") == 1

    def test_members_of_two_variables_are_no_pair(self) -> None:
        finding = self.about(("cache.lock", ""), ("queue.head", ""))
        assert asserts_of([finding], 64) == ("", [f"{finding.id}: is not about two members of one variable"])
