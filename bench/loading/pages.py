"""The bytes that the measured site serves, and the script by which a page tells how long it took; no socket here."""

from __future__ import annotations

from collections.abc import Sequence

RESOURCE_BYTES = 1024
KINDS = ("image", "script", "text")  # in turn: what a page of many small resources loads
COMMON = (
    "Cache-Control: no-store\r\n"
    "Access-Control-Allow-Origin: *\r\n"
    "Cross-Origin-Resource-Policy: cross-origin\r\n"
    # Isolated pages have a clock of 5 µs, others one of 100 (High Resolution Time, 7.2).
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Embedder-Policy: require-corp\r\n"
)
TYPES = {
    "image": "image/gif",
    "script": "text/javascript",
    "text": "text/plain",
    "page": "text/html; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "body": "application/octet-stream",
}
GIF = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")
SCRIPT = b"window.ran = (window.ran || 0) + 1;"
SCRIPT_OF_PAGE = """\
const texts = [];
window.ran = 0;
window.whole = (async () => {
  await new Promise(ok => addEventListener('load', ok));
  const lengths = await Promise.all(texts);
  const took = performance.now();
  const images = [...document.images].filter(one => one.naturalWidth === 1).length;
  return [took, images + window.ran + lengths.filter(length => length === %d).length];
})();
"""
# Padding in front: the parser drops it, so no time goes into a document that nobody can see (HTML, 13.2.6.4.1).
END_OF_LARGE = (
    b"<!doctype html><title>t</title><script>window.whole = new Promise(ok =>"
    b"addEventListener('load', () => ok([performance.now(), 0])))</script>"
)
BLANK = (
    b"<!doctype html><title>t</title><link rel=icon href=data:,><script>window.whole = [performance.now(), 0]</script>"
)

# What a tab is asked: the expressions give plain values.
WHOLE = "new Promise(ok => { const look = () => window.whole ? ok(window.whole) : setTimeout(look, 2); look() })"
FETCH_ALL = """(async url => {
  const began = performance.now(), reader = (await fetch(url)).body.getReader();
  let size = 0;
  for (let piece; !(piece = await reader.read()).done;) size += piece.value.length;
  return [performance.now() - began, size];
})(%s)"""
FIRST_BYTES = """(async urls => {
  const took = [];
  for (const url of urls) {
    const began = performance.now(), answer = await fetch(url);
    took.push(performance.now() - began);
    if ((await answer.text()).length !== %d) throw new Error(url);
  }
  return took;
})(%s)"""


def padded(body: bytes, size: int, filling: bytes) -> bytes:
    """The body with as much behind it as makes it so long."""
    return body + filling * (size - len(body))


RESOURCES = {
    "image": padded(GIF, RESOURCE_BYTES, b"\0"),
    "script": padded(SCRIPT, RESOURCE_BYTES, b" "),
    "text": padded(b"", RESOURCE_BYTES, b"t"),
}


def head(kind: str, size: int) -> bytes:
    """The head of an answer with a body of this size."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: {TYPES[kind]}\r\nContent-Length: {size}\r\n{COMMON}\r\n".encode()


def whole(kind: str, body: bytes) -> bytes:
    """Head and body."""
    return head(kind, len(body)) + body


def page(count: int, origins: Sequence[str], *, delay_ms: int, token: str) -> bytes:
    """A page that loads so many resources, from the origins in turn; each is answered after the delay."""
    lines = [
        "<!doctype html><title>t</title><link rel=icon href=data:,>",
        f"<script>{SCRIPT_OF_PAGE % RESOURCE_BYTES}</script>",
    ]
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        origin = origins[number // len(KINDS) % len(origins)]
        url = f"{origin}/{kind}/{delay_ms}/{token}-{number}"
        lines.append(LINES[kind] % url)
    return "\n".join(lines).encode()


LINES = {
    "image": "<img src=%s>",
    "script": "<script async src=%s></script>",
    "text": "<script>texts.push(fetch('%s').then(one => one.text()).then(text => text.length))</script>",
}
