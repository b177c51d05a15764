"""Text of a page stays text: nothing that a page shows is markup again in the Markdown that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt
from markdown_it.token import Token

from handrail.net.body import remove_invisible
from handrail.toolsets.web.markdown import make_readable

URL = "https://site.example/docs/page"
BITS = [
    *"<p> </p> <b> </b> <i> <sub> </a> <code> </code> <pre> </pre> <h2> </h2> <ul> <li> </ul>".split(),
    *"<table> <tr> <td> <th> </table> <blockquote> </blockquote> <q> <del> <br> <dl><dt> <dd>".split(),
    *"<address> <fieldset> <caption> <hgroup> <kbd> <dt> <thead> <main> <nav> </nav> <figcaption>".split(),
    *["<details><summary>", "</summary>", "<figure><figcaption>", "<img src=x alt='[a](javascript:x) \\'>"],
    *["<img src=x alt='&lt;script&gt;`'>", "<a href='/&lt;script&gt;`(\\'>", "[x](javascript:y)", "<ol>"],
    *[
        "[x]: javascript:y",
        "&lt;script&gt;",
        "&lt;script&gt;",
        "&lt;!--",
        "&amp;lt;",
        "javascript:",
        "\n    ",
    ],
    *[
        "&#1;",
        "&#x202e;",
        "&#x200b;",
        "`",
        "``",
        "```",
        "~~~",
        "\\",
        "x",
        " ",
        "\n",
        "\n\n",
        "!",
        "|",
        "(",
        ")",
        "]",
        "[",
        "\t",
        "\ue000",
    ],
]


class Trusting(MarkdownIt):
    """A reader that takes what it is given."""

    def validateLink(self, url: str) -> bool:
        return True


reader = Trusting("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tokens(markdown: str) -> Iterator[Token]:
    def each(of: Sequence[Token] | Iterable[Token]) -> Iterator[Token]:
        for token in of:
            yield token
            yield from each(token.children or ())

    yield from each(reader.parse(markdown))


def markup_of(html: str) -> list[str]:
    """What a reader of the Markdown takes for HTML, or for a link to somewhere else than the web."""
    found = []
    for token in tokens(remove_invisible(make_readable(html, URL, "markdown").text)):
        target = token.attrs.get("href", token.attrs.get("src", "https://"))
        if token.type in ("html_block", "html_inline") or not str(target).startswith("https://"):
            found.append(token.content or str(target))
    return found


@pytest.mark.req("BT-05")
@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_no_page_makes_markup_of_what_it_shows(html: str) -> None:
    assert markup_of(html) == []


@pytest.mark.req("BT-05")
@pytest.mark.parametrize(
    "html",
    [
        "<p>[go](javascript:evil)</p>",
        "<p>![go](data:text/html,evil)</p>",
        "<p>[go]: javascript:evil</p><p>[go]</p>",
        "<p>\\&lt;script&gt;evil",
        "<p>` x <code>&lt;script&gt;</code>",
        "<p>```</p>x<pre>&lt;script&gt;</pre>",
        "<p>~~~</p>x<pre>\n~~~\n\n&lt;script&gt;</pre>",
        "<code>x</code><code>a`b&lt;script&gt;</code>",
        "<code>x</code><b></b><code>a`b&lt;script&gt;</code>",
        "<code>&#96;&#x202e;&#96;&lt;script&gt;</code>",
        "<pre>x\n``&#x200b;`\n\n&lt;script&gt;</pre>",
        "<code><img src=x alt='`'>&lt;script&gt;</code>",
        "<b><pre>x\n\n&lt;script&gt;</pre></b>",
        "<b><b><pre>x\n\n&lt;script&gt;</pre></b></b>",
        "<b><table><tr><td><pre>x\n\n&lt;script&gt;</pre></table></b>",
        "<table><pre><table>[x](javascript:y)",
        "<h2><pre>``` &lt;script&gt;</pre></h2>",
        "<figure><figcaption><pre>&lt;script&gt;</pre></figcaption></figure>",
        "<table><caption><pre>&lt;script&gt;</pre></caption><tr><td>x</table>",
        "<a href=x><pre>``` &lt;script&gt;</pre></a>",
        "<code><pre>x\n\n&lt;script&gt;</pre></code>",
        "<code><main>&lt;script&gt;</main></code>",
        "<pre><article>&lt;script&gt;</article></pre>",
        "<img src=x alt='\\'> &lt;script&gt;",
        "<img src=x alt='] &lt;script&gt;'>",
        "<a href='https://x.example/&gt; &lt;script&gt;'>go</a>",
        "<a href='https://x.example/\\'>go</a>[x](javascript:y)",
        "<img src='/[x](javascript:alert(1))' alt=logo>",
        "<img src='/[x](data:text/html;base64,PHA+)' alt=d>",
        "<img src='/?q=[x](file:///etc/passwd)#[x](file:///etc/passwd)' alt=d>",
        "<base href='/[x](javascript:y)/'><img src=z alt=d>",
        "<img src='mailto:ana@site.example' alt=d>",
        "<img src='javascript:x' alt='no src'>",
    ],
)
def test_text_that_looks_like_markdown_stays_text(html: str) -> None:
    assert markup_of(html) == []


HOSTILE = st.lists(
    st.sampled_from(
        [
            *[
                "[",
                "]",
                "(",
                ")",
                "](",
                "![",
                "\\",
                "`",
                "<",
                ">",
                '"',
                "'",
                "|",
                "!",
                "#",
                "?",
                "/",
                "//",
                "@",
                ":",
            ],
            *["javascript:", "data:", "file:", "JaVa\tScRiPt:", "https:", "https://[::1]", "mailto:", "tel:"],
            *[
                "[x](javascript:y)",
                "[x]: javascript:y",
                "&#93;&#40;",
                "&rpar;",
                "%5D%28",
                "src",
                "x",
                "<script>",
            ],
            *[
                " ",
                "\n",
                "\n\n",
                "\r",
                "\t",
                "\x01",
                "\u2028",
                "\xa0",
                "\u200b",
                "\u202e",
                "\ue000",
                "\ue001",
            ],
        ]
    )
    | st.text(max_size=2),
    max_size=8,
).map("".join)
SHAPES = [
    "<img src='{0}' alt='{1}' title='{2}'>",
    "<a href='{0}' title='{1}'>{2}</a>",
    "<a href='{0}'><img src='{1}' alt='{2}'></a>",
    "<base href='{0}'><a href='{1}'>{2}</a><img src='{1}' alt='{2}'>",
    "<table><tr><td><a href='{0}'>{1}</a><td><img src='{0}' alt='{2}'></table>",
    "<pre class='language-{0}'><code class='lang-{1}'>{2}</code></pre>",
    "<ol start='{0}'><li value='{1}'>{2}</ol>",
]


@pytest.mark.req("BT-05")
@given(st.sampled_from(SHAPES), st.lists(HOSTILE, min_size=3, max_size=3))
def test_no_attribute_leads_anywhere_but_to_the_web(shape: str, values: list[str]) -> None:
    for token in tokens(make_readable(shape.format(*map(escape, values)), URL, "markdown").text):
        assert token.type not in ("html_block", "html_inline")
        if token.type == "image":  # one without a target was left out by the second lock
            assert urlsplit(str(token.attrs["src"])).scheme in ("http", "https", "")
        if token.type == "link_open":
            assert urlsplit(str(token.attrs["href"])).scheme in ("http", "https", "mailto", "tel")


@pytest.mark.req("BT-05")
def test_a_block_of_code_is_its_words_without_links() -> None:
    assert make_readable("<pre>\n    <a href=/x><p>y</a></pre>", URL, "markdown").text.split() == [
        "```",
        "y",
        "```",
    ]
    assert make_readable("<pre>def <a href=/x>run</a>()</pre>", URL, "markdown").text == "```\ndef run()\n```"
    linked = make_readable("<code><a href=/x>run</a></code>", URL, "markdown").text
    assert "https://site.example/x" in linked


@pytest.mark.req("BT-05")
def test_what_was_text_reads_as_it_did() -> None:
    html = "<p>a[0] ~5 `x` C:\\new &lt;b&gt; [1]</p><pre>a[0] ~5 `x` C:\\new &lt;b&gt;</pre>"

    assert make_readable(html, URL, "markdown").text == snapshot("""\
a\\[0] \\~5 \\`x\\` C:\\\\new \\<b> \\[1]

```
a[0] ~5 `x` C:\\new <b>
```\
""")
    assert reader.render(make_readable(html, URL, "markdown").text).startswith(
        "<p>a[0] ~5 `x` C:\\new &lt;b&gt; [1]</p>"
    )
    assert make_readable(html, URL, "text").text.startswith("a[0] ~5 `x` C:\\new <b> [1]")
    assert make_readable(html, URL, "html").text.startswith("<p>a[0] ~5 `x` C:\\new &lt;b&gt; [1]</p>")
