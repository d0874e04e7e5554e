"""JSON Schemas that several apps have in common, by component name, and what schemas are put together with.

Written by hand rather than drawn from serializers: no serializer runs on an answer. Every answer of the tests is held
against them. Imports no Django, since the settings read it.
"""

from __future__ import annotations

from typing import Any

from spades.errors import Reason
from spades.legality import DrawDecision
from spades.notation import FORMAT, NAME_MOST, ActionKind
from spades.replay import BreachReason
from spades.ruleset import json_schema, resolved_json_schema

__all__ = [
    "BID_NIL",
    "BID_NUMBER",
    "CARD",
    "COMPONENTS",
    "ENDINGS",
    "HEX",
    "ID",
    "SCORE_ANSWER",
    "SEAT",
    "SIDE",
    "TIME",
    "Schema",
    "by",
    "count",
    "flag",
    "list_",
    "number",
    "object_",
    "or_null",
    "page",
    "ref",
    "text",
]

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    """A reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_(description: str, **properties: Schema) -> Schema:
    """An object that has all of these properties."""
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
    }


def text(description: str = "", *values: str) -> Schema:
    """A text, or one of these."""
    schema: Schema = {"type": "string"}
    if description:
        schema["description"] = description
    if values:
        schema["enum"] = list(values)
    return schema


def count(description: str = "") -> Schema:
    """A number from 0."""
    return {"type": "integer", "minimum": 0, **({"description": description} if description else {})}


def number(description: str = "") -> Schema:
    """A number, perhaps negative."""
    return {"type": "integer", **({"description": description} if description else {})}


def flag(description: str) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": description}


def list_(items: Schema, description: str = "") -> Schema:
    """An array."""
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def or_null(schema: Schema, description: str = "") -> Schema:
    """The same, or null."""
    if "$ref" in schema or "enum" in schema:  # an enumeration with null in it makes generators write it down thrice
        return {"oneOf": [schema, {"type": "null"}], **({"description": description} if description else {})}
    made = {**schema, "type": [schema["type"], "null"]}
    if description:
        made["description"] = description
    return made


def by(items: Schema, what: str, description: str) -> Schema:
    """An object with a key for each seat or side; `what` is the pattern of the keys."""
    return {
        "type": "object",
        "description": description,
        "additionalProperties": items,
        "propertyNames": {"pattern": what},
    }


def page(name: str) -> Schema:
    """A page of a list of these components."""
    return object_(
        "A page of a list.",
        items=list_(ref(name)),
        next=or_null(text(), "The cursor of the next page; null when this is the last one."),
    )


CARD: Schema = {"type": "string", "pattern": "^([2-9TJQKA][CDHS]|LJ|BJ)$", "description": "Rank, then suit: `QH`."}
SEAT: Schema = {
    "type": "string",
    "pattern": "^[A-FNESW]$",
    "description": "A B C ... clockwise; N E S W when four play.",
}
SIDE: Schema = {
    "type": "string",
    "pattern": "^[A-FNESW]{1,3}$",
    "description": "Named by its seats; alone a seat is its side.",
}
TIME: Schema = {"type": "string", "format": "date-time", "description": "RFC 3339, UTC."}
HEX: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
ID: Schema = {"type": "string", "format": "uuid", "description": "UUIDv7."}

BID_NIL = object_("No trick at all.", kind=text("", "nil", "blind_nil"))
BID_NUMBER = object_(
    "A number of tricks.",
    kind=text("", "number", "blind"),
    tricks={"type": "integer", "minimum": 0, "maximum": 54},
)
ENDINGS = ("target", "losing_score", "max_hands", "set_limit", "moon", "deal_cap", "resignation", "forfeit", "aborted")

SCORE_ANSWER: dict[str, Schema] = {
    "sides": by(ref("SideScore"), SIDE["pattern"], "Each side's score of the deal."),
    "game": object_(
        "Whether the game is over after this deal.",
        over=flag("Whether it is."),
        winners=list_(SIDE),
        reason=or_null(text("", *ENDINGS)),
    ),
    "closest_bidders": list_(SEAT, "The seats whose bid was closest to their tricks: a report, worth no points."),
}


def _score(description: str, score: Schema, **more: Schema) -> Schema:
    """The score of one deal, of a side or of one of its seats."""
    return object_(
        description,
        contract=number(),
        bag_points=number(),
        bag_penalty=number("Zero or negative."),
        nil_points=number(),
        special_points=number("The bonus of a moon; the contract is 0 then."),
        delta=number("The sum of the lines."),
        score=score,
        set=or_null({"type": "boolean"}, "Whether a number bid failed; null when none was made."),
        lines=list_(ref("ScoreLine")),
        **more,
    )


COMPONENTS: dict[str, Schema] = {
    "BidNumber": BID_NUMBER,
    "BidNil": BID_NIL,
    "BidReconsider": object_(
        "The partners' proposals are sent back, once a deal.", kind={"type": "string", "const": "reconsider"}
    ),
    "Bid": {"oneOf": [ref("BidNumber"), ref("BidNil")], "description": "What a seat promises."},
    "BidChoice": {
        # As it is accepted: closed.
        "oneOf": [{**bid, "additionalProperties": False} for bid in (BID_NUMBER, BID_NIL)],
        "description": "A bid: `number` and `blind` with tricks, `nil` and `blind_nil` without.",
    },
    "RulesetChoice": {**json_schema(), "description": "A preset and what differs from it."},
    "Ruleset": {
        # An answer may grow: only what is accepted is closed.
        **{key: value for key, value in resolved_json_schema().items() if key != "additionalProperties"},
        "description": "A complete ruleset: every option with its value.",
    },
    "ScoreLine": object_(
        "A line of a score.",
        what=text(
            "",
            "contract",
            "ten",
            "moon",
            "blind",
            "bags",
            "nil",
            "blind_nil",
            "both_nil",
            "bag_penalty",
            "books",
            "adjustment",
        ),
        points=number(),
        rule=text("The section of the rules that says so."),
    ),
    "SeatScore": _score(
        "What one partner brought its side, where partners are scored apart; in points unless said.",
        {"type": "null", "description": "The running total is the side's."},
        bags=count("Bags of this deal, a count; the penalty is the side's."),
    ),
    "SideScore": _score(
        "A side's score of one deal, in points unless said.",
        number("The running total."),
        bags=count("Bags carried on, a count."),
    ),
    "ScoringAnswer": object_("A deal's score, and whether the game is over after it.", **SCORE_ANSWER),
}
COMPONENTS["SideScore"]["properties"]["seats"] = by(
    ref("SeatScore"), SEAT["pattern"], "Each partner's part, where partners are scored apart; else left out."
)

# --- Records --------------------------------------------------------------------------------------------------------


def _accepted(description: str, required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object as it is accepted: closed, and what is optional may be null."""
    more = {name: or_null(schema) for name, schema in (optional or {}).items()}
    return {**object_(description, **required), "properties": {**required, **more}, "additionalProperties": False}


_NAME: Schema = {"type": "string", "maxLength": NAME_MOST}
_STATED = number("As it was noted.")
COMPONENTS |= {
    "RecordScoreChoice": _accepted(
        "What a deal did to a side: its points, and the score and the bags after it.",
        {"delta": _STATED, "score": _STATED, "bags": _STATED},
    ),
    "RecordBidChoice": _accepted(
        "A bid, a proposal, or its return.",
        {
            "seat": SEAT,
            "bid": {
                "oneOf": [
                    ref("BidChoice"),
                    _accepted("A proposal is sent back.", {"kind": {"type": "string", "const": "reconsider"}}),
                ]
            },
        },
        {"hint_max": count(), "action": count("Its number in the deal, if others still passed.")},
    ),
    "RecordDealChoice": _accepted(
        "A deal: either `stock` or `hands`, and what was done.",
        {"number": count(), "dealer": SEAT},
        {
            "redeals": list_(
                _accepted("An attempt that was called off.", {"seat": SEAT}, {"commitment": HEX}), "Earlier attempts."
            ),
            "stock": list_(CARD, "The whole pack, top first."),
            "hands": by(list_(CARD), SEAT["pattern"], "By seat, as they were dealt."),
            "draws": list_(text("", *DrawDecision)),
            "passes": list_(_accepted("Cards given away.", {"seat": SEAT, "cards": list_(CARD)})),
            "looks": list_(_accepted("A look at the hand.", {"seat": SEAT, "action": count()})),
            "bids": list_(ref("RecordBidChoice")),
            "plays": list_(CARD, "In order of play."),
            "score": by(ref("RecordScoreChoice"), SIDE["pattern"], "By side."),
            "commitment": HEX,
            "seed": HEX,
            "client_seeds": list_(_accepted("A text of a seat's.", {"seat": SEAT, "seed": _NAME})),
            "scripted": flag("Whether the cards were set and not shuffled."),
        },
    ),
    "RecordChoice": _accepted(
        "A record as JSON: docs/records.md has its grammar.",
        {
            "format": {"type": "integer", "const": FORMAT},
            "ruleset": ref("RulesetChoice"),
            "deals": list_(ref("RecordDealChoice")),
        },
        {
            "ruleset_hash": HEX,
            "seats": list_(_accepted("Who sat where.", {"seat": SEAT}, {"name": _NAME})),
            "seating": list_(_accepted("Who took a seat, and which one they got.", {"was": SEAT, "seat": SEAT})),
            "cut": list_(list_(_accepted("A card drawn.", {"seat": SEAT, "card": CARD}))),
            "tags": {"type": "object", "description": "What else is noted.", "additionalProperties": _NAME},
            "result": _accepted(
                "How the game ended.",
                {"winners": list_(SIDE), "reason": _NAME, "scores": by(number(), SIDE["pattern"], "By side.")},
                {"seat": SEAT},
            ),
        },
    ),
    "RecordBreach": object_(
        "The first thing in a record that the rules do not allow.",
        deal=or_null(count(), "The number of the deal; null for the result."),
        action=or_null(count(), "Which action of the deal, from 1; null where it is none."),
        kind=text("", *ActionKind, "deal", "redeal", "score", "result"),
        seat=or_null(SEAT, "Who acted; null where nobody did."),
        reason=text("", *Reason, *BreachReason),
        detail=text("In a sentence."),
        legal=list_(
            {"type": "object", "additionalProperties": True},
            "What the seat could have done, as request bodies, if it was on turn.",
        ),
    ),
}
