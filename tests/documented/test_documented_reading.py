"""What counts as a command of a page, and what does not."""

from __future__ import annotations

from pathlib import Path

from tests.documented.commands import blocks_of, inline_calls, outside_of_shell, words_of

PAGE = """\
# Page

A sentence with `linemate audit FILE --top 3`, and ``linemate`` alone.

```sh
make            # builds
linemate audit server \\
    --top 3
```

```console exit=3
$ linemate audit server.cut
linemate audit is said here, not typed
$ linemate show \\
      ID
```

```
linemate lines server
```

    linemate explain OLD NEW
"""


def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_scripts_and_sessions(tmp_path: Path) -> None:
    script, session, other = blocks_of(page(tmp_path), tmp_path)
    assert script.script == ("make            # builds", "linemate audit server \\\n    --top 3")
    assert script.calls == script.script[1:]
    assert script.expected is None
    assert session.script == ("linemate audit server.cut", "linemate show \\\n      ID")
    assert session.expected == 3
    assert session.name == "page.md:11"
    assert other.script == ()


def test_commands_that_no_block_marks_are_found(tmp_path: Path) -> None:
    assert outside_of_shell(page(tmp_path), tmp_path) == ["    linemate explain OLD NEW", "linemate lines server"]


def test_words_end_where_the_shell_goes_on() -> None:
    assert words_of("linemate check -o 'a b' \\\n  -q || status=$?   # why") == ["check", "-o", "a b", "-q"]


def test_commands_in_sentences(tmp_path: Path) -> None:
    assert inline_calls(page(tmp_path)) == ["linemate audit FILE --top 3"]
