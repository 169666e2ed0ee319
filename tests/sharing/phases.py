"""Programs whose threads count ``both.left`` and ``both.right``: is anything found about the two?"""

from __future__ import annotations

import json
from pathlib import Path

from linemate import api
from tests.sharing.conftest import Compile


def met(
    folder: Path, compiled: Compile, kind: tuple[str, str], text: str, changed: dict[str, str], suffix: str = "c"
) -> bool:
    """``kind``: a compiler with a level or with "source", of which ``check`` speaks; ``changed``: words of the text."""
    tool, level = kind
    for key, value in changed.items():
        text = text.replace(key, value, 1)
    if level == "source":
        source = folder / f"program.{suffix}"
        source.write_text(text)
        command = [*(("clang++-19", "-std=c++20") if suffix == "cc" else ("clang-19",)), "-O2", "-c", str(source)]
        database = folder / "compile_commands.json"
        database.write_text(json.dumps([{"directory": str(folder), "file": str(source), "arguments": command}]))
        report = api.check(database=database, config=False)
    else:
        flags = ("-std=c++20",) if suffix == "cc" else ()
        report = api.audit(str(compiled(tool, suffix, text, level, "-g", *flags)), config=False)
    return any({"both.left", "both.right"} <= {p.full_name for p in f.participants} for f in report.findings)
