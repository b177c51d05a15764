"""How pages become something to read: clean, bounded, decoded, and framed as data."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.net.body import decode
from handrail.net.fetcher import retry_after
from handrail.testing import ConformanceCase, conformance_cases
from handrail.toolsets.web import web_tools
from handrail.toolsets.web.html_cleaner import MAX_CHARS, clean_html
from handrail.toolsets.web.markdown import Format, make_readable
from handrail.toolsets.web.page import frame_untrusted, indent_json

URL = "https://site.example/docs/page"
FORMS: tuple[Format, ...] = ("markdown", "text", "html")
LONG = "A sentence that says something. " * 10


def markdown(html: str) -> str:
    return make_readable(html, URL, "markdown").text


@pytest.mark.parametrize("case", conformance_cases(web_tools(), strict=True))
def test_each_is_conformant(case: ConformanceCase) -> None:
    case()


@pytest.mark.req("BT-05", "BF-09", "ED-01")
def test_both_only_read_and_need_the_network() -> None:
    for tool in web_tools():
        assert (tool.level, tool.danger, set(tool.capabilities)) == ("read", "safe", {"network"})
        assert (tool.category, tool.origin, tool.concurrency) == ("web", "system", "parallel")
        assert "instructions" in tool.guidance


@pytest.mark.req("BT-05")
def test_a_page_is_readable_markdown() -> None:
    html = """<title>Rails &amp; more</title><base href="/base/">
    <h1>Rails</h1><p>They <strong>help</strong> &amp; <em>hold</em>.<p>See <a href="a?b=1&amp;c=2">this</a>,
    <a href="//other.example/x">that</a>.<ul><li>one<ul><li>inner</ul><li>two</ul><ol start=3><li>three</ol>
    <pre><code class="x language-python">if a &lt; b:\n    pass</code></pre>
    <table><tr><th>a<th>b<tr><td>1<td>2</table>
    <blockquote>quoted</blockquote><img src="pic.png" alt="a rail"><hr><p>a<br>b &lt;i&gt;"""
    page = make_readable(html, URL, "markdown")

    assert (page.title, page.is_cut) == ("Rails & more", False)
    assert page.text == snapshot("""\
# Rails

They **help** & *hold*.

See [this](https://site.example/base/a?b=1&c=2), [that](https://other.example/x).

- one
  - inner
- two

3. three

```python
if a < b:
    pass
```

| a | b |
| --- | --- |
| 1 | 2 |

> quoted

![a rail](https://site.example/base/pic.png)

---

a  \n\
b \\<i>\
""")


@pytest.mark.req("BT-05")
@pytest.mark.parametrize(
    "html",
    [
        "<script>evil</script>",
        "<SCRIPT src=x>evil</script >",
        "<script>evil",
        "<style>evil</style>",
        "<template>evil</template>",
        "<svg><text>evil</text></svg>",
        "<textarea>evil</textarea>",
        "<select><option>evil</select>",
        "<button>evil</button>",
        "<iframe>evil</iframe>",
        "<object>evil</object>",
        "<dialog>evil</dialog>",
        "<!-- evil -->",
        "<!-- evil",
        "<?evil?>",
        "<![CDATA[evil]]>",
        "<p hidden>evil</p>",
        "<p HIDDEN=''>evil</p>",
        "<div aria-hidden=true><p>evil</p></div>",
        "<p style='display: none'>evil</p>",
        "<p style='color:red;visibility:hidden'>evil</p>",
        "<p style='font-size:0'>evil</p>",
        "<p style='opacity:0.0'>evil</p>",
        "<p style='display:/**/none !important'>evil</p>",
        "<p style='position:absolute; left: -9999px'>evil</p>",
        "<p/hidden>evil</p>",
        "<p style='display&#58;none'>evil</p>",
        "<img src='javascript:evil'>",
        "<img src='data:image/png;base64,evil' alt=evil>",
        "<img src=x.png onerror=evil hidden>",
        "<a href='javascript:evil'>go</a>",
        "<a href=' java\tscript:evil'>go</a>",
        "<a href='data:text/html,evil'>go</a>",
        "<a href='vbscript:evil'>go</a>",
        "<a href='javascript://site.example/evil'>go</a>",
        "<a href='#evil'>go</a>",
        "<a href='https://evil@site.example/'>go</a>",
        "<a href='https://[evil'>go</a>",
        "<p onclick=evil title=evil class=evil id=evil>go</p>",
        "<input value=evil>",
        "<meta content=evil>",
        "<p title='a>b' data-x=\"<evil>\">go</p>",
        "</evil>",
        "<evil",
    ],
)
def test_what_is_no_text_of_the_page_is_dropped(html: str) -> None:
    for form in FORMS:
        page = make_readable(f"<p>before</p>{html}", URL, form)

        assert "evil" not in page.text and "before" in page.text
    assert "evil" not in "".join(clean_html(html, URL).pieces), (
        "and not only because another cleans up after us"
    )


@pytest.mark.req("BT-05")
@pytest.mark.parametrize(
    "style", ["opacity:0.9", "font-size:0.8em", "display:block", "left:-5px", "color:none"]
)
def test_what_is_shown_is_read(style: str) -> None:
    assert markdown(f"<p style='{style}'>shown</p>") == "shown"


@pytest.mark.req("BT-05")
def test_the_main_part_stands_for_the_page() -> None:
    around = "<nav>menu</nav><header>top</header>{}<aside>advert</aside><footer>imprint</footer>"
    assert markdown(around.format(f"<main>{LONG}<nav>inner</nav></main>")) == LONG.strip()
    assert markdown(around.format(f"<article>{LONG}</article><article>second</article>")).endswith("second")
    assert markdown(around.format(f"<div role=main>{LONG}</div>")) == LONG.strip()
    assert markdown(around.format(f"<div>{LONG}</div>")) == f"top\n\n{LONG.strip()}"
    assert markdown(f"<form><main>{LONG}</main></form>") == LONG.strip(), (
        "a page that is a form is still read"
    )
    assert markdown("<nav>menu</nav><p>short") == "short"
    assert markdown("<nav>menu alone") == "menu alone"


@pytest.mark.req("BT-05")
def test_text_that_looks_like_markup_stays_text() -> None:
    html = "<p>&lt;script&gt;alert(1)&lt;/script&gt; a &lt; b</p><pre>&lt;b&gt;</pre><p>&#xe000;</p>"

    assert markdown(html).startswith("\\<script>alert(1)\\</script> a \\< b")
    assert "<b>" in markdown(html)
    assert make_readable(html, URL, "text").text.startswith("<script>alert(1)</script> a < b")
    assert "<script" not in make_readable(html, URL, "html").text


HOSTILE = {
    "deep": "<div>",
    "deep lists": "<ul><li>",
    "deep tables": "<table><tr><td>",
    "never closed": "<b><p>x",
    "different": "<b a={0}><i b={0}><a href={0}><li>",
    "adopted": "<p><a><b></a>",
    "angles": "<",
    "comments": "<!--",
    "half tags": "<a ",
    "half quotes": "<a b='",
    "closing": "</p>",
    "scripts": "<script>",
    "ampersands": "&",
    "sections": "<![CDATA[",
    "attributes": "<p " + "a=1 " * 50 + ">",
    "styles": "<p style='" + "/*" * 4000 + "'>",
    "cells": "<table><td>x<p><b>",
}


@pytest.mark.req("BT-06")
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_pages_do_not_grow(kind: str) -> None:
    """What is made of a page is no deeper than we allow and not many times as large as the page."""
    html = "".join(HOSTILE[kind].format(number) for number in range(20_000 // len(HOSTILE[kind]) + 1))
    cleaned = "".join(clean_html(html, URL).pieces)

    assert len(cleaned) <= 8 * len(html) + 2_000
    assert _depth(cleaned) <= 64
    make_readable(html, URL, "markdown")


def test_a_page_that_is_too_long_is_cut() -> None:
    page = make_readable("x" * (MAX_CHARS + 10), URL, "text")

    assert page.is_cut and "".join(page.text.split()) == "x" * MAX_CHARS


def _depth(html: str) -> int:
    """How deep clean HTML is; fails where it is not balanced."""
    deep: list[str] = []
    most = 0
    for slash, name in re.findall(r"<(/?)(\w+)[^>]*>", html):
        if name in ("br", "hr", "img"):
            continue
        if slash:
            assert deep.pop() == name
        else:
            deep.append(name)
        most = max(most, len(deep))
    assert deep == []
    return most


BITS = [
    *"<div> </div> <p> </p> <b> </b> </a> <li> <ul> </ul> <table> <tr> <td> </table> <pre> </pre>".split(),
    "<a href=x>",
    *["<main>", "</main>", "<nav>", "</nav>", "<script>", "</script>", "<!--", "-->", "<p hidden>", "<form>"],
    *["<", ">", "&lt;", "text", " ", "\n", '"', "'", "<a b='", "&#0;", "\ue000", "<article>", "</article>"],
]


@given(st.lists(st.sampled_from(BITS) | st.text(max_size=5), max_size=40).map("".join))
def test_whatever_a_page_is_made_of_what_is_left_is_balanced(html: str) -> None:
    page = clean_html(html, URL)

    assert _depth("".join(page.pieces)) <= 64
    for form in FORMS:
        make_readable(html, URL, form)


class _Seen(HTMLParser):
    """What a parser that is not ours makes of it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen += [(tag, None), *attrs]


@pytest.mark.req("BT-05")
@given(
    st.lists(st.sampled_from([*BITS, "<script>alert(1)", "<a href='javascript:x'>"]), max_size=30).map(
        "".join
    )
)
def test_no_page_leaves_a_script_or_a_foreign_scheme_in_its_html(html: str) -> None:
    parser = _Seen()
    parser.feed(make_readable(html, URL, "html").text)

    for name, value in parser.seen:
        assert name not in ("script", "style", "iframe", "form", "input") and not name.startswith("on")
        assert name not in ("href", "src") or str(value).startswith("https://")


@pytest.mark.req("BT-05")
@given(st.text(max_size=200))
def test_nothing_framed_ends_its_frame(text: str) -> None:
    text = frame_untrusted(text, "An earlier frame of ours")
    framed = frame_untrusted(text, "Fetched it")
    mark = re.search(r"^--- begin (\w+) ---$", framed, re.MULTILINE)

    assert mark is not None
    assert framed.count(f"--- end {mark[1]} ---") == 1 and framed.endswith(f"\n--- end {mark[1]} ---")
    assert framed.partition(f"--- begin {mark[1]} ---\n")[2].rpartition("\n---")[0] == text


@pytest.mark.req("BT-05")
@pytest.mark.parametrize(
    ("body", "header", "text"),
    [
        ("ä".encode(), "text/html; charset=utf-8", "ä"),
        ("ä".encode("cp1252"), "text/html; charset=ISO-8859-1", "ä"),
        (b"\x80", "text/html; charset='latin1'", "€"),
        (b"\xef\xbb\xbf" + "ä".encode(), "text/html; charset=latin-1", "ä"),
        ("\ufeffä".encode("utf-16-le"), "text/html", "ä"),
        ("\ufeffä".encode("utf-16-be"), "", "ä"),
        ('<meta charset="shift_jis">日本'.encode("shift_jis"), "text/html", '<meta charset="shift_jis">日本'),
        (
            b'<?xml version="1.0" encoding="latin-1"?>\xe4',
            "text/xml",
            '<?xml version="1.0" encoding="latin-1"?>ä',
        ),
        ('<meta charset="utf-16">ä'.encode(), "text/html", '<meta charset="utf-16">ä'),
        ("ä".encode("utf-16-le"), "text/plain; charset=utf-16", "ä"),
        ("ä".encode(), "text/html; charset=nonsense", "ä"),
        ("ä".encode(), "text/html; charset=zlib", "ä"),
        (b"+AOQ-", "text/html; charset=utf-7", "+AOQ-"),
        (b"\\u0041", "text/html; charset=unicode_escape", "\\u0041"),
        (b"\xe4", "text/plain", "ä"),
        (b"a\r\nb\rc", "text/plain", "a\nb\nc"),
        ("a\x1b[31m\u202eb\U000e0041".encode(), "text/plain", "a[31mb"),
        ("a\xad\u200b\u2060\u2064\u2069\u206fb\ufeff\U000e0100\U000e01efc".encode(), "text/plain", "abc"),
        ("❤\ufe0f\u200d🔥 می\u200cخواهم".encode(), "text/plain", "❤\ufe0f\u200d🔥 می\u200cخواهم"),
    ],
)
def test_text_is_read_in_its_encoding(body: bytes, header: str, text: str) -> None:
    assert decode(body, header) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=8,
    )
)
def test_json_on_lines_of_its_own_is_the_same_json(value: object) -> None:
    assert json.loads(indent_json(json.dumps(value, separators=(",", ":")))) == value


@pytest.mark.parametrize(
    "text", ["{", "1 2", "[" * 5000, "[" * 30 + "]" * 30, '{"a":1' + " " * 1_000_000 + "}"]
)
def test_what_cannot_be_put_on_lines_stays_as_it_is(text: str) -> None:
    assert indent_json(text) == text
    assert (
        indent_json('{"a":1,"a":1.10e5,"b":"\\u0041"}') == '{\n  "a": 1,\n  "a": 1.10e5,\n  "b": "\\u0041"\n}'
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "99999999"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "1419704"}, 1_419_704.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 99 Oct 2015"}, None),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 +" + "9" * 30}, None),
        ({"retry-after": "Mon, 01 Jan " + "9" * 30 + " 00:00:00 GMT"}, None),
        ({"x-ratelimit-reset": "1, 1419704"}, 1.0),
        ({"x-ratelimit-reset": "1, 1419704", "x-ratelimit-remaining": "0, 5"}, 1.0),
        ({"x-ratelimit-reset": "1, 1419704", "x-ratelimit-remaining": "0, 0"}, 1_419_704.0),
        ({"x-ratelimit-reset": "1372700873", "x-ratelimit-remaining": "0"}, None),
    ],
)
def test_a_server_says_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_server_may_say_when_instead() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)

    assert 3000 < (retry_after({"retry-after": when}) or 0) <= 3600
