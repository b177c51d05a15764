"""Targets: where a redirection writes, and which variables other programs obey."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, dangerous, moderate
from handrail.toolsets.workspace.shell.words import Word, read_word, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/zero"})
_OBEYED = re.compile(
    r"(?:LD_|DYLD_|GIT_|BASH|PYTHON|PERL|RUBY|NODE_|JAVA_|JDK_|MALLOC_|GCONV_|LESS|MAN|PROMPT_|PS[0-4]$|"
    r"TAR_|RIPGREP_|GREP_|XDG_|SSH_|SUDO_|GLIBC_|NIX_)|.*(?:PATH|PAGER|EDITOR|SHELL|OPTS|OPTIONS|PRELOAD)$|"
    r"(?:IFS|ENV|HOME|VISUAL|BROWSER|POSIXLY_CORRECT|CDPATH|GLOBIGNORE|EXECIGNORE|HISTFILE|TMPDIR)$"
)
_HARMLESS = re.compile(r"[a-z_][a-z0-9_]*|LANG|LC_[A-Z]+|TZ|TERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|CI")


def judge_name(name: str) -> Judgement:
    """What giving a variable of this name a value may do to the programs that follow."""
    if _OBEYED.match(name):
        return dangerous("programs obey this variable")
    if _HARMLESS.fullmatch(name):
        return SAFE
    return moderate("a program may obey this variable")


def judge_target(word: Word) -> Judgement:
    """What writing there does."""
    value = word.value
    if value is None:
        return dangerous("where it writes is only known when it runs", word.text)
    if value in _NOWHERE:
        return SAFE
    path = posixpath.normpath(value)
    if path.startswith("/") and not path.startswith("/tmp/"):
        return dangerous("it writes outside the workspace", word.text)
    if path == ".." or path.startswith("../"):
        return dangerous("it writes outside the workspace", word.text)
    if any(part.casefold() in (".git", ".handrail") for part in path.split("/")):
        return dangerous("it writes to what the workspace protects", word.text)
    return moderate("it writes a file", word.text)


def judge_redirect(node: Node) -> Judgement:
    operator = next((text_of(one) for one in node.children if not one.is_named), "")
    goals = [one for one in node.named_children if one.type != "file_descriptor"]
    if not goals:
        return SAFE if operator.endswith("-") else dangerous("it cannot be read with certainty")
    if sum(one.type != "file_descriptor" for one in node.children) > 2:
        # the tree takes arguments that follow a redirection for a part of it
        return dangerous("arguments follow a redirection; write redirections last")
    first = read_word(goals[0])
    if operator in (">&", "<&") and goals[0].type in ("number", "word") and _is_descriptor(first.value):
        return SAFE
    if operator == "<":
        if goals[0].type == "process_substitution":
            return SAFE
        if first.begins.startswith(("/dev/tcp", "/dev/udp")):
            return dangerous("it opens a connection")
        if first.value is None:
            return moderate("what it reads is only known when it runs", first.text)
        return SAFE
    if goals[0].type == "process_substitution":
        return SAFE
    return judge_target(first)


def _is_descriptor(value: str | None) -> bool:
    return value is not None and (value == "-" or (value.isascii() and value.rstrip("-").isdigit()))
