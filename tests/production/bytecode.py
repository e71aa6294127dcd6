"""What class files refer to, and whether it is there: their constant pools, read in Python."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# Sizes of the constant pool's entries by tag; 1 is text of its own length.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4}
_SIZES |= {15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_MEMBERS = {9, 10, 11}


@dataclass(frozen=True)
class Reference:
    """A member with its descriptor; a class alone has neither."""

    owner: str
    name: str = ""
    descriptor: str = ""


class ClassFile:
    """A class: what it is made of, and what it refers to."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 10
        self._pool: dict[int, tuple[int, bytes]] = {}
        count = struct.unpack_from(">H", data, 8)[0]
        place = 1
        while place < count:
            place += self._read_constant(place)
        _, own, above = self._numbers(3)
        self.name = self._class(own)
        self.above = [self._class(above)] if above else []
        self.above += [self._class(each) for each in self._numbers(self._numbers(1)[0])]
        self.members = {*self._read_members(), *self._read_members()}

    def _read_constant(self, place: int) -> int:
        tag = self._data[self._at]
        size = _SIZES.get(tag, 0)
        if tag == 1:
            size = 2 + struct.unpack_from(">H", self._data, self._at + 1)[0]
        self._pool[place] = (tag, self._data[self._at + 1 : self._at + 1 + size])
        self._at += 1 + size
        return 2 if tag in (5, 6) else 1

    def _numbers(self, count: int) -> tuple[int, ...]:
        found = struct.unpack_from(f">{count}H", self._data, self._at)
        self._at += 2 * count
        return found

    def _text(self, place: int) -> str:
        return self._pool[place][1][2:].decode("utf-8", "replace")

    def _class(self, place: int) -> str:
        return self._text(struct.unpack(">H", self._pool[place][1])[0])

    def _read_members(self) -> Iterator[tuple[str, str]]:
        for _ in range(self._numbers(1)[0]):
            _, name, descriptor, attributes = self._numbers(4)
            yield self._text(name), self._text(descriptor)
            for _ in range(attributes):
                self._at += 2
                (size,) = struct.unpack_from(">I", self._data, self._at)
                self._at += 4 + size

    @cached_property
    def references(self) -> set[Reference]:
        found = set()
        for tag, data in self._pool.values():
            if tag == 7:
                found.add(Reference(self._text(struct.unpack(">H", data)[0])))
            elif tag in _MEMBERS:
                owner, pair = struct.unpack(">HH", data)
                name, descriptor = struct.unpack(">HH", self._pool[pair][1])
                found.add(Reference(self._class(owner), self._text(name), self._text(descriptor)))
        return found


class ClassPath:
    """The classes of some jars, the first of a name."""

    def __init__(self, jars: Iterable[Path]) -> None:
        self._where: dict[str, zipfile.ZipFile] = {}
        self._read: dict[str, ClassFile] = {}
        for jar in jars:
            archive = zipfile.ZipFile(jar)
            for each in archive.namelist():
                if each.endswith(".class"):
                    self._where.setdefault(each.removesuffix(".class"), archive)

    def find(self, name: str) -> ClassFile | None:
        if name in self._where and name not in self._read:
            self._read[name] = ClassFile(self._where[name].read(f"{name}.class"))
        return self._read.get(name)

    def lacks(self, wanted: Reference) -> bool:
        """Whether neither the class nor one above it has the member. Java's own have all."""
        return not self._has(wanted.owner, wanted)

    def _has(self, owner: str, wanted: Reference) -> bool:
        if owner.startswith(("java/", "javax/")):
            return owner == wanted.owner
        found = self.find(owner)
        if found is None:
            return False
        if not wanted.name or (wanted.name, wanted.descriptor) in found.members:
            return True
        return any(self._has(each, wanted) for each in found.above) or _of_all(wanted)


def _of_all(wanted: Reference) -> bool:
    """What every object has."""
    return wanted.name in ("getClass", "hashCode", "equals", "toString", "notify", "wait", "clone")


def classes_of(jar: Path) -> Iterator[ClassFile]:
    archive = zipfile.ZipFile(jar)
    for each in archive.namelist():
        if each.endswith(".class"):
            yield ClassFile(archive.read(each))
