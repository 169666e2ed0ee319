"""Calls the build backend without an installer around it: ``make.py wheel FOLDER BUILD`` or ``make.py sdist FOLDER``.

Owns the emptying of ``FOLDER``.  ``BUILD`` is a build folder of the native tools.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import backend


def main(kind: str, folder: str, *build: str) -> str:
    """The name of the file made."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(backend.ROOT)
    if kind == "sdist":
        return backend.build_sdist(folder)
    return backend.build_wheel(folder, {"prebuilt": build[0]})


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
