"""A registered schema is stored as JSON and comes back as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.schemas.registered import KINDS, Reference, RegisteredSchema

TEXTS = st.text()
SCHEMAS = st.builds(
    RegisteredSchema,
    TEXTS,
    st.sampled_from(KINDS),
    TEXTS,
    st.lists(st.builds(Reference, TEXTS, TEXTS)).map(tuple),
)
WHOLE = {"key": "7", "kind": "AVRO", "text": '"int"', "references": []}


@given(SCHEMAS)
def test_what_was_stored_comes_back(schema: RegisteredSchema) -> None:
    assert RegisteredSchema.from_dict(json.loads(json.dumps(schema.as_dict()))) == schema


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "XML"},
        {"key": 7},
        {"text": None},
        {"references": None},
        {"references": [{"name": "a"}]},
        {"references": [{"name": "a", "text": 1}]},
        {"references": ["a"]},
    ],
    ids=str,
)
def test_anything_else_is_no_schema(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a registered schema"):
        RegisteredSchema.from_dict({**WHOLE, **change})
