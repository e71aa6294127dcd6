"""Bad bytes: what may stand in a topic instead of a record, whatever its format is."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

# Other formats, compressed ones, and what people send by mistake.
FOREIGN = (
    b'{"id": 7, "city": "Ulm"}',
    b'[{"id": 7}]',
    b'"7"',
    b"7",
    b"null",
    b"id,city\n7,Ulm\n",
    b"<trip><id>7</id></trip>",
    b"id: 7\ncity: Ulm\n",
    b"\x00\x00\x00\x00\x07\x0e\x02\x06Ulm",
    b"\x00\x00\x00\x00\x07\x00\x08\x07\x12\x03Ulm",
    b"\x08\x07\x12\x03Ulm",
    b"\xc3\x01\x00\x01\x02\x03\x04\x05\x06\x07\x0e",
    b'Obj\x01\x04\x16avro.schema\x0c"long"',
    b"PAR1\x15\x04\x15\x10",
    b"\xac\xed\x00\x05t\x00\x03Ulm",
    b"\x80\x05K\x07.",
    b"\x82\xa2id\x07\xa4city\xa3Ulm",
    gzip.compress(b'{"id": 7}', mtime=0),
    b"\x1b[31m\x07\r\n",
    "Köln".encode("latin-1"),
    "Köln".encode("utf-16"),
    b"\xff\xfe\xfd",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\0" * 64,
    b"\xff" * 64,
)


def damaged(good: bytes) -> list[bytes]:
    """A record that was cut, lengthened, begun anew, or had bits flipped on its way."""
    places = sorted({0, 1, len(good) // 3, len(good) // 2, len(good) - 1})
    cut = [good[:place] for place in places]
    longer = [good + more for more in (b"\0", b"\xff", b"\n", b"}", good)]
    shifted = [good[1:], good[:1] + good, good[::-1], good.replace(good[1:2], b"", 1)]
    flipped = [
        good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :]
        for place in places
        for bit in range(8)
    ]
    short = [b"", *(bytes([each]) for each in (0, 1, 8, 127, 128, 255))]
    return [*short, *cut, *longer, *shifted, *flipped]


def arbitrary(seed: int, count: int) -> list[bytes]:
    """Bytes without any meaning, of up to that many each."""
    drawn = random.Random(seed)
    return [drawn.randbytes(length) for length in range(1, count + 1)]


def drawn_around(good: Sequence[bytes], count: int) -> list[bytes]:
    """What Hypothesis draws, new ones each time: bytes, and good records with others put in."""
    spliced = st.builds(
        lambda record, start, width, put: record[:start] + put + record[start + width :],
        st.sampled_from(good),
        st.integers(0, max(map(len, good))),
        st.integers(0, 4),
        st.binary(max_size=6),
    )
    found: list[bytes] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(st.binary(max_size=48), spliced, spliced))
    def draw(value: bytes) -> None:
        found.append(value)

    draw()
    return found
