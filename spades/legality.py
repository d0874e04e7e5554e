"""Which draws, passes, bids and cards are allowed, and the reason when not.

Each rule is asked two ways from one list, so the two answers cannot differ: what is legal is what every rule lets
through, and a refusal is the first rule that is broken. The order of the rules is the order of the reasons in
docs/rules.md#reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from spades.bids import Bid, BidKind
from spades.cards import Card, Pack, Suit, cards_of
from spades.errors import Reason, Rule, RuleViolation
from spades.limits import can_close
from spades.ruleset import BidMode, BlindNil, FirstLead, FirstTrickSpades, Redeal, Ruleset, SpadeLead
from spades.terms import Terms, terms

__all__ = [
    "Bidder",
    "DrawDecision",
    "behind",
    "bid_refusal",
    "card_refusal",
    "draw_refusal",
    "forced_bid",
    "legal_bids",
    "legal_cards",
    "may_call_redeal",
    "pass_refusal",
    "seat_bid_refusal",
]

_SUIT_NAMES = {Suit.CLUBS: "club", Suit.DIAMONDS: "diamond", Suit.HEARTS: "heart", Suit.SPADES: "spade"}


# --- Drawing --------------------------------------------------------------------------------------------------------


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


# --- Asking for another deal, and passing ---------------------------------------------------------------------------

_FACES = sum(card.bit for card in (Card.parse(rank + suit) for rank in "JQK" for suit in "CDHS"))
_FACES |= sum(card.twin.bit for card in cards_of(_FACES))


def may_call_redeal(ruleset: Ruleset, hand: int) -> bool:
    """Whether these cards are a hand that may ask for a new deal, the moment apart.

    Faces are jacks, queens and kings. Source: docs/rules.md#redeal
    """
    barred = terms(ruleset).pack.spades
    if ruleset.redeal is Redeal.NO_SPADES_NO_FACES:
        barred |= _FACES
    return ruleset.redeal is not Redeal.NONE and not hand & barred


def pass_refusal(hand: int, cards: Sequence[Card], count: int, rule: Rule) -> RuleViolation | None:
    """Why a seat may not give these cards away, each of them one card of the table; None when it may.

    Args:
        count: how many are given.
        rule: what says so.

    Source: docs/rules.md#passing and docs/rules.md#exchange
    """
    for card in cards:
        if not hand & card.bit:
            return RuleViolation(Reason.NOT_IN_HAND, f"{card} is not in your hand, or not so often.")
        hand &= ~card.bit
    if len(cards) != count:
        exactly = "1 card is" if count == 1 else f"{count} cards are"
        return RuleViolation(Reason.PASS_COUNT_WRONG, f"Exactly {exactly} given, not {len(cards)}.", rule)
    return None


# --- Bidding --------------------------------------------------------------------------------------------------------


def bid_refusal(ruleset: Ruleset, bid: Bid, *, behind: bool = True) -> RuleViolation | None:
    """Why no seat at such a table could ever bid so; None when one could, with some hand and some other bids.

    Args:
        behind: whether its side may bid a blind nil by the score.
    """
    facts = terms(ruleset)
    if bid not in facts.offered:
        return _bid_violation(facts, bid, _not_offered(bid))
    if bid.kind is BidKind.BLIND_NIL and not behind:
        return _bid_violation(facts, bid, Reason.BLIND_NOT_BEHIND)
    return None


def behind(ruleset: Ruleset, scores: Mapping[str, int]) -> int:
    """The places, as a mask, whose side may bid a blind nil by the score, where one is offered.

    Args:
        scores: points of each side before the deal; a side left out has none.

    Source: docs/rules.md#blind
    """
    facts = terms(ruleset)
    if not facts.blind_nil:
        return 0
    if ruleset.blind_nil is BlindNil.ANY:
        return (1 << ruleset.players) - 1
    mask = 0
    for place, seat in enumerate(facts.table.seats):
        own = facts.table.side_of[seat]
        best = max(scores.get(side, 0) for side in facts.table.sides if side != own)
        if scores.get(own, 0) <= best - ruleset.blind_nil_deficit:
            mask |= 1 << place
    return mask


class Bidder(NamedTuple):
    """A seat that is to bid, and all that its bid depends on."""

    place: int
    bids: tuple[Bid | None, ...]
    """By place, what stands: bids, sealed ones too, and proposals."""
    order: tuple[int, ...]
    """The places in the order in which they bid."""
    spades: int | None = None
    """How many spades the seat holds; None when that is not known, or not for its bid to depend on."""
    seen: bool = True
    """Whether the seat has seen its hand."""
    looked: int = 0
    """The places that looked at their hands before they bid, as a mask."""
    behind: int = 0
    """The places whose side may bid a blind nil by the score, as a mask."""
    early: bool = False
    """Whether blind bids are still made out of turn, so that it is open who will bid last."""


def legal_bids(ruleset: Ruleset, bidder: Bidder) -> tuple[Bid, ...]:
    """The bids that a seat on turn may make, in order: nil, plain zero, numbers rising, blind bids.

    Without its hand seen a seat may only bid blind, and where that is not open to it there is nothing. There is a bid
    for every seat that has seen its hand: a partner that bids earlier may not bid what would leave none.

    Source: docs/rules.md#bids, docs/rules.md#order
    """
    facts = terms(ruleset)
    return _open(facts, _stand(facts, bidder))


def seat_bid_refusal(ruleset: Ruleset, bidder: Bidder, bid: Bid) -> RuleViolation | None:
    """Why a seat on turn may not bid so; None when it may."""
    facts = terms(ruleset)
    reason = _fault(facts, _stand(facts, bidder), bid)
    return None if reason is None else _bid_violation(facts, bid, reason, bidder)


def _not_offered(bid: Bid) -> Reason:
    if bid.kind is BidKind.NIL:
        return Reason.NIL_NOT_OFFERED
    return Reason.BLIND_NIL_NOT_ALLOWED if bid.is_blind else Reason.BID_OUT_OF_RANGE


class _Stand(NamedTuple):
    """All that the bids of a seat follow from: its own state, and the other bids of its side, contract and table."""

    seen: bool
    """Whether the seat has seen its hand."""
    behind: bool
    """Whether its side may bid a blind nil by the score."""
    early: bool
    """As `Bidder.early`."""
    spades: int | None
    """As `Bidder.spades`."""
    side_made: bool
    """Whether a partner has bid."""
    side_nils: int
    left: int
    """Partners in its contract who are still to bid."""
    total: int
    """The sum of the bids that its contract has."""
    nils: int
    """Those of them that are nils."""
    blind: bool
    """Whether a partner in its contract bid a number blind."""
    looked: bool
    """Whether a partner in its contract has seen its hand."""
    last: bool
    """Whether a partner in its contract bids last of all, where that matters."""
    table: int | None
    """The sum of all others, where the last bidder is barred from one; None while some are to bid."""


def _stand(facts: Terms, bidder: Bidder) -> _Stand:
    place, bids, partners = bidder.place, bidder.bids, facts.partners[bidder.place]
    made = side_nils = total = 0
    blind = looked = False
    for partner in partners:
        bid = bids[partner]
        looked = looked or bool(bidder.looked >> partner & 1)
        if bid is not None:
            made += 1
            side_nils += bid.is_nil
            total += bid.tricks
            blind = blind or bid.kind is BidKind.BLIND
            looked = looked or not bid.is_blind
    left, nils = len(partners) - made, side_nils
    if not facts.together:  # each has a contract of its own
        left = total = nils = 0
        blind = looked = False
    others = [bid for other, bid in enumerate(bids) if other != place] if facts.totals else [None]
    return _Stand(
        seen=bidder.seen,
        behind=bool(bidder.behind >> place & 1),
        early=bidder.early,
        spades=bidder.spades,
        side_made=made > 0,
        side_nils=side_nils,
        left=left,
        total=total,
        nils=nils,
        blind=blind,
        looked=looked,
        last=facts.totals and left > 0 and _last(bidder) in partners,
        table=None if None in others else sum(bid.tricks for bid in others if bid is not None),
    )


def _worked_out(facts: Terms, stand: _Stand) -> tuple[Bid, ...]:
    """The bids that break no rule, in listed order."""
    bids = facts.open_bids if stand.seen else facts.blind_bids
    return tuple(bid for bid in bids if _fault_of_offered(facts, stand, bid) is None)


_open = lru_cache(maxsize=1 << 14)(_worked_out)
"""As `_worked_out`, from a table: seats stand in few ways, and a bot asks a hundred thousand times."""


def _fault(facts: Terms, stand: _Stand, bid: Bid) -> Reason | None:
    """The first rule that a bid breaks."""
    if not stand.seen and not bid.is_blind:
        return Reason.LOOK_FIRST
    return _fault_of_offered(facts, stand, bid) if bid in facts.offered else _not_offered(bid)


def _fault_of_offered(facts: Terms, stand: _Stand, bid: Bid) -> Reason | None:
    """The first rule that a bid breaks which the table has, blind unless the hand was seen."""
    if bid.is_blind:
        if bid.kind is BidKind.BLIND_NIL and not stand.behind:
            return Reason.BLIND_NOT_BEHIND
        if stand.seen:
            return Reason.HAND_ALREADY_SEEN
    elif (facts.mirror or facts.whiz) and not _follows_from_hand(facts, stand.spades, bid):
        return Reason.BID_IS_FORCED
    return _side_fault(facts, stand, bid) or _total_fault(facts, stand, bid)


def _follows_from_hand(facts: Terms, spades: int | None, bid: Bid) -> bool:
    """Whether the hand allows the bid where spades are counted: their number, or without any a nil."""
    return (facts.whiz and bid.is_nil) or bid == forced_bid(facts.ruleset, spades or 0)


def forced_bid(ruleset: Ruleset, spades: int) -> Bid:
    """The number bid of a hand with so many spades where they are counted, or what stands for none.

    Source: docs/rules.md#bids
    """
    return Bid.number(spades) if spades or not terms(ruleset).nil else Bid.nil()


def _side_fault(facts: Terms, stand: _Stand, bid: Bid) -> Reason | None:
    """What is wrong with a bid beside those of the partners, made and to come."""
    if facts.suicide:
        if stand.side_nils and bid.is_nil:
            return Reason.SUICIDE_NEEDS_NUMBER
        if stand.side_made and not stand.side_nils and not bid.is_nil:
            return Reason.SUICIDE_NEEDS_NIL
    if facts.one_nil and stand.side_nils and bid.is_nil:
        return Reason.NIL_NOT_OFFERED
    return _contract_fault(facts, stand, bid)


def _contract_fault(facts: Terms, stand: _Stand, bid: Bid) -> Reason | None:
    """What is wrong with a bid as part of one contract."""
    ruleset = facts.ruleset
    blind = stand.blind or bid.kind is BidKind.BLIND
    if blind and (stand.looked or not bid.is_blind):
        return Reason.BLIND_SIDE_INCOMPLETE
    total = bid.tricks + stand.total
    if stand.left == 0:
        if blind and total < (ruleset.blind_bid_min or 0):
            return Reason.BID_OUT_OF_RANGE
        if facts.together and total < ruleset.min_team_bid:
            return Reason.TEAM_MINIMUM
        above = facts.together and ruleset.max_team_bid is not None and total > ruleset.max_team_bid
        return Reason.TEAM_MAXIMUM if above else None
    nils = bid.is_nil + stand.nils
    need = 2 if facts.totals and (blind or stand.early or stand.last) else 1
    limits = facts.blind_limits[stand.behind] if blind else facts.limits
    if can_close(limits, stand.left, total, nils, need):
        return None
    if blind:
        return Reason.BLIND_SIDE_INCOMPLETE
    highest = total if facts.suicide and not nils else total + stand.left * (ruleset.max_bid or 0)
    return Reason.TEAM_MINIMUM if highest < ruleset.min_team_bid + need - 1 else Reason.TEAM_MAXIMUM


def _last(bidder: Bidder) -> int:
    """The place that bids last of all, where somebody is to bid after this one."""
    return [place for place in bidder.order if bidder.bids[place] is None and place != bidder.place][-1]


def _total_fault(facts: Terms, stand: _Stand, bid: Bid) -> Reason | None:
    """The last bidder of a table may be barred from one sum."""
    if stand.table is None or stand.table + bid.tricks != facts.ruleset.hand_size:
        return None
    return Reason.TOTAL_EQUALS_TRICKS


def _bid_violation(facts: Terms, bid: Bid, reason: Reason, bidder: Bidder | None = None) -> RuleViolation:
    """A refusal with its sentence and the option that decided."""
    r = facts.ruleset
    if bid not in facts.offered and reason is not Reason.LOOK_FIRST:
        return _not_offered_violation(facts, bid, reason)
    if reason is Reason.BID_OUT_OF_RANGE:
        detail = f"What your side bids blind must come to {r.blind_bid_min} at least."
        return RuleViolation(reason, detail, Rule("blind_bid_min", r.blind_bid_min, "blind"))
    option, section, detail = _SENTENCES[reason]
    if option == "blind_nil" and (bid.kind is BidKind.BLIND or (not facts.blind_nil and not bid.is_blind)):
        option = "blind_bid_min"
    values = {"rules": r, "spades": bidder.spades if bidder else 0}
    return RuleViolation(reason, detail.format_map(values), Rule(option, getattr(r, option), section))


_SENTENCES = {
    Reason.LOOK_FIRST: ("blind_nil", "blind", "Bid blind, or look at your hand first."),
    Reason.NIL_NOT_OFFERED: ("both_nil", "nil", "Your partner has bid nil, and a side may do so only once here."),
    Reason.BLIND_NOT_BEHIND: (
        "blind_nil_deficit",
        "blind",
        "A blind nil is open to a side that is {rules.blind_nil_deficit} or more behind.",
    ),
    Reason.HAND_ALREADY_SEEN: ("blind_nil", "blind", "You have seen your hand, so you cannot bid blind."),
    Reason.BLIND_SIDE_INCOMPLETE: ("blind_bid_min", "blind", "Partners bid blind together or not at all."),
    Reason.BID_IS_FORCED: ("bid_rule", "bids", "You hold {spades} spades, and what you bid follows from that."),
    Reason.SUICIDE_NEEDS_NIL: ("bid_rule", "bids", "Your partner bid a number, so you bid nil here."),
    Reason.SUICIDE_NEEDS_NUMBER: ("bid_rule", "bids", "Your partner bid nil, so you bid a number here."),
    Reason.TEAM_MINIMUM: ("min_team_bid", "bids", "The bids of a side come to {rules.min_team_bid} at least."),
    Reason.TEAM_MAXIMUM: (
        "max_team_bid",
        "bids",
        "The bids of a side come to {rules.max_team_bid} at most, whatever the partner has to bid included.",
    ),
    Reason.TOTAL_EQUALS_TRICKS: (
        "total_bid_rule",
        "bids",
        "You bid last, and all bids may not add up to {rules.hand_size}, the number of tricks.",
    ),
}
"""By reason of a refused bid: the option that decided, its section of docs/rules.md, and the sentence."""


def _not_offered_violation(facts: Terms, bid: Bid, reason: Reason) -> RuleViolation:
    """The refusal of a bid that is never made at such a table."""
    r = facts.ruleset
    if r.bid_mode is BidMode.NONE:
        return RuleViolation(reason, "Nobody bids at this table.", Rule("bid_mode", r.bid_mode, "bids"))
    if bid.is_blind:
        return RuleViolation(reason, f"The bid {bid} is not open at this table.", _blind_barred(facts, bid))
    if bid.is_nil:
        return RuleViolation(reason, "Nil is not offered at this table.", Rule("nil_success", None, "nil"))
    if bid.tricks == 0:
        detail = "A promise of no trick is the bid nil here, not the number 0."
        if not facts.nil:
            detail = "A promise of no trick is no bid here."
        return RuleViolation(reason, detail, Rule("zero_bid", r.zero_bid, "nil"))
    low = bid.tricks < (r.min_bid or 0)
    option, value = ("min_bid", r.min_bid) if low else ("max_bid", r.max_bid)
    detail = f"A number bid is {r.min_bid} to {r.max_bid} here, not {bid.tricks}."
    return RuleViolation(reason, detail, Rule(option, value, "bids"))


def _blind_barred(facts: Terms, bid: Bid) -> Rule:
    """The rule that bars a blind bid at every table of this kind."""
    r = facts.ruleset
    if facts.drawing:  # hands are built by looking
        return Rule("deal_method", r.deal_method, "blind")
    if facts.mirror or (facts.whiz and bid.kind is BidKind.BLIND):
        return Rule("bid_rule", r.bid_rule, "bids")
    if bid.kind is BidKind.BLIND:
        return Rule("blind_bid_min", None, "blind")
    return Rule("blind_nil", r.blind_nil, "blind")


# --- Cards ----------------------------------------------------------------------------------------------------------


def _duties(
    ruleset: Ruleset, pack: Pack, hand: int, trick: Sequence[Card], trick_number: int, broken: bool
) -> list[tuple[int, Reason]]:
    """Each duty in force: the cards of the hand that keep it, some at least, and the reason told of a breach."""
    spades = pack.spades
    if trick:
        following = hand & pack.following[trick[0].index]
        if following:
            clubs = following & pack.suit_masks[Suit.CLUBS]
            if clubs and trick_number == 1 and ruleset.first_lead is FirstLead.LOWEST_CLUB:
                return [(following, Reason.MUST_FOLLOW_SUIT), (pack.lowest(clubs), Reason.MUST_PLAY_LOWEST_CLUB)]
            return [(following, Reason.MUST_FOLLOW_SUIT)]
        others = hand & ~spades
        if trick_number == 1 and others and ruleset.first_trick_spades is FirstTrickSpades.FORBIDDEN:
            return [(others, Reason.FIRST_TRICK_SPADE)]  # which goes before a duty to trump
        if ruleset.must_trump and hand & spades:
            return [(hand & spades, Reason.MUST_TRUMP)]
        return []
    if trick_number == 1 and ruleset.first_lead in (FirstLead.TWO_OF_CLUBS, FirstLead.LOWEST_CLUB):
        held = hand & pack.lowest_club
        if held:
            return [(held, Reason.MUST_LEAD_LOWEST_CLUB)]
    others = hand & ~spades
    if not others:  # a hand of spades only may lead one, at any trick
        return []
    duties = []
    if trick_number == 1 and ruleset.first_lead is FirstLead.NO_SPADE:
        duties.append((others, Reason.FIRST_LEAD_SPADE))
    late = ruleset.spade_lead is SpadeLead.AFTER_FIRST_TRICK and trick_number == 1
    if late or (not broken and ruleset.spade_lead is SpadeLead.WHEN_BROKEN):
        duties.append((others, Reason.SPADES_NOT_BROKEN))
    return duties


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
    for keeping, reason in _duties(ruleset, pack, hand, trick, trick_number, spades_broken):
        if not keeping & card.bit:
            return _card_violation(ruleset, pack, trick, reason)
    return None


def _card_violation(ruleset: Ruleset, pack: Pack, trick: Sequence[Card], reason: Reason) -> RuleViolation:
    """A refusal with its sentence and the option that decided."""
    match reason:
        case Reason.FIRST_LEAD_SPADE:
            detail = "The first trick is not led with a spade while you hold another suit."
            return RuleViolation(reason, detail, Rule("first_lead", ruleset.first_lead, "leading"))
        case Reason.SPADES_NOT_BROKEN if ruleset.spade_lead is SpadeLead.AFTER_FIRST_TRICK:
            detail = "Spades may be led from the second trick on, and you hold another suit to lead."
            return RuleViolation(reason, detail, Rule("spade_lead", ruleset.spade_lead, "leading"))
        case Reason.SPADES_NOT_BROKEN:
            detail = "Spades are not broken, and you hold another suit to lead."
            return RuleViolation(reason, detail, Rule("spade_lead", ruleset.spade_lead, "leading"))
        case Reason.MUST_LEAD_LOWEST_CLUB:
            detail = f"The first trick is led with {cards_of(pack.lowest_club)[0]}, which you hold."
            return RuleViolation(reason, detail, Rule("first_lead", ruleset.first_lead, "leading"))
        case Reason.MUST_PLAY_LOWEST_CLUB:
            detail = "Everybody plays the lowest club to the first trick."
            return RuleViolation(reason, detail, Rule("first_lead", ruleset.first_lead, "leading"))
        case Reason.FIRST_TRICK_SPADE:
            detail = "No spade is thrown on the first trick while you hold another suit."
            return RuleViolation(reason, detail, Rule("first_trick_spades", ruleset.first_trick_spades, "following"))
        case Reason.MUST_TRUMP:
            detail = "You cannot follow suit, so you must play a spade while you hold one."
            return RuleViolation(reason, detail, Rule("must_trump", ruleset.must_trump, "following"))
    name = _SUIT_NAMES[pack.suits[trick[0].index]]
    return RuleViolation(reason, f"You hold {name}s and must follow the {name} lead.")
