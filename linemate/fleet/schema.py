"""The datasets that an audit of a fleet writes: their columns, with types and meaning.

Owns the schema and its version; ``docs/fleet.md`` shows the same tables.  A column is never removed or given another
meaning under one version; new ones may be added.  Does not write anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linemate.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1


@dataclass(frozen=True, slots=True)
class Column:
    """``type`` is a name in Arrow's words; ``list<…>`` of another."""

    name: str
    type: str
    about: str


_OF_IMAGE = (
    Column("content", "string", "first 32 digits of the file's SHA-256; joins all datasets"),
    Column("member", "string", "member of an archive, else empty"),
)

DATASETS: dict[str, tuple[Column, ...]] = {
    "files": (
        Column("path", "string", "absolute, or a URL; bytes that are not UTF-8 as \\x80"),
        Column("content", "string", "as below; empty where the file could not be read"),
        Column("build_id", "string", "of the file; of an archive, or without one, the content"),
        Column("size", "int64", "bytes"),
        Column("modified_ns", "int64", "last change, nanoseconds since 1970"),
        Column(
            "status",
            "string",
            "audited, incomplete, failed, lost (its process ended) or left out (read, and no ELF file)",
        ),
        Column("error", "string", "why it failed, without the path"),
    ),
    "images": (
        *_OF_IMAGE,
        Column("arch", "string", "processor architecture"),
        Column("kind", "string", "executable, pie, shared object, relocatable, kernel or kernel module"),
        Column("line_size", "int32", "bytes of a line"),
        Column("debug", "string", "where types come from, empty without"),
        Column("incomplete", "bool", "a part could not be analysed"),
        Column("critical", "int32", "findings of that severity"),
        Column("high", "int32", "the same"),
        Column("medium", "int32", "the same"),
        Column("low", "int32", "the same"),
        Column("note", "int32", "the same, where notes were asked for"),
        Column("variables", "int32", "rows in variables"),
        Column("notes", "list<string>", "what was not seen, in words"),
        Column("linemate", "string", "version that judged it"),
    ),
    "findings": (
        *_OF_IMAGE,
        Column("id", "string", "the same in every build that has the pair"),
        Column("rule", "string", "linemate rules RULE explains it"),
        Column("severity", "string", "critical, high, medium, low or note"),
        Column("severity_rank", "int8", "4 critical to 0 note"),
        Column("confidence", "string", "how it is known"),
        Column("verdict", "string", "what happens on the line"),
        Column("score", "double", "order within a severity and a confidence"),
        Column("line", "uint64", "address of the line"),
        Column("line_bytes", "int32", "its size, or that of a pair of lines"),
        Column("names", "list<string>", "variables and members that take part, the one to blame first"),
        Column("roles", "list<string>", "what each is to the line"),
        Column("sources", "list<string>", "file:line of each declaration, empty where unknown"),
        Column("message", "string", "the sentence of the report"),
        Column("remedy", "string", "the first edit in words"),
    ),
    "variables": (
        *_OF_IMAGE,
        Column("name", "string", "with the function of a function-local static; the address where nameless"),
        Column("address", "uint64", "as linked"),
        Column("size", "uint64", "bytes"),
        Column("section", "string", "writable section"),
        Column("line", "uint64", "address of the line that its first byte is on"),
        Column("type", "string", "empty where unknown"),
        Column("source", "string", "file:line of the declaration, empty where unknown"),
        Column("inferred", "bool", "the size is up to the next object"),
        Column("lock", "string", "kind of lock that is taken in it, empty for none"),
        Column("atomic", "bool", "written by an atomic instruction"),
        Column("reads", "double", "estimated executions of reads; a rank within the program"),
        Column("writes", "double", "the same of writes, taking a lock among them"),
        Column("functions", "int32", "functions that access it"),
    ),
    "lines": (
        *_OF_IMAGE,
        Column("line", "uint64", "address; lines with two objects or more"),
        Column("section", "string", "writable section"),
        Column("objects", "int32", "how many"),
        Column("names", "list<string>", "by address, at most 64"),
        Column("locks", "list<string>", "those that are taken as locks"),
        Column("atomics", "int32", "objects that are written by atomic instructions"),
        Column("written", "int32", "objects that some function writes or locks"),
        Column("reads", "double", "sum of the objects'"),
        Column("writes", "double", "the same"),
    ),
    "accesses": (
        *_OF_IMAGE,
        Column("function", "string", "who"),
        Column("variable", "string", "what; empty where no object is known there"),
        Column("address", "uint64", "first byte touched"),
        Column("kind", "string", "read, write, update or lock"),
        Column("atomic", "bool", "by an atomic instruction"),
        Column("indexed", "bool", "one of several elements"),
        Column("sites", "int32", "instructions or calls"),
        Column("loop_depth", "int8", "of the deepest"),
        Column("weight", "double", "estimated executions"),
    ),
}


def arrow_schema(dataset: str) -> pa.Schema:
    """The schema of a dataset, with its version and linemate's in the metadata."""
    import pyarrow as pa

    def type_of(text: str) -> pa.DataType:
        inner = text.removeprefix("list<").removesuffix(">")
        return pa.list_(type_of(inner)) if inner != text else pa.type_for_alias(text)

    fields = [pa.field(column.name, type_of(column.type), nullable=False) for column in DATASETS[dataset]]
    return pa.schema(fields, metadata={"linemate_schema": str(VERSION), "linemate_version": __version__})
