"""Whether partners can still bid what a ruleset asks of their side: sums of bids, without a table or a hand.

Both the check of a ruleset and the check of a bid ask this, so a ruleset that is let through always leaves a bid.

Source: docs/rules.md#bids
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["SideLimits", "can_close"]


@dataclass(frozen=True, slots=True, eq=False)
class SideLimits:
    """What the bids of one side have to keep to."""

    bids: tuple[tuple[int, bool], ...]
    """What each partner can bid whatever its hand: tricks, and whether that is a nil."""
    least: int
    """The least that their sum may be."""
    most: int | None
    """The most that it may be; None for no such limit."""
    least_nils: int = 0
    most_nils: int | None = None


@lru_cache(maxsize=65536)
def can_close(limits: SideLimits, left: int, total: int, nils: int, need: int) -> bool:
    """Whether the partners who are still to bid can end within the limits.

    Args:
        left: how many of them there are, at least 1.
        total: the sum of the bids so far.
        nils: how many of these are nils.
        need: how many sums the last of them must be able to choose from.

    >>> one_to_four = SideLimits(tuple((tricks, False) for tricks in range(1, 5)), least=0, most=6)
    >>> can_close(one_to_four, left=1, total=5, nils=0, need=1), can_close(one_to_four, left=1, total=5, nils=0, need=2)
    (True, False)
    """
    sums = set()
    for tricks, is_nil in limits.bids:
        nils_then, total_then = nils + is_nil, total + tricks
        if limits.most_nils is not None and nils_then > limits.most_nils:
            continue
        if left > 1:
            if can_close(limits, left - 1, total_then, nils_then, need):
                return True
        elif nils_then >= limits.least_nils and limits.least <= total_then <= (limits.most or total_then):
            sums.add(total_then)
    return len(sums) >= need
