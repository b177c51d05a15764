"""send: one request to the operator's service, and a result of whatever comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from handrail import Result
from handrail.bridges.extras import needs
from handrail.bridges.openapi.document import OpenAPIError
from handrail.bridges.openapi.inputs import is_json
from handrail.bridges.openapi.request import Request

if TYPE_CHECKING:
    import httpx2

_EXCERPT = 2_000
_HOPS = 5
_MASK = "•••"
_CODE = "HTTP_ERROR"


@dataclass(frozen=True, slots=True)
class Service:
    """Where requests go, and within which bounds."""

    base_url: str
    timeout: float
    most_bytes: int
    transport: Callable[[], httpx2.AsyncBaseTransport] | None = None


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is added to a request, and which texts of it nobody may see."""

    headers: dict[str, str]
    cookies: dict[str, str]
    query: tuple[str, ...]
    hidden: tuple[str, ...]


def checked_base(base_url: str | None, suggested: list[str]) -> str:
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


async def send(service: Service, request: Request, credentials: Credentials) -> Result:
    """Data on success. Anything else is a failed result with the status and the beginning of the answer."""
    with needs("openapi", "calling an HTTP service"):
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
            for _ in range(_HOPS):
                made = httpx2.Request(
                    request.method, url, headers=headers, content=request.content, extensions=limits
                )
                answer = await transport.handle_async_request(made)
                try:
                    again = _next_hop(request, url, answer)
                    if again is None:
                        return await _result(answer, service, credentials)
                finally:
                    await answer.aclose()
                url = again
    except httpx2.TimeoutException:
        return _failed("The service did not answer in time.", code="TIMEOUT")
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        return _failed(f"The service could not be reached ({type(error).__name__}).")
    except UnicodeEncodeError:
        return _failed("A credential has characters that no header can hold.")
    return _failed("The service redirects in a circle.")


def _transport() -> httpx2.AsyncBaseTransport:
    """One for each call, since it belongs to a loop. A client would log addresses, and secrets in them."""
    import httpx2

    return httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)


@cache
def _tls() -> Any:
    import ssl

    return ssl.create_default_context()


def _next_hop(request: Request, url: str, answer: httpx2.Response) -> str | None:
    """Where a redirected read goes on: on the same server, and nowhere else."""
    location = answer.headers.get("location")
    if answer.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    if request.method not in ("GET", "HEAD"):
        return None
    there = urljoin(url, location)
    return there if _origin(there) == _origin(url) else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


async def _result(answer: httpx2.Response, service: Service, credentials: Credentials) -> Result:
    status = answer.status_code
    body = await _read(answer, service.most_bytes)
    if body is None:
        why = f"The answer is larger than {service.most_bytes} bytes, or packed."
        return _failed(why, data={"status": status})
    text = _decoded(body, answer.charset_encoding)
    for one in sorted(filter(None, credentials.hidden), key=len, reverse=True):
        text = text.replace(one, _MASK)
    if 300 <= status < 400:
        return _failed(
            f"The service redirects elsewhere (status {status}); that is not followed.",
            data={"status": status},
        )
    if not 200 <= status < 300:
        told = {"status": status, "body": _parsed(answer, text[:_EXCERPT])}
        return _failed(f"The service answered with status {status}.", data=told)
    metadata = {"status": status}
    if not text:
        return Result(data=None, summary=f"Done (status {status})", metadata=metadata)
    if is_json(answer.headers.get("content-type", "")):
        try:
            return Result(data=json.loads(text), metadata=metadata)
        except (ValueError, RecursionError):
            return _failed("The service said JSON and sent something else.", data={"status": status})
    return Result(data=text, output=text, metadata=metadata)


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


async def _read(answer: httpx2.Response, most: int) -> bytes | None:
    """The body, or None when it is larger than allowed, or packed though that was not asked for."""
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        return None
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


def _failed(why: str, *, code: str = _CODE, data: Any = None) -> Result:
    return Result.fail(why, code=code, summary="The service did not do it", data=data)
