"""The pages of docs/sources: scenes of a spec, its records, and queries with their results.

A scene is a `yaml` block with a whole spec (it has `version`; other `yaml` blocks are excerpts), a
`jsonl` block of records, and `sql` blocks, each followed by a `text` block with its result.
A block such as `json file=orders.avsc` is a file beside the spec. Other blocks are for readers.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.worlds.protobuf_schemas import descriptor_set

FOLDER = Path(__file__).parents[2] / "docs" / "sources"
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPACE = re.compile(r"[\s,:]*")
_JSON = json.JSONDecoder()


@dataclass(frozen=True)
class Sent:
    """A record as it is produced. `topic` is None for the only topic of the spec."""

    topic: str | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int = 0


@dataclass(frozen=True)
class Query:
    """Statements, of which the last has this result: a line of names, one for each row."""

    statements: tuple[str, ...]
    result: tuple[str, ...]


@dataclass(frozen=True)
class Scene:
    spec: Mapping[str, Any]
    records: list[Sent] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)


@dataclass(frozen=True)
class SourcePage:
    files: Mapping[str, str]
    scenes: list[Scene]

    def write_files(self, folder: Path) -> None:
        """Also the descriptor set of a .proto, as the page's `protoc` writes it."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
            if name.endswith(".proto"):
                compiled = descriptor_set({name: text}, name)
                (folder / name).with_suffix(".desc").write_bytes(compiled)


def pages() -> list[Path]:
    return sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def read_page(text: str) -> SourcePage:
    """ValueError for a page without a scene, and for blocks that make no whole scene."""
    blocks = [(info.split(), body) for info, body in _BLOCK.findall(text)]
    files = {info[1].removeprefix("file="): body for info, body in blocks if len(info) > 1}
    scenes = [*_scenes([(info[0], body) for info, body in blocks if len(info) == 1])]
    _expect(bool(scenes), "a page with a spec, that is a `yaml` block with `version`", "none")
    for each in scenes:
        name = each.spec["pipeline"]
        _expect(each.spec["table"] == name, f"table {name}, like the pipeline", each.spec["table"])
        _expect(bool(each.records), f"{name}: a `jsonl` block", "none")
        _expect(bool(each.queries), f"{name}: a `sql` block", "none")
    return SourcePage(files, scenes)


def _scenes(blocks: list[tuple[str, str]]) -> Iterator[Scene]:
    scene: Scene | None = None
    after = [*blocks[1:], ("", "")]
    for (kind, body), (following, result) in zip(blocks, after, strict=False):
        if kind == "yaml" and "version" in (spec := yaml.safe_load(body)):
            scene = Scene(spec)
            yield scene
        elif kind in ("jsonl", "sql"):
            _expect(scene is not None, f"a spec before the `{kind}` block", body)
            assert scene is not None
            if kind == "jsonl":
                scene.records.extend(records(body))
            else:
                _expect(following == "text", "a `text` block with the result after the query", body)
                scene.queries.append(Query(_statements(body), tuple(result.splitlines())))


def _statements(body: str) -> tuple[str, ...]:
    parts = re.split(r";\s*$", body, flags=re.MULTILINE)
    return tuple(each.strip() for each in parts if each.strip())


def records(body: str) -> Iterator[Sent]:
    """The records of a block. One may take several lines; its members are sent as they stand."""
    at = _after_space(body, 0)
    while at < len(body):
        members, at = _members(body, at)
        at = _after_space(body, at)
        known = {"topic", "key", "key_base64", "value", "value_base64", "headers", "timestamp"}
        _expect(members.keys() <= known, f"members of {sorted(known)}", sorted(members))
        headers = json.loads(members.get("headers", "{}"))
        yield Sent(
            json.loads(members.get("topic", "null")),
            _bytes(members, "key"),
            _bytes(members, "value"),
            tuple((name, text and text.encode()) for name, text in headers.items()),
            json.loads(members.get("timestamp", "0")),
        )


def _bytes(members: Mapping[str, str], name: str) -> bytes | None:
    """A text's bytes, or the JSON with the digits and spaces that it has on the page."""
    if text := members.get(f"{name}_base64"):
        return base64.b64decode(json.loads(text), validate=True)
    written = members.get(name, "null")
    found = json.loads(written)
    if found is None:
        return None
    return (found if isinstance(found, str) else written).encode()


def _members(body: str, at: int) -> tuple[dict[str, str], int]:
    """The members of the object that begins there, as they are written, and where it ends."""
    _expect(body[at] == "{", "a record, an object with `value`", body[at : at + 40])
    found: dict[str, str] = {}
    at = _after_space(body, at + 1)
    while body[at] != "}":
        name, at = _JSON.raw_decode(body, at)
        start = _after_space(body, at)
        _, at = _JSON.raw_decode(body, start)
        found[name] = body[start:at]
        at = _after_space(body, at)
    return found, at + 1


def _after_space(body: str, at: int) -> int:
    found = _SPACE.match(body, at)
    assert found
    return found.end()


def _expect(right: bool, expected: str, found: object) -> None:
    if not right:
        raise ValueError(f"expected {expected}, found {found}")
