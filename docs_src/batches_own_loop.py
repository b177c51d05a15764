"""batches.md: what was called, in a loop of your own."""

import asyncio


async def main() -> None:
    # region loop
    from handrail import Call
    from handrail.ext.compat import WorkerState, is_tool_already_executed, mark_tool_executed, new_tool_calls

    state = WorkerState()
    mark_tool_executed(state, "data.searchRecords", {"region": "north", "limit": 5})
    assert is_tool_already_executed(state, "data.searchRecords", {"limit": 5, "region": "north"})

    calls = [Call("data.searchRecords", {"limit": 5, "region": "north"}), Call("data.getStats", {})]
    fresh, end = new_tool_calls(state, calls)
    assert [call.tool for call in fresh] == ["data.getStats"]
    assert state.skipped_duplicates == ["data.searchRecords"] and end is None

    fresh, end = new_tool_calls(state, calls)
    assert fresh == [] and end == {"type": "exit", "reason": "all_tools_duplicate"}
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
