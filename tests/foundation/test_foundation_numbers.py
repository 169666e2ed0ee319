"""Where numbers stand in ``sharing``: those that shape a verdict in a table with unit and source, others by kind.

A constant that stands elsewhere is listed here by its room, with the reason for which it decides no verdict.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from sharing.basics.numbers import described
from tests.foundation.parsed import parsed

# Rooms that hold types, file formats, architectures and the vocabulary, and judge nothing.
ROOMS_OF_FORMATS = ("model", "knowledge")

# As an ABI, a file format, the kernel or an encoding of our own has it.  CODE_WEIGHT_S is as good as nothing: it only
# says that there is an access.
FORMATS = {
    "basics": "PER_MILLION _KEPT _LAST_ADDRESS _ORDER_BITS",
    "explain": "ANY_ALIGNMENT COLD FAR HEAD_BYTES LEAST_ADDRESS MASK MAX_ALIGNMENT MIX PAGE_BYTES PART SECONDS WHOLE "
    "_BINARY _LARGEST_ALIGNMENT _SCALES _SECONDS",
    "fix": "_MAX_COLUMNS _UNIT_BITS",
    "judge": "_REGION _WORD",
    "rules": "SETTING_BYTES",
    "sampled": "ADDRESS_BITS BRK_DISTANCE CODE_WEIGHT_S END_OF_TIME FUTEX_BYTES LARGE_BYTES LOW MAX_FILES _NEVER "
    "NEAR_STACK NS PERF_TYPE_BREAKPOINT PERF_TYPE_SOFTWARE REGISTERS SOFTWARE_CLOCKS THREAD_BASE "
    "USER_BITS _BREAKPOINT _CPU_CLOCK _CYCLES _HARDWARE _LOW _REF_CYCLES _SIGN _SOFTWARE _TASK_CLOCK "
    "_TRACEPOINT",
    "source": "CODE_BASE DATA_BASE EFFECTS FIRST_PLACE GAP HEAP_BASE IMPORT_BASE MAX_ARG_STRIDE "
    "MAX_STRIDE EVENT_BYTES _ADDRESS_OF_VARIABLE _ARG_ADDRESS _ARG_FUNCTION _BASE _COLUMN _COLUMN_OF_CALL "
    "_DEPTH _FILE _FILE_OF_CALL _FLAGS _GUARD_BYTES _ID _KIND _LARGE _LINE _LINE_OF_CALL _LOCKS _MEMORY_ORDER "
    "_OFFSET _RECORD _SEVERAL _SIZE _STRIDE _VECTOR _VECTOR_ELEMENTS",
    "static": "ADDRESS_MASK ALIGNED ANY_NUMBER ANYWHERE ANY_DEPTH ARGUMENTS BEFORE CALLED GAP INIT LAST_ARGUMENT "
    "LEAST_WORD LOCK LOW_HALF MADE_AND_DESTROYED MAX_ARGUMENTS IN_NONE MAX_RARITY MAX_ROOTS METHOD NOT_ZERO NO_ROUND "
    "NO_TABLE OTHER PLACE_BITS SECTION_COUNTS SEVERAL STARTED UNKNOWN _CONSTRUCTED_WITH _COPIES _ENDS_HELD "
    "HALF_BITS MOST_ARGUMENTS MOST_STRIDE NO_STRIDE OF_FAMILIES OFFSET_LIMIT STANDARD_ERROR "
    "OF_ALL STRIDE_AT UNCALLED UNLOCK _BEHIND_FRAME _EVENT_ARGUMENT _FLAGS_ARGUMENT _HAS_TIMEOUT _IF_TAIL_CALLS_TAKE "
    "_IF_WAITS_TAKE _MINUS_ONE _ADDRESSES _HOLDERS _NEIGHBOURS _NEVER _NOWHERE _NO_STEP _OLD_VALUE OFFSETS _OFFSETS "
    "_OFFSET_BITS _OFFSET_MASK _PLACE _SHIFTS _STEPS _TICKET _WIDEST _WORD _WORD_BYTES _ASKED _HANDED _NUMBER "
    "_OPERATION _OPERATIONS",
}
# What bounds time and memory, so that hostile input ends: real programs stay below, or lose what is least busy.
BOUNDS = {
    "basics": "_MOST _SORTED _LOOKED_UP",
    "explain": "CHUNK_BYTES LONGEST MOST_BYTES MAX_SYMBOLS MAX_BYTES MAX_CHANGES MAX_ELEMENTS MAX_EXAMINED "
    "MAX_INSTRUCTIONS MAX_LINE MAX_LINES MAX_NEAR MAX_ON_LINE MAX_PAIRS MAX_PATHS MAX_RUNS MAX_SECTIONS MAX_VALUES "
    "MOST _CHUNK",
    "fix": "MAX_BYTES _MAX_CONSTANTS _MAX_DECLARATION _MAX_NESTED _MAX_OBJECT _MAX_SHIFT _MAX_WORDS",
    "history": "CHUNK LATTICE LEAST MAX_ON_LINE MAX_PAIRS MOST MOST_COMPARED MOST_LOOKED_AT MOST_WORK PLACES",
    "judge": "MAX_ACCESSES MAX_ALL_MEMBERS MAX_ALSO MAX_EDITS MAX_LINES MAX_MEMBERS MAX_PLACES MAX_TOUCHES MAX_TRIED "
    "_MOST_TYPES",
    "sampled": "LARGE_SPAN MAX_CODE_THREADS MAX_COMPARED MAX_COUNTED MAX_FOLLOWED MAX_ITEMS MAX_JUDGED MAX_KEPT "
    "MAX_PROCESSES MAX_SAMPLES MAX_SITE_BYTES MAX_STEPS MAX_WALKED PIECE SMALL_SPAN SPAN_PER_ROW STACK_SAMPLES",
    "rules": "MAX_WRAPPED MOST_WRITERS _MAX_USERS",
    "source": "MAX_EXECUTABLES MAX_NOTES MOST_ARGUMENTS MOST_ORDER MOST_PARAMETERS MOST_STAGES MOST_TREE MOST_VALUE "
    "RANGES _AROUND _BEGUN_CHARS",
    "static": "CHUNK_LINES LAST_OFFSET MAX_ARRAY_BYTES MAX_BYTES MAX_CALLEE_ROWS MAX_CALLS MAX_COMPARED MAX_DIMENSIONS "
    "MAX_ENTRIES MAX_HANDED_ON MAX_INSTRUCTIONS MAX_LOCKS MAX_NEIGHBOURS MAX_NUMBERS MAX_PAIRS MAX_PARTS MAX_PIECES "
    "MAX_PLACES MAX_POINTERS MAX_RECORDS MAX_RECORD_BYTES MAX_RECOVERED MAX_ROUNDS MAX_SPOTS MAX_SUMMARY_ROWS "
    "MAX_TOLD_ELEMENTS MAX_BARRIERS MAX_BARRIER_BYTES MAX_WORDS MAX_USES MAX_WAY MAX_CLOSURE_WORDS MAX_OFFSET "
    "MAX_CALLED MAX_CHANGES MAX_STEPS MAX_UNKNOWN MOST MOST_CALLERS _MOST_BEGINS MOST_COVERED MOST_ELEMENTS MOST_EMPTY "
    "MOST_FUNCTIONS _MAX_CALLS",
}
# Rounds of a fixpoint that settles before: the last ones change nothing.
FIXPOINTS = {
    "history": "SETTLING",
    "source": "_ROUNDS",
    "static": "ROUNDS SET_BY_CALLS TAKEN_ROUNDS TRIM_ROUNDS",
}
# How exactly a chance or a spread is computed, and where its random numbers start.
EXACTNESS = {
    "explain": "BLOCKS DRAWN EXACT EXACT_LIMIT EXACT_MARGIN PERMUTATIONS _SEED _STEPS",
    "history": "DRAWN EQUAL EXACT_ROWS FEWEST_RESAMPLES RESAMPLES _SEED",
    "sampled": "_T_90",
    "static": "ROUNDING",
}
# How much of a list is printed.
SHOWN = {
    "explain": "MAX_CAUSES MAX_EVIDENCE MAX_FINDINGS MAX_HEADING MAX_LISTED MAX_NAMED MAX_NOTES MAX_PAIRS MAX_SHOWN "
    "MAX_FUNCTIONS MAX_RECORDS MAX_THREADS MAX_USES MOST",
    "fix": "EDITS_SHOWN LINE_SHOWN",
    "judge": "MAX_FUNCTIONS MAX_HINTS MAX_RELATED MAX_THREAD_NAMES",
    "sampled": "MAX_STACK",
    "rules": "MAX_NAMED MAX_OTHERS MAX_PER_OBJECT MAX_PLACES MAX_ROOTS",
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
    found: dict[str, set[str]] = {}
    for path in sorted(root.rglob("*.py")):
        room = path.relative_to(root).parts[0]
        if room not in ROOMS_OF_FORMATS and path.name != "numbers.py" and (names := constants(path)):
            found.setdefault(room, set()).update(names)
    listed: dict[str, set[str]] = {}
    for kind in KINDS:
        for room, text in kind.items():
            listed.setdefault(room, set()).update(text.split())
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


# Literals that decide nothing: half of something, corrections of a formula, less than any sample, how exactly something
# is computed or printed, how long a line that is read may be.
IN_FORMULAS = {
    "counted/join.py": "3",
    "explain/bench.py": "0.5",
    "explain/causes/linking.py": "3",
    "explain/statistics.py": "0.5",
    "explain/tables/figures.py": "16",
    "explain/tables/summary.py": "200",
    "rules/sampled/slots.py": "0.01",
    "sampled/interval.py": "0.1 10",
    "sampled/speedup/gain.py": "0.001",
    "static/frequency.py": "0.001",
}
_NEUTRAL = (0.0, 1.0, 2.0, 1e6, 1e9)  # none, all of it, twice; units
_ROUNDING = 1e-8


def judging_literals(path: Path) -> set[str]:
    """Fractions that stand in functions, whole numbers beyond two that they compare with, steps off a severity."""
    found: set[str] = set()
    for function in (n for n in ast.walk(parsed(path)) if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(function):
            match node:
                case ast.Constant(value=float() as value) if value not in _NEUTRAL and value > _ROUNDING:
                    found.add(str(value))
                case ast.Compare(left=left, comparators=others):
                    whole = (n.value for n in (left, *others) if isinstance(n, ast.Constant) and type(n.value) is int)
                    found.update(str(value) for value in whole if value > 2)
                case ast.Call(func=ast.Attribute(attr="lowered"), args=[ast.Constant(value=int() as value)]):
                    found.add(f"lowered({value})")
    return found


def test_no_function_holds_a_number_that_shapes_a_verdict(repository: Path) -> None:
    root = repository / "sharing"
    rooms = [path.parent for path in tables(repository)]
    paths = sorted({path for room in rooms for path in room.rglob("*.py") if path.name != "numbers.py"})
    found = {str(p.relative_to(root)): " ".join(sorted(names)) for p in paths if (names := judging_literals(p))}
    assert found == IN_FORMULAS


@pytest.mark.parametrize("text", ["return x > 0.3", "return 3 <= len(x)", "return severity.lowered(2)"])
def test_a_number_in_a_function_is_seen(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(f"def f(x, severity):\n    {text}\n")
    assert judging_literals(tmp_path / "module.py")
