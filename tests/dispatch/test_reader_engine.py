"""With the engine as it ships: invented people are masked in results of many shapes, and what is harmless stays."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from host.core.grants import Caller, Kind
from host.core.redaction import EngineConfig, Found, Text
from host.dispatch.reader import Reader
from host.redact.engine import Engine

CHAT = Caller("app", "r1", Kind.CHAT, "run-1", "app:app")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(EngineConfig())


def remote(value: Any) -> dict[str, Any]:
    """How Chromium tells a value of a page."""
    return {"result": {"result": {"type": "object", "value": value}}}


RESULTS = (  # value, what must not be told, what must be
    pytest.param(
        {
            "user": {
                "firstName": "Tobias",
                "lastName": "Wernersson",
                "email": "tobias.w@example.test",
                "plan": "premium",
                "phoneNumber": "+46701234567",
                "birthDate": "1984-07-19",
                "createdAt": "2024-03-02T10:00:00Z",
            }
        },
        ("Tobias", "Wernersson", "tobias.w", "46701234567", "1984-07-19"),
        ("premium", "2024-03-02T10:00:00Z", "firstName"),
        id="account",
    ),
    pytest.param(
        {
            "orders": [
                {
                    "number": "A-100234",
                    "total": 129.5,
                    "items": [{"name": "Garden hose 20 m", "price": 29.9}],
                    "shippingAddress": {"name": "Ines Caldera Prieto", "line1": "Calle del Olmo 12", "city": "Madrid"},
                }
            ]
        },
        ("Ines", "Caldera", "Calle del Olmo 12"),
        ("A-100234", "129.5", "Garden hose 20 m", "29.9"),
        id="order",
    ),
    pytest.param(
        {"columns": ["Name", "E-mail", "Tickets"], "rows": [["Marit Solheim", "marit@example.test", "12"]]},
        ("Marit", "Solheim", "marit@"),
        ("Name", "Tickets", "12"),
        id="table",
    ),
    pytest.param(
        {"holder": "MATTEO BRAMBILLA", "number": 5555555555554444, "iban": "DE89 3704 0044 0532 0130 00", "cvc": 737},
        ("BRAMBILLA", "5555555555554444", "0044 0532", "737"),
        ("holder", "iban"),
        id="payment",
    ),
    pytest.param(
        {"message": "Hi, this is Priya Raghunathan. Call (415) 555-0132 after 5pm, order 88213-7 has not come."},
        ("Priya", "Raghunathan", "555-0132"),
        ("order 88213-7", "after 5pm"),
        id="message",
    ),
    pytest.param(
        {
            "body": base64.b64encode(json.dumps({"customer": "Eleanor Whitcombe", "sku": "KT-1"}).encode()).decode(),
            "base64Encoded": True,
        },
        (base64.b64encode(b"Whitcombe").decode()[:10],),
        ("base64Encoded",),
        id="body",
    ),
    pytest.param(
        {"url": "https://shop.example/orders?name=Eleanor+Whitcombe&mail=eleanor%40example.test&page=2"},
        ("Eleanor", "Whitcombe", "eleanor%40"),
        ("https://shop.example/orders?name=", "&page=2"),
        id="url",
    ),
    pytest.param(
        {"html": "<p>Dear <b>Louise</b> Fontenay,</p><p>It ships to <i>14 Larkspur Lane, Bristol BS1 4DJ</i>.</p>"},
        ("Louise", "Fontenay", "Larkspur Lane"),
        ("<p>Dear <b>", "It ships to"),
        id="html",
    ),
    pytest.param(
        {
            "version": "2.14.0",
            "build": "7f3c9e2a1b",
            "date": "2026-02-11",
            "isbn": "978-3-16-148410-0",
            "count": 1204,
            "title": "Copper kettle 1.7 l",
            "price": "£49.90",
            "tracking": "1Z999AA10123456784",
            "at": 1712345678901,
        },
        (),
        (
            "2.14.0",
            "7f3c9e2a1b",
            "2026-02-11",
            "978-3-16-148410-0",
            "1204",
            "Copper kettle 1.7 l",
            "£49.90",
            "1Z999AA10123456784",
            "1712345678901",
        ),
        id="nothing-private",
    ),
)


@pytest.mark.parametrize(("value", "private", "harmless"), RESULTS)
async def test_what_the_engine_finds_is_masked_and_nothing_else(
    engine: Engine, value: Any, private: tuple[str, ...], harmless: tuple[str, ...]
) -> None:
    async def find(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        return await asyncio.to_thread(engine.find, texts)

    given = json.dumps(remote(value), ensure_ascii=False)
    told = (await Reader(lambda: find).told(CHAT, "browser.cdp", given.encode(), "")).result.decode()
    assert [one for one in private if one in told] == []
    assert [one for one in harmless if one not in told] == []
