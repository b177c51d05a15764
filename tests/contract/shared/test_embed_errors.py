"""What goes wrong inside a frame is told there: on the pages that may show the embed, and on no others."""

from __future__ import annotations

import httpx
import pytest

from handrail.core.errors import HandrailError, StorageError
from handrail.doors.web import guest_limits
from handrail.doors.web.app import build_web
from handrail.doors.web.pages import embed
from handrail.platform import platform_of
from handrail.platform.middleware import SecurityMiddleware
from tests.contract.shared.two_tenants import two_tenants


def framed_by(answer: httpx.Response) -> str:
    return answer.headers["content-security-policy"].partition("frame-ancestors ")[2]


@pytest.mark.req("RA-13")
async def test_errors_below_an_embed_are_shown_where_it_is_shown(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        tool = await tenants.tool("image.paint", ana)
        places = ["https://a.example", "https://b.example"]
        text, _ = await tenants.services.embeds.publish(ana, "Paint", [tool], places)
        platform = platform_of(tenants.hr)
        transport = httpx.ASGITransport(
            SecurityMiddleware(build_web(platform), platform), raise_app_exceptions=False
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            there, form = f"/embed/{text.reveal()}", f"/embed/{text.reveal()}/image-paint"

            async def errors() -> dict[int, str]:
                broken = {"content-type": "multipart/form-data"}
                told = [
                    await http.get(f"{form}/deeper"),
                    await http.post(there),
                    await http.post(form, content=b"no boundary", headers=broken),
                ]
                for raised in (HandrailError("Not that."), StorageError("away"), RuntimeError("bug")):
                    with monkeypatch.context() as patch:
                        patch.setattr(embed, "published_tool", _raises(raised))
                        told.append(await http.get(form))
                return {one.status_code: framed_by(one) for one in told}

            assert await errors() == dict.fromkeys((400, 404, 405, 409, 500, 503), " ".join(places))
            for wrong in (f"{there}x", "/embed/he_acme_no_such"):
                assert framed_by(await http.get(f"{wrong}/a/b")) == "'none'", wrong
            await tenants.services.embeds.change(ana, text.id, {"enabled": False})
            assert framed_by(await http.get(f"{form}/deeper")) == "'none'"


@pytest.mark.req("RA-13")
async def test_who_reads_an_embed_too_fast_is_told_so_inside_its_frame(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(guest_limits.PER_SECOND, "embed", 0.001)
    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        tool = await tenants.tool("image.paint", ana)
        text, _ = await tenants.services.embeds.publish(ana, "Paint", [tool], ["https://a.example"])
        platform = platform_of(tenants.hr)
        transport = httpx.ASGITransport(SecurityMiddleware(build_web(platform), platform))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            told = [await http.get(f"/embed/{text.reveal()}") for _ in range(2)]
            assert [one.status_code for one in told] == [200, 429]
            assert {framed_by(one) for one in told} == {"https://a.example"}


def _raises(error: Exception) -> object:
    async def fails(*_: object) -> None:
        raise error

    return fails
