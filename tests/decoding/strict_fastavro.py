"""fastavro's reading in Python, with what the specification says and fastavro passes over.

That is: a boolean is 0 or 1, numbers have no more bits than their type, the places of symbols and
of a union's types are not negative, and a block ends where its size says. A whole number that is
read as a double is that number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from fastavro import parse_schema
from fastavro._read_py import read_data
from fastavro.io.binary_decoder import BinaryDecoder


class Broken(Exception):
    """Bytes that are not Avro."""


class Whole(int):
    """A whole number; where it becomes a float, that is the same number."""

    def __float__(self) -> float:
        found = super().__float__()
        if int(found) != self:
            raise Broken(f"{self:d} is no double")
        return found


class _Strict(BinaryDecoder):
    def read_boolean(self) -> bool:
        found = self.read_fixed(1)[0]
        if found > 1:
            raise Broken(f"a boolean of {found}")
        return found == 1

    def read_long(self) -> int:
        return Whole(self._number(64))

    def read_int(self) -> int:
        return Whole(self._number(32))

    def read_enum(self) -> int:
        return self._place()

    def read_index(self) -> int:
        return self._place()

    def iter_array(self) -> Iterator[None]:
        while count := self._block_count:
            size = self.read_long() if count < 0 else None
            end = self.fo.tell() + (size or 0)
            for _ in range(abs(count)):
                yield
            if size is not None and self.fo.tell() != end:
                raise Broken(f"a block of {size} bytes that has others")
            self._block_count = self.read_long()

    iter_map = iter_array

    def _number(self, bits: int) -> int:
        start = self.fo.tell()
        found = super().read_long()
        longest = -(-bits // 7)
        if self.fo.tell() - start > longest or not -(1 << bits - 1) <= found < 1 << bits - 1:
            raise Broken(f"a number of more than {bits} bits")
        return found

    def _place(self) -> int:
        found = self._number(32)
        if found < 0:
            raise Broken(f"the place {found}")
        return found


def read_strictly(stream: IO[bytes], writer: Any, reader: Any) -> Any:
    """As fastavro.schemaless_reader. Whatever is raised says that there is no datum."""
    names: dict[str, dict[str, Any]] = {"writer": {}, "reader": {}}
    theirs = parse_schema(writer, names["writer"])
    ours = None if writer == reader else parse_schema(reader, names["reader"])
    return read_data(_Strict(stream), theirs, names, ours, {})
