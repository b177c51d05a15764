"""sed and awk: small languages that mostly read. Only programs that are seen to read are safe."""

from __future__ import annotations

import re

from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, moderate, strictest
from handrail.toolsets.workspace.shell.options import Inner, has_option
from handrail.toolsets.workspace.shell.words import Word, plain

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


def judge_sed(args: list[Word], inner: Inner) -> Judgement:
    if has_option((arg for arg in args if arg.begins.startswith("-")), "i", ("--in-place",)) is not None:
        return moderate("it edits files in place")
    scripts: list[Word] = []
    others: list[Word] = []
    waiting = iter(args)
    for arg in waiting:
        if arg.value == "--expression" or _SED_SCRIPT.fullmatch(arg.value or ""):
            scripts += [next(waiting, arg)]
        elif arg.value is not None and arg.value.startswith("--expression="):
            scripts += [plain(arg.value.partition("=")[2])]
        elif arg.may_be_option or (arg.begins.startswith("-") and arg.value not in _SED_SWITCHES):
            return moderate("an option may make it write or run something", arg.text)
        else:
            others.append(arg)
    others = [arg for arg in others if arg.value not in _SED_SWITCHES]
    if not scripts:
        scripts = others[:1]
    return strictest(map(_judge_script, scripts))


def _judge_script(script: Word) -> Judgement:
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
        if (found := _PLAIN.match(script, at)) is not None:
            at = found.end()
        elif (found := _REPLACE.match(script, at)) is not None:
            end = _after_parts(script, found.end(), found[2])
            if end is None:
                return False
            at = _end(_FLAGS, script, end) if found[1] == "s" else end
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
    found = pattern.match(text, at)
    return at if found is None else found.end()


def judge_awk(args: list[Word], inner: Inner) -> Judgement:
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
            return _judge_awk_program(arg.value, list(waiting))
    return moderate("it has no program")


def _judge_awk_program(program: str, files: list[Word]) -> Judgement:
    seen = program if set(program) & set("/#\\") else _AWK_TEXT.sub('""', program)
    printing = seen.partition("print")[2]
    if _AWK_HARM.search(seen) or _AWK_SENDS.search(printing):
        return moderate("its program may write files or run commands", program)
    if any(arg.begins.startswith("/inet") for arg in files):
        return moderate("it opens a connection")
    if any(arg.may_be_option for arg in files):
        return moderate("an argument may turn out to be an option")
    return SAFE
