"""Check: what is wrong with spec files, found without Kafka and without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sluice.errors import SluiceError
from sluice.found_topics import LOOK
from sluice.offsets.batches import BatchSequence
from sluice.protocol.plan.table_changes import changed_reading, changes_of_table
from sluice.protocol.plan.table_fit import require_fitting_table, told_of_table
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.known_registries import no_registry
from sluice.registry.schema_book import SchemaBook
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.topic_choice import listed_topics
from sluice.spec_folder import FoundTemplate, read_specs
from sluice.tables.delta_log import DeltaLog
from sluice.tables.warehouse import Warehouse


@dataclass(frozen=True)
class CheckedFile:
    """A spec file, its pipeline if it is a valid spec, and what is wrong with it.

    A topic template has no pipeline itself: each of those that it makes is checked beside it.

    `changes` are what the next batch would do to the columns of the pipeline's table. `notes` say
    which fields of a schema no column holds as they are.
    """

    path: Path
    pipeline: str | None
    findings: tuple[str, ...]
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_files(folder: Path, files: Iterable[Path], tables: Warehouse) -> list[CheckedFile]:
    """Check files, each beside the others of its folder; none named: all of `folder`.

    Beyond what makes a spec valid: no other file claims its pipeline or names its table, and the
    table in the warehouse, if there is one, is the pipeline's and stores the declared types.
    """
    asked = {each.absolute() for each in files}
    found: list[CheckedFile] = []
    known: set[Path] = set()
    for place in sorted({each.parent for each in asked} or {folder}):
        specs = read_specs(place)
        refused = {path: tuple(str(why).splitlines()) for path, why in specs.refused.items()}
        checked = [CheckedFile(path, None, lines) for path, lines in refused.items()]
        for path, spec in specs.accepted.items():
            if not asked or specs.file_of(path).absolute() in asked:
                lines = (str(specs.contested[path]),) if path in specs.contested else ()
                checked.append(_beside_its_table(path, spec, lines, tables))
        checked += [_of_template(path, each) for path, each in specs.templates.items()]
        found += [e for e in checked if not asked or specs.file_of(e.path).absolute() in asked]
        known |= {specs.file_of(each.path).absolute() for each in found}
    missing = asked - known
    found += [CheckedFile(path, None, (f"{path}: no spec file",)) for path in missing]
    return sorted(found, key=lambda each: each.path)


def _of_template(path: Path, found: FoundTemplate) -> CheckedFile:
    """A template's own file; each of its pipelines is checked as one with a file of its own."""
    choice = found.choice
    told = (
        ("waiting for the next look", choice.new),
        ("not in topics_allowed", choice.not_allowed),
        ("with a pipeline until the template left them out", choice.given_up),
    )
    notes = [f"{why}: {listed_topics(topics)}" for why, topics in told if topics]
    if not choice.kept:
        notes.append(f"no topic has a pipeline yet: `{LOOK}` looks for them")
    return CheckedFile(path, None, (), notes=tuple(notes))


def _beside_its_table(
    path: Path, spec: PipelineSpec, lines: tuple[str, ...], tables: Warehouse
) -> CheckedFile:
    """The file of a valid spec; `lines` say which others name its table."""
    kept = KeptSchemas(tables.offsets(spec.table), spec.pipeline)
    try:
        # What a registry would say now, only `sluice plan` asks.
        read = SchemaBook(kept, no_registry).as_kept(spec)
        data = DeltaLog(tables.data(spec.table)).snapshot()
        # Only of an own table it says how far the pipeline is.
        data.committed(BatchSequence(spec.pipeline, "forward", 1))
        require_fitting_table(read, data)
    except SluiceError as problem:
        return CheckedFile(path, spec.pipeline, (*lines, f"{path}: {problem}"))
    changes = (
        *told_of_table(read, data),
        *changes_of_table(read, data.columns, data.settings),
        *changed_reading(read, data.log.newest_edition()),
    )
    notes = tuple(read.formats.told())
    if data.version is not None:
        # The table is its own: it is the other file that is wrong.
        lines, notes = (), (*lines, *notes)
    return CheckedFile(path, spec.pipeline, lines, changes, notes)
