"""What can be sent in the place of a proper body, a number or a text."""

from __future__ import annotations

DEEP = 100_000
NOT_JSON = {
    "nothing": b"",
    "a blank": b" \n",
    "half an object": b'{"jsonrpc": "2.0", "id": 1, "method": "pi',
    "a word": b"hello",
    "no text": b"\xff\xfe\x00\x01",
    "utf-16": '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
    "half a character": b'{"jsonrpc":"2.0","id":1,"method":"\xc3"}',
    "a lone surrogate": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    "surrogates turned around": b'{"jsonrpc":"2.0","id":1,"method":"p","params":{"x":"\\udc00\\ud800"}}',
    "not a number": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    "no end": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}',
    "no beginning": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
    "deep lists": b"[" * DEEP,
    "deep lists that end": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep params": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":'
    + b'{"a":' * DEEP
    + b"1"
    + b"}" * DEEP
    + b"}",
    "two values": b'{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}',
    "comments": b'{"jsonrpc":"2.0","id":1,"method":"ping"/* hi */}',
    "single quotes": b"{'jsonrpc':'2.0','id':1,'method':'ping'}",
    "a null byte": b'{"jsonrpc":"2.0","id":1,"method":"ping"}\x00',
}
NUMBERS = ("1e400", "-1e400", "9" * 400, "9" * 5_000, "0." + "9" * 5_000, "1e-400", "-0", "1e308")
TEXTS = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\x01\x1f\x7f",
    "\u2028\u2029",
    "\u202eright to left",
    "\ufeff\ufffe\uffff",
    "\U0010ffff",
    "e\u0301" * 50,
    "x" * 3_000,
    "'; DROP TABLE events; --",
    "%00%ff%s{0}${x}",
    "../../../etc/passwd",
    "<script>alert(1)</script>",
    "\r\nset-cookie: a=b",
)
"""Texts that some layer might take for something else."""
SOME = ("a\x00b", "\U0010ffff", "'; DROP TABLE events; --", "\r\nset-cookie: a=b")
"""Those that have done most harm elsewhere."""
