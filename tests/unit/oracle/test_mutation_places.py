"""Every mutation finds its place in the sources: known in a second, not at the end of the suite."""

from __future__ import annotations

import pytest

from tests.mutations.catalogue import SEEN_BY_ORACLE
from tests.mutations.catalogue_of_tests import SEEN_BY_TESTS
from tests.mutations.mutation import Mutation, SeenByTest
from tests.unit.sources import JOBS, ROOT


@pytest.mark.parametrize("mutation", [*SEEN_BY_ORACLE, *SEEN_BY_TESTS], ids=lambda each: each.name)
def test_what_a_mutation_replaces_is_there_once(mutation: Mutation) -> None:
    assert mutation.new in mutation.of(JOBS)


@pytest.mark.parametrize("mutation", SEEN_BY_TESTS, ids=lambda each: each.name)
def test_the_test_that_a_mutation_names_is_there(mutation: SeenByTest) -> None:
    file, _, name = mutation.test.partition("[")[0].partition("::")
    assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")
