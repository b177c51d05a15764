"""Introspection: what a function's signature and docstring say of the tool made from it."""

from __future__ import annotations

import inspect
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import FrameType, SimpleNamespace
from typing import Any, get_type_hints

from pydantic_core import SchemaError

from handrail.core.define.tool import Body
from handrail.core.errors import DefinitionError, SourceLocation

CONTEXT_NAMES = ("ctx", "context")
_SECTION = re.compile(r"(\s*)(Args|Arguments|Parameters|Params):\s*$")
_ENTRY = re.compile(r"\s+(\w+)(?:\s*\(.*?\))?:\s*(.*)$")
_OTHER_SECTION = re.compile(r"\s*(Returns?|Raises|Yields?|Examples?|Notes?):\s*$")


def function_of(fn: Any) -> Any:
    """The function inside a partial or behind a callable object: it carries annotations, text and line."""
    while isinstance(fn, partial):
        fn = fn.func
    if isinstance(fn, type):
        return fn.__init__  # type: ignore[misc]
    if inspect.isroutine(fn) or not callable(fn):
        return fn
    return type(fn).__call__


def name_of(fn: Any) -> str:
    """What a function is called, also inside a partial; a callable object goes by its class."""
    while isinstance(fn, partial):
        fn = fn.func
    return str(getattr(fn, "__name__", None) or type(fn).__name__)


def doc_of(fn: Any) -> str:
    """The docstring of a function, or of the class of a callable object."""
    while isinstance(fn, partial):
        fn = fn.func
    if callable(fn) and not inspect.isroutine(fn) and not isinstance(fn, type):
        return inspect.getdoc(type(fn)) or inspect.getdoc(type(fn).__call__) or ""
    return inspect.getdoc(fn) or ""


def location_of(fn: Any) -> SourceLocation | None:
    """Where a function was written."""
    function = function_of(fn)
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return None if code is None else SourceLocation(code.co_filename, code.co_firstlineno)


def caller_location(depth: int) -> SourceLocation:
    """Where the code `depth` frames above this call stands."""
    frame = sys._getframe(depth + 1)
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def outside_location() -> SourceLocation | None:
    """Where the code stands that called into Handrail."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(
            ("handrail.core.", "handrail.engine.handrail")
        ):
            return SourceLocation(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def args_body(fn: Callable[..., Any]) -> Body:
    """A body declared as `(args)` or `(args, ctx)`."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # some builtins have no signature
        return Body(fn, _with_args(fn), is_async(fn))
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword_ctx = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in CONTEXT_NAMES]
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    call: Callable[[Any, Any], Any]
    try:
        if keyword_ctx:
            name = keyword_ctx[0]
            signature.bind(None, **{name: None})
            call = _with_named_context(fn, name)
        elif open_ended or (len(positional) >= 2 and _takes_context(positional[1])):
            signature.bind(None, None)
            call = fn
        elif positional:
            signature.bind(None)
            call = _with_args(fn)
        else:
            signature.bind()
            call = _with_nothing(fn)
    except TypeError as error:
        raise DefinitionError(
            f"its execute is declared as {signature} ({error})", remedy="declare it as (args) or (args, ctx)"
        ) from None
    return Body(fn, call, is_async(fn))


def _takes_context(parameter: inspect.Parameter) -> bool:
    """Whether a second parameter is the context: a setting with a default of its own is not."""
    if parameter.default is parameter.empty or parameter.name.strip("_") in CONTEXT_NAMES:
        return True
    return "Context" in str(parameter.annotation)


def _with_args(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda args, ctx: fn(args)


def _with_nothing(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda args, ctx: fn()


def _with_named_context(fn: Callable[..., Any], name: str) -> Callable[[Any, Any], Any]:
    return lambda args, ctx: fn(args, **{name: ctx})


def is_async(fn: Any) -> bool:
    while isinstance(fn, partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


def return_type(fn: Callable[..., Any], local_names: Mapping[str, Any]) -> Any:
    """What a body declared as `(args)` says that it returns."""
    return type_hints(fn, local_names, only="return").get("return", inspect.Signature.empty)


def error_summary(error: Exception) -> str:
    """What a nested error of pydantic is about: it says so last, and adds where to read more."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    problems = [line for line in lines if not line.startswith("For further information")]
    first = problems[0] if problems else type(error).__name__
    return f"{first} … {problems[-1]}" if isinstance(error, SchemaError) and len(problems) > 1 else first


def type_hints(
    fn: Callable[..., Any], local_names: Mapping[str, Any], only: str | None = None
) -> dict[str, Any]:
    """What the annotations of a function mean, in the names that it and its definition see."""
    function = inspect.unwrap(function_of(fn))
    function = getattr(function, "__func__", function)
    written = getattr(function, "__annotations__", None) or {}
    if only is not None:
        written = {name: annotation for name, annotation in written.items() if name == only}
    try:
        return get_type_hints(
            SimpleNamespace(__annotations__=written),
            globalns=getattr(function, "__globals__", {}),
            localns=ChainMap(_closure_names(function), local_names),  # type: ignore[arg-type]
            include_extras=True,
        )
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise DefinitionError(
            f"an annotation cannot be read: {error}",
            remedy="import the type where the function is defined, outside `if TYPE_CHECKING`",
        ) from error


def _closure_names(function: Any) -> dict[str, Any]:
    """The names a function sees around it: types that are local there, too."""
    names: dict[str, Any] = {}
    for name, cell in zip(
        getattr(getattr(function, "__code__", None), "co_freevars", ()),
        getattr(function, "__closure__", None) or (),
        strict=False,
    ):
        with suppress(ValueError):  # not assigned yet
            names[name] = cell.cell_contents
    return names


def docstring_parameters(doc: str) -> dict[str, str]:
    """Parameter descriptions from the `Args:` section of a docstring."""
    descriptions: dict[str, str] = {}
    outside = entries = -1
    last: str | None = None
    for line in doc.splitlines():
        depth = len(line) - len(line.lstrip())
        if section := _SECTION.match(line):
            outside, entries, last = len(section[1]), sys.maxsize, None
        elif not line.strip() or outside < 0:
            continue
        elif depth <= outside:
            outside = -1
        elif depth <= entries and (entry := _ENTRY.match(line)):
            entries, last = depth, entry[1]
            descriptions[last] = entry[2].strip()
        elif last is not None and depth > entries:
            descriptions[last] = f"{descriptions[last]} {line.strip()}".strip()
    return descriptions


def docstring_description(doc: str) -> str:
    """A docstring without the sections that speak of parameters, returns and errors."""
    description: list[str] = []
    for line in doc.splitlines():
        if _SECTION.match(line) or _OTHER_SECTION.match(line):
            break
        description.append(line)
    return "\n".join(description).strip()
