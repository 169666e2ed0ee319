"""Files in TOML: what the parser could not take in bounds of work is refused in front of it, and nothing else is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from linemate.tomlfile import MAX_BYTES, read_toml
from sharing.model.errors import LinemateError

DOTTED = "a" + ".a" * 32
QUOTED = '"a"' + " . 'a'" * 32


def read(folder: Path, text: str) -> object:
    path = folder / "file.toml"
    path.write_text(text)
    return read_toml(str(path), "a file")


@pytest.mark.parametrize(
    "text",
    [
        f"{DOTTED} = 1",
        f"{QUOTED} = 1",
        f"[[{DOTTED}]]",
        f"x = {{ y = 1, {DOTTED} = 1 }}",
        f"x = '# no comment'\n{DOTTED} = 1",
        f"x = {{ y = '''\n'\n''', {DOTTED} = 1, z = '''\n'\n''' }}",
        f'x = {{ y = """\n"\\"""", {DOTTED} = 1, z = "" }}',
        f'x = "\\\\"\n{DOTTED} = "\\""',
    ],
)
def test_a_key_of_many_parts_is_refused_wherever_it_is(tmp_path: Path, text: str) -> None:
    with pytest.raises(LinemateError, match="a key of more than 32 parts"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "text", [f'x = "{DOTTED}"', f"x = '{DOTTED}'", f'x = """\n{DOTTED}\n"""', f"x = '''\n{DOTTED}'''", f"# {DOTTED}"]
)
def test_dots_in_strings_and_comments_are_none(tmp_path: Path, text: str) -> None:
    read(tmp_path, text)


@pytest.mark.parametrize("begin", ["", '"""'], ids=["bare", "in a string"])
@pytest.mark.parametrize(
    "piece", ["x", ". ", '"', "'", '\\"', "'''\\", '\\"""\n', '"\\"', "a.", "a-", '""', "#'", "\\"]
)
def test_no_text_is_looked_through_again_and_again(tmp_path: Path, piece: str, begin: str) -> None:
    start = time.process_time()
    with pytest.raises(LinemateError):
        read(tmp_path, begin + piece * ((MAX_BYTES - 8) // len(piece)) + "\n[")
    assert time.process_time() - start < 20  # a quadratic search takes hours
