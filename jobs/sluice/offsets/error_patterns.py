"""Error patterns: a cause without what differs from record to record. Pure."""

from __future__ import annotations

import re

# What differs from record to record: quoted values, positions, addresses. Column names and type
# sizes, such as price_2 and DECIMAL(5,2), stay as they are.
_QUOTED = re.compile(r"""(?<!\w)(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)""")
_NUMBER = re.compile(r"(?<![\w(,.-])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)(?![\w)])")
# What a misfit of decoding says (jobs/jvm): the JSON text of a value, possibly cut, ends the error.
_FOUND = re.compile(r"(: expected .*?, found )(\S.*)\Z", re.DOTALL)
_KINDS = {'"': "'…'", "{": "{…}", "[": "[…]", **dict.fromkeys("-0123456789", "N")}
_MAX_LENGTH = 200


def error_pattern(error: str) -> str:
    """The cause without what differs from record to record."""
    brief = _FOUND.sub(lambda match: match[1] + _KINDS.get(match[2][0], match[2]), error)
    return _NUMBER.sub("N", _QUOTED.sub("'…'", brief)).strip()[:_MAX_LENGTH]
