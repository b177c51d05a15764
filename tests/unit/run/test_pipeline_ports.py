"""Ports that fail: the call is refused or reported, says why, and leaves nothing open."""

from typing import Any

import pytest

from handrail import Context, Handrail, Outcome, Policy, Principal, Rule, tool
from handrail.core.tell.log import open_runs
from handrail.ext.ports import MemoryApprovals, MemoryClaims, MemoryIdempotencyKeys, MemoryLog

WITHOUT_ASKING = Policy(approval_mode="policy")
RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool("desk.write", level="write", writes=lambda args: ["desk"])
async def write() -> str:
    """Write on the desk."""
    RAN.append("write")
    return "written"


@tool("desk.read", level="read")
async def read(*, ctx: Context) -> str:
    """Read what is on the desk."""
    RAN.append("read")
    return "read"


def broken(*_: Any, **__: Any) -> Any:
    raise OSError("out of order")


async def broken_later(*_: Any, **__: Any) -> Any:
    raise OSError("out of order")


def port(kind: type, *methods: str, **options: Any) -> Any:
    """One of the ports in memory, with some of its methods out of order."""
    return type("Broken", (kind,), dict.fromkeys(methods, broken))(**options)


def left_nothing(hr: Handrail, *, log: bool = True) -> None:
    assert not hr._runtime.running
    if log:
        assert not open_runs(hr.log.read("local"))


async def called(hr: Handrail, name: str = "desk.write", **options: Any) -> Outcome:
    return await hr.call(name, session="s", **options)


@pytest.mark.req("EX-03", "EX-16")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"create_context": broken}, "INTERNAL_ERROR"),
        ({"claims": port(MemoryClaims, "take")}, "INTERNAL_ERROR"),
        ({"keys": port(MemoryIdempotencyKeys, "begin")}, "INTERNAL_ERROR"),
        ({"keys": port(MemoryIdempotencyKeys, "dispatched")}, "LOG_UNAVAILABLE"),
        ({"log": port(MemoryLog, "append")}, "LOG_UNAVAILABLE"),
        ({"log": port(MemoryLog, "flush")}, "LOG_UNAVAILABLE"),
        ({"safety": [broken]}, "POLICY_ERROR"),
        ({"policy": Policy(), "approver": broken_later}, "APPROVER_FAILED"),
        ({"policy": Policy(), "approver": broken}, "APPROVER_FAILED"),
        ({"policy": Policy(), "approvals": port(MemoryApprovals, "add", now=lambda: 0.0)}, "INTERNAL_ERROR"),
    ],
    ids=[
        "create_context",
        "claims.take",
        "keys.begin",
        "keys.dispatched",
        "log.append",
        "log.flush",
        "safety",
        "approver",
        "sync approver",
        "approvals.add",
    ],
)
async def test_a_port_that_fails_before_the_body_refuses_the_call(options, code) -> None:
    async with Handrail([write], **{"policy": WITHOUT_ASKING, **options}) as hr:
        out = await called(hr, idempotency_key="k")
        assert (out.status, out.code) == ("refused", code)
        assert out.result.error and out.result.summary
        assert RAN == []
        kinds = [event.kind for event in hr.log.read("local")]
        assert (out.run_id is not None) == ("started" in kinds)
        assert kinds.count("failed") == (0 if "log" in options and kinds == [] else 1)
        assert not len(hr._runtime.claims)  # type: ignore[arg-type]
        left_nothing(hr)


@pytest.mark.req("EX-03", "BY-12")
async def test_a_key_under_which_nothing_ran_because_the_log_failed_is_free() -> None:
    class Log(MemoryLog):
        full = True

        async def flush(self, event, /) -> None:
            if self.full:
                raise OSError("disk full")

    log = Log()
    async with Handrail([write], policy=WITHOUT_ASKING, log=log) as hr:
        assert (await called(hr, idempotency_key="k")).code == "LOG_UNAVAILABLE"
        log.full = False
        assert (await called(hr, idempotency_key="k")).status == "completed"
    assert RAN == ["write"]


@pytest.mark.req("EX-03", "BY-12")
async def test_a_key_under_which_nothing_ran_because_a_port_failed_is_free() -> None:
    answers: list[Any] = [broken, lambda tool_id, call_id: {}]

    def create_context(tool_id: str, call_id: str) -> Any:
        return answers.pop(0)(tool_id, call_id)

    async with Handrail([write], policy=WITHOUT_ASKING, create_context=create_context) as hr:
        assert (await called(hr, idempotency_key="k")).status == "refused"
        assert (await called(hr, idempotency_key="k")).status == "completed"
    assert RAN == ["write"]


@pytest.mark.req("EX-03")
@pytest.mark.parametrize("methods", [["append"], ["flush"], ["append", "flush"]])
async def test_a_log_that_fails_does_not_hold_up_a_read(methods) -> None:
    async with Handrail([read], log=port(MemoryLog, *methods)) as hr:
        heard: list[str] = []
        hr.subscribe(lambda event: heard.append(event.kind))
        out = await called(hr, "desk.read")
        assert (out.status, out.result.data) == ("completed", "read")
        assert heard == ["started", "completed"]
        left_nothing(hr)


@pytest.mark.req("EX-03")
async def test_a_log_that_fails_after_the_body_does_not_take_its_result_away() -> None:
    class Log(MemoryLog):
        def append(self, event, /) -> None:
            if event.kind == "completed":
                raise OSError("disk full")
            super().append(event)

    async with Handrail([write], policy=WITHOUT_ASKING, log=Log()) as hr:
        out = await called(hr)
        assert (out.status, out.result.data) == ("completed", "written")
        left_nothing(hr, log=False)


@pytest.mark.req("EX-16", "RG-08")
async def test_a_listener_that_fails_disturbs_nobody() -> None:
    heard: list[str] = []
    async with Handrail([write], policy=WITHOUT_ASKING, on_result=broken) as hr:
        hr.subscribe(broken)
        hr.subscribe(lambda event: heard.append(event.kind))
        assert (await called(hr)).status == "completed"
        assert heard == ["started", "completed"]
        left_nothing(hr)


@pytest.mark.req("EX-12")
async def test_a_source_of_secrets_that_fails_fails_the_body_that_asked() -> None:
    @tool("desk.open", level="read")
    async def unlock(*, ctx: Context) -> str:
        """Open the desk."""
        return ctx.secret("KEY")

    async with Handrail([unlock], secrets=broken) as hr:
        out = await called(hr, "desk.open")
        assert (out.status, out.code) == ("failed", "TOOL_FAILED")
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "failed"]
        left_nothing(hr)


@pytest.mark.req("EX-21")
async def test_a_claim_that_cannot_be_released_does_not_take_the_result_away() -> None:
    async with Handrail([write], policy=WITHOUT_ASKING, claims=port(MemoryClaims, "release")) as hr:
        out = await called(hr)
        assert (out.status, out.result.data) == ("completed", "written")
        left_nothing(hr)


@pytest.mark.req("BY-12")
@pytest.mark.parametrize("method", ["finish", "release"])
async def test_a_key_that_cannot_be_settled_does_not_take_the_result_away(method) -> None:
    async with Handrail([write], policy=WITHOUT_ASKING, keys=port(MemoryIdempotencyKeys, method)) as hr:
        assert (await called(hr, idempotency_key="k")).status == "completed"
        left_nothing(hr)


@pytest.mark.req("EX-07")
@pytest.mark.parametrize("what", ["level", "danger"])
async def test_a_tool_that_cannot_say_how_grave_it_is_is_not_run(what) -> None:
    options: dict[str, Any] = {what: broken}

    @tool("desk.grave", **options)
    async def grave() -> str:
        """Do something grave."""
        RAN.append("grave")
        return "done"

    async with Handrail([grave], policy=WITHOUT_ASKING) as hr:
        out = await called(hr, "desk.grave")
        assert (out.status, out.code) == ("refused", "POLICY_ERROR")
        assert RAN == []
        left_nothing(hr)


@pytest.mark.req("EX-07", "EX-08")
async def test_a_rule_whose_test_fails_refuses() -> None:
    class Odd(str):
        def __eq__(self, other: object) -> bool:
            raise OSError("out of order")

        __hash__ = str.__hash__

    @tool("desk.name", level="read")
    async def name(text: str) -> str:
        """Name it."""
        RAN.append("name")
        return text

    policy = Policy(rules=[Rule(tool="desk.name", when={"text": Odd("x")}, verdict="deny")])
    async with Handrail([name], policy=policy) as hr:
        out = await called(hr, "desk.name", args={"text": "x"})
        assert out.status == "refused"
        assert RAN == []
        left_nothing(hr)


@pytest.mark.req("EX-12")
async def test_a_result_that_cannot_be_read_is_a_failed_call_not_a_refused_one() -> None:
    class Hostile(dict):
        def get(self, *_: Any) -> Any:
            raise LookupError("not for you")

        items = keys = values = __iter__ = get

    @tool("desk.hostile", level="write")
    async def hostile() -> Any:
        """Return something that fights back."""
        return Hostile(success=True)

    async with Handrail([hostile], policy=WITHOUT_ASKING) as hr:
        out = await called(hr, "desk.hostile")
        assert out.status == "failed"
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "failed"]
        left_nothing(hr)


@pytest.mark.req("EX-01")
async def test_an_odd_principal_sees_nothing_and_breaks_nothing() -> None:
    async with Handrail([write, read]) as hr:
        out = await called(hr, "desk.read", principal=Principal(tenant="x" * 10_000, user="\x00"))
        assert out.status == "completed"
        left_nothing(hr)
