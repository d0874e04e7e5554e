"""Which draws, bids and cards are allowed, and the reason when not.

Each rule is asked two ways from one list of duties, so the two answers cannot differ: `legal_cards` is what every duty
lets through, `card_refusal` is the first duty that a card breaks. The order of the duties is the order of the reasons
in docs/rules.md#reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from spades.bids import Bid, BidKind
from spades.cards import Card, Pack, Suit
from spades.errors import Reason, Rule, RuleViolation
from spades.ruleset import Ruleset

__all__ = ["DrawDecision", "bid_refusal", "card_refusal", "draw_refusal", "legal_bids", "legal_cards"]

_SUIT_NAMES = {Suit.CLUBS: "club", Suit.DIAMONDS: "diamond", Suit.HEARTS: "heart", Suit.SPADES: "spade"}


class DrawDecision(StrEnum):
    """What a seat may ask for in the draw phase.

    Only the first two are ever allowed; the others name the usual misunderstandings, each refused with a reason of its
    own.

    Source: docs/rules.md#draw
    """

    KEEP = "keep"
    DECLINE = "decline"
    KEEP_BOTH = "keep_both"
    DECLINE_SECOND = "decline_second"
    TAKE_DISCARD = "take_discard"
    PEEK_SECOND = "peek_second"


_DRAW_REFUSALS = {
    DrawDecision.KEEP_BOTH: (Reason.ONE_CARD_PER_TURN, "A turn adds one card to your hand, never both."),
    DrawDecision.DECLINE_SECOND: (
        Reason.SECOND_CARD_IS_FORCED,
        "Having declined the first card you must keep the second.",
    ),
    DrawDecision.TAKE_DISCARD: (Reason.DISCARD_PILE_CLOSED, "No card may be drawn from the discard pile."),
    DrawDecision.PEEK_SECOND: (Reason.DECIDE_FIRST, "Decide about the first card before the second is seen."),
}


def draw_refusal(decision: DrawDecision) -> RuleViolation | None:
    """Why a seat on turn in the draw phase may not decide so; None when it may."""
    if decision in _DRAW_REFUSALS:
        reason, detail = _DRAW_REFUSALS[decision]
        return RuleViolation(reason, detail, Rule("deal_method", "draw", "draw"))
    return None


def legal_bids(ruleset: Ruleset) -> list[Bid]:
    """The bids a seat on turn may make, in order: nil, then numbers rising.

    Source: docs/rules.md#bids
    """
    nil_is_zero = ruleset.zero_bid == "nil"
    bids = [Bid.nil()] if nil_is_zero and ruleset.nil_success is not None else []
    lowest = max(ruleset.min_bid or 0, int(nil_is_zero))
    return bids + [Bid.number(tricks) for tricks in range(lowest, (ruleset.max_bid or 0) + 1)]


def bid_refusal(ruleset: Ruleset, bid: Bid) -> RuleViolation | None:
    """Why a seat on turn may not bid so; None when it may."""
    if bid in legal_bids(ruleset):
        return None
    if bid.kind is BidKind.NIL:
        return RuleViolation(
            Reason.NIL_NOT_OFFERED, "Nil is not offered at this table.", Rule("zero_bid", ruleset.zero_bid, "nil")
        )
    if bid.kind in (BidKind.BLIND_NIL, BidKind.BLIND):
        return RuleViolation(
            Reason.BLIND_NIL_NOT_ALLOWED,
            "No blind bid is open to you at this table.",
            Rule("blind_nil", ruleset.blind_nil, "blind"),
        )
    if bid.tricks == 0 and ruleset.zero_bid == "nil":
        detail = "A promise of no trick is the bid nil here, not the number 0."
        return RuleViolation(Reason.BID_OUT_OF_RANGE, detail, Rule("zero_bid", ruleset.zero_bid, "nil"))
    low = bid.tricks < (ruleset.min_bid or 0)
    option, value = ("min_bid", ruleset.min_bid) if low else ("max_bid", ruleset.max_bid)
    detail = f"A number bid is {ruleset.min_bid} to {ruleset.max_bid} here, not {bid.tricks}."
    return RuleViolation(Reason.BID_OUT_OF_RANGE, detail, Rule(option, value, "bids"))


def _duties(
    ruleset: Ruleset, pack: Pack, hand: int, trick: Sequence[Card], trick_number: int, broken: bool
) -> Iterator[tuple[int, RuleViolation]]:
    """Each duty in force: the cards of the hand that keep it, and how a breach is answered."""
    if trick:
        led = pack.suits[trick[0].index]
        following = hand & pack.suit_masks[led]
        if following:
            name = _SUIT_NAMES[led]
            detail = f"You hold {name}s and must follow the {name} lead."
            yield following, RuleViolation(Reason.MUST_FOLLOW_SUIT, detail)
        return
    others = hand & ~pack.spades
    if not others:  # a hand of spades only may lead one, at any trick
        return
    if trick_number == 1 and ruleset.first_lead == "no_spade":
        detail = "The first trick is not led with a spade while you hold another suit."
        yield others, RuleViolation(Reason.FIRST_LEAD_SPADE, detail, Rule("first_lead", ruleset.first_lead, "leading"))
    if not broken and ruleset.spade_lead == "when_broken":
        detail = "Spades are not broken, and you hold another suit to lead."
        yield others, RuleViolation(Reason.SPADES_NOT_BROKEN, detail, Rule("spade_lead", ruleset.spade_lead, "leading"))


def legal_cards(
    ruleset: Ruleset, pack: Pack, hand: int, trick: Sequence[Card], *, trick_number: int, spades_broken: bool
) -> int:
    """The cards that a seat on turn may play.

    Args:
        hand: the seat's cards as a mask.
        trick: the cards of the current trick in order of play; empty when the seat leads.
        trick_number: from 1.
        spades_broken: whether spades were broken before this card.

    Returns:
        A mask, never empty while the hand is not.

    Source: docs/rules.md#leading and docs/rules.md#following
    """
    legal = hand
    for keeping, _ in _duties(ruleset, pack, hand, trick, trick_number, spades_broken):
        legal &= keeping
    return legal


def card_refusal(
    ruleset: Ruleset,
    pack: Pack,
    hand: int,
    card: Card,
    trick: Sequence[Card],
    *,
    trick_number: int,
    spades_broken: bool,
) -> RuleViolation | None:
    """Why a seat on turn may not play `card`; None when it may. Arguments as in `legal_cards`."""
    if not hand & card.bit:
        return RuleViolation(Reason.NOT_IN_HAND, f"{card} is not in your hand.")
    for keeping, violation in _duties(ruleset, pack, hand, trick, trick_number, spades_broken):
        if not keeping & card.bit:
            return violation
    return None
