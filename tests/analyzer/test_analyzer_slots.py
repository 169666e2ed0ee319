"""Places of pointers to functions: which a call loads its target from, and what is kept at each.

The tool reads each source; what the judgement makes of it is tested with ``check``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from sharing.model.facts import ARG_COLUMNS, CALL_COLUMNS, KEPT_COLUMNS, THROUGH_SLOT, FunctionFacts, Passed, UnitFacts
from tests.analyzer.units import facts


def _called(unit: UnitFacts, function: str) -> list[str]:
    """The places that the calls of a function load their targets from, "" none."""
    (found,) = (raw for identity, raw in unit.functions if identity == function)
    callees = msgspec.json.decode(found, type=FunctionFacts).calls[:: len(CALL_COLUMNS)]
    return [unit.slots[THROUGH_SLOT - one] if one <= THROUGH_SLOT else "" for one in callees]


def _handed(unit: UnitFacts, function: str) -> list[tuple[int, str]]:
    """(argument, place) of what the calls of a function are handed that is loaded from a place."""
    (found,) = (raw for identity, raw in unit.functions if identity == function)
    args, width = msgspec.json.decode(found, type=FunctionFacts).args, len(ARG_COLUMNS)
    rows = [args[at : at + width] for at in range(0, len(args), width)]
    return [(row[1], unit.slots[row[3]].partition("@")[0]) for row in rows if row[2] == Passed.SLOT]


def _kept(unit: UnitFacts) -> set[tuple[str, str, int]]:
    rows = [unit.kept[at : at + len(KEPT_COLUMNS)] for at in range(0, len(unit.kept), len(KEPT_COLUMNS))]
    return {
        (
            unit.slots[slot].partition("@")[0],
            unit.symbols[function].partition("@")[0] if function >= 0 else "",
            argument,
        )
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
    of_copy, of_deep = f"{run} of copy", f"{run} of deep"
    assert _called(unit, "_Z3allP4taskP4copyP4deep") == [run, of_copy, "", size, ""]
    assert _kept(unit) == {
        (run, "_ZN4copy3runEv", -1),
        (run, "_ZN4deep3runEv", -1),
        (of_copy, "_ZN4copy3runEv", -1),
        (of_copy, "_ZN4deep3runEv", -1),
        (of_deep, "_ZN4deep3runEv", -1),
        (size, "_ZN4task4sizeEv", -1),
    }


def test_virtual_functions_by_the_class_of_the_object_that_they_are_called_of(tmp_path: Path) -> None:
    text = (
        "struct object { virtual void step() {} };\nstruct named { virtual void name() {} };\n"
        "struct job : named, object {};\nstruct event : object {};\n"
        "struct sort : job { void step() override {} };\nstruct read : event { void step() override {} };\n"
        "void all(object *o, job *j, event *e) { o->step(); j->step(); e->step(); j->name(); }\n"
    )
    unit = facts(tmp_path, text, name="steps.cc")
    step, name = "virtual _ZN6object4stepEv", "virtual _ZN5named4nameEv"
    of = {one: f"{step} of {one}" for one in ("job", "event", "sort", "read")}
    assert _called(unit, "_Z3allP6objectP3jobP5event") == [step, of["job"], of["event"], f"{name} of job"]
    kept = _kept(unit)
    assert {what for slot, what, _ in kept if slot == step} == {
        "_ZN6object4stepEv",
        "_ZN4sort4stepEv",
        "_ZN4read4stepEv",
    }
    assert {what for slot, what, _ in kept if slot == of["job"]} == {"_ZN6object4stepEv", "_ZN4sort4stepEv"}
    assert {what for slot, what, _ in kept if slot == of["event"]} == {"_ZN6object4stepEv", "_ZN4read4stepEv"}
    assert {what for slot, what, _ in kept if slot == of["sort"]} == {"_ZN4sort4stepEv"}
    assert {what for slot, what, _ in kept if slot == f"{name} of job"} == {"_ZN5named4nameEv"}


def test_static_variables_that_are_pointers_to_functions(tmp_path: Path) -> None:
    text = (
        "typedef void (*work)(int);\nvoid start(int, work);\nvoid fill(work *);\n"
        "struct job { work run; };\n"
        "static void first(int n) { (void)n; }\nstatic void second(int n) { (void)n; }\n"
        "static work one; work table[2][2] = {{first}}; static work out, all[3]; extern work others;\n"
        "void keep(struct job *j, work given) { j->run = given; }\n"
        "void set(int n, work given) { one = n ? first : second; table[n][1] = given; one = 0; all[n] = second; }\n"
        "void more(work **way) { static work own = first; own = *way[1]; fill(&out); fill(all); others = second; }\n"
        "void call(struct job *j) { work next = one; next(1); table[0][j->run != 0](2); out(3); all[1](4); }\n"
        "void hand(struct job *j) { start(1, j->run); start(2, one); start(4, first);\n"
        "  work t = table[1][0]; start(3, t); }\n"
    )
    unit = facts(tmp_path, text)
    one, table, out, every, own, others = (
        f"variable {name}" for name in ("one", "table", "out", "all", "more.own", "others")
    )
    run = "member job.run"
    assert _handed(unit, "hand") == [(1, run), (1, one), (1, table)]
    assert _kept(unit) == {
        (one, "first", -1),
        (one, "second", -1),
        (table, "first", -1),
        (table, "set", 1),
        (every, "second", -1),
        (every, "", -1),
        (out, "", -1),
        (own, "first", -1),
        (own, "", -1),
        (others, "second", -1),
        (run, "keep", 1),
    }
