"""The announced: how far asset events go, as Airflow remembers it between the runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Asset

    from sluice.protocol.settle.announcements import Announced

# In an asset event's `extra`, and in the asset's state store.
ANNOUNCED = "announced"
# One would do; others may write events for the same asset.
NEWEST_EVENTS = 20


@dataclass(frozen=True)
class Remembered:
    """The events of a table's asset, and its state store: None before Airflow 3.3.

    Without a store, what was announced last is read from the events alone. Then a batch that was
    settled by a run that died before its event is announced again, if no event names an earlier
    one.
    """

    events: Any
    store: Any

    @classmethod
    def of(cls, table: Asset, inlet_events: Any, asset_state_store: Any) -> Remembered:
        """Those of this asset, out of the context of a task that has it as an inlet."""
        return cls(inlet_events[table], asset_state_store and asset_state_store[table])

    def told(self) -> Iterator[object]:
        """What the newest events and the store say about how far announcements go.

        Events of other writers say nothing.
        """
        for event in self.events.ascending(False).limit(NEWEST_EVENTS):
            yield (event.extra or {}).get(ANNOUNCED)
        if self.store is not None:
            yield self.store.get(ANNOUNCED)

    def keep(self, announced: Announced) -> None:
        """Store it for the next runs."""
        if self.store is not None:
            self.store.set(ANNOUNCED, announced.as_dict())
