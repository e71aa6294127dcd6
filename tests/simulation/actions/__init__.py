"""What may happen in a history: `kafka`, `product`, `others`, `spec`, `state`; each by its name."""

from tests.simulation.actions import kafka, others, product, spec, state
from tests.simulation.actions.registry import ACTIONS, Action

__all__ = ["ACTIONS", "Action", "kafka", "others", "product", "spec", "state"]
