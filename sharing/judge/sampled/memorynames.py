"""What memory without a declaration is called: by the type that the code's variables say, its allocation, or its place.

Owns the naming of such items as ``Actor`` values.
"""

from __future__ import annotations

import os

from sharing.basics.naming import without_internals
from sharing.model.attribution import Region
from sharing.model.profile import Actor, Role
from sharing.sampled.heap import Allocation
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.objects import SeenObject

_NO_FILE = "/dev/zero (deleted)"  # what Linux calls anonymous memory that is shared
REGION_WORDS = {
    Region.HEAP: "heap",
    Region.STACK: "stack",
    Region.ANONYMOUS: "anonymous memory",
    Region.SHARED: "shared memory",
    Region.TLS: "thread-local storage",
}


def role_of_item(item: Item) -> Role:
    """What an item is by what was seen of it."""
    if item.is_lock:
        return Role.LOCK
    if any(t.atomic for t in item.touches):
        return Role.ATOMIC
    if not item.writers:
        return Role.READ_MOSTLY
    return Role.WRITTEN


def of_object(seen: SeenObject, item: Item, use: LineUse, block: Allocation | None) -> Actor:
    """A member of a record that the code's variables lead to, ``Session.hits``; a local variable by its own name."""
    start, end = use.address + item.start, use.address + item.end
    name, path, span = seen.by if seen.local else seen.type_name, "", (start, end)
    if seen.member is not None:
        path = without_internals(seen.member.path, seen.member.via)
        if seen.address >= 0:  # else of which element is not known
            path = seen.member.path_at(path, seen.offset)
            first = seen.address + seen.member.begin(seen.offset)
            span = (first, first + seen.member.extent)
    several = block is not None and seen.size < block.size and not (block.single or seen.local)
    if block is not None and several and seen.address >= 0:
        owner = f"{name}[{(seen.address - block.address) // seen.size}]"
    else:
        owner = name
    member = f"{owner}{path}" if path.startswith("[") else f"{owner}.{path}" if path else owner
    if seen.local:
        member += f" in {seen.function}"
    role = role_of_item(item)
    return Actor(
        name=member,
        owner=f"{owner} at {seen.address:#x}" if seen.address >= 0 else owner,
        owner_span=(seen.address, seen.address + seen.size) if seen.address >= 0 else span,
        span=span,
        hot=((start, end),),
        role=role,
        kind="lock" if role is Role.LOCK else "",
        type_name=seen.member.type_name if seen.member is not None else seen.type_name,
        owner_type=seen.type_name,
        source=seen.source,
        sized=False,
    )


def of_block(block: Allocation, item: Item, use: LineUse) -> Actor:
    """A part of an allocation: ``block of 64 bytes from open_channel+0x8``."""
    start, end = use.address + item.start, use.address + item.end
    inside = start - block.address
    role = role_of_item(item)
    return Actor(
        name=f"{block.name}+{inside:#x}" if inside else block.name,
        owner=f"{block.name} at {block.address:#x}",
        owner_span=(block.address, block.address + block.size),
        span=(start, end),
        hot=((start, end),),
        role=role,
        kind="lock" if role is Role.LOCK else "",
        source=block.site.source,
        sized=False,
    )


def nameless(item: Item, use: LineUse) -> Actor:
    """Memory without a name: ``heap 0x7f10 bytes 0–7``, ``libc.so.6+0x1e5a40``."""
    start = (use.link if use.link >= 0 else use.address) + item.start
    last = item.end - 1
    if use.link >= 0:
        name = f"{os.path.basename(use.module)}+{start:#x}"
    else:
        where = REGION_WORDS.get(use.region, "memory")
        where = f"{where} of {use.owner.name}" if use.owner is not None else where
        if use.space == _NO_FILE:
            where = f"anonymous {where}"
        elif use.space:
            where = f"{where} {os.path.basename(use.space)}"
        name = f"{where} {use.address:#x} bytes {item.start}–{last}"
    span = (start, start + item.end - item.start)
    owner = f"{name.partition(' bytes ')[0]}"
    role = role_of_item(item)
    line = (start - item.start, start - item.start + use.size)
    return Actor(
        name=name,
        owner=owner,
        owner_span=line,
        span=span,
        hot=(span,),
        role=role,
        kind="lock" if role is Role.LOCK else "",
        sized=False,
    )
