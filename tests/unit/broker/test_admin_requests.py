"""A topic id is what tells a topic from one created anew: a broker without ids is refused."""

from __future__ import annotations

import pytest
from sluice.broker.admin_requests import require_topic_id
from sluice.errors import SettingsError


def test_an_id_is_written_as_kafka_writes_it() -> None:
    assert require_topic_id("flights", "h5UyGY8BS2Ch8PmLNWnx+/") == "h5UyGY8BS2Ch8PmLNWnx-_"
    assert require_topic_id("flights", "AAAAAAAAAAAAAAAAAAAAZg") == "AAAAAAAAAAAAAAAAAAAAZg"


@pytest.mark.parametrize("zero", ["AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA==", ""])
def test_a_broker_that_reports_no_ids_is_refused_by_the_topics_name(zero: str) -> None:
    with pytest.raises(SettingsError) as refused:
        require_topic_id("flights", zero)
    text = str(refused.value)
    assert text.startswith("flights: expected a topic id, found none")
    assert "Kafka 2.8" in text
