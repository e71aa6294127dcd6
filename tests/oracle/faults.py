"""All planted faults, in the order of the invariants they break."""

from tests.oracle import record_faults, row_faults
from tests.oracle.fault import FAULTS as PLANTED

__all__ = ["FAULTS", "record_faults", "row_faults"]

FAULTS = sorted(PLANTED, key=lambda fault: fault.invariant)
