"""Expressions: one in Spark SQL, read and checked without Spark. Pure.

What Spark is given is written anew from what was checked, in parentheses and without escapes, so
that nothing is executed that was not understood here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import sqlglot.errors
from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark

from sluice.columns.columns import Array
from sluice.columns.names import as_compared, quoted
from sluice.derived.calls import called
from sluice.derived.casts import BOOLEAN, DOUBLE, FLOAT, UNCHECKED, VOID
from sluice.derived.json_texts import from_json
from sluice.derived.operators import (
    between,
    cases,
    cast_to,
    compared,
    computed,
    divided,
    field_of,
    joined,
    like,
    listed,
    logical,
    negated,
)
from sluice.derived.typed import Typed
from sluice.derived.written_types import written_type
from sluice.derived.written_values import number_of, text_of
from sluice.errors import did_you_mean

_LONGEST, _LONGEST_WRITTEN, _DEEPEST = 4000, 100_000, 50
_BETTER: Mapping[type[exp.Expr], str] = {
    exp.Div: "write try_divide(…, …): a record with 0 would stop its batch",
    exp.Mod: "write try_mod(…, …): a record with 0 would stop its batch",
    exp.Bracket: "write get(array, 0) or try_element_at(map, 'key')",
    exp.RegexpLike: "regular expressions may run for hours: write startswith, contains or LIKE",
    exp.Concat: "write two texts as one; a quotation mark between marks of the other kind",
}
_SIGNS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.And: "AND",
    exp.Or: "OR",
}
_NO_COLUMN = {
    VOID: "expected a value that has a type, such as CAST(NULL AS STRING)",
    UNCHECKED: "write try_validate_utf8(CAST(… AS STRING))",
}


class _Plain(Spark):
    """Spark's grammar, in which functions keep their names, except CAST and TRY_CAST."""

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]
        """The parser."""

        FUNCTIONS: ClassVar[Mapping[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[Mapping[str, Any]] = {
            name: Spark.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")
        }


def read_expression(text: str, columns: Mapping[str, Typed]) -> Typed:
    """Check an expression over columns, given by their names as compared.

    Raises ValueError with what was found and what is allowed.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters, found {len(text)}")
    try:
        typed = _read(_parsed(text), columns, 0)
    except RecursionError:
        raise ValueError(f"expected at most {_DEEPEST} parts within each other") from None
    if typed.type in _NO_COLUMN:
        raise ValueError(f"found a {typed.type}; {_NO_COLUMN[typed.type]}")
    return typed


def _parsed(text: str) -> exp.Expr:
    try:
        _require_no_escapes(text)
        found = _Plain().parse(text)
    except sqlglot.errors.SqlglotError as problem:
        said = re.sub(r"\x1b\[[0-9]*m", "", str(problem)).splitlines()[0]
        raise ValueError(f"expected one expression of Spark SQL: {said}") from None
    (one, *more) = found or [None]
    if one is None or more or isinstance(one, exp.Alias):
        raise ValueError("expected one expression of Spark SQL, without a name of its own")
    if any(node.comments for node in one.walk()):
        raise ValueError("found a comment; write it beside the expression")
    return one


def _require_no_escapes(text: str) -> None:
    """A backslash may only be in a name between backquotes, where it is one of the letters."""
    rest = list(text)
    for token in _Plain().tokenize(text):
        if token.token_type == TokenType.IDENTIFIER:
            rest[token.start : token.end + 1] = "x" * (token.end + 1 - token.start)
    if "\\" in rest:
        raise ValueError(
            "found a backslash; expected none, except in `a name`: its meaning depends on settings"
        )


Columns = Mapping[str, Typed]


def _read(node: Any, columns: Columns, depth: int) -> Typed:
    """One part of an expression, from the outside in."""
    if depth > _DEEPEST:
        raise ValueError(f"expected at most {_DEEPEST} parts within each other")
    found = _part(node, columns, lambda inner: _read(inner, columns, depth + 1), depth)
    if len(found.sql) > _LONGEST_WRITTEN:
        raise ValueError("expected a shorter expression")
    return found


def _part(node: Any, columns: Columns, read: Callable[[Any], Typed], depth: int) -> Typed:
    match node:
        case exp.Literal() | exp.Neg() | exp.Boolean() | exp.Null():
            return _value(node, read)
        case exp.Column() | exp.Identifier() | exp.Dot():
            return _reference(node, columns, read)
        case exp.Cast():
            return cast_to(
                read(node.this), written_type(node.to), tried=bool(node.args.get("safe"))
            )
        case exp.Anonymous():
            return _call(node, columns, read, depth)
        case exp.Case() | exp.If():
            return _choice(node, read)
        case exp.Paren():
            return read(node.this)
    return _operation(node, read)


def _operation(node: Any, read: Callable[[Any], Typed]) -> Typed:
    match node:
        case exp.Not():
            return negated(read(node.this))
        case exp.And() | exp.Or():
            return logical(_SIGNS[type(node)], read(node.this), read(node.expression))
        case exp.DPipe():
            return joined(read(node.this), read(node.expression))
        case exp.Add() | exp.Sub() | exp.Mul():
            return computed(_SIGNS[type(node)], read(node.this), read(node.expression))
        case exp.IntDiv():
            return divided(read(node.this), read(node.expression))
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() | exp.NullSafeEQ():
            return compared(_SIGNS[type(node)], read(node.this), read(node.expression))
        case exp.Is(expression=exp.Null() | exp.Boolean() as what):
            of = read(node.this)
            if isinstance(what, exp.Boolean):
                logical("IS", of, of)
            return Typed(f"({of.sql} IS {what.sql().upper()})", BOOLEAN)
        case exp.Between() if not node.args.get("symmetric"):
            return between(*(read(node.args[each]) for each in ("this", "low", "high")))
        case exp.In() if node.expressions and not node.args.get("query"):
            return listed(read(node.this), [read(each) for each in node.expressions])
        case exp.Like():
            return like(read(node.this), read(node.expression))
    raise ValueError(f"found {_shown(node)}; {_BETTER.get(type(node), 'it is not allowed')}")


def _value(node: Any, read: Callable[[Any], Typed]) -> Typed:
    match node:
        case exp.Literal(is_string=True):
            return text_of(node.this)
        case exp.Literal():
            return number_of(node.this, negative=False)
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            return number_of(number.this, negative=True)
        case exp.Neg():
            inner = read(node.this)
            if inner.type not in (FLOAT, DOUBLE):
                raise ValueError(f"found {_shown(node)}; write try_subtract(0, …)")
            return Typed(f"(- {inner.sql})", inner.type)
        case exp.Boolean():
            return Typed(str(node.this).upper(), BOOLEAN)
    return Typed("NULL", VOID)


def _reference(node: Any, columns: Columns, read: Callable[[Any], Typed]) -> Typed:
    """A column or a lambda's variable, or a field of one, or of what a function gives."""
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise ValueError(f"found {_shown(node)}; expected a field's name behind the dot")
        return field_of(read(node.this), node.expression.name)
    first, *more = node.parts if isinstance(node, exp.Column) else [node]
    if not isinstance(first, exp.Identifier):
        raise ValueError(f"found {_shown(node)}; expected a column by its name")
    found = columns.get(as_compared(first.name))
    if found is None:
        allowed = [each.name for each in columns.values()]
        raise ValueError(
            f"found column {first.name}{did_you_mean(first.name, allowed)};"
            f" allowed: {', '.join(allowed)}"
        )
    for part in more:
        found = field_of(found, part.name)
    return found


def _call(node: Any, columns: Columns, read: Callable[[Any], Typed], depth: int) -> Typed:
    name, given = str(node.this).lower(), list(node.expressions)
    if name in ("filter", "exists") and len(given) == 2 and isinstance(given[1], exp.Lambda):
        return _each(name, read(given[0]), given[1], columns, depth)
    known = [read(each) for each in given]
    return from_json(known) if name == "from_json" else called(name, known)


def _each(name: str, array: Typed, condition: Any, columns: Columns, depth: int) -> Typed:
    """`filter` or `exists` over an array, such as `filter(_headers, h -> h.key = 'trace')`."""
    if not isinstance(array.type, Array) or len(condition.expressions) != 1:
        raise ValueError(f"found {name}({array.type}, …); expected an array, and a name -> …")
    variable = condition.expressions[0].name
    inner = {
        **columns,
        as_compared(variable): Typed(quoted(variable), array.type.element, name=variable),
    }
    found = _read(condition.this, inner, depth + 1)
    if found.type != BOOLEAN:
        raise ValueError(f"found {name}(…, {variable} -> {found.type}); expected a condition")
    written = f"{name}({array.sql}, {quoted(variable)} -> {found.sql})"
    return Typed(written, array.type if name == "filter" else BOOLEAN)


def _choice(node: Any, read: Callable[[Any], Typed]) -> Typed:
    """A CASE, or `if(condition, value, other)`."""
    if isinstance(node, exp.If):
        other = node.args.get("false")
        given = [node.this, node.args.get("true"), other]
        return called("if", [read(each) for each in given if each is not None])
    whens: Sequence[Any] = node.args["ifs"]
    of, default = node.args.get("this"), node.args.get("default")
    return cases(
        read(of) if of is not None else None,
        [(read(each.this), read(each.args["true"])) for each in whens],
        read(default) if default is not None else None,
    )


def _shown(node: Any) -> str:
    return str(node.sql(dialect=_Plain))
