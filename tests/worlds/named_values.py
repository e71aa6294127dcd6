"""Named values: bytes that are not one JSON object, and the reason that names what they are.

The JVM's decoder and `sluice peek` are both held to this table.
"""

from __future__ import annotations

import gzip
import json
import zlib

NOT_ONE = "not one JSON object"
NOT_STRICT = "not strict UTF-8"
_TEXT = json.dumps({"id": 1, "name": "a name"})

# The first bytes alone explain these, whatever is expected.
KINDS = {
    gzip.compress(_TEXT.encode(), mtime=0): "gzip",
    zlib.compress(_TEXT.encode()): "zlib",
    zlib.compress(_TEXT.encode(), 9): "zlib",
    b"\x28\xb5\x2f\xfd\x04\x00": "zstd",
    b"\x04\x22\x4d\x18\x40": "an LZ4 frame",
    b"\xff\x06\x00\x00sNaPpY\x00": "framed Snappy",
    b"\x82SNAPPY\x00\x00\x00": "framed Snappy",
    b"Obj\x01\x04\x14avro.codec": "an Avro container file",
    b"\xc3\x01\x01\x02\x03\x04\x05\x06\x07\x08\x06": "an Avro single object",
    b"\x03\x00" + bytes(16) + b"\x07": "AWS Glue's frame",
    b"\x03\x05" + bytes(16) + b"\x07": "AWS Glue's frame",
    b"\x00\x00\x00\x00\x07{}": "Confluent's frame with schema id 7",
    b"\x00\x00\x01\x86\xa1": "Confluent's frame with schema id 100001",
    b"\xef\xbb\xbf" + _TEXT.encode(): "a byte order mark",
    _TEXT.encode("utf-16"): "UTF-16 text",
    b"\xfe\xff" + _TEXT.encode("utf-16-be"): "UTF-16 text",
    _TEXT.encode("utf-16-le"): "UTF-16 text",
    _TEXT.encode("utf-16-be"): "UTF-16 text",
}
# These begin like one of those, and are too short for it, or other bytes.
UNKNOWN = [
    b"",
    b"{",
    b"\x1f\x8b",
    b"Obj",
    b"\xc3\x01",
    b"\x00\x00\x00\x07",
    b"\x00\x00\x00\x00\x00{}",
    b"\x00\x7b\x00\x01",
    b"[]",
    b"{\x00}\x00",
    b"\xfe\xff\xff\xff\x0f",
    b"\xff\xfe",
]
_NESTED = b'{"a":' * 1_001 + b"1" + b"}" * 1_001

_ENCODINGS = {
    '{"id":1,"name":"José"}'.encode("latin-1"): "byte 0xe9 at 19; ISO-8859-1 text?",
    b'{"a":"\xc3"}': "byte 0xc3 at 6; ISO-8859-1 text?",
    b'{"a":"\xed\xa0\x80"}': "byte 0xed at 6",
    b'{"a":"\xe2\x82': "byte 0xe2 at 6",
    b"\x0a\xff": "byte 0xff at 1; ISO-8859-1 text?",
    b"\x07\xff": "byte 0xff at 1",
    "é".encode() * 9_000 + b"\xff": "byte 0xff at 18000",
}
_WITHIN = " that holds an object: `at: $` in `format` reads it"
_OTHERS = {
    b"": "found no bytes",
    b" \r\n\t": "found only white space",
    b'[{"id":1},{"id":2}]': "found a JSON array",
    b" [] ": "found a JSON array",
    b'"a"': "found a JSON string",
    b'"{\\"id\\":1}"': f"found a JSON string{_WITHIN}",
    b' "\\n {" ': f"found a JSON string{_WITHIN}",
    b'"\\"{}\\""': f"found a JSON string{_WITHIN}",
    b'"\\"{}"': "found a JSON string",
    b'"[{}]"': "found a JSON string",
    b'"\\"\\\\ud800{}\\""': "found a JSON string",
    b'"{}': "expected the end of a string, found the end at byte 3",
    # A zero byte early in a text: whether it is UTF-16 and what it holds is asked of each other.
    b'"{\x00}"\n': "found a control character in a string at byte 2",
    b'"\x00"': "found a control character in a string at byte 1",
    b"-12.5e+3": "found a JSON number",
    b"null": "found null",
    b"true": "found a JSON literal",
    b'{"id":1}\n{"id":2}': "found several JSON objects, the second at byte 9",
    b"{}{": "found several JSON objects, the second at byte 2",
    b'{"a":1}\x00': "expected the end, found a NUL byte at byte 7",
    b'{"a":1} // x': "expected the end, found a comment at byte 8",
    b'{"a":1}\xef\xbb\xbf': "expected the end, found a character beyond ASCII at byte 7",
    b"\x00": "expected {, found a NUL byte at byte 0",
    b"\x00{}": "expected {, found a NUL byte at byte 0",
    b'{"v":NaN}': "found NaN at byte 5",
    b'{"v":[1, Infinity]}': "found Infinity at byte 9",
    b'{"v":-Infinity}': "found -Infinity at byte 5",
    b'{"v":-}': "expected a digit, found } at byte 6",
    b'{"v":01}': "expected , or }, found a number at byte 6",
    b'{"v":+1}': "expected a value, found + at byte 5",
    b'{"v":1.}': "expected a digit, found } at byte 7",
    b'{"v":1e}': "expected a digit, found } at byte 7",
    b'{"v":0x7}': "expected , or }, found a word at byte 6",
    b'{"v":True}': "expected a value, found a word at byte 5",
    b'{"v":}': "expected a value, found } at byte 5",
    b'{"v" 1}': "expected :, found a number at byte 5",
    b'{"v":1 "w":2}': "expected , or }, found a string at byte 7",
    b'{"v":1,}': "expected a name, found } at byte 7",
    b'{"v":[1,]}': "expected a value, found ] at byte 8",
    b'{"v":[,1]}': "expected a value or ], found , at byte 6",
    b'{"v":[1}': "expected , or ], found } at byte 7",
    b"{'v':1}": "expected a name or }, found a single quote at byte 1",
    b"{`v`:1}": "expected a name or }, found a backtick at byte 1",
    b"{v:1}": "expected a name or }, found a word at byte 1",
    b'{"v":1': "expected , or }, found the end at byte 6",
    b'{"v":"x': "expected the end of a string, found the end at byte 7",
    b'{"v":"\t"}': "found a control character in a string at byte 6",
    b'{"v":"\\q"}': "found an unknown escape at byte 6",
    b'{"v":"\\u12"}': "found an unknown escape at byte 6",
    b'{"v":"\\': "found an unknown escape at byte 6",
    b"2024-01-05 12:00 INFO started": "expected the end, found a number at byte 4",
    b"hello": "expected {, found a word at byte 0",
    b"<xml/>": "expected {, found < at byte 0",
    _NESTED: "found more than 1000 levels at byte 5000",
}
REASONS = (
    {value: f"{NOT_STRICT}: {reason}" for value, reason in _ENCODINGS.items()}
    | {value: f"{NOT_ONE}: {reason}" for value, reason in _OTHERS.items()}
    | {b'{"v":"\\ud800"': "a lone surrogate escape"}
)


def _is_text(value: bytes) -> bool:
    try:
        return bool(value.decode())
    except UnicodeDecodeError:
        return False


REASONS |= {
    value: f"{NOT_ONE if _is_text(value) else NOT_STRICT}: found {kind}"
    for value, kind in KINDS.items()
}
