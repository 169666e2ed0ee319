"""What the tests of languages share: the findings of one program, as a user sees them, and Go's compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.debug.demangle import demangle
from elfscan.image import read_images
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model.finding import Finding, Severity

DEBIAN = "/usr/bin/go"  # has its packages compiled; later ones compile them first, which takes half a minute
GoBuild = Callable[..., Path]


@pytest.fixture(scope="session")
def go_build(tmp_path_factory: pytest.TempPathFactory) -> GoBuild:
    """A function of a name, a program's text and flags that returns the built program."""
    tool = DEBIAN if Path(DEBIAN).exists() else shutil.which("go")
    if tool is None:
        pytest.skip("no go: Debian's package is called golang-go (81 MB to fetch)")
    folder = tmp_path_factory.mktemp("go")
    environment = os.environ | {"GO111MODULE": "off", "CGO_ENABLED": "0", "GOCACHE": str(folder / "cache")}

    def build(name: str, text: str, *flags: str) -> Path:
        (folder / "main.go").write_text(text)
        command = [tool, "build", *flags, "-o", name, "main.go"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, f"{done.stderr}\n{text}"
        return folder / name

    return build


def audited(program: Path) -> list[Finding]:
    """The findings that are more than notes, worst first."""
    image = next(read_images(str(program)))
    found = judge(image, JudgeOptions(64, 128, demangle=demangle), default_knowledge()).findings
    return [f for f in found if f.severity.rank >= Severity.LOW.rank]
