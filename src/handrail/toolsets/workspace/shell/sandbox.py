"""Sandbox: bubblewrap shows a command its workspace, the system's programs and nothing else."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ETC_NEEDED = (
    *("alternatives", "ca-certificates", "fonts", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("localtime", "magic", "mime.types", "nsswitch.conf", "passwd", "protocols", "services"),
    *("pki/tls/certs", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone"),
)
"""Keys and passwords are not among it."""
_ETC_PREFIX = "handrail-etc-"

_LAST_FILE = "gai.conf"
"""What is made last: with it the copy is whole."""


def etc_folder() -> Path:
    """The copy of this process. It goes when the process ends, and is made again should somebody clean up."""
    folder = _make_copy(os.getpid())
    if not (folder / _LAST_FILE).exists():
        _make_copy.cache_clear()
        folder = _make_copy(os.getpid())
    return folder


@cache
def _make_copy(owner: int) -> Path:
    sweep_etc_copies(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{_ETC_PREFIX}{owner}-"))
    atexit.register(_remove, folder, owner)
    for name in _ETC_NEEDED:
        with suppress(OSError):  # what cannot be read here is of no use there
            _copy(Path("/etc") / name, folder / name)
    for name in ("hosts", "resolv.conf", _LAST_FILE):
        (folder / name).touch()
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not in a process that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    elif source.exists():
        shutil.copyfile(source, target)


def sweep_etc_copies(place: Path) -> None:
    """Remove what our own processes left that were killed: their copies, and sandboxes that never began."""
    for folder in place.glob(f"{_ETC_PREFIX}*"):
        owner = folder.name.removeprefix(_ETC_PREFIX).partition("-")[0]
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and not os.path.exists(f"/proc/{owner}"):
                _end_sandboxes(str(folder))
                shutil.rmtree(folder)


def _end_sandboxes(folder: str) -> None:
    """End those that show this folder. One whose owner is killed as it starts may wait for ever."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if os.path.basename(line[0]) == b"bwrap" and os.fsencode(folder) in line:
                os.kill(int(pid), signal.SIGKILL)


_SYSTEM = ("/usr", "/nix/store")
_LINKS = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_NETWORK = ("hosts", "resolv.conf", "gai.conf")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SCRATCH = 256 * 1024 * 1024

_GIT_ENVIRONMENT = {
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
INSTALL_HINT = "apt-get install bubblewrap"


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """What one command may use."""

    memory: int = 4 * 1024**3
    """Bytes, of all its processes together and of each."""
    processes: int = 512
    file_size: int = 2 * 1024**3
    output: int = 64 * 1024**2
    """Bytes printed; a command that prints more is ended."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
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


def bwrap_command(spec: SandboxSpec, folder: Path, inner: list[str], info: int) -> list[str]:
    """The command line; `info` is the descriptor on which the sandbox says who it is."""
    return [
        shutil.which("bwrap") or "bwrap",
        *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--info-fd", str(info), "--hostname", "sandbox"),
        *(("--share-net",) if spec.network else ()),
        *_system_mounts(spec),
        # read-only, since root is root there even in a sandbox
        *("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"),
        *_scratch("/dev/shm"),
        *_scratch("/tmp"),
        *_read_only(*spec.readable),
        *("--bind" if spec.writable else "--ro-bind", str(spec.root), str(spec.root)),
        *_protected_mounts(spec),
        # what bubblewrap makes itself is memory too, and has no bound of its own
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", str(folder), "--"),
        *inner,
    ]


def command_environment(host: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a command: nothing of ours but the language."""
    language = {name: host[name] for name in ("LANG", "LC_ALL", "TZ") if name in host}
    own = {"PATH": _PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "TERM": "dumb", "SHELL": "/bin/bash"}
    return {"LANG": "C.UTF-8", **language, **own, **_GIT_ENVIRONMENT}


def wait_script(ready: int) -> str:
    """What a shell does first so that it waits: it says that it is there, and reads a word from us."""
    return f"printf {READY.decode()} >&{ready}; read -r word || exit 125; exec {ready}>&- </dev/null; "


def limited_command(command: str, limits: CommandLimits, first: str = "") -> list[str]:
    """The command under limits that it cannot raise, after what a shell is to do first."""
    kilobytes = [str(limits.file_size // 1024), str(limits.memory // 1024), str(limits.processes)]
    script = 'ulimit -c 0; ulimit -f "$1"; ulimit -d "$2"; ulimit -u "$3"; exec /bin/bash -c "$4"'
    return ["/bin/bash", "-c", f"{first}{script}", "bash", *kilobytes, command]


def missing_sandbox() -> str | None:
    """Why there can be no sandbox here; None when there can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    if not os.path.exists("/bin/bash"):
        return "there is no /bin/bash"
    return None


def is_visible(place: Path, folders: Iterable[Path]) -> bool:
    """Whether a command sees this: as one of the system's folders, or below one that is shown to it."""
    seen = (*map(Path, (*_SYSTEM, *_LINKS)), *folders)
    return any(place.is_relative_to(folder.resolve()) for folder in seen)


def _system_mounts(spec: SandboxSpec) -> Iterator[str]:
    yield from _read_only(*(Path(folder) for folder in _SYSTEM if os.path.isdir(folder)))
    for link in _LINKS:
        if os.path.islink(link):
            yield from ("--symlink", os.readlink(link), link)
        elif os.path.isdir(link):
            yield from ("--ro-bind", link, link)
    yield from ("--ro-bind", str(etc_folder()), "/etc")
    for name in _NETWORK if spec.network else ():
        if os.path.exists(f"/etc/{name}"):
            yield from ("--ro-bind", os.path.realpath(f"/etc/{name}"), f"/etc/{name}")


def _scratch(place: str) -> Iterator[str]:
    yield from ("--size", str(_SCRATCH), "--perms", "1777", "--tmpfs", place)


def _read_only(*places: Path) -> Iterator[str]:
    for place in places:
        if place.exists():
            yield from ("--ro-bind", str(place), str(place))


def _protected_mounts(spec: SandboxSpec) -> Iterator[str]:
    """Protected and hidden places, and the folders above them, which could be moved away otherwise."""
    anchored: set[Path] = set()
    for place in (*spec.protected, *spec.hidden):
        for above in reversed(place.relative_to(spec.root).parents):
            folder = spec.root / above
            if folder != spec.root and folder not in anchored and _is_real(folder):
                anchored.add(folder)
                yield from ("--bind" if spec.writable else "--ro-bind", str(folder), str(folder))
    for place in spec.protected:
        if _is_real(place):
            yield from ("--ro-bind", str(place), str(place))
    for place in spec.hidden:
        if place.is_dir() and not place.is_symlink():
            yield from ("--size", "4096", "--tmpfs", str(place), "--remount-ro", str(place))
        elif _is_real(place):
            yield from ("--ro-bind", "/dev/null", str(place))


def _is_real(place: Path) -> bool:
    return place.exists() and not place.is_symlink()
