"""The next run, as all looks at it tell of it: they say the same."""

from __future__ import annotations

import pytest
from sluice.errors import SluiceError
from sluice.operations.overview.find_fleet import find_fleet
from sluice.operations.overview.overview import Condition

from tests.worlds.pipelines import Installed


def refused_alike(trips: Installed) -> SluiceError:
    """What a dry run, the status of one and that of all say refuses the next run."""
    with pytest.raises(SluiceError) as found:
        trips.open().dry_run()
    refused = found.value
    assert f"The next run is refused: {refused}" in trips.open().status().notes
    seen = {each.spec.pipeline: each for each in find_fleet(trips.environment).read()}[trips.name]
    assert (seen.condition, seen.reason) == (Condition.STOPPED, str(refused))
    return refused
