"""The base of the spec's models: frozen, strict, no unknown keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A part of a spec. Strict: "12" is not 12 and true is not 1: YAML has types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def one_of(*keys: str) -> ConfigDict:
    """For editors: that one of the keys is there."""
    return ConfigDict(json_schema_extra={"anyOf": [{"required": [each]} for each in keys]})
