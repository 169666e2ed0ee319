"""The inputs that are kept: seeds that a target makes, and files of the tree.

Owns where they lie.  A file of the tree is an input that once had a fault (``fault-…``), or one that reaches code which
no seed reaches (``new-…``).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from fuzz.python.engine.judge import ROOT
from fuzz.python.engine.target import Target

KEPT = ROOT / "fuzz" / "corpus"
FAULT = "fault-"


def kept_folder(name: str) -> Path:
    """Where the files of one target lie in the tree."""
    return KEPT / name


def kept_files(name: str) -> list[Path]:
    folder = kept_folder(name)
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def inputs(name: str, target: Target) -> list[bytes]:
    """Seeds and kept files."""
    return [*target.seeds(), *(path.read_bytes() for path in kept_files(name))]


def file_name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def keep_fault(folder: Path, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{FAULT}{file_name(data)}"
    path.write_bytes(data)
    return path
