"""Definitions: which lines of a file define a name. By the syntax where a parser is there, else by words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from handrail.toolsets.workspace.hooks.languages import GRAMMARS

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_NO_CODE = (".html", ".htm", ".css")
_LONGEST = 2_000_000
_DEEPEST = 200


class Definition(NamedTuple):
    """A name and what is defined under it."""

    line: int
    name: str
    kind: str


_DEFINES = re.compile(
    r"(class|struct|interface|enum|trait|union|module|namespace|function|method|func|macro|type|mod|const|static"
    r"|variable|field|property|object|impl|protocol)(?:_\w+)?_"
    r"(?:definition|declaration|item|declarator|specifier|spec|alias|signature)|class|module|method|def"
    r"|function_definition|preproc_def|preproc_function_def|type_definition|type_spec|type_alias"
)
_WORDS = re.compile(
    r"^\s*(?:(?:export|public|private|protected|internal|static|final|abstract|async|default|pub(?:\(\w+\))?"
    r"|override|open|sealed|data|inline|virtual|extern|unsafe|declare)\s+)*"
    r"(def|class|function|func|fn|fun|struct|interface|enum|trait|type|module|namespace|const|let|var|val|macro"
    r"|protocol|object|record|CREATE\s+TABLE|create\s+table|#define)\b[\s*&]+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)


def definitions(path: str, data: bytes) -> list[Definition]:
    """The definitions of a file, in the order of its lines."""
    end = PurePosixPath(path).suffix.lower()
    if len(data) > _LONGEST:
        return []
    if end in (".py", ".pyi"):
        found = _of_python(data)
    elif (parser := _parser(end)) is not None:
        found = _of_tree(parser, data)
    else:
        found = None
    return sorted(_of_words(data) if found is None else found)


def _of_python(data: bytes) -> list[Definition] | None:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.append(Definition(node.lineno, node.name, "class"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(Definition(node.lineno, node.name, "function"))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
            found += [
                Definition(one.lineno, one.id, "variable") for one in names if isinstance(one.ctx, ast.Store)
            ]
    return found


@lru_cache(maxsize=32)
def _parser(end: str) -> Parser | None:
    """The parser of a language, where it is installed."""
    if end not in GRAMMARS or end in _NO_CODE:
        return None
    module, function = GRAMMARS[end]
    try:
        from tree_sitter import Language, Parser

        made: Callable[[], object] = getattr(import_module(module), function)
        return Parser(Language(made()))
    except (ImportError, ValueError):
        return None


def _of_tree(parser: Parser, data: bytes) -> list[Definition]:
    return list(_below(parser.parse(data).root_node))


def _below(top: Node) -> Iterator[Definition]:
    todo = [(top, 0)]
    while todo:
        node, depth = todo.pop()
        if node.is_named and (found := _DEFINES.fullmatch(node.type)) is not None:
            name = _name(node)
            if name is not None and name.text is not None:
                kind = found[1] or node.type.partition("_")[0]
                yield Definition(name.start_point.row + 1, name.text.decode("utf-8", "replace"), kind)
        if depth < _DEEPEST:
            todo.extend((child, depth + 1) for child in node.named_children)


def _name(node: Node) -> Node | None:
    """The node of the name; in C it stands inside of declarators."""
    name = node.child_by_field_name("name")
    inner: Node | None = node
    while name is None and inner is not None:
        inner = inner.child_by_field_name("declarator")
        if inner is not None and inner.type.endswith("identifier"):
            name = inner
    return name


def _of_words(data: bytes) -> list[Definition]:
    found = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if match := _WORDS.match(line[:1000]):
            found.append(Definition(number, match[2], match[1].split()[-1].lower()))
    return found
