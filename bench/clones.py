"""Clones of projects: where one lies below the folder that was given, and git in it.

Owns no clone: whoever wants one makes it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.measure import Unavailable


def clone_of(clones: Path, project: str) -> Path:
    """A clone as ``OWNER+NAME`` or as ``NAME``, bare or not, below the folder that was given."""
    owner_name = project.replace("/", "+")
    for folder in (clones / owner_name / "repo", clones / owner_name, clones / project.split("/")[1]):
        if folder.is_dir():
            return folder
    return clones / owner_name


def git(clone: Path, *words: str) -> bytes:
    """What a git command prints; ``Unavailable`` where it fails."""
    done = subprocess.run(["git", "-C", str(clone), *words], capture_output=True, check=False)
    if done.returncode:
        raise Unavailable(f"{clone}: git {words[0]}: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return done.stdout
