"""send: one request to the operator's service, and a result of whatever comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from handrail import Result
from handrail.bridges.extras import needs
from handrail.bridges.openapi.answers import failed, read_answer
from handrail.bridges.openapi.document import OpenAPIError
from handrail.bridges.openapi.request import Request
from handrail.ext import UnknownOutcome

if TYPE_CHECKING:
    import httpx2

_HOPS = 5


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


def check_package() -> None:
    """Whoever imports a document learns then, and not at the first call, that a package is missing."""
    with needs("openapi", "calling an HTTP service"):
        if find_spec("httpx2") is None:
            raise ModuleNotFoundError(name="httpx2")


async def send(service: Service, request: Request, credentials: Credentials) -> Result:
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
            for _ in range(_HOPS):
                made = httpx2.Request(
                    request.method, url, headers=headers, content=request.content, extensions=limits
                )
                answer = await transport.handle_async_request(made)
                try:
                    again = _next_hop(request, url, answer)
                    if again is None:
                        return await read_answer(
                            answer, request.is_read, service.most_bytes, credentials.hidden
                        )
                finally:
                    await answer.aclose()
                url = again
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
            return failed("The service did not answer in time.", code="TIMEOUT")
        return failed(f"The service could not be reached ({type(error).__name__}).")
    except UnicodeEncodeError:
        return failed("A credential has characters that no header can hold.")
    return failed("The service redirects in a circle.")


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
    if not request.is_read:
        return None
    there = urljoin(url, location)
    return there if _origin(there) == _origin(url) else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
