"""Profiles of single lines: actors with their bytes, accessors and heat.

Owns the step from accesses on a line to named actors (variables, members, locks by their ABI bytes).  Does not
choose the lines (``correlate``) and does not judge them (``rules``).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from sharing.basics.naming import Demangle, readable_names, without_internals
from sharing.basics.sourcepath import in_project
from sharing.knowledge import Knowledge
from sharing.model.image import AccessKind, Image, SiteFlag, Table, VariableFlag
from sharing.model.linkage import language_of
from sharing.model.profile import COMPANIONS, Access, Actor, LineProfile, Neighbour, Often, Range, Role
from sharing.model.types import Member, TypeKind
from sharing.static import numbers
from sharing.static.callees import function_name
from sharing.static.callgraph import CallGraph
from sharing.static.correlate import Accesses, Thresholds
from sharing.static.entrylocks import held_on_entry
from sharing.static.flow import LOCK
from sharing.static.origins import AccessOrigins, source_text
from sharing.static.roles import role_of
from sharing.static.shapes import LockMember, Shapes, lock_at

LOAD, STORE, RMW = int(AccessKind.LOAD), int(AccessKind.STORE), int(AccessKind.RMW)
UNSIZED = int(VariableFlag.SIZE_INFERRED | VariableFlag.RECOVERED)
INDEXED, ATOMIC = int(SiteFlag.INDEXED), int(SiteFlag.ATOMIC)
WALKS, OWN = int(SiteFlag.WALKS), int(SiteFlag.OWN)
MAX_NEIGHBOURS = 64


@dataclass(frozen=True, slots=True)
class _Owner:
    name: str
    span: Range
    type_name: str
    source: str
    file: str
    language: str
    alignment: int
    section: str
    unit: int
    sized: bool
    identity: str


@dataclass(slots=True)
class _Draft:
    """An actor being collected."""

    name: str
    owner: int  # variable row
    span: Range
    lock: LockMember | None = None
    leaf: Member | None = None
    rows: list[int] = field(default_factory=list)


class Profiler:
    """Builds line profiles of one image; holds the joined tables."""

    def __init__(
        self,
        image: Image,
        graph: CallGraph,
        accesses: Accesses,
        events: Table,
        knowledge: Knowledge,
        limits: Thresholds,
        demangle: Demangle,
    ) -> None:
        self.image = image
        self.graph = graph
        self.accesses = accesses
        self.knowledge = knowledge
        self.limits = limits
        functions = np.unique(accesses.sites["function"]).tolist()
        raw = {row: function_name(image, row) for row in functions}
        shown = readable_names(list(raw.values()), demangle)
        self._names = {row: shown[name] for row, name in raw.items()}
        self.shapes = Shapes(image, knowledge)
        self._targets = accesses.sites["target"]
        sites = accesses.sites
        self._target, self._kind = sites["target"].tolist(), sites["kind"].tolist()
        self._function, self._flags = sites["function"].tolist(), sites["flags"].tolist()
        self._depth, self._stride = sites["loop_depth"].tolist(), sites["stride"].tolist()
        self._size, self._weight = sites["size"].tolist(), accesses.weight.tolist()
        self._lock, self._cold = accesses.lock.tolist(), accesses.cold.tolist()
        self._mask = accesses.mask.tolist()
        self._places = AccessOrigins(image, sites, self.name_of, held_on_entry(image, graph))
        self._section = {s.index: s.name for s in image.sections}
        order = np.argsort(accesses.variable, kind="stable")
        self._by_variable = order
        self._first = np.searchsorted(accesses.variable[order], np.arange(len(image.variables) + 1))
        self._owners: dict[int, _Owner] = {}
        self._actors: dict[int, tuple[Actor, ...]] = {}
        self._lines: dict[tuple[int, int], LineProfile] = {}
        self._takes: dict[int, frozenset[str]] = {}
        taken: dict[int, set[str]] = defaultdict(set)
        names: dict[int, str] = {}
        for event in events[events["effect"] == LOCK].tolist():
            address, function = event[1], event[2]
            if knowledge.locks[event[3]].kind in COMPANIONS:
                continue  # waiting and waking hold nothing
            if address not in names:
                names[address] = self.name_of(address)
            taken[function].add(names[address])
        self._taken = taken

    def name_of(self, address: int) -> str:
        """Display name of a static address: variable, or variable.member where the type is known."""
        row = self.variable_at(address)
        if row < 0:
            return f"{address:#x}"
        variable = self.image.variables[row]
        base = self.variable_name(row)
        offset = address - int(variable["address"])
        for lock in self.shapes.locks(int(variable["type"])):
            if lock.covers(offset):
                return _join(base, lock.path_at(lock.path, offset))
        return base if not offset else f"{base}+{offset:#x}"

    def variable_at(self, address: int) -> int:
        table = self.image.variables
        row = int(np.searchsorted(table["address"], np.uint64(address), "right")) - 1
        if row < 0 or address >= int(table["address"][row]) + max(int(table["size"][row]), 1):
            return -1
        return row

    def variable_name(self, row: int) -> str:
        variable = self.image.variables[row]
        name = self.image.names[variable["name"]] if variable["name"] >= 0 else f"{int(variable['address']):#x}"
        scope = int(variable["scope"])
        return f"{self.image.names[scope]}::{name}" if scope >= 0 else name

    def profile(self, address: int, size: int) -> LineProfile:
        """The line [address, address+size): its actors and every object on it."""
        known = self._lines.get((address, size))
        if known is not None:
            return known
        table = self.image.variables
        stop = int(np.searchsorted(table["address"], np.uint64(address + size), "left"))
        # The variable that covers the first byte may start long before; of those that end earlier, none counts.
        start = max(self.variable_at(address), 0) if self.variable_at(address) >= 0 else stop
        start = min(start, int(np.searchsorted(table["address"], np.uint64(address), "left")))
        actors = [
            actor
            for row in range(start, stop)
            for actor in self.actors(row)
            if actor.touched_on(address, address + size)
        ]
        actors.sort(key=lambda a: (a.span, a.name))
        line = LineProfile(address, size, tuple(actors), self._neighbours(address, size))
        self._lines[(address, size)] = line
        return line

    def actors(self, row: int) -> tuple[Actor, ...]:
        """All actors of one variable, from all its accesses; computed once."""
        known = self._actors.get(row)
        if known is None:
            sites = sorted(self._by_variable[self._first[row] : self._first[row + 1]].tolist())
            drafts = self._drafts(row, sites) if sites else []
            known = tuple(a for d in drafts if (a := self._actor(d)) is not None)
            self._actors[row] = known
        return known

    def _neighbours(self, address: int, size: int) -> tuple[Neighbour, ...]:
        table = self.image.variables
        stop = int(np.searchsorted(table["address"], np.uint64(address + size), "left"))
        out: list[Neighbour] = []
        for row in range(stop - 1, max(stop - 1 - MAX_NEIGHBOURS, -1), -1):
            start = int(table["address"][row])
            end = start + max(int(table["size"][row]), 1)
            if end > address:
                out.append(Neighbour(self.variable_name(row), (start, end)))
            elif start < address:
                break
        return tuple(reversed(out))

    def _drafts(self, row: int, sites: list[int]) -> list[_Draft]:
        """Split a variable's accesses among its locks, its typed leaves, or its touched byte ranges."""
        variable = self.image.variables[row]
        base, size, type_row = int(variable["address"]), int(variable["size"]), int(variable["type"])
        name = self.variable_name(row)
        places = self._lock_members(base, size, type_row, sites)
        drafts: dict[Range, _Draft] = {}
        loose: list[int] = []
        chosen: dict[int, _Draft | None] = {}  # by offset: most bytes are touched at many sites
        for at in sites:
            offset = self._target[at] - base
            if offset in chosen:
                known = chosen[offset]
                (known.rows if known is not None else loose).append(at)
                continue
            place = lock_at(places, offset) if places else None
            if place is not None:
                start = base + place.offset + place.element(offset) * place.stride
                span = (start, start + place.size)
                path = place.path_at(place.path, offset)
                draft = chosen[offset] = drafts.setdefault(span, _Draft(_join(name, path), row, span, lock=place))
                draft.rows.append(at)
                continue
            leaf = self.shapes.leaf(type_row, offset)
            if leaf is None:
                chosen[offset] = None
                loose.append(at)
                continue
            start = base + leaf.offset
            if leaf.stride and leaf.stride >= leaf.size:
                start += (offset - leaf.offset) // leaf.stride * leaf.stride
            span = (start, start + max(leaf.size, 1))
            path = without_internals(leaf.path)
            if leaf.stride and "[]" in path:
                path = path.replace("[]", f"[{(offset - leaf.offset) // leaf.stride}]", 1)
            draft = chosen[offset] = drafts.setdefault(span, _Draft(_join(name, path), row, span, leaf=leaf))
            draft.rows.append(at)
        for draft in [d for d in drafts.values() if d.leaf is not None and d.name == name]:
            elements = self._elements(draft)
            if elements:
                del drafts[draft.span]
                drafts.update((d.span, d) for d in elements)
        for span, rows in self._ranges(base, size, loose):
            whole = span == (base, base + size) or size <= 8
            text = name if whole or span[0] == base else f"{name}+{span[0] - base:#x}"
            draft = drafts.setdefault(span, _Draft(text, row, span))
            draft.rows.extend(rows)
        return list(drafts.values())

    def _elements(self, draft: _Draft) -> list[_Draft]:
        """An array variable of scalars as the elements that are touched; none where an access may be of any of them."""
        leaf = draft.leaf
        if leaf is None or leaf.kind != TypeKind.ARRAY or not 0 < leaf.stride < leaf.size:
            return []
        out: dict[int, _Draft] = {}
        for at in draft.rows:
            offset = self._target[at] - draft.span[0]
            index = offset // leaf.stride
            exact = not self._flags[at] & (INDEXED | SiteFlag.VIA_CALL) and self._size[at] > 0
            if not exact or offset + self._size[at] > (index + 1) * leaf.stride or len(out) > numbers.MAX_ELEMENTS:
                return []
            start = draft.span[0] + index * leaf.stride
            element = _Draft(f"{draft.name}[{index}]", draft.owner, (start, start + leaf.stride), leaf=leaf)
            out.setdefault(index, element).rows.append(at)
        return list(out.values())

    def _lock_members(self, base: int, variable_size: int, type_row: int, sites: list[int]) -> list[LockMember]:
        """Locks by type, and where no type says so, by the calls that take them."""
        places = list(self.shapes.locks(type_row))
        seen: set[int] = set()
        for at in sites:
            lock = self._lock[at]
            offset = self._target[at] - base
            if lock < 0 or offset in seen:
                continue
            seen.add(offset)
            if lock_at(places, offset) is not None:
                continue
            abi = self.shapes.abi(lock)
            row = self.knowledge.locks[lock]
            size = abi.size if abi else 4
            lockers = {self._function[s] for s in sites if self._lock[s] == lock}
            rest = [s for s in sites if self._target[s] >= base + size and self._weight[s] >= numbers.WARM_WEIGHT]
            alone = any(self._function[s] not in lockers for s in rest)  # what is behind it has users of its own
            if type_row < 0 and not (offset or alone) and size < variable_size <= size + numbers.WRAPPER_BYTES:
                size = variable_size  # nothing but the lock and what its wrapper adds
            hot = abi.hot if abi else ((0, size),)
            path = f"+{offset:#x}" if offset else ""
            places.append(LockMember(path, offset, size, lock, hot, abi.read if abi else (), 0, 1, row.name))
        return places

    def _ranges(self, base: int, size: int, sites: list[int]) -> list[tuple[Range, list[int]]]:
        """Touched byte ranges of an untyped variable, overlapping ones joined."""
        if not sites:
            return []
        if size <= 8:
            return [((base, base + max(size, 1)), sites)]
        out: list[tuple[Range, list[int]]] = []
        for at in sites:  # in order of target
            start = self._target[at]
            extent = max(self._size[at], 1)
            if self._flags[at] & INDEXED and extent <= numbers.UNBOUNDED:
                extent = max(extent, self._stride[at])
            end = min(start + min(extent, numbers.UNBOUNDED), base + max(size, 1))
            if out and start < out[-1][0][1]:
                (first, last), rows = out[-1]
                rows.append(at)
                out[-1] = ((first, max(last, end)), rows)
            else:
                out.append(((start, end), [at]))
        return out

    def _actor(self, draft: _Draft) -> Actor | None:
        accesses = self._summed(draft.rows, draft.name if draft.lock else "")
        if not accesses:
            return None
        often = self._often(draft.rows)
        role = Role.LOCK if draft.lock is not None else role_of(draft.leaf, accesses, self.knowledge, often)
        if draft.lock is not None:
            hot = tuple((draft.span[0] + a, draft.span[0] + b) for a, b in draft.lock.hot)
            read = tuple((draft.span[0] + a, draft.span[0] + b) for a, b in draft.lock.read)
            kind, type_name = str(self.knowledge.locks[draft.lock.row].kind), draft.lock.type_name
        else:
            hot, read, kind = (draft.span,), (), ""
            leaf = draft.leaf
            type_name = _leaf_type(leaf) if leaf is not None else ""
        owner = self._owner(draft.owner)
        shared = [a for a in accesses if a.mask]
        writes = [a for a in shared if a.writes or a.locks]
        reads = [a for a in shared if a.reads and not a.locks]
        handle = self.knowledge.thread_handles.find
        if draft.leaf is not None and any(handle(name) >= 0 for name in (*draft.leaf.via, type_name)):
            writes, reads = [], [a for a in reads if not a.writes]  # written once a thread, which costs far more
            often = often and Often()
        write_guards = self._guards([at for at in draft.rows if self._kind[at] in (STORE, RMW)])
        write_heat, read_heat, raised = self.limits.heats(writes, reads, often, guarded=bool(write_guards))
        return Actor(
            name=draft.name,
            often=often,
            owner=owner.name,
            owner_span=owner.span,
            span=draft.span,
            hot=hot,
            read_hot=read,
            role=role,
            kind=kind,
            type_name=type_name,
            owner_type=owner.type_name,
            source=owner.source,
            file=owner.file,
            language=owner.language,
            alignment=owner.alignment,
            section=owner.section,
            unit=owner.unit,
            identity=owner.identity,
            support=self._places.support([at for at in draft.rows if self._lock[at] < 0 and self._weight[at] > 0]),
            accesses=accesses,
            callers=self._callers(draft.rows),
            write_heat=write_heat,
            read_heat=read_heat,
            raised=raised,
            of_library=self.knowledge.is_library_data(owner.name, owner.language),
            guards=self._guards(draft.rows),
            write_guards=write_guards,
            is_volatile=draft.leaf is not None and draft.leaf.is_volatile,
            sized=owner.sized,
            stride=draft.leaf.stride if draft.leaf else (draft.lock.stride if draft.lock else 0),
            count=draft.leaf.count if draft.leaf else (draft.lock.count if draft.lock else 1),
        )

    def _often(self, rows: list[int]) -> Often | None:
        """Roots that write these bytes, and that use them, as often as costs a program something."""
        threads, once = self.graph.by_thread, self.accesses.once
        if threads is None or once is None:
            return None
        at = np.array(rows)
        return threads.often(self.accesses.sites[at], once[at])

    def _callers(self, rows: list[int]) -> frozenset[str]:
        """Functions that call those which make these accesses: helpers, as nothing else enters them."""
        helpers = {f for f in (self._function[at] for at in rows) if not self.graph.entered[f]}
        callers = {c for f in helpers for c in self.graph.callers(f)}
        return frozenset(self._names[c] for c in callers if c in self._names)

    def _owner(self, row: int) -> _Owner:
        """What all actors of a variable have in common; read once."""
        known = self._owners.get(row)
        if known is None:
            v = self.image.variables[row]
            start, size, kind, unit = int(v["address"]), int(v["size"]), int(v["type"]), int(v["unit"])
            file, section = int(v["file"]), self._section.get(int(v["section"]), "")
            known = self._owners[row] = _Owner(
                name=self.variable_name(row),
                span=(start, start + size),
                type_name=self.image.types.name(kind) if kind >= 0 else "",
                source=source_text(self.image.files[file], int(v["line"]), int(v["column"])) if file >= 0 else "",
                file=in_project(self.image.files[file], unit, self.image.units) if file >= 0 else "",
                language=language_of(self.image, row),
                alignment=self._alignment(kind, int(v["align"]), section),
                section=section,
                unit=unit,
                sized=not v["flags"] & UNSIZED,
                identity=self.image.identities.get(start, ""),
            )
        return known

    def _alignment(self, type_row: int, declared_here: int, section: str) -> int:
        if section.startswith(".data..cacheline_aligned"):
            return self.image.arch.line_size
        core, _, _ = self.image.types.strip(type_row)
        declared = [self.image.types[r].align for r in (type_row, core) if 0 <= r < len(self.image.types)]
        return max([d for d in (*declared, declared_here) if d > 0], default=0)

    def within(self, start: int, size: int) -> tuple[Actor, ...]:
        """Actors with bytes in [start, start+size)."""
        row = self.variable_at(start)
        return tuple(a for a in self.actors(row) if a.span[0] < start + size and start < a.span[1]) if row >= 0 else ()

    def _summed(self, rows: list[int], lock: str = "") -> tuple[Access, ...]:
        """One Access per function and direction, heaviest first; ``lock`` is the actor's name if it is one."""
        total: dict[tuple[int, bool, bool, bool, bool], list[float]] = {}
        busiest: dict[tuple[int, bool, bool, bool, bool], int] = {}
        masks: dict[tuple[int, bool, bool, bool, bool], int] = {}
        for at in rows:
            kind, flags, locks = self._kind[at], self._flags[at], self._lock[at] >= 0
            writes = kind in (STORE, RMW) and not locks
            reads = kind in (LOAD, RMW) and not locks
            key = (self._function[at], writes, reads, bool(flags & ATOMIC), locks)
            entry = total.get(key)
            if entry is None:
                entry = total[key] = [0.0, 0, 0, 1, 0, 0, 0]
                masks[key] = 0
                busiest[key] = at
            elif self._weight[at] > self._weight[busiest[key]]:
                busiest[key] = at
            masks[key] |= self._mask[at]
            entry[0] += self._weight[at]
            entry[1] = max(entry[1], self._depth[at])
            entry[2] += 1
            entry[3] = min(entry[3], self._cold[at])
            if flags & INDEXED:
                entry[4] = max(entry[4], self._stride[at])
                entry[5] = max(entry[5], flags & WALKS)
                entry[6] = max(entry[6], flags & OWN)
        out = [
            Access(
                self._names[function],
                weight,
                masks[key],
                writes,
                reads,
                atomic,
                locks,
                int(depth),
                int(sites),
                bool(cold),
                int(stride),
                *self._places.where(busiest[key], besides=lock),
                walks=bool(walks),
                own=bool(own),
            )
            for key, (weight, depth, sites, cold, stride, walks, own) in total.items()
            for function, writes, reads, atomic, locks in (key,)
        ]
        out.sort(key=lambda a: (-a.weight, a.function, a.writes))
        return tuple(out)

    def _guards(self, rows: list[int]) -> frozenset[str]:
        """Locks that most of the weight is under: held there by the source, else taken by the function."""
        if self._places.known:
            return self._places.guards(rows, self._weight)
        weight: dict[str, float] = defaultdict(float)
        per_function: dict[int, float] = defaultdict(float)
        for at in rows:
            per_function[self._function[at]] += self._weight[at]
        total = sum(per_function.values())
        for function, value in per_function.items():
            if value:
                for lock in self.held(function):
                    weight[lock] += value
        return frozenset(lock for lock, value in weight.items() if total and value >= numbers.GUARD_SHARE * total)

    def held(self, function: int, depth: int = 0) -> frozenset[str]:
        """Locks that a function takes, or that all its callers take: helpers run under their callers' lock."""
        known = self._takes.get(function)
        if known is not None:
            return known
        own = frozenset(self._taken.get(function, ()))
        callers = self.graph.callers(function)
        if (
            depth < numbers.MAX_CALLERS_UP
            and callers
            and len(callers) <= numbers.MAX_CALLERS
            and not self.graph.entered[function]
        ):
            self._takes[function] = own  # a cycle adds nothing
            alone = self.graph.phases.alone
            above = [self.held(c, depth + 1) for c in callers if c != function and not alone[c]]
            if above:
                own |= frozenset.intersection(*above)
        self._takes[function] = own
        return own


def _join(base: str, path: str) -> str:
    if not path:
        return base
    return base + path if path[0] in "[+" else f"{base}.{path}"


def _leaf_type(leaf: Member) -> str:
    """The innermost name of the leaf's own type; typedefs around it come last in ``via``."""
    return leaf.type_name or (leaf.via[-1] if leaf.via else "")
