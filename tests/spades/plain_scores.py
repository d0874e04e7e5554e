"""A second way to reckon scores, written from the rules alone, to compare the library with.

It pours tricks one by one where the library subtracts sums, and counts bags one by one where it divides. It reads plain
option values and bids as text, and imports nothing of the library but seats.
"""

from __future__ import annotations

from typing import Any

from spades.seats import table


def plain_deal(
    options: dict[str, Any],
    before: dict[str, tuple[int, int]],
    bids: dict[str, str],
    tricks: dict[str, int],
) -> dict[str, dict[str, Any]]:
    """By side: contract, bag_points, nil_points, special_points, bag_penalty, score, bags, set, and won."""
    seating = table(options["players"], options["teams"])
    return {
        side: _side(options, before.get(side, (0, 0)), seating.seats_of(side), bids, tricks) for side in seating.sides
    }


def _side(
    o: dict[str, Any], before: tuple[int, int], seats: tuple[str, ...], bids: dict[str, str], tricks: dict[str, int]
) -> dict[str, Any]:
    books = [[seat] for seat in seats] if o["bid_mode"] == "individual" else [list(seats)]
    tally: dict[str, Any] = {"contract": 0, "bag_points": 0, "nil_points": 0, "special_points": 0, "won": False}
    outcomes, bags = [], 0
    for partners in books:
        made, paid, unpaid = _book(o, tally, {seat: bids.get(seat, "") for seat in partners}, tricks)
        outcomes.append(made)
        bags += paid + unpaid
        for _ in range(paid):
            tally["bag_points"] += o["bag_points"]
    score, carried = before
    penalty, full = 0, False
    for _ in range(bags):
        carried += 1
        if o["bag_limit"] and carried == o["bag_limit"]:
            penalty -= o["bag_penalty"]
            carried, full = 0, True
    if full and o["bag_carry"] == "reset":
        carried = 0
    known = [made for made in outcomes if made is not None]
    total = tally["contract"] + tally["bag_points"] + tally["nil_points"] + tally["special_points"] + penalty
    return {
        **tally,
        "bag_penalty": penalty,
        "score": score + total,
        "bags": carried,
        "set": (False in known) if known else None,
    }


def _book(
    o: dict[str, Any], tally: dict[str, Any], bids: dict[str, str], tricks: dict[str, int]
) -> tuple[bool | None, int, int]:
    """Whether the contract was made (None without one), bags with points, bags without."""
    taken = sum(tricks[seat] for seat in bids)
    if o["score_mode"] == "books":
        tally["contract"] += taken
        return None, 0, 0
    if set(bids.values()) == {""}:  # a hand that bids itself
        tally["contract"] += taken * o["points_per_bid"]
        return None, 0, 0
    nils = {seat: bid for seat, bid in bids.items() if bid in ("nil", "blind_nil")}
    numbers = {seat: bid for seat, bid in bids.items() if seat not in nils}
    _nils(o, tally, nils, tricks, pair=len(bids) == 2)

    helping, paid, unpaid = _pour(o, nils, numbers, tricks)
    if not numbers:
        return None, paid + helping, unpaid
    promised = sum(int(bid.removeprefix("blind:")) for bid in numbers.values())
    times = o["blind_bid_multiplier"] if any(bid.startswith("blind:") for bid in numbers.values()) else 1
    made, more = _contract(o, tally, promised, helping, times)
    return made, paid + more, unpaid


def _pour(
    o: dict[str, Any], nils: dict[str, str], numbers: dict[str, str], tricks: dict[str, int]
) -> tuple[int, int, int]:
    """Where each trick goes: towards the contract, among the bags, among the bags without points, or nowhere."""
    paid = unpaid = 0
    helping = sum(tricks[seat] for seat in numbers)
    for seat in nils:
        for _ in range(tricks[seat]):
            if o["failed_nil_tricks"] == "help_partner":
                helping += 1
            elif o["failed_nil_tricks"] == "bags":
                paid += 1
            elif o["failed_nil_tricks"] == "bags_no_points":
                unpaid += 1
    return helping, paid, unpaid


def _contract(o: dict[str, Any], tally: dict[str, Any], promised: int, helping: int, times: int) -> tuple[bool, int]:
    """Whether it was made, and the tricks of it that are bags."""
    still, over = promised, 0
    for _ in range(helping):
        if still:
            still -= 1
        else:
            over += 1
    made = still == 0
    if promised == o["hand_size"] and o["moon"] == "bid_all":
        if made and o["moon_success"] != "win":
            tally["special_points"] += o["moon_success"]
            return True, over
        if not made and o["moon_fail"] == "tricks_as_bags":
            return False, helping
        tally["won"] = tally["won"] or made
    if promised == 10 and o["ten_for_200"] != "off":
        if o["ten_for_200"] == "exact":
            made, over = made and not over, 0
        tally["contract"] += times * (o["ten_success"] if made else o["ten_fail"])
    elif made:
        tally["contract"] += times * o["points_per_bid"] * promised
    elif o["set_points"] == "minus":
        tally["contract"] -= times * o["points_per_bid"] * promised
    return made, over if made else 0


def _nils(
    o: dict[str, Any], tally: dict[str, Any], nils: dict[str, str], tricks: dict[str, int], *, pair: bool
) -> None:
    held = {seat: tricks[seat] == 0 for seat in nils}
    if pair and len(nils) == 2 and o["both_nil"] == "joint":
        tally["nil_points"] += o["both_nil_success"] if all(held.values()) else o["both_nil_fail"]
        return
    for seat, bid in nils.items():
        tally["nil_points"] += o[f"{bid}_{'success' if held[seat] else 'fail'}"]
