"""Where numbers stand in ``sharing``: those that shape a verdict in a table with unit and source, others by kind.

A constant of a module that is no table is listed here with the reason for which it decides no verdict.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from sharing.basics.numbers import described

# Rooms that hold types, file formats, architectures and the vocabulary, and judge nothing.
ROOMS_OF_FORMATS = ("model", "knowledge")

# As an ABI, a file format, the kernel or an encoding of our own has it.
FORMATS = {
    "basics/costs.py": "PER_MILLION",
    "basics/geometry.py": "_LAST_ADDRESS",
    "basics/sourcepath.py": "_KEPT",
    "explain/code.py": "LEAST_ADDRESS",
    "explain/identity.py": "WHOLE PART COLD ANY_ALIGNMENT",
    "explain/match.py": "MIX",
    "explain/linepairs.py": "MASK HEAD_BYTES",
    "explain/sensitivity.py": "MAX_ALIGNMENT",
    "explain/tables/base.py": "_UNITS",
    "fix/members.py": "_UNIT_BITS",
    "fix/wrapper.py": "_MAX_COLUMNS",
    "judge/remedies/editedlayout.py": "_REGION",
    "sampled/attribution/attribute.py": "FUTEX_BYTES",
    "sampled/attribution/evaluate.py": "REGISTERS",
    "sampled/eventcosts.py": "_HARDWARE _SOFTWARE _TRACEPOINT _BREAKPOINT _CYCLES _REF_CYCLES _CPU_CLOCK _TASK_CLOCK",
    "sampled/speedup/gain.py": "CODE_WEIGHT_S",  # so small that it only says that there is an access
    "sampled/attribution/processes.py": "END_OF_TIME",
    "sampled/attribution/regions.py": "USER_BITS LOW THREAD_BASE LARGE_BYTES BRK_DISTANCE NEAR_STACK",
    "sampled/attribution/sampledcode.py": "PERF_TYPE_SOFTWARE PERF_TYPE_BREAKPOINT SOFTWARE_CLOCKS "
    "ADDRESS_BITS MAX_FILES _LOW _SIGN",
    "sampled/speedup/solo.py": "NS",
    "source/addressing.py": "DATA_BASE HEAP_BASE HEAP_ALIGNMENT GAP",
    "source/alignment.py": "_X86_LARGE _LARGE_ARRAY _VECTOR _VECTOR_ELEMENTS",
    "source/emission.py": "_GUARD_BYTES",
    "source/functiontables.py": "CODE_BASE IMPORT_BASE MAX_STRIDE MAX_ARG_STRIDE EFFECTS",
    "source/references.py": "_ARG_ADDRESS _ARG_FUNCTION",
    "source/uses.py": "_ADDRESS_OF_VARIABLE _FILE_OF_CALL _LINE_OF_CALL _COLUMN_OF_CALL _LOCKS "
    "_BASE _ID _RECORD _OFFSET _SIZE _KIND _MEMORY_ORDER _FLAGS _STRIDE _FILE _LINE _COLUMN _DEPTH",
    "static/callbacks.py": "MAX_RARITY",
    "static/callees.py": "UNCALLED",
    "static/callgraph.py": "MAX_ROOTS",
    "static/flow.py": "OFFSET_LIMIT ADDRESS_MASK LOCK UNLOCK INIT",
    "static/indirectentries.py": "MAX_ARGUMENTS",
    "static/phases.py": "_NEVER",
}
# What bounds time and memory, so that hostile input ends: real programs stay below, or lose what is least busy.
BOUNDS = {
    "explain/code.py": "MAX_BYTES",
    "explain/compare.py": "MAX_RUNS MAX_CHANGES",
    "explain/joint.py": "MOST _CHUNK",
    "explain/mates.py": "MAX_ON_LINE MAX_PAIRS",
    "explain/linepairs.py": "MAX_EXAMINED",
    "explain/same.py": "CHUNK_BYTES",
    "explain/sections.py": "MAX_SECTIONS",
    "explain/sensitivity.py": "MAX_EXAMINED MAX_NEAR",
    "explain/tables/base.py": "MAX_VALUES",
    "fix/attributes.py": "_MAX_NESTED",
    "fix/macros.py": "_MAX_CONSTANTS",
    "fix/tokens.py": "MAX_BYTES",
    "history/busy.py": "MOST MOST_LOOKED_AT",
    "history/coincide.py": "MAX_PAIRS MAX_ON_LINE",
    "history/judge.py": "MOST_COMPARED",
    "history/steps.py": "MOST_WORK CHUNK PLACES",
    "judge/remedies/rejudge.py": "MAX_LINES",
    "judge/remedies/choice.py": "MAX_EDITS MAX_TRIED",
    "judge/remedies/membermoves.py": "MAX_MEMBERS MAX_PLACES",
    "sampled/attribution/attribute.py": "PIECE STACK_SAMPLES",
    "sampled/lineuse/blame.py": "MAX_ITEMS",
    "sampled/distinct.py": "SPAN_PER_ROW SMALL_SPAN",
    "sampled/lineuse/lines.py": "MAX_COUNTED MAX_CODE_THREADS MAX_WALKED",
    "sampled/lineuse/overlap.py": "MAX_SAMPLES",
    "sampled/attribution/processes.py": "MAX_PROCESSES",
    "sampled/speedup/solo.py": "MAX_COMPARED",
    "sampled/attribution/statictouches.py": "MAX_SITE_BYTES",
    "sampled/thinning.py": "MAX_JUDGED",
    "sampled/speedup/timeline.py": "MAX_STEPS",
    "sampled/lineuse/touches.py": "MAX_FOLLOWED MAX_COUNTED",
    "sampled/attribution/witnesses.py": "PIECE",
    "source/checked.py": "MOST_PARAMETERS MOST_TREE RANGES",
    "source/emission_order.py": "_AROUND",
    "source/merge.py": "MAX_EXECUTABLES",
    "static/flow.py": "MAX_SUMMARY_ROWS MAX_CALLEE_ROWS",
    "static/linemap.py": "CHUNK_LINES MAX_PARTS",
    "static/perthread.py": "MOST",
    "static/profiles.py": "MAX_NEIGHBOURS",
    "static/recover.py": "MAX_RECOVERED",
    "static/shapes.py": "MAX_LOCKS",
}
# Rounds of a fixpoint that settles before: the last ones change nothing.
FIXPOINTS = {
    "history/steps.py": "SETTLING",
    "static/callgraph.py": "ROUNDS TRIM_ROUNDS",
    "static/entrylocks.py": "ROUNDS",
    "static/phases.py": "ROUNDS",
    "static/rarecode.py": "ROUNDS",
}
# How exactly a chance or a spread is computed, and where its random numbers start.
EXACTNESS = {
    "explain/dispersion.py": "BLOCKS",
    "explain/joint.py": "EXACT DRAWN _SEED",
    "explain/statistics.py": "EXACT_LIMIT PERMUTATIONS _SEED",
    "explain/student.py": "_STEPS",
    "history/judge.py": "DRAWN _SEED",
    "history/normal.py": "DRAWN _SEED",
    "history/steps.py": "RESAMPLES FEWEST_RESAMPLES EXACT_ROWS _SEED",
}
# How much of a list is printed.
SHOWN = {
    "explain/bench.py": "MAX_NOTES MAX_LISTED",
    "explain/blame.py": "MOST",
    "explain/causes/functions.py": "MAX_NAMED",
    "explain/causes/layout.py": "MAX_PAIRS",
    "explain/findings.py": "MAX_FINDINGS",
    "explain/linepairs.py": "MAX_SHOWN",
    "explain/samples.py": "MAX_NAMED MAX_LISTED",
    "explain/variablesamples.py": "MAX_PAIRS MAX_EVIDENCE",
    "judge/sampled/findings.py": "MAX_FUNCTIONS",
    "judge/static.py": "MAX_THREAD_NAMES MAX_RELATED",
    "rules/declaration/alignment_below_line.py": "MAX_NAMED",
    "rules/declaration/heap_alignment.py": "MAX_PLACES",
    "rules/line/base.py": "MAX_PER_OBJECT",
}
KINDS = (FORMATS, BOUNDS, FIXPOINTS, EXACTNESS, SHOWN)
_WRAPPERS = {"float", "int", "frozenset", "tuple", "range", "uint64", "int64", "float64"}


def numeric(value: ast.expr) -> bool:
    """Is it a number, or numbers in a tuple, a set or a table?  Not what is made of one, such as a rule's row."""
    match value:
        case ast.Constant():
            return isinstance(value.value, int | float) and not isinstance(value.value, bool)
        case ast.UnaryOp():
            return numeric(value.operand)
        case ast.BinOp():
            return numeric(value.left) or numeric(value.right)
        case ast.Tuple() | ast.List() | ast.Set():
            return any(numeric(e) for e in value.elts)
        case ast.Dict():
            return any(numeric(v) for v in value.values) or any(k is not None and numeric(k) for k in value.keys)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _WRAPPERS and any(numeric(a) for a in value.args)
    return False


def constants(path: Path) -> set[str]:
    """Names that a module gives to numbers."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Assign(targets=targets, value=value) if numeric(value):
                found.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if numeric(value):
                found.add(name)
    return found


def tables(repository: Path) -> list[Path]:
    return sorted((repository / "sharing").rglob("numbers.py"))


def test_a_number_stands_in_a_table_or_is_listed_with_the_reason_why_it_does_not(repository: Path) -> None:
    root = repository / "sharing"
    found = {}
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root)
        if where.parts[0] not in ROOMS_OF_FORMATS and path.name != "numbers.py" and (names := constants(path)):
            found[str(where)] = names
    listed: dict[str, set[str]] = {}
    for kind in KINDS:
        for where, names in kind.items():
            listed.setdefault(where, set()).update(names.split())
    assert found == listed


@pytest.mark.parametrize(
    "text",
    ["SHARE = 0.5", "LOW, HIGH = 0.2, 0.4", "STEPS = {'a': 3}", "LIMIT: int = -1", "SPAN = 4 * other", "A = float(3)"],
)
def test_a_number_is_seen_however_it_is_written(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert constants(tmp_path / "module.py")


@pytest.mark.parametrize(
    "text", ["NAME = 'x'", "ON = True", "RULE = LineRule(at_most=3)", "COPY = other", "def f(x=3): ..."]
)
def test_what_is_no_number_is_not(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert not constants(tmp_path / "module.py")


def test_every_number_of_a_table_has_a_unit_and_a_source(repository: Path) -> None:
    for path in tables(repository):
        module = importlib.import_module(".".join(path.relative_to(repository).with_suffix("").parts))
        about = described(module)
        assert constants(path) == set(about), path
        assert all(one.unit and one.source for one in about.values()), path


def test_a_number_is_read_from_its_table_where_it_is_used(repository: Path) -> None:
    """``from ...numbers import X`` would keep what it was when a test moves it."""
    for path in sorted((repository / "sharing").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".numbers"):
                assert {alias.name for alias in node.names} <= {"About", "Origin"}, path
