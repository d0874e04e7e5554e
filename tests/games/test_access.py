"""Who may come to a table and act there: tokens that are replaced, given out and taken back, over HTTP."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from games.models import Invitation, WatchLink
from games.services import access
from tests.client import Answer, ApiClient
from tests.games.conftest import Person, Table
from tests.games.live import PATIENCE_SECONDS, Lobby, at_once
from tests.games.rebuilding import assert_rebuilds, assert_seated_by_actions, rows_of
from tests.games.test_admission import stream

TWO = {"ruleset": {"preset": "two_player"}}
Make = Callable[..., Table]
MakePerson = Callable[..., Person]


@pytest.fixture
def lobby(live_service: Any) -> Iterator[Lobby]:
    with Lobby(live_service.url) as lobby:
        yield lobby


def create(api: ApiClient, who: Person, **settings: Any) -> dict[str, Any]:
    made = api.post("/v1/games", json={**TWO, **settings}, token=who.token)
    assert made.status == 201, made.content
    body: dict[str, Any] = made.body
    return body


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.reason


class Waiting(threading.Thread):
    """A long poll under way; `answer()` is what came in the end."""

    def __init__(self, client: ApiClient, path: str) -> None:
        super().__init__(daemon=True)
        self._client, self._path = client, path
        self._answer: Answer | None = None
        self.start()

    def run(self) -> None:
        self._answer = self._client.get(self._path)

    def answer(self) -> Answer:
        self.join(PATIENCE_SECONDS)
        assert self._answer is not None
        return self._answer


UNKNOWN = {kind: f"{kind}_{'0' * 43}" for kind in ("sps", "spk", "spw")}
NOWHERE = "/v1/games/01a229d5-fb39-76d9-986e-cbc309a181b3"


@pytest.mark.django_db
@pytest.mark.parametrize("kind", UNKNOWN)
@pytest.mark.parametrize("action", ["draws", "looks", "passes", "redeals", "bids", "plays", "resignations", "start"])
def test_an_action_by_an_unknown_token_is_refused_as_that_before_its_body_is(
    api: ApiClient, kind: str, action: str
) -> None:
    answers = [
        api.post(f"{NOWHERE}/{action}", json={"x": 1}, token=UNKNOWN[kind], bad=True),
        api.post(f"{NOWHERE}/{action}", token=UNKNOWN[kind], headers={"If-Match": "17"}, bad=True),
    ]

    assert {refused(answer) for answer in answers} == {(401, "unauthenticated")}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["seats", "invitations", "watch_links", "rematch", "seats/A/token"])
def test_what_an_account_does_by_an_unknown_token_or_none_is_refused_as_that_before_its_body_is(
    api: ApiClient, path: str
) -> None:
    answers = [api.post(f"{NOWHERE}/{path}", json={"x": 1}, token=token, bad=True) for token in (UNKNOWN["spk"], None)]

    assert {refused(answer) for answer in answers} == {(401, "unauthenticated")}


@pytest.mark.django_db
def test_a_body_that_cannot_be_read_is_refused_as_that_where_the_token_is_known(table: Make) -> None:
    game = table()

    for token in (game.tokens["A"], game.host.token):
        answer = game.api.post(game.url("bids"), json={"x": 1}, token=token, bad=True)
        assert refused(answer) == (400, "malformed")


@pytest.mark.django_db
def test_what_has_no_version_takes_no_if_match(table: Make) -> None:
    game = table()
    before = rows_of(game.id)
    match = {"If-Match": '"3-A"'}

    answers = [
        game.api.post(game.url(path), json=body, token=game.host.token, headers=match, bad=True)
        for path, body in (("invitations", {}), ("watch_links", {}), ("seats/A/token", None), ("rematch", None))
    ]

    for answer in answers:
        assert refused(answer) == (400, "malformed")
        assert [error["pointer"] for error in answer.body["errors"]] == ["If-Match"]
    assert rows_of(game.id) == before


# A seat's token, replaced.


@pytest.mark.django_db
def test_a_reissued_token_acts_and_the_old_one_is_dead_at_once(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    owner = {"A": game.host, "B": game.guest}[seat]
    old = game.tokens[seat]

    made = game.api.post(game.url("seats", seat, "token"), token=owner.token, example=True)

    assert made.status == 200
    assert made.body["seat"] == seat
    assert made.body["game"] == view
    assert made.headers["etag"] == f'"{view["version"]}-{seat}"'
    new = made.body["token"]
    assert new != old
    for refusal in (
        game.api.get(game.url(), token=old),
        game.api.get(game.url("events"), token=old),
        game.act(seat, {"decision": "keep"}),
    ):
        assert refused(refusal) == (401, "unauthenticated")
    assert game.api.get(game.url(), token=new).body == view
    game.tokens[seat] = new
    assert game.act(seat, {"decision": "keep"}).status == 200
    assert_rebuilds(UUID(game.id))


@pytest.mark.django_db
def test_a_reissue_is_no_event_so_nobody_elses_decision_becomes_stale(table: Make) -> None:
    game = table()
    seat, view = game.on_turn()
    other = game.guest if seat == "A" else game.host
    before = rows_of(game.id)

    made = game.api.post(game.url("seats", "B" if seat == "A" else "A", "token"), token=other.token)
    moved = game.act(seat, {"decision": "keep"}, headers={"If-Match": f'"{view["version"]}-{seat}"'})

    assert made.status == moved.status == 200
    after = rows_of(game.id)
    assert after["events"][:-1] == before["events"]
    assert after["actions"][:-1] == before["actions"]


@pytest.mark.django_db
def test_nobody_but_the_holder_gets_a_token_for_a_seat(api: ApiClient, person: MakePerson) -> None:
    """The host does not: it would see the hand."""
    ann, bea, wes = person("Ann"), person("Bea"), person("Wes")
    body = create(api, ann, seats=[{"kind": "human"}], start="by_host")
    url = f"/v1/games/{body['game']['id']}"
    taken = api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token).body["token"]
    hidden = create(api, ann, seats=[{"kind": "human"}], visibility="private")["game"]["id"]
    closed = create(api, ann, seats=[{"kind": "human"}], spectators="forbidden")["game"]["id"]
    before = rows_of(body["game"]["id"])

    answers = {
        "host": api.post(f"{url}/seats/B/token", token=ann.token),
        "other seat": api.post(f"{url}/seats/A/token", token=bea.token),
        "watcher": api.post(f"{url}/seats/B/token", token=wes.token),
        "the seat's own token": api.post(f"{url}/seats/B/token", token=taken),
        "no such seat": api.post(f"{url}/seats/N/token", token=bea.token),
        "private table": api.post(f"/v1/games/{hidden}/seats/A/token", token=wes.token),
        "table to be joined": api.post(f"/v1/games/{closed}/seats/A/token", token=wes.token),
    }

    assert {name: refused(answer) for name, answer in answers.items()} == {
        "host": (403, "not_your_seat"),
        "other seat": (403, "not_your_seat"),
        "watcher": (403, "not_your_seat"),
        "the seat's own token": (403, "scope_missing"),
        "no such seat": (404, "not_found"),
        "private table": (404, "not_found"),
        "table to be joined": (403, "not_your_seat"),
    }
    assert rows_of(body["game"]["id"]) == before
    assert api.get(url, token=taken).status == 200


@pytest.mark.django_db
def test_a_reissue_is_kept_for_the_host_and_the_holder_to_see(api: ApiClient, person: MakePerson) -> None:
    ann, bea, cat, wes = person("Ann"), person("Bea"), person("Cat"), person("Wes")
    body = create(api, ann, start="by_host")
    url = f"/v1/games/{body['game']['id']}"
    for who in (bea, cat):
        assert api.post(f"{url}/seats", json={"kind": "human"}, token=who.token).status == 201

    for seat, who in (("A", bea), ("B", cat), ("B", cat)):
        assert api.post(f"{url}/seats/{seat}/token", token=who.token).status == 200

    def seen(who: Person) -> list[tuple[str, str]]:
        items = api.get(f"{url}/audit", token=who.token, example=True).body["items"]
        return [(item["act"], item["seat"]) for item in items]

    assert seen(ann) == [("token_reissued", "A"), ("token_reissued", "B"), ("token_reissued", "B")]
    assert seen(bea) == [("token_reissued", "A")]
    assert seen(cat) == [("token_reissued", "B"), ("token_reissued", "B")]
    assert refused(api.get(f"{url}/audit", token=wes.token)) == (403, "not_host")
    first = api.get(f"{url}/audit?limit=2", token=ann.token).body
    rest = api.get(f"{url}/audit?limit=2&cursor={first['next']}", token=ann.token).body
    whole = api.get(f"{url}/audit", token=ann.token)
    assert first["items"] + rest["items"] == whole.body["items"]
    assert rest["next"] is None
    assert b"sps_" not in whole.content


@pytest.mark.django_db
def test_asking_again_with_the_same_key_gives_the_same_token(table: Make) -> None:
    game = table()
    key = {"Idempotency-Key": "a-new-one"}

    first = game.api.post(game.url("seats", "A", "token"), token=game.host.token, headers=key)
    again = game.api.post(game.url("seats", "A", "token"), token=game.host.token, headers=key)

    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert game.api.get(game.url(), token=first.body["token"]).status == 200
    assert len(game.api.get(game.url("audit"), token=game.host.token).body["items"]) == 1


@pytest.mark.django_db
def test_a_reissued_token_dies_with_its_seat_and_the_next_ones_lives(api: ApiClient, person: MakePerson) -> None:
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    game = create(api, ann, start="by_host", seats=[{"kind": "human"}])["game"]
    url = f"/v1/games/{game['id']}"
    api.post(f"{url}/seats", json={"kind": "human"}, token=bea.token)
    new = api.post(f"{url}/seats/B/token", token=bea.token).body["token"]

    assert api.delete(f"{url}/seats/B", token=new).status == 200
    joined = api.post(f"{url}/seats", json={"kind": "human"}, token=cat.token)

    assert refused(api.get(url, token=new)) == (401, "unauthenticated")
    assert api.get(url, token=joined.body["token"]).body["viewer"]["seat"] == "B"
    assert_seated_by_actions(UUID(game["id"]))


def test_whoever_waits_by_a_replaced_token_is_cut_off(lobby: Lobby, live_service: Any) -> None:
    """Streams and long polls by the old token end; those by the account go on."""
    table = lobby.people()
    host, old = table.host.token or "", table.seats["A"].token or ""
    version = table.look()[0]["version"]

    with (
        stream(live_service.url, table.id, old) as by_token,
        stream(live_service.url, table.id, host) as by_account,
    ):
        for lines in (by_token, by_account):
            while next(lines) != f"id: {version}":
                pass
        waiting = Waiting(lobby.client(old), table.url("events") + f"?after={version}&wait=30")
        made = table.host.post(table.url("seats", "A", "token"))
        assert made.status == 200
        table.seats["A"] = lobby.client(made.body["token"])

        seat, _, match = table.turn()
        assert table.act(table.seats[seat], {"decision": "keep"}, headers=match).status == 200

        assert not [line for line in by_token if line.startswith("id: ")]  # the stream ends by itself
        assert refused(waiting.answer()) == (401, "unauthenticated")
        while next(by_account) != f"id: {version + 1}":
            pass


def test_of_many_reissues_at_once_one_token_is_left(lobby: Lobby) -> None:
    table = lobby.people()
    clients = lobby.crowd(8, table.host.token)

    answers = at_once([partial(client.post, table.url("seats", "A", "token")) for client in clients])

    assert Counter(answer.status for answer in answers) == {200: 8}
    tokens = [answer.body["token"] for answer in answers]
    assert len(set(tokens)) == 8
    alive = [token for token in tokens if lobby.client(token).get(table.url()).status == 200]
    assert len(alive) == 1
    assert table.seats["A"].get(table.url()).status == 401
    assert len(table.host.get(table.url("audit")).body["items"]) == 8


# Invitations.


def invite(api: ApiClient, game: str, host: Person, **body: Any) -> dict[str, Any]:
    made = api.post(f"/v1/games/{game}/invitations", json=body, token=host.token)
    assert made.status == 201, made.content
    shown: dict[str, Any] = {"token": made.body["token"], **made.body["invitation"]}
    return shown


def join(api: ApiClient, game: str, who: Person, invitation: str | None = None, **body: Any) -> Answer:
    shown = {} if invitation is None else {"invitation": invitation}
    return api.post(f"/v1/games/{game}/seats", json={"kind": "human", **shown, **body}, token=who.token)


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", ["unlisted", "private", "public"])
def test_an_invitation_is_the_way_to_a_seat(api: ApiClient, person: MakePerson, visibility: str) -> None:
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    game = create(api, ann, visibility=visibility, start="by_host")["game"]["id"]

    made = api.post(f"/v1/games/{game}/invitations", json={"name": "for Bea"}, token=ann.token, example=True)
    token = made.body["token"]
    joined = join(api, game, bea, token)
    second = join(api, game, cat, token)

    assert made.status == 201
    assert token.startswith("spi_")
    shown = made.body["invitation"]
    assert (shown["name"], shown["seat"], shown["uses"], shown["used"]) == ("for Bea", None, 1, 0)
    assert (joined.status, joined.body["seat"]) == (201, "A")
    assert api.get(f"/v1/games/{game}", token=bea.token).body["viewer"] == {"role": "seat", "seat": "A"}
    assert refused(second) == ((404, "not_found") if visibility == "private" else (403, "invitation_invalid"))
    now = api.get(made.headers["location"], token=ann.token, example=True).body
    assert now == {**shown, "used": 1, "in_force": False}
    assert shown["in_force"] is True
    listed = api.get(f"/v1/games/{game}/invitations", token=ann.token, example=True)
    assert listed.body == {"items": [now], "next": None}
    assert b"spi_" not in listed.content
    acts = [(row["act"], row["seat"], row["subject"]) for row in audit(api, game, ann)]
    assert acts == [("invitation_made", None, shown["id"]), ("invitation_used", "A", shown["id"])]
    assert [row["act"] for row in audit(api, game, bea)] == ["invitation_used"]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["invitation", "watch_link"])
def test_a_link_that_has_expired_is_listed_as_no_longer_in_force(api: ApiClient, person: MakePerson, kind: str) -> None:
    ann = person("Ann")
    url = f"/v1/games/{create(api, ann)['game']['id']}/{kind}s"
    kept = [api.post(url, json={"expires_in": 60}, token=ann.token).body[kind] for _ in range(2)]
    model = {"invitation": Invitation, "watch_link": WatchLink}[kind]

    model.objects.filter(id=kept[0]["id"]).update(expires_at=timezone.now())

    assert [row["in_force"] for row in kept] == [True, True]
    listed = api.get(url, token=ann.token).body["items"]
    assert [(row["id"], row["in_force"]) for row in listed] == [(kept[0]["id"], False), (kept[1]["id"], True)]
    assert api.get(f"{url}/{kept[0]['id']}", token=ann.token).body["in_force"] is False


@pytest.mark.django_db
def test_an_audit_entry_stays_with_whoever_held_the_seat(api: ApiClient, person: MakePerson) -> None:
    """Bea sits at E, gets a new token and leaves; Cat takes E. Then seats are drawn, so that letters change hands."""
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    body = create(api, ann, start="by_host", seating="by_draw", ruleset={"preset": "standard"})
    game, url = body["game"]["id"], f"/v1/games/{body['game']['id']}"
    east = {"kind": "human", "seat": "E"}
    assert api.post(f"{url}/seats", json=east, token=bea.token).status == 201
    assert api.post(f"{url}/seats/E/token", token=bea.token).status == 200
    assert api.delete(f"{url}/seats/E", token=bea.token).status == 200
    assert api.post(f"{url}/seats", json=east, token=cat.token).status == 201
    assert audit(api, game, cat) == []
    for seat in "NSW":
        bot = {"kind": "bot", "bot": "steady", "seat": seat}
        assert api.post(f"{url}/seats", json=bot, token=ann.token).status == 201
    assert api.post(f"{url}/seats/E/token", token=cat.token).status == 200
    assert api.post(f"{url}/start", token=ann.token).status == 200

    ids = {who.name: [row["id"] for row in audit(api, game, who)] for who in (ann, bea, cat)}

    assert len(ids["Ann"]) == 2
    assert (ids["Bea"], ids["Cat"]) == (ids["Ann"][:1], ids["Ann"][1:])
    assert refused(api.get(f"{url}/audit", token=person("Wes").token)) == (403, "not_host")


def audit(api: ApiClient, game: str, who: Person) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get(f"/v1/games/{game}/audit", token=who.token).body["items"]
    return items


@pytest.mark.django_db
def test_without_an_invitation_that_holds_a_private_table_stays_unknown(api: ApiClient, person: MakePerson) -> None:
    """However wrong the invitation is, the answer is the one to a table that does not exist."""
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, visibility="private")["game"]["id"]
    other = create(api, ann, visibility="private")["game"]["id"]
    unknown = "01a229d3-3d01-7166-a840-8fc6880586c4"
    taken_back = invite(api, game, ann)
    assert api.delete(f"/v1/games/{game}/invitations/{taken_back['id']}", token=ann.token).status == 204
    elsewhere = invite(api, other, ann)["token"]

    answers = [
        join(api, game, bea),
        join(api, game, bea, "spi_" + "x" * 43),
        join(api, game, bea, taken_back["token"]),
        join(api, game, bea, elsewhere),
        join(api, unknown, bea, elsewhere),
        api.get(f"/v1/games/{game}/invitations", token=bea.token),
        api.post(f"/v1/games/{game}/invitations", json={}, token=bea.token),
        api.post(f"/v1/games/{game}/watch_links", json={}, token=bea.token),
        api.get(f"/v1/games/{game}/audit", token=bea.token),
    ]

    assert {refused(answer) for answer in answers} == {(404, "not_found")}
    assert len({answer.body["detail"] for answer in answers}) == 1
    assert join(api, other, bea, elsewhere).status == 201


@pytest.mark.django_db
def test_an_invitation_that_is_wrong_is_refused_and_not_used_up(api: ApiClient, person: MakePerson) -> None:
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    game = create(api, ann, visibility="unlisted", start="by_host")["game"]["id"]
    for_b = invite(api, game, ann, seat="B")
    back = invite(api, game, ann)
    assert api.delete(f"/v1/games/{game}/invitations/{back['id']}", token=ann.token, example=True).status == 204
    before = rows_of(game)

    answers = {
        "none": join(api, game, bea),
        "unknown": join(api, game, bea, "spi_" + "x" * 43),
        "taken back": join(api, game, bea, back["token"]),
        "another seat": join(api, game, bea, for_b["token"], seat="A"),
        "no such seat": join(api, game, bea, for_b["token"], seat="N"),
        "no invitation at all": api.post(
            f"/v1/games/{game}/seats", json={"kind": "human", "invitation": "let me in"}, token=bea.token, bad=True
        ),
        "for a bot": api.post(
            f"/v1/games/{game}/seats",
            json={"kind": "bot", "bot": "steady", "invitation": for_b["token"]},
            token=ann.token,
        ),
        "the host's own, unknown": join(api, game, ann, "spi_" + "x" * 43),
    }

    assert {name: refused(answer) for name, answer in answers.items()} == {
        "none": (403, "invitation_required"),
        "unknown": (403, "invitation_invalid"),
        "taken back": (403, "invitation_invalid"),
        "another seat": (403, "invitation_invalid"),
        "no such seat": (403, "invitation_invalid"),
        "no invitation at all": (400, "malformed"),
        "for a bot": (400, "malformed"),
        "the host's own, unknown": (403, "invitation_invalid"),
    }
    assert rows_of(game) == before
    joined = join(api, game, bea, for_b["token"])
    assert (joined.status, joined.body["seat"]) == (201, "B")
    gone = api.delete(f"/v1/games/{game}/invitations/{back['id']}", token=ann.token)
    assert refused(gone) == (404, "not_found")
    assert refused(join(api, game, cat, for_b["token"])) == (403, "invitation_invalid")


@pytest.mark.django_db
def test_an_invitation_expires(api: ApiClient, person: MakePerson) -> None:
    ann, bea = person("Ann"), person("Bea")
    game = create(api, ann, visibility="unlisted")["game"]["id"]
    made = invite(api, game, ann, expires_in=60)
    Invitation.objects.filter(id=made["id"]).update(expires_at=timezone.now())

    assert refused(join(api, game, bea, made["token"])) == (403, "invitation_invalid")


@pytest.mark.django_db
def test_an_invitation_for_several_lets_so_many_in(api: ApiClient, person: MakePerson) -> None:
    ann, bea, cat = person("Ann"), person("Bea"), person("Cat")
    game = create(api, ann, visibility="private", start="by_host")["game"]["id"]
    token = invite(api, game, ann, uses=2)["token"]

    assert [join(api, game, who, token).status for who in (bea, cat)] == [201, 201]
    left = api.delete(f"/v1/games/{game}/seats/A", token=bea.token)

    assert left.status == 200
    assert refused(join(api, game, bea, token)) == (404, "not_found")  # a use is not given back


@pytest.mark.django_db
def test_only_the_host_invites_and_only_before_the_start(api: ApiClient, person: MakePerson, table: Make) -> None:
    ann, bea = person("Ann"), person("Bea")
    made = create(api, ann, seats=[{"kind": "human"}])
    game, seat = made["game"]["id"], made["seats"][0]["token"]
    one = invite(api, game, ann)["id"]
    started = table()
    url = f"/v1/games/{game}"

    for who, reason in ((bea.token, "not_host"), (seat, "scope_missing")):
        for answer in (
            api.post(f"{url}/invitations", json={}, token=who),
            api.get(f"{url}/invitations", token=who),
            api.get(f"{url}/invitations/{one}", token=who),
            api.delete(f"{url}/invitations/{one}", token=who),
            api.post(f"{url}/watch_links", json={}, token=who),
            api.get(f"{url}/watch_links", token=who),
        ):
            assert refused(answer) == (403, reason)
    late = api.post(started.url("invitations"), json={}, token=started.host.token)
    wrong = api.post(f"{url}/invitations", json={"seat": "N"}, token=ann.token)
    for body in ({"uses": 0}, {"uses": 101}, {"expires_in": 59}, {"expires_in": 2592001}, {"seat": "AB"}, {"x": 1}):
        assert api.post(f"{url}/invitations", json=body, token=ann.token, bad=True).status == 400
    assert refused(late) == (409, "wrong_phase")
    assert wrong.body["errors"][0]["pointer"] == "/seat"


@pytest.mark.django_db
def test_a_table_has_a_bounded_number_of_invitations_and_links(
    api: ApiClient, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MOST_LINKS", 2)
    ann = person("Ann")
    game = create(api, ann)["game"]["id"]

    for kind in ("invitations", "watch_links"):
        url = f"/v1/games/{game}/{kind}"
        first = api.post(url, json={}, token=ann.token)
        assert [api.post(url, json={}, token=ann.token).status for _ in range(2)] == [201, 409]
        assert api.delete(first.headers["location"], token=ann.token).status == 204
        assert api.post(url, json={}, token=ann.token).status == 201
        page = api.get(f"{url}?limit=1", token=ann.token).body
        rest = api.get(f"{url}?limit=1&cursor={page['next']}", token=ann.token).body
        assert [len(page["items"]), len(rest["items"]), rest["next"]] == [1, 1, None]
        assert page["items"] != rest["items"]


def test_of_many_who_come_by_one_invitation_at_once_one_sits_down(lobby: Lobby) -> None:
    host = lobby.account("Ann")
    made = host.post("/v1/games", json={**TWO, "visibility": "private", "start": "by_host"})
    game = made.body["game"]["id"]
    invitation = host.post(f"/v1/games/{game}/invitations", json={}).body["token"]
    guests = [lobby.account(f"Guest {number}") for number in range(8)]

    body = {"kind": "human", "invitation": invitation}
    answers = at_once([partial(guest.post, f"/v1/games/{game}/seats", json=body) for guest in guests])

    assert sorted(answer.status for answer in answers) == [201, *[404] * 7]
    assert [seat["kind"] for seat in host.get(f"/v1/games/{game}").body["seats"]] == ["human", "open"]


# Watch links.


def watch(api: ApiClient, game: str, host: Person, **body: Any) -> dict[str, Any]:
    made = api.post(f"/v1/games/{game}/watch_links", json=body, token=host.token)
    assert made.status == 201, made.content
    shown: dict[str, Any] = {"token": made.body["token"], **made.body["watch_link"]}
    return shown


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", ["public", "unlisted", "private"])
def test_a_watch_link_shows_what_is_public_and_no_more(api: ApiClient, person: MakePerson, visibility: str) -> None:
    ann, wes = person("Ann"), person("Wes")
    body = create(
        api, ann, visibility=visibility, seats=[{"kind": "human"}, {"kind": "bot", "bot": "steady"}], start="by_host"
    )
    game, url = body["game"]["id"], f"/v1/games/{body['game']['id']}"
    made = api.post(f"{url}/watch_links", json={"name": "screen"}, token=ann.token, example=True)
    link = made.body["token"]
    assert api.post(f"{url}/start", token=ann.token).status == 200

    view = api.get(url, token=link)
    assert view.body["viewer"] == {"role": "watcher", "seat": None}
    assert view.headers["etag"] == f'"{view.body["version"]}-watcher"'
    assert api.get(url, token=link, headers={"If-None-Match": view.headers["etag"]}).status == 304
    assert view.body["deal"]["hand"] is view.body["deal"]["draw"]["looked_at"] is None
    assert view.body["turn"]["legal"] == []
    if visibility == "public":
        assert api.get(url, token=wes.token).body == view.body
        paths = ("events", "deals", "deals/1", "seats/A")
        assert [api.get(f"{url}/{path}", token=link).body for path in paths] == [
            api.get(f"{url}/{path}", token=wes.token).body for path in paths
        ]
    named = api.get(url, token=link, headers={"X-Seat": "A"})
    assert refused(named) == (403, "not_your_seat")
    listed = api.get(f"{url}/watch_links", token=ann.token, example=True)
    one = api.get(made.headers["location"], token=ann.token, example=True)
    assert listed.body == {"items": [made.body["watch_link"]], "next": None} == {"items": [one.body], "next": None}
    assert b"spw_" not in listed.content
    assert [row["act"] for row in audit(api, game, ann)] == ["watch_link_made"]


@pytest.mark.django_db
def test_a_watch_link_does_nothing_and_takes_no_seat(table: Make) -> None:
    game = table()
    link = watch(game.api, game.id, game.host)["token"]
    waiting = create(game.api, game.host)["game"]["id"]
    other = watch(game.api, waiting, game.host)["token"]
    before = rows_of(game.id), rows_of(waiting)
    api = game.api

    for answer in (
        api.post(game.url("draws"), json={"decision": "keep"}, token=link),
        api.post(game.url("draws") + "?dry_run=true", json={"decision": "keep"}, token=link),
        api.post(game.url("bids"), json={"kind": "nil"}, token=link),
        api.post(game.url("plays"), json={"card": "AS"}, token=link),
        api.post(game.url("resignations"), token=link),
        api.post(game.url("abort"), token=link),
        api.post(f"/v1/games/{waiting}/seats", json={"kind": "human"}, token=other),
        api.post(f"/v1/games/{waiting}/start", token=other),
        api.delete(f"/v1/games/{waiting}/seats/A", token=other),
        api.post(game.url("seats", "A", "token"), token=link),
        api.get(game.url("audit"), token=link),
        api.get(game.url("watch_links"), token=link),
        api.get("/v1/games", token=link),
        api.get("/v1/accounts/me", token=link),
    ):
        assert refused(answer) == (403, "scope_missing")
    assert refused(api.get(f"/v1/games/{waiting}", token=link)) == (404, "not_found")
    assert refused(api.get(game.url(), token="spw_" + "x" * 43)) == (401, "unauthenticated")
    assert (rows_of(game.id), rows_of(waiting)) == before


@pytest.mark.django_db
def test_where_spectators_are_forbidden_nobody_watches_by_a_link(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")
    game = create(api, ann, spectators="forbidden")["game"]["id"]

    made = api.post(f"/v1/games/{game}/watch_links", json={}, token=ann.token)

    assert refused(made) == (403, "spectators_forbidden")


@pytest.mark.django_db
def test_a_watch_link_ends_when_it_expires_or_is_deleted(api: ApiClient, person: MakePerson) -> None:
    ann = person("Ann")
    game = create(api, ann, visibility="private")["game"]["id"]
    url = f"/v1/games/{game}"
    links = [watch(api, game, ann, expires_in=60), watch(api, game, ann)]
    assert [api.get(url, token=link["token"]).status for link in links] == [200, 200]

    WatchLink.objects.filter(id=links[0]["id"]).update(expires_at=timezone.now())
    assert api.delete(f"{url}/watch_links/{links[1]['id']}", token=ann.token, example=True).status == 204

    for link in links:
        assert refused(api.get(url, token=link["token"])) == (401, "unauthenticated")
        assert refused(api.get(f"{url}/events", token=link["token"])) == (401, "unauthenticated")
    acts = [row["act"] for row in audit(api, game, ann)]
    assert acts == ["watch_link_made", "watch_link_made", "watch_link_deleted"]


@pytest.mark.django_db
def test_an_account_with_a_seat_sees_as_its_seat_and_never_as_a_watcher(table: Make) -> None:
    game = table()

    for who, seat in ((game.host, "A"), (game.guest, "B")):
        for answer in (game.api.get(game.url(), token=who.token), game.api.get(game.url(), token=game.tokens[seat])):
            assert answer.body["viewer"] == {"role": "seat", "seat": seat}


def test_whoever_watches_by_a_deleted_link_is_cut_off(lobby: Lobby, live_service: Any) -> None:
    table = lobby.people()
    made = table.host.post(table.url("watch_links"), json={})
    link = made.body["token"]
    version = table.look()[0]["version"]

    with stream(live_service.url, table.id, link) as lines:
        while next(lines) != f"id: {version}":
            pass
        seat, _, match = table.turn()
        assert table.act(table.seats[seat], {"decision": "keep"}, headers=match).status == 200
        while next(lines) != "event: card_drawn":
            pass
        assert '"kept"' not in next(lines)
        waiting = Waiting(lobby.client(link), table.url("events") + f"?after={version + 1}&wait=30")
        assert table.host.delete(made.headers["location"]).status == 204
        seat, _, match = table.turn()
        assert table.act(table.seats[seat], {"decision": "keep"}, headers=match).status == 200

        assert not [line for line in lines if line.startswith("id: ")]
        assert refused(waiting.answer()) == (401, "unauthenticated")
