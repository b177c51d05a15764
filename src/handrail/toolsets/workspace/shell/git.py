"""git: which of its commands only look."""

from __future__ import annotations

import re
from collections.abc import Callable

from handrail.toolsets.workspace.shell.rules import (
    SAFE,
    Classification,
    InnerCommand,
    dangerous,
    has_option,
    moderate,
    positionals,
)
from handrail.toolsets.workspace.shell.syntax import Word

_HARMLESS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--version"}
)
_OBEYED = ("-c", "--config-env", "--exec-path")
_READING_COMMANDS = frozenset(
    "status log diff show blame annotate shortlog describe rev-parse ls-files ls-tree cat-file rev-list "
    "name-rev for-each-ref show-ref show-branch whatchanged grep count-objects version "
    "diff-tree diff-index diff-files cherry range-diff merge-base check-ignore check-attr".split()
)
_STARTS = tuple(
    "--output --ext-diff --textconv --filters --open-files-in-pager --exec --upload-pack --show-signature "
    "--recurse-submodules --submodule".split()
)
_SIGNED = re.compile(r"%[-+ ]?G|%\(\*?signature|--s\w*[= ]\S*signature")
_PLAIN_SUBMODULES = frozenset({"--submodule", "--submodule=log", "--submodule=short"})
"""Without a program of its own for each of them."""
_LISTS = frozenset(
    "-a -r -v -vv -n -q --list --all --remotes --verbose --show-current --merged --no-merged --contains "
    "--no-contains --points-at --sort --format --column --no-column --color --no-color".split()
)
_TAKES = frozenset("--list --merged --no-merged --contains --no-contains --points-at -n".split())
_GETS = frozenset("--get --get-all --get-regexp --list -l get list".split())
_SCOPES = frozenset(
    "--local --global --system --worktree -z --null --all --name-only --show-origin --show-scope".split()
)
_DESTROYS = {
    "push": "it publishes, which cannot be taken back",
    "clean": "it deletes files that are not kept anywhere",
    "filter-branch": "it rewrites history",
    "filter-repo": "it rewrites history",
    "restore": "it throws changes away",
    "gc": "it drops what nothing refers to",
    "prune": "it drops what nothing refers to",
    "update-ref": "it moves references",
    "difftool": "it starts other programs",
    "mergetool": "it starts other programs",
    "send-email": "it publishes, which cannot be taken back",
    "daemon": "it serves the repository",
    "rm": "it deletes files",
}


def classify_git(args: list[Word], inner: InnerCommand) -> Classification:
    rest = list(args)
    while rest and rest[0].begins.startswith("-"):
        option = rest.pop(0)
        if option.begins.startswith(_OBEYED):
            return dangerous("such a setting may name a program to run", option.text)
        if option.value not in _HARMLESS:
            return moderate("it may obey the settings of another repository", option.text)
    if not rest:
        return SAFE
    verb, verb_args = rest[0].value, rest[1:]
    if verb is None:
        return dangerous("which command of git it is is only known when it runs")
    if (signed := _SIGNED.search(" ".join(word.value or "" for word in verb_args))) is not None:
        return moderate("it starts the program that checks signatures", signed[0])
    if verb in _READING_COMMANDS:
        return _classify_reading(verb, [word for word in verb_args if word.value not in _PLAIN_SUBMODULES])
    if verb in _LISTING_COMMANDS:
        return SAFE if _LISTING_COMMANDS[verb](verb_args) else _classify_change(verb, verb_args)
    return _classify_change(verb, verb_args)


def _classify_reading(verb: str, args: list[Word]) -> Classification:
    option = has_option(args, "O" if verb == "grep" else "", _STARTS)
    if option is not None:
        return moderate("an option may make git write or run something", option.text)
    return SAFE


def _classify_change(verb: str, args: list[Word]) -> Classification:
    values = {arg.value for arg in args}
    if verb in _DESTROYS:
        return dangerous(_DESTROYS[verb])
    if verb == "reset" and has_option(args, "", ("--hard", "--merge", "--keep")) is not None:
        return dangerous("it throws changes away")
    if verb in ("checkout", "switch"):
        if values & {".", "--", None} or has_option(args, "fB", ("--force", "--discard-changes")) is not None:
            return dangerous("it throws changes away")
        return moderate("it changes the files of the workspace")
    if verb == "branch" and has_option(args, "DdMf", ("--delete", "--force")) is not None:
        return dangerous("it deletes or overwrites a branch")
    if verb in ("stash", "reflog", "worktree", "remote", "tag", "notes") and (
        values & {"drop", "clear", "expire", "delete", "remove", "rm", "prune", "-d", "-f", "--delete"}
    ):
        return dangerous("it deletes what git keeps")
    if (verb == "submodule" and "foreach" in values) or (verb == "bisect" and "run" in values):
        return dangerous("it starts other programs")
    if verb == "rebase" and has_option(args, "x", ("--exec",)) is not None:
        return dangerous("it starts other programs")
    return moderate(f"git {verb} may change the repository")


def _lists(args: list[Word], is_listing: bool = False) -> bool:
    """Of `branch` and `tag`: names are only looked for, none is made."""
    names = {_option(arg) for arg in args if arg.begins.startswith("-")}
    if any(arg.may_be_option for arg in args) or names - _LISTS:
        return False
    return is_listing or not positionals(args) or bool(names & _TAKES)


def _option(arg: Word) -> str:
    name = (arg.value or "?").partition("=")[0]
    return "-n" if re.fullmatch(r"-n[0-9]+", name) else name


def _gets(args: list[Word]) -> bool:
    """Of `config`: a setting is looked up, none is made."""
    rest = [arg.value or "" for arg in args if arg.value not in _SCOPES]
    is_unknown = any(arg.value is None for arg in args)
    if not rest or is_unknown or any(value.startswith("-") for value in rest[1:]):
        return False
    return rest[0] in _GETS or (len(rest) == 1 and rest[0][:1] != "-" and "." in rest[0])


def _first_in(*allowed: str | None) -> Callable[[list[Word]], bool]:
    def asks(args: list[Word]) -> bool:
        first = args[0].value or "?" if args else None
        return first in allowed and has_option(args, "", _STARTS) is None

    return asks


_LISTING_COMMANDS: dict[str, Callable[[list[Word]], bool]] = {
    "branch": _lists,
    "tag": lambda args: _lists(
        [arg for arg in args if arg.value != "-l"], any(arg.value == "-l" for arg in args)
    ),
    "config": _gets,
    "stash": _first_in("list", "show"),
    "reflog": lambda args: _first_in(None, "show")(args) or _is_plain_reflog(args),
    "worktree": _first_in("list"),
    "remote": lambda args: (
        _first_in(None, "-v", "--verbose", "get-url")(args) and (len(args) < 2 or args[0].value == "get-url")
    ),
}


def _is_plain_reflog(args: list[Word]) -> bool:
    first = args[0].value or ""
    return re.fullmatch(r"HEAD.*|-[0-9]+|-n|--date=\w+", first) is not None and _first_in(first)(args)
