"""One card, chosen to win a trick or to lose it. Sets of cards only: `bots.play` says which of the two it is to be.

The arguments are the same everywhere: `hand` the cards held, `legal` those that may be played, `out` those that the
others may hold, `share` how likely it is that one of these is still held, `best` the card that wins the trick so far,
and `last` whether nobody plays after.
"""

from __future__ import annotations

from collections.abc import Iterable

from bots.deck import Deck, bits, highest, lowest

__all__ = [
    "beating",
    "equal_to",
    "follow_to_lose",
    "follow_to_take",
    "highest",
    "lead_low",
    "lead_to_cover",
    "lead_to_lose",
    "lead_to_take",
    "lead_with_partner",
    "lowest",
    "masters",
    "throw",
    "winning",
]


def beating(deck: Deck, cards: int, best: int) -> int:
    """Those of the cards that win over `best`: higher ones of its suit, and higher spades."""
    return cards & (deck.suit_of[best] | deck.spades) & -(best << 1)


def winning(deck: Deck, trick: Iterable[tuple[str, int]]) -> tuple[int, str]:
    """The card that wins so far, and who played it."""
    best, winner = 0, ""
    for seat, card in trick:
        if not best or beating(deck, card, best):
            best, winner = card, seat
    return best, winner


def masters(cards: int, out: int) -> int:
    """Those of the cards, all of one suit, that are above every card of that suit in `out`."""
    return cards & -(highest(out) << 1) if out else cards


def equal_to(legal: int, card: int, out: int) -> int:
    """The lowest card that is as good as `card`, with nobody else's between them."""
    choice = card
    for lower in reversed(list(bits(legal & (card - 1)))):
        if out & (choice - 1) & -(lower << 1):
            break
        choice = lower
    return choice


def lead_with_partner(deck: Deck, hand: int, legal: int, out: int, ruffing: int) -> int:
    """Lead for two: high cards that stand up, short suits to trump later, and never away from a king.

    Args:
        ruffing: suits in which another side has nothing left.
    """
    spades = hand & deck.spades
    choice, best = 0, 0.0
    for suit in (*deck.side_suits, deck.spades):
        mine, theirs = legal & suit, out & suit
        if not mine:
            continue
        top = highest(mine)
        above, count = (theirs & -top).bit_count(), mine.bit_count()
        if suit == deck.spades:
            card = top if not above else lowest(mine)
            price = (10.0 if not above else -30.0) + 6 * (count - 4)
        elif not above and theirs:
            card, price = top, 60.0 - 3 * count - (80 if suit & ruffing else 0)
        else:
            card = lowest(mine)
            price = 12.0 - 5 * count if spades else -2.0 * count
            price -= {0: 0, 1: 25, 2: 12}.get(above, 0)
            price -= 20 if suit & ruffing else 0
        if not choice or price > best:
            choice, best = card, price
    return choice


def lead_to_take(deck: Deck, hand: int, legal: int, out: int, share: float) -> int:
    """Lead what serves best to take as many tricks as possible in all, this one or later ones.

    Every suit has one card to lead and a price in hundredths of a trick or so. The prices were found by search: with
    them two players who know each other's cards lose 0.7 tricks a deal, both together, against perfect play (300 drawn
    deals, solved exactly).
    """
    spades = deck.spades
    trumps = (out & spades).bit_count() * share
    more_trumps = (hand & spades).bit_count() - trumps
    choice, best = 0, 0.0
    for suit in (*deck.side_suits, spades):
        mine, theirs = legal & suit, out & suit
        if not mine:
            continue
        card = 1 << (mine.bit_length() - 1)
        count, length = mine.bit_count(), theirs.bit_count() * share
        if suit == spades:
            if not theirs:
                price = -27.0  # they keep: nothing else beats them
            elif card > theirs:  # draws trumps
                winners = sum([masters(hand & suit, out & suit).bit_count() for suit in deck.side_suits])
                price = 19 + 9 * more_trumps - 6 * winners
            else:
                price = -31 + 11 * more_trumps - 27 * (theirs & -card).bit_count() * share
        elif not theirs:  # nobody follows: a small one wins as well, or costs a trump
            card = lowest(mine)
            price = 7 * count - 12 * more_trumps - 13 * min(count, trumps) if trumps else 47.0
        elif card > theirs:
            price = 24 + 38 * max(0.0, count - length)  # wins, and a long suit runs
        else:  # loses, and makes the rest of the suit good
            above = (theirs & -card).bit_count()
            price = 38 + 11 * count - 23 * (length - above * share) - (13 if count == above + 1 else 0)
        if not choice or price > best:
            choice, best = card, price
    return choice


def lead_to_cover(deck: Deck, legal: int, out: int, void: int) -> int:
    """Lead the card over which a partner's nil can most likely stay below.

    Args:
        void: suits in which the partner has nothing, so that it throws what it likes.
    """
    choice, most = 0, (-1.0, 0)
    for suit in (*deck.side_suits, deck.spades):
        mine = legal & suit
        if not mine:
            continue
        top, theirs = highest(mine), out & suit
        below = (theirs & (top - 1)).bit_count() / theirs.bit_count() if theirs else 0.0
        rating = (1.0 if suit & void else below, mine.bit_count())
        if rating > most:
            choice, most = top, rating
    return choice


def lead_low(deck: Deck, legal: int, out: int) -> int:
    """Lead the card that leaves the fewest cards to stay below it with."""
    choice, least = 0, (99, 0)
    for suit in (*deck.side_suits, deck.spades):
        mine, theirs = legal & suit, out & suit
        if not mine or not theirs:
            continue
        card = lowest(mine)
        rating = ((theirs & (card - 1)).bit_count(), -theirs.bit_count())
        if rating < least:
            choice, least = card, rating
    return choice or lowest(legal)


def follow_to_take(deck: Deck, hand: int, legal: int, best: int, out: int, *, last: bool) -> int:
    """Win as cheaply as possible, or else throw what is worth least.

    Who plays before the last one wins with its highest card, since a low one would only be overtaken.
    """
    winners = beating(deck, legal, best)
    if winners:
        return lowest(winners) if last else highest(winners)
    return throw(deck, legal, out)


def throw(deck: Deck, legal: int, out: int) -> int:
    """Lose the trick with the card that is worth least."""
    card = lowest(legal)
    return _cheapest(deck, legal, out) if legal & ~deck.suit_of[card] else card


def _cheapest(deck: Deck, legal: int, out: int) -> int:
    """The card of a hand without the led suit that is worth least: from a suit in which nothing of ours stands up."""
    choice, cost = 0, 0.0
    for suit in deck.side_suits:
        mine = legal & suit
        if not mine:
            continue
        above = (out & suit & -highest(mine)).bit_count()
        count = mine.bit_count()
        if not out & suit:
            price = 3.0  # nobody follows: each of ours wins unless it is trumped
        elif count > above + 1:
            price = 1.5  # a high card with more than the small ones that guard it
        elif count == above + 1:
            price = 2.0 + count / 10  # the high card stands only as long as the small ones guard it
        else:
            price = count / 10
        if not choice or price < cost:
            choice, cost = lowest(mine), price
    return choice or lowest(legal)


def follow_to_lose(deck: Deck, legal: int, best: int, out: int, *, last: bool) -> int:
    """Lose the trick with the card that is most likely to win a later one.

    Who cannot lose it gives the highest card, which would win another trick too, and while others are still to play the
    lowest, which they may beat.
    """
    losers = legal & ~beating(deck, legal, best)
    if not losers:
        return highest(legal) if last else lowest(legal)
    if losers & deck.suit_of[best]:
        return highest(losers)
    return _most_dangerous(deck, losers, out)


def _most_dangerous(deck: Deck, cards: int, out: int) -> int:
    """The card that beats the largest part of its suit in `out`, and of equal ones that of the shortest suit."""
    choice, danger = 0, (-1.0, 0)
    for suit in (*deck.side_suits, deck.spades):
        mine = cards & suit
        if not mine:
            continue
        top, theirs = highest(mine), out & suit
        beaten = (theirs & (top - 1)).bit_count() / theirs.bit_count() if theirs else 0.0
        rating = (beaten, -mine.bit_count())
        if rating > danger:
            choice, danger = top, rating
    return choice


def lead_to_lose(deck: Deck, legal: int, out: int, share: float, *, wanted: bool) -> int:
    """Lead the card that is least likely to win, and of equal ones the highest.

    Args:
        wanted: whether the others try to win tricks; else they stay below if they can.
    """
    choice, least = 0, (2.0, 0)
    for suit in (*deck.side_suits, deck.spades):
        mine = legal & suit
        if not mine:
            continue
        theirs = out & suit
        below = mine & (lowest(theirs) - 1) if theirs else 0
        card = highest(below) if below else lowest(mine)
        higher, lower = (theirs & -card).bit_count(), (theirs & (card - 1)).bit_count()
        risk = (1 - share) ** higher if share < 1 else float(not higher)
        if not wanted and lower:
            risk = 1 - (1 - risk) * (1 - share) ** lower
        rating = (risk, -card)
        if rating < least:
            choice, least = card, rating
    return choice
