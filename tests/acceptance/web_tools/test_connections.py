"""webfetch against real servers: names and their addresses, certificates, and what comes between."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import os
import socket
import ssl
import threading
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from handrail import ToolError
from handrail.ext.errors import UsageError
from handrail.net.fetcher import resolve
from handrail.toolsets.web import WebOptions
from tests.acceptance.web_tools.local_site import (
    SiteRequest,
    Writer,
    answer,
    fake_resolver,
    fetch,
    options_allowing,
    site,
    without_end,
)


def certificate(folder: Path, *hosts: str) -> tuple[ssl.SSLContext, str]:
    """A server's context for hosts, and the file by which it is trusted."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    alternatives: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
        for host in hosts
    ]
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now - day, now + day
        )
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    trusted, private = folder / "trusted.pem", folder / "key.pem"
    trusted.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(trusted, private)
    return context, str(trusted)


@pytest.mark.req("BT-06")
async def test_a_pinned_connection_is_still_one_to_the_name(tmp_path: Path) -> None:
    """The certificate, the server name and the Host are those of the name, whatever address was pinned."""
    tls, trusted = certificate(tmp_path, "secure.example")
    seen: list[str | None] = []
    tls.sni_callback = lambda connection, name, context: seen.append(name)
    async with site(tls=tls, index=answer("secure")) as web:
        resolver = fake_resolver(secure_example="127.0.0.1", other_example="127.0.0.1")
        options = options_allowing(web, ca_file=trusted, resolver=resolver)
        done = await fetch(f"https://secure.example:{web.port}/", options)
        other = await fetch(f"https://other.example:{web.port}/", options)
        unknown = await fetch(f"https://secure.example:{web.port}/", options_allowing(web, resolver=resolver))
        literal = await fetch(web.url, options)

    assert done.ok and "secure" in done.to_model()
    assert seen[:2] == ["secure.example", "other.example"]
    assert web.asked[0].headers["host"] == f"secure.example:{web.port}" and len(web.asked) == 1
    assert [one.code for one in (other, unknown, literal)] == ["CERTIFICATE_REFUSED"] * 3


@pytest.mark.req("BT-06")
async def test_a_connection_that_is_tampered_with_is_no_page(tmp_path: Path) -> None:
    tls, trusted = certificate(tmp_path, "secure.example")

    async def tampered(asked: SiteRequest, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nbegin")
        await writer.drain()
        os.write(writer.get_extra_info("socket").fileno(), b"\x17\x03\x03\x00\x20" + bytes(32))

    async with site(tls=tls, index=tampered) as web:
        options = options_allowing(web, ca_file=trusted, resolver=fake_resolver(secure_example="127.0.0.1"))
        done = await fetch(f"https://secure.example:{web.port}/", options)

    assert done.code == "CONNECTION_FAILED", done.to_model()


@pytest.mark.req("BT-06")
async def test_what_comes_encrypted_is_counted_too(tmp_path: Path) -> None:
    tls, trusted = certificate(tmp_path, "secure.example")
    hints = partial(without_end, b"HTTP/1.1 103 Early Hints\r\n\r\n" * 999, b"")
    async with site(tls=tls, index=hints) as web:
        resolver = fake_resolver(secure_example="127.0.0.1")
        options = options_allowing(web, ca_file=trusted, resolver=resolver, max_bytes=1000)
        done = await fetch(f"https://secure.example:{web.port}/", options, timeout=20)

    assert done.code == "TOO_LARGE"


@pytest.mark.req("BT-06")
def test_certificates_that_are_none_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for name in ("missing.pem", "empty.pem"):
        with pytest.raises(UsageError, match=name):
            WebOptions(ca_file=str(tmp_path / name))


@pytest.mark.req("BT-06")
async def test_names_that_nobody_answers_for_hold_up_nothing_but_lookups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lookup cannot be stopped: it has threads of its own, and those of everything else stay free."""
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: answered.wait(60) and [])
    try:
        await asyncio.gather(*(fetch("http://silent.example/", timeout=0.01) for _ in range(40)))
        await asyncio.wait_for(asyncio.to_thread(int), 30)
    finally:
        answered.set()


@pytest.mark.req("BT-06")
async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with site("127.0.0.2", index=answer("second")) as web:
        options = WebOptions(
            private_networks=["127.0.0.0/8"], resolver=fake_resolver(two_example=["127.0.0.3", "127.0.0.2"])
        )
        done = await fetch(f"http://two.example:{web.port}/", options)

        far = fake_resolver(two_example=[f"127.0.0.{last}" for last in (3, 4, 5, 6, 2)])
        fifth = await fetch(
            f"http://two.example:{web.port}/", WebOptions(private_networks=["127.0.0.0/8"], resolver=far)
        )

    assert done.ok and "second" in done.to_model()
    assert fifth.code == "CONNECTION_FAILED" and web.connects == 1, "four are enough"


@pytest.mark.req("BT-06")
async def test_a_name_that_nobody_knows_is_told() -> None:
    done = await fetch("http://nobody.example/", WebOptions(resolver=fake_resolver(nobody_example=[])))
    assert done.code == "HOST_NOT_FOUND" and "nobody.example" in done.to_model()

    assert set(await resolve("localhost", 80)) <= {"127.0.0.1", "::1"}
    with pytest.raises(ToolError, match="no host"):
        await resolve(f"{'a' * 64}.example", 80)


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (socket.EAI_AGAIN, "CONNECTION_FAILED", "Names cannot be looked up here now"),
        (socket.EAI_FAIL, "CONNECTION_FAILED", "Names cannot be looked up here now"),
        (socket.EAI_NONAME, "HOST_NOT_FOUND", "or this machine has no network"),
    ],
)
async def test_a_machine_that_cannot_look_up_names_does_not_blame_the_spelling(
    monkeypatch: pytest.MonkeyPatch, number: int, code: str, said: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise socket.gaierror(number, "it says")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(ToolError, match=said) as raised:
        await resolve("www.example.com", 80)
    assert raised.value.code == code
