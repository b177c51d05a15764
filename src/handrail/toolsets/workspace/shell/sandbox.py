"""Sandbox: bubblewrap shows a command its workspace, the system's programs and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.toolsets.workspace.shell.etc import etc_folder

_SYSTEM = ("/usr", "/nix/store")
_LINKS = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_NETWORK = ("hosts", "resolv.conf", "gai.conf")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SCRATCH = 256 * 1024 * 1024
_SECRETIVE = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "safe.bareRepository",
    "GIT_CONFIG_VALUE_1": "explicit",
    "GIT_CONFIG_KEY_2": "safe.directory",
    "GIT_CONFIG_VALUE_2": "*",
}
"""Reading with git starts no program that a repository names, and waits for nobody."""

READY = b"ready"
"""What a sandbox says when all of it is in place."""
INSTALL = "apt-get install bubblewrap"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use."""

    memory: int = 4 * 1024**3
    """Bytes, of all its processes together and of each."""
    processes: int = 512
    file_size: int = 2 * 1024**3
    output: int = 64 * 1024**2
    """Bytes printed; a command that prints more is ended."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What of the machine a command gets to see."""

    root: Path
    protected: tuple[Path, ...] = ()
    """Below the root, and read-only."""
    hidden: tuple[Path, ...] = ()
    """Below the root, and not there."""
    readable: tuple[Path, ...] = ()
    """Outside the root: toolchains, say."""
    network: bool = False
    writable: bool = True
    """Whether the workspace can be changed."""


def sandboxed(shown: Shown, folder: Path, inner: list[str], info: int) -> list[str]:
    """The command line; `info` is the descriptor on which the sandbox says who it is."""
    return [
        *(
            shutil.which("bwrap") or "bwrap",
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
        ),
        *("--info-fd", str(info), "--hostname", "sandbox"),
        *(("--share-net",) if shown.network else ()),
        *_system(shown),
        # read-only, since root is root there even in a sandbox
        *("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"),
        *_scratch("/dev/shm"),
        *_scratch("/tmp"),
        *_read_only(*shown.readable),
        *("--bind" if shown.writable else "--ro-bind", str(shown.root), str(shown.root)),
        *_kept(shown),
        # what bubblewrap makes itself is memory too, and has no bound of its own
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", str(folder), "--"),
        *inner,
    ]


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a command: nothing of ours but the language."""
    kept = {name: host[name] for name in ("LANG", "LC_ALL", "TZ") if name in host}
    own = {"PATH": _PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "TERM": "dumb", "SHELL": "/bin/bash"}
    return {"LANG": "C.UTF-8", **kept, **own, **_SECRETIVE}


def waiting(ready: int) -> str:
    """What a shell does first so that it waits: it says that it is there, and reads a word from us."""
    return f"printf {READY.decode()} >&{ready}; read -r word || exit 125; exec {ready}>&- </dev/null; "


def limited(command: str, limits: Limits, first: str = "") -> list[str]:
    """The command under limits that it cannot raise, after what a shell is to do first."""
    kilobytes = [str(limits.file_size // 1024), str(limits.memory // 1024), str(limits.processes)]
    script = 'ulimit -c 0; ulimit -f "$1"; ulimit -d "$2"; ulimit -u "$3"; exec /bin/bash -c "$4"'
    return ["/bin/bash", "-c", f"{first}{script}", "bash", *kilobytes, command]


def missing() -> str | None:
    """Why there can be no sandbox here; None when there can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    if not os.path.exists("/bin/bash"):
        return "there is no /bin/bash"
    return None


def is_shown(place: Path, folders: Iterable[Path]) -> bool:
    """Whether a command sees this: as one of the system's folders, or below one that is shown to it."""
    seen = (*map(Path, (*_SYSTEM, *_LINKS)), *folders)
    return any(place.is_relative_to(folder.resolve()) for folder in seen)


def _system(shown: Shown) -> Iterator[str]:
    yield from _read_only(*(Path(one) for one in _SYSTEM if os.path.isdir(one)))
    for link in _LINKS:
        if os.path.islink(link):
            yield from ("--symlink", os.readlink(link), link)
        elif os.path.isdir(link):
            yield from ("--ro-bind", link, link)
    yield from ("--ro-bind", str(etc_folder()), "/etc")
    for name in _NETWORK if shown.network else ():
        if os.path.exists(f"/etc/{name}"):
            yield from ("--ro-bind", os.path.realpath(f"/etc/{name}"), f"/etc/{name}")


def _scratch(place: str) -> Iterator[str]:
    yield from ("--size", str(_SCRATCH), "--perms", "1777", "--tmpfs", place)


def _read_only(*places: Path) -> Iterator[str]:
    for place in places:
        if place.exists():
            yield from ("--ro-bind", str(place), str(place))


def _kept(shown: Shown) -> Iterator[str]:
    """Protected and hidden places, and the folders above them, which could be moved away otherwise."""
    anchored: set[Path] = set()
    for place in (*shown.protected, *shown.hidden):
        for above in reversed(place.relative_to(shown.root).parents):
            folder = shown.root / above
            if folder != shown.root and folder not in anchored and _is_real(folder):
                anchored.add(folder)
                yield from ("--bind" if shown.writable else "--ro-bind", str(folder), str(folder))
    for place in shown.protected:
        if _is_real(place):
            yield from ("--ro-bind", str(place), str(place))
    for place in shown.hidden:
        if place.is_dir() and not place.is_symlink():
            yield from ("--size", "4096", "--tmpfs", str(place), "--remount-ro", str(place))
        elif _is_real(place):
            yield from ("--ro-bind", "/dev/null", str(place))


def _is_real(place: Path) -> bool:
    return place.exists() and not place.is_symlink()
