"""A decoded result on its way to an AI: what is looked through, with which words around it, and what is told of it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.core.masking.masking import Asked, Masking, NonsenseError
from host.core.masking.placeholders import Placeholders
from host.core.redaction import Found, Text
from tests.core.masking import PROTOCOL, masked, untouched

MAIL, CARD = "oda@example.test", "4111111111111111"
HEX = "0123456789ABCDEF" * 2


def remote(value: Any) -> dict[str, Any]:
    """How Chromium answers Runtime.evaluate."""
    return {"result": {"result": {"type": "string" if isinstance(value, str) else "object", "value": value}}}


TOLD = (  # value, told
    pytest.param({"a": MAIL}, {"a": "<EMAIL_1>"}, id="string"),
    pytest.param([["x", [MAIL]], MAIL], [["x", ["<EMAIL_1>"]], "<EMAIL_1>"], id="lists"),
    pytest.param({MAIL: {"n": 1}}, {"<EMAIL_1>": {"n": 1}}, id="key"),
    pytest.param({"a": 1, MAIL: 2, "b": 3}, {"a": 1, "<EMAIL_1>": 2, "b": 3}, id="key-between-others"),
    pytest.param({MAIL: 1, MAIL.upper(): 2}, {"<EMAIL_1>": 1, "<EMAIL_1> (2)": 2}, id="keys-of-one-value-stay-two"),
    pytest.param({MAIL: {MAIL: MAIL}}, {"<EMAIL_1>": {"<EMAIL_1>": "<EMAIL_1>"}}, id="keys-in-keys"),
    pytest.param({"card": int(CARD)}, {"card": "<CARD_1>"}, id="number"),
    pytest.param({"card": float(CARD)}, {"card": "<CARD_1>"}, id="whole-float"),
    pytest.param([int(CARD), f"no {CARD}"], ["<CARD_1>", "no <CARD_1>"], id="number-and-text-are-one-value"),
    pytest.param({"phone": 4681234567}, {"phone": "<PHONE_1>"}, id="number-by-its-key"),
    pytest.param({"t": f"to {MAIL}, {MAIL}!"}, {"t": "to <EMAIL_1>, <EMAIL_1>!"}, id="twice-in-a-text"),
    pytest.param({"s": json.dumps({"m": MAIL})}, {"s": '{"m": "<EMAIL_1>"}'}, id="json-in-a-string"),
    pytest.param({"s": json.dumps([int(CARD)])}, {"s": '["<CARD_1>"]'}, id="json-number-in-a-string"),
    pytest.param(
        {"s": json.dumps({"t": json.dumps({"m": MAIL}), MAIL: 1})},
        {"s": json.dumps({"t": '{"m": "<EMAIL_1>"}', "<EMAIL_1>": 1})},
        id="json-in-json-in-a-string",
    ),
    pytest.param({"s": '{"m":"' + MAIL + '"}'}, {"s": '{"m":"<EMAIL_1>"}'}, id="json-keeps-its-spacing"),
    pytest.param({"s": '{"m":"oda\\u0040example.test"}'}, {"s": '{"m":"<EMAIL_1>"}'}, id="json-with-escapes"),
    pytest.param({"s": 'x = {"m":"oda\\u0040example.test"};'}, {"s": 'x = {"m":"<EMAIL_1>"};'}, id="json-in-a-script"),
    pytest.param(
        {"s": '{"m":1,"m":"' + MAIL + '","m":2}'}, {"s": '{"m":1,"m":"<EMAIL_1>","m":2}'}, id="a-key-that-stands-thrice"
    ),
    pytest.param(
        {"u": "https://x.test/a?mail=oda%40example.test#b"}, {"u": "https://x.test/a?mail=<EMAIL_1>#b"}, id="percent"
    ),
    pytest.param({"u": "/a?q=1&customer=Oda+L&x=2"}, {"u": "/a?q=1&customer=<PERSON_1>&x=2"}, id="parameter-by-name"),
    pytest.param({"b": "customer=Oda%20L&item=7"}, {"b": "customer=<PERSON_1>&item=7"}, id="form-body"),
    pytest.param({"h": "write to oda&#64;example.test"}, {"h": "write to <EMAIL_1>"}, id="entity"),
    pytest.param({"h": "<p>Hi <b>Oda</b> Lindqvist</p>"}, {"h": "<p>Hi <b><PERSON_1></b></p>"}, id="name-over-tags"),
    pytest.param({"h": "<i>oda@exam</i><b>ple.test</b>"}, {"h": "<i><EMAIL_1></i><b></b>"}, id="word-in-parts"),
    pytest.param(
        {"h": "<tr><th>Customer<td>O. L.</tr>"}, {"h": "<tr><th>Customer<td><PERSON_1></tr>"}, id="cell-by-its-head"
    ),
    pytest.param(
        {"h": "<table><tr><th>Item</th><th>Customer</th></tr><tr><td>Tea</td><td>O. L.</td></tr></table>"},
        {"h": "<table><tr><th>Item</th><th>Customer</th></tr><tr><td>Tea</td><td><PERSON_1></td></tr></table>"},
        id="cell-by-its-column",
    ),
    pytest.param(
        {"h": "<dl><dt>Phone</dt><dd>12</dd><dt>Item</dt><dd>Tea</dd></dl>"},
        {"h": "<dl><dt>Phone</dt><dd><PHONE_1></dd><dt>Item</dt><dd>Tea</dd></dl>"},
        id="definition",
    ),
    pytest.param(
        {"h": '<input name="customer" value="O. L."><input name="item" value="Tea">'},
        {"h": '<input name="customer" value="<PERSON_1>"><input name="item" value="Tea">'},
        id="field-by-its-name",
    ),
    pytest.param(
        {"h": "<label>Phone</label><input value='12'>"},
        {"h": "<label>Phone</label><input value='<PHONE_1>'>"},
        id="label",
    ),
    pytest.param({"h": f"<!-- {MAIL} --><p>x</p>"}, {"h": "<!-- <EMAIL_1> --><p>x</p>"}, id="comment"),
    pytest.param({"h": f"<p data-u='{MAIL}'>x"}, {"h": "<p data-u='<EMAIL_1>'>x"}, id="odd-attribute"),
    pytest.param({"h": f"<script>let m='{MAIL}'</script>"}, {"h": "<script>let m='<EMAIL_1>'</script>"}, id="script"),
    pytest.param({"h": f'<p>a</p><a href="{MAIL}'}, {"h": '<p>a</p><a href="<EMAIL_1>'}, id="cut-off-in-a-tag"),
    pytest.param(
        {"t": "Item\tCustomer\nTea\tO. L.\nCup\tI. B."},
        {"t": "Item\tCustomer\nTea\t<PERSON_1>\nCup\t<PERSON_2>"},
        id="text-table",
    ),
    pytest.param({"t": "item,phone\ntea,12\n"}, {"t": "item,phone\ntea,<PHONE_1>\n"}, id="csv"),
    pytest.param({"customer": "O. L."}, {"customer": "<PERSON_1>"}, id="hint-is-the-key"),
    pytest.param({"customer": {"name": "O. L."}}, {"customer": {"name": "<PERSON_1>"}}, id="hint-is-the-key-around"),
    pytest.param({"item": {"name": "Tea"}}, {"item": {"name": "Tea"}}, id="a-thing-has-a-name-too"),
    pytest.param(
        {"phones": 1, "phone": ["1234", "5678"]}, {"phones": 1, "phone": ["<PHONE_1>", "<PHONE_2>"]}, id="list"
    ),
    pytest.param([{"name": "phone", "value": "12345"}], [{"name": "phone", "value": "<PHONE_1>"}], id="name-and-value"),
    pytest.param([["phone", "12345"], ["item", "tea"]], [["phone", "<PHONE_1>"], ["item", "tea"]], id="pairs"),
    pytest.param(
        [["Item no", "Phone no"], ["1", "12345"]], [["Item no", "Phone no"], ["1", "<PHONE_1>"]], id="rows-under-heads"
    ),
    pytest.param(
        {"columns": ["item", "phone"], "rows": [["tea", "12345"]]},
        {"columns": ["item", "phone"], "rows": [["tea", "<PHONE_1>"]]},
        id="columns-and-rows",
    ),
    pytest.param(
        {"t": 'x = {phone: "12345", item: "tea"}'},
        {"t": 'x = {phone: "<PHONE_1>", item: "tea"}'},
        id="pair-in-a-script",
    ),
    pytest.param(
        {"t": '{"phone": "12345", "n": [1,'}, {"t": '{"phone": "<PHONE_1>", "n": [1,'}, id="pair-in-cut-off-json"
    ),
    pytest.param(
        {"t": '{"phone":1234567}\n{"phone":"1"}x'}, {"t": '{"phone":<PHONE_1>}\n{"phone":"1"}x'}, id="pair-in-lines"
    ),
    pytest.param(
        {"t": 'let s = "{\\"phone\\":\\"12345\\"}"'},
        {"t": 'let s = "{\\"phone\\":\\"<PHONE_1>\\"}"'},
        id="escaped-pair",
    ),
    pytest.param({"t": "x = {token: 'abc123def'}"}, {"t": "x = {token: '<TOKEN_1>'}"}, id="token-in-a-script"),
    pytest.param(f"{CARD}n", "<CARD_1>n", id="big-integer"),
    pytest.param(
        {"birth": {"day": 17, "month": 3, "year": 1968}},
        {"birth": {"day": "<DATE_OF_BIRTH_1>", "month": "<DATE_OF_BIRTH_2>", "year": "<DATE_OF_BIRTH_3>"}},
        id="parts-of-a-birthday",
    ),
    pytest.param({"phone": 12345, "price": 12345}, {"phone": "<PHONE_1>", "price": 12345}, id="short-number"),
    pytest.param(
        {"changes": {"field": "phone", "old": "12345", "new": "67890"}},
        {"changes": {"field": "phone", "old": "<PHONE_1>", "new": "<PHONE_2>"}},
        id="old-and-new",
    ),
    pytest.param({"Oda": 3, "Tea": 4}, {"<PERSON_1>": 3, "Tea": 4}, id="name-as-a-key"),
    pytest.param({"a": None, "b": True, "c": 1.5, "d": "", "e": [], "f": {}}, ..., id="what-holds-no-text"),
    pytest.param({"createdAt": 1712345678901, "ms": 1712345678}, ..., id="points-in-time"),
    pytest.param({"u": f"{MAIL[:3]} and @ and example.test"}, ..., id="nothing-private"),
)


@pytest.mark.parametrize(("value", "told"), TOLD)
def test_private_details_are_masked_wherever_they_stand(value: Any, told: Any) -> None:
    expected = value if told is ... else told
    found = masked(value).value
    assert found == expected
    assert json.dumps(found) == json.dumps(expected)  # in their order, too


@pytest.mark.parametrize(("value", "told"), TOLD)
def test_the_same_goes_for_a_value_that_chromium_tells(value: Any, told: Any) -> None:
    expected = remote(value if told is ... else told)
    assert masked(remote(value), asked=PROTOCOL).value == expected


def test_the_placeholders_of_a_chat_outlast_one_result() -> None:
    chat = Placeholders(b"key")
    first = masked({"a": MAIL, "b": "ida@example.test"}, placeholders=chat)
    again = masked({"b": "IDA@example.test"}, placeholders=chat)
    assert (first.value, again.value) == ({"a": "<EMAIL_1>", "b": "<EMAIL_2>"}, {"b": "<EMAIL_2>"})
    assert (first.counts, again.counts) == ({"EMAIL": 2}, {"EMAIL": 1})


def test_a_value_that_was_found_in_one_place_is_masked_in_all() -> None:
    told = masked({"customer": "Ottilie Brandt", "note": "sent to Ottilie Brandt's door", "x": "Ottilie Brandtson"})
    assert told.value == {"customer": "<PERSON_1>", "note": "sent to <PERSON_1>'s door", "x": "Ottilie Brandtson"}


def test_a_short_value_is_not_looked_for_elsewhere() -> None:
    assert masked({"customer": "Tea", "item": "Tea"}).value == {"customer": "<PERSON_1>", "item": "Tea"}


IDS = ("sessionId", "frameId", "loaderId", "requestId", "targetId", "objectId", "scriptId", "uniqueContextId")


@pytest.mark.parametrize("name", IDS)
def test_ids_of_the_protocol_are_not_looked_through(name: str) -> None:
    for value in (HEX, "1000012345.17", "-4129389712.1.2", "12"):
        assert Masking({"params": {name: value}}, PROTOCOL).texts == []
    for value in (MAIL, CARD, "Oda Lindqvist"):  # the control: what is no id is, under the same key
        assert masked({"params": {name: value}}, asked=PROTOCOL).value["params"][name].startswith("<")


def test_a_page_cannot_pass_its_data_off_as_an_id() -> None:
    value = {"requestId": "46812345678", "seq": 46812345678}
    asked = [text.text for text in Masking(remote(value), PROTOCOL).texts]
    assert asked == ["46812345678", "46812345678"][: len(asked)] != []
    assert Masking({"params": value}, PROTOCOL).texts == []  # Chromium's own object with the same members


def test_numbers_and_counters_that_lead_on_stay_numbers() -> None:
    page = {
        "events": [
            {"seq": 41, "method": "Page.loadEventFired", "params": {"timestamp": 12345.678}, "at": 1712345678901}
        ],
        "next": 41,
        "lost": False,
        "dropped": {},
    }
    assert masked(page, asked=PROTOCOL).value == page
    assert Masking(page, PROTOCOL).texts == []


THINGS = ("id", "orderId", "total", "file_size", "number", "skuNumber", "volume")


@pytest.mark.parametrize("name", THINGS)
def test_the_number_of_a_thing_is_not_looked_through(name: str) -> None:
    assert Masking({name: 182033441}).texts == []
    assert [text.text for text in Masking({name: int(CARD)}).texts] == [CARD]  # the control: as long as a card's, it is
    assert [text.hint for text in Masking({"nationalId": 182033441, "phone": 182033441}).texts] == [
        "national id",
        "phone",
    ]


def test_numbers_of_the_protocol_are_no_private_details() -> None:
    sizes = {"encodedDataLength": 4111111111111111, "usedSize": 46812345678, "type": "number"}
    assert Masking(dict(sizes), PROTOCOL).texts == []
    value = Masking({"result": {"type": "number", "value": 4111111111111111, "description": CARD}}, PROTOCOL)
    assert [text.text for text in value.texts] == [CARD]  # the control: a number of the page is looked through


def test_attributes_are_known_by_their_element() -> None:
    node = {"nodeName": "INPUT", "attributes": ["name", "customer", "value", "O. L.", "class", "wide"]}
    assert masked(node, asked=PROTOCOL).value["attributes"] == [
        "name",
        "customer",
        "value",
        "<PERSON_1>",
        "class",
        "wide",
    ]


PASSWORD_FIELDS = (
    pytest.param({"attributes": ["type", "password", "value", "hunter2"]}, id="dom"),
    pytest.param({"node": {"children": [{"attributes": ["value", "hunter2", "type", "PASSWORD"]}]}}, id="dom-nested"),
    pytest.param(remote("<p><input type=password name=x value='hunter2'></p>"), id="html"),
    pytest.param(remote({"password": "hunter2"}), id="by-its-key"),
    pytest.param(
        {
            "documents": [{"nodes": {"attributes": [[0, 1]], "inputValue": {"index": [0], "value": [2]}}}],
            "strings": ["type", "password", "hunter2"],
        },
        id="snapshot",
    ),
    pytest.param(
        {"domNodes": [{"attributes": [{"name": "type", "value": "password"}], "inputValue": "hunter2"}]},
        id="old-snapshot",
    ),
)


@pytest.mark.parametrize("value", PASSWORD_FIELDS)
def test_a_password_field_is_masked_whatever_is_found(value: Any) -> None:
    told = json.dumps(untouched(value, asked=PROTOCOL).value)
    assert "hunter2" not in told
    assert "<PASSWORD_1>" in told


@pytest.mark.parametrize("value", PASSWORD_FIELDS)
def test_any_other_field_is_left_to_what_is_found(value: Any) -> None:
    other = json.loads(json.dumps(value).replace("password", "search").replace("PASSWORD", "search"))
    assert untouched(other, asked=PROTOCOL).value == other


def test_the_strings_of_a_snapshot_are_looked_through_with_the_names_of_their_fields() -> None:
    nodes = {"attributes": [[0, 1], []], "inputValue": {"index": [0], "value": [2]}}
    told = masked({"documents": [{"nodes": nodes}], "strings": ["name", "customer", "O. L.", "Tea"]}, asked=PROTOCOL)
    assert told.value["strings"] == ["name", "customer", "<PERSON_1>", "Tea"]


ASKED = (  # expression, value, told
    pytest.param("document.cookie", "a=1", "a=<COOKIE_1>", id="cookie"),
    pytest.param("document.title", "a=1", "a=1", id="the-same-words-of-a-title"),
    pytest.param("window.x", "a=1; b=22", "a=<COOKIE_1>; b=<COOKIE_2>", id="what-looks-like-nothing-but-cookies"),
    pytest.param("document.querySelector('#customer').value", "O. L.", "<PERSON_1>", id="field"),
    pytest.param("document.querySelector('#item').value", "O. L.", "O. L.", id="another-field"),
    pytest.param("document.getElementById('password').value", "hunter2", "<PASSWORD_1>", id="password"),
    pytest.param("document.getElementById('password').labels", "hunter2", "hunter2", id="not-the-value-of-it"),
)


@pytest.mark.parametrize(("expression", "value", "told"), ASKED)
def test_what_was_asked_for_tells_what_the_answer_is(expression: str, value: str, told: str) -> None:
    assert masked(remote(value), asked=Asked(expression, protocol=True)).value == remote(told)


def test_bodies_in_base64_are_decoded_masked_and_encoded_again() -> None:
    body = base64.b64encode(json.dumps({"m": MAIL}).encode()).decode()
    told = masked({"body": body, "base64Encoded": True}, asked=PROTOCOL).value
    assert told["base64Encoded"] is True
    assert json.loads(base64.b64decode(told["body"])) == {"m": "<EMAIL_1>"}


def test_a_body_in_which_nothing_is_found_keeps_its_spelling() -> None:
    value = {"body": base64.b64encode(b"plain words, and more").decode(), "base64Encoded": True}
    assert masked(value, asked=PROTOCOL).value == value
    assert [text.text for text in Masking(dict(value), PROTOCOL).texts] == ["plain words, and more"]


def test_bodies_that_cannot_be_read_are_taken_out() -> None:
    told = masked({"body": base64.b64encode(bytes(range(256)) * 8).decode(), "base64Encoded": True}, asked=PROTOCOL)
    assert told.value == {"body": "[bytes removed: 2 KB]", "base64Encoded": False}
    assert told.removed == {"bytes": 1}


def test_posted_data_and_frames_in_base64_are_decoded() -> None:
    data = base64.b64encode(f"mail={MAIL}".encode()).decode()
    told = masked(
        {"postDataEntries": [{"bytes": data}], "response": {"opcode": 2, "payloadData": data}}, asked=PROTOCOL
    )
    held = (told.value["postDataEntries"][0]["bytes"], told.value["response"]["payloadData"])
    assert [base64.b64decode(one) for one in held] == [b"mail=<EMAIL_1>"] * 2


# --- whatever there is

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=40)
    | st.sampled_from([MAIL, CARD, '{"a": "b"}', "<b>x</b>", "a=b&c=d", "%41%", "\\u00", "<", "&amp"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=25,
)


@settings(max_examples=200, deadline=None)
@given(JSON_VALUES, st.booleans())
def test_where_nothing_is_found_nothing_is_changed(value: Any, protocol: bool) -> None:
    told = untouched({"x": value}, asked=Asked(protocol=protocol))
    if not told.counts:
        assert json.dumps(told.value) == json.dumps({"x": value})


def everything(texts: list[Text]) -> list[list[Found]]:
    """A detector that finds each text private."""
    return [[Found(0, len(text.text), "X", 1.0, "test")] for text in texts]


def same_shape(before: Any, after: Any) -> bool:
    """The same members in the same order; only strings and numbers became other strings."""
    if isinstance(before, dict):
        pairs = zip(before.items(), after.items(), strict=True)
        return isinstance(after, dict) and all(
            (name == other or "<" in other) and same_shape(one, two) for (name, one), (other, two) in pairs
        )
    if isinstance(before, list):
        return isinstance(after, list) and all(same_shape(one, two) for one, two in zip(before, after, strict=True))
    return type(before) is type(after) or (type(before) in (int, float) and type(after) is str)


@settings(max_examples=200, deadline=None)
@given(JSON_VALUES, st.booleans())
def test_masking_keeps_the_shape(value: Any, protocol: bool) -> None:
    masking = Masking(json.loads(json.dumps({"x": value})), Asked(protocol=protocol))
    told = masking.told(everything(masking.texts), Placeholders(b"key"))
    assert same_shape({"x": value}, told.value)


@settings(max_examples=100, deadline=None)
@given(JSON_VALUES)
def test_no_letter_of_a_text_is_left_when_all_of_it_is_private(value: Any) -> None:
    def letters(inner: Any) -> set[str]:
        if isinstance(inner, dict):
            return set(inner) | {one for held in inner.values() for one in letters(held)}
        if isinstance(inner, list):
            return {one for held in inner for one in letters(held)}
        return {inner} if isinstance(inner, str) else set()

    secret = f"Zz{MAIL}"
    masking = Masking({"x": [value, secret, {"k": secret, secret: 1, "j": json.dumps({"m": [secret]})}]})
    told = masking.told(everything(masking.texts), Placeholders(b"key"))
    assert not any(secret in text for text in letters(told.value))


NONSENSE = (
    pytest.param([], id="too-few"),
    pytest.param([[], []], id="too-many"),
    pytest.param([[Found(0, 99, "EMAIL", 1, "x")]], id="beyond-the-end"),
    pytest.param([[Found(-1, 2, "EMAIL", 1, "x")]], id="before-the-start"),
    pytest.param([[Found(2, 2, "EMAIL", 1, "x")]], id="empty"),
    pytest.param([[Found(3, 2, "EMAIL", 1, "x")]], id="backwards"),
    pytest.param([[Found(0, 2, "<b>", 1, "x")]], id="no-type"),
    pytest.param([[Found(0, 2, "X" * 99, 1, "x")]], id="endless-type"),
)


@pytest.mark.parametrize("found", NONSENSE)
def test_what_does_not_fit_the_texts_is_refused(found: list[list[Found]]) -> None:
    masking = Masking({"a": "some text"})
    with pytest.raises(NonsenseError):
        masking.told(found, Placeholders(b"key"))


def test_what_fits_the_texts_is_taken() -> None:
    masking = Masking({"a": "some text"})
    found = [[Found(0, 4, "EMAIL", 1, "x"), Found(2, 6, "PERSON", 1, "x")]]
    assert masking.told(found, Placeholders(b"key")).value == {"a": "<EMAIL_1>ext"}


def test_a_megabyte_of_the_worst_is_walked_through_in_seconds() -> None:
    for text in (
        "cookie=" * 40_000,
        "<a x='" * 40_000,
        "a=bc&" * 50_000,
        '{"' * 100_000,
        "://x@" * 50_000,
        "%41" * 90_000,
    ):
        masking = Masking({"a": text})
        assert masking.told([[] for _ in masking.texts], Placeholders(b"key")).value is not None


def test_the_lines_of_a_drawing_are_not_looked_through() -> None:
    text = "M5.6 2.3c1.6-1.3 1.6-3.9 0-6.2 53 43 96 96 96s96-43"
    assert Masking({"d": text, "h": f'<path d="{text}"/>'}).texts == []
    assert [one.text for one in Masking({"d": f"call {text}"}).texts] == [f"call {text}"]  # the control
