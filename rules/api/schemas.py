"""JSON Schemas of what the rules app answers, by component name. Imports no Django, since the settings read it."""

from __future__ import annotations

from contract.reasons import BID_REASONS, CARD_REASONS, DRAW_REASONS
from contract.shapes import (
    CARD,
    ENDINGS,
    HEX,
    SEAT,
    SIDE,
    Schema,
    by,
    count,
    flag,
    list_,
    number,
    object_,
    or_null,
    page,
    ref,
    text,
)
from spades.deal import Phase
from spades.errors import Reason
from spades.options import SECTIONS, Kind
from spades.ruleset import WarningReason

__all__ = ["COMPONENTS"]


def _of(what: str, properties: dict[str, Schema]) -> Schema:
    """An object with properties of any name, such as `description`."""
    return {**object_(what), "properties": properties, "required": list(properties)}


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


ANY_VALUE: Schema = {"description": "A number, a word, true or false, null, or a list of words: what the option takes."}
NAME = "^[a-z0-9_]+$"
SOURCE = "Keys of docs/sources.md, with the line for a text; `D` is our own default."

_OPTION: dict[str, Schema] = {
    "name": text("As in a ruleset."),
    "section": text("The section of docs/rules.md that has the rule.", *SECTIONS),
    "meaning": text("What it decides."),
    "kind": text("The form of its value.", *(kind.value for kind in Kind)),
    "allowed": text("What it may be, in words."),
    "unit": or_null(text("What a number counts.")),
    "settable": flag("False for what follows from other options and is answered only: `hand_size`."),
    "nullable": flag("Whether it may be null."),
    "default": {**ANY_VALUE, "description": "Its value in the preset `standard`."},
    "minimum": or_null(number(), "Of a number."),
    "maximum": or_null(number(), "Of a number."),
    "values": list_(ref("OptionValue"), "Each word that it may be; of numbers and lists, those that sources name."),
    "items": or_null(list_(ref("OptionValue")), "What a list may hold."),
    "max_items": or_null(count(), "How much of it."),
}
_CHOSEN: dict[str, Schema] = {
    "value": ANY_VALUE,
    "source": text(f"Where the value comes from. {SOURCE}"),
    "cited": flag("Whether a source plays so; otherwise the sources are silent and the value is our default."),
}
_PRESET: dict[str, Schema] = {
    "name": text("As in `preset` of a ruleset."),
    "title": text("For a menu."),
    "description": text("What sets it apart, in a sentence."),
    "hash": HEX,
}
_CARD_REFUSED = (Reason.NOT_YOUR_TURN, *CARD_REASONS)
_WARNINGS = list_(ref("RulesetWarning"), "What is worth knowing about it, though it can be played.")

COMPONENTS: dict[str, Schema] = {
    "OptionValue": object_(
        "A value of an option.",
        value=ANY_VALUE,
        meaning=or_null(text("What it means, where the type does not say it.")),
        source=or_null(text(f"Who plays so. {SOURCE}"), "Null where no source does."),
    ),
    "Option": object_("An option of a ruleset.", **_OPTION),
    "PresetValue": object_("An option's value in a preset.", **_CHOSEN),
    "PresetOption": object_("An option, and its value in a preset.", **_OPTION, **_CHOSEN),
    "RulesetWarning": object_(
        "Something that a table may not expect of its ruleset.",
        option=text("The option."),
        value=ANY_VALUE,
        reason=text("", *WarningReason),
        detail=text("The same in a sentence."),
    ),
    "Preset": _of(
        "A named ruleset.",
        {**_PRESET, "options": by(ref("PresetValue"), NAME, "Every option by name."), "warnings": _WARNINGS},
    ),
    "PresetInFull": _of(
        "A named ruleset, and what each of its options means.",
        {**_PRESET, "options": by(ref("PresetOption"), NAME, "Every option by name."), "warnings": _WARNINGS},
    ),
    "PresetPage": page("Preset"),
    "ResolvedRuleset": object_(
        "A whole ruleset.",
        ruleset=ref("Ruleset"),
        hash={**HEX, "description": "Of its rules, whatever the preset is called: the same rules, the same hash."},
        overrides={
            "type": "object",
            "additionalProperties": True,
            "description": "What differs from the preset: with `preset`, the shortest way to ask for the same.",
        },
        warnings=_WARNINGS,
    ),
    "PlayRuling": _ruling(
        "Which cards may be played.",
        "card",
        _CARD_REFUSED,
        legal=list_(CARD, "In order: suits C D H S, ranks rising."),
        refused=by(text("", *_CARD_REFUSED), CARD["pattern"], "Every other card of the hand, with the reason."),
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
        (Reason.WRONG_PHASE, *BID_REASONS),
        legal=list_(
            {"oneOf": [ref("BidNumber"), ref("BidNil"), ref("BidReconsider")]},
            "In order: nil, plain zero, numbers rising, blind bids, and `reconsider` if the question said "
            "`reconsidered`; none where nothing is open.",
        ),
    ),
    "DrawRuling": _ruling(
        "Where a draw stands.",
        "decision",
        (Reason.NOT_YOUR_TURN, Reason.WRONG_PHASE, *DRAW_REASONS),
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
COMPONENTS["PresetPage"]["properties"]["options"] = list_(ref("Option"), "What each option means and may be.")
COMPONENTS["PresetPage"]["required"].append("options")

# --- Records --------------------------------------------------------------------------------------------------------

_RESULT = object_(
    "How the game ended.",
    winners=list_(SIDE, "The sides that won; none when the game was aborted."),
    reason=text("Why it ended.", *ENDINGS),
    scores=by(number(), SIDE["pattern"], "Points by side."),
)
_RESULT["properties"]["seat"] = {**SEAT, "description": "Who gave the game up, if somebody did."}
_SHUFFLES = list_(
    object_(
        "Something that was recomputed from a revealed seed.",
        deal=count("The number of the deal."),
        what=text("", "commitment", "shuffle", "script", "dealer", "cut", "seats"),
        passed=flag("Whether it is so."),
        detail=text("What was held against what."),
    ),
    "In order; empty where no seed is revealed.",
)
COMPONENTS |= {
    "ValidRecord": object_(
        "The game could have been played.",
        valid={"type": "boolean", "const": True},
        scores=by(number(), SIDE["pattern"], "Points by side after the last finished deal."),
        result=or_null(_RESULT, "How it ended; null while it goes on."),
        deals=count("How many deals were finished."),
        shuffles=_SHUFFLES,
    ),
    "InvalidRecord": object_(
        "The game could not have been played.",
        valid={"type": "boolean", "const": False},
        breach=ref("RecordBreach"),
        shuffles=_SHUFFLES,
    ),
    "RecordRuling": {
        "description": "Whether a game could have been played.",
        "oneOf": [ref("ValidRecord"), ref("InvalidRecord")],
    },
}
