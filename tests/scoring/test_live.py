"""Sheets of a running service: two writers at once, and readers who wait."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest

from tests.client import ApiClient
from tests.spades.recording import finished

DEAL = {
    "bids": {seat: {"kind": "number", "tricks": 3} for seat in "NESW"},
    "tricks": {"N": 4, "E": 3, "S": 3, "W": 3},
}


@pytest.fixture
def owner(live_service):
    with ApiClient(live_service.url) as client:
        client.token = client.post("/v1/accounts", json={"name": "Ann"}).body["token"]
        yield client


@pytest.fixture
def sheet(owner):
    """The address of a new sheet."""
    return owner.post("/v1/score_sheets", json={"ruleset": {"preset": "standard"}}).headers["location"]


def test_of_two_who_write_at_once_upon_one_version_exactly_one_does(owner, sheet, live_service):
    tag = owner.get(sheet).headers["etag"]
    start = Barrier(2)

    def write(_):
        with ApiClient(live_service.url, token=owner.token) as client:
            start.wait()
            return client.post(f"{sheet}/deals", json=DEAL, headers={"If-Match": tag}).status

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(write, range(2)))

    assert statuses == [201, 412]
    assert len(owner.get(sheet).body["deals"]) == 1


def test_of_two_who_send_the_same_request_at_once_the_deal_is_written_once(owner, sheet, live_service):
    start = Barrier(2)

    def write(_):
        with ApiClient(live_service.url, token=owner.token) as client:
            start.wait()
            return client.post(f"{sheet}/deals", json=DEAL, headers={"Idempotency-Key": "one-deal"}).status

    with ThreadPoolExecutor(2) as pool:
        statuses = set(pool.map(write, range(2)))

    assert statuses <= {201, 409}
    assert len(owner.get(sheet).body["deals"]) == 1


def test_of_one_who_corrects_and_one_who_certifies_upon_one_version_exactly_one_does(owner, live_service):
    record = finished().to_text()
    sheet = owner.post("/v1/score_sheets", json={"record": record}).headers["location"]
    requests = ("certify", {"record": record}), ("adjustments", {"side": "NS", "points": 5})
    start = Barrier(2)

    def write(path, body):
        with ApiClient(live_service.url, token=owner.token) as client:
            start.wait()
            return client.post(f"{sheet}/{path}", json=body, headers={"If-Match": '"1-owner"'}).status

    with ThreadPoolExecutor(2) as pool:
        certified, adjusted = pool.map(write, *zip(*requests, strict=True))

    after = owner.get(sheet).body
    assert sorted([certified, adjusted]) == [200, 412]
    assert (after["certificate"] is not None, len(after["adjustments"])) == (certified == 200, adjusted == 200)


def test_who_waits_for_a_sheet_is_told_of_the_next_change(owner, sheet, live_service):
    token = owner.post(f"{sheet}/share_links", json={}).body["token"]
    with ApiClient(live_service.url, token=token) as reader, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(reader.get, f"{sheet}/events?after=1&wait=20")
        owner.post(f"{sheet}/deals", json=DEAL)
        page = waiting.result(timeout=30).body

    assert [event["type"] for event in page["items"]] == ["deal_added"]
    assert [side["score"] for side in page["items"][0]["data"]["sides"]] == [61, 60]


def stream(url, token, last=None):
    """The events of a stream of a sheet, one by one, until it ends or the caller leaves."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    if last is not None:
        headers["Last-Event-ID"] = str(last)
    with httpx.stream("GET", url, headers=headers, timeout=30, verify=False) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        for line in response.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def test_a_stream_of_a_sheet_tells_every_change_once_to_who_comes_back_too(owner, sheet, live_service):
    link = owner.post(f"{sheet}/share_links", json={}).body
    url = f"{live_service.url}{sheet}/events"

    watching = stream(url, link["token"])
    assert next(watching)["type"] == "sheet_made"
    owner.post(f"{sheet}/deals", json=DEAL)
    added = next(watching)
    watching.close()
    owner.patch(f"{sheet}/deals/1", json={"tricks": {"N": 3, "E": 4, "S": 3, "W": 3}})
    owner.post(f"{sheet}/undo")
    again = stream(url, link["token"], last=added["number"])
    missed = [next(again), next(again)]
    owner.post(f"{sheet}/redo")
    last = next(again)

    assert [event["type"] for event in (added, *missed, last)] == [
        "deal_added",
        "deal_changed",
        "change_undone",
        "change_redone",
    ]
    assert [event["number"] for event in (added, *missed, last)] == [2, 3, 4, 5]
    assert [[side["score"] for side in event["data"]["sides"]] for event in (added, *missed, last)] == [
        [61, 60],
        [60, 61],
        [61, 60],
        [60, 61],
    ]
    owner.delete(f"{sheet}/share_links/{link['share_link']['id']}")
    owner.post(f"{sheet}/deals", json=DEAL)
    assert list(again) == []


def test_a_reader_beside_a_writer_sees_one_version_at_a_time(owner, sheet, live_service):
    def write():
        with ApiClient(live_service.url, token=owner.token) as client:
            for _ in range(40):
                assert client.post(f"{sheet}/adjustments", json={"side": "NS", "points": 1}).status == 200

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        seen = []
        while not writing.done():
            reply = owner.get(sheet)
            seen.append((reply.headers["etag"], reply.body["version"], len(reply.body["adjustments"]) + 1))
        writing.result()

    assert seen
    assert [each for each in seen if each != (f'"{each[1]}-owner"', each[1], each[1])] == []


def test_a_sheet_that_is_deleted_while_it_is_read_was_there_or_was_not(owner, live_service):
    start = Barrier(3, timeout=60)

    def ask(how, address):
        with ApiClient(live_service.url, token=owner.token) as client:
            for path in address:
                start.wait()
                yield getattr(client, how)(path).status

    addresses = [
        owner.post("/v1/score_sheets", json={"ruleset": {"preset": "standard"}}).headers["location"] for _ in range(15)
    ]
    for address in addresses:
        owner.post(f"{address}/deals", json=DEAL)
    with ThreadPoolExecutor(3) as pool:
        deleted, read, exported = (
            pool.submit(list, ask(how, [f"{address}{path}" for address in addresses]))
            for how, path in (("delete", ""), ("get", ""), ("get", "/export"))
        )

    assert set(deleted.result()) == {204}
    assert {*read.result(), *exported.result()} <= {200, 404}
