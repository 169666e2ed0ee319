"""From a finding to edits: which participant moves, and by which kind of edit.

Owns the link between a finding's remedies and the facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from sharing.basics.geometry import round_up
from sharing.fix.hazards import LargerBreaks
from sharing.fix.macros import DeclaredByMacro
from sharing.fix.members import align_member, separate_member_elements
from sharing.fix.moves import move_member
from sharing.fix.plan import Plan, Planner
from sharing.fix.records import separate_element, separate_record, use_destructive_size
from sharing.fix.seen import name_end
from sharing.fix.style import FixOptions
from sharing.fix.tokens import ReadFile, Refused
from sharing.fix.variables import separate_elements, separate_variable
from sharing.model.facts import RecordFacts, TypeTree
from sharing.model.finding import Finding, Participant, Remedy, SourceEdit
from sharing.model.plural import count
from sharing.model.types import TypeKind
from sharing.rules import RULES
from sharing.source.declarations import stripped
from sharing.source.program import Defined, Program

_AMONG_OBJECTS = frozenset(rule.id for rule in RULES if rule.among_objects)
_STARTING = frozenset(rule.id for rule in RULES if rule.starts_line)
LINE_SHOWN = 200  # characters of a line of source
EDITS_SHOWN = 6  # of one plan in words; all are in ``Remedy.edits``
_BEHIND = re.compile(r" behind (\w+), a line away")  # as ``sharing.judge.remedy`` words it
_EDITED = frozenset({"pad-type", "pad-element", "align-member", "move-member", "section", "destructive-size"})


@dataclass(frozen=True, slots=True)
class Planned:
    """One remedy of a finding with its plan, or (``plan`` None) the reason why there is none.

    ``record`` is the type that a plan lays out where it is about objects and not about one variable, "" else.
    """

    remedy: Remedy
    participant: Participant
    plan: Plan | None
    reason: str = ""
    by_macro: bool = False  # a macro declares it: no declaration can be shown that would take its place
    breaks: bool = False  # ``reason`` is what an edit by hand would break
    record: str = ""


def attach_edits(finding: Finding, program: Program, read_file: ReadFile, options: FixOptions | None = None) -> Finding:
    """The finding with ``edits`` in every remedy for which there is a plan; the others stay as they are."""
    planner = Planner(program, read_file, options or FixOptions())
    return with_edits(finding, planner)


def with_edits(finding: Finding, planner: Planner) -> Finding:
    """As ``attach_edits``, for many findings of one program."""
    planned = plan_finding(finding, planner)
    return msgspec.structs.replace(finding, remedies=tuple(_as_planned(one, planner) for one in planned))


def _as_planned(planned: Planned, planner: Planner) -> Remedy:
    """The remedy in the words of its plan: what a report shows is what ``fix`` writes."""
    remedy, plan = planned.remedy, planned.plan
    if plan is None and planned.by_macro:
        return msgspec.structs.replace(remedy, text=f"{planned.participant.full_name}: {planned.reason}", edit="")
    if plan is None and planned.breaks:
        return msgspec.structs.replace(remedy, text=f"{remedy.text}; but {planned.reason}")
    if plan is None:
        return remedy
    # Of a section of the kernel this tells a member from a variable.
    breaks = remedy.breaks_abi if remedy.kind == "section" else plan.breaks_abi
    grown = {} if plan.grows is None else {"each_bytes": plan.grows, "cost_bytes": plan.grows * max(remedy.objects, 1)}
    moved = remedy.kind == "move-member" and plan.grows == 0  # its words show the place as well
    shown = remedy.edit if moved else _shown(plan) or _line_after(plan.edits, planner)
    return msgspec.structs.replace(
        remedy,
        text=f"{planned.participant.full_name}: {plan.how}" if shown else remedy.text,
        edit=shown or remedy.edit,
        edits=plan.edits,
        breaks_abi=breaks,
        **grown,
    )


def _shown(plan: Plan) -> str:
    """Declarations that the edits write; alone where one is written whole.  The rest is counted."""
    again = {part.edit: part.again for part in plan.parts}
    written = [text for edit in plan.edits if re.search("[;{]", text := _alone(edit, again.get(edit, 0)))]
    more = len(plan.edits) - len(written[:EDITS_SHOWN])
    lines = [*dict.fromkeys(written[:EDITS_SHOWN]), *([f"/* and {count(more, 'more place')} */"] if more else [])]
    return "\n".join(lines) if written else ""


def _alone(edit: SourceEdit, again: int) -> str:
    """What an edit writes, without what ends the declaration before it and begins the one behind it (``Part``)."""
    text = edit.replacement.strip("\n")
    return text[: len(text) - again].removeprefix(";").strip() if again or text.startswith(";") else text


def _line_after(edits: Sequence[SourceEdit], planner: Planner) -> str:
    """The line that an edit of a few words makes, as alignment on a type that is there; "" for several edits."""
    if len(edits) != 1:
        return ""
    (edit,) = edits
    data = planner.source(edit.file).data
    begin, end = data.rfind(b"\n", 0, edit.begin) + 1, data.find(b"\n", edit.end)
    after = data[begin : edit.begin] + edit.replacement.encode("utf-8", "surrogateescape")
    after += data[edit.end : end if end >= 0 else len(data)]
    return after.decode("utf-8", "replace").strip()[:LINE_SHOWN]


def plan_finding(finding: Finding, planner: Planner) -> tuple[Planned, ...]:
    """A plan, or a reason, for each remedy."""
    result = []
    for number, remedy in enumerate(finding.remedies):
        participant = _moved(finding, remedy, planner.program) or _participant(finding, remedy, number)
        try:
            plan = _plan(planner, participant, remedy, finding)
            result.append(Planned(remedy, participant, plan, record=_record(planner, participant)))
        except DeclaredByMacro as reason:
            result.append(Planned(remedy, participant, None, str(reason), by_macro=True))
        except LargerBreaks as reason:
            result.append(Planned(remedy, participant, None, str(reason), breaks=True))
        except Refused as reason:
            result.append(Planned(remedy, participant, None, str(reason) or "no edit is known for it"))
    return _parting(planner, finding, result)


def _parting(planner: Planner, finding: Finding, planned: Sequence[Planned]) -> tuple[Planned, ...]:
    """The same where these part the pair that the finding names, though some are refused.

    Else the other one of the two moves in place of the one that cannot; where neither can, no edit is made, as those of
    what else is on the line would leave the pair on it.
    """
    pair = finding.participants[:2]
    own = {one.identity for one in pair}
    stays = next((one for one in planned if one.plan is None and one.participant.identity in own), None)
    moves = any(one.plan is not None and one.participant.identity in own for one in planned)
    if stays is None or moves or len(pair) < 2 or stays.breaks:
        return tuple(planned)
    known = planner.program.variables
    other = next((one for one in pair if one.identity != stays.participant.identity and one.identity in known), None)
    if other is not None:
        try:
            found = _other_one(planner, stays, other)
        except Refused:
            pass  # the reason why the first one stays is what a reader asks for
        else:
            return tuple(found if one is stays else one for one in planned)
    reason = f"{stays.participant.full_name} would stay beside the other one: {stays.reason}"
    return tuple(one if one.plan is None else replace(one, plan=None, reason=reason) for one in planned)


def _other_one(planner: Planner, stays: Planned, other: Participant) -> Planned:
    """Whole lines for a variable in place of those for the one beside it.  Raises Refused."""
    plan = separate_variable(planner.of_program(other.identity, other.source), other.identity)
    facts, line = planner.variable(other.identity).facts, planner.line_size
    note = f"{stays.participant.full_name} stays, and what else is beside it is for the next check: {stays.reason}"
    remedy = msgspec.structs.replace(
        stays.remedy,
        kind="pad-type",
        text=f"give {other.full_name} a type of whole {line}-byte lines",
        edit="",
        moves=other.full_name,
        identity=other.identity,
        cost_bytes=round_up(max(facts.size, 1), line) - facts.size + max(line - max(facts.align, 1), 0),
        objects=1,
        each_bytes=0,
    )
    return Planned(remedy, other, replace(plan, notes=(note, *plan.notes)))


def _record(planner: Planner, participant: Participant) -> str:
    """The name of the type of which each object is meant, "" for a variable."""
    program, identity = planner.program, participant.identity
    known = program.records.get(identity) if identity not in program.variables else None
    return known.facts.name if known is not None else ""


def _moved(finding: Finding, remedy: Remedy, program: Program) -> Participant | None:
    """Whom the remedy says that it moves, a participant or what else is on the line; None where it does not say so."""
    identity = remedy.identity
    if not remedy.moves or (identity not in program.variables and identity not in program.records):
        return None
    same = [one for one in finding.participants if one.identity == identity]
    exact = next((one for one in same if one.full_name == remedy.moves), None)
    if exact is not None:
        return exact
    if not same:
        other = finding.participants[0]
        return msgspec.structs.replace(other, name=remedy.moves, member="", identity=identity, source="")
    one = same[0]
    if one.member and remedy.moves.startswith(one.name):  # its owner takes part by name
        return msgspec.structs.replace(one, member=remedy.moves[len(one.name) :].lstrip("."))
    return msgspec.structs.replace(one, name=remedy.moves, member="")


def _participant(finding: Finding, remedy: Remedy, number: int) -> Participant:
    """Whom the remedy moves: the one its text names first, else the one in its place."""
    places = []
    for at, participant in enumerate(finding.participants):
        owner, _, inner = participant.full_name.partition(".")
        # The remedy may be about what is around it: b of a.b.c, or the array of a.b[2].
        ends = [len(inner), *(found.start() for found in reversed(list(re.finditer(r"[.\[]", inner))))]
        of_owner = (f"{inner[:end]} of {owner}" for end in ends if inner[:end])
        for name in (participant.full_name, participant.name, *of_owner):
            found = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", remedy.text) if name else None
            if found:
                places.append((found.start(), -len(name), at))
                break
    if places:
        return finding.participants[min(places)[2]]
    return finding.participants[min(number, len(finding.participants) - 1)]


def _plan(planner: Planner, participant: Participant, remedy: Remedy, finding: Finding) -> Plan:
    identity = participant.identity
    if remedy.kind not in _EDITED:
        raise Refused(f"a change by hand: {remedy.text}")
    if not identity:
        raise Refused(_undeclared(participant))
    planner = planner.of_program(identity, participant.source)
    if remedy.kind == "destructive-size":
        return use_destructive_size(planner, identity)
    if remedy.kind == "move-member":
        return _moved_member(planner, participant, remedy, finding)
    if remedy.kind == "align-member" or (remedy.kind == "section" and remedy.breaks_abi):
        return _member(planner, participant, finding)
    if remedy.kind == "pad-element" and (inner := _array_inside(planner, participant)):
        return separate_member_elements(planner, *inner)
    if identity not in planner.program.variables and identity in planner.program.records:
        return _objects(planner, planner.program.records[identity], remedy, finding)
    if remedy.kind == "pad-element":
        return separate_elements(planner, identity)
    return separate_variable(planner, identity, read_mostly="__read_mostly" in remedy.edit)


def _moved_member(planner: Planner, participant: Participant, remedy: Remedy, finding: Finding) -> Plan:
    """The member at the place that the remedy names; where its order is fixed, room around it."""
    try:
        record = _record_around(planner, participant)
        path = participant.member or _inside(planner, participant)
        behind = _BEHIND.search(remedy.text)
        if record is None or behind is None or not re.fullmatch(r"\w+", path):
            raise Refused("it is in a record within another one")
        return move_member(planner, record, path, behind[1])
    except Refused as reason:
        plan = _member(planner, participant, finding)
        note = f"it grows every object; by hand nothing would, but {reason}: {remedy.text}"
        return replace(plan, notes=(note, *plan.notes))


def _record_around(planner: Planner, participant: Participant) -> Defined[RecordFacts] | None:
    """The project's own record that a participant is a member of."""
    identity = participant.identity
    if identity not in planner.program.variables:
        return planner.program.records.get(identity)
    variable = planner.variable(identity)
    return planner.own_record(_element(variable.facts.type), variable.unit)


def _objects(planner: Planner, record: Defined[RecordFacts], remedy: Remedy, finding: Finding) -> Plan:
    """Of what is allocated: where objects of the type meet each other, room between them will do."""
    among = finding.rule in _AMONG_OBJECTS or remedy.kind == "pad-element"
    return (separate_element if among else separate_record)(planner, record)


def _undeclared(participant: Participant) -> str:
    """Why no declaration is known, and what would tell."""
    if participant.source:
        return (
            f"{participant.source} declares it by the debug information, and no unit that was analysed does there: "
            f"give the units that include that file (-p DIR), and build the program of what they say now"
        )
    return "no debug information says where it is declared: build the program with -g"


def _member(planner: Planner, participant: Participant, finding: Finding) -> Plan:
    path = participant.member or _inside(planner, participant)
    others = [
        other.member or _inside(planner, other)
        for other in finding.participants
        if other is not participant and other.identity == participant.identity
    ]
    record = _record_around(planner, participant)
    if record is None or not path:
        raise Refused("its type is not the project's own")
    return align_member(planner, record, path, split=finding.rule in _STARTING, others=[o for o in others if o])


def _array_inside(planner: Planner, participant: Participant) -> tuple[Defined[RecordFacts], str] | None:
    """The record and the path of an array that is no variable by itself."""
    identity = participant.identity
    path = participant.member or _inside(planner, participant)
    record = planner.program.records.get(identity)
    if identity in planner.program.variables:
        variable = planner.variable(identity)
        if stripped(variable.facts.type).kind == TypeKind.ARRAY:
            return None
        record = planner.own_record(variable.facts.type, variable.unit)
    return (record, path) if record is not None and path else None


def _inside(planner: Planner, participant: Participant) -> str:
    """The member path of a participant whose name includes it."""
    program, identity = planner.program, participant.identity
    name = participant.name.removeprefix("struct ").removeprefix("union ")
    if identity in program.variables:
        end = name_end(program.variables[identity].facts, name)
        return name[end:].lstrip(".") if end >= 0 else ""
    return path_in(program.records[identity].facts.name, participant) if identity in program.records else ""


def path_in(owner: str, participant: Participant) -> str:
    """The path of a participant in the record of that name, which findings of types have in the name: ``Pair.a``."""
    if participant.member:
        return participant.member
    name = participant.name.removeprefix("struct ").removeprefix("union ")
    return name[len(owner) :].lstrip(".") if owner and name.startswith(owner) else name.partition(".")[2]


def _element(tree: TypeTree) -> TypeTree:
    """The type of the elements of an array (of arrays), else the type itself."""
    core = stripped(tree)
    while core.kind == TypeKind.ARRAY and core.inner is not None:
        core = stripped(core.inner)
    return core


def apply_edits(data: bytes, edits: Sequence[SourceEdit]) -> bytes:
    """The file's bytes after its edits, which do not overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda e: (e.begin, e.end)):
        pieces += [data[at : edit.begin], edit.replacement.encode("utf-8", "surrogateescape")]
        at = edit.end
    return b"".join([*pieces, data[at:]])
