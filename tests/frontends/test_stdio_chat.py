"""`capsdk stdio --kind chat` on a real page: private details are masked, and the same page told to a script is not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import command_line, pids, started_for, stat_fields, wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, Stdio, opened

pytestmark = pytest.mark.chromium

PRIVATE = ("Rosalind", "Achterberg", "r.achterberg@example.test", "4111 1111 1111 1111", "hunter2-Zk9", "k3ttle77")
HARMLESS = ("Your order 10-4471", "Copper kettle 1.7 l", "£49.90", "Customer", "Price")

Ask = Callable[[Stdio, str], dict[str, Any]]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(Path(__file__).parent / "pages") as served:
        yield served


def served(kind: str, site: Site) -> Iterator[tuple[Stdio, str]]:
    """A host with the page open; afterwards nothing is left of it."""
    folder = Path(tempfile.mkdtemp(prefix="capsdk-chat-"))
    folder.chmod(0o711)
    try:
        with Stdio(folder, *GRANT, *opened(site.places), kind=kind) as host:
            yield host, host.open(f"{site.url}/account.html")
            assert host.finish() == 0
            assert (host.errors, host.twice) == (b"", [])
        wait_until(lambda: not started_for(folder), 6.0, "processes were left behind")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def chat(site: Site) -> Iterator[tuple[Stdio, str]]:
    yield from served("chat", site)


@pytest.fixture(scope="module")
def script(site: Site) -> Iterator[tuple[Stdio, str]]:
    yield from served("script", site)


def cdp(method: str, **params: Any) -> Ask:
    """Ask with one CDP command."""
    return lambda host, session: host.reply(host.post_cdp(session, method, params))


def js(expression: str) -> Ask:
    """Ask with an expression."""
    return lambda host, session: host.reply(host.post_js(session, expression))


def events(*methods: str) -> Ask:
    """Ask for what happened."""
    return lambda host, session: host.call("browser.events", sessionId=session, methods=list(methods))


def body(host: Stdio, session: str) -> dict[str, Any]:
    """Ask for the page as it came over the network."""
    found = host.events(session, methods=["Network.responseReceived"])
    page = next(one["params"] for one in found if one["params"]["response"]["url"].endswith("account.html"))
    return host.reply(host.post_cdp(session, "Network.getResponseBody", {"requestId": page["requestId"]}))


WAYS = (  # how to ask, what of the private details a script is told
    pytest.param(js("document.body.innerText"), PRIVATE[:4], id="text"),
    pytest.param(js("document.documentElement.outerHTML"), PRIVATE, id="html"),
    pytest.param(js("[...document.querySelectorAll('dd')].map(one => one.textContent)"), PRIVATE[:4], id="list"),
    pytest.param(
        js("JSON.stringify({customer: document.querySelector('#customer').textContent})"), PRIVATE[:2], id="json"
    ),
    pytest.param(js("({password: document.querySelector('#field').value})"), PRIVATE[4:5], id="by-its-key"),
    pytest.param(js("document.querySelector('input[type=password]').value"), PRIVATE[4:5], id="by-its-selector"),
    pytest.param(js("document.cookie"), PRIVATE[5:], id="cookie"),
    pytest.param(cdp("DOM.getDocument", depth=-1), PRIVATE, id="dom"),
    pytest.param(cdp("DOMSnapshot.captureSnapshot", computedStyles=[]), PRIVATE, id="snapshot"),
    pytest.param(cdp("Accessibility.getFullAXTree"), PRIVATE[:4], id="accessibility"),
    pytest.param(cdp("Network.getCookies"), PRIVATE[5:], id="cookies"),
    pytest.param(body, PRIVATE, id="body"),
    pytest.param(events("Runtime.consoleAPICalled"), PRIVATE[2:3], id="console"),
    pytest.param(js(f"throw new Error('{PRIVATE[2]} is not signed in')"), PRIVATE[2:3], id="exception"),
)


@pytest.mark.parametrize(("ask", "private"), WAYS)
def test_private_details_are_masked_for_a_chat(chat: tuple[Stdio, str], ask: Ask, private: tuple[str, ...]) -> None:
    reply = ask(*chat)
    told = json.dumps(reply, ensure_ascii=False)
    assert reply["ok"] is True
    assert [one for one in PRIVATE if one in told] == []
    assert sum(reply["untrusted"]["masked"].values()) >= len(private) // 2
    assert "iVBORw0KGgo" not in told


@pytest.mark.parametrize(("ask", "private"), WAYS)
def test_a_script_is_told_the_same_as_it_is(script: tuple[Stdio, str], ask: Ask, private: tuple[str, ...]) -> None:
    reply = ask(*script)
    told = json.dumps(reply, ensure_ascii=False)
    assert [one for one in private if one not in told] == []
    assert "untrusted" not in reply


def test_what_is_harmless_stays_readable_and_the_reply_says_whose_words_it_holds(
    chat: tuple[Stdio, str], site: Site
) -> None:
    reply = js("document.body.innerText")(*chat)
    told = reply["result"]["result"]["result"]["value"]
    assert [one for one in HARMLESS if one not in told] == []
    assert reply["untrusted"]["origin"] == site.url
    assert "<EMAIL_1>" in told


def test_a_value_has_one_placeholder_however_it_is_asked_for(chat: tuple[Stdio, str]) -> None:
    first = js("({email: 'R.Achterberg@example.test'})")(*chat)["result"]["result"]["result"]["value"]["email"]
    text = js("document.body.innerText")(*chat)["result"]["result"]["result"]["value"]
    assert first in text
    assert first.startswith("<EMAIL_")


def test_a_chat_can_go_on_with_the_ids_that_it_was_told(chat: tuple[Stdio, str]) -> None:
    host, session = chat
    root = cdp("DOM.getDocument", depth=0)(host, session)["result"]["result"]["root"]["nodeId"]
    found = cdp("DOM.querySelector", nodeId=root, selector="#customer")(host, session)["result"]["result"]["nodeId"]
    assert "<PERSON_" in cdp("DOM.getOuterHTML", nodeId=found)(host, session)["result"]["result"]["outerHTML"]
    handle = cdp("Runtime.evaluate", expression="document.body")(host, session)["result"]["result"]["result"][
        "objectId"
    ]
    assert cdp("Runtime.getProperties", objectId=handle, ownProperties=True)(host, session)["ok"] is True


def test_an_error_that_quotes_the_page_is_masked(chat: tuple[Stdio, str], script: tuple[Stdio, str]) -> None:
    ask = js(f"alert('write to {PRIVATE[2]}')")
    for (host, session), told in ((script, True), (chat, False)):
        problem = ask(host, session)["error"]
        host.cdp(session, "Page.handleJavaScriptDialog", {"accept": True})
        assert problem["code"] == "DIALOG_OPEN"
        assert (PRIVATE[2] in json.dumps(problem)) is told


def redactors(host: Stdio) -> list[int]:
    """The processes of a host that look for private details."""
    own = str(host.process.pid)
    return [pid for pid in pids() if stat_fields(pid)[1:2] == [own] and "redact" in " ".join(command_line(pid))]


def test_when_what_looks_for_private_details_is_killed_it_is_started_anew(chat: tuple[Stdio, str]) -> None:
    before = redactors(chat[0])
    assert len(before) == 1
    os.kill(before[0], signal.SIGKILL)
    told = js("document.body.innerText + ' and again'")(*chat)
    assert told["ok"] is True
    assert [one for one in PRIVATE if one in json.dumps(told, ensure_ascii=False)] == []
    assert len(after := redactors(chat[0])) == 1
    assert after != before


def test_a_script_has_none_started(script: tuple[Stdio, str]) -> None:
    assert redactors(script[0]) == []
