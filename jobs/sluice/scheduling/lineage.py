"""Lineage: the topics and the table of an ingest as OpenLineage datasets, with offsets and counts.

The provider asks for it in a forked process, in which Delta's client must not be used. So the
facts are read in the task, and only where the deployment has a transport for events.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from sluice.offsets.quantities import known_sum
from sluice.tables.warehouse import is_on_s3
from sluice.telling import deciding_nothing

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.naming.dataset import DatasetNaming

    from sluice.offsets.batches import BatchReference
    from sluice.pipeline import Pipeline
    from sluice.protocol.ingest.landed import LandedBatch

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Landed:
    """What an ingest has moved: from which brokers, into which table."""

    bootstrap: str
    table: str
    batches: tuple[LandedBatch, ...]


def read_for_lineage(pipeline: Pipeline, work: BatchReference) -> Landed | None:
    """The committed part of the work; None if no lineage is reported, or it cannot be read."""
    with deciding_nothing(log, "%s: no lineage is reported", work):
        try:
            from airflow.providers.openlineage.conf import is_disabled
        except ModuleNotFoundError:
            # The provider is optional; without it nothing is reported.
            return None

        from sluice.protocol.ingest.landed import read_landed

        if is_disabled():
            return None
        resources = pipeline.resources
        table = resources.tables.data(resources.spec.table)
        return Landed(resources.client.bootstrap, table, read_landed(resources, work))
    return None


def lineage_of(found: Landed | None) -> OperatorLineage[Any, Any]:
    """The datasets with their facets; none where nothing is known to have landed."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    if found is None or not found.batches:
        return OperatorLineage()
    return OperatorLineage(inputs=list(_inputs(found)), outputs=[_output(found)])


def _inputs(found: Landed) -> Iterator[InputDataset]:
    from openlineage.client.event_v2 import InputDataset
    from openlineage.client.facet_v2 import InputDatasetFacet
    from openlineage.client.naming.dataset import Kafka

    host, _, port = found.bootstrap.split(",")[0].strip().rpartition(":")
    ranges = [(each.batch, one) for each in found.batches for one in each.batch.ranges]
    for topic in sorted({one.offsets.partition.topic for _, one in ranges}):
        mine = [
            {
                "batch": str(batch),
                "topicId": one.topic_id,
                "partition": one.offsets.partition.partition,
                "startOffset": one.offsets.start,
                "endOffset": one.offsets.end,
            }
            for batch, one in ranges
            if one.offsets.partition.topic == topic and one.offsets.span
        ]
        # Its fields are additional to those of any facet: it has that schema, and no other.
        facet = cast(
            InputDatasetFacet, InputDatasetFacet().with_additional_properties(offsetRanges=mine)
        )
        name = Kafka(host, port, topic)
        yield InputDataset(
            name.get_namespace(), name.get_name(), inputFacets={"sluice_offsets": facet}
        )


def _output(found: Landed) -> OutputDataset:
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.facet_v2 import dataset_version_dataset as version
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    name = _table_name(found.table)
    rows = known_sum(each.rows for each in found.batches)
    facets: dict[str, Any] = {}
    if (last := found.batches[-1].version) is not None:
        facets["version"] = version.DatasetVersionDatasetFacet(str(last))
    counted = statistics.OutputStatisticsOutputDatasetFacet(rowCount=rows)
    return OutputDataset(
        name.get_namespace(),
        name.get_name(),
        facets=facets,
        outputFacets={"outputStatistics": counted},
    )


def _table_name(uri: str) -> DatasetNaming:
    from openlineage.client.naming.dataset import S3, LocalFileSystem

    if is_on_s3(uri):
        place = urlsplit(uri)
        return S3(place.netloc, place.path.strip("/"))
    return LocalFileSystem(uri)
