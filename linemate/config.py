"""Reading ``linemate.toml``.  Owns finding the file and saying what is wrong with it, nothing of its meaning."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec

from sharing.model.errors import LinemateError
from sharing.model.project import ProjectConfig
from sharing.model.vocabulary import mistakes

FILE_NAME = "linemate.toml"
LINE_SIZES = (32, 64, 128, 256)
# Every glob is held against every name of a program, and Python takes a square of its brackets to read one.
MAX_GLOBS = 500
MAX_GLOB_CHARS = 1024
MAX_WILDCARDS = 32
_TEXTS = frozenset({"reason", "source"})  # keys whose words are no names


def find_config(start: Path) -> Path | None:
    """The nearest ``linemate.toml`` in ``start`` or a folder above it."""
    for folder in (start, *start.parents):
        candidate = folder / FILE_NAME
        if candidate.is_file():
            return candidate
    return None


def load_config(path: Path) -> ProjectConfig:
    """The file as a value.  Raises LinemateError naming the file and the key, with the nearest valid key."""
    from linemate.tomlfile import read_toml  # most runs find no such file

    data = read_toml(str(path), "a project file")
    if taken := next((key for key in ("path", "library") if key in data), None):
        raise LinemateError(_unknown_key(path, "", taken, ()))
    _check_keys(path, "", data, ProjectConfig)
    _check_globs(path, data)
    try:
        config = msgspec.convert(data | {"path": str(path)}, ProjectConfig)
    except msgspec.ValidationError as error:
        raise LinemateError(f"{path}: {_spoken(str(error))}") from error
    _check_values(path, config)
    return config


def _check_keys(path: Path, where: str, value: Any, shape: Any) -> None:
    """Raise for the first key that ``shape`` does not have; msgspec names the key but not what was meant."""
    struct, is_table = _struct_in(shape)
    if struct is None:
        return
    if is_table and isinstance(value, dict):
        for key, inner in value.items():
            _check_keys(path, f"{where}.{key}", inner, struct)
        return
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    known = tuple(name for name in fields if where or name not in ("path", "library"))
    for row in value if isinstance(value, list) else [value]:
        if not isinstance(row, dict):
            continue
        for key, inner in row.items():
            if key not in known:
                raise LinemateError(_unknown_key(path, where, key, known))
            _check_keys(path, f"{where}.{key}" if where else key, inner, fields[key])


def _check_globs(path: Path, data: dict[str, Any]) -> None:
    """Raise for globs that would keep a run busy for hours."""
    count = 0
    for where, name in _names_in("", data):
        wildcards = sum(map(name.count, "*?["))
        count += wildcards > 0
        if wildcards > MAX_WILDCARDS or (wildcards and len(name) > MAX_GLOB_CHARS):
            raise LinemateError(
                f"{path}: {where}: a glob has at most {MAX_WILDCARDS} wildcards and {MAX_GLOB_CHARS:,} characters"
            )
    if count > MAX_GLOBS:
        raise LinemateError(f"{path}: {count:,} globs, of which a project has at most {MAX_GLOBS}")


def _names_in(where: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each string of the file with its key, but for what is only said."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _names_in(f"{where}[{number}]", inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _TEXTS or not isinstance(inner, str):  # a namespace may be called like a key
                yield from _names_in(f"{where}.{key}" if where else key, inner)


def _struct_in(annotation: Any) -> tuple[Any, bool]:
    """The struct that a field holds, one or several, and whether it is a table with keys of its own."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation, False
    is_table = get_origin(annotation) is dict
    found = (_struct_in(inner)[0] for inner in get_args(annotation))
    return next((struct for struct in found if struct is not None), None), is_table


def _unknown_key(path: Path, where: str, key: str, known: tuple[str, ...]) -> str:
    nearest = _nearest(key, known)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"known keys: {', '.join(known) or 'none like it'}"
    return f"{path}: unknown key '{key}'{f' in [{where}]' if where else ''}: {hint}"


def _spoken(message: str) -> str:
    """msgspec's message with its path written as in TOML: ``$.lock[0].type`` becomes ``lock[0].type``."""
    found = re.fullmatch(r"(?s)(.*?) - at `\$\.?(.*)`", message)
    return f"{found[2]}: {found[1]}" if found else message


def _check_values(path: Path, config: ProjectConfig) -> None:
    size = config.project.line_size
    if size is not None and size not in LINE_SIZES:
        raise LinemateError(f"{path}: project.line_size: {size} is not one of {', '.join(map(str, LINE_SIZES))}")
    for key, why in mistakes(config):
        raise LinemateError(f"{path}: {key}: {why}")
    if config.suppress:
        _check_rules(path, config)
    for number, row in enumerate(config.suppress):
        if not row.reason.strip():
            raise LinemateError(f"{path}: suppress[{number}].reason: say why the finding is accepted")


def _check_rules(path: Path, config: ProjectConfig) -> None:
    """A suppression that matches no rule would look accepted and do nothing."""
    from sharing.rules import RULES

    ids = [rule.id for rule in RULES]
    for number, row in enumerate(config.suppress):
        if not any(fnmatch.fnmatchcase(name, row.rule) for name in ids):
            nearest = _nearest(row.rule, ids)
            hint = f"did you mean '{nearest[0]}'?" if nearest else f"rules: {', '.join(ids)}"
            raise LinemateError(f"{path}: suppress[{number}].rule: no rule '{row.rule}': {hint}")


def _nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known word that was probably meant, none where none is like it."""
    from difflib import get_close_matches  # where something is wrong

    return get_close_matches(word, list(known), n=1, cutoff=0.5)
