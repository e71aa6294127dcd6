"""Proto sources: a .proto source that a registry has, as the descriptors that are read."""

from __future__ import annotations

import base64
import logging
import subprocess
import sys
import tempfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from sluice.errors import RegistryUnavailable, SettingsError
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import Reference, RegisteredSchema

log = logging.getLogger(__name__)

_LONGEST_S = 20


def as_descriptors(schema: RegisteredSchema) -> RegisteredSchema:
    """The same schema with descriptors in place of sources, compiled by protoc.

    Any other schema is left as it is. A schema that protoc refuses is also left, with a warning:
    reading it then fails, because it has no descriptor.
    """
    if not kind_of(schema.kind).is_source(schema):
        return schema
    try:
        *needed, own = _compiled(schema)
    except ValueError as problem:
        log.warning("schema %s: protoc cannot read it: %s", schema.key, problem)
        return schema
    references = tuple(Reference(each.name, _base64(each)) for each in needed)
    return RegisteredSchema(schema.key, schema.kind, _base64(own), references)


def _compiled(schema: RegisteredSchema) -> list[FileDescriptorProto]:
    """The files, each after those that it imports. Raises ValueError with what protoc says."""
    with tempfile.TemporaryDirectory(prefix="sluice-protoc-") as folder:
        own, out = Path(folder, f"{schema.key}.proto"), Path(folder, "out.desc")
        for each in schema.references:
            _write(_within(folder, each.name), each.text)
        _write(own, schema.text)
        known = Path(folder, "known.desc")
        known.write_bytes(kind_of(schema.kind).known_files())
        where = [f"-I{folder}", f"-I{_protoc_files(schema.key)}", f"--descriptor_set_in={known}"]
        wanted = ["--include_imports", f"--descriptor_set_out={out}", own.name]
        refusal = _run([*where, *wanted], schema.key)
        if refusal is not None:
            raise ValueError(refusal.replace(f"{folder}/", "").strip()[:1000])
        return list(FileDescriptorSet.FromString(out.read_bytes()).file)


def _protoc_files(key: str) -> Traversable:
    """The files that protoc brings. Raises SettingsError where it is not installed."""
    try:
        return files("grpc_tools") / "_proto"
    except ModuleNotFoundError:
        raise SettingsError(
            f"schema {key}: the registry has its .proto source: expected the package grpcio-tools,"
            " which compiles it, found none. Install Sluice with its extra `registry`"
        ) from None


def _run(options: list[str], key: str) -> str | None:
    """Why protoc refuses a source; None where it has compiled it."""
    found = f"no end within {_LONGEST_S} s"
    try:
        run = subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", *options],
            capture_output=True,
            timeout=_LONGEST_S,
        )
        if run.returncode >= 0:
            return run.stderr.decode(errors="replace") if run.returncode else None
        found = f"that signal {-run.returncode} ended it"
    except (subprocess.TimeoutExpired, OSError) as problem:
        if isinstance(problem, OSError):
            found = str(problem)
    raise RegistryUnavailable(
        f"schema {key}: expected an answer of protoc, which compiles its source, found {found}."
        " Nothing was changed; run again when the machine has the time and memory for it."
    )


def _within(folder: str, name: str) -> Path:
    """The file of a reference. Raises ValueError for a name that leads elsewhere."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(f"expected the path of an import as the reference's name, found {name!r}")
    return Path(folder, *path.parts)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ValueError(f"{path.name[:100]}: {problem.strerror}") from None


def _base64(file: FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()
