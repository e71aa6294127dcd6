"""Topics in Airflow: the task that looks for new ones, for specs that make a pipeline of each."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sluice.broker.client_logs import silence_clients
from sluice.broker.client_settings import ClientSettings
from sluice.errors import SettingsError, SpecError, as_lines
from sluice.found_topics import LOOK
from sluice.operations.run_summary import brief_summary
from sluice.scheduling.deployment import readable_extra
from sluice.scheduling.run_notes import tell
from sluice.scheduling.tasks import failing_for_good
from sluice.spec_file.topic_choice import listed_topics

if TYPE_CHECKING:
    from sluice.broker.port import Cluster

log = logging.getLogger(__name__)


def find_in(specs: Path) -> Callable[..., None]:
    """The body of `find`, for the templates in this folder."""

    def find(ti: Any = None) -> None:
        """Look for new topics; fail if some get no pipeline, or a cluster does not answer."""
        with failing_for_good(ti):
            tell(ti, brief_summary(_find(specs, _version_of(specs, ti.bundle_instance))))

    return find


def _version_of(specs: Path, bundle: Any) -> str | None:
    """The version of the DAG bundle that the specs are in, such as Git's; None elsewhere.

    It is a copy of what is kept elsewhere: a file that is written there is lost.
    """
    version: str | None = bundle.version
    return version if specs.resolve().is_relative_to(Path(bundle.path).resolve()) else None


def _find(specs: Path, bundle_version: str | None) -> list[str]:
    """Keep what was found, and return what to say of it. Raises SpecError, SettingsError."""
    from sluice.operations.find_topics import find_topics

    silence_clients()
    looks, failed = find_topics(specs, (), _cluster, execute=bundle_version is None)
    found = [f"{each.path}: {line}" for each in looks for line in each.told]
    for line in found:
        log.info("%s", line)
    refused = [line for each in looks for line in each.refused]
    for told in (*failed, *refused):
        log.error("%s", told)
    lost = [each for each in looks if each.choice.new] if bundle_version else []
    if lost:
        raise SettingsError(
            *(f"{e.path}: new: {listed_topics(e.choice.new)}\n" for e in lost),
            f"The specs are in version {bundle_version} of a DAG bundle, where nothing can be kept."
            " Run ",
            LOOK,
            " where they are kept, and deploy the files that it writes.",
        )
    # What a retry may mend is tried again first, and all of it has been logged.
    for problem in failed:
        if problem.retryable:
            raise problem
    if wrong := [*map(str, failed), *refused]:
        raise SpecError(as_lines(wrong))
    return found


def _cluster(connection: str) -> Cluster:
    from sluice.broker.cluster import KafkaCluster

    return KafkaCluster(ClientSettings.from_extra(connection, readable_extra(connection)))
