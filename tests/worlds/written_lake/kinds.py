"""Kinds of records: which of them a spec's `only` leaves out, by headers, frames, and one field."""

from __future__ import annotations

import re

from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.worlds.written_lake.decoded import Decoded

_EQUALS = re.compile(r"(\w+) = '(\w+)'")


def is_left_out(found: Decoded, spec: PipelineSpec) -> bool:
    """Whether a record is left out; of conditions, only `field = 'word'` is understood."""
    only, record = spec.only, found.record
    if only is None:
        return False
    if only.header is not None:
        return (only.header, str(only.value).encode()) not in record.headers
    if record.value is None:
        return False
    if only.schema_ids is not None:
        framed = record.value[:1] == b"\0" and len(record.value) >= 5
        return framed and int.from_bytes(record.value[1:5], "big") not in only.schema_ids
    asked = _EQUALS.fullmatch(str(only.where))
    assert asked is not None, f"the written lake does not know {only}"
    name, word = asked.groups()
    return found.error is None and found.fields.get(name) != word
