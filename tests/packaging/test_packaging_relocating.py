"""Moving packages below another: what an import becomes, and what is refused because it would mean something else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PACKAGES = ("analyzer", "elfscan", "pmu", "reports", "sharing")


@pytest.fixture(scope="module")
def relocating() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "packaging/relocating.py"
    spec = importlib.util.spec_from_file_location("relocating", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["relocating"] = module
    spec.loader.exec_module(module)
    return module


def moved(relocating: ModuleType, text: str) -> str:
    out: str = relocating.moved(text, "m.py", ("sharing", "reports"), "linemate")
    return out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from sharing.model import Image\n", "from linemate.sharing.model import Image\n"),
        ("from sharing import model as m\n", "from linemate.sharing import model as m\n"),
        ("import sharing.rules as rules\n", "import linemate.sharing.rules as rules\n"),
        ("import os, sharing.rules as rules, sys\n", "import os, linemate.sharing.rules as rules, sys\n"),
        ("def f():\n    from reports import x\n", "def f():\n    from linemate.reports import x\n"),
        ("if 1: from reports import x\n", "if 1: from linemate.reports import x\n"),
        ("from \\\n  sharing import (\n  x,\n)\n", "from \\\n  linemate.sharing import (\n  x,\n)\n"),
        ("a = 'é'; from reports import x\n", "a = 'é'; from linemate.reports import x\n"),
    ],
)
def test_an_import_of_ours_goes_below_the_parent(relocating: ModuleType, before: str, after: str) -> None:
    assert moved(relocating, before) == after


@pytest.mark.parametrize(
    "text",
    [
        "from sharing_tools import x\nimport reportsx.y\n",
        "from . import reports\nfrom .sharing import x\nfrom ..reports.text import y\n",
        "from other import sharing, reports\n",
        "sharing = 1\nreports.text = sharing\n",
        '"""Uses ``sharing.model``: from reports import text."""\n',
        "x = 'written by reports.'\ny = f'{__name__}.text'\n",
        "from linemate import reports\n",
    ],
)
def test_everything_else_stays_as_it_is(relocating: ModuleType, text: str) -> None:
    assert moved(relocating, text) == text


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("x = 1\nimport sharing.rules\n", "m.py:2: write `from … import`"),
        ("import sharing\n", "m.py:1: write"),
        ("import_module('reports.text')\n", "__name__"),
    ],
)
def test_what_cannot_be_moved_is_refused_with_its_line(relocating: ModuleType, text: str, advice: str) -> None:
    with pytest.raises(relocating.NotMovable, match=r"m\.py") as caught:
        moved(relocating, text)
    assert advice in str(caught.value)


@pytest.mark.parametrize("package", [*PACKAGES, "linemate"])
def test_every_module_can_be_moved(relocating: ModuleType, repository: Path, package: str) -> None:
    files = sorted((repository / package).rglob("*.py"))
    assert files
    for path in files:
        text = relocating.moved(path.read_text(), str(path), PACKAGES, "linemate")
        assert "\nfrom sharing" not in text
