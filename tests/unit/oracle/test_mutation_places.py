"""Every mutation finds its place in the sources: known in a second, not at the end of the suite."""

from __future__ import annotations

import pytest

from tests.mutations.catalogue import MUTATIONS, Mutation
from tests.unit.sources import JOBS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_what_a_mutation_replaces_is_there_once(mutation: Mutation) -> None:
    text = (JOBS / "sluice" / mutation.file).read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1
