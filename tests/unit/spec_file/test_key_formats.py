"""A key's format says which columns the key becomes: one for a number or a text."""

from __future__ import annotations

from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.spec_file.key_formats import KEY_FORMATS, SCALARS, ScalarFormat

from tests.unit.builders import spec


@pytest.mark.parametrize(
    ("scalar", "kind"),
    [("long", "BIGINT"), ("int", "INT"), ("text", "STRING"), ("uuid", "STRING")],
)
def test_a_scalar_is_one_column(scalar: str, kind: str) -> None:
    found = spec(key_format={"type": scalar})
    assert isinstance(found.key_format, ScalarFormat)
    assert found.formats.key_columns == parse_columns(f"_key_value {kind}")
    assert found.formats.declared_at("_key_value") == "key_format.type: _key_value"
    assert found.columns == parse_columns("value BINARY")
    assert not found.formats.awaits_reader


@pytest.mark.parametrize("name", [*SCALARS, "raw"])
def test_a_type_without_further_keys_is_written_as_one_word(name: str) -> None:
    word, mapping = spec(key_format=name), spec(key_format={"type": name})
    assert word == mapping
    assert word.edition == mapping.edition


def test_the_type_of_keys_decides_rows() -> None:
    digests = {spec(key_format=each).edition.digest for each in (None, "raw", *SCALARS)}
    assert len(digests) == 2 + len(SCALARS)


@pytest.mark.parametrize("key", [{"type": "json", "schema": "id INT"}, {"type": "raw"}])
def test_what_values_may_be_keys_may_be(key: dict[str, Any]) -> None:
    assert spec(key_format=key).key_format == spec(format=key).format


def test_messages_list_all_types() -> None:
    assert list(KEY_FORMATS) == ["json", "raw", "avro", "protobuf", "long", "int", "text", "uuid"]
