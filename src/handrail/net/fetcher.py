"""Fetcher: HTTP requests to addresses that are checked and pinned first, on every redirect again."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from handrail.core.errors import ToolError, UsageError
from handrail.net.addresses import Address, AddressAllowlist, parse_address, refused_kind
from handrail.net.body import ACCEPT_ENCODING, Decompressor, ResponseTooLarge
from handrail.net.url import Url, parse_url

if TYPE_CHECKING:
    import httpcore2


@contextmanager
def optional_import() -> Iterator[None]:
    """Around the imports of the packages that only the web tools need."""
    try:
        yield
    except ImportError as error:
        missing = (error.name or "a package").partition(".")[0]
        raise ToolError(
            f"{missing} is not installed, which this tool needs: pip install 'handrail[workspace]'",
            code="NOT_INSTALLED",
        ) from error


_MAX_DIGITS = 7
"""A longer number is a moment, not a time to wait."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, where the server says them."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return _rate_limit_reset(headers)
    return _seconds(value) if value[:1].isdigit() else _seconds_until(value)


def _rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Brave has windows of a second and of a month, and says what is left of each and how long it lasts."""
    resets = [_seconds(reset) for reset in headers.get("x-ratelimit-reset", "").split(",")]
    remaining = [count.strip() for count in headers.get("x-ratelimit-remaining", "").split(",")]
    used_up = [
        reset for reset, rest in zip(resets, remaining, strict=False) if rest == "0" and reset is not None
    ]
    return max(used_up) if used_up else resets[0]


def _seconds(text: str) -> float | None:
    digits = text.strip()
    return float(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS else None


def _seconds_until(date: str) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    seconds = (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return float(round(seconds)) if 0 < seconds < 10**_MAX_DIGITS else None


_MAX_HEADER_BYTES = 256_000
"""Bytes beside a body that may come over the wire: headers, what precedes them, what frames the pieces."""
_MAX_ADDRESSES = 4

_MOST_PIECES = 50_000
"""A body in more pieces than this was cut up to cost time."""

_DNS_THREADS = ThreadPoolExecutor(16, "handrail-lookup")
"""Threads of their own: a name that nobody answers for keeps one busy for long, whatever the time allowed."""
_REDIRECTS = (301, 302, 303, 307, 308)
SkipBody = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """What is asked of a server. No cookies, no credentials but those that stand in `headers`."""

    url: Url
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """What a server answered."""

    url: Url
    status: int
    headers: Mapping[str, str]
    """By name in small letters; of several with one name, the first."""
    body: bytes


Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Which addresses a name has: (host, port) -> addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """The limits of a fetcher, and what it may reach beside the public internet."""

    private_networks: Sequence[str] = ()
    """Networks and hosts beside the public internet: `10.0.0.0/8`, `127.0.0.1:8080`, `intranet.example`."""
    timeout: float = 30.0
    """Seconds for one call with all its redirects, unless the call asks for another time."""
    max_bytes: int = 10_000_000
    """The most that is read of an answer, as it comes over the wire and unpacked."""
    redirects: int = 5
    ca_file: str | None = None
    """Certificates to trust beside those of the system."""
    resolver: Resolver | None = None

    def __post_init__(self) -> None:
        AddressAllowlist.of(self.private_networks)
        if self.timeout <= 0 or self.max_bytes <= 0 or self.redirects < 0:
            raise UsageError("The limits of the web tools are numbers above 0.")
        if self.ca_file is not None:
            try:
                ssl.create_default_context(cafile=self.ca_file)
            except OSError:
                raise UsageError(f"The file {self.ca_file!r} holds no certificates to trust.") from None


class Fetcher:
    """Fetches within the limits of its options. It connects to nothing that was not checked just before."""

    def __init__(self, options: FetchOptions) -> None:
        self._options = options
        self._allowed = AddressAllowlist.of(options.private_networks)
        self._resolve = options.resolver or resolve

    @asynccontextmanager
    async def time_limit(self, seconds: float | None = None) -> AsyncIterator[None]:
        """A limit on the time for all that is done inside."""
        limit = self._options.timeout if seconds is None else seconds
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError:
            raise ToolError(
                f"There was no whole answer within {limit:g} seconds. Try again, or with a longer timeout.",
                code="TIMEOUT",
            ) from None

    async def fetch(self, address: str, accept: str) -> FetchResponse:
        """The page at an address, after at most as many redirects as are allowed."""
        url = parse_url(address)
        for _ in range(self._options.redirects + 1):
            answer = await self.send(
                FetchRequest(url, headers={"Accept": accept}), skips=lambda status: not 200 <= status < 300
            )
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or not location:
                return answer
            try:
                url = url.joined(_header_as_utf8(location))
            except ToolError as error:
                raise ToolError(
                    f"{url.shown} redirects to a place that is not fetched. {error}", code=error.code
                ) from None
        raise ToolError(
            f"The page redirects more than {self._options.redirects} times. "
            f"Fetch {url.shown} if that is what you need.",
            code="TOO_MANY_REDIRECTS",
        )

    async def send(
        self,
        request: FetchRequest,
        *,
        trusted: AddressAllowlist | None = None,
        skips: SkipBody = lambda status: False,
    ) -> FetchResponse:
        """One request and its answer, unread where its status is one to skip; `trusted` is allowed, too."""
        with optional_import():
            import httpcore2

            from handrail.net.pinned_backend import PinnedBackend
        url = request.url
        addresses = await self._checked(url, trusted)
        tls = self._tls if url.scheme == "https" else None
        network = PinnedBackend(addresses, _MAX_HEADER_BYTES)
        try:
            connection = httpcore2.AsyncHTTPConnection(
                httpcore2.Origin(url.scheme.encode(), url.host.encode(), url.port),
                ssl_context=tls,
                network_backend=network,
            )
            sent_request = httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target),
                headers=_headers(request),
                content=request.body,
            )
            response = await connection.handle_async_request(sent_request)
            network.allow_body(self._options.max_bytes)
            return await self._read(url, response, skips)
        except (httpcore2.LocalProtocolError, UnicodeEncodeError):
            raise ToolError("A header of the request has characters that no header can hold.") from None
        except (
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
            ssl.SSLError,  # what was encrypted was changed on its way
        ) as error:
            raise _connection_failed(url, error) from None
        finally:
            await network.close()

    async def _checked(self, url: Url, trusted: AddressAllowlist | None) -> list[Address]:
        """The addresses of a host. One that is refused is enough to refuse the host."""
        if url.address is not None:
            candidates: list[Address | None] = [url.address]
        else:
            candidates = [parse_address(text) for text in await self._resolve(url.host, url.port)]
        addresses = []
        for address in dict.fromkeys(candidates):
            kind = "no address of the internet"
            if address is not None:
                kind_refused = refused_kind(address, url.host, url.port, self._allowed)
                if kind_refused is not None and trusted is not None:
                    kind_refused = refused_kind(address, url.host, url.port, trusted)
                if kind_refused is None:
                    addresses.append(address)
                    continue
                kind = f"an address that is {kind_refused}"
            raise ToolError(
                f"{url.host} leads to {kind}. Only places on the public internet are fetched; "
                "an operator can allow others by the setting `private_networks`.",
                code="ADDRESS_REFUSED",
            )
        if not addresses:
            raise _unknown_host(url.host)
        return addresses[:_MAX_ADDRESSES]

    async def _read(self, url: Url, response: httpcore2.Response, skips: SkipBody) -> FetchResponse:
        headers: dict[str, str] = {}
        for name, value in response.headers:
            headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        if skips(response.status):
            return FetchResponse(url, response.status, headers, b"")
        most = self._options.max_bytes
        declared = headers.get("content-length", "")
        if declared.isascii() and declared.isdigit() and (len(declared) > 15 or int(declared) > most):
            raise ResponseTooLarge(most)
        unpacker = Decompressor(headers.get("content-encoding", ""), most)
        count = 0
        async with aclosing(response.aiter_stream()) as pieces:
            async for piece in pieces:
                unpacker.feed(piece)
                count += 1
                if count > _MOST_PIECES:
                    raise ResponseTooLarge(most)
                if count % 256 == 0:
                    await asyncio.sleep(0)  # what came in one go is no reason to keep others waiting
        return FetchResponse(url, response.status, headers, unpacker.done())

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._options.ca_file is not None:
            context.load_verify_locations(self._options.ca_file)
        return context


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as the system knows them, the one to try first at the front."""
    lookup = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        entries = await asyncio.get_running_loop().run_in_executor(_DNS_THREADS, lookup)
    except UnicodeError:
        raise _unknown_host(host) from None
    except socket.gaierror as error:
        raise _lookup_failed(host, error) from None
    return [str(entry[4][0]) for entry in entries]


def _header_as_utf8(header: str) -> str:
    """A header as most servers mean it, which is not how the protocol says it is to be read."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return header


def _lookup_failed(host: str, error: socket.gaierror) -> ToolError:
    if error.errno in (socket.EAI_AGAIN, socket.EAI_FAIL):
        return ToolError(
            f"Names cannot be looked up here now, so {host} could not be found. Try again later.",
            code="CONNECTION_FAILED",
        )
    return _unknown_host(host, "; or this machine has no network")


def _unknown_host(host: str, more: str = "") -> ToolError:
    return ToolError(f"There is no host {host}. Check how the name is written{more}.", code="HOST_NOT_FOUND")


def _connection_failed(url: Url, error: Exception) -> ToolError:
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return ToolError(
            f"The certificate of {url.host} is not to be trusted: {cause.verify_message}.",
            code="CERTIFICATE_REFUSED",
        )
    return ToolError(
        f"{url.authority} could not be reached, or broke off. Try again later, or another address.",
        code="CONNECTION_FAILED",
    )


def _headers(request: FetchRequest) -> list[tuple[bytes, bytes]]:
    headers = {
        "Host": request.url.authority,
        "User-Agent": "handrail",
        "Accept": "*/*",
        "Accept-Encoding": ACCEPT_ENCODING,
        "Connection": "close",
        **request.headers,
    }
    if request.body:
        headers["Content-Length"] = str(len(request.body))
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
