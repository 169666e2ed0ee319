"""Places of pointers to functions: which a call loads its target from, and what is kept at each.

The tool reads each source; what the judgement makes of it is tested with ``check``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from sharing.model.facts import CALL_COLUMNS, KEPT_COLUMNS, THROUGH_SLOT, FunctionFacts, UnitFacts
from tests.analyzer.units import facts


def _called(unit: UnitFacts, function: str) -> list[str]:
    """The places that the calls of a function load their targets from, "" none."""
    (found,) = (raw for identity, raw in unit.functions if identity == function)
    callees = msgspec.json.decode(found, type=FunctionFacts).calls[:: len(CALL_COLUMNS)]
    return [unit.slots[THROUGH_SLOT - one] if one <= THROUGH_SLOT else "" for one in callees]


def _kept(unit: UnitFacts) -> set[tuple[str, str, int]]:
    rows = [unit.kept[at : at + len(KEPT_COLUMNS)] for at in range(0, len(unit.kept), len(KEPT_COLUMNS))]
    return {
        (unit.slots[slot], unit.symbols[function].partition("@")[0] if function >= 0 else "", argument)
        for slot, function, argument in rows
    }


def test_members_that_are_pointers_to_functions(tmp_path: Path) -> None:
    text = (
        "typedef void (*work)(int);\n"
        "struct job { work run; work done; work other; int (*plain)(void); };\n"
        "static void first(int n) { (void)n; }\nstatic void second(int n) { (void)n; }\n"
        "static const struct job jobs[] = {{first, 0, second, 0}};\n"
        "void init(struct job *j, struct job *from, work run, work *somewhere)\n"
        "{ j->run = run; j->done = &second; j->other = from->other; from->plain = (int (*)(void))somewhere[1]; }\n"
        "void call(struct job *j) { work next = j->done; j->run(1); (*j->other)(2); next(3); jobs[0].run(4); }\n"
        "void unknown(work *all) { all[2](5); }\n"
    )
    unit = facts(tmp_path, text)
    run, done, other, plain = (f"member job.{name}" for name in ("run", "done", "other", "plain"))
    assert _called(unit, "call") == [run, other, done, run]
    assert _called(unit, "unknown") == [""]
    assert _kept(unit) == {
        (run, "first", -1),
        (run, "init", 2),
        (done, "second", -1),
        (other, "second", -1),
        (plain, "", -1),
    }


def test_virtual_functions_by_the_first_that_they_override(tmp_path: Path) -> None:
    text = (
        "struct task { virtual ~task(); virtual void run() = 0; virtual int size(); };\n"
        "struct copy : task { void run() override {} };\nstruct deep final : copy { void run() override {} };\n"
        "int task::size() { return 0; }\n"
        "void all(task *t, copy *c, deep *d) { t->run(); c->run(); d->run(); t->size(); c->task::size(); }\n"
    )
    unit = facts(tmp_path, text, name="tasks.cc")
    run, size = "virtual _ZN4task3runEv", "virtual _ZN4task4sizeEv"
    assert _called(unit, "_Z3allP4taskP4copyP4deep") == [run, run, "", size, ""]
    assert _kept(unit) == {(run, "_ZN4copy3runEv", -1), (run, "_ZN4deep3runEv", -1), (size, "_ZN4task4sizeEv", -1)}
