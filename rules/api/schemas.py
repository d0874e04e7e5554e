"""JSON Schemas of what the rules app answers, by component name. Imports no Django, since the settings read it."""

from __future__ import annotations

from contract.shapes import CARD, SEAT, Schema, by, count, flag, list_, object_, or_null, ref, text
from spades.deal import Phase
from spades.errors import Reason

__all__ = ["COMPONENTS"]

CARD_REASONS = (
    Reason.NOT_YOUR_TURN,
    Reason.NOT_IN_HAND,
    Reason.MUST_FOLLOW_SUIT,
    Reason.FIRST_LEAD_SPADE,
    Reason.SPADES_NOT_BROKEN,
    Reason.MUST_LEAD_LOWEST_CLUB,
    Reason.MUST_PLAY_LOWEST_CLUB,
    Reason.FIRST_TRICK_SPADE,
    Reason.MUST_TRUMP,
)
BID_REASONS = (
    Reason.WRONG_PHASE,
    Reason.ALREADY_BID,
    Reason.LOOK_FIRST,
    Reason.BID_OUT_OF_RANGE,
    Reason.NIL_NOT_OFFERED,
    Reason.BLIND_NIL_NOT_ALLOWED,
    Reason.BLIND_NOT_BEHIND,
    Reason.HAND_ALREADY_SEEN,
    Reason.BLIND_SIDE_INCOMPLETE,
    Reason.TEAM_MINIMUM,
    Reason.TEAM_MAXIMUM,
    Reason.TOTAL_EQUALS_TRICKS,
    Reason.SUICIDE_NEEDS_NIL,
    Reason.SUICIDE_NEEDS_NUMBER,
    Reason.BID_IS_FORCED,
)
DRAW_REASONS = (
    Reason.NOT_YOUR_TURN,
    Reason.WRONG_PHASE,
    Reason.DISCARD_PILE_CLOSED,
    Reason.SECOND_CARD_IS_FORCED,
    Reason.ONE_CARD_PER_TURN,
    Reason.DECIDE_FIRST,
)


def _ruling(description: str, what: str, reasons: tuple[Reason, ...], **properties: Schema) -> Schema:
    """An answer that also rules on one thing, if the question named it."""
    answer = object_(description, **properties)
    answer["properties"] |= {
        "allowed": flag(f"Only if you named a {what}: whether it is allowed."),
        "reason": text("Why it is not.", *reasons),
        "detail": text("The same for people, in a sentence."),
        "rule": ref("DecidingRule"),
    }
    return answer


COMPONENTS: dict[str, Schema] = {
    "PlayRuling": _ruling(
        "Which cards may be played.",
        "card",
        CARD_REASONS,
        legal=list_(CARD, "In order: suits C D H S, ranks rising."),
        refused=by(text("", *CARD_REASONS), CARD["pattern"], "Every other card of the hand, with the reason."),
    ),
    "TrickRuling": object_(
        "Who won a trick.",
        winner=SEAT,
        led_suit=text("A high trump that is led leads spades.", "C", "D", "H", "S"),
        spades_broken_after=flag("Whether spades are broken after this trick."),
        why=text("In a sentence."),
    ),
    "LeaderRuling": object_("Who leads.", leader=SEAT, why=text("In a sentence.")),
    "BidRuling": _ruling(
        "Which bids may be made.",
        "bid",
        BID_REASONS,
        legal=list_(ref("Bid"), "In order: nil, plain zero, numbers rising, blind bids; none where nothing is open."),
    ),
    "DrawRuling": _ruling(
        "Where a draw stands.",
        "decision",
        DRAW_REASONS,
        hands=by(list_(CARD), SEAT["pattern"], "By seat, the cards kept so far, in the order in which they were."),
        discards=list_(
            object_(
                "A card on the discard pile.",
                card=CARD,
                face=text("How it lies.", "up", "down"),
                visible_to=list_(SEAT, "The seats that have seen it."),
            ),
            "The first one thrown comes first.",
        ),
        next_turn=or_null(SEAT, "Who looks at the next card; null when the stock is used up."),
        first_bidder=or_null(SEAT, "Who bids first, once the stock is used up; null before, and where nobody bids."),
        stock_left=count("Cards left in the stock."),
        phase=text("The phase that the deal is in.", *Phase),
        cards_seen=by(count(), SEAT["pattern"], "By seat, how many cards it has seen: those kept and discards."),
    ),
}
