"""Reading ``linemate.toml``.  Owns finding the file and saying what is wrong with it, nothing of its meaning."""

from __future__ import annotations

import difflib
import fnmatch
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from sharing.model.errors import LinemateError
from sharing.model.inputs import read_input
from sharing.model.project import ProjectConfig

FILE_NAME = "linemate.toml"
LINE_SIZES = (32, 64, 128, 256)
MAX_BYTES = 1 << 20  # a project file is read by people; anything larger is the wrong file
MAX_KEY_PARTS = 32
# The parser keeps every beginning of a dotted key: one of 64 kB would take gigabytes.
_PART = r"""(?:(?<![\w-])[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS}}}")


def find_config(start: Path) -> Path | None:
    """The nearest ``linemate.toml`` in ``start`` or a folder above it."""
    for folder in (start, *start.parents):
        candidate = folder / FILE_NAME
        if candidate.is_file():
            return candidate
    return None


def load_config(path: Path) -> ProjectConfig:
    """The file as a value.  Raises LinemateError naming the file and the key, with the nearest valid key."""
    try:
        text = read_input(path, MAX_BYTES, "a project file").decode("utf-8")
        if _LONG_KEY.search(text):
            raise LinemateError(f"{path}: a key of more than {MAX_KEY_PARTS} parts")
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise LinemateError(f"{path}: offset {error.start:#x}: not UTF-8") from error
    except ValueError as error:  # TOMLDecodeError, and what int says of thousands of digits
        raise LinemateError(f"{path}: {error}") from error
    except RecursionError as error:
        raise LinemateError(f"{path}: nested too deeply") from error
    if "path" in data:
        raise LinemateError(_unknown_key(path, "", "path", ()))
    _check_keys(path, "", data, ProjectConfig)
    try:
        config = msgspec.convert(data | {"path": str(path)}, ProjectConfig)
    except msgspec.ValidationError as error:
        raise LinemateError(f"{path}: {_spoken(str(error))}") from error
    _check_values(path, config)
    return config


def _check_keys(path: Path, where: str, value: Any, shape: Any) -> None:
    """Raise for the first key that ``shape`` does not have; msgspec names the key but not what was meant."""
    if not (isinstance(shape, type) and issubclass(shape, msgspec.Struct)):
        return
    rows = value if isinstance(value, list) else [value]
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
    known = tuple(name for name in fields if where or name != "path")
    for row in rows:
        if not isinstance(row, dict):
            continue
        for key, inner in row.items():
            if key not in known:
                raise LinemateError(_unknown_key(path, where, key, known))
            _check_keys(path, f"{where}.{key}" if where else key, inner, _struct_in(fields[key]))


def _struct_in(annotation: Any) -> Any:
    arguments = getattr(annotation, "__args__", ())
    return next((inner for inner in arguments if isinstance(inner, type)), annotation) if arguments else annotation


def _unknown_key(path: Path, where: str, key: str, known: tuple[str, ...]) -> str:
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
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
    for number, lock in enumerate(config.lock):
        for start, end in lock.hot:
            if not 0 <= start < end:
                raise LinemateError(f"{path}: lock[{number}].hot: [{start}, {end}] is not a range of bytes")
    if config.suppress:
        _check_rules(path, config)
    for number, thread in enumerate(config.thread):
        if thread.entry_argument < 0:
            raise LinemateError(f"{path}: thread[{number}].entry_argument: arguments count from 0")
    for number, row in enumerate(config.suppress):
        if not row.reason.strip():
            raise LinemateError(f"{path}: suppress[{number}].reason: say why the finding is accepted")


def _check_rules(path: Path, config: ProjectConfig) -> None:
    """A suppression that matches no rule would look accepted and do nothing."""
    from sharing.rules import RULES

    ids = [rule.id for rule in RULES]
    for number, row in enumerate(config.suppress):
        if not any(fnmatch.fnmatchcase(name, row.rule) for name in ids):
            nearest = difflib.get_close_matches(row.rule, ids, n=1, cutoff=0.5)
            hint = f"did you mean '{nearest[0]}'?" if nearest else f"rules: {', '.join(ids)}"
            raise LinemateError(f"{path}: suppress[{number}].rule: no rule '{row.rule}': {hint}")
