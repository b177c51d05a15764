"""Rules of programs that read unless an argument says otherwise."""

from __future__ import annotations

import re

from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, dangerous, moderate, strictest
from handrail.toolsets.workspace.shell.options import (
    Inner,
    Rule,
    has_option,
    only,
    only_names,
    positionals,
    without,
)
from handrail.toolsets.workspace.shell.words import UNKNOWN, Word

_STARTS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ENDS = (";", "+", "{}")
_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SET = re.compile(r"[-+][euxEfvC]*o?")
_SET_NAMES = frozenset({"pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "verbose"})
_SHOPT = frozenset({"-s", "-u", "globstar", "nullglob", "dotglob", "nocaseglob", "failglob"})
_COUNTS = re.compile(r"%[^a-zA-Z%]*[hlLjzt]*n")
_ISO = re.compile(r"-I(?:date|hours|minutes|seconds|ns)")
_OPERATORS = frozenset("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o )".split())
NUMBERS = frozenset({"$?", "$#", "$$", "$!"})
"""What the shell itself counts."""
_LISTING = re.compile(r"-?t[vzjJ]*f")


def judge_find(args: list[Word], inner: Inner) -> Judgement:
    """Looking is safe; what it starts for each file is judged like any command."""
    said = [dangerous("it deletes what it finds", arg.text) for arg in args if arg.value == "-delete"]
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg.may_be_option:
            said.append(moderate("an argument may turn out to be an action", arg.text))
        elif arg.value in _WRITES:
            said.append(moderate("it writes what it finds to a file", arg.text))
        elif arg.value in _STARTS:
            command, at = _until_end(args, at)
            if any(_may_end(word) for word in command):
                said.append(moderate("what is only known when it runs may end the command"))
            named = [UNKNOWN if word.value is None or "{}" in word.value else word for word in command]
            said.append(inner.words(named) if named else dangerous("it starts nothing that can be read"))
    return strictest(said)


def _until_end(args: list[Word], at: int) -> tuple[list[Word], int]:
    """A command up to its `;`, or up to a `+` behind `{}`, and where find's own arguments go on."""
    command: list[Word] = []
    while at < len(args) and args[at].value != ";":
        if args[at].value == "+" and command and command[-1].value == "{}":
            break
        command.append(args[at])
        at += 1
    return command, at + 1


def _may_end(word: Word) -> bool:
    """Whether it may turn out to end the command, so that actions of find's own follow."""
    return word.value is None and (word.splits or any(end.startswith(word.begins) for end in _ENDS))


def _judge_date(args: list[Word], inner: Inner) -> Judgement:
    if has_option((arg for arg in args if not _ISO.fullmatch(arg.value or "")), "s", ("--set",)) is not None:
        return moderate("it may set the clock")
    before = ""
    for arg in args:
        if not arg.begins.startswith(("-", "+")) and before not in ("-d", "-r", "--date", "--reference"):
            return moderate("it may set the clock", arg.text)
        before = arg.value or ""
    return SAFE


def _judge_xxd(args: list[Word], inner: Inner) -> Judgement:
    names = positionals(args, ("-c", "-g", "-l", "-o", "-s"))
    if has_option(args, "rn") is not None or len(names) > 1 or any(arg.value is None for arg in names):
        return moderate("it may write a file")
    return SAFE


def _judge_set(args: list[Word], inner: Inner) -> Judgement:
    before = ""
    for arg in args:
        value = arg.value or ""
        if not (_SET.fullmatch(value) or _is_named(before, value)):
            return moderate("it changes how the shell reads commands", arg.text)
        before = value
    return SAFE


def _is_named(before: str, value: str) -> bool:
    return before[-1:] == "o" and value in _SET_NAMES


def _judge_read(args: list[Word], inner: Inner) -> Judgement:
    """Into plain variables only: an index may run what it holds."""
    for arg in args:
        if arg.value not in ("-r", "-t") and _NAME.fullmatch(arg.value or "") is None:
            return moderate("what it fills is not a plain variable", arg.text)
    return SAFE


def judge_test(args: list[Word], inner: Inner) -> Judgement:
    """`-v` runs what an index behind it holds, so nothing but an operator may follow what may become `-v`."""
    for arg, after in zip(args, [*args[1:], None], strict=False):
        if arg.value in ("-v", "-R"):
            return moderate("this test may run what an index holds", arg.text)
        if arg.value is not None or arg.text in NUMBERS:
            continue
        is_followed = after is not None and after.value not in _OPERATORS
        if is_followed or (arg.may_be_option and not _is_quoted(arg)):
            return moderate("a value may become part of the test", arg.text)
    return SAFE


def _is_quoted(word: Word) -> bool:
    """Whether all of it stands in one pair of quotes, and stays one word."""
    whole = len(word.text) > 1 and word.text[0] == word.text[-1] == '"' and word.text.count('"') == 2
    return whole and not word.splits


def _judge_printf(args: list[Word], inner: Inner) -> Judgement:
    """Its first argument alone may be an option."""
    if has_option(args[:1], "v") is not None:
        return moderate("it may fill a variable that programs obey", args[0].text)
    if len(args) > 1 and (args[0].value is None or _COUNTS.search(args[0].value)):
        return moderate("its format may fill a variable that programs obey", args[0].text)
    return SAFE


def _judge_tar(args: list[Word], inner: Inner) -> Judgement:
    listing = len(args) == 2 and _LISTING.fullmatch(args[0].value or "") is not None
    if listing and not args[1].begins.startswith("-") and ":" not in (args[1].value or ":"):
        return SAFE
    return moderate("it may write files or start programs")


def _judge_unzip(args: list[Word], inner: Inner) -> Judgement:
    if args and args[0].value in ("-l", "-v", "-Z1") and has_option(args[1:], "dojx") is None:
        return SAFE
    return moderate("it writes files")


def _judge_gzip(args: list[Word], inner: Inner) -> Judgement:
    if args and args[0].value in ("-l", "--list", "-lv", "-t", "--test"):
        return only_names(args[1:], inner)
    return moderate("it writes files")


RULES: dict[str, Rule] = {
    "find": judge_find,
    "date": _judge_date,
    "xxd": _judge_xxd,
    "set": _judge_set,
    "shopt": only(*_SHOPT),
    "read": _judge_read,
    "mapfile": _judge_read,
    "readarray": _judge_read,
    "test": judge_test,
    "tar": _judge_tar,
    "unzip": _judge_unzip,
    "gzip": _judge_gzip,
    **dict.fromkeys(("xzcat", "bzcat", "zipinfo", "getconf"), only_names),
    "sort": without("oT", "--output", "--compress-program", "--temporary-directory", "--files0-from"),
    "shuf": without("o", "--output"),
    "uniq": without("", most=1, numbered=("-f", "-s", "-w")),
    "tree": without("oR", "--output"),
    "file": without("C", "--compile"),
    "iconv": without("o", "--output"),
    "printf": _judge_printf,
    "rg": without("", "--pre", "--hostname-bin"),
    "fd": without("xX", "--exec", "--exec-batch"),
    "fdfind": without("xX", "--exec", "--exec-batch"),
    "wait": without("p"),
    "hostname": without("Fb", "--file", "--boot", most=0),
}
