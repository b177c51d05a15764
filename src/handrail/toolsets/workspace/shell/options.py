"""Options: looking for arguments that turn a reading program into another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def positionals(args: Iterable[Word]) -> list[Word]:
    """Arguments that do not look like options; values of options are among them."""
    return [arg for arg in args if not arg.begins.startswith("-") or arg.value == "-"]


def anything(args: list[Word], inner: Inner) -> Judgement:
    """The rule of programs that only read, whatever they are given."""
    return SAFE


def without(short: str = "", *long: str, most: int | None = None) -> Rule:
    """The rule of programs that only read without these options, and with at most so many other arguments."""

    def rule(args: list[Word], inner: Inner) -> Judgement:
        if (found := has_option(args, short, long)) is not None:
            return moderate("an option may make it write or run something", found.text)
        others = positionals(args)
        if most is not None and (len(others) > most or any(arg.value is None for arg in others)):
            return moderate("it may write to its second argument")
        return SAFE

    return rule


def only(*allowed: str) -> Rule:
    """The rule of programs that only read when every argument is one of these."""

    def rule(args: list[Word], inner: Inner) -> Judgement:
        for arg in args:
            if arg.value not in allowed:
                return moderate("it may do more than read", arg.text)
        return SAFE

    return rule
