"""The one tool that every subject offers: so small that what remains is the library's own cost."""

NAME = "add_numbers"
ANSWER = 3


async def add_numbers(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def is_right_answer(result: object) -> bool:
    """Whether a bare result is the sum."""
    return result == ANSWER
