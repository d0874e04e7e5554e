"""Questions about the rules over HTTP: the worked cases, the library's own answers, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import services
from accounts.models import IdempotencyRecord
from spades import Bid, Card, DrawDecision, Ruleset, Seed
from spades.deal import Phase
from spades.ruleset import DEAL_CAP
from spades.rulings import rule_on_bid, rule_on_draws, rule_on_leader, rule_on_play, rule_on_trick
from spades.terms import terms
from tests.client import ApiClient
from tests.spades.playing import opening, play_on, random_ruleset

pytestmark = pytest.mark.django_db

CASES = json.loads((Path(__file__).parents[1] / "golden" / "play.json").read_text())
STOCK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
PLAYS, TRICKS, LEADERS, BIDS, DRAWS = (
    f"/v1/rules/{question}" for question in ("plays", "tricks", "leaders", "bids", "draws")
)


def ruleset_of(case: dict[str, Any]) -> dict[str, Any]:
    overrides = {name: value for name, value in case["options_overrides"].items() if name != "hand_size"}
    return {"preset": case["preset"], **overrides}


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


def bid_of(value: Any) -> dict[str, Any]:
    return (Bid.number(value) if isinstance(value, int) else Bid.parse(value)).to_json()


def with_only(names: dict[str, str], case: dict[str, Any]) -> dict[str, Any]:
    """Fields of a case that it has, under the names of the question."""
    return {name: case[theirs] for name, theirs in names.items() if theirs in case}


# --- The worked cases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", of_kind("legality"))
def test_cards_are_allowed_or_refused_as_worked(api, case):
    question = {
        "ruleset": ruleset_of(case),
        "spades_broken": case["spades_broken"],
        "trick_number": case["trick_no"],
        **with_only({name: name for name in ("seat", "hand", "trick", "leader", "lowest_club_in_deck")}, case),
    }
    random.Random(case["id"]).shuffle(question["hand"])

    ruling = api.post(PLAYS, json=question).body

    assert set(ruling["legal"]) == set(case["expected"]["legal"])
    assert ruling["refused"] == {c: r for c, r in case["expected"]["illegal"].items() if c in case["hand"]}
    for card in {*case["hand"], *case["expected"]["illegal"]}:
        asked = api.post(PLAYS, json={**question, "card": card}).body
        assert asked["allowed"] == (card in case["expected"]["legal"])
        assert asked.get("reason") == case["expected"]["illegal"].get(card)


@pytest.mark.parametrize("case", of_kind("winner"))
def test_a_trick_is_won_as_worked(api, case):
    question = {
        "ruleset": ruleset_of(case),
        "trick": case["trick"],
        "trick_number": case["trick_no"],
        "spades_broken": case["spades_broken"],
    }

    ruling = api.post(TRICKS, json=question).body

    assert ruling == {**case["expected"], "why": ruling["why"]}


@pytest.mark.parametrize("case", of_kind("leader"))
def test_the_leader_is_as_worked(api, case):
    question = {
        "ruleset": ruleset_of(case),
        "dealer": case["dealer"],
        "trick_number": case["trick_no"],
        **with_only({name: name for name in ("last_winner", "holder_of_lowest_club")}, case),
    }
    if "bids" in case:
        question["bids"] = {seat: bid_of(bid) for seat, bid in case["bids"].items()}

    ruling = api.post(LEADERS, json=question).body

    assert ruling == {"leader": case["expected"]["leader"], "why": ruling["why"]}


@pytest.mark.parametrize("case", of_kind("bid"))
def test_bids_are_open_as_worked(api, case):
    question = {"ruleset": ruleset_of(case), **with_only({name: name for name in ("seat", "hand", "hand_seen")}, case)}
    question["bids"] = {seat: bid_of(bid) for seat, bid in case.get("bids_so_far", {}).items()}
    if "scores" in case:
        sides = ("NS", "EW") if case["seat"] in "NS" else ("EW", "NS")
        question["scores"] = dict(zip(sides, (case["scores"]["own"], case["scores"]["other"]), strict=True))

    ruling = api.post(BIDS, json=question).body

    assert ruling == {"legal": [bid_of(bid) for bid in case["expected"]["legal_bids"]]}


@pytest.mark.parametrize("case", of_kind("draw"))
def test_hands_are_drawn_as_worked(api, case):
    question = {"ruleset": ruleset_of(case), **{name: case[name] for name in ("dealer", "decisions")}}

    ruling = api.post(DRAWS, json={**question, "stock": case["deck"]}).body

    expected = dict(case["expected"])
    if "deck_left" in expected:
        expected["stock_left"] = expected.pop("deck_left")
    if expected.get("phase") == "draw":
        expected["phase"] = "drawing"
    assert {name: ruling[name] for name in expected} == expected


ATTEMPTS = {
    "draw_from_discard": ("B", "take_discard"),
    "decline_second": ("B", "decline_second"),
    "keep_both": ("B", "keep_both"),
    "peek_second_first": ("B", "peek_second"),
    "wrong_player": ("A", "keep"),
    "draw_after_end": ("B", "keep"),
}


@pytest.mark.parametrize("case", [case for case in of_kind("draw_refusal") if case.values[0]["action"] in ATTEMPTS])
def test_a_wrong_draw_is_refused_as_worked(api, case):
    seat, decision = ATTEMPTS[case["action"]]
    question = {"ruleset": ruleset_of(case), "stock": STOCK, "dealer": "A"}
    question["decisions"] = ["keep"] * 26 if case["action"] == "draw_after_end" else []

    ruling = api.post(DRAWS, json={**question, "proposed": {"seat": seat, "decision": decision}}).body

    assert (ruling["allowed"], ruling["reason"]) == (False, case["expected"]["reason"])


# --- What is answered besides ---------------------------------------------------------------------------------------


def test_a_refusal_names_the_option_that_decided(api):
    play = {"seat": "E", "hand": ["4H", "AS"], "trick": [], "trick_number": 3, "spades_broken": False}

    plain = api.post(PLAYS, json={"ruleset": {}, **play, "card": "AS"}, example=True).body
    anytime = api.post(PLAYS, json={"ruleset": {"spade_lead": "anytime"}, **play, "card": "AS"}).body
    bids = {"N": {"kind": "number", "tricks": 4}, "W": {"kind": "nil"}}
    question = {"seat": "E", "hand_seen": True, "bids": bids, "scores": {"NS": 0, "EW": 120}}
    question["bid"] = {"kind": "number", "tricks": 14}
    bid = api.post(BIDS, json={"ruleset": {}, **question}, example=True).body
    draw = {"ruleset": {"preset": "two_player"}, "stock": STOCK, "dealer": "A", "decisions": []}
    draw["decisions"] = ["keep", "decline"]
    both = api.post(DRAWS, json={**draw, "proposed": {"seat": "B", "decision": "keep_both"}}, example=True).body

    assert plain == {
        "legal": ["4H"],
        "refused": {"AS": "spades_not_broken"},
        "allowed": False,
        "reason": "spades_not_broken",
        "detail": "Spades are not broken, and you hold another suit to lead.",
        "rule": {"option": "spade_lead", "value": "when_broken", "section": "leading"},
    }
    assert anytime == {"legal": ["4H", "AS"], "refused": {}, "allowed": True}
    assert (bid["reason"], bid["rule"]) == (
        "bid_out_of_range",
        {"option": "max_bid", "value": 13, "section": "bids"},
    )
    assert both["rule"] == {"option": "deal_method", "value": "draw", "section": "draw"}


def test_an_answer_says_why(api):
    trick = [{"seat": seat, "card": card} for seat, card in zip("WNES", ("KH", "4H", "3S", "AH"), strict=True)]
    played = {"ruleset": {}, "trick": trick, "trick_number": 3, "spades_broken": False}
    high = {"ruleset": {"first_leader": "high_bidder"}, "dealer": "N", "trick_number": 1}
    bids = {seat: bid_of(bid) for seat, bid in (("N", 5), ("E", "nil"), ("S", 5), ("W", 2))}

    taken = api.post(TRICKS, json=played, example=True).body
    led = api.post(LEADERS, json={**high, "bids": bids}, example=True).body

    assert taken == {
        "winner": "E",
        "led_suit": "H",
        "spades_broken_after": True,
        "why": "3S is the highest spade.",
    }
    assert led == {
        "leader": "S",
        "why": "The highest bidder leads to the first trick, the first from the dealer's left if level.",
    }


def test_null_says_nothing(api):
    play = {"ruleset": {}, "seat": "E", "hand": ["4H"], "trick": [], "trick_number": 3, "spades_broken": False}
    nothing = dict.fromkeys(("leader", "lowest_club_in_deck", "card"))

    assert api.post(PLAYS, json={**play, **nothing}).body == api.post(PLAYS, json=play).body
    bid = {"ruleset": {}, "seat": "E"}
    nothing = dict.fromkeys(("hand", "hand_seen", "bids", "scores", "deal_number", "reconsidered", "bid"))
    assert api.post(BIDS, json={**bid, **nothing}).body == api.post(BIDS, json=bid).body


def test_a_partner_answers_a_proposal(api):
    question = {"ruleset": {"preset": "sandbag_deduction", "min_team_bid": 4}, "seat": "S"}

    ruling = api.post(BIDS, json={**question, "bids": {"N": {"kind": "number", "tricks": 1}}}).body

    assert ruling["legal"][0] == {"kind": "number", "tricks": 3}


def test_a_partner_may_send_a_proposal_back_if_the_side_has_not_done_so(api):
    question = {"ruleset": {"preset": "hoyle_partners"}, "seat": "S", "bids": {"N": {"kind": "number", "tricks": 4}}}

    unsaid, once, first = (
        api.post(BIDS, json={**question, "reconsidered": said}).body["legal"] for said in (None, True, False)
    )

    assert once == unsaid
    assert first == [*unsaid, {"kind": "reconsider"}]


def test_a_question_is_kept_nowhere_and_answered_alike(api):
    question = {"ruleset": {}, "dealer": "N", "trick_number": 1}

    first, second = (api.post(LEADERS, json=question, headers={"Idempotency-Key": "same"}) for _ in range(2))
    other = api.post(LEADERS, json={**question, "dealer": "E"}, headers={"Idempotency-Key": "same"})

    assert first.content == second.content
    assert (first.body["leader"], other.body["leader"]) == ("E", "S")
    assert "idempotency-replayed" not in second.headers
    assert IdempotencyRecord.objects.count() == 0


@pytest.mark.parametrize("scopes", [["games"], ["tournaments", "webhooks"]])
def test_a_question_takes_the_scope_scoring(scopes):
    account, _ = services.create_account("Ann")
    token = services.create_token(account.id, scopes)
    question = {"ruleset": {}, "dealer": "N", "trick_number": 1}

    refused = ApiClient(token=token).post(LEADERS, json=question)

    assert (refused.status, refused.reason) == (403, "scope_missing")


# --- The library's own answers --------------------------------------------------------------------------------------

FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def flat(ruleset):
    return {"preset": ruleset.preset, **ruleset.overrides()}


def asked(refusal):
    if refusal is None:
        return {"allowed": True}
    said = {"allowed": False, "reason": refusal.reason, "detail": refusal.detail}
    rule = refusal.rule
    return (
        said
        if rule is None
        else {**said, "rule": {"option": rule.option, "value": rule.value, "section": rule.section}}
    )


def as_json(value):
    return json.loads(json.dumps(value))


@FEW
@given(st.integers(0, 2**32))
def test_plays_are_answered_as_the_library_answers(api, seed):
    rng = random.Random(seed)
    ruleset = random_ruleset(rng)
    playing = [m for m in play_on(opening(ruleset, rng), rng) if m.deal.phase is Phase.PLAYING and m.deal.trick]
    for match in rng.sample(playing, min(3, len(playing))):
        deal = match.deal
        seat, trick = deal.turn, deal.trick
        told = {"trick_number": trick.number, "spades_broken": deal.spades_broken}
        card = rng.choice((*deal.hand(seat), Card.parse("AS"), Card.parse("LJ")))
        expected = rule_on_play(ruleset, seat, deal.hand(seat), trick.cards, **told, card=card)
        on_table = [{"seat": by, "card": played.code} for by, played in trick.cards]
        if rng.random() < 0.5:
            told["leader"] = trick.leader
            rng.shuffle(on_table)

        ruling = api.post(
            PLAYS,
            json={
                "ruleset": flat(ruleset),
                "seat": seat,
                "hand": [held.code for held in deal.hand(seat)],
                "trick": on_table,
                "card": card.code,
                **told,
            },
        ).body

        assert ruling == as_json(
            {
                "legal": [each.code for each in expected.legal],
                "refused": {code: refusal.reason for code, refusal in expected.refused.items()},
                **asked(expected.refused.get(card.code)),
            }
        )


@FEW
@given(st.integers(0, 2**32))
def test_tricks_and_leaders_are_answered_as_the_library_answers(api, seed):
    rng = random.Random(seed)
    ruleset = random_ruleset(rng)
    facts = terms(ruleset)
    cards = rng.sample(facts.pack.deck, ruleset.players)
    seats = facts.table.from_(rng.choice(facts.table.seats))
    trick = list(zip(seats, cards, strict=True))
    told = {"trick_number": rng.randint(1, ruleset.hand_size), "spades_broken": rng.random() < 0.5}
    expected = rule_on_trick(ruleset, trick, **told)
    bids = {seat: rng.choice(sorted(facts.offered, key=str)) for seat in seats} if facts.offered else {}
    lead = {"dealer": rng.choice(seats), "trick_number": rng.choice((1, 1, min(2, ruleset.hand_size)))}
    lead |= {"last_winner": rng.choice(seats), "holder_of_lowest_club": rng.choice(seats)}

    ruling = api.post(
        TRICKS,
        json={
            "ruleset": flat(ruleset),
            "trick": [{"seat": seat, "card": card.code} for seat, card in trick],
            **told,
        },
    ).body
    leading = api.post(
        LEADERS,
        json={"ruleset": flat(ruleset), **lead, "bids": {seat: bid.to_json() for seat, bid in bids.items()}},
    ).body

    assert ruling == {
        "winner": expected.winner,
        "led_suit": expected.led_suit.value,
        "spades_broken_after": expected.spades_broken_after,
        "why": expected.why,
    }
    leader = rule_on_leader(ruleset, **lead, bids=bids)
    assert leading == {"leader": leader.leader, "why": leader.why}


@FEW
@given(st.integers(0, 2**32))
def test_bids_are_answered_as_the_library_answers(api, seed):
    rng = random.Random(seed)
    ruleset = random_ruleset(rng)
    facts = terms(ruleset)
    offered = sorted(facts.offered, key=str)
    seat = rng.choice(facts.table.seats)
    bids = {other: rng.choice(offered) for other in facts.table.seats if offered and rng.random() < 0.4}
    scores = {side: rng.randint(-300, 300) for side in facts.table.sides if rng.random() < 0.8}
    told = {"hand_seen": rng.random() < 0.7, "deal_number": rng.randint(1, 3), "scores": scores}
    hand = rng.sample(facts.pack.deck, ruleset.hand_size)
    bid = rng.choice([*offered, Bid.number(rng.randint(0, 54)), Bid.parse("blind_nil")])
    expected = rule_on_bid(ruleset, seat, hand=hand, bids=bids, bid=bid, **told)

    ruling = api.post(
        BIDS,
        json={
            "ruleset": flat(ruleset),
            "seat": seat,
            "hand": [card.code for card in hand],
            "bids": {other: made.to_json() for other, made in bids.items()},
            "bid": bid.to_json(),
            **told,
        },
    ).body

    assert ruling == as_json({"legal": [each.to_json() for each in expected.legal], **asked(expected.refusal)})


@FEW
@given(st.randoms(use_true_random=False), st.sampled_from(["two_player", "two_player_closed"]))
def test_draws_are_answered_as_the_library_answers(api, rng, preset):
    changes = {"draw_declined_face": rng.choice(("up", "down")), "draw_second_card": rng.choice(("unseen", "face_up"))}
    choice = {"preset": preset, **changes}
    ruleset = Ruleset.resolve(choice)
    stock = Seed(rng.randbytes(32)).shuffled(terms(ruleset).pack.deck)
    decisions = [rng.choice((DrawDecision.KEEP, DrawDecision.DECLINE)) for _ in range(rng.randint(0, 26))]
    proposed = (rng.choice("AB"), rng.choice(list(DrawDecision)))
    expected = rule_on_draws(ruleset, stock, "A", decisions, proposed)

    ruling = api.post(
        DRAWS,
        json={
            "ruleset": choice,
            "stock": [card.code for card in stock],
            "dealer": "A",
            "decisions": decisions,
            "proposed": {"seat": proposed[0], "decision": proposed[1]},
        },
    ).body

    assert ruling == as_json(
        {
            "hands": {seat: [card.code for card in cards] for seat, cards in expected.hands.items()},
            "discards": [
                {"card": each.card.code, "face": each.face, "visible_to": each.visible_to}
                for each in expected.deal.discards
            ],
            "next_turn": expected.next_turn,
            "first_bidder": expected.first_bidder,
            "stock_left": expected.deal.stock_count,
            "phase": expected.deal.phase,
            "cards_seen": expected.cards_seen,
            **asked(expected.refusal),
        }
    )


# --- What is refused ------------------------------------------------------------------------------------------------

PLAY = {"ruleset": {}, "seat": "E", "hand": ["4H"], "trick": [], "trick_number": 3, "spades_broken": False}
TRICK = {
    "ruleset": {},
    "trick": [{"seat": seat, "card": card} for seat, card in zip("NESW", ("KH", "4H", "3S", "AH"), strict=True)],
    "trick_number": 3,
    "spades_broken": False,
}
LEADER = {"ruleset": {}, "dealer": "N", "trick_number": 1}
BID = {"ruleset": {}, "seat": "E"}
DRAW = {"ruleset": {"preset": "two_player"}, "stock": STOCK, "dealer": "A", "decisions": []}
TOO_LONG = [f"{rank}{suit}" for suit in "CD" for rank in "23456789TJQKA"][:14]

MALFORMED = [
    (PLAYS, PLAY, {"seat": "X"}, "/seat", "bad_format"),
    (PLAYS, PLAY, {"seat": 1}, "/seat", "wrong_type"),
    (PLAYS, PLAY, {"seat": None}, "/seat", "wrong_type"),
    (PLAYS, PLAY, {"seat": "A"}, "/seat", "not_allowed_value"),
    (PLAYS, PLAY, {"hand": "4H"}, "/hand", "wrong_type"),
    (PLAYS, PLAY, {"hand": ["1H"]}, "/hand/0", "bad_format"),
    (PLAYS, PLAY, {"hand": ["4H", 4]}, "/hand/1", "wrong_type"),
    (PLAYS, PLAY, {"hand": ["4H", "4H"]}, "/hand/1", "not_allowed_value"),
    (PLAYS, PLAY, {"hand": ["4H", "BJ"]}, "/hand/1", "not_allowed_value"),
    (PLAYS, PLAY, {"hand": TOO_LONG}, "/hand", "wrong_length"),
    (PLAYS, PLAY, {"hand": ["4H"] * 55}, "/hand", "wrong_length"),
    (PLAYS, PLAY, {"trick": [{"seat": "N", "card": "4H"}]}, "/hand/0", "not_allowed_value"),
    (PLAYS, PLAY, {"trick": [{"seat": "N"}]}, "/trick/0/card", "missing_field"),
    (PLAYS, PLAY, {"trick": [{"seat": "N", "card": "KH", "x": 1}]}, "/trick/0/x", "unknown_field"),
    (PLAYS, PLAY, {"trick": TRICK["trick"], "hand": ["5H"]}, "/trick", "wrong_length"),
    (PLAYS, PLAY, {"trick_number": 0}, "/trick_number", "out_of_range"),
    (PLAYS, PLAY, {"trick_number": 14}, "/trick_number", "out_of_range"),
    (PLAYS, PLAY, {"trick_number": 55}, "/trick_number", "out_of_range"),
    (PLAYS, PLAY, {"trick_number": 3.0}, "/trick_number", "wrong_type"),
    (PLAYS, PLAY, {"trick_number": "3"}, "/trick_number", "wrong_type"),
    (PLAYS, PLAY, {"trick_number": True}, "/trick_number", "wrong_type"),
    (PLAYS, PLAY, {"spades_broken": 0}, "/spades_broken", "wrong_type"),
    (PLAYS, PLAY, {"leader": "A"}, "/leader", "not_allowed_value"),
    (PLAYS, PLAY, {"lowest_club_in_deck": "3C"}, "/lowest_club_in_deck", "not_allowed_value"),
    (PLAYS, PLAY, {"card": {}}, "/card", "wrong_type"),
    (PLAYS, PLAY, {"ruleset": []}, "/ruleset", "wrong_type"),
    (PLAYS, PLAY, {"ruleset": {"hand_size": 13}}, "/ruleset/hand_size", "not_allowed_value"),
    (PLAYS, PLAY, {"ruleset": {"bag_limits": 10}}, "/ruleset/bag_limits", "unknown_field"),
    (PLAYS, PLAY, {"ruleset": {"bag_limit": "10"}}, "/ruleset/bag_limit", "wrong_type"),
    (PLAYS, PLAY, {"ruleset": {"preset": "poker"}}, "/ruleset/preset", "not_allowed_value"),
    (PLAYS, PLAY, {"more": 1}, "/more", "unknown_field"),
    (TRICKS, TRICK, {"trick": TRICK["trick"][:3]}, "/trick", "wrong_length"),
    (TRICKS, TRICK, {"trick": TRICK["trick"][::-1][:2] + TRICK["trick"][:2]}, "/trick/1/seat", "not_allowed_value"),
    (TRICKS, TRICK, {"trick_number": 40}, "/trick_number", "out_of_range"),
    (LEADERS, LEADER, {"dealer": "A"}, "/dealer", "not_allowed_value"),
    (LEADERS, LEADER, {"trick_number": 2}, "/last_winner", "missing_field"),
    (LEADERS, LEADER, {"ruleset": {"first_lead": "2C"}}, "/holder_of_lowest_club", "missing_field"),
    (LEADERS, LEADER, {"ruleset": {"first_leader": "high_bidder"}}, "/bids", "missing_field"),
    (
        LEADERS,
        LEADER,
        {
            "ruleset": {"first_leader": "high_bidder"},
            "bids": {seat: {"kind": "number", "tricks": 3} for seat in "NSW"},
        },
        "/bids/E",
        "missing_field",
    ),
    (LEADERS, LEADER, {"bids": {"N": 3}}, "/bids/N", "wrong_type"),
    (BIDS, BID, {"bids": {"A": {"kind": "nil"}}}, "/bids/A", "unknown_field"),
    (BIDS, BID, {"bids": {"G": {"kind": "nil"}}}, "/bids/G", "unknown_field"),
    (BIDS, BID, {"bids": {"N": {"kind": "number"}}}, "/bids/N/tricks", "missing_field"),
    (BIDS, BID, {"bids": {"N": {"kind": "nil", "tricks": 0}}}, "/bids/N/tricks", "unknown_field"),
    (BIDS, BID, {"bid": {"kind": "number", "tricks": -1}}, "/bid/tricks", "out_of_range"),
    (BIDS, BID, {"bid": {"kind": "number", "tricks": 55}}, "/bid/tricks", "out_of_range"),
    (BIDS, BID, {"bid": {"kind": "number", "tricks": "4"}}, "/bid/tricks", "wrong_type"),
    (BIDS, BID, {"bid": {"kind": "moon"}}, "/bid/kind", "not_allowed_value"),
    (BIDS, BID, {"scores": {"N": 1}}, "/scores/N", "unknown_field"),
    (BIDS, BID, {"scores": {"NS": 1.5}}, "/scores/NS", "wrong_type"),
    (BIDS, BID, {"scores": {"NS": 10**7}}, "/scores/NS", "out_of_range"),
    (BIDS, BID, {"deal_number": 0}, "/deal_number", "out_of_range"),
    (BIDS, BID, {"deal_number": DEAL_CAP + 1}, "/deal_number", "out_of_range"),
    (BIDS, BID, {"reconsidered": 0}, "/reconsidered", "wrong_type"),
    (BIDS, BID, {"hand": ["AS"]}, "/hand", "wrong_length"),
    (BIDS, BID, {"ruleset": {"preset": "mirror"}}, "/hand", "missing_field"),
    (DRAWS, DRAW, {"stock": STOCK[1:]}, "/stock", "wrong_length"),
    (DRAWS, DRAW, {"stock": [*STOCK[1:], "3C"]}, "/stock/51", "not_allowed_value"),
    (DRAWS, DRAW, {"dealer": "N"}, "/dealer", "not_allowed_value"),
    (DRAWS, DRAW, {"decisions": ["take"]}, "/decisions/0", "not_allowed_value"),
    (DRAWS, DRAW, {"proposed": {"seat": "A"}}, "/proposed/decision", "missing_field"),
    (DRAWS, DRAW, {"proposed": {"seat": "N", "decision": "keep"}}, "/proposed/seat", "not_allowed_value"),
]


@pytest.mark.parametrize(
    ("url", "question", "change", "pointer", "reason"), MALFORMED, ids=lambda value: str(value)[:40].strip("/")
)
def test_what_no_such_table_could_have_is_malformed(api, url, question, change, pointer, reason):
    answer = api.post(url, json={**question, **change}, bad=True)

    assert (answer.status, answer.reason) == (400, "malformed")
    assert [(fault["pointer"], fault["reason"]) for fault in answer.body["errors"]][:1] == [(pointer, reason)]


def test_everything_that_is_wrong_is_listed(api):
    change = {"seat": "A", "hand": ["4H", "4H", "LJ"], "trick": [{"seat": "N", "card": "BJ"}], "trick_number": 20}

    answer = api.post(PLAYS, json={**PLAY, **change, "leader": "E"}, bad=True)

    assert [fault["pointer"] for fault in answer.body["errors"]] == [
        "/seat",
        "/trick_number",
        "/trick/0/seat",
        "/trick/0/card",
        "/hand/1",
        "/hand/2",
    ]


@pytest.mark.parametrize(
    ("url", "question"), [(PLAYS, PLAY), (TRICKS, TRICK), (LEADERS, LEADER), (BIDS, BID), (DRAWS, DRAW)]
)
def test_every_question_checks_the_whole_ruleset(api, url, question):
    contradictory = {"teams": "trios", "moon": "bid_all", "moon_success": 200, "removed_cards": ["2C"]}

    answer = api.post(url, json={**question, "ruleset": contradictory}, bad=True)

    assert (answer.status, answer.reason) == (422, "ruleset_contradiction")
    assert {(fault["pointer"], fault["reason"]) for fault in answer.body["errors"]} == {
        ("/ruleset/teams", "ruleset_contradiction"),
        ("/ruleset/moon", "ruleset_contradiction"),
        ("/ruleset/removed_cards", "ruleset_contradiction"),
    }


@pytest.mark.parametrize(
    ("url", "question", "change", "status", "pointer", "reason", "option"),
    [
        (BIDS, BID, {"bids": {"N": {"kind": "number", "tricks": 14}}}, 422, "/bids/N", "bid_out_of_range", "max_bid"),
        (
            BIDS,
            BID,
            {"bids": {"S": {"kind": "blind", "tricks": 6}}},
            422,
            "/bids/S",
            "blind_nil_not_allowed",
            "blind_bid_min",
        ),
        (
            LEADERS,
            LEADER,
            {"ruleset": {"preset": "bicycle"}, "bids": {"N": {"kind": "nil"}}},
            422,
            "/bids/N",
            "nil_not_offered",
            "nil_success",
        ),
        (DRAWS, DRAW, {"decisions": ["keep", "keep_both"]}, 422, "/decisions/1", "one_card_per_turn", "deal_method"),
        (DRAWS, DRAW, {"decisions": ["keep"] * 27}, 409, "/decisions/26", "wrong_phase", None),
    ],
    ids=lambda value: str(value)[:40].strip("/"),
)
def test_what_the_rules_had_refused_before_is_refused(api, url, question, change, status, pointer, reason, option):
    answer = api.post(url, json={**question, **change}, bad=True)

    assert (answer.status, answer.reason) == (status, reason)
    assert [(fault["pointer"], fault["reason"]) for fault in answer.body["errors"]] == [(pointer, reason)]
    assert answer.body.get("rule", {}).get("option") == option


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        (b'{"trick_number": NaN}', 400, "not_json"),
        (b"[]", 400, "wrong_type"),
        (b"", 400, "missing_field"),
        (b'{"hand": ' + b"[" * 30 + b"]" * 30 + b"}", 400, "too_deep"),
        (b'{"seat": "E", "seat": "N"}', 400, "duplicate_field"),
        (b'{"seat": "\xff"}', 400, "not_json"),
        (b'{"hand": "' + b"x" * 70_000 + b'"}', 413, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_body_that_is_none_is_refused(api, content, status, reason):
    answer = api.post(PLAYS, content=content, bad=True)

    assert answer.status == status
    assert reason is None or answer.body["errors"][0]["reason"] == reason


def test_a_key_that_is_none_is_refused(api):
    answer = api.post(LEADERS, json=LEADER, headers={"Idempotency-Key": "no key"}, bad=True)

    assert (answer.status, answer.body["errors"][0]["pointer"]) == (400, "Idempotency-Key")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([(PLAYS, PLAY), (TRICKS, TRICK), (LEADERS, LEADER), (BIDS, BID), (DRAWS, DRAW)]),
    st.data(),
)
def test_no_body_brings_the_service_down(api, asked_of, data):
    url, question = asked_of
    anything = st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.sampled_from(["N", "AS", "keep", ""]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["kind", "seat", "NS", "N"]), inner, max_size=3)
        ),
        max_leaves=5,
    )
    names = st.sampled_from([*question, "bids", "scores", "hand", "proposed", "bid", "card", "leader"])
    body = {**question, **data.draw(st.dictionaries(names, anything, max_size=3))}

    answer = api.post(url, content=json.dumps(body).encode(), bad=True)

    assert answer.status in (200, 400, 409, 422)
