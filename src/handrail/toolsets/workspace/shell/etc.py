"""What programs need of /etc, copied once into a folder of its own: one mount in place of twenty."""

from __future__ import annotations

import atexit
import os
import shutil
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


@cache
def etc_folder() -> Path:
    """The copy of this process; it goes when the process ends."""
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}{os.getpid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in _NEEDED:
        with suppress(OSError):  # what cannot be read here is of no use there
            _copy(Path("/etc") / name, folder / name)
    for name in ("hosts", "resolv.conf", "gai.conf"):
        (folder / name).touch()
    return folder


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    elif source.exists():
        shutil.copyfile(source, target)


def _sweep(place: Path) -> None:
    """Remove the copies of our own processes that were killed."""
    for folder in place.glob(f"{_NAME}*"):
        owner = folder.name.removeprefix(_NAME).partition("-")[0]
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and not os.path.exists(f"/proc/{owner}"):
                shutil.rmtree(folder)
