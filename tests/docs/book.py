"""Writes docs/rules.md: the text of docs/rules.md.in with options, presets and worked cases put in.

The options and presets come from the catalogue in `spades`, and what a case comes to is asked of the library each time,
so none of it can say what is not so. In the text stands, on a line of its own,

- ``{{option NAME CASE ... =VALUE ...}}``: an option, and cases that show what becomes of them with each of its values
  that the catalogue names, and the values given here;
- ``{{cases CASE ...}}``: worked cases of tests/golden;
- ``{{presets}}``, ``{{disagreements}}`` and ``{{reasons}}``: what they say.

Run as ``python -m tests.docs.book``, which is ``make rules``.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from contract.reasons import CATALOGUE
from spades import (
    Bid,
    Card,
    Deal,
    DrawDecision,
    Match,
    Reason,
    Ruleset,
    RulesetError,
    RuleViolation,
    ScoreSheet,
    Seed,
    SideBefore,
)
from spades.legality import behind
from spades.options import DEFAULT_PRESET, OPTIONS, Option, Plain
from spades.ruleset import PRESETS, Preset, PresetValue
from spades.rulings import rule_on_bid, rule_on_cards, rule_on_draws, rule_on_leader, rule_on_trick
from spades.terms import terms
from tests.spades.playing import stacked

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE, BOOK = ROOT / "docs" / "rules.md.in", ROOT / "docs" / "rules.md"
CASES = {
    case["id"]: case
    for name in ("scoring.json", "play.json")
    for case in json.loads((ROOT / "tests" / "golden" / name).read_text(encoding="utf-8"))
}
TEXTS = {"000_6561a85b03645cff": "0", "002_9197855a7dda2c91": "2", "004_d3d930c30b4f0e1d": "4"}

Outcome = dict[str, str]
"""What a case comes to: by side, or for the table as a whole under the empty name."""


# --- Words ------------------------------------------------------------------------------------------------------------


def shown(value: Plain | list[str]) -> str:
    """A value as the book writes it."""
    if isinstance(value, list | tuple):
        return " ".join(f"`{item}`" for item in value) or "`[]`"
    return f"`{json.dumps(value)}`" if not isinstance(value, str) else f"`{value}`"


def listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def source_of(case: dict[str, Any]) -> str:
    """The place that a case comes from, or nothing for one that follows from the rules."""
    for name, key in TEXTS.items():
        if found := re.match(rf"{name} lines? ([\d-]+(?:, [\d-]+)*)", case["source"]):
            return ", ".join(f"{key}:{line}" for line in found[1].split(", "))
    return case["source"] if re.match(r"[A-Z]{2}", case["source"]) and "erived" not in case["source"] else ""


# --- Cases ------------------------------------------------------------------------------------------------------------


@cache
def resolved(preset: str, overrides: str) -> Ruleset:
    return Ruleset.resolve({"preset": preset, **json.loads(overrides)})


def ruleset_of(case: dict[str, Any], **changed: Any) -> Ruleset:
    options = {name: value for name, value in case["options_overrides"].items() if name != "hand_size"}
    return resolved(case["preset"], json.dumps({**options, **changed}))


def read_bid(value: Any, tricks: int) -> Bid:
    if value == "moon":
        return Bid.number(tricks)
    return Bid.number(value) if isinstance(value, int) else Bid.parse(value)


def bid_text(value: Any) -> str:
    """A bid as the cases write it."""
    return {"moon": "every trick", "blind_nil": "blind nil"}.get(value, str(value).replace("blind:", "blind "))


def table_text(case: dict[str, Any], but: str = "") -> str:
    """The preset of a case and what it changes."""
    changes = [
        f"`{name}` {shown(value)}"
        for name, value in case["options_overrides"].items()
        if name not in {"hand_size", but}
    ]
    return f"`{case['preset']}`" + (f" with {listed(changes)}" if changes else "")


def signed(points: int) -> str:
    return f"+{points}" if points > 0 else str(points)


def scored(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    standing, tricks = case["before"], case["hands"]["tricks"]
    before = {
        side: SideBefore(score, standing["bags"][side], standing.get("sets", {}).get(side, 0))
        for side, score in standing["scores"].items()
    }
    bids = {seat: read_bid(bid, sum(tricks.values())) for seat, bid in case["hands"]["bids"].items() if bid is not None}
    sheet, score = ScoreSheet.at(ruleset, before, standing.get("hand_no", 1)).after(
        bids, tricks, blind_sides=case["hands"].get("blind_sides", ())
    )
    ending, told = sheet.ending(), {}
    for name, side in score.sides.items():
        lines = [f"{line.what.replace('_', ' ')} {signed(line.points)}" for line in side.lines if line.points]
        text = f"{side.delta}" + (f" ({', '.join(lines)})" if len(lines) > 1 else "")
        if before[name].score:
            text += f", which makes {side.score}"
        if side.bags or before[name].bags:
            text += f", {side.bags} bag{'' if side.bags == 1 else 's'} carried"
        if ending is not None and name in ending.winners:
            text += f", and the game (`{ending.reason}`)"
        told[name] = text
    return told


def allowed(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    ruling = rule_on_cards(
        ruleset,
        [Card.parse(code) for code in case["hand"]],
        [Card.parse(played["card"]) for played in case["trick"]],
        trick_number=case["trick_no"],
        spades_broken=case["spades_broken"],
    )
    reasons: dict[str, list[str]] = {}
    for code, violation in ruling.refused.items():
        reasons.setdefault(violation.reason.value, []).append(f"`{code}`")
    refused = [f"{' '.join(cards)} refused, `{reason}`" for reason, cards in reasons.items()]
    may = f"may play {shown([card.code for card in ruling.legal])}"
    return {"": "; ".join([may, *refused])}


def won(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    trick = [(played["seat"], Card.parse(played["card"])) for played in case["trick"]]
    ruling = rule_on_trick(ruleset, trick, spades_broken=case["spades_broken"])
    broken = "spades are broken" if ruling.spades_broken_after else "spades are not broken"
    return {"": f"{ruling.winner} wins; {broken} after it"}


def led(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    bids = {seat: read_bid(bid, 13) for seat, bid in case["bids"].items()} if "bids" in case else None
    ruling = rule_on_leader(
        ruleset,
        case["dealer"],
        trick_number=case["trick_no"],
        last_winner=case.get("last_winner"),
        holder_of_lowest_club=case.get("holder_of_lowest_club"),
        bids=bids,
    )
    return {"": f"{ruling.leader} leads"}


def bid(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    table = terms(ruleset).table
    own = table.side_of[case["seat"]]
    scores = {name: case["scores"]["own" if name == own else "other"] for name in table.sides if "scores" in case}
    ruling = rule_on_bid(
        ruleset,
        case["seat"],
        hand=[Card.parse(code) for code in case["hand"]] if "hand" in case else None,
        hand_seen=case.get("hand_seen", True),
        bids={seat: read_bid(made, ruleset.hand_size) for seat, made in case.get("bids_so_far", {}).items()},
        scores=scores,
    )
    words = [str(each).replace("_", " ").replace(":", " ") for each in ruling.legal]
    numbers = [word for word in words if word.isdigit()]
    whole = len(numbers) > 3 and int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1
    if whole:
        words[words.index(numbers[0]) : words.index(numbers[-1]) + 1] = [f"{numbers[0]} to {numbers[-1]}"]
    return {"": f"may bid {', '.join(words) or 'nothing'}"}


def drawn(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    decisions = [DrawDecision(decision) for decision in case["decisions"]]
    ruling = rule_on_draws(ruleset, [Card.parse(code) for code in case["deck"]], case["dealer"], decisions)
    last = ruling.deal.discards[-1]
    seen = (
        "everybody"
        if len(last.visible_to) == ruleset.players
        else listed([*last.visible_to])
        if last.visible_to
        else "nobody"
    )
    return {"": f"`{last.card.code}` lies face {last.face}, seen by {seen}"}


def by_seat(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {bid_text(value)}" for name, value in values.items() if value is not None)


def of_deal(case: dict[str, Any]) -> list[str]:
    standing, hands, parts = case["before"], case["hands"], []
    before = {
        side: f"{points} points, {standing['bags'][side]} bags" if standing["bags"][side] else f"{points} points"
        for side, points in standing["scores"].items()
        if points or standing["bags"][side]
    }
    if before:
        parts.append(f"before it {by_seat(before)}")
    if "sets" in standing:
        parts.append(f"sets so far {by_seat(standing['sets'])}")
    if "hand_no" in standing:
        parts.append(f"deal {standing['hand_no']}")
    parts.append(f"bids {by_seat(hands['bids'])}" if any(hands["bids"].values()) else "no bids")
    if "blind_sides" in hands:
        parts.append(f"{' and '.join(hands['blind_sides'])} blind")
    return [*parts, f"tricks {by_seat(hands['tricks'])}"]


def of_cards(case: dict[str, Any]) -> list[str]:
    number, trick = case["trick_no"], [played["card"] for played in case["trick"]]
    asked = [f"{shown(trick)} played to trick {number}" if trick else f"a lead to trick {number}"]
    broken = [] if case["spades_broken"] else ["spades not broken"]
    return [*asked, *broken, f"a hand of {shown(case['hand'])}"]


def of_trick(case: dict[str, Any]) -> list[str]:
    return ["played in turn " + by_seat({played["seat"]: shown(played["card"]) for played in case["trick"]})]


def of_leader(case: dict[str, Any]) -> list[str]:
    parts = [f"{case['dealer']} dealt", f"trick {case['trick_no']}"]
    if "last_winner" in case:
        parts.append(f"{case['last_winner']} won the last")
    if "holder_of_lowest_club" in case:
        parts.append(f"{case['holder_of_lowest_club']} holds the lowest club")
    return [*parts, f"bids {by_seat(case['bids'])}"] if "bids" in case else parts


def of_bid(case: dict[str, Any]) -> list[str]:
    parts = [f"{case['seat']} to bid"]
    if case.get("bids_so_far"):
        parts.append(f"bids so far {by_seat(case['bids_so_far'])}")
    if "scores" in case:
        parts.append(f"its side at {case['scores']['own']}, the other at {case['scores']['other']}")
    if not case.get("hand_seen", True):
        parts.append("the hand not seen")
    return [*parts, f"a hand of {shown(case['hand'])}"] if "hand" in case else parts


def of_draw(case: dict[str, Any]) -> list[str]:
    stock = f"on top of the stock {shown(case['deck'][:4])}"
    return [f"{case['dealer']} dealt", stock, f"decisions {', '.join(case['decisions'])}"]


SITUATIONS = {
    "deal": of_deal,
    "legality": of_cards,
    "winner": of_trick,
    "leader": of_leader,
    "bid": of_bid,
    "draw": of_draw,
}


def situation(case: dict[str, Any]) -> str:
    """What a case is about."""
    return "; ".join(SITUATIONS[case.get("kind", "deal")](case))


KINDS = {"deal": scored, "legality": allowed, "winner": won, "leader": led, "bid": bid, "draw": drawn}


def outcome(ruleset: Ruleset, case: dict[str, Any]) -> Outcome:
    """What the library makes of a case under a ruleset."""
    return KINDS[case.get("kind", "deal")](ruleset, case)


def outcomes(option: Option, case: dict[str, Any], more: list[Plain]) -> list[tuple[Plain, Outcome]]:
    """What becomes of a case with each value of an option that the catalogue names, and `more`; its own comes first."""
    own = ruleset_of(case).options()[option.name]
    own = tuple(own) if isinstance(own, list) else own
    found: list[tuple[Plain, Outcome]] = []
    for value in dict.fromkeys([own, *(each.value for each in option.values if each.value is not None), *more]):
        plain = list(value) if isinstance(value, tuple) else value
        try:
            found.append((value, outcome(ruleset_of(case, **{option.name: plain}), case)))
        except (RulesetError, RuleViolation, ValueError):
            if value == own:
                raise
    return found


def told(found: Outcome, sides: list[str]) -> str:
    return "; ".join(f"{side} {found[side]}".strip() for side in sides)


def case_text(case: dict[str, Any]) -> str:
    """A case and what it comes to."""
    found, source = outcome(ruleset_of(case), case), source_of(case)
    cited = f" ({source})" if source else ""
    return f"- {table_text(case)}{cited}: {situation(case)}. *{told(found, list(found))}.*"


def example_text(option: Option, case: dict[str, Any], more: list[Plain]) -> str:
    """A case with each value of an option that makes a difference; the case alone where no value does."""
    found, source = outcomes(option, case, more), source_of(case)
    sides = [side for side in found[0][1] if len({other.get(side) for _, other in found}) > 1]
    if not sides:
        return case_text(case)
    groups: dict[str, list[str]] = {}
    for value, each in found:
        groups.setdefault(told(each, [side for side in sides if side in each]), []).append(shown(value))
    cited = f" ({source})" if source else ""
    rows = [f"  - {' or '.join(values)}: *{text}*" for text, values in groups.items()]
    return "\n".join([f"- {table_text(case, option.name)}{cited}: {situation(case)}.", *rows])


# --- Scenes -----------------------------------------------------------------------------------------------------------

ZEROS = Seed(bytes(32))


def begun(ruleset: Ruleset, dealer: str, number: int = 1) -> Deal:
    level = behind(ruleset, dict.fromkeys(terms(ruleset).table.sides, 0))
    return Deal.begin(ruleset, number=number, attempt=1, dealer=dealer, seed=ZEROS, behind=level)


def in_turn(turns: list[tuple[str, ...]]) -> str:
    """Who acts after whom; several at once are named together."""
    return f"{listed([*turns[0]])} at once" if len(turns[0]) > 1 else ", then ".join(seat for (seat,) in turns)


def bidding_turns(ruleset: Ruleset) -> str:
    deal, turns = begun(ruleset, "N" if ruleset.players == 4 else "A"), []
    while deal.phase == "bidding":
        turns.append(deal.turns)
        for seat in deal.turns:
            body = next(body for body in deal.legal(seat) if body.get("kind") == "number")
            deal = deal.bid(seat, Bid.from_json(body))
    return f"bids by {in_turn(turns)}"


def exchanging_turns(ruleset: Ruleset, nil: str) -> str:
    deal, turns, count = begun(ruleset, "N"), [], 0
    for seat, word in (("E", "3"), ("S", nil), ("W", "3"), ("N", "4")):
        while not deal.has_seen(deal.table.index(seat)) and not word.startswith("blind"):
            deal = deal.look(seat)
        deal = deal.bid(seat, Bid.parse(word))
    while deal.phase == "exchanging":
        turns.append(deal.turns)
        for seat in deal.turns:
            (body,) = deal.legal(seat)
            count = body["choose"]
            deal = deal.pass_cards(seat, [Card.parse(code) for code in body["from"][:count]])
    return f"cards given: {count} by {in_turn(turns)}" if turns else "no card changes hands"


def first_dealer(ruleset: Ruleset) -> str:
    match = Match.start(ruleset, ZEROS)
    drawn = [", ".join(f"{seat} `{card.code}`" for seat, card in cards) for cards in match.cut]
    return "; ".join([*drawn, f"{match.dealer} deals"])


def dealers(ruleset: Ruleset) -> str:
    table = terms(ruleset).table
    seats = [table.seats[0]]
    while len(seats) < 5:
        seats.append(table.after(seats[-1]))
    return ", ".join(seats)


def redeals(ruleset: Ruleset) -> str:
    hands = {
        "the first": "KC 2C 3C 4C 5C 6C 7C 8C 9C TC 2D 3D 4D",
        "the second": "2C 3C 4C 5C 6C 7C 8C 9C TC 2D 3D 4D 5D",
    }
    may = [what for what, hand in hands.items() if stacked(ruleset, {"E": hand}, dealer="N").may_call_redeal("E")]
    return f"{listed(may)} may call" if may else "neither may call"


def passes(ruleset: Ruleset) -> str:
    table, facts, told_of = terms(ruleset).table, terms(ruleset), []
    for number in range(1, 6):
        deal = begun(ruleset, "N", number)
        if deal.phase == "passing":
            taker = table.seats[facts.pass_step(number) % ruleset.players]
            (body,) = deal.legal("N")
            told_of.append(f"{body['choose']} to {taker}")
        else:
            told_of.append("none")
    return ", ".join(told_of)


SCENES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "first_dealer": ("a shuffle from 32 bytes of zero", {}, first_dealer),
    "dealer_rotation": ("two players, five deals", {"preset": "two_player"}, dealers),
    "redeal": (
        "before any bid, a hand with a king and no spade, and one with neither a face nor a spade",
        {},
        redeals,
    ),
    "pass_cycle": ("what N passes in five deals", {"pass_count": 3}, passes),
    "pass_count": ("what N passes in five deals", {"pass_cycle": ["left", "none"]}, passes),
    "bid_order": ("N dealt", {}, bidding_turns),
    "nil_exchange": ("S bid nil, its partner N a number", {}, lambda rules: exchanging_turns(rules, "nil")),
    "blind_nil_exchange": (
        "S bid blind nil, its partner N a number",
        {"blind_nil": "any"},
        lambda rules: exchanging_turns(rules, "blind_nil"),
    ),
    "exchange_order": (
        "S bid nil, its partner N a number",
        {"nil_exchange": 2},
        lambda rules: exchanging_turns(rules, "nil"),
    ),
}
"""Options that no case shows: what is looked at, the table, and what the library makes of it."""


def scene_text(option: Option) -> str:
    """What becomes of a scene with each value of its option."""
    what, flat, look = SCENES[option.name]
    rows = []
    values = (1, 4) if option.name == "pass_count" else [each.value for each in option.values if each.value is not None]
    for value in values:
        changed = {option.name: list(value) if isinstance(value, tuple) else value}
        with suppress(RulesetError):
            rows.append(f"  - {shown(value)}: *{look(Ruleset.resolve({**flat, **changed}))}*")
    overrides = {name: value for name, value in flat.items() if name != "preset"}
    table = {"preset": flat.get("preset", DEFAULT_PRESET), "options_overrides": overrides}
    return "\n".join([f"- {table_text(table, option.name)}: {what}.", *rows])


# --- Options and presets ----------------------------------------------------------------------------------------------


def holders(option: Option, value: Plain) -> list[str]:
    return [name for name, preset in PRESETS.items() if preset.options[option.name].value == value]


def option_text(option: Option, cases: list[str]) -> str:
    """An option as the book tells it."""
    allowed_values = "answered, never set" if option.derived else option.type
    default = "" if option.derived else f" Default: {shown(option.default)}."
    unit = f" Unit: {option.unit}." if option.unit else ""
    lines = [f"### Option `{option.name}`", "", option.meaning, "", f"Allowed: {allowed_values}.{default}{unit}", ""]
    rows = []
    most = max(option.values, key=lambda each: len(holders(option, each.value)))
    for each in option.values:
        presets = holders(option, each.value)
        who = "the other presets" if each == most and len(presets) > 4 else ", ".join(f"`{name}`" for name in presets)
        if len(presets) == len(PRESETS):
            who = "every preset"
        rows.append(f"| {shown(each.value)} | {each.meaning} | {each.source} | {who} |")
    lines += ["| value | what it means | sources | presets |", "| --- | --- | --- | --- |", *rows, ""]
    if option.items and option.enum:
        lines += ["| step | what it means | sources |", "| --- | --- | --- |"]
        lines += [f"| {shown(each.value)} | {each.meaning} | {each.source} |" for each in option.items] + [""]
    if cases:
        more = [json.loads(name[1:]) for name in cases if name.startswith("=")]
        examples = [example_text(option, CASES[name], more) for name in cases if not name.startswith("=")]
        lines += ["Examples:", "", *examples, ""]
    elif option.name in SCENES:
        lines += ["Example:", "", scene_text(option), ""]
    return "\n".join(lines).rstrip()


def place(value: PresetValue) -> str:
    """Where a preset's value comes from; for one of ours also what a source has instead."""
    if value.cited:
        return value.source
    said = re.sub(r"^(D|silent|n/a) ?", "", value.source)
    return f"ours {said if said.startswith('(') else f'({said})'}" if said else "ours"


def preset_text(preset: Preset) -> str:
    """A preset as the book tells it."""
    base = PRESETS[DEFAULT_PRESET].options
    own = preset.name == DEFAULT_PRESET
    differing = [
        name for name, value in preset.options.items() if (own and value.cited) or value.value != base[name].value
    ]
    shared = [name for name, value in preset.options.items() if name not in differing and value.cited]
    lines = [f"### Preset `{preset.name}`", "", f"{preset.title}. {preset.description}", ""]
    if differing:
        lines += ["| option | value | source |", "| --- | --- | --- |"]
        lines += [
            f"| [`{name}`](#option-{name}) | {shown(preset.options[name].value)} | {place(preset.options[name])} |"
            for name in differing
        ]
        lines.append("")
    if shared:
        places = "; ".join(f"`{name}` {preset.options[name].source}" for name in shared)
        lines += [f"As in `{DEFAULT_PRESET}`, and in its sources too: {places}. What is not named here is ours.", ""]
    elif own:
        lines += ["What is not named here is ours.", ""]
    return "\n".join(lines).rstrip()


def presets_text() -> str:
    rows = [f"| [`{preset.name}`](#preset-{preset.name}) | {preset.title} |" for preset in PRESETS.values()]
    tables = [preset_text(preset) for preset in PRESETS.values()]
    return "\n".join(["| preset | what it is |", "| --- | --- |", *rows, "", "\n\n".join(tables)])


def disagreements_text() -> str:
    """The options of which sources play several values, and who plays which."""
    rows = []
    for option in OPTIONS.values():
        read = [each for each in option.values if each.source]
        if len(read) > 1 and not option.derived:
            readings = "; ".join(f"{shown(each.value)} {each.source}" for each in read)
            rows.append(f"| [`{option.name}`](#option-{option.name}) | {readings} |")
    return "\n".join(["| option | value and who plays it |", "| --- | --- |", *rows])


def reasons_text() -> str:
    """Every reason of the rules as its problem page explains it."""
    rows = [f"| `{reason}` | {CATALOGUE[reason].help} |" for reason in Reason]
    return "\n".join(["| reason | what it means |", "| --- | --- |", *rows])


def book() -> str:
    """The whole of docs/rules.md."""

    def put_in(directive: re.Match[str]) -> str:
        what, *names = directive[1].split()
        match what:
            case "option":
                return option_text(OPTIONS[names[0]], names[1:])
            case "cases":
                return "\n".join(case_text(CASES[name]) for name in names)
            case "reasons":
                return reasons_text()
            case "presets":
                return presets_text()
            case "disagreements":
                return disagreements_text()
        raise ValueError(f"there is nothing to put in for {directive[0]}")

    text = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"^\{\{(.+?)\}\}$", put_in, text, flags=re.MULTILINE)


if __name__ == "__main__":
    BOOK.write_text(book(), encoding="utf-8")
