"""``linemate.toml``: where it is found, what it may say, and how its mistakes are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linemate.config import FILE_NAME, find_config, load_config
from sharing.model import LinemateError, LockRow, Severity, SuppressRow, ThreadRow

Run = Callable[..., Any]

COMPLETE = """
[project]
line_size = 128
fail_on = "medium"

[[lock]]
type = "my_spin*"
hot = [[0, 4], [16, 24]]
lock = ["my_lock", "my_trylock"]
unlock = ["my_unlock"]

[[thread]]
function = "pool_submit"
entry_argument = 1

[[suppress]]
rule = "safe-by-luck"
symbol = "stats_*"
reason = "written once a second"

[fix]
align_macro = "MY_ALIGNED"
"""


LOCK = LockRow("my_spin*", hot=((0, 4), (16, 24)), lock=("my_lock", "my_trylock"), unlock=("my_unlock",))


def load(tmp_path: Path, text: str | bytes) -> Any:
    path = tmp_path / FILE_NAME
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(path)


def test_every_table_is_read(tmp_path: Path) -> None:
    config = load(tmp_path, COMPLETE)
    assert (config.project.line_size, config.project.fail_on) == (128, Severity.MEDIUM)
    assert config.lock == (LOCK,)
    assert config.thread == (ThreadRow("pool_submit", 1),)
    assert config.suppress == (SuppressRow("written once a second", "safe-by-luck", "stats_*"),)
    assert config.fix.align_macro == "MY_ALIGNED"
    assert config.path == str(tmp_path / FILE_NAME)


def test_the_documentation_shows_a_file_that_loads(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text()
    example = page.split("```toml\n", 1)[1].split("```", 1)[0]
    config = load(tmp_path, example)
    assert config.lock
    assert config.thread
    assert config.suppress
    assert config.fix.align_macro


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[projekt]", "unknown key 'projekt': did you mean 'project'?"),
        ("[project]\nline_sizes = 64", "unknown key 'line_sizes' in [project]: did you mean 'line_size'?"),
        ('[[lock]]\ntipe = "x"', "unknown key 'tipe' in [lock]: did you mean 'type'?"),
        (
            '[[lock]]\ntype = "x"\n[[lock]]\nzzzz = 1',
            "unknown key 'zzzz' in [lock]: known keys: type, name, kind, abi, hot, read, lock, lock_shared, try_lock, ",
        ),
        ('path = "x"', "unknown key 'path'"),
        ("[[lock]]", "lock[0]: Object missing required field `type`"),
        ('[[suppress]]\nrule = "x"', "suppress[0]: Object missing required field `reason`"),
        ('[[suppress]]\nreason = " "', "suppress[0].reason: say why"),
        (
            '[[thread]]\nfunction = "f"\nentry_argument = "1"',
            "thread[0].entry_argument: Expected `int | null`, got `str`",
        ),
        ('[[thread]]\nfunction = "f"\nentry_argument = -1', "thread[0].entry_argument: arguments count from 0"),
        ("[project]\nline_size = 48", "project.line_size: 48 is not one of 32, 64, 128, 256"),
        ('[project]\nfail_on = "bad"', "project.fail_on: Invalid enum value 'bad'"),
        ('[[lock]]\ntype = "x"\nhot = [[8, 8]]', "lock[0].hot: [8, 8] is not a range of bytes"),
        ('lock = "x"', "lock: Expected `array`, got `str`"),
        ('library = "x"', "unknown key 'library'"),
        ('[[lock]]\ntype = "x"\nkind = "mutexx"', "lock[0].kind: Invalid enum value 'mutexx'"),
        ('[[lock]]\ntype = ""', "lock[0].type: name the type"),
        (
            '[[lock]]\ntype = "x"\ntry_lock = [{ func = "f" }]',
            "unknown key 'func' in [lock.try_lock]: did you mean 'function'?",
        ),
        (
            '[[lock]]\ntype = "x"\ntry_lock = [{ function = "f", success = 2 }]',
            "lock[0].try_lock: an attempt returns 0 when the lock is held",
        ),
        (
            '[[lock]]\ntype = "x"\n[lock.abi.any]\nsize = 8\nhot = [[4, 0]]',
            "lock[0].abi.any.hot: [4, 0] is not a range",
        ),
        (
            '[[lock]]\ntype = "x"\n[lock.abi.any]\nsise = 8',
            "unknown key 'sise' in [lock.abi.any]: did you mean 'size'?",
        ),
        ("[[thread]]\nmany = true", "thread[0]: name the function, or the type"),
        ('[[callback]]\nfunction = "f"\nentry_argument = 1', "callback[0].loop: name the functions that call it"),
        ('[[guard]]\ntype = "G"\nargument = 99', "guard[0].argument: arguments count from 0, and up to 64"),
        ("[project", "Expected ']'"),
        ("[project]\nline_size = " + "6" * 5000, "a number has too many digits"),
        (b"\xff\xfe", "offset 0x0: not UTF-8"),
        ("x = " + "[" * 5000, "nested too deeply"),
        ("#" * (1 << 20) + "#", "larger than 1 MiB"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(LinemateError) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / FILE_NAME}: {message}")


def test_the_nearest_file_upward_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / FILE_NAME).touch()
    assert find_config(inner) == tmp_path / FILE_NAME
    (tmp_path / "a" / FILE_NAME).touch()
    assert find_config(inner) == tmp_path / "a" / FILE_NAME


def test_the_file_gives_defaults_that_flags_override(run: Run, pipeline: Any, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(COMPLETE)
    run("audit", "server")
    run("audit", "server", "--line-size", "32", "--fail-on", "critical")
    first, second = pipeline.asked
    assert (first.line_size, first.fail_on, first.project.lock[0].type) == (128, Severity.MEDIUM, "my_spin*")
    assert (second.line_size, second.fail_on) == (32, Severity.CRITICAL)


def test_auto_overrides_the_files_line_size(run: Run, pipeline: Any, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(COMPLETE)
    run("audit", "server", "--line-size", "auto")
    assert pipeline.asked[0].line_size is None


def test_a_named_file_is_used_and_must_exist(run: Run, pipeline: Any, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("[project]\nline_size = 256\n")
    run("audit", "server", "--config", "other.toml")
    assert pipeline.asked[0].line_size == 256
    result = run("audit", "server", "--config", "missing.toml")
    assert (result.code, result.err) == (2, "linemate: error: missing.toml: No such file or directory\n")


def test_a_suppression_of_no_rule_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "linemate.toml"
    path.write_text('[[suppress]]\nrule = "hot-lock-share-line"\nreason = "known"\n')
    with pytest.raises(LinemateError, match="did you mean 'hot-lock-shares-line'"):
        load_config(path)
    path.write_text('[[suppress]]\nrule = "hot-*"\nreason = "known"\n')
    assert load_config(path).suppress[0].rule == "hot-*"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[[suppress]]\nreason = "x"\nrule = "{}"\n', "suppress[0].rule: a glob"),
        ('[[suppress]]\nreason = "x"\nsymbol = "{}"\n', "suppress[0].symbol: a glob"),
        ('[[lock]]\ntype = ["a", "{}"]\n', "lock[0].type[1]: a glob"),
        ('[[lock]]\ntype = "a"\ntry_lock = [{{ function = "{}" }}]\n', "lock[0].try_lock[0].function: a glob"),
        ('runtime_code = ["{}"]\n', "runtime_code[0]: a glob"),
        ('[inline_namespaces]\nreason = ["{}"]\n', "inline_namespaces.reason[0]: a glob"),
    ],
)
def test_globs_that_keep_a_run_busy_are_refused(tmp_path: Path, text: str, why: str) -> None:
    """Python looks for the end of each bracket up to the end of the name."""
    path = tmp_path / FILE_NAME
    for glob in ("[" * 33, "*a" * 33, "?" * 33, "*" + "a" * 1024):
        path.write_text(text.format(glob))
        with pytest.raises(LinemateError) as refused:
            load_config(path)
        assert why in str(refused.value)
    accepted = ("*" * 32,) if "rule" in why else ("*" * 32, "*" + "a" * 1023, "a" * 5000)
    for glob in accepted:
        path.write_text(text.format(glob))
        load_config(path)


def test_a_project_has_a_bounded_number_of_globs(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    for kind, most in (("*a{}", 500), ("a{}", 5000)):
        path.write_text("[[lock]]\ntype = [" + ", ".join(f'"{kind.format(at)}"' for at in range(most)) + "]\n")
        assert len(load_config(path).lock[0].types) == most
    path.write_text("[[lock]]\ntype = [" + ", ".join(f'"*a{at}"' for at in range(501)) + "]\n")
    with pytest.raises(LinemateError, match="501 globs, of which a project has at most 500"):
        load_config(path)


def test_what_is_only_said_may_have_any_characters(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(f'[[suppress]]\nreason = "{"*" * 5000}"\n[[lock]]\ntype = "a"\nsource = "{"[" * 5000}"\n')
    assert load_config(path).suppress[0].reason == "*" * 5000
