"""With which flags Chromium is started: hidden or in a window, there is none that goes past the proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.browser.process import arguments
from host.browser.window import Display, window_arguments

PROFILE = Path("/p")
STARTS = (
    pytest.param(arguments("/c", PROFILE, sandbox=True, proxy_port=8731), id="hidden"),
    pytest.param(
        window_arguments("/c", PROFILE, "https://a.example/", Display(":7"), sandbox=True, proxy_port=8731), id="window"
    ),
)


@pytest.mark.parametrize("words", STARTS)
def test_every_chromium_asks_the_proxy_for_everything(words: list[str]) -> None:
    assert [word for word in words if "proxy" in word or "resolver" in word or "quic" in word or "webrtc" in word] == [
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--disable-quic",
        "--proxy-server=http://127.0.0.1:8731",
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ]


@pytest.mark.parametrize("words", STARTS)
def test_no_flag_is_there_that_opens_a_port_or_takes_a_wall_away(words: list[str]) -> None:
    forbidden = ("remote-debugging-port", "no-sandbox", "disable-web-security", "enable-automation", "fake-ui")
    assert [word for word in words if any(part in word for part in forbidden)] == []
    without = arguments("/c", PROFILE, sandbox=False, proxy_port=1)
    assert [word for word in without if any(part in word for part in forbidden)] == ["--no-sandbox"]
