"""URL: an address as it was written, in the one form in which it is checked and connected to."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urljoin

from handrail.core.errors import ToolError
from handrail.net.addresses import Address

MAX_LENGTH = 8192
_MAX_SHOWN = 200
_PORTS = {"http": 80, "https": 443}
# The list that browsers keep: services that a request could be made to look like an order to.
_BAD_PORTS = frozenset(
    (
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601),
        *(636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379),
        *(6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211),
    )
)
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_PARTS = re.compile(r"(?:https?)://([^/?#]*)([^#]*)", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_UNESCAPED = "!$&'()*+,;=:@/?%-._~[]|"


@dataclass(frozen=True, slots=True)
class Url:
    """An address that can be fetched; `address` is there when its host is one."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query, in ASCII."""
    address: Address | None = None

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def shown(self) -> str:
        """The address in a sentence: too short to be a text of its own."""
        text = str(self)
        return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"

    def joined(self, reference: str) -> Url:
        """Where a link or a redirect of this page leads. Spaces in it are common, and meant as such."""
        try:
            return parse_url(urljoin(str(self), reference.strip().replace(" ", "%20")))
        except ValueError:
            raise _invalid_url("it cannot be read") from None


def parse_url(text: str) -> Url:
    """The address, or a ToolError that says what is wrong with it."""
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise _invalid_url(f"it is longer than {MAX_LENGTH} characters")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp", "Zs") for char in text):
        raise _invalid_url("it has a space or a control character in it; write a space as %20")
    if "\\" in text:
        raise _invalid_url("it has a backslash in it")
    parts = _PARTS.match(text)
    if parts is None:
        raise _invalid_url(_scheme_problem(text))
    scheme = text.partition(":")[0].lower()
    if "@" in parts[1]:
        raise _invalid_url("it has a user or a password in it; leave out what stands before the @")
    host, port = _host_and_port(parts[1], scheme)
    name, address = _parse_host(host)
    path, mark, query = parts[2].partition("?")
    target = quote(path or "/", safe=_UNESCAPED) + mark + quote(query, safe=_UNESCAPED)
    if len(target) > MAX_LENGTH:
        raise _invalid_url(f"it is longer than {MAX_LENGTH} characters")
    return Url(scheme, name, port, target, address)


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?", authority, re.ASCII)
    if match is None:
        raise _invalid_url(f"{authority[:80]!r} is no host and port")
    port = int(match[2]) if match[2] and len(match[2]) <= 5 else None if match[2] else _PORTS[scheme]
    if port is None or port > 65535:
        raise _invalid_url("its port is above 65535")
    if port in _BAD_PORTS:
        raise _invalid_url(f"port {port} belongs to a service that is no web server")
    return match[1], port


def _parse_host(host: str) -> tuple[str, Address | None]:
    """The host as it is looked up. Digits and dots of any alphabet are what they look like."""
    if host.startswith("["):
        try:
            address = IPv6Address(host[1:-1])
        except ValueError:
            raise _invalid_url(f"{host[:80]} is no IPv6 address") from None
        if address.scope_id is not None:
            raise _invalid_url(f"{host[:80]} names an interface of this machine")
        return str(address), address
    if len(host) > 253 + 1:
        raise _invalid_url("its host is longer than 253 characters")
    name = unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower()
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        v4 = _parse_ipv4(labels)
        return str(v4), v4
    if not name.isascii():
        name = _to_ascii(host)
        labels = name.split(".")
        if _NUMBER.fullmatch(labels[-1]):
            raise _invalid_url(f"{host[:80]!r} is no host")
    if not name or len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid_url(f"{host[:80]!r} is no host" if host else "it has no host")
    return name, None


def _parse_ipv4(labels: list[str]) -> IPv4Address:
    """An IPv4 address as browsers read it: up to four numbers, each decimal, octal or hexadecimal."""
    numbers = []
    for label in labels:
        if not _NUMBER.fullmatch(label) or len(label) > 40:
            raise _invalid_url(f"{'.'.join(labels)[:80]!r} is no host")
        try:
            octal = len(label) > 1 and label[0] == "0" and label[1] != "x"
            numbers.append(int(label[2:] or "0", 16) if label[:2] == "0x" else int(label, 8 if octal else 10))
        except ValueError:
            raise _invalid_url(f"{'.'.join(labels)[:80]!r} is no host") from None
    *first, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        raise _invalid_url(f"{'.'.join(labels)[:80]!r} is no host")
    return IPv4Address(sum(number << 8 * (3 - place) for place, number in enumerate(first)) + last)


def _to_ascii(host: str) -> str:
    """A name of other alphabets as it is looked up."""
    import idna  # comes with the HTTP client, and only few addresses need it

    try:
        return idna.encode(host.removesuffix("."), uts46=True, transitional=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        raise _invalid_url(f"{host[:80]!r} is no host") from None


def _scheme_problem(text: str) -> str:
    scheme = _SCHEME.match(text)
    if scheme is None or "." in scheme[1] or scheme[1].lower() == "localhost":
        return "it does not begin with http:// or https://"
    if scheme[1].lower() in _PORTS:
        return f"it does not begin with {scheme[1].lower()}://"
    return f"{scheme[1].lower()}: addresses are not fetched, only http:// and https://"


def _invalid_url(why: str) -> ToolError:
    return ToolError(f"This is no address that can be fetched: {why}.", code="INVALID_URL")
