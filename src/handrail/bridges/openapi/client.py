"""send: one request to the operator's service, and a result of whatever comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from handrail import Result
from handrail.bridges.missing_packages import require_extra
from handrail.bridges.openapi.document import OpenAPIError
from handrail.bridges.openapi.parameters import is_json
from handrail.bridges.openapi.request import ApiRequest
from handrail.ext.errors import UnknownOutcome

if TYPE_CHECKING:
    import httpx2

_EXCERPT = 2_000
_MASK = "•••"


async def read_response(answer: httpx2.Response, is_read: bool, most: int, hidden: Collection[str]) -> Result:
    """Data on success. Anything else is a failed result with the status and the beginning of the answer."""
    status = answer.status_code
    body = await _read_body(answer, most)
    if body is None:
        return _unreadable_result(f"The answer is larger than {most} bytes, or packed.", status, is_read)
    text = _decoded(body, answer.charset_encoding)
    for secret in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(secret, _MASK)
    if 300 <= status < 400:
        why = f"The service redirects elsewhere (status {status}); that is not followed."
        return failed_result(why, data={"status": status})
    if not _is_success(status):
        excerpt = {"status": status, "body": _parsed(answer, text[:_EXCERPT])}
        return failed_result(f"The service answered with status {status}.", data=excerpt)
    metadata = {"status": status}
    if not text:
        return Result(data=None, summary=f"Done (status {status})", metadata=metadata)
    if not is_json(answer.headers.get("content-type", "")):
        return Result(data=text, output=text, metadata=metadata)
    try:
        return Result(data=json.loads(text), metadata=metadata)
    except (ValueError, RecursionError):
        return _unreadable_result("The service said JSON and sent something else.", status, is_read)


def failed_result(why: str, *, code: str = "HTTP_ERROR", data: Any = None) -> Result:
    return Result.fail(why, code=code, summary="The service did not do it", data=data)


def _is_success(status: int) -> bool:
    return 200 <= status < 300


def _unreadable_result(why: str, status: int, is_read: bool) -> Result:
    """A read without its answer failed. What was changed is changed, whatever was said about it."""
    if is_read or not _is_success(status):
        return failed_result(why, data={"status": status})
    return Result(output=f"Done (status {status}). {why}", metadata={"status": status})


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


async def _read_body(answer: httpx2.Response, most: int) -> bytes | None:
    """The body, or None when it is larger than allowed, or packed though that was not asked for."""
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        return None
    if answer.is_stream_consumed:  # a transport of somebody's own that had it all at once
        return answer.content if len(answer.content) <= most else None
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > most:
            return None
    return bytes(body)


def _parsed(answer: httpx2.Response, text: str) -> Any:
    if is_json(answer.headers.get("content-type", "")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


_MAX_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class HttpService:
    """Where requests go, and within which bounds."""

    base_url: str
    timeout: float
    most_bytes: int
    transport: Callable[[], httpx2.AsyncBaseTransport] | None = None


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """What is added to a request, and which texts of it nobody may see."""

    headers: dict[str, str]
    cookies: dict[str, str]
    query: tuple[str, ...]
    hidden: tuple[str, ...]


def check_base_url(base_url: str | None, suggested: list[str]) -> str:
    """The address of the service, which the operator gives: a document may suggest any."""
    if not base_url:
        hint = f"; the document suggests {', '.join(suggested)}" if suggested else ""
        raise OpenAPIError(
            f"no base_url is given{hint}", remedy="give base_url='https://…', the address you trust"
        )
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OpenAPIError(f"{base_url!r} is not an http address", remedy="give one, such as https://…")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise OpenAPIError(
            "base_url has a user, a query or a fragment",
            remedy="give the address alone; credentials are secrets",
        )
    return base_url.rstrip("/")


def check_httpx_installed() -> None:
    """Whoever imports a document learns then, and not at the first call, that a package is missing."""
    with require_extra("openapi", "calling an HTTP service"):
        if find_spec("httpx2") is None:
            raise ModuleNotFoundError(name="httpx2")


async def send(service: HttpService, request: ApiRequest, credentials: RequestCredentials) -> Result:
    """Data on success. Anything else is a failed result with the status and the beginning of the answer."""
    import httpx2

    target = request.target
    if credentials.query:
        target += ("&" if "?" in target else "?") + "&".join(credentials.query)
    headers = {
        "User-Agent": "handrail",
        "Accept": "application/json, */*;q=0.5",
        "Accept-Encoding": "identity",
        **request.headers,
        **credentials.headers,
    }
    if cookies := {**request.cookies, **credentials.cookies}:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    url = service.base_url + target
    limits = {"timeout": httpx2.Timeout(service.timeout).as_dict()}
    try:
        async with service.transport() if service.transport is not None else _transport() as transport:
            for _ in range(_MAX_REDIRECTS):
                answer = await transport.handle_async_request(
                    httpx2.Request(
                        request.method, url, headers=headers, content=request.content, extensions=limits
                    )
                )
                try:
                    next_url = _next_hop(request, url, answer)
                    if next_url is None:
                        return await read_response(
                            answer, request.is_read, service.most_bytes, credentials.hidden
                        )
                finally:
                    await answer.aclose()
                url = next_url
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        never_sent = (
            httpx2.ConnectError,
            httpx2.ConnectTimeout,
            httpx2.LocalProtocolError,
            httpx2.InvalidURL,
        )
        if not (request.is_read or isinstance(error, never_sent)):
            raise UnknownOutcome(
                "The connection was lost after the request was sent. Look at the service before you try again"
            ) from None
        if isinstance(error, httpx2.TimeoutException):
            return failed_result("The service did not answer in time.", code="TIMEOUT")
        return failed_result(f"The service could not be reached ({type(error).__name__}).")
    except UnicodeEncodeError:
        return failed_result("A credential has characters that no header can hold.")
    return failed_result("The service redirects in a circle.")


def _transport() -> httpx2.AsyncBaseTransport:
    """One for each call, since it belongs to a loop. A client would log addresses, and secrets in them."""
    import httpx2

    return httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)


@cache
def _tls() -> Any:
    import ssl

    return ssl.create_default_context()


def _next_hop(request: ApiRequest, url: str, answer: httpx2.Response) -> str | None:
    """Where a redirected read goes on: on the same server, and nowhere else."""
    location = answer.headers.get("location")
    is_redirect = answer.status_code in (301, 302, 303, 307, 308) and bool(location)
    if not is_redirect or not request.is_read:
        return None
    target = urljoin(url, location)
    return target if _origin(target) == _origin(url) else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
