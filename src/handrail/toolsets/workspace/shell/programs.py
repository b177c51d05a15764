"""Programs: which only read, which start others, which can do harm, by name and arguments."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from handrail.toolsets.workspace.shell.git import classify_git
from handrail.toolsets.workspace.shell.reader_programs import READING, classify_awk, classify_sed
from handrail.toolsets.workspace.shell.rules import (
    SAFE,
    Classification,
    InnerCommand,
    ProgramRule,
    always,
    classify_variable,
    classify_write,
    dangerous,
    has_option,
    moderate,
    most_dangerous,
    positionals,
)
from handrail.toolsets.workspace.shell.syntax import UNKNOWN_WORD, Word

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_SHELL_FLAGS = re.compile(r"-[eux]*c?[eux]*")
_BASH_ONLY = re.compile(r"\[\[|\(\(|\$['\"\[]|&>|<<<|[<>]\(|\|&|;&|\+=|\b(?:function|select|coproc|time)\b")
_UNSEEN = "it starts a program that is only known when it runs"
_UNKNOWN_SHELL = "it starts a shell in a way that is not known"
_DURATION = re.compile(r"[0-9.]+[smhd]?")


def launcher(
    switches: Collection[str] = (), valued: Collection[str] = (), skip: int = 0, more: bool = False
) -> ProgramRule:
    """The rule of a program that starts the command after its own options.

    `valued` options take the next word, `skip` words stand before the command, `more` says that it adds
    arguments that nobody has seen.
    """

    def rule(args: list[Word], inner: InnerCommand) -> Classification:
        rest = _after_options(args, switches, valued)
        if rest is None or any(word.value is None for word in rest[:skip]):
            return dangerous(_UNSEEN)
        command = rest[skip:]
        if not command:
            return SAFE if not rest else moderate("it starts nothing")
        return inner.words([*command, UNKNOWN_WORD] if more else command)

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
            value.startswith(option if option[1] != "-" else f"{option}=") for option in valued
        ):
            return None
    return rest


def _classify_env(args: list[Word], inner: InnerCommand) -> Classification:
    rest = _after_options(args, ("-0", "--null"), ())
    if rest is None:
        return moderate("programs obey what it takes out of the environment")
    judgements = []
    while rest and (assignment := _ASSIGNMENT.match(rest[0].begins)) is not None:
        if rest[0].splits:
            return dangerous(_UNSEEN, rest[0].text)
        judgements.append(classify_variable(assignment[1]).within(rest.pop(0).text))
    if rest:
        judgements.append(inner.words(rest))
    return most_dangerous(judgements)


def _classify_shell(args: list[Word], inner: InnerCommand) -> Classification:
    """A string that it is given is read like the command itself."""
    rest = list(args)
    reads_text = False
    while rest and (value := rest[0].value) is not None and value.startswith(("-", "+")):
        rest.pop(0)
        if value == "-o":
            if not rest or rest.pop(0).value not in ("pipefail", "errexit", "nounset"):
                return dangerous(_UNKNOWN_SHELL)
        elif _SHELL_FLAGS.fullmatch(value) and value != "-":
            reads_text = reads_text or "c" in value
        else:
            return dangerous(_UNKNOWN_SHELL)
    if not rest:
        return dangerous("a shell runs whatever it is sent")
    if rest[0].value is None:
        return dangerous("a shell runs what is only known when it runs")
    return inner.text(rest[0].value) if reads_text else moderate("it runs a script")


def _classify_sh(args: list[Word], inner: InnerCommand) -> Classification:
    """What is judged is what bash would read, and other shells take some of it otherwise."""
    if any(_BASH_ONLY.search(arg.value or "") for arg in args):
        return moderate("sh may read this otherwise than bash does")
    return _classify_shell(args, inner)


def _classify_eval(args: list[Word], inner: InnerCommand) -> Classification:
    if any(arg.value is None for arg in args):
        return dangerous("it runs what is only known when it runs")
    return inner.text(" ".join(arg.value or "" for arg in args))


def _classify_trap(args: list[Word], inner: InnerCommand) -> Classification:
    if not args or args[0].value in ("-", "-p", "-l"):
        return SAFE
    return inner.text(args[0].value) if args[0].value is not None else dangerous(_UNSEEN)


def _classify_command(args: list[Word], inner: InnerCommand) -> Classification:
    if args and args[0].value in ("-v", "-V"):
        return SAFE
    return launcher(("-p",))(args, inner)


def _classify_timeout(args: list[Word], inner: InnerCommand) -> Classification:
    switches = ("--preserve-status", "--foreground", "-v", "--verbose")
    rest = _after_options(args, switches, ("-k", "-s", "--kill-after", "--signal"))
    if not rest or _DURATION.fullmatch(rest[0].value or "") is None:
        return dangerous(_UNSEEN)
    return inner.words(rest[1:]) if rest[1:] else moderate("it starts nothing")


def _classify_nice(args: list[Word], inner: InnerCommand) -> Classification:
    is_short = bool(args) and re.fullmatch(r"-[0-9]+", args[0].value or "") is not None
    return launcher((), ("-n", "--adjustment"))(args[1:] if is_short else args, inner)


def _classify_xargs(args: list[Word], inner: InnerCommand) -> Classification:
    switches = ("-0", "-r", "-0r", "-r0", "-t", "--null", "--no-run-if-empty", "-x")
    valued = ("-n", "-P", "-L", "-I", "-d", "-s", "--max-args", "--max-procs", "--delimiter", "-E")
    rest = _after_options(args, switches, valued)
    if rest is None:
        return dangerous(_UNSEEN)
    marks = _placeholders(args[: len(args) - len(rest)])
    named = [UNKNOWN_WORD if _is_filled(word, marks) else word for word in rest]
    return inner.words([*named, UNKNOWN_WORD]) if named else SAFE


def _placeholders(options: list[Word]) -> list[str]:
    """What xargs may put its input in the place of, anywhere in the command, even as the program."""
    values = [option.value or "" for option in options]
    return [value[2:] or after for value, after in pairwise([*values, ""]) if value[:2] == "-I"]


def _is_filled(word: Word, marks: list[str]) -> bool:
    """Whether it has a mark in it, or may turn out to have one."""
    return any(word.value is None or mark in word.value for mark in marks)


def _classify_exec(args: list[Word], inner: InnerCommand) -> Classification:
    if not args:
        return SAFE
    return dangerous(_UNSEEN) if args[0].begins.startswith("-") else inner.words(args)


def _classify_source(args: list[Word], inner: InnerCommand) -> Classification:
    if not args or args[0].value is None:
        return dangerous(_UNSEEN)
    return moderate("it runs a script")


STARTING: dict[str, ProgramRule] = {
    "bash": _classify_shell,
    **dict.fromkeys(("sh", "dash"), _classify_sh),
    **dict.fromkeys(
        "zsh ksh mksh fish csh tcsh ash rbash busybox toybox pwsh".split(), always(dangerous(_UNKNOWN_SHELL))
    ),
    "eval": _classify_eval,
    "trap": _classify_trap,
    "command": _classify_command,
    "builtin": _classify_exec,
    "exec": _classify_exec,
    "source": _classify_source,
    ".": _classify_source,
    "env": _classify_env,
    "timeout": _classify_timeout,
    "xargs": _classify_xargs,
    "nice": _classify_nice,
    "nohup": launcher(),
    "time": launcher(("-p",)),
    "setsid": launcher(("-w", "--wait", "-f", "--fork")),
    "stdbuf": launcher((), ("-i", "-o", "-e", "--input", "--output", "--error")),
    "ionice": launcher(("-t",), ("-c", "-n")),
}


_SYSTEM_FOLDERS = frozenset(
    {"", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
"""Where the system keeps its own programs; a program without a folder is found by its name alone."""

_READERS = (
    "arch base32 base64 basename break cal cat cksum cmp column comm continue cut diff dir dirname df du "
    "echo egrep exit expand expr factor false fgrep fmt fold free groups grep head hexdump hostid id join jq "
    "locale logname ls lsblk lscpu md5sum nl nproc numfmt od paste pathchk pgrep pr printenv ps pwd readlink "
    "realpath return rev b2sum sha1sum sha224sum sha256sum sha384sum sha512sum seq shift sleep stat strings "
    "sum tac tail times tr true tsort tty type uname unexpand uptime users vdir w wc whereis which who "
    "whoami zcat cd pushd popd dirs :"
).split()

_HARMFUL = {
    "it deletes": "rm rmdir unlink shred srm truncate wipefs",
    "it writes to devices": "dd fdisk parted mkfs mkswap losetup cryptsetup lvm mount umount swapon swapoff",
    "it acts with other rights": "sudo doas su pkexec runuser chroot nsenter unshare bwrap setpriv capsh",
    "it ends processes": "kill pkill killall skill xkill fuser",
    "it changes the machine": (
        "shutdown reboot halt poweroff init telinit systemctl service crontab at batch sysctl modprobe "
        "insmod rmmod iptables nft ip ifconfig route useradd userdel usermod passwd chpasswd visudo"
    ),
    "it reaches other machines": "ssh scp sftp rsync nc ncat netcat socat telnet ftp tftp",
    "it starts containers": "docker podman kubectl nerdctl lxc",
    "it changes what later commands mean": "alias enable hash bind complete compopt coproc fc",
}
_HARM = {name: why for why, names in _HARMFUL.items() for name in names.split()}

_INSTALLERS = {
    name: frozenset(words.split())
    for names, words in {
        "pip pip2 pip3 pipx": "install uninstall download wheel inject upgrade run",
        "uv": "pip add remove sync install tool run",
        "npm pnpm yarn bun": "install i ci add remove uninstall rm update upgrade link exec dlx x create "
        "publish audit init",
        "npx bunx uvx": "",
        "apt apt-get aptitude dnf yum zypper apk pacman brew port snap flatpak": "",
        "dpkg rpm": "-i --install -r -P --remove --purge -U -e",
        "gem": "install uninstall update push",
        "cargo": "install uninstall publish add remove",
        "go": "install get",
        "conda mamba": "install remove update create env",
        "composer": "install require update remove",
        "poetry pdm": "add remove install update publish sync",
    }.items()
    for name in names.split()
}

_INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|php|lua|luajit|Rscript|tclsh|osascript|irb|ipython|guile|"
    r"racket|ghci|julia|groovy|scala|kotlin|jshell|gdb|lldb|expect|ed|ex|vi|vim|nvim|emacs)[0-9.]*"
)

_INLINE = frozenset(
    {"-c", "-e", "-E", "-p", "-r", "-n", "-", "--eval", "--print", "-pe", "-ne", "-lane", "-i"}
)

_CHECKERS = frozenset({"pytest", "unittest", "mypy", "ruff"})
"""Modules whose own options look like those by which Python takes a program from the command."""

_VERSIONED = frozenset(
    "git node nodejs npm npx pnpm java javac gcc g++ cc clang make cmake ninja ruby perl "
    "php docker uv ruff pip pip3 bash tar curl wget jq go deno bun gh bwrap openssl sqlite3 psql".split()
)
"""Not those that a file of the workspace may tell which program to run in their place."""
_ASKS_VERSION = frozenset({"--version", "-V", "-version", "--help"})

_ASKS_SHORTLY = frozenset(
    {("node", "-v"), ("nodejs", "-v"), ("npm", "-v"), ("pnpm", "-v"), ("go", "version")}
)


def _classify_mode_change(args: list[Word], inner: InnerCommand) -> Classification:
    if has_option(args, "R", ("--recursive",)) is not None:
        return dangerous("it changes a whole tree of files")
    return moderate("it changes the rights of files")


def _classify_copy_or_move(args: list[Word], inner: InnerCommand) -> Classification:
    """Copying, moving and making of files: where it goes to matters."""
    return most_dangerous((moderate("it changes files"), *map(classify_write, positionals(args))))


_RULES: dict[str, ProgramRule] = {
    **dict.fromkeys(_READERS, always(SAFE)),
    **READING,
    **STARTING,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), classify_awk),
    "sed": classify_sed,
    "git": classify_git,
    "tee": lambda args, inner: most_dangerous(map(classify_write, positionals(args))),
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr"), _classify_mode_change),
    **dict.fromkeys(("cp", "mv", "ln", "install", "touch", "mkdir"), _classify_copy_or_move),
}


def classify_function(name: str) -> Classification:
    """What giving a name to some commands does: those who call it are judged by the name."""
    is_known = name in _RULES or name in _HARM or name in _INSTALLERS or _tells_version(name)
    if is_known or not re.fullmatch(r"\w+", name):
        return dangerous("it changes what later commands mean")
    return SAFE


def classify_program(words: list[Word], inner: InnerCommand) -> Classification:
    """What a program does with these arguments."""
    name = words[0].value
    if not name:
        return dangerous("which program it starts is only known when it runs")
    folder, _, base = name.rpartition("/")
    args = words[1:]
    if len(args) == 1 and folder in _SYSTEM_FOLDERS and _asks_version(base, args[0].value):
        return SAFE
    if base in _HARM or base.startswith("mkfs."):
        return dangerous(_HARM.get(base, "it writes to devices"))
    if base in _INSTALLERS:
        return _classify_installer(base, args)
    if _INTERPRETERS.fullmatch(base):
        return _classify_interpreter(args)
    rule = _RULES.get(base)
    if rule is None:
        return _classify_unknown(base, args)
    judgement = rule(args, inner)
    if judgement.is_safe and folder not in _SYSTEM_FOLDERS:
        return moderate("it is not the system's own program")
    return judgement


def _asks_version(base: str, arg: str | None) -> bool:
    return (base, arg) in _ASKS_SHORTLY or (arg in _ASKS_VERSION and _tells_version(base))


def _tells_version(base: str) -> bool:
    return base in _VERSIONED or re.fullmatch(r"python[0-9.]*", base) is not None


def _classify_installer(base: str, args: list[Word]) -> Classification:
    verbs = _INSTALLERS[base]
    if not verbs or any(arg.value is None or arg.value in verbs for arg in args):
        return dangerous("it installs or removes packages, or runs them")
    return moderate(f"{base} may run what packages bring")


def _classify_interpreter(args: list[Word]) -> Classification:
    if not args or args[0].value is None:
        return dangerous("it runs a program that is only known when it runs")
    if args[0].value == "-m" and any(arg.value in ("pip", "ensurepip", "venv") for arg in args[1:2]):
        return dangerous("it installs or removes packages, or runs them")
    if args[0].value == "-m" and any(arg.value in _CHECKERS for arg in args[1:2]):
        return moderate("it runs a program")
    if any(arg.value in _INLINE or arg.begins.startswith(("-c", "-e", "--eval")) for arg in args):
        return dangerous("it runs a program written in the command")
    return moderate("it runs a program")


def _classify_unknown(base: str, args: list[Word]) -> Classification:
    """It may start the programs that its arguments name."""
    for arg in args:
        last = (arg.value or "").rpartition("/")[2]
        if last in _HARM:
            return dangerous(f"it may start {last}")
    return moderate(f"{base} is not known to only read")
