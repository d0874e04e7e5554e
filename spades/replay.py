"""Playing a record again: whether it could have happened, and whether its shuffles are those that were promised.

Source: docs/records.md
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from spades.bids import Bid
from spades.cards import Card
from spades.deal import Deal, Phase, stock_of
from spades.errors import NotationError, Reason, RuleViolation
from spades.legality import behind
from spades.match import Match
from spades.notation import Action, ActionKind, Record, RecordedDeal, RecordedResult, RecordedScore
from spades.ruleset import FirstDealer, Ruleset
from spades.scoring import DealScore
from spades.sheet import DealResult, ScoreSheet
from spades.shuffle import Seed, commitment
from spades.terms import terms
from spades.tricks import Trick

__all__ = [
    "Breach",
    "BreachReason",
    "Replay",
    "ShuffleCheck",
    "annotated",
    "check_shuffles",
    "recorded_score",
    "replay",
]


class BreachReason(StrEnum):
    """Why a record could not have happened, where it is no action that the rules refuse. Public: none is renamed."""

    WRONG_NUMBER = "wrong_number"
    WRONG_DEALER = "wrong_dealer"
    WRONG_PACK = "wrong_pack"
    DEAL_NOT_OVER = "deal_not_over"
    SCORE_DIFFERS = "score_differs"
    GAME_NOT_OVER = "game_not_over"
    RESULT_DIFFERS = "result_differs"


@dataclass(frozen=True, slots=True)
class Breach:
    """The first thing in a record that the rules do not allow."""

    deal: int | None
    """The number of the deal; None for the result."""
    action: int | None
    """Which action of the deal it is, counted from 1; None where it is none."""
    kind: str
    """``draw``, ``pass``, ``look``, ``bid`` or ``play``; or ``deal``, ``redeal``, ``score`` or ``result``."""
    seat: str | None
    """The seat that acted; None where none did."""
    reason: str
    """A `Reason` of the rules, or a `BreachReason`."""
    detail: str
    legal: tuple[dict[str, Any], ...] = ()
    """What the seat could have done instead, if it was on turn."""

    def to_json(self) -> dict[str, Any]:
        """The form of the API."""
        return {
            "deal": self.deal,
            "action": self.action,
            "kind": self.kind,
            "seat": self.seat,
            "reason": self.reason,
            "detail": self.detail,
            "legal": [dict(body) for body in self.legal],
        }

    def __str__(self) -> str:
        place = [f"deal {self.deal}"] if self.deal is not None else []
        place += [f"action {self.action}"] if self.action is not None else []
        place += [self.kind] if self.seat is None else [f"{self.kind} by {self.seat}"]
        return f"{', '.join(place)}: {self.reason}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Replay:
    """What a record comes to when it is played again."""

    scores: Mapping[str, int]
    """Points by side after the last finished deal, up to the breach if there is one."""
    result: RecordedResult | None
    """How the game ended; None while it runs."""
    deals: int
    """How many deals were finished."""
    breach: Breach | None = None
    results: tuple[DealResult, ...] = ()
    """What happened in each of them, as `score_game` takes it."""
    bids: Mapping[str, Bid] | None = None
    """The bids of a deal that was begun and not finished, empty where nobody bids; None until all are in."""

    @property
    def valid(self) -> bool:
        """Whether everything in the record could have happened."""
        return self.breach is None


class _Stop(Exception):
    def __init__(self, breach: Breach) -> None:
        super().__init__(breach)
        self.breach = breach


def replay(record: Record) -> Replay:
    """Play a record again under its rules, up to the first thing that they do not allow.

    A look that is not recorded is taken as made just before whatever needs the hand to have been seen. What nobody
    states (a score, a result) is not missed: a record may stop anywhere.

    Raises:
        RulesetError: the ruleset has options that this engine does not play yet.

    >>> from spades import Bid, Deal, Ruleset, Seed
    >>> rules = Ruleset.resolve({"preset": "pagat"})
    >>> record = Record.of(rules).begin(Deal.begin(rules, number=1, attempt=1, dealer="N", seed=Seed(bytes(32))))
    >>> record = record.add(Action.place_bid("E", Bid.number(3))).add(Action.place_bid("N", Bid.number(3)))
    >>> print(replay(record).breach)
    deal 1, action 2, bid by N: not_your_turn: It is the turn of seat S, not of seat N.
    """
    state = _played(record)
    match = state.match
    deal, bids = match.deal, None
    if deal is not None and deal.phase in (Phase.EXCHANGING, Phase.PLAYING):
        bids = deal.bids_by_seat()
    return Replay(match.sheet.scores(), _result(match), match.sheet.deals, state.breach, tuple(state.results), bids)


def annotated(record: Record) -> str:
    """The text of a record with a comment behind each trick, who led and who took it, and one for a breach.

    `Record.read` passes over comments, so it reads the same record.

    Raises:
        RulesetError: as `replay`.
    """
    state = _played(record)
    lines, place = [], -1
    for line in record.to_text().split("\n"):
        place += line.startswith("[Deal ")
        number = line.partition(".")[0]
        trick = state.tricks.get((place, int(number))) if number.isdecimal() else None
        if trick is None:
            lines.append(line)
        else:
            takes = f", {trick.winner} takes it" if trick.winner else ""
            lines.append(f"{line} ; {trick.leader} leads{takes}")
    return "\n".join(lines) + (f"; {state.breach}\n" if state.breach else "")


def _played(record: Record) -> _State:
    first = record.deals[0].dealer if record.deals else terms(record.ruleset).table.seats[0]
    state = _State(Match(record.ruleset, ScoreSheet.start(record.ruleset), first))
    try:
        for place, deal in enumerate(record.deals):
            _play_deal(state, deal, place)
        _end(state, record.result)
    except _Stop as stop:
        state.breach = stop.breach
    return state


@dataclass(slots=True)
class _State:
    """How far a replay has come."""

    match: Match
    tricks: dict[tuple[int, int], Trick] = field(default_factory=dict)
    """By the place of the deal in the record and the number of the trick."""
    results: list[DealResult] = field(default_factory=list)
    breach: Breach | None = None


def _play_deal(state: _State, recorded: RecordedDeal, place: int) -> None:
    match = state.match = _begun(state.match, recorded, first=place == 0)
    for number, action in enumerate(recorded.actions, start=1):
        match = state.match = _after(match, recorded.number, number, action)
        deal = match.deal
        if deal is not None and match.score is not None:
            state.results.append(DealResult(deal.bids_by_seat(), deal.tricks_by_seat()))
        if (
            action.kind is ActionKind.PLAY and deal is not None and len(deal.trick_cards) < 2
        ):  # a lead, or the last card
            trick = deal.trick if deal.trick_cards else deal.last_trick
            if trick is not None:
                state.tricks[place, trick.number] = trick
    if recorded.score is None:
        return
    if match.score is None:
        detail = "A score is stated, and the deal was not played to its end."
        raise _Stop(Breach(recorded.number, None, "score", None, BreachReason.DEAL_NOT_OVER, detail))
    known = recorded_score(match.score)
    for side, stated in recorded.score.items():
        if stated != known[side]:
            one = known[side]
            detail = (
                f"Side {side} got {one.delta:+d} points and stands at {one.score} with {one.bags} bags, "
                f"not {stated.delta:+d}, {stated.score} and {stated.bags}."
            )
            raise _Stop(Breach(recorded.number, None, "score", None, BreachReason.SCORE_DIFFERS, detail))


def _begun(match: Match, recorded: RecordedDeal, *, first: bool) -> Match:
    """The match with the recorded deal laid out, if that one could come next."""
    ruleset, facts = match.ruleset, terms(match.ruleset)

    def stop(reason: str, detail: str, kind: str = "deal", seat: str | None = None) -> _Stop:
        return _Stop(Breach(recorded.number, None, kind, seat, reason, detail))

    if match.ending is not None:
        raise stop(Reason.GAME_OVER, f"The game was over after deal {match.sheet.deals}.")
    if not match.needs_deal:
        raise stop(BreachReason.DEAL_NOT_OVER, f"Deal {match.next_deal_number} was not played to its end.")
    if recorded.number != match.next_deal_number:
        raise stop(BreachReason.WRONG_NUMBER, f"The next deal is number {match.next_deal_number}.")
    if not first and not recorded.scripted and recorded.dealer != match.dealer:
        raise stop(BreachReason.WRONG_DEALER, f"It is the deal of seat {match.dealer}.")
    for called in recorded.redeals:
        if not (facts.redeal and facts.bids_in(recorded.number)):
            detail = "No redeal may be called in this deal at this table."
            raise stop(Reason.REDEAL_NOT_ALLOWED, detail, "redeal", called.seat)
    try:
        deal = Deal.restore(
            ruleset,
            number=recorded.number,
            attempt=recorded.attempt,
            dealer=recorded.dealer,
            seed=Seed(bytes(32)),
            stock=_stock_of(ruleset, recorded),
            behind=behind(ruleset, match.sheet.scores()),
        )
    except NotationError as error:
        raise stop(BreachReason.WRONG_PACK, f"The cards are not those of this table: {error}.") from None
    return replace(match, dealer=recorded.dealer, deal=deal, score=None)


def _stock_of(ruleset: Ruleset, recorded: RecordedDeal) -> tuple[Card, ...]:
    """The stock of a recorded deal, made of the hands where those are recorded. Raises as `spades.deal.stock_of`."""
    if recorded.stock is not None:
        return recorded.stock
    return stock_of(ruleset, recorded.dealer, recorded.hands or {})


def _after(match: Match, number: int, place: int, action: Action) -> Match:
    deal, seat = match.deal, action.seat
    if deal is None:
        raise ValueError("a deal is in progress")
    if seat is None:
        seat = deal.turn
    if seat is None:
        detail = "The deal was over."
        raise _Stop(Breach(number, place, action.kind, None, Reason.WRONG_PHASE, detail))
    if action.kind is ActionKind.BID and terms(match.ruleset).mirror and not deal.plays:
        return _mirrored(match, deal, number, place, action)
    try:
        return _taken(match, deal, seat, action)
    except RuleViolation as violation:
        shown = _looking(match, deal, seat).deal or deal if _needs_look(action) else deal
        legal = tuple(shown.legal(seat))
        raise _Stop(Breach(number, place, action.kind, seat, violation.reason, violation.detail, legal)) from None


def _mirrored(match: Match, deal: Deal, number: int, place: int, action: Action) -> Match:
    """A bid that follows from the hand may be recorded, and then says what follows."""
    seat = action.seat or ""
    follows = deal.bids_by_seat().get(seat)
    if follows is not None and follows == action.bid:
        return match
    detail = f"Nobody chooses a bid here; that of seat {seat} is {follows or 'made of its hand'}."
    raise _Stop(Breach(number, place, action.kind, seat, Reason.BID_IS_FORCED, detail))


def _taken(match: Match, deal: Deal, seat: str, action: Action) -> Match:
    match action.kind:
        case ActionKind.DRAW if action.decision is not None:
            return match.draw(seat, action.decision)
        case ActionKind.PLAY:
            return match.play(seat, action.cards[0])
        case ActionKind.LOOK:
            return match.look(seat)
    ready = _looking(match, deal, seat) if _needs_look(action) else match
    if action.kind is ActionKind.PASS:
        return ready.pass_cards(seat, action.cards)
    return ready.reconsider(seat) if action.bid is None else ready.bid(seat, action.bid, action.hint_max)


def _needs_look(action: Action) -> bool:
    """Whether a seat must have seen its hand for this, so that a look is taken as made where none is recorded."""
    return action.kind is ActionKind.PASS or (
        action.kind is ActionKind.BID and (action.bid is None or not action.bid.is_blind)
    )


def _looking(match: Match, deal: Deal, seat: str) -> Match:
    """The match after a look that nobody recorded, if the seat has not seen its hand and may look."""
    if deal.has_seen(deal.table.index(seat)):
        return match
    try:
        return match.look(seat)
    except RuleViolation:
        return match


def recorded_score(score: DealScore) -> dict[str, RecordedScore]:
    """The score of a deal as records state it."""
    return {side: RecordedScore(one.delta, one.score, one.bags) for side, one in score.sides.items()}


def _result(match: Match) -> RecordedResult | None:
    ending = match.ending
    if ending is None:
        return None
    return RecordedResult(ending.winners, ending.reason, match.sheet.scores(), ending.seat)


def _end(state: _State, stated: RecordedResult | None) -> None:
    """End the match as the record says, and compare."""
    if stated is None:
        return
    match = state.match

    def stop(reason: str, detail: str) -> _Stop:
        return _Stop(Breach(None, None, "result", stated.seat, reason, detail))

    given_up = stated.reason in _GIVEN_UP
    if match.ending is None and stated.reason == "aborted":
        match = match.abort()
    elif match.ending is None and given_up:
        if stated.seat is None:
            raise stop(BreachReason.RESULT_DIFFERS, "A game that was given up says by which seat.")
        match = match.resign(stated.seat)
        if match.ending is not None:
            match = replace(match, ending=replace(match.ending, reason=stated.reason))
    if match.ending is None:
        raise stop(BreachReason.GAME_NOT_OVER, "By the scores the game goes on.")
    state.match = match
    known = _result(match)
    if known is not None and _outcome(known) != _outcome(stated):
        winners = " and ".join(known.winners) or "nobody"
        points = ", ".join(f"{side} {score}" for side, score in known.scores.items())
        detail = f"The game ended by {known.reason}, won by {winners}, with {points}."
        raise stop(BreachReason.RESULT_DIFFERS, detail)


_GIVEN_UP = ("resignation", "forfeit")
"""Endings that a seat brings about and no score shows."""


def _outcome(result: RecordedResult) -> tuple[Any, ...]:
    return sorted(result.winners), result.reason, dict(result.scores), result.seat


# --- Shuffles -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShuffleCheck:
    """One thing that was recomputed from the seeds of a record."""

    deal: int
    what: str
    """``commitment``, ``shuffle``, ``script``, ``dealer``, ``cut`` or ``seats``."""
    passed: bool
    detail: str


def check_shuffles(record: Record) -> list[ShuffleCheck]:
    """Hold the record's seeds against its commitments and its cards; nothing is asked of the rules.

    Returns:
        What could be recomputed, in order. Empty where no seed was revealed.

    Source: docs/rules.md#shuffle
    """
    return [check for deal in record.deals for check in _shuffle_checks(record, deal)]


def _shuffle_checks(record: Record, recorded: RecordedDeal) -> Iterator[ShuffleCheck]:
    if recorded.seed is None:
        return
    ruleset, number = record.ruleset, recorded.number
    server = bytes.fromhex(recorded.seed)
    if recorded.scripted:
        if recorded.stock is not None and recorded.commitment is not None:
            text = f"{recorded.dealer}:{''.join(card.code for card in recorded.stock)}"
            same = hashlib.sha256(server + text.encode()).hexdigest() == recorded.commitment
            detail = "the cards were set; the commitment is the SHA-256 of the seed and of how they lie"
            yield ShuffleCheck(number, "script", same, detail)
        return
    if recorded.commitment is not None:
        same = commitment(server) == recorded.commitment
        yield ShuffleCheck(number, "commitment", same, "the commitment is the SHA-256 of the seed")
    seed = Seed(server, recorded.client_seeds)
    yield ShuffleCheck(number, "shuffle", _lies(ruleset, recorded, seed), _described(recorded))
    if number != 1 or recorded.redeals:
        return
    if ruleset.first_dealer is not FirstDealer.HOST:
        match = Match.start(ruleset, seed)
        same = match.dealer == recorded.dealer
        yield ShuffleCheck(number, "dealer", same, "the seed gives the first dealer")
        if record.cut:
            same = [[(seat, card.code) for seat, card in drawn] for drawn in match.cut] == [
                [(seat, card.code) for seat, card in drawn] for drawn in record.cut
            ]
            yield ShuffleCheck(number, "cut", same, "the seed gives the cards of the cut")
    if record.seating is not None:
        was = {seat: taken for taken, seat in record.seating.items()}
        seats = terms(ruleset).table.seats
        given = {was[seat]: text for seat, text in recorded.client_seeds}
        drawn_from = Seed(server, tuple((seat, given[seat]) for seat in seats if seat in given))
        same = drawn_from.seating(seats) == dict(record.seating)
        yield ShuffleCheck(number, "seats", same, "the seed gives the draw for seats")


def _lies(ruleset: Ruleset, recorded: RecordedDeal, seed: Seed) -> bool:
    """Whether the shuffle gives the cards as they lie in the record."""
    shuffled = [card.code for card in seed.shuffled(terms(ruleset).pack.deck)]
    if recorded.stock is not None:
        return shuffled == [card.code for card in recorded.stock]
    try:
        dealt = [card.code for card in _stock_of(ruleset, recorded)]
    except NotationError:
        return False
    order = [*terms(ruleset).table.from_(recorded.dealer)[1:], recorded.dealer]
    size, players = ruleset.hand_size, ruleset.players
    return all(
        Counter(shuffled[place : size * players : players]) == Counter(dealt[place : size * players : players])
        for place in range(len(order))
    )


def _described(recorded: RecordedDeal) -> str:
    if not recorded.client_seeds:
        return "the seed gives the cards"
    seats = ", ".join(seat for seat, _ in recorded.client_seeds)
    return f"the seed and the client seeds of {seats} give the cards"
