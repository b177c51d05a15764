"""Tasks and todo lists as a model and a person meet them, the same over both twins of the book."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from inline_snapshot import snapshot

from handrail import Call, Context, Handrail, Principal, tool
from handrail.ext.forms import tool_output_to_blocks
from handrail.testing import ConformanceCase, conformance_cases
from handrail.toolsets import tasks
from handrail.toolsets.tasks import MemoryTaskStore, TaskStore, task_tools
from tests.unit.toolsets.tasks.task_stores import ANA, TWINS, Caller, caller, store_of

TOOLS = {tool.id: tool for tool in task_tools(MemoryTaskStore())}


@pytest.fixture(params=TWINS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> TaskStore:
    return store_of(request.param, tmp_path)


@pytest.mark.parametrize("case", conformance_cases(list(TOOLS.values()), strict=True))
def test_each_is_conformant(case: ConformanceCase) -> None:
    case()


@pytest.mark.req("BT-01", "BT-02")
def test_all_are_safe_and_need_to_read_alone() -> None:
    assert set(TOOLS) == {"task_create", "task_update", "task_get", "task_list", "todowrite", "todoread"}
    for one in TOOLS.values():
        assert (one.level, one.danger, one.quiet) == ("read", "safe", True)
        assert one.capabilities == {"read"}


def test_only_a_list_that_is_written_as_a_whole_waits_for_others() -> None:
    """Two such lists at once would leave whichever came last."""
    assert [one.id for one in TOOLS.values() if one.concurrency != "parallel"] == ["todowrite"]
    assert TOOLS["todowrite"].concurrency == "sequential"


@pytest.mark.req("ED-01")
def test_each_has_its_words_in_a_file_beside_its_module() -> None:
    folder = Path(tasks.__file__).parent
    for one in TOOLS.values():
        text = (folder / f"{one.id}.txt").read_text(encoding="utf-8")
        assert text.startswith(one.description) and one.guidance and one.guidance in text


@pytest.mark.req("BT-01")
async def test_tasks_are_created_changed_read_and_listed(store: TaskStore) -> None:
    async with caller(store) as call:
        await call("task_create", subject="Read the code", description="All of src.")
        await call("task_create", title="Repair\nthe test", depends_on=["T1"])
        await call("task_create", subject="Release it", dependsOn=["1", "task-2", "T1"])
        await call("task_update", id="T1", status="completed")
        await call("task_update", task_id="2", status="in_progress")
        assert await call.says("task_list") == snapshot("""\
3 tasks: 1 pending, 1 in progress, 1 completed
[x] T1 Read the code
[~] T2 Repair the test
[ ] T3 Release it (waits for T2)\
""")
        assert await call.says("task_get", id="t3") == snapshot("""\
[ ] T3 Release it (waits for T2)
depends on T1, T2\
""")
        result = (await call("task_get", id="#1")).result
        assert result.summary == "T1: Read the code"
        assert result.data["description"] == "All of src." and result.data["status"] == "completed"


async def test_a_list_is_cut_with_a_count_and_read_on(store: TaskStore) -> None:
    async with caller(store) as call:
        for number in range(1, 8):
            await call("task_create", subject=f"Step {number}")
        for done in ("T2", "T4"):
            await call("task_update", id=done, status="cancelled")
        assert await call.says("task_list", status="pending", limit=2) == snapshot("""\
7 tasks: 5 pending, 2 cancelled
[ ] T1 Step 1
[ ] T3 Step 3
3 more; go on with after=T3\
""")
        assert (await call("task_list", limit=501)).code == "INVALID_PARAM"
        rest = (await call("task_list", status="pending", limit=3, after="T3")).result.data
        assert [one["id"] for one in rest["tasks"]] == ["T5", "T6", "T7"] and rest["more"] == 0
        assert await call.as_(session="s2").says("task_list") == "No tasks. Create one with task_create."


async def test_that_no_task_is_as_wanted_is_said_first(store: TaskStore) -> None:
    async with caller(store) as call:
        for number in (1, 2):
            await call("task_create", subject=f"Step {number}")
        await call("task_update", id="T2", status="in_progress")
        counted = "(2 tasks: 1 pending, 1 in progress)"
        assert await call.says("task_list", status="completed") == f"No task is completed {counted}."
        assert await call.says("task_list", after="T2") == f"No task comes after T2 {counted}."
        both = await call.says("task_list", status="pending", after="T1")
        assert both == f"No task after T1 is pending {counted}."


async def test_people_see_tasks_and_todos_in_a_table(store: TaskStore) -> None:
    async with caller(store) as call:
        await call("task_create", subject="Read")
        listed = await call("task_list")
        blocks = tool_output_to_blocks(TOOLS["task_list"], listed.result.data)
        assert [block.type for block in blocks] == ["table"]
        written = await call("todowrite", todos=[{"content": "Read"}])
        blocks = tool_output_to_blocks(TOOLS["todowrite"], written.result.data)
        assert [block.type for block in blocks] == ["table"]
        for name in ("task_list", "todoread"):
            none = await call(name, status="cancelled")
            assert tool_output_to_blocks(TOOLS[name], none.result.data) == []


async def test_a_circle_is_refused_and_named(store: TaskStore) -> None:
    async with caller(store) as call:
        for number in range(1, 5):
            await call(
                "task_create", subject=f"Step {number}", depends_on=[f"T{number - 1}"] if number > 1 else []
            )
        refused = await call("task_update", id="T1", depends_on=["T4"], status="completed")
        assert refused.code == "TASK_CYCLE"
        assert refused.result.error == snapshot(
            "T1 cannot depend on that: T1 → T4 → T3 → T2 → T1 is a circle, in which no task could ever "
            "begin. Leave one of these out. Nothing was changed."
        )
        assert (await call("task_get", id="T1")).result.data["status"] == "pending"
        itself = await call("task_update", id="T2", depends_on=["T2"])
        assert itself.code == "TASK_CYCLE" and "T2 → T2" in str(itself.result.error)


async def test_an_unknown_id_is_answered_with_the_nearest(store: TaskStore) -> None:
    async with caller(store) as call:
        assert (await call("task_get", id="T1")).result.error == snapshot(
            "There is no task 'T1' in this session, and no other. Create one with task_create."
        )
        await call("task_create", subject="Repair the parser")
        assert (await call("task_update", id="T7", status="completed")).result.error == snapshot(
            "There is no task 'T7' in this session. There is only T1: Repair the parser."
        )
        await call("task_create", subject="Write the docs")
        assert (await call("task_get", id="repair parser")).result.error == snapshot(
            "There is no task 'repair parser' in this session. Tasks are T1 to T2; "
            "the nearest is T1: Repair the parser."
        )
        missing = await call("task_create", subject="Ship", depends_on=["T2", "T9"])
        assert missing.code == "TASK_NOT_FOUND" and "T2: Write the docs" in str(missing.result.error)
        assert "2 tasks" in await call.says("task_list"), "a task that could not be created is not there"


async def test_an_update_that_changes_nothing_says_what_can_be_changed(store: TaskStore) -> None:
    async with caller(store) as call:
        await call("task_create", subject="Read")
        refused = await call("task_update", id="T1")
        assert refused.code == "INVALID_PARAM" and "status" in str(refused.result.error)


async def test_beginning_before_its_time_is_told_and_not_refused(store: TaskStore) -> None:
    async with caller(store) as call:
        await call("task_create", subject="First")
        await call("task_create", subject="Second", depends_on=["T1"])
        worded = await call("task_update", id="T2", subject="Then")
        assert worded.ok and "warning" not in worded.result.metadata
        begun = await call("task_update", id="T2", status="in_progress")
        assert begun.ok and begun.result.metadata["warning"] == "T2 depends on what is still open: T1."


@pytest.mark.req("BT-02", "BT-07")
async def test_a_todo_list_is_written_as_a_whole_and_read(store: TaskStore) -> None:
    async with caller(store) as call:
        await call("todowrite", todos=[{"content": "Old"}])
        written = await call.says(
            "todowrite",
            todos=[
                {"content": "Look", "status": "completed"},
                {"content": " Repair\n it ", "status": "in_progress", "priority": "high"},
                {"content": "Tell", "status": "pending"},
                {"content": "Sing", "status": "cancelled", "priority": "low"},
            ],
        )
        assert written == snapshot("""\
[x] Look
[~] Repair it (high)
[ ] Tell
[-] Sing (low)\
""")
        assert await call.says("todoread") == written
        assert await call.says("todoread", status="pending") == "[ ] Tell"
        assert (
            await call("todoread")
        ).result.summary == "4 todos: 1 pending, 1 in progress, 1 completed, 1 cancelled"
        await call("todowrite", todos=[])
        assert await call.says("todoread") == "The list is empty."


@pytest.mark.req("BT-07")
async def test_a_status_that_there_is_not_is_refused_and_the_list_stays(store: TaskStore) -> None:
    async with caller(store) as call:
        await call("todowrite", todos=[{"content": "Look"}])
        refused = await call("todowrite", todos=[{"content": "Look", "status": "finished"}])
        assert refused.code == "INVALID_PARAM" and "completed" in refused.to_model()
        assert await call.says("todoread") == "[ ] Look"


@pytest.mark.req("BT-07")
async def test_two_todos_in_progress_are_told_and_taken(store: TaskStore) -> None:
    async with caller(store) as call:
        both = [{"content": one, "status": "in_progress"} for one in ("Read", "Write")]
        written = await call("todowrite", todos=both)
        assert written.ok and "keep it to the one" in written.to_model()
        assert await call.says("todoread") == "[~] Read\n[~] Write"


@pytest.mark.req("BT-07")
async def test_sessions_tenants_and_lone_callers_have_lists_of_their_own(store: TaskStore) -> None:
    async with caller(store) as call:
        callers = [
            call,
            call.as_(session="s2"),
            call.as_(Principal(tenant="other", user="ana")),
            call.as_(session=None),
            call.as_(Principal(tenant="acme", user="bo"), session=None),
            call.as_(Principal(tenant="acme", user="ana", agent="coder"), session=None),
            call.as_(Principal(tenant="acme", user="bo", agent="coder"), session=None),
            call.as_(Principal(tenant="acme", agent="coder"), session=None),
            call.as_(session="user:ana"),
            call.as_(session="ana"),
        ]
        for number, one in enumerate(callers):
            await one("todowrite", todos=[{"content": f"Of {number}"}])
            assert (await one("task_create", subject=f"Of {number}")).result.data["id"] == "T1"
        for number, one in enumerate(callers):
            assert await one.says("todoread") == f"[ ] Of {number}"
            assert await one.says("task_get", id="T1") == f"[ ] T1 Of {number}"


@pytest.mark.req("BT-01")
async def test_what_a_nested_call_writes_is_where_its_caller_looks(store: TaskStore) -> None:
    @tool("plan", level="read")
    async def plan(*, ctx: Context) -> str:
        """Plan the work."""
        return (await ctx.call("task_create", {"subject": "Read"})).to_model()

    async with Handrail([*task_tools(store), plan]) as hr:
        for session in (None, "s1"):
            call = Caller(hr, session=session)
            assert await call.says("plan") == "[ ] T1 Read"
            assert await call.says("task_list") == "1 task: 1 pending\n[ ] T1 Read"
        await store.close()


@pytest.mark.req("BP-04", "BP-11")
async def test_a_hundred_creates_at_once_get_ids_in_the_order_of_the_calls(store: TaskStore) -> None:
    async with caller(store) as call:
        calls = [
            Call("task_create", {"subject": f"Step {n}"}, principal=ANA, session="s1") for n in range(100)
        ]
        calls.append(Call("task_update", {"id": "T100", "status": "completed"}, principal=ANA, session="s1"))
        calls.append(Call("task_get", {"id": "T100"}, principal=ANA, session="s1"))
        outcomes = await call.hr.call_many(calls)
        created = [(one.result.data["id"], one.result.data["subject"]) for one in outcomes[:100]]
        assert created == [(f"T{n + 1}", f"Step {n}") for n in range(100)]
        assert outcomes[-1].result.data["status"] == "completed", "a call sees what those before it did"


@pytest.mark.req("BP-04")
async def test_they_are_always_parallel(store: TaskStore) -> None:
    async with caller(store) as call:
        expected = {
            "task_create": {"subject": "Read"},
            "task_update": {"id": "T1", "status": "completed"},
            "task_get": {"id": "T1"},
            "task_list": {},
        }
        calls = [Call(name, args, principal=ANA, session="s1") for name, args in expected.items()]
        (group,) = await call.hr.batches(calls + calls)
        assert (group.kind, len(group.calls)) == ("parallel", 8)


@pytest.mark.req("BT-01", "BT-02", "DD-03")
@pytest.mark.parametrize("scope", ["run", "until_change"])
async def test_an_agent_is_told_how_things_are_now_and_not_what_it_heard_before(
    store: TaskStore, scope: Literal["run", "until_change"]
) -> None:
    one, two = [{"content": "One"}], [{"content": "Two"}]
    steps: list[tuple[str, dict[str, Any], str]] = [
        ("task_create", {"subject": "Read"}, "[ ] T1 Read"),
        ("task_list", {}, "1 task: 1 pending"),
        ("task_update", {"id": "T1", "status": "completed"}, "[x] T1 Read"),
        ("task_list", {}, "1 task: 1 completed"),
        ("task_update", {"id": "T1", "status": "pending"}, "[ ] T1 Read"),
        ("task_get", {"id": "T1"}, "[ ] T1 Read"),
        ("task_update", {"id": "T1", "status": "completed"}, "[x] T1 Read"),
        ("task_get", {"id": "T1"}, "[x] T1 Read"),
        ("todowrite", {"todos": one}, "[ ] One"),
        ("todoread", {}, "[ ] One"),
        ("todowrite", {"todos": two}, "[ ] Two"),
        ("todowrite", {"todos": one}, "[ ] One"),
        ("todowrite", {"todos": two}, "[ ] Two"),
        ("todoread", {}, "[ ] Two"),
    ]
    async with caller(store) as call:
        memory = call.hr.dedup(scope)
        for name, args, output in steps:
            (outcome,) = await call.hr.call_many(
                [Call(name, args, principal=ANA, session="s1")], dedup=memory
            )
            assert outcome.status == "completed" and outcome.to_model().startswith(output), (name, args)
        again = [Call("task_create", {"subject": "Read"}, principal=ANA, session="s1")]
        assert [one.status for one in await call.hr.call_many(again, dedup=memory)] == ["duplicate"]


async def test_text_of_every_kind_comes_back_as_it_was(store: TaskStore) -> None:
    async with caller(store) as call:
        odd = "ß \u202e 𝄞 ' \" ; -- \x00 %s"
        created = await call("task_create", subject=odd, description=odd + "\n\n  kept  ")
        assert created.result.data["description"] == odd + "\n\n  kept  "
        assert (await call("task_get", id="T1")).result.data["subject"] == odd
