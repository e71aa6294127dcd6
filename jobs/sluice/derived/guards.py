"""Guards: what Spark is given for a function that fails for some values, to give NULL there. Pure.

A guard gets the arguments as Spark is given them, and gives the call that has an answer for each.
"""

from __future__ import annotations

from collections.abc import Callable

from sluice.derived.casts import TIMESTAMP
from sluice.derived.written_values import within_years

Guard = Callable[..., str]

# The first second of year 1, and of year 10,000.
_FIRST, _BEYOND = -62_135_596_800, 253_402_300_800
_DAY = 86_400
# Charsets whose decoders refuse some bytes; in ISO-8859-1 each byte is a character. Spark replaces
# half of a pair in UTF-32 by a question mark, so UTF-32 is not among them.
FITTED = ("US-ASCII", "UTF-16", "UTF-16BE", "UTF-16LE")
CHARSETS = ("UTF-8", "ISO-8859-1", *FITTED)
# The one function that Spark has from sluice.jar.
OUR_VARIANT = "sluice_variant"


def counted(name: str, first: int, beyond: int) -> Guard:
    """A day or moment by its number, from the first one up to the one that is beyond."""

    def guard(number: str) -> str:
        inside = f"({number} >= {first}) AND ({number} < {beyond})"
        return f"{name}(CASE WHEN ({inside}) THEN {number} END)"

    return guard


def of_seconds(name: str, parts: int) -> Guard:
    """A moment by the number of seconds, or of their parts."""
    return counted(name, _FIRST * parts, _BEYOND * parts)


day_of_number = counted("date_from_unix_date", _FIRST // _DAY, _BEYOND // _DAY)


def moment_in(text: str) -> str:
    """A moment in a text. To Spark, a text such as 22:13 is a moment of the day that it runs on."""
    moment = within_years(f"try_cast({text} AS TIMESTAMP)", TIMESTAMP)
    return f"(CASE WHEN (try_cast({text} AS DATE) IS NOT NULL) THEN {moment} END)"


def moment_by_pattern(text: str, form: str) -> str:
    """A moment in a text of a given form. To add nothing gives NULL where a year is too large."""
    moment = f"try_add(try_to_timestamp({text}, {form}), INTERVAL '0' SECOND)"
    return within_years(moment, TIMESTAMP)


def day_by_pattern(text: str, form: str) -> str:
    """A day in a text of a given form."""
    return f"CAST({moment_by_pattern(text, form)} AS DATE)"


def decoded(bytes_: str, charset: str) -> str:
    """A text of bytes in one of CHARSETS."""
    known = charset.strip("'").upper()
    if known == "UTF-8":
        return f"try_validate_utf8(CAST({bytes_} AS STRING))"
    text = f"decode({bytes_}, '{known}')"
    # Spark has no decoder that gives NULL; this one of its functions gives NULL for any failure.
    return f"CAST(try_to_binary({text}, 'utf-8') AS STRING)" if known in FITTED else text


def variant_of(text: str) -> str:
    """A VARIANT of JSON text. Spark's own function takes 1000 levels, and loses digits of numbers:
    as many levels overflow the stack when they are written as text, which ends Spark.
    """
    return f"{OUR_VARIANT}({text})"


def from_base64(text: str) -> str:
    """Bytes of a text in base64, which `unbase64` does not check."""
    return f"try_to_binary({text}, 'base64')"
