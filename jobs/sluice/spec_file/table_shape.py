"""The table's shape: which fields of a record it keeps, what it adds, how it is laid out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.columns.columns import Column
from sluice.columns.names import as_compared, is_beyond_16_bits
from sluice.derived.casts import is_simple
from sluice.derived.derived_columns import OURS, DerivedColumn, derived_columns, require_free_names
from sluice.errors import did_you_mean
from sluice.spec_file.table_properties import require_free_of_change_feed

OUR_COLUMNS = ("_topic", "_topic_id", "_partition", "_offset", "_timestamp", "_key", "_batch")


@dataclass(frozen=True)
class TableShape:
    """What a spec says about the data table, given the fields of a record and of its key.

    Only the fields of `include` are kept, if it has any; those of `exclude` are not. With `grows`,
    a registry may give the record further fields.
    """

    fields: tuple[Column, ...]
    key_fields: tuple[Column, ...] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    derived: Mapping[str, str] = field(default_factory=dict)
    partition_by: Sequence[str] = ()
    cluster_by: Sequence[str] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    grows: bool = False

    @property
    def kept(self) -> tuple[Column, ...]:
        """The fields of a record that are columns of the table."""
        wanted = set(self.include) or {each.name for each in self.fields}
        left_out = set(self.exclude)
        return tuple(e for e in self.fields if e.name in wanted and e.name not in left_out)

    @property
    def added(self) -> tuple[DerivedColumn, ...]:
        """The derived columns. Raises ValueError for an expression that is not allowed."""
        return derived_columns(self.derived, (*self.fields, *self.key_fields))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns but Sluice's own: fields, then derived ones."""
        return (*self.kept, *(Column(each.name, each.type) for each in self.added))

    def require(self) -> None:
        """Raises ValueError with the key, what was found and what is allowed."""
        fields = [each.name for each in self.fields]
        _require_among("include", self.include, fields)
        # Such a field makes way for the derived column: it is left out before a reader has it.
        further = [*self.derived] if self.grows else []
        _require_among("exclude", self.exclude, [*dict.fromkeys((*fields, *further))])
        require_free_names(self.derived)
        kept = {as_compared(each.name) for each in self.kept}
        for name in self.derived:
            if as_compared(name) in kept:
                raise ValueError(
                    f"derived.{name}: expected another name: a field of the record has it; leave"
                    f" the field out with `exclude: [{name}]`, or choose another name"
                )
        known = (*self.columns, *self.key_fields)
        simple = [each.name for each in known if is_simple(each.type)]
        for key, names in (("partition_by", self.partition_by), ("cluster_by", self.cluster_by)):
            _require_among(key, names, sorted({*OUR_COLUMNS, *simple}))
        _require_clusterable(self.cluster_by)
        require_free_of_change_feed(self.properties, [each.name for each in known])
        _require_among("comments", [*self.comments], [e.name for e in (*known, *OURS)])


def _require_clusterable(names: Sequence[str]) -> None:
    for name in filter(is_beyond_16_bits, names):
        raise ValueError(
            f"cluster_by: found {name!r}; expected a name without characters beyond U+FFFF: Delta"
            " loses its place in a statement behind them. Cluster by a derived column instead"
        )


def _require_among(key: str, names: Sequence[str], allowed: Iterable[str]) -> None:
    for name in names:
        if name not in allowed:
            raise ValueError(
                f"{key}: found {name!r}{did_you_mean(name, allowed)}; allowed: {', '.join(allowed)}"
            )
    if len(set(names)) < len(names):
        raise ValueError(f"{key}: a column is named twice")
