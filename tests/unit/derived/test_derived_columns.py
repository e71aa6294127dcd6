"""Derived columns: what a spec may write is known without Spark, and what not is told why."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sluice.columns.columns import Column, Primitive, parse_columns
from sluice.derived.derived_columns import derived_columns
from sluice.derived.expressions import read_expression
from sluice.derived.typed import Typed
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys

SCHEMA = (
    "id BIGINT, n INT, email STRING, price DOUBLE, amount DECIMAL(10,2), at TIMESTAMP, ok BOOLEAN,"
    " tags ARRAY<STRING>, rest MAP<STRING, INT>, part STRUCT<Unit: STRING, inner: STRUCT<x: INT>>"
)
COLUMNS = parse_columns(SCHEMA)
JSON = {"type": "json", "schema": SCHEMA}


def type_of(text: str) -> str:
    (found,) = derived_columns({"x": text}, COLUMNS)
    return str(found.type)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CAST(_timestamp AS DATE)", "DATE"),
        ("cast(at as date)", "DATE"),
        ("try_cast(email AS INT)", "INT"),
        ("TRY_CAST(n AS DECIMAL(5,2))", "DECIMAL(5,2)"),
        ("sha2(lower(trim(email)), 256)", "STRING"),
        ("concat(left(email, 1), '***')", "STRING"),
        ("left(email, 1) || '***'", "STRING"),
        ("try_divide(n, id)", "DOUBLE"),
        ("try_add(n, id)", "BIGINT"),
        ("price * 1.2 + n", "DOUBLE"),
        ("-price", "DOUBLE"),
        ("-5", "INT"),
        ("12345678901", "BIGINT"),
        ("coalesce(n, 0)", "INT"),
        ("coalesce(n, id, NULL)", "BIGINT"),
        ("CASE WHEN ok AND n > 3 THEN 'a' WHEN n IS NULL THEN 'b' END", "STRING"),
        ("CASE n WHEN 1 THEN DATE '2026-01-31' ELSE CAST(at AS DATE) END", "DATE"),
        ("if(at >= TIMESTAMP '2026-01-31T06:00:00+01:00', 'new', 'old')", "STRING"),
        ("email LIKE '%@example.com'", "BOOLEAN"),
        ("email IN ('a', 'b') OR NOT ok", "BOOLEAN"),
        ("n BETWEEN 1 AND 5", "BOOLEAN"),
        ("amount > 1.5", "BOOLEAN"),
        ("Part.unit", "STRING"),
        ("part.INNER.X", "INT"),
        ("get(tags, 0)", "STRING"),
        ("try_element_at(rest, 'a')", "INT"),
        ("filter(tags, tag -> tag LIKE 'a%')", "ARRAY<STRING>"),
        ("exists(_headers, h -> h.key = 'trace')", "BOOLEAN"),
        ("get(filter(_headers, h -> h.key = 'trace'), 0).value", "BINARY"),
        ("try_validate_utf8(CAST(_key AS STRING))", "STRING"),
        ("date_format(_timestamp, 'yyyy-MM-dd HH:mm')", "STRING"),
        ("date_trunc('HOUR', _timestamp)", "TIMESTAMP"),
        ("xxhash64(_topic_id, _partition, _offset)", "BIGINT"),
        ("`email`", "STRING"),
        ('"it\'s"', "STRING"),
        ("CAST(NULL AS STRING)", "STRING"),
        ("timestamp_seconds(n)", "TIMESTAMP"),
        ("timestamp_seconds(price)", "TIMESTAMP"),
        ("timestamp_seconds(amount)", "TIMESTAMP"),
        ("timestamp_millis(id)", "TIMESTAMP"),
        ("timestamp_micros(id DIV 1000)", "TIMESTAMP"),
        ("timestamp_millis(try_cast(email AS BIGINT))", "TIMESTAMP"),
        ("date_from_unix_date(n)", "DATE"),
        ("try_to_timestamp(email, 'dd MMM yyyy HH:mm:ss XX')", "TIMESTAMP"),
        ("try_to_timestamp(substring(email, 6), \"d MMM yyyy HH:mm:ss 'GMT'\")", "TIMESTAMP"),
        ("try_to_date(email, 'd/M/yyyy')", "DATE"),
        ("decode(_key, 'iso-8859-1')", "STRING"),
        ("decode(_key, 'UTF-16BE')", "STRING"),
        ("unbase64(email)", "BINARY"),
        ("try_to_binary(email, 'hex')", "BINARY"),
        ("n DIV 2", "BIGINT"),
        ("tags", "ARRAY<STRING>"),
        ("_tombstone", "BOOLEAN"),
    ],
)
def test_what_may_be_written_has_a_type(text: str, kind: str) -> None:
    assert type_of(text) == kind


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("emial", r"found column emial \(did you mean email\?\); allowed: id, n, email, price, "),
        (
            "part.nit",
            r"found field nit of a STRUCT<.*\(did you mean Unit\?\); allowed: Unit, inner",
        ),
        ("n.x", "found field x of a INT; expected a STRUCT"),
        ("CAST(email AS INT)", r"found CAST\(STRING AS INT\); write try_cast\(… AS INT\)"),
        ("CAST(price AS INT)", r"found CAST\(DOUBLE AS INT\); write try_cast\(… AS INT\)"),
        ("email::int", r"write try_cast\(… AS INT\)"),
        ("CAST(tags AS STRING)", "it is not allowed"),
        ("CAST(email AS TIMESTAMP_NTZ)", r"found CAST\(… AS TIMESTAMP_NTZ\); allowed: BOOLEAN"),
        ("CAST('2026-02-30' AS DATE)", "found the date '2026-02-30'; expected one such as"),
        ("CAST(_key AS STRING)", r"write try_validate_utf8\(CAST\(… AS STRING\)\)"),
        ("n / 2", r"found n / 2; write try_divide\(…, …\): a record with 0 would stop its batch"),
        ("n % 2", r"write try_mod\(…, …\)"),
        ("n DIV id", r"found INT DIV `id`; expected .* or write try_cast\(try_divide"),
        (
            "try_cast(lower('NOW') AS TIMESTAMP)",
            "found try_cast.a text without a column AS TIMESTAMP",
        ),
        ("try_cast('to' || 'day' AS DATE)", "write DATE '2026-01-31' or TIMESTAMP"),
        ("n DIV 0", r"found INT DIV 0; expected a whole number DIV a written one from 1 on"),
        ("price DIV 2", r"found DOUBLE DIV 2; expected a whole number"),
        ("CAST(id AS TIMESTAMP)", r"write timestamp_seconds\(…\), timestamp_millis\(…\) or timest"),
        ("try_cast(price AS TIMESTAMP)", r"write timestamp_seconds\(…\), timestamp_millis\(…\) or"),
        ("CAST(n AS DATE)", r"write date_from_unix_date\(…\)"),
        ("CAST(id AS DATE)", r"write date_from_unix_date\(try_cast\(… AS INT\)\)"),
        (
            "date_from_unix_date(id)",
            r"found date_from_unix_date\(BIGINT\); expected as argument 1 TI",
        ),
        ("CAST(at AS BIGINT)", r"write unix_seconds\(…\), unix_millis\(…\) or unix_micros\(…\)"),
        ("CAST(CAST(at AS DATE) AS INT)", r"write unix_date\(…\)"),
        ("timestamp_millis(price)", "expected as argument 1 TINYINT or SMALLINT or INT or BIGINT"),
        (
            "timestamp_seconds(email)",
            "expected as argument 1 a whole number, a DOUBLE, or a DECIMAL",
        ),
        (
            "timestamp_seconds(CAST(amount AS DECIMAL(20,7)))",
            r"found timestamp_seconds\(DECIMAL\(20,7\)\); expected .* with at most 6 digits",
        ),
        ("from_unixtime(n)", r"write date_format\(timestamp_seconds\(…\), 'pattern'\)"),
        ("unix_timestamp(email)", r"write unix_seconds\(try_to_timestamp\(…, 'pattern'\)\)"),
        ("try_to_timestamp(email)", "expected 2 arguments"),
        ("try_to_timestamp(email, 'EEE, d MMM')", "argument 2 a pattern of yyyy, MM, dd, HH, mm"),
        ("date_format(at, 'MMMMMM')", "argument 2 a pattern of yyyy, MM, dd, HH, mm"),
        (
            "decode(email, 'UTF-8')",
            r"found decode\(STRING, 'UTF-8'\); expected as argument 1 BINARY",
        ),
        (
            "decode(_key, 'UTF-32')",
            "argument 2 one of the texts UTF-8, ISO-8859-1, US-ASCII, UTF-16",
        ),
        ("decode(_key)", "expected 2 arguments"),
        ("try_cast(_key AS STRING)", r"write decode\(…, 'UTF-8'\): it gives NULL"),
        ("to_binary(email, 'base64')", r"write try_to_binary\(…, 'base64'\)"),
        ("unhex(email)", r"write try_to_binary\(…, 'hex'\)"),
        ("json_tuple(email, 'a')", r"write get_json_object\(…, '\$.name'\) for each"),
        ("n + 1", r"found INT \+ INT; write try_add\(…, …\): the result may be too large"),
        ("n * id", r"write try_multiply"),
        ("amount + 1", r"expected FLOAT or DOUBLE: CAST or try_cast them"),
        ("-n", r"write try_subtract\(0, …\)"),
        ("abs(n)", r"found abs\(INT\); expected as argument 1 FLOAT or DOUBLE"),
        ("tags[0]", r"write get\(array, 0\) or try_element_at\(map, 'key'\)"),
        ("rest['a']", r"write get\(array, 0\) or try_element_at\(map, 'key'\)"),
        ("element_at(tags, 1)", r"found element_at\(…\); write get\(array, 0\)"),
        ("to_timestamp(email)", r"write try_cast\(… AS TIMESTAMP\)"),
        ("email = n", r"found STRING = INT; expected values of one simple type"),
        ("at > '2026-01-31'", "write DATE '2026-01-31' and TIMESTAMP"),
        ("tags = tags", "expected values of one simple type"),
        ("email RLIKE 'x'", "regular expressions may run for hours"),
        ("regexp_replace(email, 'a', 'b')", r"found regexp_replace\(…\); allowed"),
        ("email LIKE '%a%b%'", "expected one %, or one at each end"),
        ("email LIKE email", "expected a STRING, and a written pattern"),
        ("now()", "found now.*; write _timestamp: a batch that is read again must land alike"),
        ("current_timestamp", "not allowed|found column"),
        ("current_date", "not allowed|found column"),
        ("uuid()", r"found uuid\(…\); write xxhash64"),
        ("rand(3)", r"found rand\(…\); write xxhash64"),
        ("input_file_name()", r"found input_file_name\(…\); allowed"),
        ("spark_partition_id()", "allowed"),
        ("version()", "allowed"),
        ("current_user()", "found|not allowed"),
        ("user", "found column user"),
        ("raise_error('x')", "allowed"),
        ("reflect('java.lang.System', 'exit')", r"found reflect\(…\); allowed"),
        ("java_method('java.lang.System', 'exit')", "allowed"),
        ("sum(n)", r"found sum\(…\); allowed"),
        ("count(*)", "found"),
        ("sum(n) OVER (ORDER BY id)", "not allowed"),
        ("explode(tags)", "allowed"),
        ("(SELECT max(n) FROM t)", "not allowed"),
        ("n IN (SELECT 1)", "not allowed"),
        ("EXISTS (SELECT 1)", "found|expected"),
        ("my.udf(n)", "expected a field's name"),
        ("transform(tags, t -> t)", "found"),
        ("filter(tags, n)", "found"),
        ("filter(n, x -> TRUE)", "expected an array"),
        ("filter(tags, x -> x)", "expected a condition"),
        ("sha2(email)", r"found sha2\(STRING\); expected 2 arguments"),
        ("sha2(email, 256, 1)", r"expected 2 arguments"),
        ("sha2(email, 7)", "expected as argument 2 one of the numbers 224, 256, 384, 512"),
        ("lpad(email, 2000000000, 'x')", "expected as argument 2 a written number from 0 to 1000"),
        ("left(email, n)", "expected as argument 2 a written number"),
        ("date_format(at, 'YYYY')", "a pattern of yyyy, MM"),
        ("date_trunc('DECADE', at)", "one of the texts YEAR"),
        ("coalesce(n, email)", "expected arguments of one type"),
        ("if(n, 1, 2)", r"found if\(INT, 1, 2\); expected as argument 1 BOOLEAN"),
        ("CASE WHEN ok THEN 1 ELSE 'a' END", "expected values of one type"),
        ("ok AND n", r"found BOOLEAN AND INT; expected conditions"),
        ("NOT n", "expected conditions"),
        ("n || 'a'", r"found INT \|\| STRING; expected STRING"),
        ("NULL", "expected a value that has a type"),
        ("at + INTERVAL 1 DAY", "not allowed"),
        ("'it''s'", "write two texts as one"),
        (r"'a\\b'", "found a backslash"),
        ("n -- why", "found a comment"),
        ("n /* why */", "found a comment"),
        ("n AS m", "without a name of its own"),
        ("n, id", "expected one expression"),
        ("n; id", "expected one expression"),
        ("", "expected one expression"),
        ("CAST(n AS", "expected one expression of Spark SQL: "),
        ("99999999999999999999", "expected a BIGINT"),
        ("1e999", "expected at most 1e308"),
        ("(" * 60 + "n" + ")" * 60, "expected at most 50 parts within each other"),
        ("(" * 1900 + "n" + ")" * 1900, "expected"),
        ("n" * 5000, "expected at most 4000 characters, found 5000"),
        (":x", "not allowed"),
        ("${x}", "not allowed|expected"),
        ("X'FF'", "not allowed"),
        ("date_add(CAST(at AS DATE), 1)", "allowed"),
    ],
)
def test_what_may_not_be_written_is_refused_with_what_may(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"(?s)^derived.x: .*(?:{told})"):
        type_of(text)


@pytest.mark.parametrize("name", ["a\\b", "a`b", "\\", "\\`\\", "a 'b\\", "😀\\n", "`"])
def test_a_name_in_backquotes_may_hold_a_backslash_and_two_backquotes_are_one(name: str) -> None:
    columns = (Column(name, Primitive("STRING")),)
    text = "concat('😀', `" + name.replace("`", "``") + "`)"
    (found,) = derived_columns({"x": text}, columns)
    assert found.sql == "concat('😀', `" + name.replace("`", "``") + "`)"


@pytest.mark.parametrize("text", ["concat(`a\\b`, 'c\\n')", '`a\\b` = "\\"', "`a\\b`\\"])
def test_a_backslash_outside_of_a_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"found a backslash|expected one expression"):
        derived_columns({"x": text}, (Column("a\\b", Primitive("STRING")),))


WORDS = """
id n email price ok tags rest part x 0 1 1.5 1e3 'a' "b" `c` ( ) [ ] , . .. + - * / % || -> => =
<=> < > != ! ~ & ^ | :: : ; ? @ # $ { } CASE WHEN THEN ELSE END CAST( TRY_CAST( AS INT DATE STRING
DECIMAL(3 IN LIKE BETWEEN AND OR NOT IS NULL TRUE INTERVAL DAY SELECT FROM WHERE EXISTS( if(
filter( coalesce( sha2( lower( date_trunc( OVER DISTINCT ESCAPE -- /* */ ' " `
"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join) | st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    known = {each.name: Typed(f"`{each.name}`", each.type, name=each.name) for each in COLUMNS}
    with contextlib.suppress(ValueError):
        assert read_expression(text, known).sql


def test_nesting_does_not_write_an_expression_without_end() -> None:
    text = "email"
    for _ in range(20):
        text = f"CAST(try_cast({text} AS DATE) AS STRING)"
    with pytest.raises(ValueError, match="expected a shorter expression"):
        type_of(text)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"derived": {"email": "lower(email)"}}, "derived.email: expected another name: a field"),
        ({"derived": {"EMAIL": "lower(email)"}}, "derived.EMAIL: expected another name: a field"),
        ({"derived": {"_OFFSET": "id"}}, "derived._OFFSET: expected another name: Sluice has"),
        ({"derived": {"_key_id": "id"}}, "derived._key_id: expected another name: Sluice has"),
        ({"derived": {"_rescued": "id"}}, "derived._rescued: expected another name"),
        ({"derived": {"a b": "id"}}, "derived.a b: a column name must not hold spaces"),
        ({"derived": {"": "id"}}, "derived.: a column name must not"),
        ({"derived": {"a": "id", "A": "id"}}, r"derived.A: declared twice"),
        ({"derived": {"a": "id", "b": "a"}}, "derived.b: found column a .*allowed: id"),
        ({"partition_by": ["part"]}, "partition_by: found 'part'"),
        ({"derived": {"days": "tags"}, "partition_by": ["days"]}, "partition_by: found 'days'"),
        (
            {"derived": {"any": "try_parse_json(email)"}, "partition_by": ["any"]},
            "partition_by: found 'any'; allowed: _batch, .*email",
        ),
        (
            {"derived": {"any": "try_parse_json(email)"}, "cluster_by": ["any"]},
            "cluster_by: found 'any'; allowed: _batch, .*email",
        ),
        ({"exclude": ["email"], "partition_by": ["email"]}, "partition_by: found 'email'"),
        ({"exclude": ["emial"]}, r"exclude: found 'emial' \(did you mean email\?\); allowed: id"),
        ({"include": ["emial"]}, r"include: found 'emial' \(did you mean email\?\); allowed: id"),
        ({"include": ["id", "id"]}, "include: a column is named twice"),
        ({"include": ["id"], "exclude": ["email"]}, "at most one of the keys include and exclude"),
    ],
    ids=str,
)
def test_names_are_checked_with_the_spec(keys: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        PipelineSpec.model_validate(spec_keys(**{"format": JSON, **keys}))


def test_a_table_has_the_fields_that_are_kept_then_the_derived_columns() -> None:
    derived = {"email": "sha2(email, 256)", "_day": "CAST(_timestamp AS DATE)"}
    keys = {"format": JSON, "derived": derived, "exclude": ["email", "rest"]}
    spec = PipelineSpec.model_validate(spec_keys(**keys, partition_by=["_day"]))
    names = [each.name for each in spec.shape.columns]
    assert names == ["id", "n", "price", "amount", "at", "ok", "tags", "part", "email", "_day"]
    assert [each.name for each in spec.columns][2] == "email"
    keys = {"format": JSON, "include": ["ok", "id"]}
    spec = PipelineSpec.model_validate(spec_keys(**keys))
    assert [each.name for each in spec.shape.columns] == ["id", "ok"]


def test_the_fields_of_a_decoded_key_are_known_as_well() -> None:
    keys = {"format": JSON, "key_format": {"type": "json", "schema": "id BIGINT"}}
    keys |= {"derived": {"shard": "pmod(hash(_key_id), 16)"}, "comments": {"_key_id": "whose"}}
    spec = PipelineSpec.model_validate(spec_keys(**keys, partition_by=["_key_id"]))
    assert [str(each.type) for each in spec.shape.added] == ["INT"]
    with pytest.raises(ValidationError, match="exclude: found '_key_id'"):
        PipelineSpec.model_validate(spec_keys(**keys, exclude=["_key_id"]))


def test_what_decides_rows_is_in_the_edition() -> None:
    def digest(**keys: object) -> str:
        return PipelineSpec.model_validate(spec_keys(format=JSON, **keys)).edition.digest

    plain = digest()
    assert plain == digest(include=[], exclude=[], derived={})
    changed = {digest(include=["id"]), digest(exclude=["id"]), digest(derived={"a": "id"})}
    assert len({plain, *changed}) == 4
