"""JSON Schemas of what the scoring app answers, by component name. Imports no Django, since the settings read it."""

from __future__ import annotations

from contract.shapes import (
    HEX,
    ID,
    SCORE_ANSWER,
    SEAT,
    SIDE,
    TIME,
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

__all__ = ["COMPONENTS"]

_GAME = SCORE_ANSWER["game"]

_MODE = text("Whether the rules were asked.", "strict", "lenient")
_TYPE = text(
    "What was done.",
    "sheet_made",
    "sheet_changed",
    "deal_added",
    "deal_changed",
    "sheet_adjusted",
    "sheet_imported",
    "sheet_certified",
    "change_undone",
    "change_redone",
)
_NAMES = by({"type": ["string", "null"]}, SEAT["pattern"], "Who sits where; null where nobody was named.")
_SIDES = list_(
    object_(
        "Where a side stands.",
        side=SIDE,
        score=number("Points."),
        bags=count("Bags carried, a count."),
        sets=count("How often the side was set."),
    )
)
_WRITTEN: dict[str, Schema] = {
    "bids": by(ref("Bid"), SEAT["pattern"], "By seat; empty where nobody bids."),
    "tricks": or_null(by(count(), SEAT["pattern"], ""), "By seat; null until the deal has been played."),
    "blind_sides": list_(SIDE, "Sides whose numbers were bid blind."),
    "note": or_null(text()),
}
_TURNS: dict[str, Schema] = {
    "dealer": SEAT,
    "first_bidder": or_null(SEAT, "Null where nobody chooses a bid, or all bid at once."),
}
_LINK: dict[str, Schema] = {
    "id": ID,
    "name": or_null(text(), "The owner's own note of what it is for."),
    "created_at": TIME,
    "expires_at": or_null(TIME, "When it ends; null when it holds until it is deleted."),
}
_BEFORE = or_null(
    {
        "type": "object",
        "properties": {
            "scores": by(number(), SIDE["pattern"], "Points by side."),
            "bags": by(count(), SIDE["pattern"], "Bags by side."),
            "sets": by(count(), SIDE["pattern"], "By side, how often it was set."),
            "deal_number": count("The number in its game of the sheet's first deal; 1 if it is left out."),
        },
    },
    "How the sides stood before the sheet's first deal, as it was told; null for a game that is here from its start.",
)
_ADJUSTMENTS = list_(ref("KeptAdjustment"), "In the order of their deals.")

COMPONENTS: dict[str, Schema] = {
    "KeptDeal": object_(
        "A deal of a sheet.",
        number=count("1 for the first on the sheet."),
        **_TURNS,
        **_WRITTEN,
        answer=or_null(ref("ScoringAnswer"), "Its score; null until it has been played."),
        flags=list_(ref("Fault"), "What the rules forbid about it; pointers go into the deal."),
    ),
    "WrittenDeal": object_("A deal as exports have it.", **_WRITTEN),
    "KeptAdjustment": object_(
        "Points that were given or taken.",
        deal=count("The deal whose line they are."),
        side=SIDE,
        points=number(),
        why=or_null(text()),
    ),
    "Sheet": object_(
        "A kept score sheet.",
        id=ID,
        version=count("The number of the last change."),
        created_at=TIME,
        changed_at=TIME,
        viewer=object_("Who you are here.", role=text("", "owner", "reader")),
        ruleset=ref("Ruleset"),
        names=_NAMES,
        note=or_null(text()),
        before=_BEFORE,
        sides=_SIDES,
        deals=list_(ref("KeptDeal")),
        adjustments=_ADJUSTMENTS,
        game={**_GAME, "description": "Whether the game is over. Who has won stays the winner, whatever is added."},
        next=or_null(
            object_("The deal to come, or to be played.", number=count(), **_TURNS), "Null when the game is over."
        ),
        certificate=or_null(
            ref("Certificate"), "Null where the sheet was not certified, or what was certified is another one now."
        ),
        undo=count("How many changes could be taken back."),
        redo=count("How many that were taken back could be written again."),
    ),
    "ChangedSheet": object_(
        "A sheet after a change.",
        sheet=ref("Sheet"),
        changed=list_(
            object_(
                "A line that is another one now.",
                deal=count(),
                side=SIDE,
                before=or_null(ref("SideScore"), "Null when there was none."),
                after=or_null(ref("SideScore"), "Null when there is none."),
            ),
            "Every line that is another one now, deal by deal.",
        ),
    ),
    "Certificate": object_(
        "That a sheet says what a record proves.",
        at=TIME,
        version=count("The sheet's version when that was written down."),
        record_hash={**HEX, "description": "SHA-256 of the record as text."},
    ),
    "Certification": object_(
        "Whether a sheet says what a record proves.",
        certified=flag("Whether it does; that is written down then."),
        differences=list_(
            object_(
                "Something that the two say otherwise.",
                deal=or_null(count(), "Null for what is no deal's."),
                seat=or_null(SEAT, "Whose bid or tricks; else null."),
                side=or_null(SIDE, "Whose score, blind bid or adjustment; else null."),
                what=text(
                    "`ruleset` by the options that differ, `deals` how many; `before` and an `adjustment` are on no "
                    "record; `shuffle` is what the record's own seeds do not come to.",
                    "ruleset",
                    "shuffle",
                    "before",
                    "deals",
                    "dealer",
                    "bid",
                    "tricks",
                    "blind",
                    "adjustment",
                    "score",
                ),
                sheet={"description": "What the sheet has: options, number, seat, bid or score; null for nothing."},
                record={"description": "What the record proves, likewise."},
            ),
            "All of them, deal by deal; where the rulesets are two, nothing else was compared.",
        ),
    ),
    "SheetSummary": object_(
        "A sheet in a list.",
        id=ID,
        version=count(),
        created_at=TIME,
        changed_at=TIME,
        preset=text(),
        ruleset_hash=HEX,
        names=_NAMES,
        deals=count("How many deals are written down."),
        sides=_SIDES,
        game=_GAME,
    ),
    "SheetPage": page("SheetSummary"),
    "Change": object_(
        "Something that was written on a sheet, or taken back.",
        number=count("The sheet's version after it."),
        at=TIME,
        type=_TYPE,
        mode=_MODE,
        data={"type": "object", "additionalProperties": True, "description": "What was written, as it was sent."},
    ),
    "ChangePage": page("Change"),
    "ExportedSheet": object_(
        "What is written on a sheet.",
        format={"type": "integer", "const": 1},
        ruleset={"type": "object", "additionalProperties": True, "description": "A preset and what differs from it."},
        ruleset_hash=HEX,
        names=_NAMES,
        dealer=SEAT,
        note=or_null(text()),
        before=_BEFORE,
        deals=list_(ref("WrittenDeal")),
        adjustments=_ADJUSTMENTS,
    ),
    "ShareLink": object_("A share link as the sheet's owner sees it.", **_LINK),
    "ShareLinkPage": page("ShareLink"),
    "NewShareLink": object_(
        "A share link that was given out.", share_link=ref("ShareLink"), token=text("`spw_...`, shown this once.")
    ),
    "SheetEvent": object_(
        "Something that was done to a sheet, and where it stood then.",
        number=count("1 for a sheet's first event, then one more each."),
        version=count("The sheet's version with this event: its number."),
        at=TIME,
        type=_TYPE,
        deal_number=or_null(count(), "The deal that was written down or corrected."),
        seat={"type": "null", "description": "Nobody's doing: a sheet has no seats that act."},
        data=object_(
            "Where the sheet stood.",
            mode=_MODE,
            deals=count("How many deals were written down."),
            sides=_SIDES,
            game=_GAME,
        ),
    ),
    "SheetEventPage": object_(
        "Events of a sheet in order.",
        items=list_(ref("SheetEvent")),
        next=or_null(text(), "The `after` of the next page, when there is more now; else null."),
        version=count("The sheet's version when the page was read."),
    ),
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
COMPONENTS["Certification"]["properties"]["sheet"] = {**ref("Sheet"), "description": "The sheet, if it was certified."}
