"""What a test leaves behind (invariant 11): processes that run on, secrets that can be read."""

from __future__ import annotations

import gzip
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PATIENCE_S = 5.0
SQLITE_MAGIC = b"SQLite format 3\0"


def java_processes() -> set[int]:
    """Every Java process of this machine that has not ended."""
    return {pid for pid in _pids() if _is_java(pid)}


def marked_processes(marker: str) -> set[int]:
    """Processes with `NAME=value` in their environment, which children inherit; not ourselves."""
    wanted = marker.encode()
    return {
        pid
        for pid in _pids()
        if pid != os.getpid() and wanted in _proc(pid, "environ").split(b"\0")
    }


def no_orphans(
    before: set[int],
    now: Callable[[], set[int]] = java_processes,
    patience: float = PATIENCE_S,
) -> None:
    """Fail unless all processes that were not there `before` end within the patience."""
    deadline = time.monotonic() + patience
    while (left := now() - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    if left:
        lines = [f"  {pid}: {_command(pid)[:300]}" for pid in sorted(left)]
        raise AssertionError("\n".join(["11 Clean: processes were left behind", *lines]))


def no_secret(text: str, *paths: Path | str) -> None:
    """Fail if the text can be read in a file below the paths, or in any process's arguments."""
    needle = text.encode()
    if not needle:
        raise ValueError("an empty secret is found everywhere")
    found = [str(file) for path in paths for file in _files(Path(path)) if _holds(file, needle)]
    found += [f"argv of {pid}" for pid in _pids() if needle in _proc(pid, "cmdline")]
    if found:
        raise AssertionError("11 Clean: the secret can be read in " + ", ".join(found))


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _proc(pid: int, name: str) -> bytes:
    """Empty when the process is gone or not ours to look at."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _command(pid: int) -> str:
    return _proc(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()


def _is_java(pid: int) -> bool:
    # A zombie has no command line: it has ended, only its parent has not looked yet.
    return Path(_command(pid).split(" ")[0]).name == "java"


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise FileNotFoundError(path)
    yield from ([path] if path.is_file() else (p for p in path.rglob("*") if p.is_file()))


def _holds(file: Path, needle: bytes) -> bool:
    content = file.read_bytes()
    if needle in content:
        return True
    if content.startswith(b"\x1f\x8b"):
        return needle in gzip.decompress(content)
    if content.startswith(b"PAR1"):
        return any(needle in value for value in _cells(pq.ParquetFile(file).read()))
    if content.startswith(SQLITE_MAGIC):
        return _sqlite_holds(file, needle)
    return False


def _cells(table: pa.Table) -> Iterator[bytes]:
    """Text and bytes of all columns, nested ones too."""
    stack = [chunk for column in table.columns for chunk in column.chunks]
    while stack:
        array = stack.pop()
        if pa.types.is_struct(array.type):
            stack += array.flatten()
        elif pa.types.is_nested(array.type):
            stack += [array.keys, array.items] if pa.types.is_map(array.type) else [array.values]
        elif pa.types.is_dictionary(array.type):
            stack.append(array.dictionary)
        else:
            for value in array.to_pylist():
                if isinstance(value, str | bytes):
                    yield value.encode() if isinstance(value, str) else value


def _sqlite_holds(file: Path, needle: bytes) -> bool:
    """Long values are spread over pages, so the raw bytes of a database are not enough."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        dump = "\n".join(database.iterdump())
    return needle.decode() in dump or needle.hex() in dump.lower()
