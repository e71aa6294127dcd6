"""Spark's DDL read in plain Python: the schema part of reference_json."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Type:
    name: str
    numbers: tuple[int, ...] = ()
    fields: tuple[tuple[str, Type], ...] = ()
    element: Type | None = None


@cache
def schema(ddl: str) -> dict[str, Type]:
    """The fields of a schema in Spark's DDL: `a INT, b ARRAY<STRUCT<c: STRING>>`."""
    return dict(_Ddl(ddl).fields(""))


class _Ddl:
    def __init__(self, text: str) -> None:
        self._tokens = re.findall(r"`(?:[^`]|``)+`|\w+|[<>(),:]", text)
        self._at = 0

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, token: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == token
        self._at += found
        return found

    def fields(self, end: str) -> list[tuple[str, Type]]:
        fields = []
        while self._at < len(self._tokens) and not self._take(end):
            name = self._next()
            if name.startswith("`"):
                name = name[1:-1].replace("``", "`")
            self._take(":")
            fields.append((name, self._type()))
            self._take(",")
        return fields

    def _type(self) -> Type:
        name = {
            "INTEGER": "INT",
            "LONG": "BIGINT",
            "BYTE": "TINYINT",
            "SHORT": "SMALLINT",
            "REAL": "FLOAT",
        }.get(word := self._next().upper(), word)
        if name == "STRUCT":
            self._take("<")
            return Type(name, fields=tuple(self.fields(">")))
        if name in ("ARRAY", "MAP"):
            self._take("<")
            if name == "MAP":
                self._next(), self._take(",")
            element = self._type()
            self._take(">")
            return Type(name, element=element)
        numbers = []
        if self._take("("):
            while not self._take(")"):
                numbers.append(int(self._next()))
                self._take(",")
        return Type(name, tuple(numbers))
