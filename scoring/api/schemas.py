"""JSON Schemas of what the scoring app answers, by component name. Imports no Django, since the settings read it."""

from __future__ import annotations

from contract.shapes import SCORE_ANSWER, SEAT, Schema, by, count, list_, number, object_, or_null, ref

__all__ = ["COMPONENTS"]

_GAME = SCORE_ANSWER["game"]

COMPONENTS: dict[str, Schema] = {
    "GameScores": object_(
        "The scores of a game.",
        deals=list_(ref("ScoringAnswer"), "Deal by deal."),
        game={**_GAME, "description": "Whether the game is over after the last deal."},
    ),
    "WhatIf": object_(
        "What a side's bids would score.",
        options=list_(
            object_(
                "One way for the side to bid.",
                bids=by(ref("Bid"), SEAT["pattern"], "The bids of the side; empty where nobody bids."),
                outcomes=list_(
                    object_(
                        "What comes of it.",
                        tricks=count("Tricks that the side takes."),
                        by_seat=or_null(
                            by(count(), SEAT["pattern"], ""), "By seat, where it matters who takes them; else null."
                        ),
                        delta=number("Points that the deal brings the side."),
                        score=number("The side's total afterwards."),
                        bags=count("Bags carried on, a count."),
                        game={**_GAME, "description": "The game afterwards, as far as it follows."},
                    )
                ),
            )
        ),
        needs=object_(
            "What the side needs; null where no rule asks for it.",
            to_win=number("Points that this deal must bring to win, as the others stand now."),
            to_avoid_loss=or_null(number(), "Points that it must bring to stay above the losing score."),
            bags_to_penalty=or_null(count(), "How many more bags bring the penalty."),
        ),
    ),
}
