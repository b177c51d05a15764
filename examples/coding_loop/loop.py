"""The loop: ask the model, make its calls, put what came of them into the next prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from examples.coding_loop.model import ScriptedModel
from handrail import Call, Handrail, Principal
from handrail.ext.events import ToolUse, tool_history

Say = Callable[[str], None]


async def work(
    hr: Handrail, model: ScriptedModel, task: str, who: Principal, session: str, say: Say, most: int = 20
) -> str:
    """Pass after pass, until the model is done, only repeats itself, or takes too long; why it ended."""
    memory = hr.dedup("until_change")
    for turn in range(1, most + 1):
        tools = await hr.export("openai", who)
        history = tool_history(hr.log.read(who.tenant, session=session))
        reply = await model.reply(prompt(task, history), tools)
        say(f"\nPass {turn}, with {len(history)} results in the prompt. The model: {reply.text}")
        if not reply.calls:
            return "done"
        calls = [Call(name, args, who, session=session, turn=turn) for name, args in reply.calls]
        for out in await hr.call_many(calls, dedup=memory):
            say(f"  {out.status:<9}  {out.tool:<9}  {out.result.to_ui()}")
        if memory.exit:
            return memory.exit["reason"]
    return "too_many_passes"


def prompt(task: str, history: Iterable[ToolUse]) -> str:
    """The task, and what was called for it so far."""
    told = [f"{used.tool} {dict(used.params)}\n{used.result.to_model()}" for used in history]
    return "\n\n".join([task, *told])
