"""Tables of records and what they decode to, checked with Spark and with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from tests.decoding import reference_json
from tests.decoding.decoding import Outcome, Table, decoded_tables
from tests.decoding.reference_json import Undecodable

NO = object()  # undecodable
Judge = Callable[[SparkSession], None]


class Expected(NamedTuple):
    """Columns, and for each value what it decodes to as these."""

    ddl: str
    table: dict[bytes | str, Any]
    unit: str | None = None

    @property
    def values(self) -> list[bytes]:
        return [each.encode() if isinstance(each, str) else each for each in self.table]


class Together:
    """Tables that Spark decodes in one job; those of one schema are rows of one column."""

    def __init__(self) -> None:
        self._tables: list[Expected] = []
        self._found: list[list[Outcome]] = []

    def clause(self, says: Callable[[], Expected]) -> Judge:
        """The test, of the same name, that what it says is so."""
        judge = self.add(says())
        judge.__name__, judge.__doc__ = says.__name__, says.__doc__
        return judge

    def add(self, expected: Expected) -> Judge:
        """The test that every value decodes so; the reference has to agree as well."""
        number = len(self._tables)
        self._tables.append(expected)

        def judge(spark: SparkSession) -> None:
            self._found = self._found or self._decoded(spark)
            assert_decodes(expected, self._found[number])

        return judge

    def _decoded(self, spark: SparkSession) -> list[list[Outcome]]:
        values: dict[tuple[str, str | None], list[bytes]] = {}
        for each in self._tables:
            values.setdefault((each.ddl, each.unit), []).extend(each.values)
        tables = [Table(ddl, found, unit) for (ddl, unit), found in values.items()]
        found = dict(zip(values, map(iter, decoded_tables(spark, tables)), strict=True))
        return [[*islice(found[each.ddl, each.unit], len(each.table))] for each in self._tables]


def assert_decodes(expected: Expected, found: Sequence[Outcome]) -> None:
    for value, wanted, ours in zip(expected.values, expected.table.values(), found, strict=True):
        reference = reference_json.decode(value, expected.ddl, timestamp_unit=expected.unit)
        for who, outcome in (("Spark", ours), ("reference", reference)):
            told = f"{who}: {value[:100]!r} gave {str(outcome)[:200]}"
            if wanted is NO:
                assert isinstance(outcome, Undecodable), told
            else:
                assert isinstance(outcome, dict), told
                assert {k: v for k, v in outcome.items() if v is not None} == wanted, told


def of_field(values: dict[str, Any], name: str = "x") -> dict[bytes | str, Any]:
    """The table of records `{"x": …}`; None expects a null."""
    return {
        f'{{"{name}":{text}}}': NO if each is NO else {} if each is None else {name: each}
        for text, each in values.items()
    }
