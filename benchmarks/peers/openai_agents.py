"""openai-agents: `FunctionTool.on_invoke_tool`, what its runner awaits for a call of a function tool."""

# mypy: disable-error-code="import-not-found"

from collections.abc import Sequence

from agents import function_tool, set_tracing_disabled
from agents.tool_context import ToolContext

from benchmarks.sample_tool import NAME, add_numbers, is_right_answer
from benchmarks.subject_process import main
from benchmarks.timing import Subject

ARGUMENTS = '{"a": 1, "b": 2}'


async def subjects() -> Sequence[Subject]:
    set_tracing_disabled(True)
    on_invoke_tool = function_tool(add_numbers).on_invoke_tool

    async def one_context(number: int) -> object:
        context = ToolContext(None, tool_name=NAME, tool_call_id="call", tool_arguments=ARGUMENTS)
        for _ in range(number):
            answer = await on_invoke_tool(context, ARGUMENTS)
        return answer

    async def fresh_context(number: int) -> object:
        for _ in range(number):
            context = ToolContext(None, tool_name=NAME, tool_call_id="call", tool_arguments=ARGUMENTS)
            answer = await on_invoke_tool(context, ARGUMENTS)
        return answer

    return (
        Subject("openai-agents on_invoke_tool", one_context, is_right_answer),
        Subject("openai-agents with a ToolContext for each call", fresh_context, is_right_answer),
    )


if __name__ == "__main__":
    main(subjects)
