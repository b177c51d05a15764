"""The tools that the conformance suite calls, written as any tool of Handrail is.

Names and what each has to answer are the suite's. Those it wants for what Handrail does not do (to ask the
caller's model or the caller's screen from within a tool) are absent; `applies.py` says why.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated, Any

from pydantic import Field

from handrail import Attachment, Context, Result, Tool, from_json_schema, tool

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE = (
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x02\0\0\0\0\0"
)
IMAGE = Attachment("image/png", "pixel.png", PIXEL)
SOUND = Attachment("audio/wav", "silence.wav", SILENCE)
PAPER = Attachment("application/json", "paper.json", b'{"test":"data","value":123}')


@tool("test_simple_text", level="read")
async def simple_text() -> str:
    """Answer with a simple text."""
    return "This is a simple text response for testing."


@tool("test_image_content", level="read")
async def image_content() -> Result:
    """Answer with a picture."""
    return Result(output="A picture of one pixel.", attachments=(IMAGE,))


@tool("test_audio_content", level="read")
async def audio_content() -> Result:
    """Answer with a sound."""
    return Result(output="A short silence.", attachments=(SOUND,))


@tool("test_embedded_resource", level="read")
async def embedded_resource() -> Result:
    """Answer with a document that lies beside the text."""
    return Result(output="A document.", attachments=(PAPER,))


@tool("test_multiple_content_types", level="read")
async def multiple_content_types() -> Result:
    """Answer with a text, a picture and a document."""
    return Result(output="Multiple content types test:", attachments=(IMAGE, PAPER))


@tool("test_error_handling", level="read")
async def error_handling() -> str:
    """Fail, always."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool("test_tool_with_progress", level="read")
async def tool_with_progress(ctx: Context) -> str:
    """Tell three times how far it is."""
    for done in (0, 50, 100):
        ctx.metadata(progress=done, total=100, message=f"Completed step {done} of 100")
        await asyncio.sleep(0)
    return "All steps are done."


@tool("test_logging_tool", level="read")
async def logging_tool(ctx: Context) -> str:
    """Tell of its work although nobody asked for messages."""
    ctx.metadata(title="Working")
    return "Done without a message."


@tool("test_x_mcp_header", level="read")
async def x_mcp_header(
    region: Annotated[
        str, Field(description="The region to look into.", json_schema_extra={"x-mcp-header": "Region"})
    ] = "none",
) -> str:
    """Name the region, which callers repeat in a header."""
    return f"The region is {region}."


@tool("test_input_required_result_elicitation", level="write")
async def input_required_result_elicitation() -> str:
    """Change something, for which somebody is asked first."""
    return "Hello!"


@tool("test_streaming_elicitation", level="write")
async def streaming_elicitation() -> str:
    """Change a third thing, for which somebody is asked first."""
    return "Hello!"


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@from_json_schema("json_schema_2020_12_tool", SCHEMA, level="read")
async def json_schema_2020_12(args: dict[str, Any]) -> str:
    """Greet somebody; how to be reached is described with much of JSON Schema."""
    return f"Hello, {args.get('name', 'stranger')}!"


TOOLS: tuple[Tool, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Tool))
