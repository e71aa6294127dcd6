"""The further files of a schema, by the names that a spec gives."""

from __future__ import annotations

import pytest
from sluice.schemas.registered import Reference
from sluice.schemas.spec_files import named_files

FILES = {"a.json": b"{}", "b/c.json": b"true", "b/../a.json": b"{}", "./a.json": b"{}"}


def test_a_file_has_its_plain_path() -> None:
    assert named_files("b/../x.json", ["./a.json", "b/c.json"], FILES) == (
        Reference("a.json", "{}"),
        Reference("b/c.json", "true"),
    )
    assert named_files("a.json", [], FILES) == ()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x.json"], "schema_files: found 'x.json'; expected a file in the folder of the spec, or"),
        (["b/c.json", "b/c.json"], "schema_files: b/c.json: named twice"),
        (["a.json", "b/../a.json"], "schema_files: b/../a.json: named twice"),
        (["./first.json"], "schema_files: ./first.json: it is the schema_file; leave it out here"),
    ],
)
def test_a_name_that_leads_nowhere_or_twice_to_one_is_refused(
    names: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        named_files("first.json", names, FILES)
