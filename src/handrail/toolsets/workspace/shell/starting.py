"""Rules of programs that start others: what they start decides."""

from __future__ import annotations

import re
from collections.abc import Collection

from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, dangerous, moderate, strictest
from handrail.toolsets.workspace.shell.options import Inner, Rule
from handrail.toolsets.workspace.shell.targets import judge_name
from handrail.toolsets.workspace.shell.words import UNKNOWN, Word

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_SHELL_FLAGS = re.compile(r"-[eux]*c?[eux]*")
_BASH_ONLY = re.compile(r"\[\[|\(\(|\$['\"\[]|&>|<<<|[<>]\(|\|&|;&|\+=|\b(?:function|select|coproc|time)\b")
_UNSEEN = "it starts a program that is only known when it runs"
_DURATION = re.compile(r"[0-9.]+[smhd]?")


def starter(
    switches: Collection[str] = (), valued: Collection[str] = (), skip: int = 0, more: bool = False
) -> Rule:
    """The rule of a program that starts the command after its own options.

    `valued` options take the next word, `skip` words stand before the command, `more` says that it adds
    arguments that nobody has seen.
    """

    def rule(args: list[Word], inner: Inner) -> Judgement:
        rest = _after_options(args, switches, valued)
        if rest is None or any(word.value is None for word in rest[:skip]):
            return dangerous(_UNSEEN)
        command = rest[skip:]
        if not command:
            return SAFE if not rest else moderate("it starts nothing")
        return inner.words([*command, UNKNOWN] if more else command)

    return rule


def _after_options(args: list[Word], switches: Collection[str], valued: Collection[str]) -> list[Word] | None:
    """What follows the program's own options; None when one of them is not known."""
    rest = list(args)
    while rest and (rest[0].begins.startswith("-") or rest[0].may_be_option):
        value = rest.pop(0).value
        if value == "--":
            break
        if value is None:
            return None
        if value in valued:
            if not rest or rest.pop(0).value is None:
                return None
        elif value not in switches and not any(
            value.startswith(one if one[1] != "-" else f"{one}=") for one in valued
        ):
            return None
    return rest


def _judge_env(args: list[Word], inner: Inner) -> Judgement:
    rest = _after_options(args, ("-0", "--null"), ())
    if rest is None:
        return moderate("programs obey what it takes out of the environment")
    said = []
    while rest and (found := _ASSIGNMENT.match(rest[0].begins)) is not None:
        if rest[0].splits:
            return dangerous(_UNSEEN, rest[0].text)
        said.append(judge_name(found[1]).within(rest.pop(0).text))
    if rest:
        said.append(inner.words(rest))
    return strictest(said)


def _judge_shell(args: list[Word], inner: Inner) -> Judgement:
    """A string that it is given is read like the command itself."""
    rest = list(args)
    reads_text = False
    while rest and (value := rest[0].value) is not None and value.startswith(("-", "+")):
        rest.pop(0)
        if value == "-o":
            if not rest or rest.pop(0).value not in ("pipefail", "errexit", "nounset"):
                return dangerous("it starts a shell in a way that is not known")
        elif _SHELL_FLAGS.fullmatch(value) and value != "-":
            reads_text = reads_text or "c" in value
        else:
            return dangerous("it starts a shell in a way that is not known")
    if not rest:
        return dangerous("a shell runs whatever it is sent")
    if rest[0].value is None:
        return dangerous("a shell runs what is only known when it runs")
    return inner.text(rest[0].value) if reads_text else moderate("it runs a script")


def _judge_sh(args: list[Word], inner: Inner) -> Judgement:
    """What is judged is what bash would read, and other shells take some of it otherwise."""
    if any(_BASH_ONLY.search(arg.value or "") for arg in args):
        return moderate("sh may read this otherwise than bash does")
    return _judge_shell(args, inner)


def _judge_eval(args: list[Word], inner: Inner) -> Judgement:
    values = [arg.value for arg in args]
    if any(value is None for value in values):
        return dangerous("it runs what is only known when it runs")
    return inner.text(" ".join(value or "" for value in values))


def _judge_trap(args: list[Word], inner: Inner) -> Judgement:
    if not args or args[0].value in ("-", "-p", "-l"):
        return SAFE
    return inner.text(args[0].value) if args[0].value is not None else dangerous(_UNSEEN)


def _judge_command(args: list[Word], inner: Inner) -> Judgement:
    if args and args[0].value in ("-v", "-V"):
        return SAFE
    return starter(("-p",))(args, inner)


def _judge_timeout(args: list[Word], inner: Inner) -> Judgement:
    switches = ("--preserve-status", "--foreground", "-v", "--verbose")
    rest = _after_options(args, switches, ("-k", "-s", "--kill-after", "--signal"))
    if not rest or _DURATION.fullmatch(rest[0].value or "") is None:
        return dangerous(_UNSEEN)
    return inner.words(rest[1:]) if rest[1:] else moderate("it starts nothing")


def _judge_nice(args: list[Word], inner: Inner) -> Judgement:
    is_short = bool(args) and re.fullmatch(r"-[0-9]+", args[0].value or "") is not None
    return starter((), ("-n", "--adjustment"))(args[1:] if is_short else args, inner)


def _judge_xargs(args: list[Word], inner: Inner) -> Judgement:
    switches = ("-0", "-r", "-0r", "-r0", "-t", "--null", "--no-run-if-empty", "-x")
    valued = (
        "-n",
        "-P",
        "-L",
        "-I",
        "-d",
        "-s",
        "--max-args",
        "--max-procs",
        "--delimiter",
        "-E",
    )
    rest = _after_options(args, switches, valued)
    if rest is None:
        return dangerous(_UNSEEN)
    marks = _placeholders(args[: len(args) - len(rest)])
    named = [UNKNOWN if _is_filled(word, marks) else word for word in rest]
    return inner.words([*named, UNKNOWN]) if named else SAFE


def _placeholders(options: list[Word]) -> list[str]:
    """What xargs may put its input in the place of, anywhere in the command, even as the program."""
    values = [option.value or "" for option in options]
    following = [*values[1:], ""]
    return [value[2:] or after for value, after in zip(values, following, strict=False) if value[:2] == "-I"]


def _is_filled(word: Word, marks: list[str]) -> bool:
    """Whether it has a mark in it, or may turn out to have one."""
    return any(word.value is None or mark in word.value for mark in marks)


def _judge_exec(args: list[Word], inner: Inner) -> Judgement:
    return inner.words(args) if args and not args[0].begins.startswith("-") else _nothing(args)


def _nothing(args: list[Word]) -> Judgement:
    return dangerous(_UNSEEN) if args else SAFE


def _judge_source(args: list[Word], inner: Inner) -> Judgement:
    if not args or args[0].value is None:
        return dangerous(_UNSEEN)
    return moderate("it runs a script")


def _judge_other_shell(args: list[Word], inner: Inner) -> Judgement:
    return dangerous("it starts a shell in a way that is not known")


RULES: dict[str, Rule] = {
    "bash": _judge_shell,
    **dict.fromkeys(("sh", "dash"), _judge_sh),
    **dict.fromkeys("zsh ksh mksh fish csh tcsh ash rbash busybox toybox pwsh".split(), _judge_other_shell),
    "eval": _judge_eval,
    "trap": _judge_trap,
    "command": _judge_command,
    "builtin": _judge_exec,
    "exec": _judge_exec,
    "source": _judge_source,
    ".": _judge_source,
    "env": _judge_env,
    "timeout": _judge_timeout,
    "xargs": _judge_xargs,
    "nice": _judge_nice,
    "nohup": starter(),
    "time": starter(("-p",)),
    "setsid": starter(("-w", "--wait", "-f", "--fork")),
    "stdbuf": starter((), ("-i", "-o", "-e", "--input", "--output", "--error")),
    "ionice": starter(("-t",), ("-c", "-n")),
}
