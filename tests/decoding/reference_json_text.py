"""RFC 8259 read strictly, in plain Python: the text part of reference_json."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

MAX_NESTING = 1_000


class Number(str):
    """A JSON number as it was written."""


class Members(NamedTuple):
    """A JSON object as it was written: repeated names are all there."""

    pairs: list[tuple[str, Any]]

    def last(self) -> dict[str, Any]:
        return dict(self.pairs)


class Misfit(Exception):
    pass


def one_object(value: bytes) -> Members:
    parsed = one_value(value)
    if not isinstance(parsed, Members):
        raise Misfit("not one JSON object")
    return parsed


def one_value(value: bytes) -> Any:
    """Any JSON value, alone."""
    try:
        text = value.decode("utf-8", errors="strict")
    except UnicodeDecodeError:
        raise Misfit("not strict UTF-8") from None
    if _nesting(text) > MAX_NESTING:
        raise Misfit("nested too deeply")
    try:
        parsed = _Parser(text).document()
    except (ValueError, IndexError):
        raise Misfit("not one JSON object") from None
    _refuse_lone_surrogates(parsed)
    return parsed


def _nesting(text: str) -> int:
    depth = deepest = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text, re.DOTALL):
        if token in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "}]":
            depth -= 1
    return deepest


class _Parser:
    """RFC 8259 without recursion; strings are read by the json module."""

    _SPACE = re.compile(r"[ \t\r\n]*")
    _NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+\-])")
    _WORDS = ("true", True), ("false", False), ("null", None)

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Any:
        value = self._value()
        if self._peek():
            raise ValueError("trailing content")
        return value

    def _peek(self) -> str:
        space = self._SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()
        return self._text[self._at : self._at + 1]

    def _take(self, expected: str) -> bool:
        if self._peek() != expected:
            return False
        self._at += 1
        return True

    def _need(self, expected: str) -> None:
        if not self._take(expected):
            raise ValueError(f"expected {expected} at {self._at}")

    def _string(self) -> str:
        if self._peek() != '"':
            raise ValueError(f"expected a string at {self._at}")
        # typeshed leaves this name out.
        scan = json.decoder.scanstring  # type: ignore[attr-defined]
        text, self._at = scan(self._text, self._at + 1, True)
        return text

    def _name(self) -> str:
        name = self._string()
        self._need(":")
        return name

    def _scalar(self) -> Any:
        if self._peek() == '"':
            return self._string()
        for word, value in self._WORDS:
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return value
        number = self._NUMBER.match(self._text, self._at)
        if number is None:
            raise ValueError(f"no value at {self._at}")
        self._at = number.end()
        return Number(number.group())

    def _value(self) -> Any:
        open_ones: list[tuple[Any, str]] = []  # containers, and the name they wait under
        while True:
            value, opened = self._start()
            if opened:
                open_ones.append((value, self._name() if isinstance(value, Members) else ""))
                continue
            while open_ones:
                container, name = open_ones.pop()
                if isinstance(container, Members):
                    container.pairs.append((name, value))
                else:
                    container.append(value)
                if self._take(","):
                    open_ones.append(
                        (container, self._name() if isinstance(container, Members) else "")
                    )
                    break
                self._need("}" if isinstance(container, Members) else "]")
                value = container
            else:
                return value

    def _start(self) -> tuple[Any, bool]:
        """A scalar or an empty container, done; or a container just opened."""
        if self._take("{"):
            return Members([]), not self._take("}")
        if self._take("["):
            return [], not self._take("]")
        return self._scalar(), False


def _refuse_lone_surrogates(value: Any) -> None:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Members):
            waiting.extend(part for pair in each.pairs for part in pair)
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, str) and re.search("[\ud800-\udfff]", each):
            raise Misfit("a lone surrogate escape")


def json_text(value: Any) -> str:
    """Without recursion, as a thousand levels would be too many for it."""
    out: list[str] = []
    waiting: list[Any] = [(value,)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and not isinstance(each, Number):
            out.append(each)
            continue
        out_or_parts = _parts(each[0]) if isinstance(each, tuple) else [str(each)]
        waiting.extend(reversed(out_or_parts))
    return "".join(out)


def _parts(value: Any) -> list[Any]:
    """Literal texts, and values still to be written (in 1-tuples)."""
    if isinstance(value, Number):
        return [str.__str__(value) + ""]
    if isinstance(value, Members):
        inner = [[quoted(name) + ":", (each,)] for name, each in value.pairs]
        return ["{", *_joined(inner), "}"]
    if isinstance(value, list):
        return ["[", *_joined([[(each,)] for each in value]), "]"]
    if isinstance(value, str):
        return [quoted(value)]
    return [{True: "true", False: "false", None: "null"}[value]]


def _joined(groups: list[list[Any]]) -> list[Any]:
    out: list[Any] = []
    for index, group in enumerate(groups):
        out += [",", *group] if index else group
    return out


def quoted(text: str) -> str:
    """As Jackson writes it: control characters, and what is beyond the BMP, in capital escapes."""
    short = json.dumps(text, ensure_ascii=False)
    return re.sub(r"\\u00[0-9a-f]{2}|[\U00010000-\U0010ffff]", _capital_escape, short)


def _capital_escape(found: re.Match[str]) -> str:
    escape = found.group() if found.group()[0] == "\\" else json.dumps(found.group())[1:-1]
    return escape.upper().replace("\\U", "\\u")
