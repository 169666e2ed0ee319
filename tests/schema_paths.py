"""The required fields of a JSON schema, as paths into a document that has them.

Owns the walk; which fields a document must have is its schema's to say.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

FieldPath = tuple[Any, ...]


def required_paths(schema: Any, value: Any) -> Iterator[FieldPath]:
    """Every required field of the document and of what is in it; of lists, of the longest item."""
    return _paths(schema, schema, value, ())


def _paths(root: Any, schema: Any, value: Any, path: FieldPath) -> Iterator[FieldPath]:
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if schema.get("type") == "object":
        for key in schema.get("required", ()):
            yield (*path, key)
            yield from _paths(root, schema["properties"][key], value[key], (*path, key))
    elif schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        longest = max(range(len(value)), key=lambda at: len(json.dumps(value[at])), default=None)
        if longest is not None:
            yield from _paths(root, schema["items"], value[longest], (*path, longest))


def without(document: Any, path: FieldPath) -> Any:
    """A copy of the document that lacks one field."""
    broken = copy.deepcopy(document)
    parent = broken
    for step in path[:-1]:
        parent = parent[step]
    del parent[path[-1]]
    return broken
