"""A frame goes with some formats, and a compression is one that is read; others are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sluice.errors import SpecError
from sluice.spec_file.formats import RegisteredFormat
from sluice.spec_file.plain_formats import RawFormat
from sluice.spec_folder import load_spec

from tests.unit.builders import spec, spec_keys

REGISTRY = "schema_registry_default"
JSON = {"type": "json", "schema": "id INT"}
AVRO = {"type": "avro", "schema_file": "user.avsc"}
NAMED = {"type": "avro", "registry": REGISTRY}


def refusal(folder: Path, **keys: Any) -> str:
    path = folder / "flights.yaml"
    (folder / "user.avsc").write_text('"long"')
    path.write_text(yaml.safe_dump(spec_keys(**keys)), encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        load_spec(path)
    return str(refused.value).removeprefix(f"{path}: ")


WITH_REGISTRY = (
    "expected confluent with registry, as records name their schemas in Confluent's frame."
)


@pytest.mark.parametrize(
    ("form", "line"),
    [
        (
            {**JSON, "frame": "container"},
            "format.frame: found 'container'; expected one of none, confluent, glue with"
            " type: json. Write one of these, or leave frame out; container goes with type: avro",
        ),
        (
            {**AVRO, "frame": "delimited"},
            "format.frame: found 'delimited'; expected one of none, confluent, single_object,"
            " container, glue with type: avro. Write one of these, or leave frame out; delimited"
            " goes with type: protobuf",
        ),
        (
            {**NAMED, "frame": "glue"},
            f"format.frame: found 'glue'; {WITH_REGISTRY} Leave frame out; or write schema_file in"
            " place of registry for frame: glue",
        ),
        (
            {**NAMED, "frame": "delimited"},
            f"format.frame: found 'delimited'; {WITH_REGISTRY} Leave frame out: type: avro has no"
            " frame: delimited",
        ),
        (
            {**JSON, "frame": "confluents"},
            "format.frame: found 'confluents'; expected 'none', 'confluent', 'delimited',"
            " 'single_object', 'container' or 'glue'",
        ),
        (
            {"type": "raw", "compression": "brotli"},
            "format.compression: found 'brotli'; expected one of gzip, zstd, snappy, lz4, zlib. No"
            " other is read: let the producer write one of these, or land the bytes with type: raw",
        ),
        (
            {**JSON, "compression": ["gzip"]},
            "format.compression: found ['gzip']; expected one of gzip, zstd, snappy, lz4, zlib. No"
            " other is read: let the producer write one of these, or land the bytes with type: raw",
        ),
        (
            {"type": "raw", "frame": "glue"},
            "format.frame: unknown key; allowed: type, compression",
        ),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused_with_what_to_write(
    tmp_path: Path, form: dict[str, Any], line: str
) -> None:
    assert refusal(tmp_path, format=form) == line


def test_keys_are_refused_alike(tmp_path: Path) -> None:
    told = refusal(tmp_path, key_format={**JSON, "frame": "delimited"})
    assert told.startswith("key_format.frame: found 'delimited'; expected one of none, confluent")
    told = refusal(tmp_path, key_format={"type": "long", "compression": "gzip"})
    assert told == "key_format.compression: unknown key; allowed: type"


def test_a_default_that_is_written_is_none() -> None:
    """So that whoever writes it changes nothing of what was read before."""
    for form, frame in ((JSON, "none"), ({"type": "json", "registry": "r"}, "confluent")):
        plain, written = spec(format=form), spec(format={**form, "frame": frame})
        assert written == plain
        assert written.edition == plain.edition


def test_frames_and_compressions_decide_rows() -> None:
    wraps: list[dict[str, str]] = [
        {},
        {"frame": "glue"},
        {"frame": "confluent"},
        {"compression": "gzip"},
        {"compression": "zlib"},
        {"frame": "glue", "compression": "gzip"},
    ]
    found = {spec(format={**JSON, **each}).edition.digest for each in wraps}
    assert len(found) == len(wraps)


def test_without_the_keys_nothing_is_taken_off() -> None:
    forms = spec(format=JSON).format, spec(format={"type": "raw"}).format
    assert isinstance(forms[0], RegisteredFormat)
    assert isinstance(forms[1], RawFormat)
    assert (forms[0].frame, forms[0].compression, forms[1].compression) == (None, None, None)
