"""The rectangles of a page's text against its picture: private words are written in magenta, harmless ones in green."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.images.inked import STYLE, inked, session_of, show
from tests.support.origin_world import PAINTED, Tab, World, open_world

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made
        await made.leave()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(world: World) -> AsyncIterator[Tab]:
    made = await world.open(world.sites.put("{shop}/blank", "<!doctype html><meta charset=utf-8>"))
    await made.js(PAINTED)
    yield made


SHADOW = "const root = at.attachShadow({mode: 'closed'}); root.innerHTML = `" + STYLE + "%s`;"
LAYOUTS = (  # body, script
    pytest.param("<p><h>Write to</h> <s>ann@example.test</s> <h>today</h></p>", "", id="plain"),
    pytest.param("<s>ann<b>@exa</b>mple<i>.te<u>st</u></i></s> <h>fine</h>", "", id="split-over-tags"),
    pytest.param(
        "<div style='width:80px;overflow-wrap:anywhere'><h>word</h> <s>ann.example@example.test</s> <h>end</h></div>",
        "",
        id="broken-over-lines",
    ),
    pytest.param("<s>4242 4242<br>4242 4242</s> <h>fine</h>", "", id="over-a-line-break"),
    pytest.param("<s>ann@<wbr>exam&shy;ple&#8203;.test</s> <h>fine</h>", "", id="invisible-characters"),
    pytest.param("<div id=at></div>", SHADOW % "<p><h>In a</h> <s>ann@example.test</s></p>", id="closed-shadow-root"),
    pytest.param(
        "<div id=at><s>ann@example.test</s></div>", SHADOW % "<h>before</h> <slot></slot> <h>after</h>", id="slotted"
    ),
    pytest.param(
        "<style>.a::before{content:'ann@';color:#f0f}.a::after{content:'.test';color:#f0f}</style>"
        "<h>see</h> <span class=a><s>example</s></span> <h>end</h>",
        "",
        id="before-and-after",
    ),
    pytest.param(
        "<style>.a::before{content:attr(title);color:#f0f}</style><span class=a title='ann@example.test'></span>"
        "<h> fine</h>",
        "",
        id="generated-whole",
    ),
    pytest.param(
        "<style>div::first-letter{font-size:2em}</style><div><s>ann@example.test</s> <h>fine</h></div>",
        "",
        id="first-letter",
    ),
    pytest.param("<div style='text-transform:uppercase'><s>straße@example.test</s> <h>ok</h></div>", "", id="capitals"),
    pytest.param(
        "<svg width=400 height=60><text x=10 y=20 fill='#080'>in svg</text>"
        "<text x=80 y=20 fill='#f0f'>ann<tspan dy=3>@example</tspan>.test</text></svg>",
        "",
        id="svg-text",
    ),
    pytest.param(
        "<svg width=400 height=90><path id=way d='M10 60 Q 150 0 300 70' fill=none />"
        "<text fill='#f0f'><textPath href='#way'>ann@example.test</textPath></text></svg>",
        "",
        id="text-on-a-path",
    ),
    pytest.param(
        "<svg width=400 height=60><symbol id=one><text x=5 y=20 fill='#f0f'>ann@example.test</text></symbol>"
        "<use href='#one' x=150 y=20 /></svg>",
        "",
        id="svg-use",
    ),
    pytest.param("<input style='color:#f0f;width:200px' value='ann@example.test'> <h>fine</h>", "", id="input"),
    pytest.param(
        "<div style='position:relative'><input style='color:#f0f;width:90px;padding:22px 30px 6px;border:0' "
        "value='a long ann@example.test'><label style='position:absolute;left:30px;top:2px;font-size:10px'><h>Mail</h>"
        "</label></div>",
        "document.querySelector('input').scrollLeft = 40",
        id="input-with-a-label-upon-it",
    ),
    pytest.param(
        "<input style='color:#f0f;height:12px;padding:0 20px;text-indent:9px;font-size:20px' "
        "value='gjann@example.test'>",
        "",
        id="input-too-low-for-its-text",
    ),
    pytest.param(
        "<input style='color:#f0f;padding:5px 40px 5px 5px;text-align:right' type=search value='ann@example.test'>",
        "",
        id="input-aligned-right",
    ),
    pytest.param("<input style='color:#f0f;padding:9px' type=date value=2020-10-12>", "", id="date"),
    pytest.param("<input style='color:#f0f' type=password value='hunter2'> <h>fine</h>", "", id="password"),
    pytest.param("<span style='-webkit-text-security:disc'><s>hunter2</s></span> <h>fine</h>", "", id="text-security"),
    pytest.param("<textarea style='color:#f0f'>Dear\nann@example.test</textarea><h>fine</h>", "", id="textarea"),
    pytest.param(
        "<select style='color:#f0f'><option>no<option selected>ann@example.test</select> <h>fine</h>", "", id="select"
    ),
    pytest.param(
        "<select size=3><option style='color:#080'>no<option style='color:#f0f'>ann@example.test</select>",
        "",
        id="list-box",
    ),
    pytest.param("<input type=button style='color:#f0f' value='ann@example.test'> <h>fine</h>", "", id="button"),
    pytest.param("<div contenteditable><h>Dear</h> <s>ann@example.test</s></div>", "", id="editable"),
    pytest.param("<details open><summary><h>more</h></summary><s>ann@example.test</s></details>", "", id="details"),
    pytest.param("<dialog><h>Dear</h> <s>ann@example.test</s></dialog>", "at.showModal()", id="modal-dialog"),
    pytest.param(
        "<div style='height:90px;width:300px;overflow:hidden'><div popover style='position:absolute;inset:auto;"
        "top:300px'><s>ann@example.test</s></div></div>",
        "document.querySelector('[popover]').showPopover()",
        id="popover",
    ),
    pytest.param("<div style='transform:rotate(20deg);margin:90px'><s>ann@example.test</s></div>", "", id="rotated"),
    pytest.param(
        "<div style='transform:scale(1.7);transform-origin:0 0'><h>see</h> <s>ann@example.test</s> <h>it</h></div>",
        "",
        id="scaled",
    ),
    pytest.param("<div style='zoom:1.5'><h>see</h> <s>ann@example.test</s> <h>it</h></div>", "", id="zoomed"),
    pytest.param(
        "<div style='height:700px'></div><h>see</h> <s>ann@example.test</s><div style='height:900px'></div>",
        "scrollTo(0, 500)",
        id="scrolled-page",
    ),
    pytest.param(
        "<div id=at style='height:60px;width:240px;overflow:scroll'><div style='height:50px'></div><h>see</h> "
        "<s>ann@example.test</s><div style='height:300px'></div></div><h>below the box there is more</h>",
        "at.scrollTop = 30",
        id="scrolled-box",
    ),
    pytest.param(
        "<div style='height:20px;width:90px;overflow:hidden'><s>ann@example.test ann@example.test</s></div>"
        "<h>harmless below it</h>",
        "",
        id="clipped",
    ),
    pytest.param(
        "<div style='position:fixed;right:5px;bottom:5px'><h>see</h> <s>ann@example.test</s></div>"
        "<div style='height:3000px'></div>",
        "scrollTo(0, 300)",
        id="fixed",
    ),
    pytest.param("<div dir=rtl><h>שלום</h> <s>ann@example.test</s> <h>עולם</h></div>", "", id="right-to-left"),
    pytest.param(
        "<div style='columns:2;width:420px;height:40px'><h>one two three four five six</h> <s>ann@example.test</s> "
        "<h>seven eight nine ten</h></div>",
        "",
        id="columns",
    ),
    pytest.param(
        "<div style='columns:3;width:300px'><h>one</h><br><h>two three</h><br><h>four</h><br><s>ann@example.test</s> "
        "<h>five</h><br><b><s>eve@example.test</s></b></div>",
        "",
        id="columns-that-break-a-line",
    ),
    pytest.param(
        "<div style='columns:300px;height:60px;width:300px;transform:translateX(-316px)'><h>one<br>two<br>three </h>"
        "<s>ann@example.test</s></div>",
        "",
        id="columns-as-pages",
    ),
    pytest.param(
        "<style>.a::before{content:'ann@example.test';color:#f0f}</style><div style='columns:2;width:500px'><h>one</h>"
        "<br><h>two<br></h><span class=a></span></div>",
        "",
        id="generated-in-columns",
    ),
    pytest.param(
        "<div style='writing-mode:vertical-rl;height:300px'><h>see</h> <s>ann@example.test</s></div>", "", id="vertical"
    ),
    pytest.param(
        "<div style='width:120px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis'><s>ann@example.test 1</s>"
        "</div>",
        "",
        id="ellipsis",
    ),
    pytest.param("<pre><h>name:</h>\t<s>ann@example.test</s>\n<h>x  y</h></pre>", "", id="preformatted"),
    pytest.param("<h>😀 fine</h> 😀<s>ann@example.test</s> <h>&#x1d49c;</h>", "", id="beyond-16-bits"),
    pytest.param(
        "<div style='display:flex'><s>4242</s><s>4242</s><s>4242</s></div><h>fine</h>", "", id="digits-in-a-flex-box"
    ),
    pytest.param(
        "<s style='display:inline-block'>ann@</s><s style='display:inline-block'>example.test</s> <h>fine</h>",
        "",
        id="inline-blocks",
    ),
    pytest.param("<p style='display:contents'><s>ann@<i>example</i>.test</s></p> <h>x</h>", "", id="display-contents"),
    pytest.param(
        "<div style='position:relative;height:50px'><s style='position:absolute;left:200px'>ann@example.test</s>"
        "<h>here</h></div>",
        "",
        id="absolute",
    ),
    pytest.param(
        "<div style='filter:blur(0px);perspective:500px'><div style='transform:rotateY(30deg)'><s>ann@example.test"
        "</s></div></div>",
        "",
        id="perspective",
    ),
    pytest.param(
        "<s>ann@example.test</s><dialog style='background:#fff;width:300px;height:50px;margin:0'></dialog>"
        "<br><br><br><br><br><br><s>eve@example.test</s>",
        "document.querySelector('dialog').showModal()",
        id="beside-a-modal-dialog",
    ),
    pytest.param(
        "<div style='position:relative;width:300px;height:60px;background:#fff'></div>"
        "<div style='position:absolute;left:20px;top:20px;pointer-events:none'><s>ann@example.test</s></div>",
        "",
        id="over-something-opaque-without-pointer",
    ),
    pytest.param(
        "<style>.t{background:#fff;margin-top:-21px}.t::after{content:'';position:absolute;inset:0}</style>"
        "<div style='position:relative'><s>ann@example.test</s><div class=t style='color:#fff'>"
        ". . . . . . . . . . .</div></div>",
        "",
        id="under-a-pseudo-element",
    ),
    pytest.param(
        "<s>ann@example.test</s><div style='margin-top:-21px;background:#fff;color:#fff'>"
        ".........................</div>",
        "",
        id="over-a-background-of-its-layer",
    ),
    pytest.param(
        "<s>ann@example.test</s><div style='position:absolute;left:0;top:0;width:90px;height:60px;background:#fff'>"
        "</div>",
        "",
        id="half-hidden",
    ),
    pytest.param(
        "<s>ann@example.test</s><div style='position:absolute;left:0;top:0;width:400px;height:60px;opacity:.5;"
        "background:#fff'></div>",
        "",
        id="under-a-veil",
    ),
    pytest.param(
        "<s>ann@example.test</s><div style='position:absolute;left:0;top:0;width:400px;height:60px;background:#fff;"
        "clip-path:circle(9px)'></div>",
        "",
        id="under-something-with-a-hole",
    ),
    pytest.param(
        "<p style='text-shadow:0 30px 0 #f0f'><s>ann@example.test</s></p><br><br><h>fine</h>", "", id="text-shadow"
    ),
    pytest.param(
        "<p style='filter:drop-shadow(220px 40px 0 #f0f)'><s>ann@example.test</s></p><br><br><h>fine</h>",
        "",
        id="drop-shadow",
    ),
    pytest.param(
        "<p style='-webkit-box-reflect:below 9px'><s>ann@example.test</s></p><br><br><h>fine</h>", "", id="reflection"
    ),
    pytest.param(
        "<p>"
        + "".join(f"<s style='display:inline-block;width:18px'>{letter}</s>" for letter in "ann@example.test")
        + "</p><h>fine</h>",
        "",
        id="a-letter-a-box",
    ),
    pytest.param("<ul><li><s>ann@example.test</s><li><h>fine</h></ul>", "", id="list"),
    pytest.param("<table><tr><td><h>a</h><td><s>ann@example.test</s></table>", "", id="table"),
    pytest.param("<button><h>to</h> <s>ann@example.test</s></button>", "", id="button-element"),
    pytest.param(
        "<iframe style='border:3px solid #ddd;padding:9px' srcdoc=\"" + STYLE.replace('"', "'") + "<h>in</h> "
        "<s>ann@example.test</s><div style='height:900px'>\"></iframe>",
        "document.querySelector('iframe').contentWindow.scrollTo(0, 5)",
        id="frame",
    ),
    pytest.param(
        "<div style='zoom:1.5'><iframe srcdoc=\"" + STYLE + '<h>in</h> <s>ann@example.test</s>"></iframe></div>',
        "",
        id="zoomed-frame",
    ),
    pytest.param(
        "<iframe style='transform:rotate(9deg) scale(.8);margin:60px' srcdoc=\"" + STYLE + "<h>in</h> "
        '<s>ann@example.test</s>"></iframe>',
        "",
        id="rotated-frame",
    ),
    pytest.param(
        "<div style='zoom:1.25'><iframe width=500 height=300 srcdoc=\"" + STYLE + "<h>in</h> <iframe style='zoom:1.2;"
        "margin:20px' srcdoc='<body style=color:#f0f>ann@example.test'></iframe>\"></iframe></div>",
        "",
        id="nested-frames",
    ),
    pytest.param(
        "<object width=300 height=60 data='data:text/html,<body style=color:%23f0f>ann@example.test'></object>",
        "",
        id="object",
    ),
)


MORE = [
    pytest.param(body, then, id=name)
    for name, then, body in re.findall(
        r'<template id="([\w-]+)"(?: data-then="([^"]*)")?>(.*?)</template>',
        (Path(__file__).parent / "pages" / "layouts.html").read_text(encoding="utf-8"),
        re.DOTALL,
    )
]


@pytest.mark.parametrize(("body", "then"), [*LAYOUTS, *MORE])
async def test_private_ink_is_barred_and_harmless_ink_is_not(tab: Tab, body: str, then: str) -> None:
    await show(tab, body.replace("<dialog>", "<dialog id=at>"), then)
    ink, page, bars = await inked(session_of(tab))
    told = [text.text for text in page.texts], [(bar.type, bar.box) for bar in bars]
    assert ink.private > 20, told
    assert ink.private_barred == ink.private, (ink, told)
    assert ink.harmless_barred <= 0.03 * ink.harmless, (ink, told)


@pytest.mark.parametrize("scale", [1.5, 2, 0.75])
async def test_boxes_are_right_at_any_scale_of_the_device(tab: Tab, scale: float) -> None:
    session = session_of(tab)
    metrics = {"width": 640, "height": 480, "deviceScaleFactor": scale, "mobile": False}
    await session.connection.start("Emulation.setDeviceMetricsOverride", metrics, session.page.guard)
    try:
        frame = f'<iframe style="zoom:1.3" srcdoc="{STYLE}<h>in</h> <s>eve@example.test</s>"></iframe>'
        body = (
            f"<div style='height:300px'></div><h>see</h> <s>ann@example.test</s> <h>it</h><br><input value=ann@b.test "
            f"style='color:#f0f'><div style='transform:scale(1.2) rotate(4deg);margin:20px'><s>ann@c.test</s></div>"
            f"{frame}<div style='height:900px'></div>"
        )
        await show(tab, body, "scrollTo(0, 233)")
        ink, _, bars = await inked(session)
    finally:
        await session.connection.start("Emulation.clearDeviceMetricsOverride", {}, session.page.guard)
    assert len(bars) == 4
    assert ink.private > 1000 * scale
    assert ink.private_barred == ink.private
    assert ink.harmless_barred <= 0.03 * ink.harmless


COVER = "position:absolute;left:0;top:0;width:400px;height:80px;background:#fff;padding:2px"
HIDDEN = (  # body: what is private is hidden by what is harmless
    pytest.param(f"<s>ann@example.test</s><div style='{COVER}'><h>harmless</h></div>", id="text"),
    pytest.param(f"<input value=ann@example.test><div style='{COVER}'><h>harmless</h></div>", id="field"),
    pytest.param(f"<div id=at></div><div style='{COVER}'><h>harmless</h></div>", id="shadow-root"),
    pytest.param(
        f"<div style='height:10px'></div><div style='transform:scale(.9)'><s>ann@example.test</s></div>"
        f"<div style='{COVER};border-radius:9px'><h>harmless</h></div>",
        id="scaled",
    ),
    pytest.param(
        "<s>ann@example.test</s><dialog style='background:#fff;border:0;width:300px;height:60px;margin:0'>"
        "<h>harmless</h></dialog>",
        id="modal-dialog",
    ),
)


@pytest.mark.parametrize("body", HIDDEN)
async def test_what_lies_under_something_opaque_costs_nothing_that_is_shown(tab: Tab, body: str) -> None:
    then = SHADOW % "<s>ann@example.test</s>" if "id=at" in body else ""
    then += "document.querySelector('dialog').showModal()" if "<dialog" in body else ""
    await show(tab, body, then)
    ink, page, bars = await inked(session_of(tab))
    assert any("ann@example.test" in text.text for text in page.texts)
    assert (ink.private, bars) == (0, [])
    assert ink.harmless > 20
    await show(tab, body.replace("background:#fff", "background:#fffe"), then)
    assert (await inked(session_of(tab)))[2] != []
