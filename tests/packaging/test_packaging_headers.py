"""What the set-up does with precompiled headers once packages were installed or upgraded."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SETUP = Path(__file__).parents[2] / "scripts" / "lib" / "setup.sh"
BUILT = 1_000_000  # seconds since the epoch


def left(folder: Path, changed: int | None) -> set[str]:
    """Files of a build that are left where a package was changed at this time; None: no such list of packages."""
    build, packages = folder / "build", folder / "status"
    (build / "CMakeFiles").mkdir(parents=True)
    for name in ("cmake_pch.hxx.pch", "cmake_pch.hxx", "unit.o"):
        (build / "CMakeFiles" / name).write_text("")
        os.utime(build / "CMakeFiles" / name, (BUILT, BUILT))
    if changed is not None:
        packages.write_text("")
        os.utime(packages, (changed, changed))
    script = f'set -eu; root=$1; . "{SETUP}"; installed=$2; forget_old_headers "$3"; forget_old_headers "$3/none"'
    subprocess.run(["bash", "-c", script, "bash", folder, packages, build], check=True)
    return {path.name for path in (build / "CMakeFiles").iterdir()}


def test_headers_made_before_a_package_changed_are_made_anew(tmp_path: Path) -> None:
    assert left(tmp_path, BUILT + 1) == {"cmake_pch.hxx", "unit.o"}


def test_headers_made_since_are_kept(tmp_path: Path) -> None:
    assert "cmake_pch.hxx.pch" in left(tmp_path, BUILT - 1)


def test_without_a_list_of_packages_they_are_kept(tmp_path: Path) -> None:
    assert "cmake_pch.hxx.pch" in left(tmp_path, None)
