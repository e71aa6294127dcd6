"""JSON rescue: the members of a record that no column declares, kept as one JSON text."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from sluice.lake.decoding.json_exact import ExactReading
from sluice.lake.decoding.json_scalars import let
from sluice.lake.decoding.misfits import quoted


def rescued_members(
    text: Column, marked: Column, exact: ExactReading, declared: Sequence[str]
) -> Column:
    """The members not declared as the text of a JSON object, null when there are none.

    Values stand as they were written, without white space; of repeated names the last counts.
    Names compare as in the decoding: exactly. `text` is one object, `marked` the same, marked.
    """
    # Only names are looked at first, which is cheap; null where Spark cannot tell.
    known = F.array(*map(F.lit, declared))
    new = F.size(F.array_except(F.json_object_keys(text), known)) > 0
    undeclared = let(exact.undeclared(marked, declared), lambda each: _as_object(each, exact))
    return F.when(text.isNotNull() & F.coalesce(new, F.lit(True)), undeclared)


def _as_object(members: Column, exact: ExactReading) -> Column:
    def member(name: Column, text: Column) -> Column:
        value = F.coalesce(exact.json_text(text), F.lit("null"))
        return F.concat(quoted(name), F.lit(":"), value)

    pairs = F.zip_with(members["names"], members["texts"], member)
    text = F.concat(F.lit("{"), F.array_join(pairs, ","), F.lit("}"))
    return F.when(F.size(pairs) > 0, text)
