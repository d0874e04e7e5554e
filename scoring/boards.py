"""A kept score sheet as a value: what is written on it, and what follows from that. No database.

The changes of a sheet, in order, give its `Content`; `undo` and `redo` are changes too, so what was once written is
never lost. The content and the ruleset give the `Board`: the score of every deal, what each of them breaks, and who has
won. Whatever the way to a content, its board is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from scoring import checks
from scoring.checks import Told
from spades import Adjustment, Bid, Reason, Rule, Ruleset, RuleViolation, ScoreSheet, SideBefore
from spades.bidding import nobody_bids
from spades.sheet import Ending, answer, game_answer
from spades.terms import terms

__all__ = [
    "NAME_MOST",
    "NOTE_MOST",
    "WHY_MOST",
    "Board",
    "Certificate",
    "Content",
    "Flag",
    "KeptAdjustment",
    "KeptDeal",
    "Step",
    "Written",
    "changed_lines",
    "fold",
    "told_of",
    "turns",
]

NAME_MOST: Final = 40
NOTE_MOST: Final = 500
WHY_MOST: Final = 200
"""The longest name, the longest note, and the longest reason of an adjustment, in characters."""


@dataclass(frozen=True, slots=True)
class KeptDeal:
    """What is written down of one deal. JSON values, by seat."""

    bids: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Empty where nobody bids."""
    tricks: Mapping[str, int] | None = None
    """None until the deal has been played."""
    blind_sides: tuple[str, ...] = ()
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The deal as it is kept and exported."""
        return {
            "bids": dict(self.bids),
            "tricks": None if self.tricks is None else dict(self.tricks),
            "blind_sides": list(self.blind_sides),
            "note": self.note,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> KeptDeal:
        """The inverse of `to_json`; what is left out is not written down."""
        return cls(
            value.get("bids") or {}, value.get("tricks"), tuple(value.get("blind_sides") or ()), value.get("note")
        )


@dataclass(frozen=True, slots=True)
class KeptAdjustment:
    """Points given or taken by a person. It is a line of `deal`, and counts once that is scored."""

    deal: int
    side: str
    points: int
    why: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The adjustment as it is kept, exported and answered."""
        return {"deal": self.deal, "side": self.side, "points": self.points, "why": self.why}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> KeptAdjustment:
        """The inverse of `to_json`."""
        return cls(value["deal"], value["side"], value["points"], value.get("why"))


def _sorted(adjustments: Iterable[KeptAdjustment]) -> tuple[KeptAdjustment, ...]:
    return tuple(sorted(adjustments, key=lambda adjustment: adjustment.deal))


@dataclass(frozen=True, slots=True)
class Certificate:
    """That a sheet says what the record of its game proves."""

    at: datetime
    version: int
    """The sheet's, when that was written down."""
    record_hash: str

    def to_json(self) -> dict[str, Any]:
        """The certificate as it is answered."""
        return {"at": self.at, "version": self.version, "record_hash": self.record_hash}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Certificate:
        """The inverse of `to_json`, with the time as text."""
        return cls(datetime.fromisoformat(value["at"]), value["version"], value["record_hash"])


@dataclass(frozen=True, slots=True)
class Content:
    """All that is written on a sheet."""

    names: Mapping[str, str | None]
    """Who sits where, by seat."""
    dealer: str
    """Who dealt first."""
    note: str | None = None
    deals: tuple[KeptDeal, ...] = ()
    adjustments: tuple[KeptAdjustment, ...] = ()
    """In the order of their deals."""
    certificate: Certificate | None = None
    """Stands until what it certifies is another. It is a change of its own, and no part of the JSON."""
    before: Mapping[str, Any] | None = None
    """How the sides stood before the first deal that is written here, as `scores`, `bags` and `sets` by side, and that
    deal's number in its game as `deal_number`; None for a game that is here from its start."""

    def number_in_game(self, number: int) -> int:
        """The number in its game of a deal by its number on the sheet."""
        return number + (self.before or {}).get("deal_number", 1) - 1

    def to_json(self) -> dict[str, Any]:
        """The content as it is kept and exported."""
        return {
            "names": dict(self.names),
            "dealer": self.dealer,
            "note": self.note,
            "before": self.before,
            "deals": [deal.to_json() for deal in self.deals],
            "adjustments": [adjustment.to_json() for adjustment in self.adjustments],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Content:
        """The inverse of `to_json`; a certificate is read where it is kept beside."""
        certificate = value.get("certificate")
        return cls(
            value["names"],
            value["dealer"],
            value.get("note"),
            tuple(KeptDeal.from_json(deal) for deal in value.get("deals") or ()),
            _sorted(KeptAdjustment.from_json(adjustment) for adjustment in value.get("adjustments") or ()),
            None if certificate is None else Certificate.from_json(certificate),
            value.get("before"),
        )

    def to_kept_json(self) -> dict[str, Any]:
        """All of it, the certificate too."""
        return {**self.to_json(), "certificate": None if self.certificate is None else self.certificate.to_json()}

    def after(self, kind: str, data: Mapping[str, Any]) -> Content:
        """The content with one more change of what is written, which is not the first."""
        after = self._with(kind, data)
        if self.certificate is None:
            return after
        same = after.certified() == self.certified()
        return replace(after, certificate=self.certificate if same else None)

    def certified(self) -> tuple[Any, ...]:
        """What a certificate is about."""
        deals = [(deal.bids, deal.tricks, deal.blind_sides) for deal in self.deals]
        return self.dealer, self.start(), deals, self.adjustments

    def start(self) -> tuple[int, dict[str, SideBefore]]:
        """How the game stood before the first deal: that deal's number, and each side that stood at anything."""
        stood = checks.standing(self.before or {})
        return self.number_in_game(1), {side: each for side, each in stood.items() if each != SideBefore()}

    def _with(self, kind: str, data: Mapping[str, Any]) -> Content:
        if kind == "sheet_changed":
            return replace(self, **data)
        if kind == "deal_added":
            return replace(self, deals=(*self.deals, KeptDeal.from_json(data)))
        if kind == "deal_changed":
            place = data["deal"] - 1
            deal = KeptDeal.from_json({**self.deals[place].to_json(), **data["change"]})
            return replace(self, deals=(*self.deals[:place], deal, *self.deals[place + 1 :]))
        if kind == "sheet_adjusted":
            return replace(self, adjustments=_sorted((*self.adjustments, KeptAdjustment.from_json(data))))
        return Content.from_json(data)  # sheet_imported


@dataclass(frozen=True, slots=True)
class Step:
    """A change as it is kept."""

    kind: str
    data: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Written:
    """What is written on a sheet, and how far back and forth one could go."""

    content: Content
    undo: int = 0
    redo: int = 0

    def after(self, step: Step, version: int) -> Written:
        """What is written after one more change, which makes the sheet this version and is no `undo` or `redo`."""
        if step.kind == "sheet_certified":
            content = replace(self.content, certificate=Certificate(step.at, version, step.data["record_hash"]))
        else:
            content = self.content.after(step.kind, step.data)
        return Written(content, self.undo + 1)


def fold(steps: Iterable[Step]) -> Written:
    """What is written on a sheet after all of its changes, of which the first makes it.

    Who writes something new after taking something back can go back, and no longer forth.
    """
    past: list[Written] = []
    undone: list[Written] = []
    for version, step in enumerate(steps, start=1):
        if step.kind == "change_undone":
            undone.append(past.pop())
        elif step.kind == "change_redone":
            past.append(undone.pop())
        else:
            past.append(past[-1].after(step, version) if past else Written(Content.from_json(step.data)))
            undone.clear()
    return replace(past[-1], redo=len(undone))


@dataclass(frozen=True, slots=True)
class Flag:
    """What the rules forbid about a deal, and the option that decided. The pointer goes into the deal."""

    pointer: str
    reason: str
    detail: str
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """What follows from a content under a ruleset."""

    ruleset: Ruleset
    content: Content
    answers: tuple[dict[str, Any] | None, ...]
    """The scoring answer of each deal; None for one that is not played."""
    flags: tuple[tuple[Flag, ...], ...]
    """For each deal, what the rules forbid about it."""
    sheet: ScoreSheet
    ending: Ending | None

    @classmethod
    def of(cls, ruleset: Ruleset, content: Content) -> Board:
        """Score a sheet from its first deal on. What the rules forbid is scored as it stands, and flagged."""
        number, before = content.start()
        sheet = ScoreSheet.at(ruleset, before, number)
        ending = sheet.ending() if content.before else None
        over_by = 0
        answers: list[dict[str, Any] | None] = []
        flags = []
        for number, deal in enumerate(content.deals, start=1):
            told, in_game = told_of(content, number), content.number_in_game(number)
            found = []
            if ending is not None:
                when = f"after deal {over_by}" if over_by else "before the first deal of this sheet"
                found.append(Flag("", Reason.GAME_OVER, f"The game was over {when}."))
            if deal.tricks is None:
                found += [_flag(*each) for each in _bids_only(ruleset, told, sheet.scores(), in_game)]
                answers.append(None)
            else:
                scores = sheet.scores()
                values = (told.bids, told.tricks)
                more: dict[str, Any] = {"blind_sides": told.blind_sides, "adjustments": told.adjustments}
                try:
                    sheet, score = sheet.after(*values, **more)
                except RuleViolation:
                    found += [_flag(*each) for each in checks.violations(ruleset, told, scores, deal_number=in_game)]
                    sheet, score = sheet.after(*values, **more, strict=False)
                if ending is None:  # who has won stays the winner
                    ending, over_by = sheet.ending(), number
                answers.append(answer(score, ending))
            flags.append(tuple(found))
        return cls(ruleset, content, tuple(answers), tuple(flags), sheet, ending)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.ending is not None

    def game(self) -> dict[str, Any]:
        """Whether the game is over, as it is answered."""
        return game_answer(self.ending)

    def sides(self) -> list[dict[str, Any]]:
        """Where each side stands."""
        return [
            {"side": side, "score": each.score, "bags": each.bags, "sets": each.sets}
            for side, each in self.sheet.sides.items()
        ]

    def deal(self, number: int) -> dict[str, Any]:
        """One deal as it is answered."""
        kept = self.content.deals[number - 1]
        return {
            "number": number,
            **turns(self.ruleset, self.content, number),
            **kept.to_json(),
            "answer": self.answers[number - 1],
            "flags": [
                {"pointer": flag.pointer, "reason": flag.reason, "detail": flag.detail}
                for flag in self.flags[number - 1]
            ],
        }

    def to_json(self) -> dict[str, Any]:
        """The parts of the answer that follow from what is written."""
        content = self.content
        last = len(content.deals)
        following = last if last and self.answers[-1] is None else last + 1
        return {
            "names": dict(content.names),
            "note": content.note,
            "before": content.before,
            "sides": self.sides(),
            "deals": [self.deal(number) for number in range(1, last + 1)],
            "adjustments": [adjustment.to_json() for adjustment in content.adjustments],
            "game": self.game(),
            "next": None if self.over else {"number": following, **turns(self.ruleset, content, following)},
        }


def told_of(content: Content, number: int) -> Told:
    """What is told of one deal, as the library takes it."""
    deal = content.deals[number - 1]
    return Told(
        {seat: Bid.from_json(dict(bid)) for seat, bid in deal.bids.items()},
        deal.tricks or {},
        deal.blind_sides,
        tuple(
            Adjustment(each.side, each.points, each.why or "") for each in content.adjustments if each.deal == number
        ),
    )


def _bids_only(
    ruleset: Ruleset, told: Told, scores: Mapping[str, int], number: int
) -> Iterable[tuple[str, RuleViolation]]:
    bidless = nobody_bids(ruleset, number)
    if bidless is None:
        return checks.bid_violations(ruleset, told.bids, told.blind_sides, scores)
    return checks.bidless_violations(told, bidless, deal_number=number)


def _flag(pointer: str, violation: RuleViolation) -> Flag:
    return Flag(pointer, violation.reason, violation.detail, violation.rule)


@lru_cache(maxsize=4096)
def _turns(ruleset: Ruleset, first_dealer: str, number: int, in_game: int) -> tuple[str, str | None]:
    facts = terms(ruleset)
    seats = facts.table.seats
    place = (facts.table.index(first_dealer) + number - 1) % len(seats)
    bids = facts.choosing and not facts.sealed and nobody_bids(ruleset, in_game) is None
    return seats[place], seats[facts.bid_order(place)[0]] if bids else None


def turns(ruleset: Ruleset, content: Content, number: int) -> dict[str, Any]:
    """Who deals, and who bids first; None where nobody chooses a bid, or all bid at once."""
    dealer, bidder = _turns(ruleset, content.dealer, number, content.number_in_game(number))
    return {"dealer": dealer, "first_bidder": bidder}


def changed_lines(before: Board, after: Board) -> list[dict[str, Any]]:
    """Every line that is another one now: deal, side, and what it was and is; None where there is none."""
    changed = []
    for place in range(max(len(before.answers), len(after.answers))):
        was, now = (each.answers[place] if place < len(each.answers) else None for each in (before, after))
        for side in after.sheet.sides:
            old, new = (None if each is None else each["sides"][side] for each in (was, now))
            if old != new:
                changed.append({"deal": place + 1, "side": side, "before": old, "after": new})
    return changed
