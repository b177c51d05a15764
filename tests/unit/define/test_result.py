"""Result: one envelope, and what each audience sees of it."""

import base64
import json
from typing import Any

import pytest

from handrail import Attachment, Handrail, Result, tool
from handrail.core.define.result import truncate
from handrail.ext.compat import ToolResponse
from handrail.ext.forms import build_markdown_table

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "name": "Ada", "region": "north"},
    {"id": 2, "name": "Bo | Bob", "region": "north"},
    {"id": 3, "name": None, "region": "north"},
]


@tool("data.searchRecords", level="read")
async def search_records(region: str, limit: int = 2) -> Result:
    """Search records by region."""
    found = [record for record in RECORDS if record["region"] == region]
    return Result(
        data={"records": found[:limit], "total": len(found), "filters_applied": {"region": region}},
        summary=f"{len(found)} records in {region}",
        markdown=build_markdown_table(found[:limit], ["id", "name"], heading="Records", total=len(found)),
    )


@pytest.mark.req("TR-16", "TR-21")
async def test_a_search_has_records_total_filters_a_summary_and_a_table() -> None:
    async with Handrail([search_records]) as hr:
        outcome = await hr.call("data.searchRecords", {"region": "north"})
    assert outcome.result.data == {
        "records": RECORDS[:2],
        "total": 3,
        "filters_applied": {"region": "north"},
    }
    assert outcome.result.summary == "3 records in north"
    assert outcome.result.markdown == (
        "## Records\n\n| Id | Name |\n| --- | --- |\n| 1 | Ada |\n| 2 | Bo \\| Bob |\n... (3 total)"
    )


@pytest.mark.req("TR-03", "TR-04", "TR-05", "TR-07")
async def test_model_person_and_prompt_are_told_different_things() -> None:
    async with Handrail([search_records]) as hr:
        outcome = await hr.call("data.searchRecords", {"region": "north"})
    told = outcome.to_model()
    assert told.startswith("## Records") and json.loads(told.splitlines()[-1]) == outcome.result.data
    assert outcome.result.summary is not None and outcome.result.summary not in told
    assert outcome.result.to_ui() == "3 records in north"
    assert outcome.to_mcp()["structuredContent"] == outcome.result.data


@pytest.mark.req("TR-09")
@pytest.mark.parametrize(
    ("result", "text"),
    [
        (Result(data={"a": 1}, output="as it is"), "as it is"),
        (Result(data={"a": 1}, markdown="# A"), '# A\n{"a":1}'),
        (Result(markdown="# A"), "# A"),
        (Result(data={"ä": [1, None, 2.5]}), '{"ä":[1,null,2.5]}'),
        (Result(), "null"),
        (Result(output=""), ""),
        (Result.fail("no"), '{"error":"no","code":"TOOL_FAILED"}'),
        (Result(success=False), '{"error":"Unknown error"}'),
        (Result.fail("no", output="half of it"), 'half of it\n{"error":"no","code":"TOOL_FAILED"}'),
        (Result.fail("no", markdown="# A"), '# A\n{"error":"no","code":"TOOL_FAILED"}'),
        (Result.fail("no", data=[1]), '{"error":"no","code":"TOOL_FAILED","data":[1]}'),
        (Result(data=float("nan")), "null"),
    ],
)
def test_the_model_reads_output_else_markdown_and_data_else_data_else_the_error(
    result: Result, text: str
) -> None:
    assert result.to_model() == text
    assert result.to_mcp()["content"] == [{"type": "text", "text": text}]
    assert result.to_langchain()[0] == text


@pytest.mark.req("TR-13")
def test_a_model_is_told_which_arguments_were_wrong() -> None:
    wrong = [{"path": "limit", "reason": "should be a number"}]
    assert json.loads(Result.fail("no", metadata={"fields": wrong}).to_model())["fields"] == wrong


@pytest.mark.req("TR-04", "TR-08")
@pytest.mark.parametrize(
    ("result", "line"),
    [
        (Result(summary="3 found", title="Search"), "3 found"),
        (Result(title="Search"), "Search"),
        (Result(), "Done"),
        (Result.fail("the disk is full"), "the disk is full"),
        (Result(success=False), "Failed"),
        (Result.fail("x", summary="It went wrong"), "It went wrong"),
    ],
)
def test_a_person_reads_the_summary_else_the_title(result: Result, line: str) -> None:
    assert result.to_ui() == line
    assert result.to_worker()["summary"] == line


@pytest.mark.req("TR-08")
def test_title_and_summary_stand_in_for_each_other_in_the_record() -> None:
    assert Result(title="Search").to_dict()["summary"] == "Search"
    assert Result(summary="3 found").to_dict()["title"] == "3 found"
    assert "title" not in Result().to_dict()


@pytest.mark.req("TR-02", "TR-03", "TR-06")
def test_the_workers_envelope_has_success_summary_data_markdown_and_the_code_as_error() -> None:
    whole = Result(data=[1], summary="1 found", markdown="| 1 |", title="t", output="o", metadata={"m": 1})
    assert whole.to_worker() == {"success": True, "summary": "1 found", "data": [1], "markdown": "| 1 |"}
    missing = Result.fail("There is no such tool.", code="TOOL_NOT_FOUND", summary="Tool not found: x")
    assert missing.to_worker() == {
        "success": False,
        "summary": "Tool not found: x",
        "error": "TOOL_NOT_FOUND",
    }
    assert Result.fail("the disk is full").to_worker()["error"] == "the disk is full"


@pytest.mark.req("TR-14")
def test_the_legacy_run_has_four_fields() -> None:
    good = Result(data={"a": 1}, output="text").to_legacy_run(1.5, "run_1")
    assert good == {"output": {"a": 1}, "error": None, "durationMs": 1.5, "runId": "run_1"}
    assert Result(output="text").to_legacy_run()["output"] == "text"
    bad = Result(success=False, data=[1]).to_legacy_run()
    assert (bad["output"], bad["error"]) == (None, "Unknown error")


@pytest.mark.req("TR-18")
def test_the_older_response_goes_both_ways() -> None:
    assert ToolResponse(True, [1]).to_result().to_response() == ToolResponse(True, [1])
    failed = ToolResponse(False, {"a": 1}, "no")
    assert failed.to_result().to_response() == failed
    assert Result(output="text").to_response() == ToolResponse(True, "text")


@pytest.mark.req("TR-20")
def test_a_record_holds_the_reference_of_an_attachment_and_never_its_bytes() -> None:
    picture = Attachment("image/png", "a.png", b"\x00\xffbytes")
    stored = Attachment("text/csv", "b.csv", ref="blob:17")
    told = Result(attachments=(picture, stored)).to_dict()["attachments"]
    assert told[0]["ref"].startswith("sha256:") and told[0]["bytes"] == 7
    assert told[1] == {"mime": "text/csv", "name": "b.csv", "ref": "blob:17"}
    assert base64.b64encode(b"\x00\xffbytes").decode() not in json.dumps(told)


@pytest.mark.req("TR-20")
@pytest.mark.parametrize(
    "given", [{}, {"data": b"x", "ref": "y"}, {"data": "text, not bytes"}, {"data": bytearray(b"x")}]
)
def test_an_attachment_has_bytes_or_a_reference(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="data"):
        Attachment("image/png", "a.png", **given)


@pytest.mark.req("TR-20")
def test_attachments_are_mcp_blocks_of_their_kind() -> None:
    result = Result(
        data=1,
        attachments=(
            Attachment("image/png", "a.png", b"1"),
            Attachment("audio/wav", "a.wav", b"2"),
            Attachment("text/csv", "ä b.csv", b"3"),
            Attachment("text/csv", "latin.csv", b"\xe4"),
            Attachment("text/html", "c.html", ref="https://example.org/c"),
        ),
    )
    _, image, sound, file, latin, link = result.to_mcp()["content"]
    assert image == {"type": "image", "data": "MQ==", "mimeType": "image/png"}
    assert sound == {"type": "audio", "data": "Mg==", "mimeType": "audio/wav"}
    resource = {"uri": "attachment:%C3%A4%20b.csv", "mimeType": "text/csv", "text": "3"}
    assert file == {"type": "resource", "resource": resource}
    assert latin["resource"]["blob"] == "5A==" and "text" not in latin["resource"]
    assert link["type"] == "resource_link" and link["uri"] == "https://example.org/c"


@pytest.mark.req("TR-19", "BY-15")
def test_a_cut_says_how_much_is_shown_and_how_to_get_the_rest() -> None:
    assert truncate("abcdef", 6) == "abcdef"
    assert truncate("abcdef", 4) == "abcd\n[cut: 4 of 6 characters shown. Ask for less, or for a part of it.]"
    assert truncate("abcdef", 4, "call_1", 10) == (
        "abcd\n[cut: 4 of 6 characters shown. Read on with read_result(handle='call_1', offset=14).]"
    )
    assert truncate("abcdef", -1).startswith("\n[cut: 0 of 6")


@pytest.mark.req("TR-21")
def test_a_table_shows_what_it_is_given_and_counts_what_it_is_not() -> None:
    assert build_markdown_table([]) == "(0 total)"
    assert build_markdown_table([{"max_results": 1}, {"other": "x\ny"}]) == (
        "| Max Results | Other |\n| --- | --- |\n| 1 |  |\n|  | x y |\n(2 total)"
    )
    assert build_markdown_table([{"a": 1}] * 60).endswith("| 1 |\n... (60 total)")
    assert build_markdown_table([{"a": 1}] * 60).count("| 1 |") == 50
    assert build_markdown_table([{"a": 1}], limit=5, total=1).endswith("| 1 |\n(1 total)")
