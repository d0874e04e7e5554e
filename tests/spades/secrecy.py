"""What each reader has seen of a deal, counted from the rules; and the same deal with all the rest lying otherwise."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from spades import Card, Deal, Match, Phase, Seed
from spades.cards import cards_of, each_its_own
from spades.terms import terms
from spades.view import for_public, for_seat


def seen_by(match: Match, reader: str | None) -> int:
    """The cards that a reader has seen, as a mask, counted from the rules and not from the view."""
    deal = match.deal
    if deal is None:
        return 0
    seen = sum(card.bit for card in deal.plays)
    seen |= sum(discard.card.bit for discard in deal.discards if discard.face == "up" or reader in discard.visible_to)
    if reader is None:
        return seen
    place = deal.table.index(reader)
    if deal.phase is Phase.DRAWING and deal.turn == reader and match.ending is None:
        seen |= deal.stock[2 * len(deal.draws)].bit
    blind = not deal.has_seen(place)
    return seen if blind else seen | deal.hands[place] | deal.passes[place] | deal.gives[place]


def view(match: Match, reader: str | None) -> dict[str, Any]:
    return for_public(match) if reader is None else for_seat(match, reader)


def mapped(match: Match, places: dict[Card, Card]) -> Match:
    """The same match with each card lying where another one lay."""
    deal = match.deal
    assert deal is not None
    # Of two equal cards the upper one in the stock counts as that of the first pack.
    stock = each_its_own([places[card] for card in deal.stock], match.ruleset.decks)
    lies = dict(zip(deal.stock, stock, strict=True))

    def mask(cards: int) -> int:
        return sum(lies[card].bit for card in cards_of(cards))

    other = Deal.restore(
        match.ruleset,
        number=deal.number,
        attempt=deal.attempt,
        dealer=deal.dealer,
        seed=deal.seed,
        stock=stock,
        behind=deal.behind,
        draws=deal.draws,
        passes=tuple(mask(cards) for cards in deal.passes),
        looks=deal.looks,
        bids=deal.bids,
        hints=deal.hints,
        reconsidered=deal.reconsidered,
        gives=tuple(mask(cards) for cards in deal.gives),
        plays=deal.plays,
    )
    return replace(match, deal=other)


def shuffle_unseen(match: Match, seen: int, rng: random.Random) -> dict[Card, Card]:
    """Cards that were not seen, each in the place of another one; the others in their own."""
    deal = match.deal
    assert deal is not None
    facts = terms(match.ruleset)
    if facts.club_lead and deal.phase is Phase.PLAYING:
        seen |= facts.pack.lowest_club  # who has to lead it is known to hold it
    unseen = [card for card in deal.stock if not seen & card.bit]
    others = rng.sample(unseen, len(unseen))
    return {card: card for card in deal.stock} | dict(zip(unseen, others, strict=True))


def moved(match: Match, reader: str | None, rng: random.Random) -> Match:
    """The same match with the cards that a reader has not seen lying in other places, from another seed."""
    elsewhere = mapped(match, shuffle_unseen(match, seen_by(match, reader), rng))
    assert elsewhere.deal is not None
    return replace(elsewhere, deal=replace(elsewhere.deal, seed=Seed(rng.randbytes(32))))
