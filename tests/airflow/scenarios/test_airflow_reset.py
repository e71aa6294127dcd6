"""In a real Airflow, a reset is looked at first, and then does exactly what was shown."""

from __future__ import annotations

import pytest

from local.embedded.airflow_client import AirflowApiError, DagRun
from tests.worlds.deployment import RUN_SECONDS, Deployment

pytestmark = [pytest.mark.integration, pytest.mark.airflow]


@pytest.fixture
def rewound(deployments: dict[str, Deployment]) -> Deployment:
    return deployments["rewound"]


def note(rewound: Deployment, run: DagRun) -> str:
    return str(rewound.client.request("GET", run.path)["note"])


def test_a_reset_shows_first_and_then_does_exactly_that(rewound: Deployment) -> None:
    rewound.produce(100)
    rewound.unpause()
    rewound.run()
    client, rewind = rewound.client, {"pipeline": "rewound", "target": "shift-by", "shift": -5}
    client.wait_for_dag("sluice_reset")
    client.unpause("sluice_reset")

    def reset(**more: object) -> DagRun:
        return client.wait_for_run(client.trigger("sluice_reset", rewind | more), RUN_SECONDS)

    looked = reset()
    assert rewound.states(looked) == {"preview": "success", "execute": "skipped"}
    assert "5 read again, 0 skipped; Kafka holds [0, " in client.log(looked, "preview")
    shown = rewound.handed_on(looked, "preview")
    assert shown.keys() == {"pipeline", "preview"}, "a reference, never offsets"
    with pytest.raises(AirflowApiError, match=r"422|400"):
        client.trigger("sluice_reset", rewind | {"shift": "five"})

    why = {"execute": True, "reason": "a mended schema"}
    refused = reset(**why, as_previewed="9-9-00000000")
    assert rewound.states(refused) == {"preview": "success", "execute": "failed"}
    assert "the plan changed since the preview" in client.log(refused, "execute")
    assert "- execute: failed: PreviewOutdated: " in note(rewound, refused)
    assert rewound.offsets("reset_intended") == []
    done = reset(**why, as_previewed=shown["preview"])
    assert rewound.states(done) == {"preview": "success", "execute": "success"}
    previewed, executed = note(rewound, done).splitlines()
    assert "5 read again, 0 skipped" in previewed
    assert executed.startswith("- execute: rewound: done, as preview ")
    assert executed.endswith(": a mended schema")
    rewound.run()
    (row, *_) = rewound.offsets("reset_done")
    assert (row["actor"], row["reason"]) == ("airflow:admin", "a mended schema")
    assert row["run_id"] == done.run_id
    rewound.assert_exact()
