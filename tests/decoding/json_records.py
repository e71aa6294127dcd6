"""Random records for decoding: valid ones, odd ones, and damaged ones, from a seed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random

NAMES = [*"abcdefghijkmno", "x", "\xe9", "_error", "aa", ""]
_TEXTS = [
    "",
    "x",
    "{}",
    "[1.0]",
    "1.5",
    "0",
    "true",
    "Infinity",
    "QUI=",
    "\xe9\U0001f600",
    'q"\\/\n\0',
]
_TOKENS = [
    *(
        "null",
        "true",
        "false",
        "-0",
        "0",
        "1.10",
        "1e5",
        "1E400",
        "1e-400",
        "127",
        "128",
        "-129",
        "255",
    ),
    *("2147483648", "9223372036854775807", "9223372036854775808", "9007199254740993", "3.5e38"),
    *("16777217.0000000001", "1.505", "9999.99", "10000", "1e3", '"\\ud800"', '"\\ud83d\\ude00"'),
    *(
        "NaN",
        "01",
        "1.",
        ".5",
        "+1",
        "tru",
        "nulll",
        '"\\q"',
        '"\t"',
        "'x'",
        "{}",
        "[]",
        "[null]",
        "",
    ),
    *(
        '"2013-01-01T05:00:00Z"',
        '"2013-02-30T05:00:00Z"',
        '"2013-01-01"',
        '"2013-01-01 05:00:00.1234567"',
    ),
    *('"2013-01-01T05:00:00+19:00"', '"QUI="', '"QR=="', '"1234"', "1234", '"x', "9" * 1200),
]
_TRAILERS = [*' \n\tx}],:"\0', "{}", ",{}", "]x", ',"a":1}', "//", "\ufeff", "\u00a0", "{}{}", "}]"]
_BYTES = [*b'{}[]:,"\\ 01-.eEtnu\x00\x0b', 0x7F, 0x80, 0xC0, 0xC3, 0xED, 0xF4, 0xFF]


def records(seed: int, count: int) -> list[bytes]:
    random = Random(seed)
    return [_record(random) for _ in range(count)]


def values(seed: int, count: int) -> list[bytes]:
    """As many records, and parts of them: values of all kinds, whole and cut."""
    whole = records(seed, count)
    return whole + [each.partition(b":")[2].removesuffix(b"}") for each in whole]


def _record(random: Random) -> bytes:
    record = _object(random, random.choice((0, 0, 1, 2, 3))).encode()
    at = random.randrange(len(record) + 1)
    damage = random.choice(("none",) * 8 + ("cut", "byte", "delete", "insert", "after", "before"))
    match damage:
        case "cut":
            return record[:at]
        case "byte":
            return record[:at] + bytes([random.choice(_BYTES)]) + record[at + 1 :]
        case "insert":
            return record[:at] + bytes([random.choice(_BYTES)]) + record[at:]
        case "delete":
            return record[:at] + record[at + 1 :]
        case "after":
            return record + random.choice(_TRAILERS).encode()
        case "before":
            return random.choice(_TRAILERS).encode() + record
        case _:
            return record


def _object(random: Random, depth: int) -> str:
    members = (
        f"{_name(random)}{_space(random)}:{_space(random)}{_value(random, depth)}{_space(random)}"
        for _ in range(random.choice((0, 1, 1, 2, 3, 5)))
    )
    return f"{{{','.join(members)}}}"


def _name(random: Random) -> str:
    name = random.choice(NAMES)
    return (
        f'"\\u{ord(name):04x}"' if len(name) == 1 and random.random() < 0.05 else json.dumps(name)
    )


def _space(random: Random) -> str:
    return random.choice(("", "", "", "", " ", "\n", "\t "))


def _value(random: Random, depth: int) -> str:
    if depth and random.random() < 0.5:
        if random.random() < 0.5:
            return _object(random, depth - 1)
        inner = (_value(random, depth - 1) for _ in range(random.randrange(4)))
        return f"[{_space(random)}{','.join(inner)}{_space(random)}]"
    return _scalar(random)


def _scalar(random: Random) -> str:
    match random.randrange(7):
        case 0:
            return str(
                random.randrange(-(2 ** random.randrange(1, 70)), 2 ** random.randrange(1, 70))
            )
        case 1:
            return repr(random.uniform(-1, 1) * 10.0 ** random.randrange(-330, 308))
        case 2:
            return f"{random.randrange(-20000, 20000) / 100:.{random.randrange(1, 5)}f}"
        case 3:
            at = datetime(1, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randrange(315537897600))
            return json.dumps(at.isoformat().replace("+00:00", random.choice(("", "Z", "+05:30"))))
        case 4:
            return json.dumps(random.choice(_TEXTS), ensure_ascii=random.random() < 0.3)
        case 5:
            return "".join(random.choice("0123456789.eE+-") for _ in range(random.randrange(1, 7)))
        case _:
            return random.choice(_TOKENS)
