"""The functions that records are decoded with: whether Spark has them, where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sluice.derived.guards import OUR_VARIANT
from sluice.errors import SettingsError
from sluice.lake.decoding.payloads import is_wrapped
from sluice.lake.requirements import EXTENSIONS_KEY
from sluice.spec_file.key_formats import KeyFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.plain_formats import PlainFormat

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each with the least that it takes: an empty struct; a file with a message M, in base64.
_NO_COLUMNS = """'{"type":"struct","fields":[]}'"""
_ASKED = f"""SELECT sluice_schema_key(struct(X'', null), ''),
sluice_payload(struct(X'', null), '', '', '{{}}'),
sluice_record_name(struct(X'', null), ''),
sluice_avro(struct(X''), {_NO_COLUMNS}, '', '"int"', false),
sluice_json(struct(X''), {_NO_COLUMNS}, '', '', '', false, 'fails'),
sluice_json_converted(struct(X''), {_NO_COLUMNS}, '', '', '', false, 'fails'),
sluice_json_change(struct(X''), {_NO_COLUMNS}, '', '', '', false, 'fails'),
sluice_connect_decimal(X'', 38, 0),
sluice_variant(''),
sluice_noted(false, false, '', 0, 0L),
(SELECT sluice_key_filter(0L, 1L)),
sluice_json_value(struct(X''), {_NO_COLUMNS}, '', '', false),
sluice_protobuf(struct(X''), {_NO_COLUMNS}, '', 'CggKAWEiAwoBTQ==', 'M')"""
# No extension; no jar; an older one before it.
_LACKING = ("UNRESOLVED_ROUTINE", "NoClassDefFoundError", "NoSuchMethodError")


def require_decoding(spark: SparkSession, spec: PipelineSpec) -> None:
    """Raises SettingsError, with what to add, if the spec needs functions that Spark lacks."""
    if not _needs_ours(spec):
        return
    try:
        spark.sql(_ASKED).schema  # noqa: B018
    except Exception as problem:
        if not any(each in str(problem) for each in _LACKING):
            raise
        raise SettingsError(
            f"{spec.pipeline}: to read records, expected the jars of this Sluice on Spark's class"
            f" path, and sluice.Decoding in {EXTENSIONS_KEY}; found one or the other missing, or an"
            " older protobuf-java before them. Put Sluice's jars for Spark where the driver"
            " and the workers run, and first on the class path, name the class"
            f" in {EXTENSIONS_KEY}, and start Spark again: docs/spark-server.conf"
        ) from None


def _needs_ours(spec: PipelineSpec) -> bool:
    forms = spec.formats.by_source.values()
    # The MERGE of a state table has one of ours too.
    if spec.only is not None or spec.state is not None or not all(map(_is_plain, forms)):
        return True
    return any(f"{OUR_VARIANT}(" in each.sql for each in spec.shape.added)


def _is_plain(form: KeyFormat) -> bool:
    return isinstance(form, PlainFormat) and not is_wrapped(form)
