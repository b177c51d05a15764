"""Claims: what one call writes, others leave alone until it is over, however it ends."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Result, tool
from handrail.core.guard.footprint import name_of
from handrail.core.tell.log import open_runs
from handrail.ext.ports import MemoryClaims

WITHOUT_ASKING = Policy(approval_mode="policy")
ANA = Principal(tenant="acme", user="ana", agent="writer")
BO = Principal(tenant="acme", user="bo")


class HeldWriteTool:
    """A tool that writes at a place and stays there until it is told how to go on."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.go_on: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        @tool("desk.write", level="write", writes=lambda args: [f"desk:{at}" for at in args.at])
        async def write(at: list[str], stay: bool = True) -> Any:
            """Write at some places."""
            if not stay:
                return "written"
            self.entered.set()
            return await self.go_on

        self.tool = write


@pytest.mark.req("EX-10", "EX-21")
async def test_a_sibling_is_refused_and_told_who_holds_what() -> None:
    desk = HeldWriteTool()
    async with Handrail([desk.tool], policy=WITHOUT_ASKING) as hr:
        first = asyncio.create_task(hr.call("desk.write", {"at": ["left"]}, principal=ANA, session="s1"))
        await desk.entered.wait()
        out = await hr.call("desk.write", {"at": ["right", "left"]}, principal=BO, session="s2")
        assert (out.status, out.code, out.run_id) == ("refused", "RESOURCE_BUSY", None)
        assert out.result.metadata == {"holder": "writer in session s1", "resource": "desk:left"}
        assert "writer in session s1 is changing desk:left right now" in (out.result.error or "")
        assert [event.type for event in hr.log.read("acme", session="s2")] == ["tool.failed"]
        free = await hr.call("desk.write", {"at": ["right"], "stay": False}, principal=BO, session="s2")
        assert free.ok, "a refused claim takes none of its keys"
        desk.go_on.set_result("written")
        assert (await first).ok


@pytest.mark.req("EX-10")
async def test_the_same_caller_in_the_same_session_may_claim_again() -> None:
    desk, claims = HeldWriteTool(), MemoryClaims()
    async with Handrail([desk.tool], policy=WITHOUT_ASKING, claims=claims) as hr:
        first = asyncio.create_task(hr.call("desk.write", {"at": ["left"]}, principal=ANA, session="s1"))
        await desk.entered.wait()
        again = await hr.call("desk.write", {"at": ["left"], "stay": False}, principal=ANA, session="s1")
        assert again.ok
        assert len(claims) == 1, "the first one still holds it"
        desk.go_on.set_result("written")
        assert (await first).ok
    assert len(claims) == 0


@pytest.mark.req("EX-10")
async def test_calls_without_a_session_do_not_share_their_claims() -> None:
    desk = HeldWriteTool()
    async with Handrail([desk.tool], policy=WITHOUT_ASKING) as hr:
        first = asyncio.create_task(hr.call("desk.write", {"at": ["left"]}, principal=ANA))
        await desk.entered.wait()
        out = await hr.call("desk.write", {"at": ["left"], "stay": False}, principal=ANA)
        assert out.code == "RESOURCE_BUSY"
        desk.go_on.set_result("written")
        assert (await first).ok


@pytest.mark.req("EX-21")
@pytest.mark.parametrize(
    "ending", ["success", "failure", "error", "cancelled", "timeout", "task", "bad output"]
)
async def test_a_claim_is_released_however_the_call_ends(ending) -> None:
    desk, claims = HeldWriteTool(), MemoryClaims()
    limit = 0.01 if ending == "timeout" else None
    async with Handrail([desk.tool], policy=WITHOUT_ASKING, claims=claims, timeout=limit) as hr:
        call = asyncio.create_task(hr.call("desk.write", {"at": ["left", "right"]}, id="c1", session="s"))
        await desk.entered.wait()
        assert len(claims) == 2
        match ending:
            case "success":
                desk.go_on.set_result("written")
            case "failure":
                desk.go_on.set_result(Result.fail("no ink"))
            case "error":
                desk.go_on.set_exception(OSError("no ink"))
            case "bad output":
                desk.go_on.set_result(object())
            case "cancelled":
                assert await hr.cancel("c1")
            case "task":
                call.cancel()
        await asyncio.wait({call})
        assert len(claims) == 0
        assert not open_runs(hr.log.read("local"))
        if not call.cancelled():
            expected = {"success": "completed", "cancelled": "cancelled"}.get(ending, "failed")
            assert call.result().status == expected


@pytest.mark.req("EX-21")
async def test_a_claim_is_released_when_a_hook_refuses_the_call() -> None:
    class Broken:
        async def before(self, tool, values, ctx, /):
            raise OSError("the cache is gone")

        async def after(self, tool, values, ctx, result, /):
            return result

    desk, claims = HeldWriteTool(), MemoryClaims()
    async with Handrail([desk.tool], policy=WITHOUT_ASKING, claims=claims, hooks=[Broken()]) as hr:
        assert (await hr.call("desk.write", {"at": ["left"]})).status == "refused"
    assert len(claims) == 0


@pytest.mark.req("EX-10")
async def test_nothing_is_claimed_before_a_person_has_agreed() -> None:
    desk, claims = HeldWriteTool(), MemoryClaims()
    held: list[int] = []

    async def approver(request):
        held.append(len(claims))
        return True

    async with Handrail([desk.tool], claims=claims, approver=approver) as hr:
        assert (await hr.call("desk.write", {"at": ["left"], "stay": False})).ok
        assert held == [0]


@pytest.mark.req("EX-10")
@pytest.mark.parametrize(
    ("writes", "claimed"),
    [
        (lambda args: "desk", ["desk"]),
        (lambda args: None, []),
        (lambda args: (), []),
        (lambda args: (f"desk:{n}" for n in range(2)), ["desk:0", "desk:1"]),
        (lambda args: [7], ["7"]),
    ],
    ids=["text", "nothing", "empty", "generator", "number"],
)
async def test_a_tool_names_what_it_writes_in_several_ways(writes, claimed) -> None:
    held: list[str] = []

    class Claims(MemoryClaims):
        def take(self, keys, tenant, holder, /):
            held.extend(keys)
            return super().take(keys, tenant, holder)

    @tool("desk.write", level="write", writes=writes)
    async def write() -> str:
        """Write."""
        return "written"

    claims = Claims()
    async with Handrail([write], policy=WITHOUT_ASKING, claims=claims) as hr:
        assert (await hr.call("desk.write")).ok
    assert held == claimed and len(claims) == 0


@pytest.mark.req("EX-10")
async def test_a_tool_that_cannot_say_what_it_writes_is_not_run() -> None:
    @tool("desk.write", level="write", writes=lambda args: args.nothing)
    async def write() -> str:
        """Write."""
        raise AssertionError("it ran")

    async with Handrail([write], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("desk.write", session="s")
        assert (out.status, out.code, out.run_id) == ("refused", "POLICY_ERROR", None)
        assert [event.kind for event in hr.log.read("local", session="s")] == ["failed"]


@pytest.mark.req("EX-10")
async def test_of_many_at_once_one_writes_at_a_time() -> None:
    inside: list[int] = []

    @tool("desk.write", level="write", writes=lambda args: ["desk"])
    async def write(number: int) -> None:
        """Write."""
        assert inside == []
        inside.append(number)
        await asyncio.sleep(0)
        inside.remove(number)

    async with Handrail([write], policy=WITHOUT_ASKING) as hr:
        outs = await asyncio.gather(*(hr.call("desk.write", {"number": n}) for n in range(50)))
        codes = [out.code for out in outs]
        assert codes.count(None) >= 1 and set(codes) == {None, "RESOURCE_BUSY"}
        assert not len(hr._runtime.claims)  # type: ignore[arg-type]


@pytest.mark.req("EX-10")
async def test_a_tenant_is_not_held_up_by_another_and_hears_nothing_of_it() -> None:
    desk = HeldWriteTool()
    eve = Principal(tenant="globex", user="ana", agent="writer")
    async with Handrail([desk.tool], policy=WITHOUT_ASKING) as hr:
        first = asyncio.create_task(hr.call("desk.write", {"at": ["left"]}, principal=ANA, session="s1"))
        await desk.entered.wait()
        out = await hr.call("desk.write", {"at": ["left"], "stay": False}, principal=eve, session="s2")
        assert out.ok
        desk.go_on.set_result("written")
        assert (await first).ok


@pytest.mark.req("EX-10")
@pytest.mark.parametrize(
    ("held", "wanted", "free"),
    [
        ("src/", "src/app.py", False),
        ("src/app.py", "src/", False),
        ("src/", "src/core/", False),
        ("src/core/", "src/", False),
        ("src/", "src", True),
        ("src/app", "src/app.py", True),
        ("src/core/", "src/app.py", True),
    ],
)
def test_a_key_that_ends_in_a_slash_stands_for_everything_below_it(
    held: str, wanted: str, free: bool
) -> None:
    claims = MemoryClaims()
    assert claims.take([held], "acme", "ana") is None
    taken = claims.take([wanted], "acme", "bo")
    assert (taken is None) is free
    assert taken is None or (taken.key, taken.holder) == (held, "ana")
    assert claims.take([wanted], "globex", "bo") is None
    claims.release([held], "acme", "ana")
    assert claims.take([wanted], "acme", "bo") is None


@pytest.mark.req("EX-10")
@pytest.mark.parametrize(
    ("key", "wanted", "args", "name"),
    [
        ("doc:plan", ["doc:plan"], {}, "doc:plan"),
        ("/ws/readme.md", ["/ws/readme.md"], {"path": "./README.md"}, "./README.md"),
        ("/ws/", ["/ws/readme.md"], {"file_path": "README.md"}, "README.md"),
        ("/ws/a/b.txt", ["/ws/"], {}, "a/b.txt"),
        ("/ws/", ["/ws/"], {}, "ws"),
        ("/ws/a.txt", ["/ws/a.txt"], {}, "a.txt"),
    ],
)
def test_what_is_held_is_named_as_the_caller_knows_it(
    key: str, wanted: list[str], args: dict[str, str], name: str
) -> None:
    assert name_of(key, wanted, args) == name


_KEYS = st.builds(
    lambda parts, tree: "/" + "/".join(parts) + tree,
    st.lists(st.sampled_from("ab"), min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)


@pytest.mark.req("EX-10")
@given(st.lists(_KEYS, max_size=4), _KEYS)
def test_a_key_is_free_unless_it_or_a_tree_around_it_or_something_below_it_is_held(
    held: list[str], wanted: str
) -> None:
    claims = MemoryClaims()
    claims.take(held, "acme", "bo")

    def covers(one: str, other: str) -> bool:
        return one == other or (one.endswith("/") and other.startswith(one))

    taken = claims.take([wanted], "acme", "ana")
    assert (taken is not None) == any(covers(one, wanted) or covers(wanted, one) for one in held)
    assert claims.take([wanted], "other", "ana") is None
