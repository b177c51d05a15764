"""Rules: the danger of a command, and what all rules share: options, write targets, variables."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from handrail.toolsets.workspace.shell.syntax import Word, read_word, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Danger = Literal["safe", "moderate", "dangerous"]
_ORDER: tuple[Danger, ...] = ("safe", "moderate", "dangerous")
_MAX_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Classification:
    """A danger, the reason in words, and the part of the command that decided."""

    danger: Danger
    why: str
    part: str = ""

    @property
    def is_safe(self) -> bool:
        return self.danger == "safe"

    def sentence(self) -> str:
        """The reason with the part it speaks of."""
        return f"{self.why}: `{self.part}`" if self.part else self.why

    def within(self, part: str) -> Classification:
        """The same, said of this part unless it already names one."""
        return self if self.part else Classification(self.danger, self.why, shorten_part(part))


SAFE = Classification("safe", "it only reads")


def moderate(why: str, part: str = "") -> Classification:
    return Classification("moderate", why, shorten_part(part))


def dangerous(why: str, part: str = "") -> Classification:
    return Classification("dangerous", why, shorten_part(part))


def most_dangerous(some: Iterable[Classification]) -> Classification:
    """The most dangerous of them; among equals the first. Nothing at all is safe."""
    return max(some, key=lambda judgement: _ORDER.index(judgement.danger), default=SAFE)


def shorten_part(part: str) -> str:
    """A part short enough for a sentence."""
    line = " ".join(part.split())
    return line if len(line) <= _MAX_SHOWN else f"{line[: _MAX_SHOWN - 1]}…"


@dataclass(frozen=True, slots=True)
class InnerCommand:
    """How a rule has the command judged that its program will start."""

    words: Callable[[list[Word]], Classification]
    text: Callable[[str], Classification]


ProgramRule = Callable[[list[Word], InnerCommand], Classification]
"""Judges the arguments of one program."""


def has_option(args: Iterable[Word], short: str = "", long: Iterable[str] = ()) -> Word | None:
    """An argument that is, or may turn out to be, one of these options, however shortened or bundled.

    Also looks behind `--`, which may be the value of another option.
    """
    for arg in args:
        if arg.may_be_option:
            return arg
        text = arg.begins
        if text.startswith("--"):
            name = text.partition("=")[0]
            if len(name) > 2 and any(option.startswith(name) for option in long):
                return arg
        elif text.startswith("-") and any(letter in text for letter in short):
            return arg
    return None


def positionals(args: Iterable[Word], numbered: Collection[str] = ()) -> list[Word]:
    """Arguments that are or bring more than options; values of options are among them.

    Numbers right behind one of the options in `numbered` are not.
    """
    others: list[Word] = []
    ended = False
    before: str | None = None
    for arg in args:
        is_option = arg.begins.startswith("-") and arg.value != "-" and not arg.splits
        is_number = before in numbered and (arg.value or "").isdigit()
        if ended or not (is_option or is_number):
            others.append(arg)
        ended = ended or arg.value == "--" or (arg.value is None and "--".startswith(arg.begins))
        before = arg.value
    return others


def always(judgement: Classification) -> ProgramRule:
    """The rule of programs that do the same whatever they are given."""
    return lambda args, inner: judgement


def without_options(
    short: str = "", *long: str, most: int | None = None, numbered: Collection[str] = ()
) -> ProgramRule:
    """The rule of programs that only read without these options, and with at most so many other arguments."""

    def rule(args: list[Word], inner: InnerCommand) -> Classification:
        if (option := has_option(args, short, long)) is not None:
            return moderate("an option may make it write or run something", option.text)
        others = positionals(args, numbered)
        if most is not None and (len(others) > most or any(arg.value is None for arg in others)):
            return moderate("it may write to its second argument")
        return SAFE

    return rule


def only_plain_arguments(args: list[Word], inner: InnerCommand) -> Classification:
    """The rule of programs that only read what they are given by name, without options."""
    for arg in args:
        if arg.may_be_option or (arg.begins.startswith("-") and arg.value != "-"):
            return moderate("it may do more than read", arg.text)
    return SAFE


def only_arguments(*allowed: str) -> ProgramRule:
    """The rule of programs that only read when every argument is one of these."""

    def rule(args: list[Word], inner: InnerCommand) -> Classification:
        for arg in args:
            if arg.value not in allowed:
                return moderate("it may do more than read", arg.text)
        return SAFE

    return rule


_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/zero"})

_OBEYED_VARIABLES = re.compile(
    r"(?:LD_|DYLD_|GIT_|BASH|PYTHON|PERL|RUBY|NODE_|JAVA_|JDK_|MALLOC_|GCONV_|LESS|MAN|PROMPT_|PS[0-4]$|"
    r"TAR_|RIPGREP_|GREP_|XDG_|SSH_|SUDO_|GLIBC_|NIX_)|.*(?:PATH|PAGER|EDITOR|SHELL|OPTS|OPTIONS|PRELOAD)$|"
    r"(?:IFS|ENV|HOME|VISUAL|BROWSER|POSIXLY_CORRECT|CDPATH|GLOBIGNORE|EXECIGNORE|HISTFILE|TMPDIR)$"
)
_HARMLESS_VARIABLES = re.compile(
    r"[a-z_][a-z0-9_]*|LANG|LC_[A-Z]+|TZ|TERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|CI"
)


def classify_variable(name: str) -> Classification:
    """What giving a variable of this name a value may do to the programs that follow."""
    if _OBEYED_VARIABLES.match(name):
        return dangerous("programs obey this variable")
    if _HARMLESS_VARIABLES.fullmatch(name):
        return SAFE
    return moderate("a program may obey this variable")


def classify_write(word: Word) -> Classification:
    """What writing there does."""
    value = word.value
    if value is None:
        return dangerous("where it writes is only known when it runs", word.text)
    if value in _NOWHERE:
        return SAFE
    path = posixpath.normpath(value)
    parts = path.split("/")
    if parts[0] == ".." or (path.startswith("/") and not path.startswith("/tmp/")):
        return dangerous("it writes outside the workspace", word.text)
    if any(part.casefold() in (".git", ".handrail") for part in parts):
        return dangerous("it writes to what the workspace protects", word.text)
    return moderate("it writes a file", word.text)


def classify_redirect(node: Node) -> Classification:
    operator = next((text_of(child) for child in node.children if not child.is_named), "")
    goals = [child for child in node.named_children if child.type != "file_descriptor"]
    if not goals:
        return SAFE if operator.endswith("-") else dangerous("it cannot be read with certainty")
    if sum(child.type != "file_descriptor" for child in node.children) > 2:
        # the tree takes arguments that follow a redirection for a part of it
        return dangerous("arguments follow a redirection; write redirections last")
    first = read_word(goals[0])
    if operator in (">&", "<&") and goals[0].type in ("number", "word") and _is_descriptor(first.value):
        return SAFE
    if goals[0].type == "process_substitution":
        return SAFE
    if operator == "<":
        if first.begins.startswith(("/dev/tcp", "/dev/udp")):
            return dangerous("it opens a connection")
        if first.value is None:
            return moderate("what it reads is only known when it runs", first.text)
        return SAFE
    return classify_write(first)


def _is_descriptor(value: str | None) -> bool:
    return value is not None and (value == "-" or (value.isascii() and value.rstrip("-").isdigit()))
