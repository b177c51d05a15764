"""Command lines made by chance, and a bash that shows what each of them really starts."""

from __future__ import annotations

import os
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


def a_command_line(chance: Random) -> str:
    """Some pieces of shell, with or without space between them."""
    pieces = (chance.choice(_PIECES) for _ in range(chance.randint(1, 12)))
    return "".join(piece + (" " if chance.random() < 0.6 else "") for piece in pieces)


class Proof:
    """A folder in which a command is run, with a program `evil` that leaves a mark."""

    def __init__(self, place: Path) -> None:
        self._programs, self._folder, self._mark = place / "bin", place / "work", place / "mark"
        self._programs.mkdir()
        self._folder.mkdir()
        evil = self._programs / "evil"
        evil.write_text('#!/bin/sh\necho ran > "$MARK"\n')
        evil.chmod(0o755)
        for name in ("ls", "cat", "find", "true"):
            (self._programs / name).symlink_to("/bin/true")
        for name in ("xargs", "env"):
            (self._programs / name).symlink_to(f"/usr/bin/{name}")

    def changes_something(self, command: str) -> bool:
        """Whether bash starts `evil` or makes a file when it runs the command."""
        subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self._folder,
            env={"PATH": str(self._programs), "MARK": str(self._mark)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        return self._mark.exists() or bool(os.listdir(self._folder))
