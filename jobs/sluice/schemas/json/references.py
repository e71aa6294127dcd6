"""References of a JSON schema: what `$ref` stands for, in the schema or in those it imports. Pure.

Drafts differ in where names come from (`id`, `$id`, anchors); the library `referencing` knows how.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7, UnknownDialect, specification_with

from sluice.schemas.registered import RegisteredSchema

if TYPE_CHECKING:
    from referencing._core import Resolver

_BROKEN = (Unresolvable, ValueError, TypeError, AttributeError, LookupError, RecursionError)


@dataclass(frozen=True)
class Node:
    """A part of a schema, and where its references lead from."""

    content: Any
    resolver: Resolver[Any]
    by_name: Resolver[Any]

    def part(self, content: Any) -> Node:
        """A part of this part."""
        return Node(content, self.resolver, self.by_name)

    def referenced(self) -> Node:
        """What its `$ref` stands for. Raises ValueError where that is nowhere."""
        name = self.content["$ref"]
        # Registries take a reference's name as it is written, whatever the schema's own address.
        for resolver in (self.resolver, self.by_name):
            try:
                found = resolver.lookup(name)
            except _BROKEN:
                continue
            return Node(found.contents, found.resolver, self.by_name)
        raise ValueError(
            f"found $ref: {str(name)[:200]!r}; expected a part of the schema, or the name of a"
            " reference that it is registered with"
        )


def root_of(schema: RegisteredSchema) -> Node:
    """The whole schema. Raises ValueError for any other text."""
    content = _parsed(schema.text)
    try:
        named = [(each.name, _resource(_parsed(each.text))) for each in schema.references]
        registry: Registry[Any] = Registry().with_resources(named)
        resolver = registry.resolver_with_root(_resource(content))
        return Node(content, resolver, registry.resolver())
    except _BROKEN as problem:
        raise ValueError(
            f"expected a JSON schema, found one that is malformed: {problem}"
        ) from None


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"expected a JSON schema, found no JSON: {problem}") from None
    if not isinstance(found, dict | bool):
        raise ValueError(f"expected a JSON schema, found {text.strip()[:100]}")
    return found


def _resource(content: Any) -> Resource[Any]:
    """As draft 7, as registries do, where the schema names no draft that is known."""
    dialect = content.get("$schema", "") if isinstance(content, dict) else ""
    try:
        return specification_with(dialect, default=DRAFT7).create_resource(content)
    except UnknownDialect:
        return DRAFT7.create_resource(content)
