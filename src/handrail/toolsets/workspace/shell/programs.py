"""Programs: which of them only read, which can do harm, and who knows more about their arguments."""

from __future__ import annotations

import re

from handrail.toolsets.workspace.shell.editors import judge_awk, judge_sed
from handrail.toolsets.workspace.shell.gitting import judge_git
from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, dangerous, moderate, strictest
from handrail.toolsets.workspace.shell.options import (
    Inner,
    Rule,
    anything,
    has_option,
    positionals,
)
from handrail.toolsets.workspace.shell.reading import RULES as READING
from handrail.toolsets.workspace.shell.starting import RULES as STARTING
from handrail.toolsets.workspace.shell.targets import judge_target
from handrail.toolsets.workspace.shell.words import Word

_SYSTEM = frozenset({"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"})
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
_WHY = {name: why for why, names in _HARMFUL.items() for name in names.split()}
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


def _judge_tee(args: list[Word], inner: Inner) -> Judgement:
    return strictest(judge_target(arg) for arg in positionals(args))


def _judge_modes(args: list[Word], inner: Inner) -> Judgement:
    if has_option(args, "R", ("--recursive",)) is not None:
        return dangerous("it changes a whole tree of files")
    return moderate("it changes the rights of files")


def _judge_moving(args: list[Word], inner: Inner) -> Judgement:
    """Copying, moving and making of files: where it goes to matters."""
    return strictest((moderate("it changes files"), *map(judge_target, positionals(args))))


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_READERS, anything),
    **READING,
    **STARTING,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), judge_awk),
    "sed": judge_sed,
    "git": judge_git,
    "tee": _judge_tee,
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr"), _judge_modes),
    **dict.fromkeys(("cp", "mv", "ln", "install", "touch", "mkdir"), _judge_moving),
}


def judge_function(name: str) -> Judgement:
    """What giving a name to some commands does: those who call it are judged by the name."""
    known = name in _RULES or name in _WHY or name in _INSTALLERS or _tells_version(name)
    if known or not re.fullmatch(r"\w+", name):
        return dangerous("it changes what later commands mean")
    return SAFE


def judge_program(words: list[Word], inner: Inner) -> Judgement:
    """What a program does with these arguments."""
    name = words[0].value
    if not name:
        return dangerous("which program it starts is only known when it runs")
    folder, _, base = name.rpartition("/")
    args = words[1:]
    if len(args) == 1 and _is_at_home(folder) and _asks_version(base, args[0].value):
        return SAFE
    if base in _WHY or base.startswith("mkfs."):
        return dangerous(_WHY.get(base, "it writes to devices"))
    if base in _INSTALLERS:
        return _judge_installer(base, args)
    if _INTERPRETERS.fullmatch(base):
        return _judge_interpreter(args)
    rule = _RULES.get(base)
    if rule is None:
        return _judge_unknown(base, args)
    said = rule(args, inner)
    if said.is_safe and not _is_at_home(folder):
        return moderate("it is not the system's own program")
    return said


def _is_at_home(folder: str) -> bool:
    """Whether this is the system's own program: found by its name alone, or where the system keeps them."""
    return not folder or folder in _SYSTEM


def _asks_version(base: str, arg: str | None) -> bool:
    return (base, arg) in _ASKS_SHORTLY or (arg in _ASKS_VERSION and _tells_version(base))


def _tells_version(base: str) -> bool:
    return base in _VERSIONED or re.fullmatch(r"python[0-9.]*", base) is not None


def _judge_installer(base: str, args: list[Word]) -> Judgement:
    verbs = _INSTALLERS[base]
    if not verbs or any(arg.value is None or arg.value in verbs for arg in args):
        return dangerous("it installs or removes packages, or runs them")
    return moderate(f"{base} may run what packages bring")


def _judge_interpreter(args: list[Word]) -> Judgement:
    if not args or args[0].value is None:
        return dangerous("it runs a program that is only known when it runs")
    if args[0].value == "-m" and any(arg.value in ("pip", "ensurepip", "venv") for arg in args[1:2]):
        return dangerous("it installs or removes packages, or runs them")
    if args[0].value == "-m" and any(arg.value in _CHECKERS for arg in args[1:2]):
        return moderate("it runs a program")
    if any(arg.value in _INLINE or arg.begins.startswith(("-c", "-e", "--eval")) for arg in args):
        return dangerous("it runs a program written in the command")
    return moderate("it runs a program")


def _judge_unknown(base: str, args: list[Word]) -> Judgement:
    """It may start the programs that its arguments name."""
    for arg in args:
        last = (arg.value or "").rpartition("/")[2]
        if last in _WHY:
            return dangerous(f"it may start {last}")
    return moderate(f"{base} is not known to only read")
