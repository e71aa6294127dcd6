"""The schema book: the schemas of one pipeline, as kept and as its registries have them now."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from sluice.columns.columns import Column
from sluice.errors import SpecError
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.known_registries import FindRegistry, KnownRegistries
from sluice.registry.noted import Noted, Notes
from sluice.registry.reader_choice import choose_reader
from sluice.registry.reader_growth import growing, grown, newer, require_every_column
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import RegisteredFormat, Source
from sluice.spec_file.pipeline_spec import PipelineSpec

log = logging.getLogger(__name__)


class SchemaBook:
    """What a pipeline's formats need to know of schemas.

    A schema is asked for once: the registry's answer is kept, and read from there.
    """

    def __init__(self, kept: KeptSchemas, find_registry: FindRegistry) -> None:
        self._kept = kept
        self._registries = KnownRegistries(kept, find_registry)

    def as_kept(self, spec: PipelineSpec) -> PipelineSpec:
        """The spec with the readers that were kept; nothing is asked."""
        found = {
            source: reader
            for source, form in spec.formats.registered.items()
            if form.follows_registry and (reader := self._reader(source, form)) is not None
        }
        return _with_readers(spec, found)

    def as_registered(
        self, spec: PipelineSpec, topics: Iterable[str], stored: Sequence[Column]
    ) -> Noted[PipelineSpec]:
        """The spec with the readers that the next batch is read as, with notes about them.

        The newest schema of each subject is asked for, and whether the registry is the one that
        was asked before; nothing is kept. `stored` are the columns of the table. Raises
        RegistryUnavailable, SettingsError or UnknownSchema where no reader is known and the
        registry gives none; SchemaChanged; SpecError where what it gives cannot be the table.
        """
        readers: dict[Source, RegisteredSchema] = {}
        notes: Notes = ()
        for source, form in spec.formats.registered.items():
            if form.follows_registry:
                subjects = sorted({form.subject(topic, source) for topic in topics})
                readers[source], about = self._choose(spec, source, subjects, stored)
            else:
                about = self._registries.require_known(str(form.registry), None)
            notes += about
        read = _with_readers(spec, readers)
        for source in readers:
            if self._reader(source, spec.formats.registered[source]) is None:
                require_every_column(read, source, stored)
        return Noted(read, notes)

    def keep(self, spec: PipelineSpec) -> PipelineSpec:
        """Keep the readers of a spec. Where another process has kept one that holds it: that one.

        A reader only grows: one that is older than what is kept is not kept again.
        """
        kept: dict[Source, RegisteredSchema] = {}
        for source, form in spec.formats.registered.items():
            if form.follows_registry and form.reader is not None:
                current, name = self._reader(source, form), _name_of(source, form)
                reader = form.reader
                if current is not None:
                    reader = choose_reader(form, current, reader, spec.evolution).reader
                kept[source] = self._kept.advance(str(form.registry), name, reader)
        return _with_readers(spec, kept)

    def with_writers(
        self, spec: PipelineSpec, stored: Sequence[Column]
    ) -> tuple[PipelineSpec, Mapping[Source, Mapping[str, RegisteredSchema]]]:
        """The schemas that were kept, by key; and the spec.

        One that its reader would grow by is left out: what is kept may be the other source's. It
        is learnt where a record of this source names it, before that record is read.
        """
        spec = self.keep(spec)
        writers: dict[Source, Mapping[str, RegisteredSchema]] = {}
        for source, form in spec.formats.registered.items():
            kept = self._kept.all(str(form.registry)).values()
            known = sorted(kept, key=lambda each: each.age)
            reader = form.reader if form.follows_registry else None
            if reader is not None:
                known = [
                    each
                    for each in known
                    if grown(spec, source, reader, newer(reader, [each]), stored).value == reader
                ]
            # Asked when the batch's end stands: no record of it can name a schema of later.
            _warn(self._registries.require_same(str(form.registry), known, reader))
            writers[source] = {each.key: each for each in known}
        return spec, writers

    def learn(
        self, spec: PipelineSpec, met: Mapping[Source, Sequence[str]], stored: Sequence[Column]
    ) -> tuple[PipelineSpec, Mapping[Source, Mapping[str, RegisteredSchema]]]:
        """The schemas of keys that records name, kept from now on; the spec that they lead to.

        What the registry does not have is left out. Raises RegistryUnavailable, SettingsError,
        SchemaChanged.
        """
        learnt: dict[Source, Mapping[str, RegisteredSchema]] = {}
        readers: dict[Source, RegisteredSchema] = {}
        for source, form in spec.formats.registered.items():
            keys = met.get(source, ())
            learnt[source], notes = self._registries.schemas(str(form.registry), keys)
            _warn(notes)
            if form.follows_registry and form.reader is not None:
                further = newer(form.reader, learnt[source].values())
                readers[source], notes = grown(spec, source, form.reader, further, stored)
                _warn(notes)
        return self.keep(_with_readers(spec, readers)), learnt

    def knows_other(self, form: RegisteredFormat, registry: str | None = None) -> bool:
        """Whether schemas are kept of this connection, or any, that the form does not name now."""
        if registry is None:
            return self._kept.others(str(form.registry))
        return registry != form.registry and self._kept.knows(registry)

    def kept_of(self, registry: str, keys: Iterable[str]) -> Mapping[str, RegisteredSchema]:
        """What was kept of keys; nothing is asked."""
        found = {each: self._kept.get(registry, each) for each in keys}
        return {key: each for key, each in found.items() if each is not None}

    def absent(self, form: RegisteredFormat) -> frozenset[str]:
        """The keys that the form's registry has said, to this process, that it does not have."""
        return self._registries.absent(str(form.registry))

    def _reader(self, source: Source, form: RegisteredFormat) -> RegisteredSchema | None:
        """The reader that was kept; None also for one of another format, which the spec had."""
        found = self._kept.reader(str(form.registry), _name_of(source, form))
        return found if found is not None and found.kind == form.kind else None

    def _choose(
        self,
        spec: PipelineSpec,
        source: Source,
        subjects: Sequence[str],
        stored: Sequence[Column],
    ) -> Noted[RegisteredSchema]:
        form = spec.formats.registered[source]
        reader = self._reader(source, form)
        newest, notes = self._registries.newest(str(form.registry), subjects, reader)
        if reader is None and newest:
            # The schemas of several topics are brought together before there is a table.
            subject, first = next(iter(newest.items()))
            if first.kind != form.kind:
                raise SpecError(
                    f"{spec.pipeline}: {form.registry}: subject {subject}: expected a schema of"
                    f" kind {form.kind}, found {first.kind}. Correct format.type, or the subject."
                )
            others = list(newest.values())[1:]
            return grown(growing(spec), source, first, others, stored).after(notes)
        if reader is None:
            raise SpecError(
                f"{spec.pipeline}: {form.registry}: expected a topic whose schema can be asked for,"
                f" found none that matches {spec.topic_pattern!r}. Create it, or name schema_file."
            )
        return grown(spec, source, reader, newest.values(), stored).after(notes)


def _warn(notes: Notes) -> None:
    for note in notes:
        log.warning("%s", note)


def _name_of(source: Source, form: RegisteredFormat) -> str:
    """What a pipeline's readers are kept under: one sequence for each kind of record."""
    return source if form.record is None else f"{source}-{form.record}"


def _with_readers(spec: PipelineSpec, readers: Mapping[Source, RegisteredSchema]) -> PipelineSpec:
    if not readers:
        return spec
    try:
        return spec.with_readers(readers)
    except ValueError as problem:
        keys = ", ".join(each.key for each in readers.values())
        raise SpecError(
            f"{spec.pipeline}: schema {keys}: {problem}. Correct the spec, or name a schema_file."
        ) from None
