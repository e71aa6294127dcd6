"""References of a JSON schema: what `$ref` stands for, in the schema or in those it imports. Pure.

Drafts differ in where names come from (`id`, `$id`, anchors); the library `referencing` knows how.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7, UnknownDialect, specification_with

from sluice.schemas.json.files import beside, is_path
from sluice.schemas.registered import RegisteredSchema
from sluice.schemas.spec_files import EXPECTED, plain_path

if TYPE_CHECKING:
    from referencing._core import Resolver

_BROKEN = (Unresolvable, ValueError, TypeError, AttributeError, LookupError, RecursionError)


@dataclass(frozen=True)
class _Document:
    """A whole text: the schema, which has no name in a registry, or one that it refers to."""

    name: str
    content: Any
    resource: Resource[Any]
    address: str | None

    @classmethod
    def of(cls, name: str, content: Any) -> _Document:
        resource = _resource(content)
        return cls(name, content, resource, resource.id())


class _Documents:
    """All texts of a schema, and where the references in each of them lead."""

    def __init__(self, root: _Document, further: Sequence[_Document]) -> None:
        self.root = root
        named = {each.name: each for each in (root, *further) if each.name}
        resources = [(name, each.resource) for name, each in named.items()]
        self._names = frozenset(named)
        self._registry: Registry[Any] = Registry().with_resources(resources)
        self._home = {id(part): doc for doc in (root, *further) for part in _parts(doc.content)}

    def of_root(self) -> Resolver[Any]:
        """Where the schema's own references lead from."""
        if self.root.name and not self.root.address:
            return self._registry.resolver(self.root.name)
        return self._registry.resolver_with_root(self.root.resource)

    def resolvers(self, content: Any, name: str) -> Iterator[Resolver[Any]]:
        """Where else a part's reference may lead from: its text's own address, or its file."""
        home = self._home[id(content)]
        for base in (home.address, home.name):
            if base:
                yield self._registry.resolver(base)
        # Registries take a reference's name as it is written, whatever the schema's own address.
        if not name.startswith("#"):
            yield self._registry.resolver()

    def nowhere(self, content: Any, name: str) -> str:
        """Why a part's reference leads nowhere, and what to do."""
        home, (file, _, part) = self._home[id(content)].name, name.partition("#")
        found = f"found $ref: {name[:200]!r}; expected a"
        if not self.root.name:
            return (
                f"{found} part of the schema, or the name of a reference that it is registered with"
            )
        if not file:
            return f"{found} part of {home}"
        if not is_path(file):
            return (
                f"{found} file: addresses are not fetched. Save it in the folder of the spec, with"
                " this address as its $id, and name it in schema_files"
            )
        if part and beside(home, file) in self._names:
            return f"{found} part of {beside(home, file)}"
        return (
            f"{file[:200]}: {EXPECTED}, found none: place it beside {home}, or name in schema_files"
            " the file that has it as $id"
        )


@dataclass(frozen=True)
class Node:
    """A part of a schema, and where its references lead from."""

    content: Any
    resolver: Resolver[Any]
    documents: _Documents

    def part(self, content: Any) -> Node:
        """A part of this part."""
        return Node(content, self.resolver, self.documents)

    def referenced(self) -> Node:
        """What its `$ref` stands for. Raises ValueError where that is nowhere."""
        name = str(self.content["$ref"])
        for resolver in (self.resolver, *self.documents.resolvers(self.content, name)):
            try:
                found = resolver.lookup(name)
            except _BROKEN:
                continue
            return Node(found.contents, found.resolver, self.documents)
        raise ValueError(self.documents.nowhere(self.content, name))


def root_of(schema: RegisteredSchema) -> Node:
    """The whole schema. Raises ValueError for any other text."""
    own = plain_path(schema.key) if schema.is_of_file else ""
    texts = [(own, schema.text), *((each.name, each.text) for each in schema.references)]
    parsed = [(name, _parsed(name, text)) for name, text in texts]
    try:
        root, *further = (_Document.of(*each) for each in parsed)
        documents = _Documents(root, further)
        return Node(root.content, documents.of_root(), documents)
    except _BROKEN as problem:
        raise ValueError(
            f"expected a JSON schema, found one that is malformed: {problem}"
        ) from None


def _parts(content: Any) -> Iterator[Any]:
    """All objects in a text."""
    waiting = [content]
    while waiting:
        match waiting.pop():
            case dict() as part:
                yield part
                waiting += part.values()
            case list() as parts:
                waiting += parts


def _parsed(name: str, text: str) -> Any:
    place = f"{name}: " if name else ""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{place}expected a JSON schema, found no JSON: {problem}") from None
    if not isinstance(found, dict | bool):
        raise ValueError(f"{place}expected a JSON schema, found {text.strip()[:100]}")
    return found


def _resource(content: Any) -> Resource[Any]:
    """As draft 7, as registries do, where the schema names no draft that is known."""
    dialect = content.get("$schema", "") if isinstance(content, dict) else ""
    try:
        return specification_with(dialect, default=DRAFT7).create_resource(content)
    except UnknownDialect:
        return DRAFT7.create_resource(content)
