"""The table cache as its Makefile builds it, with its sources, in one folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def table_cache(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table_cache")
    source = repository / "testdata/programs/table_cache"
    for path in (*source.glob("*.cc"), *source.glob("*.h")):
        shutil.copy(path, folder)
    subprocess.run(
        ["make", "-s", "-f", str(source / "Makefile"), f"OUT={folder}"], cwd=repository, check=True, timeout=100
    )
    return folder
