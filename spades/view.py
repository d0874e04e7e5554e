"""What each seat and the public may know: of a state, and of what one step did.

Redaction happens here and nowhere else. `for_seat` and `for_public` are the state as one reader may see it; `parts`
are the events of one step, each with a public part and a part for the seats that may know more. All of it is made of
JSON values, ready to be sent.

Source: docs/rules.md#secrets
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from spades.cards import Card, codes_of
from spades.deal import Deal, Discard, Exchange, Phase, discards_of
from spades.match import Match
from spades.ruleset import Ruleset
from spades.scoring import DealScore
from spades.seats import Table, table
from spades.sheet import ScoreSheet, answer
from spades.terms import terms
from spades.tricks import Trick

__all__ = ["Part", "before_start", "for_public", "for_seat", "parts", "result"]


@dataclass(frozen=True, slots=True)
class Part:
    """One event of a step: what everybody may know, and what a seat may know besides (its keys replace public ones)."""

    type: str
    seat: str | None
    deal_number: int | None
    public: dict[str, Any]
    own: dict[str, dict[str, Any]] = field(default_factory=dict)


def for_public(match: Match) -> dict[str, Any]:
    """The state as a watcher may see it: keys `seats`, `sides`, `deal`, `turn`, `result`."""
    return _state(match, None)


def for_seat(match: Match, seat: str) -> dict[str, Any]:
    """The state as the player at `seat` may see it; the same keys as `for_public`."""
    return _state(match, seat)


def before_start(ruleset: Ruleset) -> dict[str, Any]:
    """The state of a table that waits for its players; the same keys as `for_public`."""
    seats = table(ruleset.players, ruleset.teams)
    sides = _sides(seats, ScoreSheet.start(ruleset), None)
    return {"seats": _seats(seats, None, None), "sides": sides, "deal": None, "turn": None, "result": None}


def _state(match: Match, reader: str | None) -> dict[str, Any]:
    deal = match.deal
    return {
        "seats": _seats(match.table, deal, reader),
        "sides": _sides(match.table, match.sheet, deal),
        "deal": None if deal is None else _deal(deal, reader),
        "turn": _turn(match, reader),
        "result": result(match),
    }


def result(match: Match) -> dict[str, Any] | None:
    """How the match ended; None while it runs."""
    if match.ending is None:
        return None
    return {
        "winners": list(match.ending.winners),
        "reason": match.ending.reason,
        "scores": match.sheet.scores(),
    }


def _seats(seats: Table, deal: Deal | None, reader: str | None) -> list[dict[str, Any]]:
    rows = []
    for place, seat in enumerate(seats.seats):
        bid, proposal = _bids(deal, place, own=seat == reader) if deal else (None, None)
        rows.append(
            {
                "seat": seat,
                "side": seats.side_of[seat],
                "card_count": deal.hands[place].bit_count() if deal else 0,
                "bid": bid,
                "proposal": proposal,
                "tricks": deal.taken[place] if deal else 0,
                "hand_seen": deal is not None and deal.has_seen(place),
            }
        )
    return rows


def _bids(deal: Deal, place: int, *, own: bool) -> tuple[dict[str, Any] | str | None, dict[str, Any] | None]:
    """The bid of a place as a reader knows it; and its proposal, while partners are still to close the contract.

    A sealed bid is hidden from everybody but the seat itself, as `bid_sealed` tells it to that seat alone.
    """
    bid = deal.bids[place]
    if bid is None:
        return None, None
    if deal.is_proposal(place):
        return None, {**bid.to_json(), "hint_max": deal.hints[place]}
    return "hidden" if deal.is_sealed(place) and not own else bid.to_json(), None


def _sides(seats: Table, sheet: ScoreSheet, deal: Deal | None) -> list[dict[str, Any]]:
    rows = []
    for side, standing in sheet.sides.items():
        bids = [deal.public_bid(place) if deal else None for place in seats.places_of[side]]
        contract = None if None in bids else sum(bid.tricks for bid in bids if bid is not None)
        rows.append({"side": side, "score": standing.score, "bags": standing.bags, "contract_tricks": contract})
    return rows


def _deal(deal: Deal, reader: str | None) -> dict[str, Any]:
    place = None if reader is None else deal.table.index(reader)
    seen = place is not None and deal.has_seen(place)
    return {
        "number": deal.number,
        "attempt": deal.attempt,
        "dealer": deal.dealer,
        "phase": deal.phase.value,
        "hand": codes_of(deal.hands[place]) if place is not None and seen else None,
        "hand_seen": seen,
        "given": [] if place is None else [card.code for card in deal.given(place)],
        "received": [] if place is None else [card.code for card in deal.received(place)],
        "draw": _draw(deal, reader) if deal.draw_turns else None,
        "trick": _trick(deal.trick),
        "last_trick": _trick(deal.last_trick),
        "spades_broken": deal.spades_broken,
        "redeal_available": reader is not None and deal.may_call_redeal(reader),
    }


def _draw(deal: Deal, reader: str | None) -> dict[str, Any]:
    looked_at = deal.looked_at if reader is not None and reader == deal.turn else None
    return {
        "stock_count": deal.stock_count,
        "looked_at": looked_at.code if looked_at else None,
        "discards": [dict(discard) for discard in _discards(deal.draws, deal.dealer, deal.stock, deal.ruleset, reader)],
    }


@lru_cache(maxsize=1024)
def _discards(
    draws: str, dealer: str, stock: tuple[Card, ...], ruleset: Ruleset, reader: str | None
) -> tuple[dict[str, Any], ...]:
    """The pile as one reader may see it. It is shown in every view of a deal and grows only while cards are drawn."""
    return tuple(discard_json(discard, reader) for discard in discards_of(ruleset, dealer, stock, draws))


def discard_json(discard: Discard, reader: str | None) -> dict[str, Any]:
    """A discard as one reader may see it."""
    shown = discard.face == "up" or reader in discard.visible_to
    return {
        "number": discard.number,
        "seat": discard.seat,
        "decision": discard.decision,
        "face": discard.face,
        "card": discard.card.code if shown else None,
        "visible_to": list(discard.visible_to),
    }


def _trick(trick: Trick | None) -> dict[str, Any] | None:
    if trick is None:
        return None
    return {
        "number": trick.number,
        "leader": trick.leader,
        "cards": [{"seat": seat, "card": card.code} for seat, card in trick.cards],
        "winner": trick.winner,
    }


def _turn(match: Match, reader: str | None) -> dict[str, Any] | None:
    seats = match.turns
    if not seats or match.deal is None:
        return None
    return {
        "seats": list(seats),
        "seat": seats[0] if len(seats) == 1 else None,
        "action": match.deal.action if reader is None else match.deal.action_of(reader),
        "deadline": None,
        "legal": match.deal.legal(reader) if reader in seats else [],
    }


# What a step did.


def parts(before: Match | None, after: Match, *, next_commitment: str | None = None) -> list[Part]:
    """The events of one step, in order.

    Args:
        before: the match before the step; None for the step that started it.
        after: the match after the step.
        next_commitment: for a step that began a deal, the commitment of the deal after that one.
    """
    if before is None:
        return [_dealer_cut(after)]
    if after.deal is None:
        return _ending(before, after)
    if before.deal is None or _which(before.deal) != _which(after.deal):
        events = [_deal_started(after.deal, next_commitment), *_bids_made(None, after.deal)]
        return _showing_hands(events, None, after.deal)
    if after.redeal is not None and before.redeal is None:
        return [Part("redeal_called", after.redeal, after.deal.number, {"attempt": after.deal.attempt})]
    events = _showing_hands(_moves(before.deal, after.deal), before.deal, after.deal)
    if after.score is not None and before.score is None:
        events.append(_scored(after, after.deal, after.score))
        events.append(_revealed(after.deal))
    return events + _ending(before, after)


def _which(deal: Deal) -> tuple[int, int]:
    return deal.number, deal.attempt


def _showing_hands(events: list[Part], before: Deal | None, after: Deal) -> list[Part]:
    """The events, the first with its whole hand for each seat that sees it from this step on."""
    shown = {
        seat: codes_of(after.hands[place])
        for place, seat in enumerate(after.table.seats)
        if after.hands[place] and after.has_seen(place) and (before is None or not before.has_seen(place))
    }
    if not shown:
        return events
    first = events[0]
    own = {seat: {**first.own.get(seat, {}), "hand": hand} for seat, hand in shown.items()}
    return [replace(first, own={**first.own, **own}), *events[1:]]


def _dealer_cut(match: Match) -> Part:
    rounds = [[{"seat": seat, "card": card.code} for seat, card in drawn] for drawn in match.cut]
    return Part("dealer_cut", match.dealer, None, {"rounds": rounds, "dealer": match.dealer})


def _deal_started(deal: Deal, next_commitment: str | None) -> Part:
    data = {
        "deal_number": deal.number,
        "attempt": deal.attempt,
        "dealer": deal.dealer,
        "commitment": deal.seed.commitment,
        "next_commitment": next_commitment,
    }
    return Part("deal_started", None, deal.number, data)


def _moves(before: Deal, after: Deal) -> list[Part]:
    """What took `before` to `after`: a draw, a look, cards given, a bid or a card played."""
    seats, number = after.table.seats, after.number
    if len(after.plays) > len(before.plays):
        data = {
            "card": after.plays[-1].code,
            "trick_number": before.trick_number,
            "breaks_spades": after.spades_broken and not before.spades_broken,
        }
        played = Part("card_played", before.turn, number, data)
        return [played] if after.trick_cards else [played, _trick_taken(after)]
    if len(after.draws) > len(before.draws):
        return [_card_drawn(before, after, before.turn or after.dealer), *_bids_made(before, after)]
    if after.looks != before.looks:
        return [Part("hand_looked_at", seats[(after.looks ^ before.looks).bit_length() - 1], number, {})]
    if after.passes != before.passes:
        return [*_passed(before, after), *_bids_made(before, after)]
    if after.gives != before.gives:
        return _given(before, after)
    if after.reconsidered != before.reconsidered:
        seat = seats[(after.reconsidered ^ before.reconsidered).bit_length() - 1]
        return [Part("bid_proposed", seat, number, {"bid": {"kind": "reconsider"}, "hint_max": None})]
    return _bids_made(before, after)


def _bids_made(before: Deal | None, after: Deal) -> list[Part]:
    """The bids of a step: one that is sealed or proposed, and all that the table knows from now on."""
    seats, earlier = after.table.seats, (None,) * len(after.bids) if before is None else before.bids
    facts, events = terms(after.ruleset), []
    for place, bid in enumerate(after.bids):
        if bid is None or bid == earlier[place]:
            continue
        if facts.sealed:
            own = {seats[place]: {"bid": bid.to_json()}}
            events.append(Part("bid_sealed", seats[place], after.number, {}, own))
        elif after.is_proposal(place):
            data = {"bid": bid.to_json(), "hint_max": after.hints[place]}
            events.append(Part("bid_proposed", seats[place], after.number, data))
    for place in facts.bid_order(after.dealer_place):
        bid = after.public_bid(place)
        if bid is not None and (before is None or before.public_bid(place) is None):
            events.append(Part("bid_placed", seats[place], after.number, {"bid": bid.to_json()}))
    return events


def _passed(before: Deal, after: Deal) -> list[Part]:
    """Cards laid down to be passed, and once all have done so, all that were passed."""
    (place,) = (place for place, cards in enumerate(after.passes) if cards != before.passes[place])
    events = [_sealed_cards(after, "pass", place, after.passes[place])]
    return events + _all_passed(after) if after.all_passed else events


def _all_passed(deal: Deal) -> list[Part]:
    step, players = terms(deal.ruleset).pass_step(deal.number), deal.ruleset.players
    return [
        _cards_passed(deal, "pass", place, (place + step) % players, cards)
        for place, cards in enumerate(deal.passes)
        if cards
    ]


def _given(before: Deal, after: Deal) -> list[Part]:
    """Cards given in an exchange; laid down first where both partners choose without knowing the other's."""
    (place,) = (place for place, cards in enumerate(after.gives) if cards != before.gives[place])
    exchange = before.exchange
    if exchange is None:
        raise ValueError("cards are given in an exchange")
    bidder, partner = exchange.places
    if not terms(after.ruleset).blind_exchange:
        taker = partner if place == bidder else bidder
        return [_cards_passed(after, "exchange", place, taker, after.gives[place])]
    events = [_sealed_cards(after, "exchange", place, after.gives[place])]
    return events + _exchanged(after, exchange) if after.gives[bidder] and after.gives[partner] else events


def _exchanged(deal: Deal, exchange: Exchange) -> list[Part]:
    bidder, partner = exchange.places
    return [
        _cards_passed(deal, "exchange", bidder, partner, deal.gives[bidder]),
        _cards_passed(deal, "exchange", partner, bidder, deal.gives[partner]),
    ]


def _sealed_cards(deal: Deal, kind: str, place: int, cards: int) -> Part:
    seat = deal.table.seats[place]
    own = {seat: {"cards": codes_of(cards)}}
    return Part("pass_sealed", seat, deal.number, {"kind": kind, "count": cards.bit_count()}, own)


def _cards_passed(deal: Deal, kind: str, giver: int, taker: int, cards: int) -> Part:
    """Cards that went from one seat to another, which both of them know."""
    seats = deal.table.seats
    data = {"kind": kind, "from": seats[giver], "to": seats[taker], "count": cards.bit_count(), "cards": None}
    own = {seats[place]: {"cards": codes_of(cards)} for place in (giver, taker)}
    return Part("cards_passed", seats[giver], deal.number, data, own)


def _card_drawn(before: Deal, after: Deal, seat: str) -> Part:
    discard = after.discards[-1]

    def data(reader: str | None) -> dict[str, Any]:
        shown = discard_json(discard, reader)
        return {"card": shown["card"], "face": shown["face"]}

    public = {"decision": discard.decision.value, "discarded": data(None), "stock_count": after.stock_count}
    own = {"kept": after.kept(len(before.draws)).code, "discarded": data(seat)}
    return Part("card_drawn", seat, after.number, public, {seat: own})


def _trick_taken(deal: Deal) -> Part:
    trick = _trick(deal.last_trick) or {}
    data = {
        "trick_number": trick["number"],
        "winner": trick["winner"],
        "cards": trick["cards"],
        "tricks": deal.tricks_by_seat(),
    }
    return Part("trick_taken", trick["winner"], deal.number, data)


def _scored(match: Match, deal: Deal, score: DealScore) -> Part:
    data = {
        "bids": {seat: bid.to_json() for seat, bid in deal.bids_by_seat().items()},
        "tricks": deal.tricks_by_seat(),
        **answer(score, match.ending),
    }
    return Part("deal_scored", None, deal.number, data)


def _revealed(deal: Deal) -> Part:
    """All that a finished deal hid, for everybody: the hands as they were dealt or built, what was passed, the seed."""
    passed = _all_passed(deal) if deal.all_passed else []
    for exchange in deal.exchanges:
        passed += [part for part in _exchanged(deal, exchange) if part.public["count"]]
    data = {
        "hands": {seat: codes_of(mask) for seat, mask in zip(deal.table.seats, deal.first_hands(), strict=True)},
        "passed": [{**part.public, **part.own[part.seat or ""]} for part in passed],
        "discards": [discard.card.code for discard in deal.discards],
        "stock": [card.code for card in deal.stock],
        "seed": deal.seed.server.hex(),
        "client_seeds": [{"seat": seat, "seed": text} for seat, text in deal.seed.clients],
    }
    return Part("deal_revealed", None, deal.number, data)


def _ending(before: Match, after: Match) -> list[Part]:
    if after.ending is None or before.ending is not None:
        return []
    unfinished = after.deal is not None and after.deal.phase is not Phase.FINISHED
    revealed = [_revealed(after.deal)] if after.deal is not None and unfinished else []
    number = after.deal.number if after.deal else None
    kind = "game_aborted" if after.ending.reason == "aborted" else "game_finished"
    return [*revealed, Part(kind, after.ending.seat, number, result(after) or {})]
