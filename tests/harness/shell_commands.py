"""Command lines made by chance, and a bash that shows what each of them really starts."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from random import Random

_PIECES = (
    *(
        "ls",
        "evil",
        "echo",
        "cat",
        "true",
        "evil",
        "find",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "$(",
        ")",
        "`",
        '"',
        "'",
        "\\",
    ),
    *(
        "\n",
        "#",
        " ",
        " ",
        " ",
        "<<EOF\n",
        "\nEOF\n",
        "<",
        ">",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "((",
        "))",
        "${x:-",
    ),
    *(
        "${x",
        "}",
        "$",
        "x=",
        "=",
        "!",
        "a",
        "-a",
        "-exec",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
    ),
    *(
        "esac",
        ";;",
        "f()",
        "(",
        "/dev/null",
        "<<<",
        "<(",
        "2>&1",
        "$'",
        "-f",
        "==",
        "~",
        "*",
        "time",
        "{a,b}",
    ),
    *(
        "xargs",
        "env",
        "\t",
        "<<'EOF'\n",
        "while",
        "2>",
        "&>",
        "$((",
        "-e",
        "EOF",
        "printf",
        "test",
        "set",
        "read",
    ),
)


def shell_commands(chance: Random) -> str:
    """Some pieces of shell, with or without space between them."""
    pieces = (chance.choice(_PIECES) for _ in range(chance.randint(1, 12)))
    return "".join(piece + (" " if chance.random() < 0.6 else "") for piece in pieces)


_TEMPTING = (
    *(
        ("find .", "-delete"),
        ("find . -exec ls {} \\;", "-delete"),
        ("sort f", "-oout"),
        ("sort", "--output=out"),
    ),
    *(("git log", "--output=out"), ("git", "push"), ("git config --list", "--unset"), ("rg x", "--pre=evil")),
    *(("uniq f", "out"), ("sed -n p f", "-i"), ("date", "--set=x"), ("tree", "-oout"), ("env", "PATH=.")),
    *(
        ("find", "./$x"),
        ("sort", "./$x"),
        ("sort", '"./${x[@]}"'),
        ("git log", "HEAD$x"),
        ("rg x", "./$(echo $x)"),
    ),
)
_NOISE = (
    *(
        '""',
        "''",
        "\\\n",
        " \\\n",
        "\\",
        "{",
        "}",
        ",",
        "{x,",
        ",x}",
        "{,}",
        "[",
        "]",
        "[-]",
        "*",
        "?",
        "$x",
        '"$x"',
    ),
    *(
        "$''",
        "$(true)",
        "`true`",
        " ",
        '"',
        "'",
        "#",
        " #",
        "~",
        "<<<",
        " <<EOF\n",
        "\nEOF\n",
        ";",
        "=",
        "!",
        "-",
    ),
)


_LISTS = tuple(
    f"x={words}; "
    for words in ("'f -delete -oout --output=out'", "(f -delete -oout --output=out --pre=evil)")
)
"""A variable of several words, of which only the first is what it seems."""


def disguised_commands(chance: Random) -> str:
    """A program that reads, with an argument that makes it do more, written in a way that may hide it."""
    program, tempting = chance.choice(_TEMPTING)
    for _ in range(chance.randint(0, 4)):
        at = chance.randint(0, len(tempting))
        tempting = tempting[:at] + chance.choice(_NOISE) + tempting[at:]
    before = chance.choice(("", "x=';'; ", "x=-; ", *_LISTS, "touch() { ls; }; ", "set -f; ", "true && "))
    between = chance.choice((" ", " ", chance.choice(_NOISE)))
    return f"{before}{program}{between}{tempting}"


class BashProbe:
    """A folder in which a command is run, with a program `evil` that leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self._programs, self._folder, self._mark = folder / "bin", folder / "work", folder / "mark"
        self._log = folder / "log"
        self._programs.mkdir()
        self._folder.mkdir()
        evil = self._programs / "evil"
        evil.write_text('#!/bin/sh\necho ran > "$MARK"\n')
        evil.chmod(0o755)
        for name in ("ls", "cat", "find", "true"):
            (self._programs / name).symlink_to("/bin/true")
        for name in ("xargs", "env"):
            (self._programs / name).symlink_to(f"/usr/bin/{name}")

    def starts(self, command: str) -> list[list[str]]:
        """Every program that bash starts when it runs the command, with its arguments."""
        for name in ("ls", "find", "sort", "git", "rg", "uniq", "sed", "date", "tree", "evil"):
            program = self._programs / name
            if program.is_symlink() or not program.exists() or name == "evil":
                program.unlink(missing_ok=True)
                program.write_text('#!/bin/dash\nprintf "%s\\0" "${0##*/}" "$@" "\n" >> "$LOG"\n')
                program.chmod(0o755)
        self._log.write_bytes(b"")
        self._run(command)
        logged = self._log.read_text().split("\0\n\0")[:-1]
        return [one.split("\0") for one in logged]

    def changes_something(self, command: str) -> bool:
        """Whether bash starts `evil` or makes a file when it runs the command."""
        self._mark.unlink(missing_ok=True)
        shutil.rmtree(self._folder)
        self._folder.mkdir()
        self._run(command)
        return self._mark.exists() or bool(os.listdir(self._folder))

    def _run(self, command: str) -> None:
        subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self._folder,
            env={"PATH": str(self._programs), "MARK": str(self._mark), "LOG": str(self._log)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
