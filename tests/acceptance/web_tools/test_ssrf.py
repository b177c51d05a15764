"""F25: whatever a model, a page or a name says, nothing inside is connected to."""

from __future__ import annotations

import gzip
import zlib

import pytest

from handrail.toolsets.web import WebOptions
from tests.acceptance.web_tools.local_site import (
    Site,
    answer,
    fake_resolver,
    fetch,
    options_allowing,
    redirect,
    site,
)

SPELLINGS = [
    "http://127.0.0.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7F.0.0.1:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0177.0.0.01:{port}/",
    "http://017700000001:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://0.0.0.0:{port}/",
    "http://0:{port}/",
    "http://[::]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::127.0.0.1]:{port}/",
    "http://[64:ff9b:1::127.0.0.1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[2001:0:7f00:1::]:{port}/",
    "http://１２７．０．０．１:{port}/",
    "http://127。0。0。1:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST.:{port}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/",
    "http://ｌｏｃａｌｈｏｓｔ:{port}/",
    "http://public.example@127.0.0.1:{port}/",
    "http://public.example:80@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@public.example/",
    "http://127.0.0.1:{port}\\@public.example/",
    "http://public.example\\@127.0.0.1:{port}/",
    "http://127.0.0.1%00.public.example:{port}/",
    "http://127.0.0.1\t:{port}/",
    "http:\\\\127.0.0.1:{port}/",
    "http:127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "\x01http://127.0.0.1:{port}/",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "gopher://127.0.0.1:{port}/",
    "ftp://127.0.0.1:{port}/",
    "dict://127.0.0.1:{port}/",
    "jar:http://127.0.0.1:{port}/!/",
    "unix:///var/run/docker.sock",
    "data:text/html,hello",
    "view-source:http://127.0.0.1:{port}/",
]
INSIDE = [
    "10.0.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "0.0.0.0",
    "::",
    "::1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
]


def nothing_reached(*sites: Site) -> bool:
    return all(one.connects == 0 for one in sites)


@pytest.mark.fault("F25")
@pytest.mark.req("BT-06")
async def test_no_spelling_of_a_loopback_address_is_connected_to() -> None:
    async with site(index=answer("inside")) as v4, site("::1", v4.port, index=answer("inside")) as v6:
        for spelling in [*SPELLINGS, "http://[::1]:{port}/", "http://[0:0::0:1]:{port}/"]:
            done = await fetch(spelling.format(port=v4.port))

            assert done.code in ("ADDRESS_REFUSED", "INVALID_URL"), (spelling, done.to_model())
            assert "inside" not in done.to_model()
        assert nothing_reached(v4, v6)

        assert (await fetch(v4.url, options_allowing(v4))).ok, (
            "the server counts nobody unless it can be reached"
        )
        assert (await fetch(v6.url, options_allowing(v6))).ok
        assert (v4.connects, v6.connects) == (1, 1)


@pytest.mark.fault("F25")
@pytest.mark.req("BT-06")
@pytest.mark.parametrize("address", INSIDE)
async def test_a_name_that_leads_inside_is_refused_whatever_else_it_leads_to(address: str) -> None:
    for found in ([address], ["93.184.216.34", address], [address, "93.184.216.34"]):
        done = await fetch("http://name.example/", WebOptions(resolver=fake_resolver(name_example=found)))

        assert done.code == "ADDRESS_REFUSED", found
        assert address not in done.to_model(), "nobody learns what a name means inside"


@pytest.mark.fault("F25")
async def test_a_name_that_changes_between_check_and_use_leads_where_it_was_checked() -> None:
    async with (
        site("127.0.0.2", index=answer("the one that was checked"), again=redirect("/")) as checked,
        site("127.0.0.1", checked.port, index=answer("inside")) as inside,
    ):
        turns = iter(["127.0.0.2", "127.0.0.1", "127.0.0.2", "127.0.0.1"])

        async def rebinding(host: str, port: int) -> list[str]:
            return [next(turns)]

        options = options_allowing(checked, resolver=rebinding)
        first = await fetch(f"http://rebinding.example:{checked.port}/", options)
        assert first.ok and "the one that was checked" in first.to_model()
        assert next(turns) == "127.0.0.1", "a name is looked up once for each request"

        then = await fetch(f"http://rebinding.example:{checked.port}/again", options)
        assert then.code == "ADDRESS_REFUSED"
        assert (checked.connects, inside.connects) == (2, 0)


@pytest.mark.fault("F25")
@pytest.mark.req("BT-06")
async def test_no_redirect_leads_inside() -> None:
    async with site(index=answer("inside")) as inside, site("127.0.0.2") as outside:
        places = [spelling.format(port=inside.port) for spelling in SPELLINGS if "\x01" not in spelling]
        ways = [(place, "302 Found") for place in [*places, inside.url.removeprefix("http:")]]
        ways += [(inside.url, status) for status in ("301 M", "303 S", "307 T", "308 P")]
        for number, (place, status) in enumerate(ways):
            outside.pages[f"/{number}"] = redirect(place.encode().decode("latin-1"), status)
            done = await fetch(f"{outside.url}/{number}", options_allowing(outside))

            assert not done.ok and "inside" not in done.to_model(), place
        assert outside.connects >= len(ways)
        assert nothing_reached(inside)


@pytest.mark.fault("F25")
@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(bytes(20_000_000))),
        ("x-gzip", gzip.compress(bytes(20_000_000))),
        ("deflate", zlib.compress(bytes(20_000_000))),
        ("deflate", zlib.compress(bytes(20_000_000), wbits=-15)),
    ],
    ids=["gzip", "x-gzip", "deflate", "bare deflate"],
)
async def test_a_bomb_is_not_unpacked(encoding: str, packed: bytes) -> None:
    async with site(index=answer(packed, "text/html", Content_Encoding=encoding)) as bomb:
        done = await fetch(bomb.url, options_allowing(bomb, max_bytes=1_000_000))

    assert len(packed) < 1_000_000 and done.code == "TOO_LARGE"


@pytest.mark.fault("F25")
@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "compress", "gzip;q=1"])
async def test_what_is_packed_twice_or_in_a_way_that_nobody_asked_for_is_refused(encoding: str) -> None:
    packed = gzip.compress(gzip.compress(bytes(1_000_000)))
    async with site(index=answer(packed, "text/html", Content_Encoding=encoding)) as odd:
        done = await fetch(odd.url, options_allowing(odd))

    assert done.code == "UNSUPPORTED_CONTENT"
    assert odd.asked[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.fault("F25")
async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with site(index=answer("inside")) as proxy, site("127.0.0.2", index=answer("outside")) as outside:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        done = await fetch(outside.url, options_allowing(outside))

        assert done.ok and "outside" in done.to_model()
        assert nothing_reached(proxy)


@pytest.mark.fault("F25")
async def test_a_host_that_is_allowed_by_name_leads_inside_and_never_to_metadata() -> None:
    async with site(index=answer("intranet")) as inside:
        options = WebOptions(
            private_networks=[f"intranet.example:{inside.port}"],
            resolver=fake_resolver(intranet_example="127.0.0.1", metadata_example="169.254.169.254"),
        )
        assert (await fetch(f"http://intranet.example:{inside.port}/", options)).ok
        assert (await fetch("http://intranet.example:81/", options)).code == "ADDRESS_REFUSED"
        assert (await fetch(inside.url, options)).code == "ADDRESS_REFUSED"
    metadata = WebOptions(private_networks=["metadata.example"], resolver=options.resolver)
    assert (await fetch("http://metadata.example/", metadata)).code == "ADDRESS_REFUSED"
