"""Files of one folder that claim the same pipeline or table: who keeps it, and who is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.spec.claims import refused_claims
from sluice.spec.pipeline_spec import PipelineSpec

from tests.unit.builders import spec

NOBODY = "so that none of them is run; allowed: a name that no other file of the folder uses"


def folder(**claims: str) -> dict[Path, PipelineSpec]:
    """File → `pipeline table`."""
    found = {}
    for name, claim in claims.items():
        pipeline, table = claim.split()
        found[Path(f"{name}.yaml")] = spec(pipeline=pipeline, table=table)
    return found


@pytest.mark.parametrize(
    ("specs", "refused"),
    [
        (folder(a="a a", b="b b"), {}),
        (folder(x="a a"), {}),
        (folder(copy="a a", a="a a"), {"copy": "pipeline: found 'a', which a.yaml already has"}),
        (
            folder(copy="a a", z="a b"),
            {"copy": "pipeline: found 'a', as in z.yaml, ", "z": "pipeline: found 'a', as in copy"},
        ),
        (folder(a="a a", b="b a"), {"b": "table: found 'a', which a.yaml already has"}),
        (
            folder(b="b t", c="c t", d="d t"),
            dict.fromkeys(("b", "c", "d"), "table: found 't', as in "),
        ),
        # A copy that is refused for its name has no say about the table.
        (folder(copy="b t", b="b t"), {"copy": "pipeline: found 'b', which b.yaml already has"}),
    ],
)
def test_the_entitled_one_keeps_it_and_without_one_all_are_refused(
    specs: dict[Path, PipelineSpec], refused: dict[str, str]
) -> None:
    found = {path.stem: why for path, why in refused_claims(specs).items()}
    assert found.keys() == refused.keys()
    for name, why in refused.items():
        assert found[name].startswith(why)


def test_all_others_are_named() -> None:
    found = refused_claims(folder(b="b t", c="c t", d="d t"))
    assert found[Path("c.yaml")] == f"table: found 't', as in b.yaml, d.yaml, {NOBODY}"
