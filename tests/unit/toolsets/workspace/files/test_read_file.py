"""read_file: lines with their numbers, and what is no text."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.ext.tools import MODEL_LIMIT
from tests.unit.toolsets.workspace.files.file_caller import open_files

_PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.mark.req("BF-01")
async def test_a_file_is_read_with_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ttwo\n\nfour")
    async with open_files(tmp_path) as caller:
        assert await caller.output("read_file", path="a.txt") == snapshot(
            "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour"
        )
        data = await caller.done("read_file", path="a.txt")
        assert data == snapshot(
            {
                "path": "a.txt",
                "content": "one\n\ttwo\n\nfour",
                "first_line": 1,
                "last_line": 4,
                "lines": 4,
                "size": 14,
                "encoding": "utf-8",
                "next_offset": None,
            }
        )


@pytest.mark.req("BF-01")
@pytest.mark.parametrize(
    "arguments",
    [{"offset": 3, "limit": 2}, {"start_line": 3, "end_line": 4}, {"offset": 3, "limit": 9, "end_line": 4}],
)
async def test_a_part_is_read_and_the_answer_says_how_to_read_on(
    tmp_path: Path, arguments: dict[str, int]
) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{number}\n" for number in range(1, 11)))
    async with open_files(tmp_path) as caller:
        message = await caller.output("read_file", path="a.txt", **arguments)
        assert message == "     3\t3\n     4\t4\n[lines 3 to 4 of 10. Read on with offset=5.]"
        data = await caller.done("read_file", path="a.txt", **arguments)
        assert (data["first_line"], data["last_line"], data["next_offset"]) == (3, 4, 5)


@pytest.mark.req("BF-01")
@pytest.mark.req("BF-09")
async def test_every_name_of_the_tool_and_of_its_path_works(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with open_files(tmp_path) as caller:
        for name in ("read", "file_read", "read_file"):
            for param in ("path", "file_path", "filePath", "file", "filename"):
                assert await caller.output(name, **{param: "a.txt"}) == "     1\tone"


async def test_ranges_that_make_no_sense_are_refused_with_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("read_file", path="a.txt", offset=5)
        assert (code, message) == (
            "OUT_OF_RANGE",
            "a.txt has 2 lines; there is no line 5. Give a smaller offset.",
        )
        assert (await caller.refused("read_file", path="a.txt", offset=2, end_line=1))[0] == "OUT_OF_RANGE"
        assert (await caller.refused("read_file", path="a.txt", offset=0))[0] == "INVALID_PARAM"


async def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    async with open_files(tmp_path) as caller:
        assert await caller.output("read_file", path="a.txt") == "[a.txt is empty]"


@pytest.mark.parametrize("lines", [3_000, 100_000])
async def test_a_page_stays_within_what_a_model_is_given_and_loses_no_line(
    tmp_path: Path, lines: int
) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{number} {'x' * 60}\n" for number in range(1, lines + 1)))
    async with open_files(tmp_path) as caller:
        message = await caller.output("read_file", path="a.txt")
        data = await caller.done("read_file", path="a.txt")
        assert MODEL_LIMIT - 3_000 < len(message) < MODEL_LIMIT
        assert message.endswith(
            f"[lines 1 to {data['last_line']} of {lines}. Read on with offset={data['next_offset']}. "
            "There is no room for more in one answer.]"
        )
        after = await caller.done("read_file", path="a.txt", offset=data["next_offset"], limit=1)
        assert after["content"].startswith(f"{data['last_line'] + 1} ")


async def test_at_most_two_thousand_lines_come_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 2_500)
    async with open_files(tmp_path) as caller:
        assert (await caller.done("read_file", path="a.txt"))["last_line"] == 2_000
        assert (await caller.done("read_file", path="a.txt", limit=2_400))["last_line"] == 2_400
        assert (await caller.done("read_file", path="a.txt", end_line=2_300))["last_line"] == 2_300


@pytest.mark.req("BF-11")
@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize(
    ("bom", "encoding"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
async def test_a_byte_order_mark_says_the_encoding(
    tmp_path: Path, bom: bytes, encoding: str, size: int
) -> None:
    (tmp_path / "a.txt").write_bytes(bom + ("naïve €\n" * size).encode(encoding))
    async with open_files(tmp_path) as caller:
        data = await caller.done("read_file", path="a.txt", limit=1)
        assert (data["content"], data["encoding"], data["lines"]) == ("naïve €", encoding, size)


@pytest.mark.req("BF-11")
@pytest.mark.parametrize("size", [1, 100_000])
async def test_another_encoding_is_named_by_the_caller(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.txt").write_bytes("naïve\n".encode("latin-1") * size)
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("read_file", path="a.txt")
        assert code == "WRONG_ENCODING"
        assert "latin-1" in message
        assert (await caller.done("read_file", path="a.txt", encoding="latin-1", limit=1))[
            "content"
        ] == "naïve"
        assert (await caller.refused("read_file", path="a.txt", encoding="klingon"))[0] == "WRONG_ENCODING"


@pytest.mark.req("BF-11")
@pytest.mark.parametrize("size", [3, 100_000])
async def test_a_byte_that_does_not_fit_is_in_the_way_of_its_own_line_alone(
    tmp_path: Path, size: int
) -> None:
    (tmp_path / "a.log").write_bytes(b"fine\n" * size + b"half a \xc3")
    async with open_files(tmp_path) as caller:
        data = await caller.done("read_file", path="a.log", limit=2)
        assert (data["content"], data["lines"]) == ("fine\nfine", size + 1)
        code, message = await caller.refused("read_file", path="a.log", offset=size + 1)
        assert code == "WRONG_ENCODING" and f"line {size + 1}, byte 8 of it" in message


async def test_carriage_returns_are_not_shown_and_not_lost(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    async with open_files(tmp_path) as caller:
        assert await caller.output("read_file", path="a.txt") == "     1\tone\n     2\ttwo"
        assert (await caller.done("read_file", path="a.txt"))["content"] == "one\r\ntwo\r"


@pytest.mark.req("BF-11")
@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\x7fELF\x02\x01\x01\0", "an ELF program or library (application/x-elf"),
        (b"SQLite format 3\0", "a SQLite database"),
        (b"PK\x03\x04\0\0", "a ZIP archive"),
        (b"\0\1\2\3", "binary data (application/octet-stream"),
    ],
)
async def test_what_is_no_text_is_refused_with_what_it_is(tmp_path: Path, head: bytes, words: str) -> None:
    (tmp_path / "a.bin").write_bytes(head + b"\0" * 600_000)
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("read_file", path="a.bin")
        assert code == "BINARY_FILE"
        assert f"a.bin is {words}" in message


@pytest.mark.req("BF-11")
@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (_PNG, "image/png"),
        (b"%PDF-1.7\n% text alone\n", "application/pdf"),
        (b"RIFF\0\0\0\0WEBP\0", "image/webp"),
    ],
)
async def test_images_and_documents_are_attached(tmp_path: Path, data: bytes, mime: str) -> None:
    (tmp_path / "a").write_bytes(data)
    async with open_files(tmp_path) as caller:
        outcome = await caller.call("read_file", path="a")
        [attachment] = outcome.result.attachments
        assert (attachment.mime, attachment.name, attachment.data) == (mime, "a", data)
        assert "It is attached." in outcome.to_model()


async def test_an_image_that_is_too_large_is_not_attached(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(_PNG)
    os.truncate(tmp_path / "a.png", 10_000_001)
    async with open_files(tmp_path) as caller:
        assert (await caller.refused("read_file", path="a.png"))[0] == "TOO_LARGE"


async def test_a_folder_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("read_file", path="src")
        assert code == "NOT_A_FILE"
        assert "list_files" in message
        assert (await caller.refused("read_file", path="src/none"))[0] == "FILE_NOT_FOUND"


async def test_a_link_that_leads_nowhere_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    async with open_files(tmp_path) as caller:
        for path in ("link", "link/deeper.txt"):
            code, message = await caller.refused("read_file", path=path)
            assert code == "FILE_NOT_FOUND"
            assert "link is a link that leads nowhere" in message


async def test_a_file_that_does_not_say_its_size_is_read_as_a_whole() -> None:
    async with open_files(Path("/proc/self/task")) as caller:
        assert "Threads:" in await caller.output("read_file", path=f"{os.getpid()}/status")
