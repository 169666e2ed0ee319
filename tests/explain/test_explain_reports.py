"""Comparisons shown: the schema holds for every kind of value, and no name is obeyed."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linemate.askedinvain import both_from_files
from reports.escape import LONGEST_IN_SENTENCE, shorten
from reports.explain import EXPLAIN_EMITTERS
from reports.explain.document import decode
from reports.markdown import MAX_CHARACTERS
from reports.options import RenderOptions
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import (
    EXPLAIN_SCHEMA,
    SAMPLES_NEW,
    Cause,
    CauseKind,
    ChangeKind,
    Comparison,
    Contribution,
    LineMates,
    MatchSummary,
    MeasuredChange,
    Moved,
    RuledOut,
    SampledChange,
    SampledKind,
    Sensitivity,
    Share,
    ShareChange,
    ShiftRun,
    Straddle,
    SymbolChange,
)
from sharing.model.finding import EXPLAIN_ASKING, NAMES, NO_ANSWER, Confidence, Coverage, Target
from tests.builders.report import REPORT
from tests.explain.layouts import Var, laid
from tests.schema_paths import required_paths, without

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/linemate-explain.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
HIDDEN = [*map(chr, range(0x20)), "\x7f", "\u200b", "\u202e", "\u2066", "\ufeff", "\ud800"]
MARKUP = st.text("`*_[](){}<>|~#!&@\\-+=.1 \n\r\x1b\u202eab", min_size=1, max_size=24)


def comparison(name: str = "LOCK_open", other: str = "unused_tables") -> Comparison:
    """One of every kind of value; all free text is ``name``."""
    mates = LineMates(name, other, "0x1074200", 64, (0, 20), (48, 56), 2.5, True, True, name, "", (name,), "r", "high")
    contribution = Contribution(Share.ADDED, name, 208, name, True)
    cause = Cause(
        CauseKind.LAYOUT,
        Confidence.SAMPLED,
        0.95,
        f"`{name}` moved; {other}",
        (name,),
        (Moved(name, "0x1074120", "0x1074200", "0xe0"),),
        (mates,),
        (mates,),
        (name,),
        confirm=(name, name),
        refute=(name,),
    )
    better = msgspec.structs.replace(cause, improves=True, kind=CauseKind.CODE)
    change = SymbolChange(ChangeKind.ADDED, name, "", "0x1061d40", 0, 208, "", ".bss", name, name)
    run = ShiftRun(".bss", 0xE0, 0xE0, 1312, name, other, "0x1", "0x2", True, (contribution, contribution))
    target = Target(name, "", "x86-64", "pie", name, 64, name)
    return Comparison(
        EXPLAIN_SCHEMA,
        "explain",
        (target, target),
        Coverage({"changes": 3, "runs_moved": 9, "variables_moved": 1312}, (name,)),
        REPORT.findings[:1],
        MatchSummary(2, 3, 2, {"name": 2}),
        MatchSummary(1, 1, 1, {"body": 1}),
        (cause, better),
        (RuledOut(CauseKind.DEPENDENCY, name),),
        (change,),
        (run,),
        (Straddle(name, "0x10", 8, True, 1.0, True, "low"),),
        (ShareChange(name, name, "lock", 0, 5, 0.0, 0.1, None, 1.5, None, 0.01),),
        (SampledChange(name, SampledKind.MEMBER, name, "0x1074200", 0, 5, 0.0, 0.1, None, 1.5, None, 0.01),),
        (MeasuredChange(name, {name: other}, 1.0, 2.0, 1.0, None, None, None, (1, 1), False),),
        (Sensitivity(name, other, 1, 2, 32, True, 32, 1.0, True),),
        True,
    )


def document() -> Any:
    return json.loads(EXPLAIN_EMITTERS["json"].render(comparison()))


REQUIRED = [path for path in required_paths(SCHEMA, document()) if path[0] != "findings" or len(path) == 1]


def test_every_kind_of_value_is_valid() -> None:
    VALIDATOR.check_schema(SCHEMA)
    VALIDATOR.validate(document())


@pytest.mark.parametrize("path", REQUIRED, ids=lambda path: ".".join(map(str, path)))
def test_a_missing_required_field_is_invalid(path: tuple[Any, ...]) -> None:
    assert not VALIDATOR.is_valid(without(document(), path))


def test_every_field_is_in_the_schema_and_described() -> None:
    """The other way round: nothing is written that the schema does not know."""

    def walk(schema: Any, value: Any, path: str) -> Iterator[str]:
        if "$ref" in schema:
            schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        if isinstance(value, dict) and "properties" in schema:
            yield from (f"{path}.{key}" for key in value.keys() - schema["properties"].keys())
            for key in value.keys() & schema["properties"].keys():
                yield from walk(schema["properties"][key], value[key], f"{path}.{key}")
        elif isinstance(value, list) and value and isinstance(schema.get("items"), dict):
            yield from walk(schema["items"], value[0], f"{path}[]")

    assert list(walk(SCHEMA, document(), "")) == []


def test_a_saved_comparison_is_read_back() -> None:
    assert decode(EXPLAIN_EMITTERS["json"].render(comparison())) == comparison()


@pytest.mark.parametrize("emitter", EXPLAIN_EMITTERS)
@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_no_control_or_hidden_character_reaches_the_output(emitter: str, char: str) -> None:
    text = EXPLAIN_EMITTERS[emitter].render(comparison(f"a{char}b"))
    assert f"a{char}b" not in text
    assert char == "\n" or char not in text


@pytest.mark.parametrize("emitter", EXPLAIN_EMITTERS)
@given(name=st.text(st.characters(), max_size=30) | MARKUP)
@settings(max_examples=40, deadline=None)
def test_any_name_renders_and_encodes(emitter: str, name: str) -> None:
    EXPLAIN_EMITTERS[emitter].render(comparison(name)).encode()


@given(name=MARKUP)
@settings(max_examples=60, deadline=None)
def test_no_name_opens_an_element_or_mentions_anybody(name: str) -> None:
    from markdown_it import MarkdownIt

    text = EXPLAIN_EMITTERS["markdown"].render(comparison(name, "<b>x</b>@me"))
    allowed = ("<details>", "</details>", "<summary>", "</summary>", "<!-- -->")
    for token in (t for block in MarkdownIt().parse(text) for t in (block, *(block.children or ()))):
        if token.type in ("html_block", "html_inline"):
            rest = token.content
            for tag in allowed:
                rest = rest.replace(tag, "")
            assert "<" not in rest
        assert token.type != "link_open"
    html = EXPLAIN_EMITTERS["html"].render(comparison(f"<i>{name}</i>", "<b>x</b>"))
    assert "<i>" not in html
    assert "<b>" not in html


def test_a_comment_is_never_longer_than_forges_take() -> None:
    one = comparison()
    many = msgspec.structs.replace(one, causes=one.causes * 200)
    text = EXPLAIN_EMITTERS["markdown"].render(many)
    assert len(text) < MAX_CHARACTERS + 1000
    assert "more parts: see another format" in text


def test_without_the_summary_only_causes_are_shown() -> None:
    text = EXPLAIN_EMITTERS["text"].render(comparison(), RenderOptions(summary=False))
    assert text.startswith("1  LAYOUT")
    assert "ruled out" not in text


def test_colour_changes_no_word() -> None:
    import re

    plain = EXPLAIN_EMITTERS["text"].render(comparison())
    painted = EXPLAIN_EMITTERS["text"].render(comparison(), RenderOptions(color=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_a_doubt_about_the_files_comes_before_any_answer() -> None:
    """Two unrelated sets of variables; and two builds of one set, of which nothing is doubted."""
    one = laid({".bss": [Var(f"a{i}") for i in range(8)]})
    other = laid({".bss": [Var(f"b{i}") for i in range(8)]})
    for old, new, doubted in ((one, other, True), (one, one, False)):
        found = explain(old, new, default_knowledge(), ExplainOptions())
        first = EXPLAIN_EMITTERS["text"].render(found, RenderOptions()).splitlines()[0]
        assert ("are they builds of one program" in first) == doubted
        top = EXPLAIN_EMITTERS["html"].render(found).partition("<details")[0]
        assert ("are they builds of one program" in top) == doubted


def test_a_library_is_not_run_by_itself() -> None:
    """The commands name a program that uses it; of a program, the program."""
    for path, ran in (("lib/libcache.so.1", "-- PROGRAM (one that uses lib/libcache.so.1)"), ("cache", "-- ./cache")):
        old = laid({".bss": [Var("lock", 40), Var("far", 64), Var("count")]}, path=path)
        new = laid({".bss": [Var("lock", 40), Var("count")]}, path=path)
        (cause,) = explain(old, new, default_knowledge(), ExplainOptions()).causes
        assert ran in cause.confirm[0]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_the_sentence_has_both_ends_of_a_long_name_and_the_details_all_of_it(form: str) -> None:
    long = f"kept::Table<{', '.join(['std::pair<int, long>'] * 8)}>::grow"
    (first, *_), whole = (comparison(long).causes, comparison(long))
    cause = msgspec.structs.replace(first, evidence=(), new_line_mates=(), moved=(), confirm=(), refute=())
    only = EXPLAIN_EMITTERS[form].render(msgspec.structs.replace(whole, causes=(cause,)), RenderOptions(summary=False))
    told = " ".join(html.unescape(only).split())
    assert shorten(long, LONGEST_IN_SENTENCE) in told
    assert told.count(long) == 1
    short = EXPLAIN_EMITTERS[form].render(msgspec.structs.replace(whole, causes=comparison().causes), RenderOptions())
    assert "in full" not in short


def test_the_first_lines_say_where_names_are_and_how_much_is_not_matched() -> None:
    """Before all causes, and the note not once more behind them."""
    note = f"{NAMES}old and new: no debug information: `linemate explain --debuginfod old new` fetches it"
    found = msgspec.structs.replace(
        comparison(),
        coverage=Coverage({}, ("another", note)),
        variables=MatchSummary(90, 100, 60, {}),
        functions=MatchSummary(200, 201, 195, {}),
    )
    lines = EXPLAIN_EMITTERS["text"].render(found, RenderOptions(width=200)).splitlines()
    assert lines[:2] == [note, "not matched: 33 % of the variables; what became of these is not told"]
    assert "\n".join(lines).count("--debuginfod") == 1
    whole = msgspec.structs.replace(found, variables=found.functions, coverage=Coverage({}, ("another",)))
    first = EXPLAIN_EMITTERS["text"].render(whole, RenderOptions(width=200)).splitlines()[0]
    assert first.startswith("1  LAYOUT")


@pytest.mark.parametrize(("strength", "told"), [(0.29, True), (0.3, False)])
def test_where_nothing_is_likely_the_first_line_says_so_and_the_next_what_to_do(strength: float, told: bool) -> None:
    made = comparison()
    causes = tuple(msgspec.structs.replace(c, strength=strength, kind=CauseKind.LAYOUT) for c in made.causes)
    targets = tuple(msgspec.structs.replace(t, debug="") for t in made.targets)
    weak = msgspec.structs.replace(made, causes=causes, targets=targets, profile=(), places=())
    lines = EXPLAIN_EMITTERS["text"].render(weak, RenderOptions(width=200)).splitlines()
    assert lines[0].startswith("nothing found here explains a slower program (") == told
    files = " ".join(target.path for target in targets)
    for command in (
        f"  linemate explain --debuginfod {files}",
        "  linemate record -o old.data --pid PID --duration 30",
        "  linemate record -o new.data --pid PID --duration 30",
        "  linemate explain --debuginfod --bench-old FILE --bench-new FILE "
        f"--samples-old old.data --samples-new new.data {files}",
    ):
        assert (command in lines) == told
    for emitter in ("markdown", "html"):
        assert ("explains a slower program" in EXPLAIN_EMITTERS[emitter].render(weak)) == told
    measured = EXPLAIN_EMITTERS["text"].render(
        msgspec.structs.replace(weak, loss="qps -12.4%"), RenderOptions(width=200)
    )
    assert measured.startswith("measured slower: qps -12.4%; nothing found here explains it (") == told


def test_what_is_unlikely_has_its_evidence_in_other_formats() -> None:
    made = comparison()
    for strength, told in ((0.29, False), (0.3, True)):
        causes = tuple(msgspec.structs.replace(c, strength=strength, kind=CauseKind.LAYOUT) for c in made.causes)
        one = msgspec.structs.replace(made, causes=causes)
        text = EXPLAIN_EMITTERS["text"].render(one, RenderOptions(width=200))
        assert ("  confirm" in text) == told
        assert ("evidence, and how to confirm or refute each: -o FILE.html" in text) != told
        assert "confirm" in EXPLAIN_EMITTERS["html"].render(one)


def test_a_profile_in_which_nothing_rose_is_a_profile() -> None:
    made = comparison()
    causes = tuple(msgspec.structs.replace(c, strength=0.1, kind=CauseKind.LAYOUT) for c in made.causes)
    weak = msgspec.structs.replace(made, causes=causes, profile=(), places=())
    for counts, said in (
        ({}, "no profile says where time goes"),
        ({SAMPLES_NEW: 4326}, "no line of memory became dearer"),
    ):
        found = msgspec.structs.replace(weak, coverage=Coverage(counts, ()))
        text = EXPLAIN_EMITTERS["text"].render(found, RenderOptions(width=300))
        assert said in text
        assert ("linemate record -o new.data" in text) == (not counts)


def test_variables_that_went_to_another_section_together_are_one_row() -> None:
    made = comparison()
    went = [SymbolChange(ChangeKind.MOVED, f"v{n}", "0x1", "0x2", 8, 8, ".bss", "ro_after_init") for n in range(3)]
    came = SymbolChange(ChangeKind.ADDED, "buf", "", "0x3", 0, 208, "", ".bss")
    coverage = Coverage({"changes": 9}, ())
    one = msgspec.structs.replace(made, changes=(went[0], came, *went[1:]), coverage=coverage)
    rows = EXPLAIN_EMITTERS["text"].render(one, RenderOptions(width=200)).partition("variables that changed\n")[2]
    first, second, rest, *_ = rows.splitlines()
    assert first.split("  ")[-1] == ".bss to ro_after_init"
    assert "v0 and 2 more" in first
    assert "buf" in second
    assert rest == "  and 5 more changes"


def test_where_servers_were_asked_in_vain_files_are_named_in_place_of_servers() -> None:
    made = comparison()
    confirm = (f"{EXPLAIN_ASKING} old new: names the functions",)
    causes = tuple(
        msgspec.structs.replace(c, strength=0.1, kind=CauseKind.LAYOUT, confirm=confirm) for c in made.causes
    )
    targets = tuple(msgspec.structs.replace(t, debug="") for t in made.targets)
    weak = msgspec.structs.replace(made, causes=causes, targets=targets, profile=(), places=())
    asked = both_from_files(msgspec.structs.replace(weak, coverage=Coverage({}, (f"{NAMES}{NO_ANSWER}: a package",))))
    for document, other in ((weak, "--debug-old FILE --debug-new FILE"), (asked, "--debuginfod")):
        text = EXPLAIN_EMITTERS["text"].render(document, RenderOptions(width=200))
        assert (other in text) is False
    assert "FILE being a build before it was stripped" in text
    assert asked.causes[0].confirm == (
        "linemate explain --debug-old FILE --debug-new FILE old new: names the functions",
    )


def unnamed(*notes: str, arch: str = "x86-64", debug: tuple[str, str] = ("", "")) -> Comparison:
    """Two builds without a likely cause, of which not both have names."""
    made = comparison()
    causes = tuple(msgspec.structs.replace(c, strength=0.1, kind=CauseKind.LAYOUT) for c in made.causes)
    targets = tuple(msgspec.structs.replace(t, debug=d, arch=arch) for t, d in zip(made.targets, debug, strict=True))
    return msgspec.structs.replace(
        made, causes=causes, targets=targets, profile=(), places=(), coverage=Coverage({}, notes)
    )


def test_the_next_command_names_the_files_that_the_note_unpacks() -> None:
    options = "--debug-old OLD_FOLDER/usr/lib/debug/.build-id/ab/cd.debug --debug-new NEW_FOLDER/usr/lib/debug/ef.debug"
    document = unnamed(f"{NAMES}old and new: {NO_ANSWER}: dpkg-deb -x FOLDER, then {options} (look for it)")
    text = EXPLAIN_EMITTERS["text"].render(document, RenderOptions(width=300))
    assert f"linemate explain {options} " in text
    assert "--debug-old FILE" not in text


def test_only_the_build_without_names_is_asked_for_its_file() -> None:
    asked = unnamed(f"{NAMES}new: {NO_ANSWER}: look", debug=("the file", ""))
    text = EXPLAIN_EMITTERS["text"].render(asked, RenderOptions(width=300))
    assert "linemate explain --debug-new FILE " in text
    assert "--debug-old" not in text


def test_of_listings_no_server_is_asked_and_their_names_are_not_missed() -> None:
    text = EXPLAIN_EMITTERS["text"].render(unnamed(arch="unknown"), RenderOptions(width=300))
    assert "no code: listings have names and addresses alone" in text
    assert "linemate explain on the files that the listings are of" in text
    assert "--debuginfod" not in text
    assert "no names" not in text
    program = EXPLAIN_EMITTERS["text"].render(unnamed(), RenderOptions(width=300))
    assert "no names: the files have no debug information" in program
    assert "linemate explain --debuginfod" in program
