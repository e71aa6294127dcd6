"""Frames: what the JVM learns about the schemas that records name (jobs/jvm/frames/Frame.scala)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.spec_file.formats import Source

BARE = ""
"""The key of records that name no schema."""


def frames_of(
    source: Source,
    writers: Mapping[str, RegisteredSchema],
    kind: Kind,
    known: Callable[[RegisteredSchema], Any],
) -> str:
    """The schemas by their keys; `known` is what a format needs to know of one.

    A text says why no record of the schema can be decoded.
    """

    def told(key: str, writer: RegisteredSchema) -> Any:
        if writer.kind != kind:
            return f"schema {key}: expected {kind}, found {writer.kind}"
        return known(writer)

    found = {key: told(key, each) for key, each in writers.items()}
    return json.dumps({"header": header_of(source), "writers": found})


def header_of(source: Source) -> str:
    """The header that may name the schema."""
    return f"__{source}_schema_id"
