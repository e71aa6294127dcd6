"""Log rows: those of the data table at a version, of all its files or of some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from urllib.parse import unquote

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sluice.columns.columns import Column
from sluice.columns.names import quoted
from sluice.derived.written_values import text_of
from sluice.state_table.spans import FileBounds

# A condition of more terms takes Spark longer to compile than it saves.
_MOST_TERMS = 16


def table_at(spark: SparkSession, uri: str, version: int) -> DataFrame:
    """A table at a version."""
    return spark.read.format("delta").option("versionAsOf", str(version)).load(uri)


def log_at(spark: SparkSession, uri: str, version: int, columns: Iterable[Column]) -> DataFrame:
    """The rows of the data table at a version: the columns that a state table has of it."""
    rows = table_at(spark, uri, version)
    return rows.select(*_of(rows, columns))


def log_in_files(
    spark: SparkSession,
    uri: str,
    version: int,
    columns: Iterable[Column],
    files: Sequence[FileBounds],
) -> DataFrame:
    """The same, of some files of that version.

    Statistics choose the files by the bounds of the coordinates; their names decide.
    """
    rows = table_at(spark, uri, version)
    names = {name for each in files for name in _names(each.path)}
    if bounds := bounding(files):
        rows = rows.where(bounds)
    mine = rows.where(rows.metadataColumn("_metadata")["file_name"].isin(sorted(names)))
    return mine.select(*_of(rows, columns))


def _of(rows: DataFrame, columns: Iterable[Column]) -> Iterator[SparkColumn]:
    """Columns of the rows; null in those that came later."""
    there = {*rows.columns}
    for each in columns:
        if each.name in there:
            yield F.col(quoted(each.name))
        else:
            yield F.lit(None).cast(str(each.type)).alias(each.name)


def _names(path: str) -> set[str]:
    """A file's name as the log has it, URL-encoded, and as it is."""
    return {path.rpartition("/")[2], unquote(path).rpartition("/")[2]}


def bounding(files: Sequence[FileBounds]) -> str | None:
    """A condition that all rows of the files meet; None where one has no known bounds."""
    boxes: dict[tuple[tuple[str, str], tuple[int, int]], tuple[int, int]] = {}
    for each in files:
        if each.topic_ids is None or each.partitions is None or each.offsets is None:
            return None
        place = each.topic_ids, each.partitions
        low, high = boxes.get(place, each.offsets)
        boxes[place] = min(low, each.offsets[0]), max(high, each.offsets[1])
    if len(boxes) > _MOST_TERMS:
        ends = list(chain.from_iterable(boxes.values()))
        return f"(_offset >= {min(ends)} AND _offset <= {max(ends)})"
    return " OR ".join(
        f"(_topic_id >= {text_of(ids[0]).sql} AND _topic_id <= {text_of(ids[1]).sql}"
        f" AND _partition >= {numbers[0]} AND _partition <= {numbers[1]}"
        f" AND _offset >= {low} AND _offset <= {high})"
        for (ids, numbers), (low, high) in boxes.items()
    )
