"""Results of an audit as datasets of Parquet in one folder: what is there already, and what is added.

Owns the layout of the folder.  A file's results are named by its content, so that a second run, a second try or another
file with the same content writes the same names again: nothing is there twice.  ``images`` is written last and says
that the rest is whole.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from elfscan.fileformat.archive import is_archive
from elfscan.fileformat.elf import ElfFile, map_file
from linemate.auditing.asking import Stored
from linemate.auditing.image import AuditedImage
from linemate.auditing.spool import made_by
from linemate.extras import missing
from linemate.fleet.columns import Columns, columns_of
from linemate.fleet.folders import Folder, folder_at
from linemate.fleet.schema import DATASETS, VERSION, arrow_schema
from linemate.options import AuditOptions
from linemate.version import __version__
from reports.escape import visible
from reports.jsontext import without_surrogates
from sharing.judge.passes import Passes
from sharing.model.errors import LinemateError, Malformed
from sharing.model.finding import Severity

SCHEMA = f"linemate-dataset-{VERSION}"
MANIFEST = "linemate-dataset.json"
AUDITED, INCOMPLETE, FAILED, LOST, LEFT_OUT = "audited", "incomplete", "failed", "lost", "left out"
_DIGITS = 32
_MOST_BYTES = 1 << 34


class _Manifest(msgspec.Struct, frozen=True):
    schema: str
    linemate: str
    options: str  # a digest: results of other options do not belong into the same folder


@dataclass(frozen=True, slots=True)
class Identity:
    """What a file is: ``content`` is the beginning of its SHA-256, ``build_id`` names the partition."""

    content: str
    build_id: str


@dataclass(slots=True)
class Rows:
    """The rows about one file, collected image by image."""

    images: dict[str, list[tuple[str, Columns]]] = field(default_factory=dict)

    def add(self, passes: Passes, audited: AuditedImage) -> None:
        for dataset, columns in columns_of(passes, audited).items():
            self.images.setdefault(dataset, []).append((audited.target.member, columns))


class Store:
    """The datasets below ``folder``.  Raises LinemateError where pyarrow is missing, or the folder is another's."""

    def __init__(self, folder: str, options: AuditOptions) -> None:
        require_pyarrow()
        self._folder: Folder = folder_at(folder)
        manifest = _Manifest(SCHEMA, __version__, made_by(options))
        known = self._folder.read(MANIFEST)
        if known is None:
            for dataset in DATASETS:  # without rows, so that a query finds every dataset
                self._folder.write(f"{dataset}/build_id=none/none.parquet", _parquet(dataset, []))
            self._folder.write(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
            return
        try:
            found = msgspec.json.decode(known, type=_Manifest)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise LinemateError(f"{folder}: {MANIFEST} there is not linemate's: name another folder") from None
        if found != manifest:
            raise LinemateError(
                f"{folder}: has results of other options or another version ({found.linemate}): name another folder"
            )

    def row_of(self, path: str, stamp: tuple[int, int]) -> Stored | None:
        """What is known of a file that has not changed since; None for one to be read."""
        rows = self._rows(_file_name(path))
        if not rows:
            return None
        row = rows[0]
        if (row["size"], row["modified_ns"]) != stamp or row["status"] == LOST:
            return None
        if row["status"] in (FAILED, LEFT_OUT):
            return Stored(row["status"], row["error"], known=True)
        return self.known(Identity(row["content"], row["build_id"]))

    def known(self, identity: Identity) -> Stored | None:
        """The results about a content that are there; None where they are not, or not whole."""
        rows = self._rows(_name("images", identity))
        return _stored(rows, known=True) if rows else None

    def add(self, identity: Identity, rows: Rows) -> Stored:
        """Write the results about a content."""
        for dataset in ("findings", "variables", "lines", "accesses", "images"):
            parts = [
                {"content": [identity.content] * n, "member": [visible(member)] * n, **columns}
                for member, columns in rows.images.get(dataset, ())
                if (n := len(next(iter(columns.values()))))
            ]
            if parts:
                self._folder.write(_name(dataset, identity), _parquet(dataset, parts))
        images = [
            {name: columns[name][0] for name in ("incomplete", *Severity)} for _, columns in rows.images["images"]
        ]
        return _stored(images, known=False)

    def add_file(self, path: str, stamp: tuple[int, int], identity: Identity | None, stored: Stored) -> None:
        """Write what became of a file."""
        row = {
            "path": visible(path),
            "content": identity.content if identity else "",
            "build_id": identity.build_id if identity else "",
            "size": stamp[0],
            "modified_ns": stamp[1],
            "status": stored.status,
            "error": stored.error,
        }
        self._folder.write(_file_name(path), _parquet("files", [{name: [value] for name, value in row.items()}]))

    def _rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a file; none where it is missing or damaged, so that it is made anew."""
        import pyarrow as pa
        from pyarrow import parquet

        data = self._folder.read(name)
        if data is None:
            return []
        try:
            rows: list[dict[str, Any]] = parquet.ParquetFile(io.BytesIO(data)).read(use_threads=False).to_pylist()
        except (pa.ArrowException, OSError):
            return []
        return rows


def identity_of(path: str) -> Identity:
    """Raises LinemateError where the file cannot be read, or is neither ELF file nor archive."""
    data = map_file(path)
    build_id = None if is_archive(data) else ElfFile(path, data).build_id
    if len(data.data) > _MOST_BYTES:  # a file of holes may be of any size
        raise Malformed(path, None, f"{len(data.data):,} bytes, and results are kept of files of up to {_MOST_BYTES:,}")
    content = hashlib.sha256(data.data).hexdigest()[:_DIGITS]
    return Identity(content, build_id or content)


def require_pyarrow() -> None:
    """Raises LinemateError where the package is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise missing("--format parquet needs pyarrow", "fleet") from None


def _name(dataset: str, identity: Identity) -> str:
    return f"{dataset}/build_id={identity.build_id}/{identity.content}.parquet"


def _file_name(path: str) -> str:
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:_DIGITS]
    return f"files/{digest[:2]}/{digest}.parquet"


def _parquet(dataset: str, parts: Sequence[Columns]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    schema = arrow_schema(dataset)

    def table_of(columns: Columns) -> Any:
        wanted = {column.name: columns[column.name] for column in DATASETS[dataset]}
        try:
            return pa.Table.from_pydict(wanted, schema=schema)
        except UnicodeEncodeError:  # bytes of a name that are not UTF-8
            texts = {name: values for name, values in wanted.items() if isinstance(values, list)}
            return pa.Table.from_pydict({**wanted, **without_surrogates(texts)}, schema=schema)

    out = io.BytesIO()
    # Without Arrow's own copy of the schema, which is longer than the rows of a small file.
    with parquet.ParquetWriter(out, schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(pa.concat_tables([schema.empty_table(), *map(table_of, parts)]))
        writer.add_key_value_metadata(schema.metadata)
    return out.getvalue()


def _stored(images: Sequence[Mapping[str, Any]], *, known: bool) -> Stored:
    numbers = {severity.value: sum(int(image[severity.value]) for image in images) for severity in Severity}
    status = INCOMPLETE if any(image["incomplete"] for image in images) else AUDITED
    return Stored(status, numbers=numbers, known=known)
