"""Rules of programs that read unless an argument says otherwise; sed and awk among them."""

from __future__ import annotations

import re

from handrail.toolsets.workspace.shell.rules import (
    SAFE,
    Classification,
    InnerCommand,
    ProgramRule,
    dangerous,
    has_option,
    moderate,
    most_dangerous,
    only_arguments,
    only_plain_arguments,
    positionals,
    without_options,
)
from handrail.toolsets.workspace.shell.syntax import UNKNOWN_WORD, Word, literal_word

_SED_SWITCHES = frozenset(
    "-n -E -r -s -u -z -nE -En -nr --quiet --silent --regexp-extended --separate --null-data --posix".split()
)
_SED_SCRIPT = re.compile(r"-[nErsuz]*e")
_SPACE = re.compile(r"[\s;{}]*")
_ADDRESS = re.compile(r"[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|[+~][0-9]+")
_PLAIN = re.compile(r"[pPdDnNgGhHxl=zF]|[qQ][0-9]*")
_REPLACE = re.compile(r"([sy])([^\w\s\\])")
_FLAGS = re.compile(r"[gpiIMm0-9]*")
_AWK_HARM = re.compile(r"system|getline|@")

_AWK_SENDS = re.compile(r">|(?<!\|)\|(?!\|)")
"""Only what is printed can be sent elsewhere, and only behind the word."""
_AWK_ATTACHED = re.compile(r"-F.|-v[A-Za-z_]\w*=", re.DOTALL)
_AWK_TEXT = re.compile(r'"[^"]*"')


def classify_sed(args: list[Word], inner: InnerCommand) -> Classification:
    if has_option((arg for arg in args if arg.begins.startswith("-")), "i", ("--in-place",)) is not None:
        return moderate("it edits files in place")
    scripts: list[Word] = []
    others: list[Word] = []
    waiting = iter(args)
    for arg in waiting:
        if arg.value == "--expression" or _SED_SCRIPT.fullmatch(arg.value or ""):
            scripts += [next(waiting, arg)]
        elif arg.value is not None and arg.value.startswith("--expression="):
            scripts += [literal_word(arg.value.partition("=")[2])]
        elif arg.may_be_option or (arg.begins.startswith("-") and arg.value not in _SED_SWITCHES):
            return moderate("an option may make it write or run something", arg.text)
        elif arg.value not in _SED_SWITCHES:
            others.append(arg)
    return most_dangerous(map(_classify_sed_script, scripts or others[:1]))


def _classify_sed_script(script: Word) -> Classification:
    if script.value is not None and _only_reads(script.value):
        return SAFE
    return moderate("its script may write files or run commands", script.text)


def _only_reads(script: str) -> bool:
    """Whether a sed script consists of nothing but commands that print, delete and replace text."""
    at = 0
    while True:
        at = _end(_SPACE, script, at)
        if at >= len(script):
            return True
        at = _after_addresses(script, at)
        if (match := _PLAIN.match(script, at)) is not None:
            at = match.end()
        elif (match := _REPLACE.match(script, at)) is not None:
            end = _after_parts(script, match.end(), match[2])
            if end is None:
                return False
            at = _end(_FLAGS, script, end) if match[1] == "s" else end
        elif script[at : at + 1] not in ("{", "}"):
            return False
        rest = script[_end(re.compile(r"[ \t]*"), script, at) :]
        if rest and rest[0] not in ";\n{}":
            return False


def _after_addresses(script: str, at: int) -> int:
    if (first := _ADDRESS.match(script, at)) is None:
        return at
    at = first.end()
    if script[at : at + 1] == "," and (second := _ADDRESS.match(script, at + 1)) is not None:
        at = second.end()
    return _end(re.compile(r"\s*!?\s*"), script, at)


def _after_parts(script: str, at: int, mark: str) -> int | None:
    """The end of the two parts of a replacement; None when they do not end."""
    for _ in range(2):
        while at < len(script) and script[at] != mark:
            at += 2 if script[at] == "\\" else 1
        if at >= len(script):
            return None
        at += 1
    return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


def classify_awk(args: list[Word], inner: InnerCommand) -> Classification:
    waiting = iter(args)
    for arg in waiting:
        if arg.value in ("-F", "-v"):
            if next(waiting, arg).value is None:
                return moderate("what it is given is only known when it runs", arg.text)
        elif arg.value is not None and _AWK_ATTACHED.match(arg.value):
            continue
        elif arg.value is None or arg.value.startswith("-"):
            return moderate("its program or an option is not known to only read", arg.text)
        else:
            return _classify_awk_program(arg.value, list(waiting))
    return moderate("it has no program")


def _classify_awk_program(program: str, files: list[Word]) -> Classification:
    seen = program if set(program) & set("/#\\") else _AWK_TEXT.sub('""', program)
    printing = seen.partition("print")[2]
    if _AWK_HARM.search(seen) or _AWK_SENDS.search(printing):
        return moderate("its program may write files or run commands", program)
    if any(arg.begins.startswith("/inet") for arg in files):
        return moderate("it opens a connection")
    if any(arg.may_be_option for arg in files):
        return moderate("an argument may turn out to be an option")
    return SAFE


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

NUMERIC_VARIABLES = frozenset({"$?", "$#", "$$", "$!"})
"""What the shell itself counts."""
_LISTING = re.compile(r"-?t[vzjJ]*f")


def classify_find(args: list[Word], inner: InnerCommand) -> Classification:
    """Looking is safe; what it starts for each file is judged like any command."""
    judgements = [dangerous("it deletes what it finds", arg.text) for arg in args if arg.value == "-delete"]
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg.may_be_option:
            judgements.append(moderate("an argument may turn out to be an action", arg.text))
        elif arg.value in _WRITES:
            judgements.append(moderate("it writes what it finds to a file", arg.text))
        elif arg.value in _STARTS:
            command, at = _until_end(args, at)
            if any(_may_end(word) for word in command):
                judgements.append(moderate("what is only known when it runs may end the command"))
            named = [UNKNOWN_WORD if word.value is None or "{}" in word.value else word for word in command]
            judgements.append(
                inner.words(named) if named else dangerous("it starts nothing that can be read")
            )
    return most_dangerous(judgements)


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


def _classify_date(args: list[Word], inner: InnerCommand) -> Classification:
    if has_option((arg for arg in args if not _ISO.fullmatch(arg.value or "")), "s", ("--set",)) is not None:
        return moderate("it may set the clock")
    before = ""
    for arg in args:
        if not arg.begins.startswith(("-", "+")) and before not in ("-d", "-r", "--date", "--reference"):
            return moderate("it may set the clock", arg.text)
        before = arg.value or ""
    return SAFE


def _classify_xxd(args: list[Word], inner: InnerCommand) -> Classification:
    names = positionals(args, ("-c", "-g", "-l", "-o", "-s"))
    if has_option(args, "rn") is not None or len(names) > 1 or any(arg.value is None for arg in names):
        return moderate("it may write a file")
    return SAFE


def _classify_set(args: list[Word], inner: InnerCommand) -> Classification:
    before = ""
    for arg in args:
        value = arg.value or ""
        if not (_SET.fullmatch(value) or (before[-1:] == "o" and value in _SET_NAMES)):
            return moderate("it changes how the shell reads commands", arg.text)
        before = value
    return SAFE


def _classify_read(args: list[Word], inner: InnerCommand) -> Classification:
    """Into plain variables only: an index may run what it holds."""
    for arg in args:
        if arg.value not in ("-r", "-t") and _NAME.fullmatch(arg.value or "") is None:
            return moderate("what it fills is not a plain variable", arg.text)
    return SAFE


def classify_test(args: list[Word], inner: InnerCommand) -> Classification:
    """`-v` runs what an index behind it holds, so nothing but an operator may follow what may become `-v`."""
    for arg, after in zip(args, [*args[1:], None], strict=False):
        if arg.value in ("-v", "-R"):
            return moderate("this test may run what an index holds", arg.text)
        if arg.value is not None or arg.text in NUMERIC_VARIABLES:
            continue
        is_followed = after is not None and after.value not in _OPERATORS
        if is_followed or (arg.may_be_option and not _is_quoted(arg)):
            return moderate("a value may become part of the test", arg.text)
    return SAFE


def _is_quoted(word: Word) -> bool:
    """Whether all of it stands in one pair of quotes, and stays one word."""
    is_single = len(word.text) > 1 and word.text[0] == word.text[-1] == '"' and word.text.count('"') == 2
    return is_single and not word.splits


def _classify_printf(args: list[Word], inner: InnerCommand) -> Classification:
    """Its first argument alone may be an option."""
    if has_option(args[:1], "v") is not None:
        return moderate("it may fill a variable that programs obey", args[0].text)
    if len(args) > 1 and (args[0].value is None or _COUNTS.search(args[0].value)):
        return moderate("its format may fill a variable that programs obey", args[0].text)
    return SAFE


def _classify_tar(args: list[Word], inner: InnerCommand) -> Classification:
    listing = len(args) == 2 and _LISTING.fullmatch(args[0].value or "") is not None
    if listing and not args[1].begins.startswith("-") and ":" not in (args[1].value or ":"):
        return SAFE
    return moderate("it may write files or start programs")


def _classify_unzip(args: list[Word], inner: InnerCommand) -> Classification:
    if args and args[0].value in ("-l", "-v", "-Z1") and has_option(args[1:], "dojx") is None:
        return SAFE
    return moderate("it writes files")


def _classify_gzip(args: list[Word], inner: InnerCommand) -> Classification:
    if args and args[0].value in ("-l", "--list", "-lv", "-t", "--test"):
        return only_plain_arguments(args[1:], inner)
    return moderate("it writes files")


READING: dict[str, ProgramRule] = {
    "find": classify_find,
    "date": _classify_date,
    "xxd": _classify_xxd,
    "set": _classify_set,
    "shopt": only_arguments(*_SHOPT),
    **dict.fromkeys(("read", "mapfile", "readarray"), _classify_read),
    "test": classify_test,
    "tar": _classify_tar,
    "unzip": _classify_unzip,
    "gzip": _classify_gzip,
    **dict.fromkeys(("xzcat", "bzcat", "zipinfo", "getconf"), only_plain_arguments),
    "sort": without_options("oT", "--output", "--compress-program", "--temporary-directory", "--files0-from"),
    "shuf": without_options("o", "--output"),
    "uniq": without_options("", most=1, numbered=("-f", "-s", "-w")),
    "tree": without_options("oR", "--output"),
    "file": without_options("C", "--compile"),
    "iconv": without_options("o", "--output"),
    "printf": _classify_printf,
    "rg": without_options("", "--pre", "--hostname-bin"),
    **dict.fromkeys(("fd", "fdfind"), without_options("xX", "--exec", "--exec-batch")),
    "wait": without_options("p"),
    "hostname": without_options("Fb", "--file", "--boot", most=0),
}
