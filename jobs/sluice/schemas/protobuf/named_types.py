"""Named types: messages of Confluent's and Google's whose name says which column they are. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from sluice.columns.columns import Column, ColumnType, Decimal, Primitive, Struct
from sluice.schemas.protobuf.known_files import WELL_KNOWN, known_message
from sluice.schemas.protobuf.own_files import is_known

DECIMAL_NAME = "confluent.type.Decimal"
DATE_NAME = "google.type.Date"
MONEY_NAME = "google.type.Money"
# Units of 64 bits, and nanos.
_AMOUNT = Decimal(28, 9)
_MONEY = Struct((Column("currency_code", Primitive("STRING")), Column("amount", _AMOUNT)))
_MOST_DIGITS = 38
# What Confluent's meta.proto adds to the options of a field.
_FIELD_META = 1088

_pool = DescriptorPool()
_pool.AddSerializedFile(WELL_KNOWN["google/protobuf/descriptor.proto"])
# This pool never has Confluent's extension; the process's own pool may have loaded it.
_Options = GetMessageClass(_pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
_Meta = GetMessageClass(known_message("confluent.Meta"))


def named_type(field: FieldDescriptor, message: Descriptor) -> ColumnType | None:
    """The type of a field of such a message; None for any other, and for one with other fields."""
    if message.full_name not in (DECIMAL_NAME, DATE_NAME, MONEY_NAME) or not is_known(message):
        return None
    match message.full_name:
        case "google.type.Date":
            return Primitive("DATE")
        case "google.type.Money":
            return _MONEY
    return _decimal(_params(field))


def _decimal(params: Mapping[str, str]) -> ColumnType:
    """As the field's options say; without them each value has a scale of its own: its text."""
    try:
        scale, precision = int(params["scale"]), int(params.get("precision", _MOST_DIGITS))
        return Decimal(min(precision, _MOST_DIGITS), scale)
    except (KeyError, ValueError):
        return Primitive("STRING")


def _params(field: FieldDescriptor) -> Mapping[str, str]:
    options, meta = _Options.FromString(field.GetOptions().SerializeToString()), _Meta()
    for each in UnknownFieldSet(options):
        if each.field_number == _FIELD_META and isinstance(each.data, bytes):
            meta.MergeFromString(each.data)
    return dict(meta.params)
