"""What each seat and the public may know: of a state, and of what one step did.

Redaction happens here and nowhere else. `for_seat` and `for_public` are the state as one reader may see it; `parts`
are the events of one step, each with a public part and a part for the seats that may know more. All of it is made of
JSON values, ready to be sent.

Source: docs/rules.md#secrets
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from spades.cards import Card, codes_of
from spades.deal import Deal, Discard, Phase, discards_of
from spades.match import Match
from spades.ruleset import Ruleset
from spades.scoring import DealScore
from spades.seats import Table, table
from spades.sheet import ScoreSheet, answer
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
    return {"seats": _seats(seats, None), "sides": sides, "deal": None, "turn": None, "result": None}


def _state(match: Match, reader: str | None) -> dict[str, Any]:
    deal = match.deal
    return {
        "seats": _seats(match.table, deal),
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


def _seats(seats: Table, deal: Deal | None) -> list[dict[str, Any]]:
    rows = []
    for place, seat in enumerate(seats.seats):
        bid = deal.bids[place] if deal else None
        rows.append(
            {
                "seat": seat,
                "side": seats.side_of[seat],
                "card_count": deal.hands[place].bit_count() if deal else 0,
                "bid": bid.to_json() if bid else None,
                "proposal": None,
                "tricks": deal.taken[place] if deal else 0,
                "hand_seen": deal is not None,
            }
        )
    return rows


def _sides(seats: Table, sheet: ScoreSheet, deal: Deal | None) -> list[dict[str, Any]]:
    bids = deal.bids_by_seat() if deal else {}
    rows = []
    for side, standing in sheet.sides.items():
        partners = seats.seats_of(side)
        complete = all(seat in bids for seat in partners)
        contract = sum(bids[seat].tricks for seat in partners) if complete else None
        rows.append({"side": side, "score": standing.score, "bags": standing.bags, "contract_tricks": contract})
    return rows


def _deal(deal: Deal, reader: str | None) -> dict[str, Any]:
    drawing = deal.ruleset.deal_method == "draw"
    return {
        "number": deal.number,
        "attempt": deal.attempt,
        "dealer": deal.dealer,
        "phase": deal.phase.value,
        "hand": codes_of(deal.hands[deal.table.index(reader)]) if reader else None,
        "hand_seen": reader is not None,
        "given": [],
        "received": [],
        "draw": _draw(deal, reader) if drawing else None,
        "trick": _trick(deal.trick),
        "last_trick": _trick(deal.last_trick),
        "spades_broken": deal.spades_broken,
        "redeal_available": False,
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
    seat = match.turn
    if seat is None or match.deal is None:
        return None
    return {
        "seats": [seat],
        "seat": seat,
        "action": match.deal.action,
        "deadline": None,
        "legal": match.deal.legal() if reader == seat else [],
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
    if before.deal is None or before.deal.number != after.deal.number:
        return [_deal_started(after.deal, next_commitment)]
    events = _moves(before.deal, after.deal)
    if after.score is not None and before.score is None:
        events.append(_scored(after, after.deal, after.score))
        events.append(_revealed(after.deal))
    return events + _ending(before, after)


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
    """The draw, the bid or the card that took `before` to `after`."""
    seat, number = before.turn, after.number
    if seat is None:
        return []
    if len(after.draws) > len(before.draws):
        return [_card_drawn(before, after, seat)]
    if after.bids != before.bids:
        bid = after.bids[after.table.index(seat)]
        return [Part("bid_placed", seat, number, {"bid": bid.to_json() if bid else None})]
    if len(after.plays) > len(before.plays):
        data = {
            "card": after.plays[-1].code,
            "trick_number": before.trick_number,
            "breaks_spades": after.spades_broken and not before.spades_broken,
        }
        played = Part("card_played", seat, number, data)
        return [played] if after.trick_cards else [played, _trick_taken(after)]
    return []


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
    """All that a finished deal hid, for everybody: the hands as they were built, and how to shuffle it again."""
    seats = deal.table
    drawn = dict.fromkeys(seats.seats, 0)
    for turn, discard in enumerate(deal.discards):
        drawn[discard.seat] |= deal.kept(turn).bit
    data = {
        "hands": {seat: codes_of(mask) for seat, mask in drawn.items()},
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
