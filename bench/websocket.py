"""CDP over a WebSocket, as a script's author would write it: websockets, json, one task that reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bench.clients import OnEvent, Waiting, encode_json


class WebSocketClient:
    """Calls over a connected socket; somebody runs `read`."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._waiting: Waiting[dict[str, Any]] = Waiting()
        self.on_event: OnEvent = lambda method, session: None

    async def call(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        """One command and its result. Raises Replied."""
        number, future = self._waiting.add()
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self._socket.send(encode_json(message))
        return await future

    async def read(self) -> None:
        """Settle calls and tell events until the connection ends."""
        async for text in self._socket:
            message = json.loads(text)
            if "id" in message:
                self._waiting.settle(message["id"], message.get("result"), message.get("error"))
            else:
                self.on_event(message["method"], message.get("sessionId", ""))
        self._waiting.fail(ConnectionError("Chromium closed the WebSocket"))


@contextlib.asynccontextmanager
async def websocket_client(address: str) -> AsyncIterator[WebSocketClient]:
    """Connected for the time of a `with`: no compression, no size limit, no pings."""
    async with connect(address, compression=None, max_size=None, ping_interval=None) as socket:
        client = WebSocketClient(socket)
        reading = asyncio.create_task(client.read())
        try:
            yield client
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
