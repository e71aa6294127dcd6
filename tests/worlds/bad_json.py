"""Bad JSON: records that only JSON could mistake, and those at the edge of what it may be."""

from __future__ import annotations

import json

from tests.decoding import reference_json
from tests.worlds.corpus import Corpus, Decoded

DDL = (
    "id BIGINT, price DECIMAL(9,2), ratio DOUBLE, ok BOOLEAN, city STRING, at TIMESTAMP, day DATE,"
    " raw BINARY, legs ARRAY<STRUCT<km: DOUBLE, stops: ARRAY<STRING>>>, tags MAP<STRING, INT>"
)
NO_OBJECT = "not one JSON object: "


def _json(number: int) -> bytes:
    found = {
        "id": number,
        "price": 12.5,
        "ok": True,
        "city": "Köln\n",
        "at": "2013-01-01T05:00:00Z",
        "day": "2013-01-01",
        "raw": "AP8=",
        "legs": [{"km": 0.5, "stops": ["a", None]}],
        "tags": {"a": 1},
    }
    return json.dumps(found, ensure_ascii=False).encode()


def _of_json(value: bytes) -> Decoded:
    found = reference_json.decode(value, DDL)
    return found if isinstance(found, dict) else None


def _nested(levels: int) -> bytes:
    return b'{"id": 1, "q": ' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


ODD_JSON = {
    _nested(1000): None,
    _nested(1001): NO_OBJECT + "found more than 1000 levels at byte 1014",
    _nested(100_000): NO_OBJECT + "found more than 1000 levels at byte 1014",
    b'{"id": 1' + b', "q": {"id": 1' * 5000: NO_OBJECT
    + "found more than 1000 levels at byte 15000",
    b'{"id": 1, "id": 2}': None,
    b'{"id": "one", "id": 2}': None,
    b'{"id": 2, "id": "one"}': 'id: expected BIGINT, found "one"',
    b'{"ratio": NaN}': NO_OBJECT + "found NaN at byte 10",
    b'{"ratio": Infinity}': NO_OBJECT + "found Infinity at byte 10",
    b'{"q": -Infinity}': NO_OBJECT + "found -Infinity at byte 6",
    b'{"ratio": "NaN"}': 'ratio: expected DOUBLE, found "NaN"',
    b'{"ratio": 1e400}': "ratio: expected DOUBLE, found 1e400",
    b'{"ratio": 1e-400}': None,
    b'{"id": 9223372036854775808}': "id: expected BIGINT, found 9223372036854775808",
    b'{"price": 1e999999999999}': "price: expected DECIMAL(9,2), found 1e999999999999",
    b'{"id": ' + b"9" * 5000 + b"}": "id: expected BIGINT, found " + "9" * 100 + "…",
    b'{"id": 1, "q": ' + b"9" * 5000 + b"}": None,
    b'{"id": -}': NO_OBJECT + "expected a digit, found } at byte 8",
    b'{"id": 0x7}': NO_OBJECT + "expected , or }, found a word at byte 8",
    b'{"city": "\\ud800"}': "a lone surrogate escape",
    b'{"\\udc00": 1}': "a lone surrogate escape",
    b'{"city": "\\ud83d\\ude00"}': None,
    b'{"city": "\xed\xa0\x80"}': "not strict UTF-8: byte 0xed at 10",
    b'{"city": "\xc3"}': "not strict UTF-8: byte 0xc3 at 10; ISO-8859-1 text?",
    b'\xef\xbb\xbf{"id": 1}': NO_OBJECT + "found a byte order mark",
    '{"id": 1}'.encode("utf-16"): "not strict UTF-8: found UTF-16 text",
    b'{"id": 1}\x00': NO_OBJECT + "expected the end, found a NUL byte at byte 9",
    b'{"city": "\x01"}': NO_OBJECT + "found a control character in a string at byte 10",
    b'{"city": "\\u0000"}': None,
    b'{"c\\u000cty": 1}': "expected one of the declared fields (id, price, ratio, ok, city, …),"
    " found c\\fty",
    b'{"id": 1}{"id": 2}': NO_OBJECT + "found several JSON objects, the second at byte 9",
    b'{"id": 1,}': NO_OBJECT + "expected a name, found } at byte 9",
    b'{"id": 1} // one': NO_OBJECT + "expected the end, found a comment at byte 10",
    b"{'id': 1}": NO_OBJECT + "expected a name or }, found a single quote at byte 1",
    b"{id: 1}": NO_OBJECT + "expected a name or }, found a word at byte 1",
    b'{"id": 1, "' + b"n" * 50_001 + b'": 1}': None,
    b'{"city": "' + b"x" * 200_000 + b'"}': None,
    b'{"legs": [{}, {"stops": 7}]}': "legs[1].stops: expected ARRAY<STRING>, found 7",
    b'{"legs": {}}': "legs: expected ARRAY<STRUCT>, found {}",
    b'{"tags": {"a": 1, "b": 2147483648}}': 'tags["b"]: expected INT, found 2147483648',
    b'{"raw": "AP8"}': 'raw: expected BINARY, found "AP8"',
    b'{"at": "2013-02-30T00:00:00Z"}': 'at: expected TIMESTAMP, found "2013-02-30T00:00:00Z"',
}
JSON = Corpus({"type": "json", "schema": DDL}, _json, _of_json, ODD_JSON)
