"""The stand-in that authors test with: it answers as scripted, records, and makes nothing up."""

from __future__ import annotations

import pytest

from capsdk import Result, errors
from capsdk.context import Context
from capsdk.fake import FakeCap


async def test_a_script_can_be_tested_without_a_host() -> None:
    async def main(input: dict[str, str], ctx: Context) -> Result:
        async with ctx.browser.session(input["url"]) as tab:
            ctx.progress(0, 1, "asking")
            await ctx.log("one line")
            reply = await tab.cdp.Runtime.evaluate(expression="document.title")
            return Result.ok([{"title": reply["result"]["value"]}])

    cap = FakeCap().cdp("Runtime.evaluate", {"result": {"value": "Shop"}})
    result = await main({"url": "https://shop.example/"}, Context(cap))
    assert result == Result.ok([{"title": "Shop"}])
    assert [name for name, _ in cap.calls] == [
        "browser.openSession",
        "run.progress",
        "run.log",
        "browser.cdp",
        "browser.closeSession",
    ]


async def test_replies_are_used_in_order_and_the_last_repeats() -> None:
    cap = FakeCap().reply("app.asset", {"text": "1"}, {"text": "2"})
    assert [await Context(cap).asset("a") for _ in range(3)] == ["1", "2", "2"]
    assert cap.called("app.asset") == [{"path": "a"}] * 3


async def test_a_scripted_error_is_raised() -> None:
    cap = FakeCap().cdp("Page.captureScreenshot", errors.error("BROWSER_POLICY_DENIED", "no"))
    with pytest.raises(errors.PolicyError):
        await cap.call("browser.cdp", {"sessionId": "s", "method": "Page.captureScreenshot"})


@pytest.mark.parametrize("name", ["browser.cdp", "owner.ask"])
async def test_what_is_not_scripted_is_an_unknown_entry(name: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        await FakeCap().call(name, {"method": "DOM.enable"})
    assert caught.value.code == "UNKNOWN_ENTRY"


async def test_events_are_read_by_cursor_method_and_limit() -> None:
    cap = FakeCap()
    for number in range(5):
        cap.emit("A.a" if number % 2 else "B.b", {"n": number})
    page = await cap.call("browser.events", {"sessionId": "s", "after": 1, "methods": ["B.b"], "limit": 1})
    assert ([event["seq"] for event in page["events"]], page["next"], page["lost"]) == ([3], 3, False)
    rest = await cap.call("browser.events", {"sessionId": "s", "after": 3, "methods": ["A.a"]})
    assert ([event["seq"] for event in rest["events"]], rest["next"]) == ([4], 5)
