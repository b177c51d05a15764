"""Which addresses are of the public internet, and which spellings of them there are."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ToolError
from handrail.ext.errors import UsageError
from handrail.net.addresses import AddressAllowlist, non_public_kind, refused_kind
from handrail.net.url import parse_url
from handrail.toolsets.web import WebOptions

INSIDE = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 224.0.0.0/3"
)
inside_v4 = st.one_of(
    [
        st.integers(int(network[0]), int(network[-1])).map(IPv4Address)
        for network in map(IPv4Network, INSIDE.split())
    ]
)
WIDE = str.maketrans("0123456789.abcdefx", "０１２３４５６７８９．ａｂｃｄｅｆｘ")
ROUND = str.maketrans("0123456789", "⓪①②③④⑤⑥⑦⑧⑨")


@st.composite
def spellings(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """An address inside, in one of the ways in which somebody may write it."""
    address = draw(inside_v4)
    octets = list(address.packed)
    parts = draw(st.integers(1, 4))
    numbers = [*octets[: parts - 1], int.from_bytes(bytes(octets[parts - 1 :]), "big")]
    ways = st.sampled_from(["{}", "{:#x}", "0x{:X}", "0X{:08x}", "0{:o}", "000{:o}"])
    host = ".".join(draw(ways).format(number) for number in numbers) + draw(st.sampled_from(["", "."]))
    script = draw(st.sampled_from([None, WIDE, ROUND]))
    host = host if script is None else host.translate(script)
    return address, host.replace(".", draw(st.sampled_from([".", "。", "．", "｡"])))


@pytest.mark.fault("F25")
@pytest.mark.req("BT-06")
@given(spellings())
def test_every_spelling_of_an_address_inside_is_that_address(spelt: tuple[IPv4Address, str]) -> None:
    address, host = spelt
    url = parse_url(f"http://{host}/")

    assert url.address == address and str(url) == f"http://{address}/"
    assert refused_kind(url.address, url.host, url.port, AddressAllowlist()) is not None


@pytest.mark.fault("F25")
@given(
    inside_v4, st.sampled_from(["::ffff:0:0", "64:ff9b::", "::", "2002::", "64:ff9b:1::", "2a00:1::5efe:0:0"])
)
def test_an_address_inside_is_found_within_one_of_six(inner: IPv4Address, prefix: str) -> None:
    shift = 80 if prefix == "2002::" else 0
    address = IPv6Address(int(IPv6Address(prefix)) | int(inner) << shift)

    assert non_public_kind(address) is not None
    assert parse_url(f"http://[{address}]/").address == address


@pytest.mark.fault("F25")
@given(st.ip_addresses(v=6))
def test_only_global_unicast_addresses_are_public(address: IPv6Address) -> None:
    if non_public_kind(address) is None:
        embedded = IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")
        assert address in IPv6Network("2000::/3") or any(address in network for network in embedded)


@pytest.mark.fault("F25")
@given(st.ip_addresses(v=4))
def test_no_address_that_python_calls_other_than_global_is_public(address: IPv4Address) -> None:
    """What this Python knows is a part of what we refuse."""
    if non_public_kind(address) is None:
        assert address.is_global and not address.is_multicast and not address.is_reserved


@pytest.mark.fault("F25")
@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0.1.2.3", "unspecified"),
        ("100.127.0.1", "shared with the provider"),
        ("192.88.99.1", "reserved"),
        ("198.51.100.1", "reserved"),
        ("203.0.113.1", "reserved"),
        ("239.255.255.255", "multicast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("100::1", "reserved"),
        ("fd12:3456::1", "private"),
        ("febf::1", "link-local"),
        ("ff0e::1", "multicast"),
        ("2001:0:808:808::", "a tunnel"),
        ("2001:1ff:ffff::1", "reserved"),
        ("2001:db8:1::1", "reserved"),
        ("3fff:fff::1", "reserved"),
        ("4000::1", "reserved"),
    ],
)
def test_what_kind_of_address_is_refused_is_said(address: str, kind: str) -> None:
    assert non_public_kind(ip_address(address)) == kind


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_the_public_internet_is_public(address: str) -> None:
    assert non_public_kind(ip_address(address)) is None


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("entry", "address", "port", "is_allowed"),
    [
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "11.1.2.3", 80, False),
        ("10.0.0.0/8", "::ffff:10.1.2.3", 80, True),
        ("127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("127.0.0.1:8080", "127.0.0.1", 8081, False),
        ("[::1]:80", "::1", 80, True),
        ("::1", "::1", 443, True),
        ("[fd00::/8]", "fd00:ec2::254", 80, True),
        ("fd00::/8", "10.0.0.1", 80, False),
        ("name.example", "10.0.0.1", 80, True),
        ("Name.Example.", "10.0.0.1", 80, True),
        ("name.example:443", "10.0.0.1", 80, False),
        ("other.example", "10.0.0.1", 80, False),
        ("name.example", "169.254.169.254", 80, False),
        ("169.254.169.254", "169.254.169.254", 80, True),
    ],
)
def test_a_setting_allows_what_it_names(entry: str, address: str, port: int, is_allowed: bool) -> None:
    refused = (
        refused_kind(ip_address(address), "name.example", port, AddressAllowlist.of([entry])) is not None
    )
    public = non_public_kind(ip_address(address)) is None

    assert refused == (not is_allowed and not public)


METADATA_V4 = ["100.100.100.200", "168.63.129.16", "169.254.169.254", "192.0.0.192"]
METADATA_V6 = ["fd00:42::42", "fd00:c1::a9fe:a9fe", "fd00:ec2::23", "fd00:ec2::254", "fd20:ce::254"]
CARRIERS = [
    *["::ffff:{0}", "64:ff9b::{0}", "64:ff9b:1::{0}", "::ffff:0:{0}", "::{0}", "2a00:1::5efe:{0}"],
    *["fd00::200:5efe:{0}", "2002:{1}::1", "2001:0:{1}::", "2001:0:808:808::{2}"],
]


def carried() -> list[str]:
    """The metadata addresses of IPv4 in each form that leads to them from IPv6."""
    addresses = []
    for address in map(IPv4Address, METADATA_V4):
        turned = IPv4Address(int(address) ^ 0xFFFFFFFF)
        halves = f"{int(address) >> 16:x}:{int(address) & 0xFFFF:x}"
        addresses += [carrier.format(address, halves, turned) for carrier in CARRIERS]
    return addresses


@pytest.mark.fault("F25")
@pytest.mark.req("BT-06")
@pytest.mark.parametrize("address", [*METADATA_V4, *METADATA_V6, *carried()])
def test_a_host_that_is_allowed_by_name_never_leads_to_metadata(address: str) -> None:
    kind = refused_kind(ip_address(address), "wiki.example", 80, AddressAllowlist.of(["wiki.example"]))

    assert kind in ("of a cloud's metadata", "link-local")
    assert refused_kind(ip_address(address), "wiki.example", 80, AddressAllowlist.of([address])) is None


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    "address",
    ["100.100.100.201", "192.0.0.193", "fd00:ec2::1", "::1", "::10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1"],
)
def test_a_host_that_is_allowed_by_name_may_lead_to_what_is_private(address: str) -> None:
    assert non_public_kind(ip_address(address)) is not None
    assert (
        refused_kind(ip_address(address), "wiki.example", 80, AddressAllowlist.of(["wiki.example"])) is None
    )


@pytest.mark.req("BT-06")
@pytest.mark.parametrize("entry", ["", "10.0.0.1/8", "300.1.1.1", "10.0.0.0/33", "a/b", "1:2:3"])
def test_a_setting_that_names_nothing_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match=r"10\.0\.0\.0/8"):
        WebOptions(private_networks=[entry])


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"max_bytes": -1}, {"redirects": -1}, {"provider": "x"}, {"searxng_url": "x"}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        WebOptions(**options)


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://Example.COM", "https://example.com/"),
        ("  https://example.com./a?b#c ", "https://example.com/a?b"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:8080", "http://example.com:8080/"),
        ("http://example.com:/", "http://example.com/"),
        ("https://bücher.example/ä?ö", "https://xn--bcher-kva.example/%C3%A4?%C3%B6"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("http://example.com?q=1", "http://example.com/?q=1"),
        ("http://example.com/%41%zz", "http://example.com/%41%zz"),
        ("http://[2606:4700::1]:8080/", "http://[2606:4700::1]:8080/"),
        ("http://a_b.example/", "http://a_b.example/"),
    ],
)
def test_an_address_has_one_form(text: str, normal: str) -> None:
    assert str(parse_url(text)) == normal
    assert parse_url(normal) == parse_url(text)


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begin with http"),
        ("example.com", "begin with http"),
        ("localhost:80", "begin with http"),
        ("http:/x", "begin with http"),
        ("file:///etc/passwd", "file: addresses are not fetched"),
        ("javascript:alert(1)", "javascript: addresses"),
        ("http://", "no host"),
        ("http://user:word@example.com/", "leave out what stands before the @"),
        ("http://exa mple.com/", "%20"),
        ("http://example.com/\r\nHost: evil", "control"),
        ("http://example.com/\ud800", "control"),
        ("http://example.com\\x", "backslash"),
        ("http://example.com:22/", "port 22"),
        ("http://example.com:6379/", "port 6379"),
        ("http://example.com:65536/", "65535"),
        ("http://example.com:99999999999999999999/", "65535"),
        ("http://example.com:8٠/", "no host and port"),
        ("http://[::1/", "no host"),
        ("http://[zz]/", "no IPv6"),
        ("http://[fe80::1%25lo]/", "interface"),
        ("http://1.2.3.4.5/", "no host"),
        ("http://256.1.1.1/", "no host"),
        ("http://4294967296/", "no host"),
        ("http://127.0.0.08/", "no host"),
        ("http://a.b.0x7f/", "no host"),
        ("http://a..b/", "no host"),
        ("http://-a.example/", "no host"),
        ("http://a%2eb/", "no host"),
        ("http://a℀b/", "no host"),
        ("http://127.0.0.1\u00ad/", "no host"),
        ("http://xn--\u0131.example/", "no host"),
        (f"http://{'a' * 64}.example/", "no host"),
        (f"http://{'a.' * 200}example/", "253"),
        (f"http://example.com/{'a' * 9000}", "8192"),
        (f"http://example.com/{'ä' * 4000}", "8192"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(text: str, why: str) -> None:
    with pytest.raises(ToolError) as raised:
        parse_url(text)

    assert raised.value.code == "INVALID_URL" and why in str(raised.value)


@given(st.text(max_size=60).map(lambda text: f"http://{text}"))
def test_whatever_is_written_is_an_address_in_one_form_or_none(text: str) -> None:
    try:
        url = parse_url(text)
    except ToolError:
        return
    assert str(url).isascii() and parse_url(str(url)) == url


@given(st.text(max_size=60))
def test_wherever_a_link_leads_it_is_an_address_or_none(reference: str) -> None:
    try:
        url = parse_url("http://example.com/a/b").joined(reference)
    except ToolError:
        return
    assert url.scheme in ("http", "https")
