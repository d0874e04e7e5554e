"""JSON Schemas of what the games app answers, by component name.

Written by hand rather than drawn from serializers: the view, its events and its legal actions are unions that
serializers cannot say exactly, and no serializer runs on an answer. Every answer of the tests is held against them.
Imports no Django, since the settings read it.
"""

from __future__ import annotations

from contract.shapes import BID_NIL, BID_NUMBER, CARD, ENDINGS, HEX, ID, SCORE_ANSWER, SEAT, SIDE, TIME, Schema, ref
from contract.shapes import by as _by
from contract.shapes import count as _count
from contract.shapes import flag as _flag
from contract.shapes import list_ as _list
from contract.shapes import number as _number
from contract.shapes import object_ as _object
from contract.shapes import or_null as _or_null
from contract.shapes import page as _page
from contract.shapes import text as _text
from spades.ruleset import json_schema

__all__ = ["COMPONENTS"]

_DECISIONS = ("keep", "decline")
_HINT = "The most that the seat would go to, if it said."
_RESULT: dict[str, Schema] = {
    "winners": _list(SIDE, "The sides that won; none when the game was aborted."),
    "reason": _text("Why it ended.", *ENDINGS),
    "scores": _by(_number(), SIDE["pattern"], "Points by side."),
}

_PASS_KIND = _text("Before the bidding, or between partners after it.", "pass", "exchange")

_EVENT_DATA: dict[str, Schema] = {
    "game_created": _object(
        "A table was made. The commitment binds the service to the first deal's seed.",
        preset=_text("The preset's name."),
        ruleset_hash=HEX,
        algorithm=_text("How the deals are shuffled."),
        commitment=HEX,
        rematch_of=_or_null(
            ID, "The game that this one is a rematch of; where watchers are told late, for the seats alone."
        ),
    ),
    "seat_taken": _object(
        "Somebody sat down.",
        kind=_text("", "human", "bot"),
        name=_text(),
        bot=_or_null(_text("The bot's name.")),
    ),
    "seat_left": _object("Somebody got up before the start.", by_host=_flag("Whether the host made them.")),
    "game_started": _object("The table is complete and the game begins."),
    "seats_drawn": _object(
        "Seats, and so partners, were drawn by lot. Tokens went along with who holds them.",
        seats=_list(_object("Who took a seat and which one they got.", was=SEAT, seat=SEAT)),
    ),
    "dealer_cut": _object(
        "Who deals first, and the cards drawn or turned up to find out; none where it was by lot or the host's choice.",
        rounds=_list(_list(_object("A card drawn.", seat=SEAT, card=CARD))),
        dealer=SEAT,
    ),
    "deal_started": _object(
        "A deal was shuffled.",
        deal_number=_count(),
        attempt=_count("1, and one more after each redeal."),
        dealer=SEAT,
        commitment={**HEX, "description": "Of this deal's seed, as it was published before."},
        next_commitment={**HEX, "description": "Of the next deal's seed."},
    ),
    "card_drawn": {
        **_object(
            "A draw turn was decided.",
            decision=_text("", *_DECISIONS),
            discarded=_object(
                "The card that went to the discard pile.",
                card=_or_null(CARD, "Null for whoever may not see it."),
                face=_text("", "up", "down"),
            ),
            stock_count=_count("Cards left in the stock."),
        ),
    },
    "hand_looked_at": _object("A seat looked at its hand and can no longer bid blind."),
    "pass_sealed": _object(
        "A seat chose the cards that it gives away; nobody has them yet.", kind=_PASS_KIND, count=_count()
    ),
    "cards_passed": _object(
        "Cards went from one seat to another.",
        kind=_PASS_KIND,
        **{"from": SEAT},
        to=SEAT,
        count=_count(),
        cards={**_or_null({"type": "array"}), "items": CARD, "description": "For giver and taker; null for others."},
    ),
    "redeal_called": _object(
        "A seat that may called for the deal to be dealt again.", attempt=_count("The attempt that was called off.")
    ),
    "bid_proposed": _object(
        "A seat proposed its share of its side's contract, or sent the partners' proposals back.",
        bid={"oneOf": [ref("BidNumber"), ref("BidNil"), ref("BidReconsider")]},
        hint_max=_or_null(_count(), "The most that the seat would go to."),
    ),
    "bid_sealed": _object("A seat bid; the table learns what when all have."),
    "bid_placed": _object("A seat bid.", bid=ref("Bid")),
    "card_played": _object(
        "A seat played a card.",
        card=CARD,
        trick_number=_count(),
        breaks_spades=_flag("Whether spades are broken by this card."),
    ),
    "trick_taken": _object(
        "A trick is complete; its winner leads the next.",
        trick_number=_count(),
        winner=SEAT,
        cards=_list(ref("PlayedCard")),
        tricks=_by(_count(), SEAT["pattern"], "Tricks taken so far, by seat."),
    ),
    "deal_scored": _object(
        "A deal was scored: the scoring answer, with what was scored.",
        bids=_by(ref("Bid"), SEAT["pattern"], "The bids by seat."),
        tricks=_by(_count(), SEAT["pattern"], "Tricks taken, by seat."),
        **SCORE_ANSWER,
    ),
    "deal_revealed": _object(
        "All that the deal hid.",
        hands=_by(_list(CARD), SEAT["pattern"], "The hands as they were dealt or built, by seat."),
        passed=_list(
            _object(
                "Cards that went from one seat to another.",
                kind=_PASS_KIND,
                **{"from": SEAT},
                to=SEAT,
                count=_count(),
                cards=_list(CARD),
            )
        ),
        discards=_list(CARD, "The discard pile of the draw, first card first."),
        stock=_list(CARD, "The shuffled pack, top first."),
        seed={
            **HEX,
            "description": "The seed of the shuffle; its SHA-256 is the commitment. Random where `scripted`.",
        },
        client_seeds=_list(_object("A seat's own seed.", seat=SEAT, seed=_text())),
    ),
    "game_finished": _object("The game is over.", **_RESULT),
    "game_aborted": _object("The game ended without a winner.", **_RESULT),
}
_EVENT_DATA["card_drawn"]["properties"]["kept"] = {
    **CARD,
    "description": "The card kept; for the seat that drew alone.",
}
_EVENT_DATA["pass_sealed"]["properties"]["cards"] = _list(CARD, "The cards chosen; for the seat that chose alone.")
_EVENT_DATA["bid_sealed"]["properties"]["bid"] = {**ref("Bid"), "description": "The bid; for the seat alone."}
for _name in ("deal_started", "hand_looked_at", "bid_proposed", "bid_sealed", "bid_placed"):
    _EVENT_DATA[_name]["properties"]["hand"] = _list(CARD, "Your whole hand, when you see it from this event on.")


_EVENT_DATA["deal_started"]["properties"]["scripted"] = {
    "type": "boolean",
    "const": True,
    "description": "At a sandbox: how the pack lies was set, so no shuffle of the seed gives it. "
    "The commitment is the SHA-256 of the seed and `dealer:cards`.",
}


def _event(name: str) -> Schema:
    return _object(
        f"`{name}`",
        number=_count("1 for a game's first event, then one more each."),
        version=_count("The game's version with this event: its number."),
        at=TIME,
        type={"type": "string", "const": name},
        deal_number=_or_null(_count()),
        seat=_or_null(SEAT, "Whose doing it was."),
        data=_EVENT_DATA[name],
    )


def _event_name(name: str) -> str:
    return "Event" + "".join(part.capitalize() for part in name.split("_"))


_LINK: dict[str, Schema] = {
    "id": ID,
    "name": _or_null(_text(), "The host's own note of what it is for."),
    "created_at": TIME,
    "expires_at": _or_null(TIME, "When it ends; null when it holds until it is deleted."),
    "in_force": _flag("Whether it still holds: it has not expired, and an invitation is not used up."),
}
_INVITATION = _object(
    "An invitation as its host sees it.",
    **_LINK,
    seat=_or_null(SEAT, "The one seat that it is for; null for any."),
    uses=_count("How many may sit down by it."),
    used=_count("How many have."),
)


COMPONENTS: dict[str, Schema] = {
    "Proposal": {
        "description": "A bid that a partner is still to answer.",
        "oneOf": [ref("ProposedNumber"), ref("ProposedNil")],
    },
    "ProposedNumber": _object(
        "A number of tricks, proposed.", **BID_NUMBER["properties"], hint_max=_or_null(_count(), _HINT)
    ),
    "ProposedNil": _object("No trick, proposed.", **BID_NIL["properties"], hint_max=_or_null(_count(), _HINT)),
    "LegalLook": _object("To `looks`: see your hand.", look={"type": "boolean", "const": True}),
    "LegalChoice": _object(
        "To `passes`: any so many of these cards.", choose=_count(), **{"from": _list(CARD, "The cards held.")}
    ),
    "LegalDraw": _object("To `draws`.", decision=_text("", *_DECISIONS)),
    "LegalPlay": _object("To `plays`.", card=CARD),
    "PlayedCard": _object("A card and who played it.", seat=SEAT, card=CARD),
    "LegalAction": {
        "description": "A request body that you could send now. Its fields say where to: `decision` to `draws`, "
        "`look` to `looks`, `choose` to `passes` (as `cards`), `kind` to `bids`, also while cards are passed, `card` "
        "to `plays`.",
        "oneOf": [
            ref("LegalDraw"),
            ref("LegalLook"),
            ref("LegalChoice"),
            ref("LegalPlay"),
            ref("BidNumber"),
            ref("BidNil"),
            ref("BidReconsider"),
        ],
    },
    "ViewSeat": _object(
        "A seat, the same for every viewer but for a sealed bid of one's own.",
        seat=SEAT,
        side=SIDE,
        kind=_text("", "human", "bot", "open"),
        name=_or_null(_text()),
        bot=_or_null(_text("The bot's name.")),
        card_count=_count("Cards held."),
        bid={
            "description": "The bid of this deal: null before it, `hidden` from the others while it is sealed.",
            "oneOf": [ref("BidNumber"), ref("BidNil"), {"type": "string", "const": "hidden"}, {"type": "null"}],
        },
        proposal=_or_null(ref("Proposal"), "In partnership bidding, until a partner closes the contract."),
        tricks=_count("Tricks taken in this deal."),
        hand_seen=_flag("Whether the seat has looked at its hand."),
        stand_in=_flag("Whether a bot stands in for the person."),
    ),
    "ViewSide": _object(
        "A side and its standing.",
        side=SIDE,
        score=_number(),
        bags=_count(),
        contract_tricks=_or_null(_count(), "The side's contract; null until it is complete."),
    ),
    "Discard": _object(
        "A card of the discard pile.",
        number=_count(),
        seat=SEAT,
        decision=_text("", *_DECISIONS),
        face=_text("", "up", "down"),
        card=_or_null(CARD, "Null for whoever may not see it."),
        visible_to=_list(SEAT, "The seats that have seen it."),
    ),
    "Trick": _object(
        "A trick, in progress or complete.",
        number=_count(),
        leader=SEAT,
        cards=_list(ref("PlayedCard"), "In order of play."),
        winner=_or_null(SEAT, "Null until it is complete."),
    ),
    "ViewDeal": _object(
        "The present deal, or the last one when the game is over.",
        number=_count(),
        attempt=_count(),
        dealer=SEAT,
        phase=_text("", "drawing", "passing", "bidding", "exchanging", "playing", "finished"),
        hand={**_or_null({"type": "array"}), "items": CARD, "description": "Your cards; null for whoever has no seat."},
        hand_seen=_flag("Whether you may see your hand."),
        given=_list(
            CARD, "What you gave away, or chose to, in this deal, in order; a card that went twice stands twice."
        ),
        received=_list(CARD, "What you were given in this deal, in order; a card that came twice stands twice."),
        draw=_or_null(
            {
                **_object(
                    "The draw: what lies where.",
                    stock_count=_count(),
                    looked_at=_or_null(CARD, "The card that you decide about; null for everybody else."),
                    discards=_list(ref("Discard")),
                )
            },
            "Null where hands are dealt.",
        ),
        trick=_or_null(ref("Trick"), "The present trick; null outside the play."),
        last_trick=_or_null(ref("Trick"), "The last complete trick; null before the first."),
        spades_broken=_flag("Whether a spade may be led."),
        redeal_available=_flag("Whether you may call for a new deal."),
    ),
    "Turn": _object(
        "What the table waits for.",
        seats=_list(SEAT, "Every seat on turn."),
        seat=_or_null(SEAT, "The seat on turn; null when several are."),
        action=_text(
            "What you have to do if you are on turn, otherwise what the table waits for.",
            "draw",
            "look",
            "pass",
            "propose_bid",
            "bid",
            "give_cards",
            "play",
        ),
        deadline=_or_null(TIME, "Null when the table is untimed."),
        legal=_list(ref("LegalAction"), "What you could do now; empty unless you are on turn."),
    ),
    "Result": _object("How the game ended.", **_RESULT),
    "View": _object(
        "A table as you may see it.",
        id=ID,
        version=_count("The number of the last event."),
        status=_text("", "waiting", "active", "finished", "aborted"),
        created_at=TIME,
        visibility=_text("", "public", "unlisted", "private"),
        spectators=_text("", "allowed", "forbidden"),
        spectator_delay=_count("Seconds by which watchers are told late."),
        start=_text("", "when_full", "by_host"),
        seating=_text("", "as_taken", "by_draw"),
        hot_seat=_flag("Whether one account may hold several seats."),
        rematch_of=_or_null(ID, "The game that this one is a rematch of; watchers who are told late are told it late."),
        rematch=_or_null(ID, "The game by which this one is played again; null in answers to actions."),
        sandbox=_flag("Whether the deals were set by whoever made the table."),
        ruleset=ref("Ruleset"),
        viewer=_object("Who you are here.", role=_text("", "seat", "watcher", "host", "director"), seat=_or_null(SEAT)),
        seats=_list(ref("ViewSeat"), "All seats, clockwise."),
        sides=_list(ref("ViewSide")),
        deal=_or_null(ref("ViewDeal"), "Null before the start."),
        turn=_or_null(ref("Turn"), "Null before the start and after the end."),
        result=_or_null(ref("Result"), "Null until the game ends."),
    ),
    "DryRun": _object(
        "The action would be taken now.",
        allowed={"type": "boolean", "const": True},
        legal=_list(ref("LegalAction"), "All that you could do now."),
    ),
    "ViewOrDryRun": {
        "oneOf": [ref("View"), ref("DryRun")],
        "description": "The new view; with `dry_run` only the ruling.",
    },
    "CreatedGame": _object(
        "A new table.",
        game=ref("View"),
        seats=_list(
            _object("A seat of yours and its token, shown this once.", seat=SEAT, token=_text("`sps_...`")),
        ),
    ),
    "JoinedGame": _object(
        "A seat and its token.",
        game=ref("View"),
        seat=SEAT,
        token=_or_null(_text(), "The seat's token, shown this once; null for a bot."),
    ),
    "SeatSummary": _object(
        "A seat and who sits in it.",
        seat=SEAT,
        kind=_text("", "human", "bot", "open"),
        name=_or_null(_text()),
        bot=_or_null(_text()),
    ),
    "AuditEntry": _object(
        "Something that was done about a table outside of its game.",
        id=ID,
        at=TIME,
        version=_count("The game's version when it was done."),
        act=_text(
            "What was done.",
            "token_reissued",
            "invitation_made",
            "invitation_used",
            "invitation_deleted",
            "watch_link_made",
            "watch_link_deleted",
        ),
        seat=_or_null(SEAT, "The seat that it concerns, if it concerns one, as it was then."),
        subject=_or_null(ID, "The invitation or the watch link, which may be gone."),
    ),
    "ScriptedHands": {
        "type": "object",
        "description": "A hand for every seat.",
        "additionalProperties": _list(CARD),
        "propertyNames": {"pattern": SEAT["pattern"]},
    },
    "Invitation": _INVITATION,
    "InvitationPage": _page("Invitation"),
    "NewInvitation": _object(
        "An invitation that was given out.",
        invitation=ref("Invitation"),
        token=_text("`spi_...`, shown this once."),
    ),
    "WatchLink": _object("A watch link as its host sees it.", **_LINK),
    "WatchLinkPage": _page("WatchLink"),
    "NewWatchLink": _object(
        "A watch link that was given out.",
        watch_link=ref("WatchLink"),
        token=_text("`spw_...`, shown this once."),
    ),
    "AuditPage": _page("AuditEntry"),
    "GameSummary": _object(
        "A table in a list.",
        id=ID,
        created_at=TIME,
        version=_count(),
        status=_text("", "waiting", "active", "finished", "aborted"),
        preset=_text(),
        ruleset_hash=HEX,
        visibility=_text("", "public", "unlisted", "private"),
        spectators=_text("", "allowed", "forbidden"),
        spectator_delay=_count("Seconds by which watchers are told late."),
        start=_text("", "when_full", "by_host"),
        seating=_text("", "as_taken", "by_draw"),
        hot_seat=_flag("Whether one account may hold several seats."),
        sandbox=_flag("Whether the deals were set by whoever made the table."),
        rematch_of=_or_null(ID, "The game that this one is a rematch of; watchers who are told late are told it late."),
        seats=_list(ref("SeatSummary")),
        open_seats=_count(),
        result=_or_null(ref("Result")),
        finished_at=_or_null(TIME),
    ),
    "GamePage": _page("GameSummary"),
    "DealSummary": _object(
        "A deal that has started.",
        number=_count(),
        attempt=_count(),
        dealer=SEAT,
        commitment=HEX,
        started_at=TIME,
        finished_at=_or_null(TIME),
        bids=_or_null(_by(ref("Bid"), SEAT["pattern"], ""), "By seat; null until the deal is scored."),
        tricks=_or_null(_by(_count(), SEAT["pattern"], ""), "Taken, by seat; null until the deal is scored."),
        score=_or_null(_object("", **SCORE_ANSWER), "The scoring answer; null until the deal is scored."),
    ),
    "DealPage": _page("DealSummary"),
    **{_event_name(name): _event(name) for name in _EVENT_DATA},
    "Event": {
        "description": "What happened, as far as you may know it. What you see of an event never changes.",
        "oneOf": [ref(_event_name(name)) for name in _EVENT_DATA],
        "discriminator": {
            "propertyName": "type",
            "mapping": {name: f"#/components/schemas/{_event_name(name)}" for name in _EVENT_DATA},
        },
    },
    "EventPage": _object(
        "Events in order.",
        items=_list(ref("Event")),
        next=_or_null(_text(), "The `after` of the next page, when there is more now; else null."),
        version=_count("The game's version when the page was read."),
    ),
}


def _with_optional(schema: Schema, **properties: Schema) -> Schema:
    return {**schema, "properties": {**schema["properties"], **properties}}


_CLIENT_SEED = _object("A text of a seat's that enters a shuffle.", seat=SEAT, seed=_text())
_ACTION_NUMBER = _count("The number of this action in its deal, from 1, where the phases do not give it.")
_RECORD_RESULT = _with_optional(
    _object("How the game ended.", **_RESULT), seat={**SEAT, "description": "Who gave the game up, if somebody did."}
)
_RECORD_BID = _with_optional(
    _object(
        "A bid or a proposal.",
        seat=SEAT,
        bid={"oneOf": [ref("BidNumber"), ref("BidNil"), ref("BidReconsider")]},
    ),
    hint_max=_count(_HINT),
    action=_ACTION_NUMBER,
)
COMPONENTS |= {
    "RecordDeal": _with_optional(
        _object(
            "A deal of a record. Read the lists in this order; what has an `action` stands at that number instead.",
            number=_count(),
            dealer=SEAT,
            stock=_list(CARD, "The whole pack, top first, as it was drawn or dealt."),
            draws=_list(_text("", *_DECISIONS), "The decisions of the draw turns."),
            passes=_list(
                _object("Cards given away.", seat=SEAT, cards=_list(CARD)),
                "Cards passed before the bids, and given in exchanges after them.",
            ),
            bids=_list(_RECORD_BID),
            plays=_list(CARD, "The cards in order of play."),
            score=_or_null(
                _by(
                    _object(
                        "What the deal did to a side.",
                        delta=_number("Points of the deal."),
                        score=_number("The score after it."),
                        bags=_count("Bags carried on."),
                    ),
                    SIDE["pattern"],
                    "By side.",
                ),
                "Null for a deal that was not played out.",
            ),
        ),
        redeals=_list(
            _with_optional(_object("An attempt that was called off.", seat=SEAT), commitment=HEX),
            "The earlier attempts at this deal.",
        ),
        looks=_list(
            _object("A seat looked at its hand.", seat=SEAT, action=_ACTION_NUMBER), "Where a blind bid was open."
        ),
        commitment={**HEX, "description": "The SHA-256 of the seed, published before the deal."},
        seed={**HEX, "description": "The secret seed."},
        client_seeds=_list(_CLIENT_SEED, "In the order of the seats."),
        scripted=_flag("True where the cards were set and not shuffled."),
    ),
    "Record": _with_optional(
        _object(
            "A game as a record: docs/records.md has its grammar.",
            format=_count("1."),
            ruleset={
                # As `RulesetChoice`, but of an answer, which may grow.
                **{key: value for key, value in json_schema().items() if key != "additionalProperties"},
                "description": "The preset and what differs from it.",
            },
            ruleset_hash={**HEX, "description": "Of the whole ruleset."},
            seats=_list(_object("Who sat where.", seat=SEAT, name=_or_null(_text()))),
            tags={"type": "object", "description": "What else is noted.", "additionalProperties": {"type": "string"}},
            deals=_list(ref("RecordDeal"), "Those that were revealed."),
            result=_or_null(_RECORD_RESULT, "Null while the game runs."),
        ),
        seating=_list(
            _object("Who took a seat, and which one they got.", was=SEAT, seat=SEAT), "Where seats were drawn."
        ),
        cut=_list(_list(ref("PlayedCard")), "The cards drawn or turned up for the first deal, round by round."),
    ),
    "DealFairness": _object(
        "What binds the service in one deal.",
        number=_count(),
        attempt=_count("1, and one more after each redeal."),
        commitment={
            **HEX,
            "description": "The SHA-256 of the server seed, published before the deal; of a scripted one, of the seed "
            "and how the cards lie.",
        },
        server_seed=_or_null(
            dict(HEX), "Null until the deal is revealed, and for ever for an attempt that was called off."
        ),
        client_seeds=_list(
            _CLIENT_SEED,
            "In the order of the seats. Fixed when the deal starts; of the one promised next, those given so far.",
        ),
        algorithm=_text("How the cards follow from the seeds."),
        scripted=_flag("Whether the cards were set and not shuffled."),
    ),
    "Fairness": _object(
        "What the deals of a game can be checked by.",
        deals=_list(ref("DealFairness"), "All that have started, and the one that is promised next."),
    ),
}
