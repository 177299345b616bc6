"""Templates, and the pages that are made of them: which half they belong to, in which language and look they are."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bench.redaction.people import LANGUAGES
from bench.redaction.values import Values, mark_of

AREAS = ("commerce", "hard", "media", "money", "people", "talk", "tech", "world")
FAR = "{far}"  # in a page: the URL of its frame from another origin
DENSITIES = (1.0, 1.0, 1.5, 1.0, 2.0)
LIGHT = "--bg:#ffffff;--fg:#1b1c1f;--soft:#6a6d75;--line:#d4d6db;--card:#f5f6f8;--accent:#1456b8"
DARK = "--bg:#1a1c20;--fg:#e4e5e8;--soft:#9da1aa;--line:#3a3d44;--card:#24272d;--accent:#7fb2ff"
STYLE = """\
body{margin:20px;font:15px/1.45 'DejaVu Sans',sans-serif;background:var(--bg);color:var(--fg)}
h1,h2,h3{margin:6px 0 10px;font-weight:600} h1{font-size:22px} h2{font-size:18px} h3{font-size:15px}
table{border-collapse:collapse} td,th{padding:4px 9px;text-align:left} a{color:var(--accent)}
input,textarea,select{font:14px 'DejaVu Sans',sans-serif;background:var(--bg);color:var(--fg);
border:1px solid var(--line);padding:4px 6px;width:300px} small{color:var(--soft)}
"""

Build = Callable[[Values], str]


@dataclass(frozen=True, slots=True)
class Template:
    """A layout. `media`: it also has text that is only pixels; `scroll` is how far down it is looked at, in CSS px.

    `whole`: it is higher than the window, and the picture is of all of it.
    """

    name: str
    build: Build
    media: bool
    scroll: int
    whole: bool

    @property
    def part(self) -> str:
        """`dev`: the policy's author may look at what was missed; `held`: at figures only. By the name, for ever."""
        return "held" if hashlib.sha256(self.name.encode()).digest()[0] & 1 else "dev"


@dataclass(frozen=True, slots=True)
class Page:
    """A template filled for one language; `far` is the document of its frame from another origin."""

    template: Template
    language: str
    html: str
    far: str
    density: float
    dark: bool

    @property
    def key(self) -> str:
        """Its name in reports and in its URL."""
        return f"{self.template.name}-{self.language}"


_templates: dict[str, Template] = {}


def template(name: str, *, media: bool = False, scroll: int = 0, whole: bool = False) -> Callable[[Build], Build]:
    """Register a layout. Raises ValueError for a name twice."""

    def register(build: Build) -> Build:
        if name in _templates:
            raise ValueError(f"two templates are named {name}; rename one")
        _templates[name] = Template(name, build, media, scroll, whole)
        return build

    return register


def templates() -> list[Template]:
    """All of them, in the order of their names."""
    for area in AREAS:
        import_module(f"bench.redaction.set.{area}")
    return [_templates[name] for name in sorted(_templates)]


def page(one: Template, language: str) -> Page:
    """A template in one language. The same every time."""
    values = Values(f"{one.name}/{language}", language, one.part == "held")
    turn = int.from_bytes(hashlib.sha256(f"{one.name}+{language}".encode()).digest()[:2], "big")
    dark = turn % 3 == 0
    body = one.build(values)
    return Page(one, language, document(body, dark=dark), values.far, DENSITIES[turn % len(DENSITIES)], dark)


def document(body: str, *, dark: bool = False) -> str:
    """A whole document around a body."""
    look = DARK if dark else LIGHT
    return (
        f"<!doctype html><html><meta charset=utf-8><link rel=icon href=data:,><title>Page</title>"
        f"<style>:root{{{look}}}{STYLE}</style><body>{body}</body></html>"
    )


def pages(part: str = "all", *, sets: int = 3, media_sets: int = 8, names: Sequence[str] = ()) -> list[Page]:
    """The pages of a part (`dev`, `held` or `all`), each template in so many languages; `names` narrow it."""
    chosen = []
    for one in templates():
        if part in ("all", one.part) and (not names or one.name in names):
            chosen += [page(one, language) for language in languages(one.name, media_sets if one.media else sets)]
    return chosen


def languages(name: str, count: int) -> list[str]:
    """So many for a template, by its name alone: another template more changes none of these. Half begin in English."""
    first, english = hashlib.sha256(f"languages of {name}".encode()).digest()[:2]
    step = 1 if count > 4 else 3
    found = [LANGUAGES[(first + turn * step) % len(LANGUAGES)] for turn in range(min(count, len(LANGUAGES)))]
    if "en" not in found and english & 1:
        found[0] = "en"
    return found


# --- pieces that many layouts share


def field(v: Values, kind: str, attributes: str = "", text: str | None = None) -> str:
    """An input that holds a private value."""
    value = html.escape(v.text(kind) if text is None else text)
    return f'<input {attributes} value="{value}" data-x="{mark_of(kind)}">'


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], attributes: str = "") -> str:
    """A table with its heads on top."""
    head = "".join(f"<th>{one}" for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    return f"<table {attributes}><thead><tr>{head}<tbody>{body}</table>"


def each(count: int, make: Callable[[int], str], between: str = "") -> str:
    """So many of the same."""
    return between.join(make(place) for place in range(count))


Piece = str | tuple[str, str]


def line(
    v: Values, x: float, y: float, *pieces: Piece, font: str = "14px DejaVu Sans", fill: str = "#222", turn: float = 0
) -> dict[str, Any]:
    """A line of a drawing: texts, and in between (kind, text) with "" for one to be drawn. `turn` is in degrees."""
    parts: list[list[str]] = []
    for piece in pieces:
        if isinstance(piece, str):
            parts.append([piece, ""])
        else:
            kind, text = piece
            parts.append([text or v.text(kind), mark_of(kind)])
    return {"x": x, "y": y, "font": font, "fill": fill, "turn": turn, "parts": parts}


def block(x: float, y: float, width: float, height: float, fill: str) -> dict[str, Any]:
    """A filled rectangle of a drawing; `noise` as fill is something like a photo."""
    return {"rect": [x, y, width, height], "fill": fill}


def drawing(name: str, how: str, width: int, height: int, ground: str, items: Sequence[dict[str, Any]]) -> str:
    """Text as pixels: drawn by the page itself as `canvas`, `img`, `jpeg`, `background`, or as an `svg` picture."""
    told = json.dumps([name, how, width, height, ground, list(items)]).replace("</", "<\\/")
    return f'<div id="{name}"></div>{DRAW if name else ""}<script>draw(...{told})</script>'


DRAW = """<script>
window.__drawn = window.__drawn || []; window.__pending = window.__pending || 0;
function draw(id, how, w, h, ground, items) {
  const k = devicePixelRatio, host = document.getElementById(id), c = document.createElement('canvas');
  c.width = Math.round(w * k); c.height = Math.round(h * k);
  const g = c.getContext('2d'), texts = []; g.scale(k, k); g.fillStyle = ground; g.fillRect(0, 0, w, h);
  let seed = 7; const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (const one of items) {
    if (one.rect) {
      const [x, y, ww, hh] = one.rect;
      if (one.fill !== 'noise') { g.fillStyle = one.fill; g.fillRect(x, y, ww, hh); continue; }
      for (let i = 0; i < ww * hh / 90; i++) {
        g.fillStyle = `hsla(${20 + chance() * 200}, 45%, ${25 + chance() * 55}%, .5)`;
        g.beginPath(); g.arc(x + 9 + chance() * (ww - 18), y + 9 + chance() * (hh - 18), 2 + chance() * 7, 0, 7);
        g.fill();
      }
      continue;
    }
    g.save(); g.translate(one.x, one.y); g.rotate(one.turn * Math.PI / 180); g.font = one.font; g.fillStyle = one.fill;
    let at = 0;
    for (const [text, mark] of one.parts) {
      const m = g.measureText(text); g.fillText(text, at, 0);
      if (mark) {
        const t = g.getTransform(), top = -m.actualBoundingBoxAscent - 1, low = m.actualBoundingBoxDescent + 1;
        const at4 = [[at, top], [at + m.width, top], [at, low], [at + m.width, low]]
          .map(([x, y]) => t.transformPoint(new DOMPoint(x, y))).map(p => [p.x / k, p.y / k]);
        const xs = at4.map(p => p[0]), ys = at4.map(p => p[1]), x = Math.min(...xs), y = Math.min(...ys);
        __drawn.push({id, how, mark, text, box: [x, y, Math.max(...xs) - x, Math.max(...ys) - y]});
      }
      at += m.width;
    }
    g.restore(); texts.push(one);
  }
  if (how === 'canvas') { c.style.cssText = `display:block;width:${w}px;height:${h}px`; host.append(c); return; }
  if (how === 'background') {
    host.style.cssText = `width:${w}px;height:${h}px;background:url(${c.toDataURL()}) 0 0/100% 100%`; return;
  }
  const escape = s => s.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const vector = `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}"><rect width="100%" height="100%"
    fill="${ground}"/>` + texts.map(t => `<text xml:space="preserve" x="${t.x}" y="${t.y}" fill="${t.fill}"
    style="font:${t.font};white-space:pre">${t.parts.map(p => escape(p[0])).join('')}</text>`).join('') + '</svg>';
  const i = new Image(w, h); i.style.display = 'block'; __pending++; i.onload = () => __pending--;
  i.src = how === 'svg' ? 'data:image/svg+xml,' + encodeURIComponent(vector)
    : how === 'jpeg' ? c.toDataURL('image/jpeg', .82) : c.toDataURL();
  host.append(i);
}
</script>"""
