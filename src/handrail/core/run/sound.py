"""Sound: text and JSON data that every reader can take, whatever a body had from files and processes."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_json


def sound(data: Any) -> Any:
    """JSON data in which all text is text: a mark stands for each half of a surrogate pair."""
    try:
        to_json(data)
    except PydanticSerializationError:
        return mended(data)
    return data


def mended(data: Any) -> Any:
    if isinstance(data, str):
        return sound_text(data)
    if isinstance(data, dict):
        return {mended(name): mended(part) for name, part in data.items()}
    return [mended(item) for item in data] if isinstance(data, list) else data


def sound_text(value: str) -> str:
    """The text, also of an enumeration member; the name of a file can hold what is none."""
    text = str.__str__(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
