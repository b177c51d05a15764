"""Which addresses may be connected to: those of the public internet, and what a setting allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from handrail.core.errors import UsageError

Address = IPv4Address | IPv6Address

_METADATA = "of a cloud's metadata"
# The tables of IANA stand here in full, since those of `ipaddress` differ from one Python to the next.
# What is narrower stands before what is wider.
_REFUSED_V4 = {
    IPv4Network(text): why
    for text, why in {
        "100.100.100.200/32": _METADATA,
        "168.63.129.16/32": _METADATA,
        "192.0.0.192/32": _METADATA,
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared with the provider",
        "127.0.0.0/8": "loopback",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "reserved",
        "192.88.99.0/24": "reserved",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "reserved",
        "198.51.100.0/24": "reserved",
        "203.0.113.0/24": "reserved",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }.items()
}
_PUBLIC_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = {
    IPv6Network(text): why
    for text, why in {
        "fd00:42::42/128": _METADATA,
        "fd00:c1::a9fe:a9fe/128": _METADATA,
        "fd00:ec2::23/128": _METADATA,
        "fd00:ec2::254/128": _METADATA,
        "fd20:ce::254/128": _METADATA,
        "::/128": "unspecified",
        "::1/128": "loopback",
        "fc00::/7": "private",
        "fe80::/10": "link-local",
        "ff00::/8": "multicast",
        "2001::/32": "a tunnel",
        "2001::/23": "reserved",
        "2001:db8::/32": "reserved",
        "3fff::/20": "reserved",
    }.items()
}
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_EMBEDS_IPV4_AT_END = (
    _MAPPED,
    _NAT64,
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("::ffff:0:0:0/96"),
    IPv6Network("::/96"),
)
_TEREDO = IPv6Network("2001::/32")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_ISATAP = (0x00005EFE, 0x02005EFE)
_NEVER_BY_NAME = ("link-local", _METADATA, "multicast", "unspecified")
"""What a name that is allowed must not lead to: whoever looks after the name could point it there."""


@dataclass(frozen=True, slots=True)
class AddressAllowlist:
    """What is allowed beside the public internet; each entry for one port, or for all."""

    networks: tuple[tuple[IPv4Network | IPv6Network, int | None], ...] = ()
    hosts: tuple[tuple[str, int | None], ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> AddressAllowlist:
        """Of texts such as `10.0.0.0/8`, `127.0.0.1:8080`, `[::1]:8080`, `intranet.example`."""
        networks: list[tuple[IPv4Network | IPv6Network, int | None]] = []
        hosts: list[tuple[str, int | None]] = []
        for entry in entries:
            host, port = _split_port(entry)
            try:
                networks.append((ip_network(host), port))
            except ValueError:
                if not host or "/" in host or ":" in host or host.replace(".", "").isdigit():
                    raise UsageError(
                        f"{entry!r} is neither a network nor a host that could be allowed. Write it like "
                        "'10.0.0.0/8', '127.0.0.1:8080', '[::1]:8080' or 'intranet.example'."
                    ) from None
                hosts.append((host.lower().rstrip("."), port))
        return cls(tuple(networks), tuple(hosts))

    def has_network(self, address: Address, port: int) -> bool:
        return any(
            address.version == network.version and address in network and only in (None, port)
            for network, only in self.networks
        )

    def has_host(self, host: str, port: int) -> bool:
        return any(host == name and only in (None, port) for name, only in self.hosts)


def refused_kind(address: Address, host: str, port: int, allowed: AddressAllowlist) -> str | None:
    """What kind of address this is, if nobody may be connected to it; None where it may be."""
    plain = address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
    if allowed.has_network(plain, port) or allowed.has_network(address, port):
        return None
    kind = non_public_kind(plain)
    if kind is not None and kind not in _NEVER_BY_NAME and allowed.has_host(host, port):
        return None
    return kind


def non_public_kind(address: Address) -> str | None:
    """Why an address is not of the public internet; None where it is. An address inside it counts as well."""
    if isinstance(address, IPv4Address):
        return _kind_in(address, _REFUSED_V4)
    inside = [
        kind for embedded in _embedded_ipv4(address) if (kind := _kind_in(embedded, _REFUSED_V4)) is not None
    ]
    if (grave := next((kind for kind in inside if kind in _NEVER_BY_NAME), None)) is not None:
        return grave
    if (kind := _kind_in(address, _REFUSED_V6)) is not None:
        return kind
    if not any(address in network for network in (_MAPPED, _NAT64, _PUBLIC_V6)):
        return "reserved"
    return inside[0] if inside else None


def _kind_in(address: Address, refused: Mapping[IPv4Network, str] | Mapping[IPv6Network, str]) -> str | None:
    return next((why for network, why in refused.items() if address in network), None)


def _embedded_ipv4(address: IPv6Address) -> Iterator[IPv4Address]:
    """The addresses of IPv4 to which a translator or a tunnel may lead from this one."""
    number = int(address)
    last = number & 0xFFFFFFFF
    if number > 1 and any(address in network for network in _EMBEDS_IPV4_AT_END):
        yield IPv4Address(last)
    if address in _SIX_TO_FOUR:
        yield IPv4Address(number >> 80 & 0xFFFFFFFF)
    if address in _TEREDO:
        yield IPv4Address(number >> 64 & 0xFFFFFFFF)
        yield IPv4Address(last ^ 0xFFFFFFFF)
    if number >> 32 & 0xFFFFFFFF in _ISATAP:
        yield IPv4Address(last)


def parse_address(text: str) -> Address | None:
    """An address as a resolver gives it. One with a zone is of this machine's own links and is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _split_port(entry: str) -> tuple[str, int | None]:
    """Host and port of an entry. An address of six colons has a port only behind brackets."""
    host, colon, port = entry.strip().rpartition(":")
    if colon and port.isascii() and port.isdigit() and (":" not in host or host.endswith("]")):
        return host.strip("[]"), int(port)
    return entry.strip().strip("[]"), None
