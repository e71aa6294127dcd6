"""A begun write: the log of the data table that a batch's commit belongs to.

What stands there is written to, and nothing that takes its place: the log stores see to that.
"""

from __future__ import annotations

from dataclasses import replace

from sluice.lake.port import BatchAttempt
from sluice.progress.resources import PipelineResources
from sluice.progress.ways_back import require_table


def begin_write(resources: PipelineResources, attempt: BatchAttempt) -> BatchAttempt:
    """The attempt on the version that is there: to be asked right before Delta reads the table.

    Raises TableRefused in another table than the attempt was prepared for.
    """
    data = resources.data.snapshot()
    require_table(attempt.batch.sequence.pipeline, attempt.table_id, data)
    return replace(attempt, based_on=data.log.based_on())
