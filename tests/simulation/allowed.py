"""What is not promised: a situation in which some findings are no fault, with its sentence.

The sentence stands in docs/reliability.md, under "What is not promised".
"""

from __future__ import annotations

from tests.simulation.oracle import Finding
from tests.simulation.world import World

SENTENCE = (
    "A log replaced by another copy** is recognised by the record before the cursor. It is not"
    " recognised on a compacted topic, below the log start, if a copy of the table has lost its"
    " commits, or if the log had lost that record before and its batch has no receipt yet."
)
_TABLES_DIFFER = ("wrong value", "missing", "phantom", "lost", "verify", "a row is gone", "twice")


def is_no_fault(world: World, finding: Finding) -> bool:
    """Whether it is of a partition whose log was replaced where nothing can tell.

    What `verify` says may be of any partition.
    """
    place = None if finding.key is None else finding.key[:2]
    somewhere = bool(world.untold) if place is None else place in world.untold
    return somewhere and finding.kind.startswith(_TABLES_DIFFER)
