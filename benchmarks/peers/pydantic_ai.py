"""pydantic-ai: a function toolset with validation, and the tool manager that an agent puts around it."""

# mypy: disable-error-code="import-not-found"

from collections.abc import Sequence

from pydantic_ai import RunContext
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage

from benchmarks.sample_tool import NAME, add_numbers, is_right_answer
from benchmarks.subject_process import main
from benchmarks.timing import Subject


async def subjects() -> Sequence[Subject]:
    toolset = FunctionToolset([add_numbers])
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    tool = (await toolset.get_tools(context))[NAME]
    manager = await ToolManager(toolset).for_run_step(context)
    part = ToolCallPart(NAME, {"a": 1, "b": 2}, tool_call_id="call")

    async def call_tool(number: int) -> object:
        for _ in range(number):
            arguments = tool.args_validator.validate_python({"a": 1, "b": 2})
            answer = await toolset.call_tool(NAME, arguments, context, tool)
        return answer

    async def handle_call(number: int) -> object:
        for _ in range(number):
            answer = await manager.handle_call(part)
        return answer

    return (
        Subject("pydantic-ai toolset: validate, call_tool", call_tool, is_right_answer),
        Subject("pydantic-ai ToolManager.handle_call", handle_call, is_right_answer),
    )


if __name__ == "__main__":
    main(subjects)
