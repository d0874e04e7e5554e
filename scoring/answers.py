"""Answers to questions about scores, of which nothing is kept. The bodies are those that the serializers have read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contract import rulesets
from contract.problems import ContractReason, Fault, Problem, malformed
from scoring import checks
from scoring.checks import Told
from spades import (
    DealRefused,
    DealResult,
    NotationError,
    Ruleset,
    RuleViolation,
    ScoreSheet,
    TooManyOutcomes,
)
from spades import what_if as ask_what_if
from spades.bidding import nobody_bids
from spades.sheet import answer, game_answer, score_game

__all__ = ["deal", "game", "what_if"]


def deal(body: Mapping[str, Any]) -> dict[str, Any]:
    """Score one deal.

    Raises:
        Problem: for the ruleset, for what this table cannot have, or for what its rules forbid.
    """
    ruleset, told = rulesets.read(body["ruleset"]), Told.of(body)
    before = body.get("before") or {}
    number = before.get("deal_number")
    if number is None:
        # The first deal, unless it bids itself and here somebody bid.
        number = 2 if told.bids and ruleset.first_hand_bids_itself else 1
    standing = checks.standing(before)
    try:
        sheet, score = ScoreSheet.at(ruleset, standing, number).after(
            told.bids, told.tricks, blind_sides=told.blind_sides, adjustments=told.adjustments
        )
    except (RuleViolation, NotationError) as why:
        scores = before.get("scores") or {}
        raise checks.refused(
            why,
            [*checks.before_faults(ruleset, before), *checks.misfits(ruleset, told, deal_number=number)],
            checks.violations(ruleset, told, scores, deal_number=number),
        ) from None
    return answer(score, sheet.ending())


def game(body: Mapping[str, Any]) -> dict[str, Any]:
    """Score a game from its first deal on.

    Raises:
        Problem: for the ruleset, for what this table cannot have, for what its rules forbid, or `game_over` for a deal
            after the game's end.
    """
    ruleset = rulesets.read(body["ruleset"])
    told = [Told.of(each) for each in body["deals"]]
    results = [DealResult(each.bids, each.tricks, each.blind_sides, each.adjustments) for each in told]
    try:
        answers, ending = score_game(ruleset, results)
    except DealRefused as refusal:
        raise _deal_refused(ruleset, told, results, refusal) from None
    return {"deals": answers, "game": game_answer(ending)}


def _deal_refused(ruleset: Ruleset, told: list[Told], results: list[DealResult], refusal: DealRefused) -> Problem:
    misfitting = [
        fault
        for place, each in enumerate(told)
        for fault in checks.misfits(ruleset, each, deal_number=place + 1, pointer=f"/deals/{place}")
    ]
    if misfitting:
        return malformed(misfitting)
    place = refusal.number - 1
    pointer = f"/deals/{place}"
    answers, ending = score_game(ruleset, results[:place])
    if ending is not None and isinstance(refusal.why, RuleViolation):
        return checks.refused(refusal.why, (), [(pointer, refusal.why)])
    scores = {side: score["score"] for side, score in answers[-1]["sides"].items()} if answers else {}
    found = checks.violations(ruleset, told[place], scores, deal_number=refusal.number, pointer=pointer)
    return checks.refused(refusal.why, (), found)


def what_if(body: Mapping[str, Any]) -> dict[str, Any]:
    """Answer what each bid of a side would score, and what the side needs.

    Raises:
        Problem: for the ruleset, for what this table cannot have, for what its rules forbid, or `malformed` for too
            wide a question.
    """
    ruleset, before = rulesets.read(body["ruleset"]), body.get("before") or {}
    side, bids = body["side"], body.get("bids") or {}
    try:
        return ask_what_if(ruleset, checks.standing(before), side, bids, deal_number=before.get("deal_number"))
    except TooManyOutcomes as why:
        detail = f"Name more bids of {side}: {why}."
        raise malformed([Fault("/bids", ContractReason.MISSING_FIELD, detail)]) from None
    except (RuleViolation, NotationError) as why:
        raise checks.refused(
            why,
            [
                *checks.before_faults(ruleset, before),
                *checks.seats_faults(ruleset, bids, "/bids", whole=False),
                *checks.sides_fault(ruleset, side, "/side", ContractReason.NOT_ALLOWED_VALUE),
            ],
            _question_violations(ruleset, body, why),
        ) from None


def _question_violations(
    ruleset: Ruleset, body: Mapping[str, Any], why: RuleViolation | NotationError
) -> Iterator[tuple[str, RuleViolation]]:
    before = body.get("before") or {}
    if isinstance(why, RuleViolation) and nobody_bids(ruleset, before.get("deal_number") or 2):
        yield "/bids", why
    else:
        yield from checks.bid_violations(ruleset, body.get("bids") or {}, (), before.get("scores") or {})
