"""What programs need of /etc, copied once into a folder of its own: one mount in place of twenty."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_NEEDED = (
    *("alternatives", "ca-certificates", "fonts", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("localtime", "magic", "mime.types", "nsswitch.conf", "passwd", "protocols", "services"),
    *("pki/tls/certs", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone"),
)
"""Keys and passwords are not among it."""
_NAME = "handrail-etc-"
_LAST = "gai.conf"
"""What is made last: with it the copy is whole."""


def etc_folder() -> Path:
    """The copy of this process. It goes when the process ends, and is made again should somebody clean up."""
    folder = _made(os.getpid())
    if not (folder / _LAST).exists():
        _made.cache_clear()
        folder = _made(os.getpid())
    return folder


@cache
def _made(owner: int) -> Path:
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}{owner}-"))
    atexit.register(_remove, folder, owner)
    for name in _NEEDED:
        with suppress(OSError):  # what cannot be read here is of no use there
            _copy(Path("/etc") / name, folder / name)
    for name in ("hosts", "resolv.conf", _LAST):
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


def sweep(place: Path) -> None:
    """Remove what our own processes left that were killed: their copies, and sandboxes that never began."""
    for folder in place.glob(f"{_NAME}*"):
        owner = folder.name.removeprefix(_NAME).partition("-")[0]
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
