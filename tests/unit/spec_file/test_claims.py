"""Files of one folder that claim the same pipeline or table: who keeps it, and who is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.spec_file.claims import refused_claims, shared_tables
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec

ALLOWED = "allowed: a name that no other file of the folder uses"


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
    ],
)
def test_the_file_called_like_the_pipeline_keeps_it_and_without_one_all_are_refused(
    specs: dict[Path, PipelineSpec], refused: dict[str, str]
) -> None:
    found = {path.stem: why for path, why in refused_claims(specs).items()}
    assert found.keys() == refused.keys()
    for name, why in refused.items():
        assert found[name].startswith(why)


@pytest.mark.parametrize(
    "specs",
    [
        folder(orders_ingest="orders_ingest orders", orders="orders orders"),
        folder(orders="orders orders", orders2="orders2 orders"),
    ],
)
def test_a_new_file_takes_no_table_from_a_pipeline_that_works(
    specs: dict[Path, PipelineSpec],
) -> None:
    assert not refused_claims(specs)
    assert shared_tables(specs).keys() == specs.keys()


def test_all_others_are_named() -> None:
    found = refused_claims(folder(b="a b", c="a c", d="a d"))
    none_run = f"as in b.yaml, d.yaml, so that none is run; {ALLOWED}"
    assert found[Path("c.yaml")] == f"pipeline: found 'a', {none_run}"
    found = shared_tables(folder(a="a a", b="b t", c="c t", d="d t"))
    assert [each.name for each in found] == ["b.yaml", "c.yaml", "d.yaml"]
    assert found[Path("c.yaml")].startswith("table: found 't', which b.yaml, d.yaml names as well;")
