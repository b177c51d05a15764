"""Definitions: which lines of a file define a name. By the syntax where a parser is there, else by words.

It is also run by its path, as a program of its own with nothing but the standard library and the parsers:
these let nobody else in their process work. Standard input has a line of JSON that says what to do.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_PARSED = 500_000
_MAX_DEPTH = 200


class Definition(NamedTuple):
    """A name and what is defined under it."""

    line: int
    name: str
    kind: str


class Grammar(NamedTuple):
    """Where the language of a tree-sitter parser is."""

    module: str
    function: str


_KINDS = {
    "class": "abstract_class_declaration class class_declaration class_specifier",
    "struct": "struct_item struct_specifier",
    "union": "union_item union_specifier",
    "enum": "enum_declaration enum_item enum_specifier",
    "interface": "annotation_type_declaration interface_declaration",
    "trait": "trait_item",
    "record": "record_declaration",
    "module": "internal_module mod_item module namespace_definition",
    "function": "function_declaration function_definition function_item function_signature "
    "function_signature_item generator_function_declaration",
    "method": "abstract_method_signature constructor_declaration method method_declaration "
    "method_definition method_elem method_signature method_spec singleton_method",
    "macro": "macro_definition preproc_def preproc_function_def",
    "type": "alias_declaration associated_type concept_definition type_alias type_alias_declaration "
    "type_definition type_item type_spec",
    "constant": "const_item const_spec enum_assignment enum_constant enum_variant enumerator static_item",
    "variable": "declaration var_spec variable_assignment variable_declarator",
    "field": "field_declaration field_definition property_signature public_field_definition",
}
_KIND = {node: kind for kind, nodes in _KINDS.items() for node in nodes.split()}
_BY_REFERENCE = ("class_specifier", "enum_specifier", "struct_specifier", "union_specifier")
"""In C these name a type as well; only with a body do they define it."""
_FUNCTIONS = ("arrow_function", "class", "function_expression", "generator_function")
_QUALIFIED = re.compile(r"(?:.*(?:::|\.))?([\w$#~]+[?!=]?)", re.DOTALL)
_OPERATOR = re.compile(r"(?:.*::)?(operator\b.*)", re.DOTALL)
_WORDS = re.compile(
    r"^\s*(?:(?:export|public|private|protected|internal|static|final|abstract|async|default|pub(?:\(\w+\))?"
    r"|override|open|sealed|data|inline|virtual|extern|unsafe|declare|suspend|local|case|partial|readonly"
    r"|operator|infix|lateinit|companion|implicit)\s+)*"
    r"(def|defp|defmodule|class|function|func|fn|fun|struct|interface|enum|trait|type|typealias|module|namespace"
    r"|const|let|var|val|macro|protocol|object|record|#define|(?i:create\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?"
    r"(?:table|view|function|procedure|index|type|trigger)(?:\s+if\s+not\s+exists)?))\b[\s*&]+"
    r"(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?[\"`\[]?(?:[A-Za-z_$][\w$]*[\"`\]]?(?:\.|::)[\"`\[]?)*([A-Za-z_$][\w$]*)"
)


def definitions(end: str, data: bytes, grammar: Grammar | None = None) -> list[Definition]:
    """The definitions of a file whose name ends so, in the order of its lines."""
    parsed = None
    if len(data) <= _MAX_PARSED:
        if end in (".py", ".pyi"):
            parsed = _by_python(data)
        elif grammar is not None and (parser := _parser(grammar)) is not None:
            parsed = list(_definitions_below(parser.parse(data).root_node))
    once = {
        (definition.line, definition.name): definition
        for definition in sorted(_by_words(data) if parsed is None else parsed)
    }
    return list(once.values())


def _by_python(data: bytes) -> list[Definition] | None:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    defined = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            defined.append(Definition(node.lineno, node.name, "class"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defined.append(Definition(node.lineno, node.name, "function"))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
            defined += [
                Definition(name.lineno, name.id, "variable")
                for name in names
                if isinstance(name.ctx, ast.Store)
            ]
    return defined


@lru_cache(maxsize=32)
def _parser(grammar: Grammar) -> Parser | None:
    """The parser of a language, where it is installed."""
    try:
        from tree_sitter import Language, Parser

        language: Callable[[], object] = getattr(import_module(grammar.module), grammar.function)
        return Parser(Language(language()))
    except (ImportError, ValueError):
        return None


def _definitions_below(top: Node) -> Iterator[Definition]:
    todo = [(top, 0)]
    while todo:
        node, depth = todo.pop()
        kind = _kind(node) if node.is_named else None
        if kind is not None:
            for name in _names(node):
                if text := _bare(name):
                    yield Definition(name.start_point.row + 1, text, kind)
        if depth < _MAX_DEPTH:
            todo.extend((child, depth + 1) for child in node.named_children)


def _kind(node: Node) -> str | None:
    """What a node defines; None for most nodes."""
    kind, above = _KIND.get(node.type), node.parent
    if node.type in _BY_REFERENCE and node.child_by_field_name("body") is None:
        return None
    if kind in ("field", "variable") and _calls(node):
        return "function"
    if node.type == "property_identifier" and above is not None and above.type == "enum_body":
        return "constant"
    if node.type in ("assignment", "assignment_expression", "pair"):
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        target = node.child_by_field_name("left")
        if value is not None and value.type in _FUNCTIONS:
            return "function"
        if target is not None and target.type == "constant":  # of Ruby
            return "constant"
    return kind


def _calls(node: Node) -> bool:
    """Whether a declaration of C is that of a function."""
    inner = node.child_by_field_name("declarator")
    while inner is not None:
        if inner.type == "function_declarator":
            return True
        inner = inner.child_by_field_name("declarator")
    return False


def _names(node: Node) -> Iterator[Node]:
    """The nodes of the names: one or several, which may stand inside of declarators or patterns."""
    if node.type == "property_identifier":
        yield node
        return
    for field in ("name", "declarator", "property", "left", "key"):
        nodes = node.children_by_field_name(field)
        for name_node in nodes:
            yield from _inner(name_node)
        if nodes:
            return


def _inner(node: Node) -> Iterator[Node]:
    if node.type in ("object_pattern", "array_pattern", "pair_pattern", "parenthesized_declarator"):
        of_pair = node.child_by_field_name("value")
        for child in [of_pair] if of_pair is not None else node.named_children:
            yield from _inner(child)
    elif (deeper := node.child_by_field_name("declarator")) is not None:
        yield from _inner(deeper)
    elif node.type == "member_expression" and (last := node.child_by_field_name("property")) is not None:
        yield last
    elif node.type == "object_assignment_pattern" or node.type == "variable_declarator":
        first = node.child_by_field_name("name") or node.child_by_field_name("left")
        if first is not None:
            yield from _inner(first)
    else:
        yield node


def _bare(node: Node) -> str | None:
    """A name without what it belongs to."""
    text = (node.text or b"").decode("utf-8", "replace").strip("'\"[]")
    match = _OPERATOR.fullmatch(text) or _QUALIFIED.fullmatch(text)
    return match[1] if match else None


def _by_words(data: bytes) -> list[Definition]:
    defined = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if match := _WORDS.match(line[:1000]):
            words = match[1].lower().split()
            kind = next((word for word in words if word not in ("create", "or", "replace")), words[0])
            defined.append(Definition(number, match[2], kind))
    return defined


def named_like(defined: Sequence[Definition], words: Sequence[str]) -> list[Definition]:
    """Those whose name has one of the words in it, in any case."""
    lowered = [word.lower() for word in words]
    return [definition for definition in defined if any(word in definition.name.lower() for word in lowered)]


def main() -> None:
    """For each [descriptor, end of the name, grammar or null] answer [descriptor, definitions]."""
    task = json.loads(sys.stdin.buffer.readline())
    for fd, end, grammar in task["files"]:
        with os.fdopen(fd, "rb") as file:
            data = file.read(task["most"])
        defined = definitions(end, data, None if grammar is None else Grammar(*grammar))
        sys.stdout.write(json.dumps([fd, named_like(defined, task["words"])]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
