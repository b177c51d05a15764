"""Secrets reach a body and nobody else: not the model, not the log, not a card, not a listener."""

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, model_validator

from handrail import (
    Attachment,
    Context,
    Handrail,
    Policy,
    Principal,
    Result,
    Retry,
    Tool,
    define,
    from_json_schema,
    tool,
)
from handrail.ext.events import Event
from handrail.ext.guard import approve
from handrail.ext.ports import MemoryApprovals
from handrail.testing import ScriptedApprover

ANA = Principal(tenant="acme", user="ana")
OPEN = Policy(approval_mode="policy")
TOKEN = 't0p-"s3cret"'
PIN = "4711-hunter2"


def everything(hr: Handrail, heard: list[Event], *more: Any) -> str:
    """All that anybody but the body got to see."""
    told = [event.to_dict() for event in [*heard, *hr.log.read("acme"), *hr.log.read("local")]]
    return json.dumps(told) + repr(heard) + "".join(map(repr, more))


def using(body: Any, level: str = "read") -> Tool:
    async def execute(args: Any, ctx: Context) -> Any:
        return body(ctx, ctx.secret("TOKEN"))

    return define("bank.use", {"description": "Use it.", "level": level, "execute": execute})


shapes = st.recursive(
    st.sampled_from(["{}", "token {}", "{}{}", "no secret"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "{}"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def filled(shape: Any, secret: str) -> Any:
    if isinstance(shape, str):
        return shape.replace("{}", secret)
    if isinstance(shape, list):
        return [filled(part, secret) for part in shape]
    return {filled(name, secret): filled(part, secret) for name, part in shape.items()}


@pytest.mark.req("BY-19")
@given(
    shapes, st.sampled_from(["data", "output", "summary", "metadata", "error", "raise", "progress", "chunk"])
)
async def test_a_secret_never_leaves_by_result_error_chunk_progress_or_event(shape: Any, way: str) -> None:
    def body(ctx: Context, secret: str) -> Any:
        value = filled(shape, secret)
        text = json.dumps(value)
        if way == "raise":
            raise ValueError(value)
        if way == "progress":
            ctx.metadata(title=text, value=value)
        if way == "chunk":
            ctx.append_output(text)
        if way == "error":
            return {"error": text, "more": value}
        given: dict[str, Any] = {"data": {"data": value}, "metadata": {"metadata": {"m": value}}}
        return Result(**given.get(way, {way: text} if way in ("output", "summary") else {}))

    heard: list[Event] = []
    results: list[Result] = []
    async with Handrail([using(body)], secrets={"TOKEN": TOKEN}, on_result=results.append) as hr:
        hr.subscribe(heard.append)
        outcome = await hr.call("bank.use", principal=ANA)
        seen = everything(hr, heard, outcome, results, outcome.to_mcp(), outcome.to_model())
    assert "s3cret" not in seen


@pytest.mark.req("BY-19")
async def test_a_secret_that_somebody_wants_to_know_twice_stays_one() -> None:
    async with Handrail([using(lambda ctx, token: [token, token[::-1]])], secrets={"TOKEN": "abc"}) as hr:
        assert (await hr.call("bank.use")).result.data == ["•••", "cba"]


@pytest.mark.req("BY-19")
async def test_a_secret_that_is_a_number_is_one_in_the_result_too() -> None:
    async with Handrail([using(lambda ctx, token: int(token))], secrets={"TOKEN": "471100"}) as hr:
        outcome = await hr.call("bank.use", principal=ANA)
        assert "471100" not in everything(hr, [], outcome) and outcome.result.data == "•••"


@pytest.mark.req("BY-19")
@pytest.mark.parametrize("secrets", [None, {}, {"OTHER": "x"}, lambda name, principal: None])
async def test_a_missing_secret_has_a_clear_answer(secrets: Any) -> None:
    async with Handrail([using(lambda ctx, token: "never")], secrets=secrets) as hr:
        outcome = await hr.call("bank.use")
    assert (outcome.status, outcome.code) == ("failed", "SECRET_MISSING")
    assert outcome.result.error == (
        "The secret 'TOKEN' is not set up for this tenant. Ask an administrator to add it."
    )


@pytest.mark.req("BY-19")
async def test_each_principal_has_its_own_secrets() -> None:
    def source(name: str, principal: Principal) -> str | None:
        return {"acme": "of acme", "other": "of other"}.get(principal.tenant)

    async with Handrail([using(lambda ctx, token: len(token))], secrets=source) as hr:
        assert (await hr.call("bank.use", principal=ANA)).result.data == 7
        assert (await hr.call("bank.use", principal=Principal("other"))).result.data == 8
        assert (await hr.call("bank.use", principal=Principal("third"))).code == "SECRET_MISSING"


@pytest.mark.req("BY-19")
async def test_a_secret_handed_to_a_nested_call_is_masked_there_too() -> None:
    @tool("bank.inner", level="write")
    async def inner(token: str) -> str:
        """Use a token."""
        return f"used {token}"

    async def execute(args: Any, ctx: Context) -> Any:
        return (await ctx.call("bank.inner", {"token": ctx.secret("TOKEN")})).result.data

    outer = define("bank.outer", {"description": "Outer.", "level": "read", "execute": execute})
    heard: list[Event] = []
    for policy in (OPEN, Policy(), Policy(plan=True)):
        async with Handrail([inner, outer], secrets={"TOKEN": TOKEN}, policy=policy) as hr:
            hr.subscribe(heard.append)
            outcome = await hr.call("bank.outer", principal=ANA)
            cards = [request.args for request in await hr.approvals.list(ANA)]
            cards += [planned.args for planned in await hr.planned(ANA)]
            assert "s3cret" not in everything(hr, heard, outcome, cards)


@pytest.mark.req("BY-19")
@pytest.mark.parametrize("way", ["approval", "plan"])
async def test_a_nested_call_that_runs_after_the_outer_one_ended_keeps_its_secret(way: str) -> None:
    got: list[str] = []

    @tool("bank.inner", level="write")
    async def inner(token: str) -> str:
        """Use a token."""
        got.append(token)
        return f"used {token}"

    async def execute(args: Any, ctx: Context) -> Any:
        return (await ctx.call("bank.inner", {"token": ctx.secret("TOKEN")})).call_id

    outer = define("bank.outer", {"description": "Outer.", "level": "read", "execute": execute})
    heard: list[Event] = []
    policy = Policy(approval_mode="policy", plan=True) if way == "plan" else Policy()
    async with Handrail([inner, outer], secrets={"TOKEN": TOKEN}, policy=policy) as hr:
        hr.subscribe(heard.append)
        waiting = (await hr.call("bank.outer", principal=ANA)).result.data
        if way == "plan":
            [ran] = await hr.run_plan(ANA)
        else:
            [request] = await hr.approvals.list(ANA)
            await hr.approvals.approve(request.id, by=Principal("acme", "bo", permissions={"*"}))
            ran = await hr.wait(waiting, 5)
        assert ran.ok and got == [TOKEN]
        assert "s3cret" not in everything(hr, heard, ran)


@pytest.mark.req("BY-19")
async def test_a_hook_that_remembers_results_remembers_no_secret() -> None:
    kept: list[Result] = []

    class Memory:
        async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
            return kept[0] if kept else None

        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            kept.append(result)
            return result

    echo = using(lambda ctx, token: f"token {token}")
    async with Handrail([echo], secrets={"TOKEN": TOKEN}, hooks=[Memory()]) as hr:
        outcomes = [await hr.call("bank.use", principal=ANA) for _ in range(2)]
    assert "s3cret" not in repr(outcomes) and "s3cret" not in repr(kept)


@pytest.mark.req("BY-19")
async def test_names_and_contents_of_attachments_are_no_way_out() -> None:
    files = (
        Attachment("text/plain", f"{PIN}.txt", f"it is {PIN}".encode()),
        Attachment("text/plain", "a", ref=f"https://x/?{PIN}"),
    )
    echo = using(lambda ctx, token: Result(attachments=files))
    async with Handrail([echo], secrets={"TOKEN": PIN}) as hr:
        outcome = await hr.call("bank.use", principal=ANA)
        assert PIN not in everything(hr, [], outcome.result.to_dict(), outcome)


@pytest.mark.req("BY-19")
async def test_pythons_own_log_does_not_learn_it(caplog: pytest.LogCaptureFixture) -> None:
    def body(ctx: Context, token: str) -> Any:
        raise ValueError(f"bad token {token}")

    with caplog.at_level(logging.DEBUG):
        async with Handrail([using(body)], secrets={"TOKEN": PIN}) as hr:
            await hr.call("bank.use", principal=ANA)
    assert PIN not in caplog.text


class Login(BaseModel):
    user: str
    pin: SecretStr = Field(min_length=3)
    tries: int = 1
    more: list["Login"] = []

    @model_validator(mode="after")
    def not_root(self) -> "Login":
        if self.user == "root":
            raise ValueError("root may not log in")
        return self


used: list[str] = []


@tool("bank.login", level="write", input=Login, param_aliases={"pin": ["secretCode"]})
async def login(args: Login) -> str:
    """Log in."""
    used.append(args.pin.get_secret_value())
    return f"{args.user} is in"


stored = from_json_schema(
    "bank.stored",
    {
        "type": "object",
        "properties": {
            "pin": {"type": "string", "writeOnly": True, "minLength": 3},
            "user": {"type": "string"},
            "login": {
                "oneOf": [{"type": "object", "properties": {"pin": {"format": "password", "type": "string"}}}]
            },
        },
        "additionalProperties": False,
        "not": {"required": ["pin", "user"], "properties": {"user": {"const": "root"}}},
    },
    lambda args: "in",
    level="write",
    description="Log in.",
)

CALLS: list[Any] = [
    {"user": "ana", "pin": PIN},
    {"user": "ana", "pin": PIN, "tries": "2"},
    {"user": "ana", "PIN": PIN},
    {"user": "ana", "secret_code": PIN},
    {"user": "ana", "pin": [PIN]},
    {"user": "ana", "pin": {"value": PIN}},
    {"user": "root", "pin": PIN},
    {"user": 5, "pin": PIN, "tries": "many"},
    {"user": "ana", "pin": PIN, "nonsense": PIN},
    {"user": "ana", "passwort": PIN, "tries": []},
    {"user": "ana", "pin": PIN, "more": [{"user": "bo", "pin": PIN}]},
    {"user": "ana", "pin": PIN, "more": [{"user": "bo", "pin": [PIN]}]},
    {"args": {"user": "ana", "pin": PIN}},
    {"login": {"pin": [PIN]}},
    json.dumps({"user": "ana", "pin": PIN}),
    json.dumps({"user": "ana", "pin": [PIN]}),
    json.dumps({"user": "ana", "pin": PIN})[:-1],
]


@pytest.mark.req("BY-19", "BY-16")
@pytest.mark.parametrize("args", CALLS)
@pytest.mark.parametrize("name", ["bank.login", "bank.stored"])
@pytest.mark.parametrize("policy", [OPEN, Policy(), Policy(plan=True)])
async def test_a_typed_password_is_masked_wherever_it_is_shown(name: str, args: Any, policy: Policy) -> None:
    heard: list[Event] = []
    book = MemoryApprovals(lambda: 0.0)
    async with Handrail([login, stored], policy=policy, approvals=book) as hr:
        hr.subscribe(heard.append)
        outcome = await hr.call(name, args, principal=ANA)
        explained = await hr.explain(name, args, ANA)
        open_ones = await hr.approvals.list(ANA)
        cards = [(one.args, one.repairs, str(one)) for one in open_ones]
        cards += [(one.args, (), str(one)) for one in await hr.planned(ANA)]
        seen = everything(hr, heard, outcome, outcome.to_model(), explained.explain(), cards)
    assert PIN not in seen


@pytest.mark.req("BY-19", "RT-06", "BY-13")
@pytest.mark.parametrize("way", ["raised", "returned"])
async def test_a_password_that_a_failing_body_repeats_is_masked(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    @tool("bank.fail", level="read", retry=Retry(attempts=2, first=0, on=(ValueError, "WRONG")))
    async def fail(login: Login) -> Result:
        """Fail to log in."""
        said = f"{login.pin.get_secret_value()} is wrong"
        if way == "raised":
            raise ValueError(said)
        return Result.fail(said, code="WRONG", summary=said, metadata={"tried": said})

    heard: list[Event] = []
    caplog.set_level("DEBUG")
    async with Handrail([fail]) as hr:
        hr.subscribe(heard.append)
        outcome = await hr.call("bank.fail", {"login": {"user": "ana", "pin": PIN}}, principal=ANA)
        letters = await hr.dead_letters.list(ANA)
        seen = everything(hr, heard, outcome, outcome.to_model(), letters)
    assert outcome.result.error == "••• is wrong" and outcome.result.metadata["attempts"] == 2
    assert PIN not in seen and PIN not in caplog.text


@pytest.mark.req("BY-19")
async def test_a_number_for_a_password_is_repaired_and_masked() -> None:
    used.clear()
    heard: list[Event] = []
    async with Handrail([login], policy=OPEN) as hr:
        hr.subscribe(heard.append)
        outcome = await hr.call("bank.login", {"user": "ana", "pin": 471100}, principal=ANA)
        assert outcome.ok and used == ["471100"]
        assert "471100" not in everything(hr, heard, outcome)
        assert [repair.path for repair in outcome.repairs] == ["pin"]


@pytest.mark.req("BY-19")
@pytest.mark.parametrize(
    ("edits", "pin"),
    [
        (None, PIN),
        ({"user": "bo", "pin": "•••"}, PIN),
        ({"user": "bo", "pin": "new one"}, "new one"),
        ({"user": "bo", "pin": 991199}, "991199"),
    ],
)
async def test_an_approver_sees_masks_and_edits_around_them(edits: Any, pin: str) -> None:
    used.clear()
    reviewer = ScriptedApprover(approve(by="bo", edits=edits))
    heard: list[Event] = []
    async with Handrail([login], approver=reviewer) as hr:
        hr.subscribe(heard.append)
        outcome = await hr.call("bank.login", {"user": "ana", "pin": PIN}, principal=ANA)
        assert outcome.ok and used == [pin]
        assert [request.args for request in reviewer.requests] == [{"user": "ana", "pin": "•••"}]
        seen = everything(hr, heard, outcome)
        assert PIN not in seen and pin not in seen


@pytest.mark.req("BY-19")
async def test_a_password_survives_a_wait_for_approval_and_a_plan() -> None:
    used.clear()
    reviewer = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
    async with Handrail([login]) as hr:
        waiting = await hr.call("bank.login", {"user": "ana", "pin": PIN}, principal=ANA)
        assert waiting.approval_id is not None
        await hr.approvals.approve(waiting.approval_id, by=reviewer)
        assert (await hr.wait(waiting.call_id, 5)).ok
    async with Handrail([login], policy=Policy(approval_mode="policy", plan=True)) as hr:
        await hr.call("bank.login", {"user": "ana", "pin": PIN}, principal=ANA)
        [ran] = await hr.run_plan(ANA)
        assert ran.ok
    assert used == [PIN, PIN]
