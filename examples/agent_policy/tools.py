"""Five tools that only play with a few files in memory."""

from __future__ import annotations

from handrail import ToolError, tool

FILES = {"plan.txt": "Buy oats.", "notes.txt": "Oats are low."}


@tool("web_search", level="read")
async def web_search(words: str) -> list[str]:
    """Search the web for pages that contain some words.

    Args:
        words: What to look for.
    """
    return [f"https://example.org/{'-'.join(words.lower().split())}"]


@tool("file_read", level="read", reads=lambda args: args.path)
async def file_read(path: str) -> str:
    """Read one text file from its beginning to its end.

    Args:
        path: The file's name.
    """
    if path not in FILES:
        raise ToolError(f"There is no {path}. There are: {', '.join(FILES)}.", code="NO_SUCH_FILE")
    return FILES[path]


@tool("file_write", level="write", writes=lambda args: args.path)
async def file_write(path: str, text: str) -> str:
    """Write a text file, in place of what was there before.

    Use it to keep what people will need. Not for scratch notes. Call file_read first: it replaces.

    Args:
        path: The file's name.
        text: All of what it will hold.
    """
    FILES[path] = text
    return f"{path} has {len(text)} characters."


@tool("file_delete", level="destructive", writes=lambda args: args.path)
async def file_delete(path: str) -> str:
    """Delete one text file for good, whatever it holds and whoever wrote it; there is no copy that could
    bring it back.

    Use it when a person named this very file. Not to tidy up. Call file_read first.

    Args:
        path: The file's name.
    """
    if FILES.pop(path, None) is None:
        raise ToolError(f"There is no {path}.", code="NO_SUCH_FILE")
    return f"{path} is gone."


@tool("shell_exec", danger="dangerous")
async def shell_exec(command: str) -> str:
    """Run one command line in the working folder; it may change or delete whatever is there, so a person
    is asked each time.

    Use it when no other tool does the job. Not to read files: try file_read first.

    Args:
        command: The command line.
    """
    return f"(this example runs no commands: {command})"
