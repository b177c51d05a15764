"""classify: how dangerous a command line is. Pure: it reads the text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail import ToolError
from handrail.toolsets.workspace.shell.programs import classify_function, classify_program
from handrail.toolsets.workspace.shell.reader_programs import NUMERIC_VARIABLES, classify_test
from handrail.toolsets.workspace.shell.rules import (
    SAFE,
    Classification,
    InnerCommand,
    classify_redirect,
    classify_variable,
    dangerous,
    moderate,
    most_dangerous,
)
from handrail.toolsets.workspace.shell.syntax import (
    Word,
    descendants,
    find_misread,
    literal_word,
    parse_command,
    read_word,
    text_of,
    text_problem,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_COMMANDS = 50
"""Simple commands in one command line; nobody reviews more."""
_MAX_NESTED_SHELLS = 4
_STRUCTURE = frozenset(
    "program redirected_statement while_statement do_group if_statement elif_clause else_clause "
    "case_statement case_item compound_statement subshell pipeline list negated_command "
    "command_name variable_assignments heredoc_redirect heredoc_body heredoc_start heredoc_end "
    "heredoc_content herestring_redirect unary_expression binary_expression parenthesized_expression "
    "concatenation string number simple_expansion command_substitution process_substitution word "
    "string_content raw_string ansi_c_string regex comment variable_name special_variable_name "
    "file_descriptor test_operator extglob_pattern brace_expression subscript".split()
)
_EXPANSION = re.compile(
    r"\$\{#?(?:[a-zA-Z_][a-zA-Z0-9_]*(?:\[(?:[@*]|[0-9]+)\])?|[0-9@*#?])"
    r"(?:\}|:?[-+?]|[%#]{1,2}|//?|:(?: -)?[0-9]+(?::[0-9]+)?\}|[,^]{1,2})"
)
_EXPRESSIONS = frozenset({"binary_expression", "parenthesized_expression", "unary_expression"})
_NUMBERS = _EXPRESSIONS | {"number"}
_WORDS = frozenset(
    "word string raw_string ansi_c_string concatenation number expansion simple_expansion "
    "command_substitution process_substitution arithmetic_expansion translated_string "
    "brace_expression".split()
)
_FOLDER_CHANGES = frozenset({"cd", "pushd", "popd"})
_FOLDER_CHANGE = re.compile(r"cd|pushd|popd|[\\'\"]")
_RUN_TEXT = frozenset({"eval", "trap"})
_REPEATED = frozenset({"while_statement", "for_statement", "c_style_for_statement", "function_definition"})
_QUOTING = re.compile(r"\\\n|[\\'\"]")
_GIT = re.compile(r"\bgit\b")
_COUNTED = _NUMBERS | {"test_command", "test_operator", "simple_expansion"}
_IN_TEST = frozenset({"[", "]", "=", "==", "!=", "!", '"', "$", "-a", "-o"})
_COMPARING = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def classify(command: str, is_ours: Callable[[str], bool] | None = None) -> Classification:
    """The judgement of the strictest part of a command line.

    `is_ours` says whether a folder belongs to the repository that the command starts in.
    """
    try:
        return _classify(command, 0, is_ours)
    except RecursionError:
        return dangerous("it is nested too deeply to be read", command)
    except ToolError:
        return dangerous("nothing here can read it", command)


def mentions_git(command: str) -> bool:
    """Whether git may be started by it, however the name is quoted."""
    return _GIT.search(_QUOTING.sub("", command)) is not None


def _classify(command: str, depth: int, is_ours: Callable[[str], bool] | None = None) -> Classification:
    if (odd := text_problem(command)) is not None:
        return dangerous(odd)
    if depth > _MAX_NESTED_SHELLS:
        return dangerous("it starts shells inside of shells", command)
    root = parse_command(command)
    nodes = list(descendants(root))
    if root.has_error or (place := find_misread(command, nodes)) is not None:
        return dangerous("it cannot be read with certainty", command if root.has_error else place or command)
    if sum(node.type == "command" for node in nodes) > MAX_COMMANDS:
        return dangerous(f"it has more than {MAX_COMMANDS} commands")
    inner = InnerCommand(lambda words: _classify_words(words, inner), lambda text: _classify(text, depth + 1))
    judgements = [_classify_node(node, inner).within(text_of(node)) for node in nodes if node.is_named]
    if mentions_git(command):
        judgements.append(_classify_moves(nodes, is_ours or (lambda folder: False)))
    return most_dangerous(judgements)


def _classify_moves(nodes: list[Node], is_ours: Callable[[str], bool]) -> Classification:
    """A repository's settings may name programs, and `cd` may lead into somebody else's repository."""
    moves = [node for node in nodes if node.type == "command" and _changes_folder(_words(node) or [])]
    if not moves or (
        len(moves) == 1 and _is_once(moves[0]) and _leads_to_own_folder(_words(moves[0]) or [], is_ours)
    ):
        return SAFE
    return moderate("git after a change of folder may obey the settings of another repository", "git")


def _changes_folder(words: list[Word]) -> bool:
    """Whether it changes the folder, or runs a text that may."""
    values = [word.value or "" for word in words]
    if _RUN_TEXT.isdisjoint(values):
        return not _FOLDER_CHANGES.isdisjoint(values)
    return any(_FOLDER_CHANGE.search(value) for value in values)


def _is_once(node: Node | None) -> bool:
    while node is not None and node.type not in _REPEATED:
        node = node.parent
    return node is None


def _leads_to_own_folder(words: list[Word], is_ours: Callable[[str], bool]) -> bool:
    """Whether it is `cd` into one folder that is known and ours."""
    if len(words) != 2 or words[0].value != "cd":
        return False
    folder = words[1].value or "-"
    return not folder.startswith("-") and is_ours(folder)


def _classify_node(node: Node, inner: InnerCommand) -> Classification:
    if node.type == "command":
        words = _words(node)
        if words is None:
            return dangerous("it cannot be read with certainty")
        return _classify_words(words, inner) if words else SAFE
    if node.type == "test_command":
        return _classify_test(node, inner)
    if node.type == "compound_statement" and text_of(node).startswith("(("):
        return _classify_arithmetic(node)
    if node.type in _NODE_RULES:
        return _NODE_RULES[node.type](node)
    if node.type in _STRUCTURE:
        return SAFE
    return moderate("this part of the shell's language is not known to be safe")


def _words(command: Node) -> list[Word] | None:
    """The program and its arguments; None when two of them touch."""
    words: list[Word] = []
    end = -1
    for child in command.children:
        if child.type in ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect"):
            continue
        if child.start_byte == end:
            return None
        end = child.end_byte
        words.append(read_word(child) if child.is_named else Word(None, text_of(child)))
    return words


def _classify_words(words: list[Word], inner: InnerCommand) -> Classification:
    part = " ".join(word.text for word in words)
    return classify_program(words, inner).within(part)


def _classify_here_document(node: Node) -> Classification:
    """The tree takes arguments that follow a here-document for a part of it."""
    if node.type == "herestring_redirect":
        words = [child for child in node.children if child.type not in ("<<<", "file_descriptor")][1:]
    else:
        words = [child for child in node.children if child.type in _WORDS or child.type == "$"]
    if words:
        return dangerous("arguments follow a redirection; write redirections last")
    return SAFE


def _classify_assignment(node: Node) -> Classification:
    target = node.children[0]
    if text_of(node).startswith("IFS=") and _is_for_read(node):
        return SAFE
    if target.type != "variable_name":
        return moderate("an index may run what a variable holds")
    return classify_variable(text_of(target))


def _is_for_read(assignment: Node) -> bool:
    """Whether it holds for one `read` alone, which takes words apart with it."""
    command = assignment.parent
    name = None if command is None else command.child_by_field_name("name")
    return name is not None and text_of(name) == "read"


def _classify_array(node: Node) -> Classification:
    """Its elements are judged by themselves; what stands before them in brackets is worked out."""
    if any(text_of(child).startswith("[") for child in node.named_children):
        return moderate("an index may run what a variable holds")
    return SAFE


def _classify_declaration(node: Node) -> Classification:
    """Assignments in it are judged by themselves."""
    for child in node.named_children:
        if child.type not in ("variable_assignment", "variable_name"):
            return moderate("an option or a name that is only known later changes what variables do")
        if child.type == "variable_name" and not (judgement := classify_variable(text_of(child))).is_safe:
            return judgement
    return SAFE


def _classify_arithmetic(node: Node) -> Classification:
    """Numbers alone are harmless; a variable may hold an index with a command in it."""
    inside = [inner.type for inner in descendants(node) if inner.is_named][1:]
    if set(inside) <= _NUMBERS:
        return SAFE
    return moderate("arithmetic may run what a variable holds")


def _classify_test(node: Node, inner: InnerCommand) -> Classification:
    parts = list(descendants(node))
    operators = {text_of(part) for part in parts if part.type == "test_operator"}
    if operators & {"-v", "-R"}:
        return moderate("this test may run what an index holds")
    if text_of(node).startswith("[["):
        if operators & _COMPARING and not all(map(_is_number, parts)):
            return moderate("arithmetic may run what a variable holds")
        return SAFE
    if not text_of(node).startswith("["):
        return _classify_arithmetic(node)
    outside_strings = descendants(node, ("string", "command_substitution"))
    tokens = {token.type for token in outside_strings if not token.is_named and not token.child_count}
    if tokens - _IN_TEST:
        return dangerous("it cannot be read with certainty")
    return classify_test(_test_words(node), inner)


def _is_number(part: Node) -> bool:
    if part.type == "special_variable_name":
        return f"${text_of(part)}" in NUMERIC_VARIABLES
    return not part.is_named or part.type in _COUNTED


def _test_words(test: Node) -> list[Word]:
    """What `[` is given, as `test` would be given it."""
    words: list[Word] = []
    waiting = list(reversed(test.children[1:-1]))
    while waiting:
        child = waiting.pop()
        if child.type in _EXPRESSIONS:
            waiting += reversed(child.children)
        else:
            words.append(
                read_word(child)
                if child.is_named and child.type != "test_operator"
                else literal_word(text_of(child))
            )
    return words


def _classify_loop(node: Node) -> Classification:
    names = [child for child in node.children if child.type == "variable_name"]
    return most_dangerous(classify_variable(text_of(name)) for name in names)


def _classify_expansion(node: Node) -> Classification:
    is_simple = _EXPANSION.match(text_of(node)) is not None
    return SAFE if is_simple else moderate("such an expansion may run what a variable holds")


_NODE_RULES: dict[str, Callable[[Node], Classification]] = {
    "file_redirect": classify_redirect,
    "heredoc_redirect": _classify_here_document,
    "herestring_redirect": _classify_here_document,
    "variable_assignment": _classify_assignment,
    "array": _classify_array,
    "function_definition": lambda node: classify_function(text_of(node.child_by_field_name("name") or node)),
    "for_statement": _classify_loop,
    "declaration_command": _classify_declaration,
    "expansion": _classify_expansion,
    "arithmetic_expansion": _classify_arithmetic,
}
