"""Options: looking for arguments that turn a reading program into another one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, moderate
from handrail.toolsets.workspace.shell.words import Word


@dataclass(frozen=True, slots=True)
class Inner:
    """How a rule has the command judged that its program will start."""

    words: Callable[[list[Word]], Judgement]
    text: Callable[[str], Judgement]


Rule = Callable[[list[Word], Inner], Judgement]
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
            if len(name) > 2 and any(one.startswith(name) for one in long):
                return arg
        elif text.startswith("-") and any(letter in text for letter in short):
            return arg
    return None


def positionals(args: Iterable[Word], numbered: Collection[str] = ()) -> list[Word]:
    """Arguments that are or bring more than options; values of options are among them.

    Numbers right behind one of the options in `numbered` are not.
    """
    found: list[Word] = []
    ended = False
    before: str | None = None
    for arg in args:
        is_option = arg.begins.startswith("-") and arg.value != "-" and not arg.splits
        is_number = before in numbered and (arg.value or "").isdigit()
        if ended or not (is_option or is_number):
            found.append(arg)
        ended = ended or arg.value == "--" or (arg.value is None and "--".startswith(arg.begins))
        before = arg.value
    return found


def anything(args: list[Word], inner: Inner) -> Judgement:
    """The rule of programs that only read, whatever they are given."""
    return SAFE


def without(short: str = "", *long: str, most: int | None = None, numbered: Collection[str] = ()) -> Rule:
    """The rule of programs that only read without these options, and with at most so many other arguments."""

    def rule(args: list[Word], inner: Inner) -> Judgement:
        if (found := has_option(args, short, long)) is not None:
            return moderate("an option may make it write or run something", found.text)
        others = positionals(args, numbered)
        if most is not None and (len(others) > most or any(arg.value is None for arg in others)):
            return moderate("it may write to its second argument")
        return SAFE

    return rule


def only_names(args: list[Word], inner: Inner) -> Judgement:
    """The rule of programs that only read what they are given by name, without options."""
    for arg in args:
        if arg.may_be_option or (arg.begins.startswith("-") and arg.value != "-"):
            return moderate("it may do more than read", arg.text)
    return SAFE


def only(*allowed: str) -> Rule:
    """The rule of programs that only read when every argument is one of these."""

    def rule(args: list[Word], inner: Inner) -> Judgement:
        for arg in args:
            if arg.value not in allowed:
                return moderate("it may do more than read", arg.text)
        return SAFE

    return rule
