"""Time limits: how long a task may take before it counts as hung."""

from __future__ import annotations

from datetime import timedelta

from sluice.settings import LONGEST_RUN
from sluice.spec_file.pipeline_spec import PipelineSpec

SHORT = timedelta(minutes=15)
# Offsets a second that a receipt explains at least, from Kafka's raw log, where each has a gap to
# explain: a page of 1 MB has a thousand records of 1 KB, and takes 20 ms.
_SETTLED_PER_SECOND = 50_000


def settle_limit(spec: PipelineSpec) -> timedelta:
    """How long `settle` may take for the largest run that the spec allows, LONGEST_RUN at most.

    Receipts are kept one by one: a try that is ended here is continued by the next one.
    """
    offsets = spec.max_records_per_batch * spec.max_batches_per_run
    return min(LONGEST_RUN, SHORT + timedelta(seconds=offsets / _SETTLED_PER_SECOND))
