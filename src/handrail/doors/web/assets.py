"""Assets: scripts and styles as the pages name them. An address holds the hash of what is behind it.

Our own files lie in `static/css` and `static/js`, one a part, and go out as one file each, in the order of
their names. What others made is fetched by the build into `static/vendor`.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.types import Receive, Scope, Send

from handrail.core.errors import UsageError

STATIC = Path(__file__).parent / "static"
_KINDS = {".css": b"text/css; charset=utf-8", ".js": b"text/javascript; charset=utf-8"}
_BUNDLES = {
    "app.css": ("vendor/basecoat.css", "css"),
    "app.js": ("vendor/htmx.js", "vendor/htmx-sse.js", "js"),
    "first.js": ("first.js",),
    "chart.js": ("vendor/chart.js",),
}
"""What a page can name, and the files or folders it is put together from."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it goes out."""

    url: str
    kind: bytes
    body: bytes
    packed: bytes


@cache
def assets() -> dict[str, Asset]:
    """Every asset, by the name that pages use; read once."""
    return {name: _asset(name, sources) for name, sources in _BUNDLES.items()}


def asset_url(name: str) -> str:
    return assets()[name].url


@cache
def _by_url() -> dict[str, Asset]:
    return {asset.url: asset for asset in assets().values()}


def _asset(name: str, sources: tuple[str, ...]) -> Asset:
    parts: list[bytes] = []
    for source in sources:
        path = STATIC / source
        if not path.exists():
            raise UsageError(
                "The files of the pages are missing: this copy of Handrail was not built. Install it anew: "
                "pip install -e ."
            )
        files = sorted(path.glob(f"*{Path(name).suffix}")) if path.is_dir() else [path]
        parts += [file.read_bytes() for file in files]
    body = b"\n".join(parts)
    url = f"/static/{hashlib.sha256(body).hexdigest()[:16]}/{name}"
    return Asset(url, _KINDS[Path(name).suffix], body, gzip.compress(body, 9, mtime=0))


async def serve_asset(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for an asset; whoever has one need not ask again."""
    asset = _by_url().get(scope["path"])
    if asset is None or scope["method"] not in ("GET", "HEAD"):
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})
        return
    is_gzip = any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])
    body = asset.packed if is_gzip else asset.body
    headers = [
        (b"content-type", asset.kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"public, max-age=31536000, immutable"),
        (b"vary", b"accept-encoding"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if is_gzip:
        headers.append((b"content-encoding", b"gzip"))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
