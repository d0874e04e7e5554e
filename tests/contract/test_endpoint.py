from __future__ import annotations

import timeit

import orjson
import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.response import Response

from contract.endpoint import Endpoint, accepts, answer, read_json
from contract.problems import Problem
from tests.contract.urls import EchoView

REFUSED_TEXTS = [
    (b"", "", "not_json"),
    (b"  ", "", "not_json"),
    (b"nothing", "", "not_json"),
    (b'{"a": NaN}', "", "not_json"),
    (b'{"a": Infinity}', "", "not_json"),
    (b'{"a": 1e999}', "", "not_json"),
    (b"{'a': 1}", "", "not_json"),
    (b'{"a": 1,}', "", "not_json"),
    (b'{"a": 1} {}', "", "not_json"),
    (b"\xef\xbb\xbf{}", "", "not_json"),
    (b'{"a": "\xff"}', "", "not_json"),
    (b'{"a": "\xed\xa0\x80"}', "", "not_json"),
    (b'{"a": "\\ud800"}', "", "not_json"),
    (b'{"a": "\\udc00\\ud800"}', "", "not_json"),
    (b"[" * 21 + b"]" * 21, "", "too_deep"),
    (b'{"a":' * 21 + b"1" + b"}" * 21, "", "too_deep"),
    (b"[" * 30_000 + b"]" * 30_000, "", "too_deep"),
    (b'{"a": 1, "a": 1}', "/a", "duplicate_field"),
    (b'{"x/y": [0, {"a": {}, "a": ":"}]}', "/x~1y/1/a", "duplicate_field"),
]


@pytest.mark.parametrize(("raw", "pointer", "reason"), REFUSED_TEXTS, ids=[str(raw[:16]) for raw, *_ in REFUSED_TEXTS])
def test_a_text_that_readers_disagree_about_is_refused(raw, pointer, reason):
    with pytest.raises(Problem) as refused:
        read_json(raw)

    [fault] = refused.value.errors
    assert (refused.value.status, fault.pointer, fault.reason) == (400, pointer, reason)


@pytest.mark.parametrize(
    "raw",
    [b'{"a:b": ":", "c": [1, 2.5, null, true]}', b"[" * 20 + b"]" * 20, b'"text"', b'{"n": 18446744073709551615}'],
)
def test_any_other_text_is_read(raw):
    assert read_json(raw) == orjson.loads(raw)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_every_value_that_json_can_write_is_read_back(value):
    assert read_json(orjson.dumps(value)) == value


@given(st.binary(max_size=80))
def test_no_bytes_are_anything_but_read_or_refused(raw):
    refused = None

    try:
        read_json(raw)
    except Problem as problem:
        refused = problem

    assert refused is None or refused.status == 400


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("", True),
        ("*/*", True),
        ("application/json", True),
        ("application/*;q=0.1", True),
        ("text/html, application/json;q=0.9", True),
        ("text/html,*/*;q=0.8", True),
        ("text/html", False),
        ("application/json;q=0", False),
        ("application/json;q=0, */*", False),
        ("*/*;q=0", False),
        ("text/*, image/png", False),
        ("application/json;q=nonsense", False),
    ],
)
def test_accept_decides_whether_json_will_do(header, allowed):
    assert accepts(header, ("application/json",)) is allowed


def echo(raw=b'{"tricks": 4}', path="/v1/echo", content_type="application/json", **headers):
    request = RequestFactory().generic("POST", path, raw, content_type, headers=headers)
    return EchoView.as_view()(request)


def test_an_endpoint_reads_its_query_and_its_body():
    assert orjson.loads(echo(path="/v1/echo?n=7").content) == {"tricks": 4, "n": 7}
    assert orjson.loads(echo().content) == {"tricks": 4, "n": 4}


def test_every_answer_says_what_caches_may_do():
    fine, refused = echo(), echo(b"{}")

    assert (fine.headers["Cache-Control"], fine.headers["Vary"]) == ("private, no-cache", "Authorization, X-Seat")
    assert (refused.headers["Cache-Control"], refused.headers["Vary"]) == ("no-store", "Authorization, X-Seat")


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ("application/json; charset=latin-1", 415),
        ("text/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
    ],
)
def test_a_body_must_be_labelled_as_json_in_utf_8(content_type, status):
    assert echo(content_type=content_type).status_code == status


def test_a_compressed_body_is_refused():
    assert echo(**{"Content-Encoding": "gzip"}).status_code == 415


@pytest.mark.parametrize(("size", "status"), [(65_536, 200), (65_537, 413), (1_000_000, 413)])
def test_a_body_may_have_64_kb(size, status):
    assert echo(b'{"tricks": 4}'.ljust(size)).status_code == status


def test_a_body_whose_length_is_a_lie_is_still_cut_off():
    request = RequestFactory().generic("POST", "/v1/echo", b" " * 100_000, "application/json")
    request.META["CONTENT_LENGTH"] = "10"

    assert EchoView.as_view()(request).status_code == 413


def test_an_empty_body_is_an_object_without_fields():
    response = echo(b"")

    assert orjson.loads(response.content)["errors"] == [
        {"pointer": "/tricks", "reason": "missing_field", "detail": "This field is required."}
    ]


def test_options_lists_the_methods():
    response = EchoView.as_view()(RequestFactory().options("/v1/echo"))

    assert (response.status_code, response.headers["Allow"], response.content) == (204, "POST, OPTIONS", b"")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "TRACE", "BREW"])
def test_another_method_is_refused_with_the_ones_allowed(method):
    response = EchoView.as_view()(RequestFactory().generic(method, "/v1/echo"))

    assert response.status_code == 405
    assert response.headers["Allow"] == "POST, OPTIONS"
    assert orjson.loads(response.content)["reason"] == "method_not_allowed"


def test_a_fragment_passes_into_an_answer_as_it_is():
    response = answer({"view": orjson.Fragment(b'{"hand":  ["QH"]}')})

    assert response.content == b'{"view":{"hand":  ["QH"]}}'


def test_a_drf_response_is_rendered_too():
    class View(Endpoint):
        def get(self, request):
            return Response({"a": 1}, status=201)

    response = View.as_view()(RequestFactory().get("/"))
    response.render()

    assert (response.status_code, response.content) == (201, b'{"a":1}')


def test_an_endpoint_costs_little():
    request = RequestFactory()

    def once() -> None:
        view(request.post("/v1/echo", b'{"tricks": 4}', content_type="application/json"))

    view = EchoView.as_view()
    once()
    seconds = min(timeit.repeat(once, number=200, repeat=5)) / 200

    # Alone on the machine it is 0.13 ms, half of which is making the request. Generous, as the machine is shared.
    assert seconds < 0.002
