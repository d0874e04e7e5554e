"""Answers to single questions about the rules: the library's rulings as JSON. The bodies are those that were read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from contract import rulesets
from contract.problems import ContractReason, Fault, Problem, escape, malformed
from rules.catalogue import warnings_of
from spades import Card, Reason, RuleViolation
from spades.rulings import (
    SituationError,
    SituationFault,
    rule_on_bid,
    rule_on_draws,
    rule_on_leader,
    rule_on_play,
    rule_on_trick,
)

__all__ = ["bid", "draws", "leader", "play", "resolve", "trick"]

Body = Mapping[str, Any]
Ruling = TypeVar("Ruling")

_FAULTS: Final[Mapping[str, str]] = {
    SituationFault.MISSING: ContractReason.MISSING_FIELD,
    SituationFault.UNKNOWN: ContractReason.UNKNOWN_FIELD,
    SituationFault.NOT_ALLOWED: ContractReason.NOT_ALLOWED_VALUE,
    SituationFault.OUT_OF_RANGE: ContractReason.OUT_OF_RANGE,
    SituationFault.WRONG_LENGTH: ContractReason.WRONG_LENGTH,
}


def play(body: Body) -> dict[str, Any]:
    """Which cards a seat may play.

    Raises:
        Problem: for the ruleset, or for what its table cannot have; as from every function here.
    """
    ruling = _ruled(rule_on_play, body)
    answer: dict[str, Any] = {
        "legal": [card.code for card in ruling.legal],
        "refused": {code: refusal.reason for code, refusal in ruling.refused.items()},
    }
    card = body.get("card")
    return answer if card is None else answer | _asked(ruling.refused.get(card.code))


def trick(body: Body) -> dict[str, Any]:
    """Who won a trick."""
    ruling = _ruled(rule_on_trick, body)
    return {
        "winner": ruling.winner,
        "led_suit": ruling.led_suit.value,
        "spades_broken_after": ruling.spades_broken_after,
        "why": ruling.why,
    }


def leader(body: Body) -> dict[str, Any]:
    """Who leads to a trick."""
    ruling = _ruled(rule_on_leader, body)
    return {"leader": ruling.leader, "why": ruling.why}


def bid(body: Body) -> dict[str, Any]:
    """What a seat may bid."""
    ruling = _ruled(rule_on_bid, body)
    answer: dict[str, Any] = {"legal": [each.to_json() for each in ruling.legal]}
    if ruling.reconsider:
        answer["legal"].append({"kind": "reconsider"})
    return answer if body.get("bid") is None else answer | _asked(ruling.refusal)


def draws(body: Body) -> dict[str, Any]:
    """Where a draw phase stands."""
    ruling = _ruled(rule_on_draws, body)
    deal = ruling.deal
    answer: dict[str, Any] = {
        "hands": {seat: [card.code for card in cards] for seat, cards in ruling.hands.items()},
        "discards": [
            {"card": discard.card.code, "face": discard.face, "visible_to": discard.visible_to}
            for discard in deal.discards
        ],
        "next_turn": ruling.next_turn,
        "first_bidder": ruling.first_bidder,
        "stock_left": deal.stock_count,
        "phase": deal.phase,
        "cards_seen": ruling.cards_seen,
    }
    return answer if body.get("proposed") is None else answer | _asked(ruling.refusal)


def resolve(body: Body) -> dict[str, Any]:
    """A whole ruleset, what it changes in its preset, and what is worth saying about it."""
    ruleset = rulesets.read(body["ruleset"])
    return {
        "ruleset": ruleset.resolved(),
        "hash": ruleset.hash,
        "overrides": ruleset.overrides(),
        "warnings": warnings_of(ruleset),
    }


def _ruled(rule: Callable[..., Ruling], body: Body) -> Ruling:
    """Ask the library; the fields of a body are its arguments, null for one left out."""
    given = {name: value for name, value in body.items() if value is not None}
    ruleset = rulesets.read(given.pop("ruleset"))
    for name in given.keys() & _ARGUMENTS.keys():
        given[name] = _ARGUMENTS[name](given[name])
    try:
        return rule(ruleset, **given)
    except SituationError as error:
        raise _problem(error) from None


def _played(trick: list[dict[str, Any]]) -> list[tuple[str, Card]]:
    return [(played["seat"], played["card"]) for played in trick]


_ARGUMENTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "trick": _played,
    "proposed": lambda proposed: (proposed["seat"], proposed["decision"]),
}


def _asked(refusal: RuleViolation | None) -> dict[str, Any]:
    """What is said of the card, the bid or the decision that was asked about."""
    if refusal is None:
        return {"allowed": True}
    said = {"allowed": False, "reason": refusal.reason, "detail": refusal.detail}
    rule = refusal.rule
    if rule is None:
        return said
    return {**said, "rule": {"option": rule.option, "value": rule.value, "section": rule.section}}


def _problem(error: SituationError) -> Problem:
    """The answer to a situation that cannot be: malformed, or what the rules had refused on the way to it."""
    faults = []
    for problem in error.problems:
        pointer = "".join(f"/{escape(str(step))}" for step in problem.where)
        faults.append(Fault(pointer, _FAULTS.get(problem.reason, problem.reason), problem.detail))
    if any(problem.reason in _FAULTS for problem in error.problems):
        return malformed(faults)
    first = error.problems[0]
    return Problem(Reason(first.reason), first.detail, errors=faults, rule=first.rule)
