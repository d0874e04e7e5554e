"""Records played again: what happened is valid, and the first thing that cannot have happened is named."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades import Bid, Card, Deal, Match, Ruleset, Seed, score_game
from spades.__main__ import main
from spades.legality import behind
from spades.notation import Action, ActionKind, CalledOff, Record, RecordedDeal, RecordedResult
from spades.replay import Breach, annotated, check_shuffles, replay
from spades.terms import terms

from .any_records import any_deals, any_records
from .playing import stacked
from .recording import PAGAT, finished, first_legal, random_game


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_every_game_that_was_played_is_valid_with_its_scores_and_result(number: int) -> None:
    record, match = random_game(random.Random(number))

    played = replay(record)

    assert played.breach is None
    assert played.scores == match.sheet.scores()
    assert played.deals == match.sheet.deals
    assert played.result == record.result
    assert all(check.passed for check in check_shuffles(record))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_what_happened_in_each_deal_scores_as_the_game_did(number: int) -> None:
    record, match = random_game(random.Random(number), deals=3)

    played = replay(record)

    answers, _ = score_game(record.ruleset, played.results)
    scores = [{side: score["score"] for side, score in answer["sides"].items()} for answer in answers]
    assert len(answers) == match.sheet.deals
    assert scores[-1:] == [match.sheet.scores()][: match.sheet.deals]


def test_the_bids_of_a_deal_in_progress_are_told_once_all_are_in() -> None:
    whole = finished()
    bids = [place for place, action in enumerate(whole.deals[0].actions, start=1) if action.kind is ActionKind.BID]

    told = [
        replay(whole._with_last(actions=whole.deals[0].actions[:most], score=None)).bids
        for most in (0, bids[-1] - 1, bids[-1], len(whole.deals[0].actions) - 1, len(whole.deals[0].actions))
    ]

    assert told == [None, None, dict.fromkeys("NESW", Bid.number(3)), dict.fromkeys("NESW", Bid.number(3)), None]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_a_card_that_the_rules_refuse_is_named_with_what_was_legal(number: int) -> None:
    rng = random.Random(number)
    record, _ = random_game(rng, deals=1)
    if not record.deals:
        return
    deal = record.deals[0]
    plays = [place for place, action in enumerate(deal.actions) if action.kind is ActionKind.PLAY]
    if not plays:
        return
    at = rng.choice(plays)
    before = replace(record, deals=(replace(deal, actions=deal.actions[:at], score=None),), result=None)
    legal = {body["card"] for body in _after(before).legal()}
    wrong = [card for card in terms(record.ruleset).pack.deck if card.code not in legal]
    card = rng.choice(wrong)
    actions = (*deal.actions[:at], Action.play(card), *deal.actions[at + 1 :])

    breach = replay(replace(record, deals=(replace(deal, actions=actions),))).breach

    assert breach is not None
    assert (breach.deal, breach.action, breach.kind) == (1, at + 1, "play")
    assert {body["card"] for body in breach.legal} == legal


@settings(max_examples=30, deadline=None)
@given(any_records())
def test_any_record_is_valid_or_has_a_breach_and_never_fails_otherwise(record: Record) -> None:
    played = replay(record)

    assert played.valid or played.breach is not None
    assert all(isinstance(check.passed, bool) for check in check_shuffles(record))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_a_game_with_one_thing_changed_is_played_up_to_it(number: int, data: st.DataObject) -> None:
    record, _ = random_game(random.Random(number), deals=1)
    if not record.deals or not record.deals[0].actions:
        return
    deal = record.deals[0]
    at = data.draw(st.integers(0, len(deal.actions) - 1))
    stranger = data.draw(any_deals(record.ruleset))
    changed = (*deal.actions[:at], *stranger.actions[:1], *deal.actions[at + data.draw(st.integers(0, 1)) :])
    try:
        bad = replace(deal, actions=changed)
    except ValueError:  # a draw in the middle of other actions
        return

    breach = replay(replace(record, deals=(bad,), result=None)).breach

    assert breach is None or breach.action is None or breach.action > at


def _after(record: Record) -> Deal:
    """The deal as it stands where a record stops, by the rules and not by the replay."""
    recorded = record.deals[0]
    deal = Deal.restore(
        record.ruleset,
        number=1,
        attempt=recorded.attempt,
        dealer=recorded.dealer,
        seed=Seed(bytes(32)),
        stock=recorded.stock or (),
        behind=behind(record.ruleset, {}),
    )
    for action in recorded.actions:
        seat = action.seat or deal.turn or ""
        match action.kind:
            case ActionKind.DRAW:
                assert action.decision is not None
                deal = deal.draw(seat, action.decision)
            case ActionKind.LOOK:
                deal = deal.look(seat)
            case ActionKind.PASS:
                deal = deal.pass_cards(seat, action.cards)
            case ActionKind.PLAY:
                deal = deal.play(seat, action.cards[0])
            case _:
                deal = deal.reconsider(seat) if action.bid is None else deal.bid(seat, action.bid, action.hint_max)
    return deal


def opened(hands: dict[str, str], rules: Ruleset = PAGAT, **values: Any) -> Record:
    """A record whose first deal has these cards in these hands, dealt by N and bid 3 by every seat."""
    deal = stacked(rules, hands, dealer="N")
    record = Record.of(rules).begin(deal)
    for seat in "ESWN":
        record = record.add(Action.place_bid(seat, Bid.number(3)))
    return record if not values else record._with_last(**values)


def played(record: Record, *codes: str) -> Record:
    for code in codes:
        record = record.add(Action.play(Card.parse(code)))
    return record


def breach_of(record: Record) -> tuple[Any, ...]:
    breach = replay(record).breach
    assert isinstance(breach, Breach)
    return breach.deal, breach.action, breach.kind, breach.seat, breach.reason


def test_not_following_suit_is_a_breach_with_the_cards_that_follow() -> None:
    record = played(opened({"E": "KH", "S": "4H 9H AS"}), "KH", "AS")

    breach = replay(record).breach

    assert breach is not None
    assert (breach.deal, breach.action, breach.kind, breach.seat) == (1, 6, "play", "S")
    assert breach.reason == "must_follow_suit"
    assert {"card": "4H"} in breach.legal
    assert {"card": "9H"} in breach.legal
    assert {"card": "AS"} not in breach.legal


def test_a_bid_out_of_turn_is_a_breach() -> None:
    deal = stacked(PAGAT, {}, dealer="N")
    record = Record.of(PAGAT).begin(deal).add(Action.place_bid("W", Bid.number(2)))

    assert breach_of(record) == (1, 1, "bid", "W", "not_your_turn")


def test_a_card_after_the_last_one_is_a_breach_of_nobody() -> None:
    record = finished().add(Action.play(Card.parse("2C")))

    assert breach_of(replace(record, deals=(replace(record.deals[0], score=None),)))[1:] == (
        57,
        "play",
        None,
        "wrong_phase",
    )


@pytest.mark.parametrize("field", ["delta", "score", "bags"])
def test_a_wrong_stated_score_is_a_breach(field: str) -> None:
    record = finished()
    score = dict(record.deals[0].score or {})
    score["EW"] = replace(score["EW"], **{field: getattr(score["EW"], field) + 1})

    assert breach_of(record.scored(score)) == (1, None, "score", None, "score_differs")


def test_a_score_of_a_deal_that_goes_on_is_a_breach() -> None:
    whole = finished().deals[0]
    record = Record.of(PAGAT)
    record = replace(record, deals=(replace(whole, actions=whole.actions[:-1]),))

    assert breach_of(record) == (1, None, "score", None, "deal_not_over")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"winners": ("NS", "EW")}, "result_differs"),
        ({"reason": "losing_score"}, "result_differs"),
        ({"scores": {"NS": 0, "EW": 0}}, "result_differs"),
        ({"seat": "N"}, "result_differs"),
    ],
)
def test_a_wrong_stated_result_is_a_breach(change: dict[str, Any], reason: str) -> None:
    record = first_legal(Ruleset.resolve({"preset": "pagat", "max_hands": 1}), 1)
    assert record.result is not None
    assert replay(record).result == record.result

    assert breach_of(record.ended(replace(record.result, **change)))[2:] == ("result", change.get("seat"), reason)


def test_a_result_of_a_game_that_goes_on_is_a_breach() -> None:
    scores = replay(finished()).scores

    assert breach_of(finished().ended(RecordedResult(("NS",), "target", scores)))[4] == "game_not_over"
    assert breach_of(finished().ended(RecordedResult(("NS",), "resignation", scores)))[4] == "result_differs"


@pytest.mark.parametrize("reason", ["resignation", "forfeit"])
def test_giving_up_makes_the_others_win(reason: str) -> None:
    scores = replay(finished()).scores
    result = RecordedResult(("EW",), reason, scores, "N")

    assert replay(finished().ended(result)).result == result


def test_deals_come_in_order_from_the_right_dealer_and_none_after_the_end() -> None:
    whole = first_legal(PAGAT, 2)
    one, two = whole.deals
    short = first_legal(Ruleset.resolve({"preset": "pagat", "max_hands": 1}), 1)

    assert replay(whole).valid
    for deals, reason in (
        ((replace(one, number=2),), "wrong_number"),
        ((one, replace(two, dealer=one.dealer)), "wrong_dealer"),
        ((one, one), "wrong_number"),
        ((replace(one, actions=one.actions[:-1], score=None), two), "deal_not_over"),
    ):
        assert breach_of(replace(whole, deals=deals))[2:] == ("deal", None, reason)
    assert breach_of(replace(short, deals=(*short.deals, two)))[4] == "game_over"


def test_a_set_deal_has_any_dealer() -> None:
    one, two = first_legal(PAGAT, 2).deals
    scripted = replace(two, dealer=one.dealer, scripted=True, actions=(), score=None)

    assert replay(replace(Record.of(PAGAT), deals=(one, scripted))).valid


def test_cards_that_are_not_the_pack_are_a_breach() -> None:
    deal = finished().deals[0]
    stock = list(deal.stock or ())

    def only(**values: Any) -> Record:
        return replace(Record.of(PAGAT), deals=(replace(deal, actions=(), score=None, **values),))

    assert breach_of(only(stock=tuple(stock[1:])))[2:] == ("deal", None, "wrong_pack")
    assert breach_of(only(stock=(stock[1], *stock[1:])))[2:] == ("deal", None, "wrong_pack")
    assert breach_of(only(stock=None, hands=dict.fromkeys("NESW", ())))[2:] == ("deal", None, "wrong_pack")


def test_hands_do_as_well_as_a_stock() -> None:
    record = finished()
    deal = record.deals[0]
    begun = Deal.restore(PAGAT, number=1, attempt=1, dealer=deal.dealer, seed=Seed(bytes(32)), stock=deal.stock or ())
    hands = {seat: begun.hand(seat) for seat in "NESW"}
    dealt = replace(record, deals=(replace(deal, stock=None, hands=hands),))

    assert replay(dealt) == replay(record)
    assert [check.passed for check in check_shuffles(dealt)] == [check.passed for check in check_shuffles(record)]
    assert Record.from_text(dealt.to_text()) == dealt


def test_a_look_that_nobody_recorded_is_taken_as_made() -> None:
    rules = Ruleset.resolve({"preset": "pagat", "blind_nil": "any"})
    record = opened({}, rules)

    assert replay(record).valid
    blind = replace(record, deals=(replace(record.deals[0], actions=()),))
    blind = blind.add(Action.look("E")).add(Action.place_bid("E", Bid.parse("blind_nil")))
    assert breach_of(blind) == (1, 2, "bid", "E", "hand_already_seen")
    high = replace(blind, deals=(replace(blind.deals[0], actions=()),)).add(Action.place_bid("E", Bid.number(14)))
    breach = replay(high).breach
    assert breach is not None
    assert {"kind": "number", "tricks": 13} in breach.legal


def test_mirrored_bids_may_be_stated_and_have_to_be_right() -> None:
    rules = Ruleset.resolve({"preset": "mirror"})
    deal = Deal.begin(rules, number=1, attempt=1, dealer="N", seed=Seed(bytes(32)))
    record = Record.of(rules).begin(deal)
    stated = record
    for seat, bid in deal.bids_by_seat().items():
        stated = stated.add(Action.place_bid(seat, bid))

    assert replay(record).valid
    assert replay(stated).valid
    assert breach_of(record.add(Action.place_bid("E", Bid.number(7)))) == (1, 1, "bid", "E", "bid_is_forced")


def test_a_redeal_is_recorded_only_where_the_table_has_it() -> None:
    deal = finished().deals[0]
    called = replace(deal, redeals=(CalledOff("E"),))
    allowed = Ruleset.resolve({"preset": "pagat", "redeal": "no_spades"})

    assert replay(replace(Record.of(allowed), deals=(called,))).valid
    assert breach_of(replace(Record.of(PAGAT), deals=(called,))) == (1, None, "redeal", "E", "redeal_not_allowed")


# Shuffles.


def wrong_checks(record: Record, **values: Any) -> list[str]:
    changed = replace(record, deals=(replace(record.deals[0], **values), *record.deals[1:]))
    return [check.what for check in check_shuffles(changed) if not check.passed]


def test_seeds_are_held_against_commitments_and_cards() -> None:
    rules = Ruleset.resolve({"preset": "pagat", "first_dealer": "cut_high"})
    seed = Seed(bytes(range(32)), (("E", "mine"),))
    match = Match.start(rules, seed)
    deal = match.begin_deal(seed).deal
    assert deal is not None
    record = replace(Record.of(rules).begin(deal, secrets=True), cut=match.cut)
    stock = record.deals[0].stock or ()

    assert [(check.what, check.passed) for check in check_shuffles(record)] == [
        ("commitment", True),
        ("shuffle", True),
        ("dealer", True),
        ("cut", True),
    ]
    assert wrong_checks(record, commitment="0" * 64) == ["commitment"]
    assert wrong_checks(record, stock=stock[::-1]) == ["shuffle"]
    assert wrong_checks(record, client_seeds=(("E", "yours"),))[:1] == ["shuffle"]
    assert wrong_checks(record, dealer=match.table.after(match.dealer)) == ["dealer"]
    assert wrong_checks(replace(record, cut=match.cut * 2)) == ["cut"]
    assert check_shuffles(replace(record, deals=(replace(record.deals[0], seed=None),))) == []


def test_the_draw_for_seats_is_held_against_the_seed_with_the_client_seeds_where_they_were() -> None:
    taken = (("N", "from Ann"), ("S", "from Sue"))
    drawn = Seed(bytes(32), taken).seating(("N", "E", "S", "W"))
    now = {drawn[seat]: text for seat, text in taken}
    seed = Seed(bytes(32), tuple((seat, now[seat]) for seat in "NESW" if seat in now))
    match = Match.start(PAGAT, seed).begin_deal(seed)
    assert match.deal is not None
    record = replace(Record.of(PAGAT).begin(match.deal, secrets=True), seating=drawn)

    assert all(check.passed for check in check_shuffles(record))
    other = dict(zip(drawn, [*list(drawn.values())[1:], drawn["N"]], strict=True))
    assert "seats" in [check.what for check in check_shuffles(replace(record, seating=other)) if not check.passed]


def test_a_set_deal_is_held_against_the_digest_of_how_it_lies() -> None:
    deal = stacked(PAGAT, {"N": "AS"}, dealer="E")
    text = f"E:{''.join(card.code for card in deal.stock)}"
    salt = bytes(range(32))
    promised = hashlib.sha256(salt + text.encode()).hexdigest()
    recorded = RecordedDeal(1, "E", deal.stock, commitment=promised, seed=salt.hex(), scripted=True)
    record = replace(Record.of(PAGAT), deals=(recorded,))

    assert [(check.what, check.passed) for check in check_shuffles(record)] == [("script", True)]
    assert wrong_checks(record, dealer="N") == ["script"]
    assert wrong_checks(record, seed=bytes(32).hex()) == ["script"]


# The command.


def run(tmp_path: Path, text: str) -> int:
    path = tmp_path / "record"
    path.write_text(text, encoding="utf-8")
    return main(["verify", str(path)])


def test_the_command_tells_what_it_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = first_legal(Ruleset.resolve({"preset": "pagat", "max_hands": 2}), 2)
    record = replace(record, deals=(replace(record.deals[0], seed=None), record.deals[1]))

    assert run(tmp_path, record.to_text()) == run(tmp_path, json.dumps(record.to_json())) == 0
    out = capsys.readouterr().out
    assert "2, 2 of them finished; 112 actions" in out
    assert "every action is allowed" in out
    assert "max_hands: " in out
    assert "2 of 2 checks passed; deals with a seed: 1" in out


def test_the_command_fails_on_a_breach_and_on_a_wrong_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    revoked = played(opened({"E": "KH", "S": "4H 9H AS"}), "KH", "AS")
    good = finished()
    swapped = replace(good, deals=(replace(good.deals[0], seed="11" * 32),))

    assert run(tmp_path, revoked.to_text()) == 1
    assert "deal 1, action 6, play by S: must_follow_suit" in capsys.readouterr().out
    assert run(tmp_path, swapped.to_text()) == 1
    assert "it is not so that the commitment is the SHA-256 of the seed" in capsys.readouterr().out


def test_the_command_refuses_what_is_no_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, "{}") == 2
    assert run(tmp_path, '[Spades 1]\n[Ruleset "pagat"]\n[players 9]\n') == 2
    assert main(["verify", str(tmp_path / "none")]) == 2
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert main(["verify", str(tmp_path / "bytes")]) == 2
    assert "/format: format is missing" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(finished().to_text().encode())))
    assert main(["verify", "-"]) == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("closed", "status"), [(">&-", 0), ("2>&-", 0), ("<&- -", 2), (">/dev/full", 2)])
def test_the_command_ends_well_where_a_stream_is_closed_or_full(
    tmp_path: Path, closed: str, status: int, unbuffered: str
) -> None:
    path = tmp_path / "record"
    path.write_text(finished().to_text(), encoding="utf-8")
    where = closed if "-" in closed.split() else f"{shlex.quote(str(path))} {closed}"

    ended = subprocess.run(
        ["sh", "-c", f"{shlex.quote(sys.executable)} -m spades verify {where}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )

    assert ended.returncode == status
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_the_command_shows_who_led_and_took_each_trick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = played(opened({"E": "KH", "S": "4H", "W": "5H", "N": "AH 2C"}), "KH", "4H", "5H", "AH", "2C")
    revoked = played(opened({"E": "KH", "S": "4H 9H AS"}), "KH", "AS")

    for each in (record, revoked):
        path = tmp_path / "record"
        path.write_text(json.dumps(each.to_json()), encoding="utf-8")
        assert main(["show", str(path)]) == 0
    shown = capsys.readouterr().out

    assert "1. KH 4H 5H AH ; E leads, N takes it\n2. 2C ; N leads\n" in shown
    assert "1. KH AS ; E leads\n; deal 1, action 6, play by S: must_follow_suit" in shown


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_shown_reads_back_as_the_same_record(number: int) -> None:
    record, _ = random_game(random.Random(number))

    assert Record.read(annotated(record)) == record
