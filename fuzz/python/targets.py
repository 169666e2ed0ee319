"""The table of targets.  Owns their names; each is the module of that name here, which ends in ``TARGET``."""

from __future__ import annotations

import importlib

from fuzz.python.engine.target import Target

NAMES = (
    "access_tables",
    "archive",
    "baseline",
    "callgrind",
    "compile_database",
    "counts_autofdo",
    "counts_bolt",
    "counts_gcov",
    "counts_llvmcov",
    "counts_llvmprofdata",
    "csv_profile",
    "debug_companion",
    "dwarf_document",
    "elf_file",
    "elf_linked",
    "facts_stream",
    "go_functions",
    "guards",
    "heap_notes",
    "history_store",
    "interrupted_audit",
    "line_table",
    "linker_map",
    "nm_listing",
    "oprofile",
    "perf_data",
    "perf_data_heads",
    "perf_data_records",
    "perf_data_thinned",
    "perf_data_zstd",
    "perf_script",
    "project_file",
    "query_answers",
    "saved_document",
    "sidecar",
    "source_tokens",
    "tables",
)


def load(name: str) -> Target:
    """One target; its reader is imported now and not before, so that coverage can be measured in it."""
    target = importlib.import_module(f"fuzz.python.{name}").TARGET
    assert isinstance(target, Target)
    return target
